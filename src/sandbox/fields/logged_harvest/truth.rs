//! A logged harvest beyond the points of its job: moisture, header, machines, and the truth with its map.

use std::collections::BTreeMap;

use super::cut_raster::CutGround;
use super::yield_surface::YieldSurface;
use crate::fields::deterministic_math::{i64_to_f64, round_to_i64};
use crate::fields::plane::{CoordinateSystem, Plane};
use headland_base::error::{Error, Kind, Result};

/// Smallest side of a cell of the true map, in metres: smaller cells hold too few cells of the ground's raster.
const SMALLEST_CELL: f64 = 2.0;

/// Truth of a harvest that is written as machines log it.
#[derive(Clone, Debug, PartialEq)]
pub struct HarvestTruth {
    /// Mean seconds from the cutter bar to the flow sensor, mixing included.
    pub delay: f64,
    /// Mean seconds from the cutter bar to the moisture sensor.
    pub moisture_delay: f64,
    /// Metres from the antenna forward to the cutter bar; negative if the antenna is ahead of it.
    pub antenna: f64,
    /// Area of the cut ground in m², each piece of ground once.
    pub covered_area: f64,
    /// Harvested mass in kg at `moisture_basis`.
    pub dry_mass: f64,
    /// Moisture of the market in percent, at which dry masses and yields are stated.
    pub moisture_basis: f64,
    /// Bits of the reasons why a row misleads, in the order of the archive's rows.
    pub reasons: Vec<u32>,
    /// UTM zone of the field's centre, always on the northern hemisphere.
    pub utm_zone: u8,
}

/// True map of a harvest: cells with cut ground, by row from the south and by column from the west.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct HarvestGrid {
    /// Centres of the cells in metres of the UTM zone.
    pub x: Vec<f64>,
    /// Northings of the centres.
    pub y: Vec<f64>,
    /// True yield of the cut ground in kg/ha at the truth's moisture.
    pub yield_dry: Vec<f64>,
    /// Cut share of each cell.
    pub share: Vec<f64>,
}

/// What a combine logged beyond the points, and the truth.
#[derive(Debug)]
pub(in crate::fields) struct HarvestLog {
    /// Moisture in hundredths of a percent.
    pub(in crate::fields) moisture: Vec<Option<i64>>,
    pub(in crate::fields) is_header_down: Vec<bool>,
    /// Number of the machine of each row; empty with one machine.
    pub(in crate::fields) machines: Vec<i64>,
    pub(in crate::fields) truth: HarvestTruth,
    pub(in crate::fields) ground: CutGround,
    pub(in crate::fields) surface: YieldSurface,
}

impl HarvestLog {
    /// Returns the true map in squares with that side, snapped to its multiples in the UTM zone.
    pub(in crate::fields) fn grid(&self, plane: &Plane, cell: f64) -> Result<HarvestGrid> {
        if !(SMALLEST_CELL..=1_000.0).contains(&cell) {
            let text = format!("invalid cell: expected {SMALLEST_CELL} to 1000 metres, got {cell}");
            return Err(Error::new(Kind::Value, text));
        }
        let system = CoordinateSystem::Utm(self.truth.utm_zone);
        // Number of all cells of the raster, number of cut ones, and the sum of their yields.
        let mut cells: BTreeMap<(i64, i64), (f64, f64, f64)> = BTreeMap::new();
        for (centre, is_cut) in self.ground.centres() {
            let (x, y) = plane.coordinates(centre, system);
            let key = (round_to_i64((y / cell).floor()), round_to_i64((x / cell).floor()));
            let (all, cut, dry) = cells.entry(key).or_default();
            *all += 1.0;
            if is_cut {
                *cut += 1.0;
                *dry += self.surface.value_at(centre).dry * 10_000.0;
            }
        }
        let mut grid = HarvestGrid::default();
        for ((row, column), (all, cut, dry)) in cells {
            if cut > 0.0 {
                grid.x.push((i64_to_f64(column) + 0.5) * cell);
                grid.y.push((i64_to_f64(row) + 0.5) * cell);
                grid.yield_dry.push(dry / cut);
                grid.share.push(cut / all);
            }
        }
        Ok(grid)
    }
}
