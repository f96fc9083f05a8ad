//! Specification of a job, and the columns that all kinds of jobs share: time, width, distance and speed.

use std::sync::Arc;

use chrono::{Duration, NaiveDateTime, Timelike};

use super::attributes::{Cells, Table};
use super::boundaries::Field;
use super::deterministic_math::{round_to_i64, scaled, unscaled};
use super::logged_harvest::HarvestLog;
use super::plane::CoordinateSystem;
use super::product_rates::{AddedProduct, ProductLog};
use super::rng::{noise, stream};
use super::swaths::{LENGTH_DECIMALS, SwathLog, SwathOptions};
use super::units::Units;

/// Kind of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Planting,
    Spraying,
    Harvest,
}

/// How the harvests of an account are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HarvestStyle {
    /// Without delays, turns, overlaps and faults.
    #[default]
    Ideal,
    /// As machines log them.
    Logged,
}

/// A crop with typical values.
#[derive(Debug)]
pub(super) struct Crop {
    pub(super) name: &'static str,
    pub(super) variety: &'static str,
    /// Yield in kg/ha.
    pub(super) grain: f64,
    /// Kilograms per bushel.
    pub(super) bushel: f64,
    /// Grain moisture at harvest in percent.
    pub(super) moisture: f64,
    /// Moisture of the market in percent.
    pub(super) market_moisture: f64,
    /// Seeds per hectare.
    pub(super) seeds: f64,
    /// Mass of a thousand seeds in kilograms.
    pub(super) seed_mass: f64,
}

/// Layout of an archive's members.
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
    /// At the root, with `AppleDouble` files of macOS.
    Macintosh,
}

/// All parameters of a generated job.
#[derive(Clone, Debug)]
pub(super) struct JobSpec {
    /// Seed of the job.
    pub(super) seed: u64,
    pub(super) kind: Kind,
    pub(super) harvest_style: HarvestStyle,
    pub(super) field: Arc<Field>,
    pub(super) crop: &'static Crop,
    pub(super) product: &'static str,
    /// Products that are applied together with the first one.
    pub(super) added: &'static [AddedProduct],
    /// Whether the product is dry, so that its rate is a mass.
    pub(super) is_dry: bool,
    pub(super) operator: &'static str,
    pub(super) start: NaiveDateTime,
    pub(super) units: &'static Units,
    /// Whether the archive states the units.
    pub(super) states_units: bool,
    pub(super) swath_options: SwathOptions,
    /// Whether each point is written as a rectangle.
    pub(super) has_polygons: bool,
    pub(super) system: CoordinateSystem,
    pub(super) layout: ArchiveLayout,
    /// Base name of the archive's members.
    pub(super) layer: String,
}

/// Log of the machine: points, and the rates that add up to the total.
#[derive(Debug)]
pub(super) struct JobLog {
    pub(super) swaths: SwathLog,
    /// Target rate at each point as an integer in units of the last written decimal; empty for a harvest.
    pub(super) target: Vec<i64>,
    /// Measured rate or flow at each point, in the same form.
    pub(super) measured: Vec<i64>,
    /// Rates of the other products of a tank mix.
    pub(super) added: Vec<ProductLog>,
    /// The rest of a harvest in the style [`HarvestStyle::Logged`].
    pub(super) harvest: Option<HarvestLog>,
}

/// Total of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Total {
    /// Label, such as `Harvested mass`.
    pub label: String,
    /// Unit of the value.
    pub unit: String,
    /// Value of the total.
    pub value: f64,
    /// The value equals `factor` times the sum over the records of the product of `columns`.
    pub factor: f64,
    /// Columns of the product.
    pub columns: Vec<String>,
}

/// Total of one product of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct ProductTotal {
    /// Name of the product.
    pub name: String,
    /// Unit of the value.
    pub unit: String,
    /// Harvested, planted or applied quantity.
    pub value: f64,
}

impl JobSpec {
    /// Returns the covered area in m².
    pub(super) fn covered_area(&self, log: &JobLog) -> f64 {
        let metre = self.units.length.1;
        if let Some(harvest) = &log.harvest {
            // The display counts the rows with the header down.
            let rows = log.swaths.points.iter().zip(&harvest.is_header_down).filter(|(_, is_down)| **is_down);
            let products: i64 = rows.map(|(point, _)| point.swath * point.distance).sum();
            return unscaled(products, 2 * LENGTH_DECIMALS) * metre * metre;
        }
        let lengths: i64 = log.swaths.points.iter().map(|point| point.distance).sum();
        unscaled(lengths, LENGTH_DECIMALS) * metre * unscaled(log.swaths.swath, LENGTH_DECIMALS) * metre
    }

    /// Returns the random stream of secondary measurements.
    pub(super) fn secondary_rng(&self) -> fastrand::Rng {
        stream(self.seed, &[4])
    }

    /// Adds the columns of time, geometry, speed and elevation.
    pub(super) fn add_machine_columns(&self, log: &JobLog, table: &mut Table) {
        let JobLog { swaths, .. } = log;
        let points = &swaths.points;
        let mut rng = stream(self.seed, &[5]);
        let time = |seconds: f64| self.start + Duration::seconds(round_to_i64(seconds));
        table.add_numbers("PASS", "1", (6, 0), points.iter().map(|point| Some(point.pass)));
        if let Some(harvest) = log.harvest.as_ref().filter(|harvest| !harvest.machines.is_empty()) {
            table.add_numbers("MACHINE", "1", (4, 0), harvest.machines.iter().map(|machine| Some(*machine)));
        }
        if self.swath_options.sections > 1 {
            table.add_numbers("SECTION", "1", (4, 0), points.iter().map(|point| Some(point.section)));
        }
        table.add_column("DATE", Cells::Dates(points.iter().map(|point| time(point.seconds).date()).collect()));
        let clock = points.iter().map(|point| time(point.seconds).num_seconds_from_midnight());
        table.add_column("TIME", Cells::Times(clock.collect()));
        let (length, metre) = self.units.length;
        let shape = |width| (width, LENGTH_DECIMALS);
        table.add_numbers("SWATHWIDTH", length, shape(8), points.iter().map(|point| Some(point.swath)));
        table.add_numbers("DISTANCE", length, shape(8), points.iter().map(|point| Some(point.distance)));
        table.add_numbers("CYCLE", "s", (6, 2), points.iter().map(|_| Some(swaths.cycle)));
        let (speed, metres_a_second) = self.units.speed;
        let speeds = points.iter().map(|point| Some(scaled(swaths.speed(point, self.units) / metres_a_second, 2)));
        table.add_numbers("SPEED", speed, (6, 2), speeds);
        let headings = points.iter().map(|point| Some(scaled(SwathLog::heading(point), 1).rem_euclid(3600)));
        table.add_numbers("HEADING", "deg", (6, 1), headings);
        let heights = points.iter().map(|point| {
            // The receiver has elevation dropouts.
            let height = self.field.lowest * self.field.relief.value_at(point.location) + 0.05 * noise(&mut rng);
            (rng.u8(..) > 0).then(|| scaled(height / metre, 2))
        });
        table.add_numbers("ELEVATION", length, (9, 2), heights);
    }
}
