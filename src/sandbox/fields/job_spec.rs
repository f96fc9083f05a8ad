//! One job as it was planned, and what every kind of job logs alike: where, when, how wide, how far, how fast.

use std::sync::Arc;

use chrono::{Duration, NaiveDateTime, Timelike};

use super::attributes::{Cells, Table};
use super::boundaries::Field;
use super::deterministic_math::{scaled, unscaled, whole};
use super::plane::System;
use super::rng::{noise, stream};
use super::swaths::{LENGTH_DECIMALS, Manner, Marks};
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
pub(super) enum Packing {
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
pub(super) struct Work {
    /// Seed of the job.
    pub(super) seed: u64,
    pub(super) kind: Kind,
    pub(super) field: Arc<Field>,
    pub(super) crop: &'static Crop,
    pub(super) product: &'static str,
    /// Whether the product is dry and its rate a mass.
    pub(super) dry: bool,
    pub(super) operator: &'static str,
    pub(super) start: NaiveDateTime,
    pub(super) units: &'static Units,
    /// Whether the archive says which units those are.
    pub(super) states_units: bool,
    pub(super) manner: Manner,
    /// Whether each mark is written as a rectangle instead of its middle.
    pub(super) polygons: bool,
    pub(super) system: System,
    pub(super) packing: Packing,
    /// Base name of the members of the archive.
    pub(super) layer: String,
}

/// What the machine did: its marks, and the rates that give the total.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) marks: Marks,
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

impl Work {
    /// The area that the marks cover, in m².
    pub(super) fn covered(&self, record: &Record) -> f64 {
        let metre = self.units.length.1;
        let lengths: i64 = record.marks.list.iter().map(|mark| mark.distance).sum();
        unscaled(lengths, LENGTH_DECIMALS) * metre * unscaled(record.marks.swath, LENGTH_DECIMALS) * metre
    }

    /// The stream of chance for what is measured on the side.
    pub(super) fn side_stream(&self) -> fastrand::Rng {
        stream(self.seed, &[4])
    }

    /// Adds when each mark was made and what the machine did there.
    pub(super) fn place_columns(&self, record: &Record, table: &mut Table) {
        let Record { marks, .. } = record;
        let list = &marks.list;
        let mut rng = stream(self.seed, &[5]);
        let time = |seconds: f64| self.start + Duration::seconds(whole(seconds));
        table.numbers("PASS", "1", (6, 0), list.iter().map(|mark| Some(mark.pass)));
        if self.manner.sections > 1 {
            table.numbers("SECTION", "1", (4, 0), list.iter().map(|mark| Some(mark.section)));
        }
        table.other("DATE", Cells::Dates(list.iter().map(|mark| time(mark.seconds).date()).collect()));
        let clock = list.iter().map(|mark| time(mark.seconds).num_seconds_from_midnight());
        table.other("TIME", Cells::Clock(clock.collect()));
        let (length, metre) = self.units.length;
        let shape = |width| (width, LENGTH_DECIMALS);
        table.numbers("SWATHWIDTH", length, shape(8), list.iter().map(|_| Some(marks.swath)));
        table.numbers("DISTANCE", length, shape(8), list.iter().map(|mark| Some(mark.distance)));
        table.numbers("CYCLE", "s", (6, 2), list.iter().map(|_| Some(marks.cycle)));
        let (speed, metres_a_second) = self.units.speed;
        let speeds = list.iter().map(|mark| Some(scaled(marks.speed(mark, self.units) / metres_a_second, 2)));
        table.numbers("SPEED", speed, (6, 2), speeds);
        let headings = list.iter().map(|mark| Some(scaled(Marks::heading(mark), 1).rem_euclid(3600)));
        table.numbers("HEADING", "deg", (6, 1), headings);
        let heights = list.iter().map(|mark| {
            // The receiver loses its height now and then.
            let height = self.field.lowest * self.field.relief.at(mark.place) + 0.05 * noise(&mut rng);
            (rng.u8(..) > 0).then(|| scaled(height / metre, 2))
        });
        table.numbers("ELEVATION", length, (9, 2), heights);
    }
}
