//! Prescription maps with the exact target rates of the jobs that used them.

use chrono::{DateTime, Duration, Utc};

use super::attributes::Table;
use super::boundaries::ZONE_SIDE;
use super::deterministic_math::{round_to_i64, scaled, unscaled};
use super::job::Job;
use super::job_spec::{JobSpec, Kind};
use super::plane::{CoordinateSystem, Point};
use super::product_rates::RATE;
use super::shapefile_writer::{LayerWriter, Member};
use super::zip_writer::write_zip;
use super::{planting, spraying};
use headland_base::error::Result;

/// A generated prescription map.
#[derive(Clone, Debug)]
pub struct Prescription {
    /// Id of the map.
    pub id: String,
    /// File name of the map.
    pub name: String,
    /// Time of upload, two days before the job.
    pub created: DateTime<Utc>,
    /// Id of the job that used it.
    pub job: String,
    /// Id of the field computer that received it.
    pub computer: String,
    spec: JobSpec,
}

/// A square of the map.
struct GridCell {
    ring: [Point; 4],
    target: i64,
}

impl Prescription {
    pub(super) fn from_job(job: &Job, id: String) -> Self {
        let spec = job.spec.clone();
        let computer = job.detail.get("field_computer_id").and_then(|id| id.as_text()).unwrap_or_default().to_owned();
        let created = spec.start.and_utc() - Duration::days(2) + Duration::milliseconds(250);
        Self { id, name: format!("{}_Rx.zip", spec.layer), created, job: job.id.clone(), computer, spec }
    }

    /// Returns the unit of the rates, which the map does not state.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        let units = self.spec.units;
        match self.spec.kind {
            Kind::Planting => units.population,
            _ if self.spec.is_dry => units.mass_rate,
            _ => units.volume_rate,
        }
    }

    /// Returns the map as a zip with a shapefile of squares and target rates.
    pub fn shapefile_zip(&self) -> Result<Vec<u8>> {
        let cells = self.cells();
        let mut table = Table::new();
        table.add_constant("FIELD", 24, self.spec.field.name);
        table.add_constant("PRODUCT", 24, self.spec.product);
        let targets = cells.iter().map(|cell| Some(cell.target));
        match self.spec.kind {
            Kind::Planting => table.add_numbers("TARGETPOP", self.unit(), (9, 0), targets),
            _ => table.add_numbers("TARGETRATE", self.unit(), (9, RATE), targets),
        }
        let date = self.created.date_naive();
        let writer =
            LayerWriter { plane: &self.spec.field.plane, system: CoordinateSystem::Geographic, date, code_page: false };
        let layer = format!("{}_Rx", self.spec.layer);
        let members = writer.polygons(&layer, &table, cells.iter().map(|cell| &cell.ring))?;
        write_zip(&members, self.created.naive_utc())
    }

    /// Returns the map in the format of displays: a zip with a binary table of squares. Each row has longitude and
    /// latitude of the centre in 1e-7 degrees and the target, as little-endian integers of 64 bits.
    pub fn display_zip(&self) -> Result<Vec<u8>> {
        let mut bytes = b"RXGRID\x00\x01".to_vec();
        for cell in self.cells() {
            let [low, _, high, _] = cell.ring;
            let middle = Point::new(f64::midpoint(low.east, high.east), f64::midpoint(low.north, high.north));
            let (longitude, latitude) = self.spec.field.plane.coordinates(middle, CoordinateSystem::Geographic);
            for number in [scaled(longitude, 7), scaled(latitude, 7), cell.target] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
        let member = Member { name: format!("{}_Rx.bin", self.spec.layer), bytes };
        write_zip(&[member], self.created.naive_utc())
    }

    /// Returns the squares that cover the boundary.
    fn cells(&self) -> Vec<GridCell> {
        let boundary = &self.spec.field.boundary;
        let span = |coordinate: fn(&Point) -> f64| {
            let values = || boundary.iter().map(coordinate);
            let lowest = values().fold(f64::INFINITY, f64::min);
            let highest = values().fold(f64::NEG_INFINITY, f64::max);
            round_to_i64((lowest / ZONE_SIDE).floor())..round_to_i64((highest / ZONE_SIDE).ceil())
        };
        let edge = |number: i64| unscaled(number, 0) * ZONE_SIDE;
        let mut cells = Vec::new();
        for north in span(|location| location.north) {
            for east in span(|location| location.east) {
                let (left, right) = (edge(east), edge(east.saturating_add(1)));
                let (low, high) = (edge(north), edge(north.saturating_add(1)));
                let middle = Point::new(f64::midpoint(left, right), f64::midpoint(low, high));
                let target = match self.spec.kind {
                    Kind::Planting => planting::target(&self.spec, middle),
                    _ => spraying::target(&self.spec, middle),
                };
                let ring =
                    [Point::new(left, low), Point::new(left, high), Point::new(right, high), Point::new(right, low)];
                cells.push(GridCell { ring, target });
            }
        }
        cells
    }
}
