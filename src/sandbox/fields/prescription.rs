//! Prescription maps: the target rate of each zone, exactly as the job that used the map was asked for it.

use chrono::{DateTime, Duration, Utc};

use super::attributes::Table;
use super::boundaries::SIDE;
use super::deterministic_math::{scaled, unscaled, whole};
use super::job::Job;
use super::job_spec::{Kind, Work};
use super::plane::{Point, System};
use super::shapefile_writer::{Manner, Member};
use super::spraying::RATE;
use super::zip_writer::zipped;
use super::{planting, spraying};
use crate::error::Result;

/// A generated prescription map.
#[derive(Clone, Debug)]
pub struct Prescription {
    /// Its id.
    pub id: String,
    /// Its file name.
    pub name: String,
    /// When it was uploaded: two days before the job began.
    pub created: DateTime<Utc>,
    /// The id of the job that used it.
    pub job: String,
    /// The id of the field computer that it was sent to.
    pub computer: String,
    work: Work,
}

/// A square of the map.
struct Cell {
    ring: [Point; 4],
    target: i64,
}

impl Prescription {
    pub(super) fn of(job: &Job, id: String) -> Self {
        let work = job.work.clone();
        let computer = job.detail.get("field_computer_id").and_then(|id| id.as_text()).unwrap_or_default().to_owned();
        let created = work.start.and_utc() - Duration::days(2) + Duration::milliseconds(250);
        Self { id, name: format!("{}_Rx.zip", work.layer), created, job: job.id.clone(), computer, work }
    }

    /// The map as a zip with one shapefile of squares and their target rates.
    pub fn shapefile_zip(&self) -> Result<Vec<u8>> {
        let cells = self.cells();
        let mut table = Table::new();
        table.word("FIELD", 24, self.work.field.name);
        table.word("PRODUCT", 24, self.work.product);
        let targets = cells.iter().map(|cell| Some(cell.target));
        match self.work.kind {
            Kind::Planting => table.numbers("TARGETPOP", self.work.units.population, (9, 0), targets),
            _ if self.work.dry => table.numbers("TARGETRATE", self.work.units.mass_rate, (9, RATE), targets),
            _ => table.numbers("TARGETRATE", self.work.units.volume_rate, (9, RATE), targets),
        }
        let date = self.created.date_naive();
        let manner = Manner { plane: &self.work.field.plane, system: System::Geographic, date, code_page: false };
        let layer = format!("{}_Rx", self.work.layer);
        let members = manner.polygons(&layer, &table, cells.iter().map(|cell| &cell.ring))?;
        zipped(&members, self.created.naive_utc())
    }

    /// The map as displays take it: a zip with a binary table of squares (longitude and latitude of the middle in
    /// ten-millionths of a degree, target as the map writes it; little-endian).
    pub fn display_zip(&self) -> Result<Vec<u8>> {
        let mut bytes = b"RXGRID\x00\x01".to_vec();
        for cell in self.cells() {
            let [low, _, high, _] = cell.ring;
            let middle = Point::new(f64::midpoint(low.east, high.east), f64::midpoint(low.north, high.north));
            let (longitude, latitude) = self.work.field.plane.coordinates(middle, System::Geographic);
            for number in [scaled(longitude, 7), scaled(latitude, 7), cell.target] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
        let member = Member { name: format!("{}_Rx.bin", self.work.layer), bytes };
        zipped(&[member], self.created.naive_utc())
    }

    /// What the map asks for at its squares, in the unit of the display, lowest and highest.
    #[must_use]
    pub fn targets(&self) -> Option<(f64, f64)> {
        let decimals = if self.work.kind == Kind::Planting { 0 } else { RATE };
        let cells = self.cells();
        let targets = || cells.iter().map(|cell| cell.target);
        Some((unscaled(targets().min()?, decimals), unscaled(targets().max()?, decimals)))
    }

    /// The squares that cover the field's boundary.
    fn cells(&self) -> Vec<Cell> {
        let boundary = &self.work.field.boundary;
        let span = |of: fn(&Point) -> f64| {
            let values = || boundary.iter().map(of);
            let lowest = values().fold(f64::INFINITY, f64::min);
            let highest = values().fold(f64::NEG_INFINITY, f64::max);
            whole((lowest / SIDE).floor())..whole((highest / SIDE).ceil())
        };
        let edge = |number: i64| unscaled(number, 0) * SIDE;
        let mut cells = Vec::new();
        for north in span(|place| place.north) {
            for east in span(|place| place.east) {
                let (left, right) = (edge(east), edge(east.saturating_add(1)));
                let (low, high) = (edge(north), edge(north.saturating_add(1)));
                let middle = Point::new(f64::midpoint(left, right), f64::midpoint(low, high));
                let target = match self.work.kind {
                    Kind::Planting => planting::target(&self.work, middle),
                    _ => spraying::target(&self.work, middle),
                };
                let ring =
                    [Point::new(left, low), Point::new(left, high), Point::new(right, high), Point::new(right, low)];
                cells.push(Cell { ring, target });
            }
        }
        cells
    }
}
