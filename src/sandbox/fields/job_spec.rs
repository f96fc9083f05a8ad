//! One job as it was planned, and what every kind of job logs alike: where, when, how wide, how far, how fast.

use std::sync::Arc;

use chrono::{Duration, NaiveDateTime, Timelike};

use super::attributes::{Cells, Table};
use super::boundaries::Field;
use super::deterministic_math::{round_to_i64, scaled, unscaled};
use super::plane::CoordinateSystem;
use super::rng::{noise, stream};
use super::swaths::{LENGTH_DECIMALS, SwathLog, SwathOptions};
use super::units::Units;

/// The kinds of job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Planting,
    Spraying,
    Harvest,
}

/// A crop with its usual figures.
#[derive(Debug)]
pub(super) struct Crop {
    pub(super) name: &'static str,
    pub(super) variety: &'static str,
    /// Grain in kg/ha.
    pub(super) grain: f64,
    /// Kilograms in a bushel.
    pub(super) bushel: f64,
    /// Moisture of the grain at harvest in percent.
    pub(super) moisture: f64,
    /// Seeds a hectare.
    pub(super) seeds: f64,
    /// Kilograms of a thousand seeds.
    pub(super) seed_mass: f64,
}

/// How the members of an archive lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArchiveLayout {
    /// At the root.
    Flat,
    /// At the root, with a `.cpg`.
    CodePage,
    /// In a folder.
    Folder,
    /// At the root, with the boundary of the field as a second layer.
    Boundary,
    /// At the root, with upper-case extensions.
    UpperCase,
    /// At the root, with the twins that Macintosh computers add.
    Macintosh,
}

/// Everything that decides what a job holds.
#[derive(Clone, Debug)]
pub(super) struct JobSpec {
    /// Seed of the job.
    pub(super) seed: u64,
    pub(super) kind: Kind,
    pub(super) field: Arc<Field>,
    pub(super) crop: &'static Crop,
    pub(super) product: &'static str,
    /// Whether the product is dry and its rate a mass.
    pub(super) is_dry: bool,
    pub(super) operator: &'static str,
    pub(super) start: NaiveDateTime,
    pub(super) units: &'static Units,
    /// Whether the archive says which units those are.
    pub(super) states_units: bool,
    pub(super) swath_options: SwathOptions,
    /// Whether each mark is written as a rectangle instead of its middle.
    pub(super) has_polygons: bool,
    pub(super) system: CoordinateSystem,
    pub(super) layout: ArchiveLayout,
    /// Base name of the members of the archive.
    pub(super) layer: String,
}

/// What the machine did: its marks, and the rates that give the total.
#[derive(Debug)]
pub(super) struct JobLog {
    pub(super) swaths: SwathLog,
    /// The rate that was asked for at each mark, as it is written; empty for a harvest.
    pub(super) target: Vec<i64>,
    /// The rate, or the flow, that was measured at each mark, as it is written.
    pub(super) measured: Vec<i64>,
}

/// The total of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Total {
    /// What it is, such as `Harvested mass`.
    pub label: String,
    /// Its unit.
    pub unit: String,
    /// Its value.
    pub value: f64,
    /// How a reader gets the same value: `factor` times the sum over the records of the product of `columns`.
    pub factor: f64,
    /// The columns of the product.
    pub columns: Vec<String>,
}

impl JobSpec {
    /// The area that the marks cover, in m².
    pub(super) fn covered_area(&self, log: &JobLog) -> f64 {
        let metre = self.units.length.1;
        let lengths: i64 = log.swaths.points.iter().map(|point| point.distance).sum();
        unscaled(lengths, LENGTH_DECIMALS) * metre * unscaled(log.swaths.swath, LENGTH_DECIMALS) * metre
    }

    /// The stream of chance for what is measured on the side.
    pub(super) fn secondary_rng(&self) -> fastrand::Rng {
        stream(self.seed, &[4])
    }

    /// Adds when each mark was made and what the machine did there.
    pub(super) fn add_machine_columns(&self, log: &JobLog, table: &mut Table) {
        let JobLog { swaths, .. } = log;
        let points = &swaths.points;
        let mut rng = stream(self.seed, &[5]);
        let time = |seconds: f64| self.start + Duration::seconds(round_to_i64(seconds));
        table.add_numbers("PASS", "1", (6, 0), points.iter().map(|point| Some(point.pass)));
        if self.swath_options.sections > 1 {
            table.add_numbers("SECTION", "1", (4, 0), points.iter().map(|point| Some(point.section)));
        }
        table.add_column("DATE", Cells::Dates(points.iter().map(|point| time(point.seconds).date()).collect()));
        let clock = points.iter().map(|point| time(point.seconds).num_seconds_from_midnight());
        table.add_column("TIME", Cells::Times(clock.collect()));
        let (length, metre) = self.units.length;
        let shape = |width| (width, LENGTH_DECIMALS);
        table.add_numbers("SWATHWIDTH", length, shape(8), points.iter().map(|_| Some(swaths.swath)));
        table.add_numbers("DISTANCE", length, shape(8), points.iter().map(|point| Some(point.distance)));
        table.add_numbers("CYCLE", "s", (6, 2), points.iter().map(|_| Some(swaths.cycle)));
        let (speed, metres_a_second) = self.units.speed;
        let speeds = points.iter().map(|point| Some(scaled(swaths.speed(point, self.units) / metres_a_second, 2)));
        table.add_numbers("SPEED", speed, (6, 2), speeds);
        let headings = points.iter().map(|point| Some(scaled(SwathLog::heading(point), 1).rem_euclid(3600)));
        table.add_numbers("HEADING", "deg", (6, 1), headings);
        let heights = points.iter().map(|point| {
            // The receiver loses its height now and then.
            let height = self.field.lowest * self.field.relief.value_at(point.location) + 0.05 * noise(&mut rng);
            (rng.u8(..) > 0).then(|| scaled(height / metre, 2))
        });
        table.add_numbers("ELEVATION", length, (9, 2), heights);
    }
}
