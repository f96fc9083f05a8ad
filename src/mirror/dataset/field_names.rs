//! Names the field of a job: stated, that of a boundary, or that of a job on the same ground.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{Array as _, RecordBatch};

use super::footer::GEOMETRY;
use super::hilbert::Sides;
use super::schema::JOB_ID;
use super::source_archive::SourceArchive;
use crate::error::Result;
use crate::layer::{Bounds, Layer, contains};

/// Positions of a layer that are compared with boundaries.
const SAMPLES: usize = 9;

/// Least share of two bounding boxes that is the same ground. Boxes of neighbours have far less in common, and passes of
/// two machines on one field differ by less.
const SAME_GROUND: f64 = 0.8;

/// Metadata key of exports that names the field.
const FIELD_NAME: &str = "fieldname";

/// A boundary with the name of its field.
struct NamedBoundary {
    job_id: String,
    field: String,
    year: Option<i32>,
    area: f64,
    bounds: Option<Sides>,
    geometry: Vec<u8>,
}

/// Bounding box of a job whose field the service states.
pub(super) struct NamedBox {
    pub(super) job_id: String,
    pub(super) field: String,
    pub(super) year: Option<i32>,
    pub(super) bounds: Sides,
}

/// Boundaries and jobs that name a field.
pub(super) struct FieldNames {
    boundaries: Vec<NamedBoundary>,
    boxes: Vec<NamedBox>,
}

/// Name of a field, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FieldName {
    pub(super) name: String,
    /// `job`, `archive`, `boundary` or `same ground`.
    pub(super) rule: &'static str,
    /// Which boundary or which job names it.
    pub(super) evidence: Option<String>,
}

/// Position of some rows of a layer in WGS 84.
pub(super) fn sample_positions(layer: &Layer) -> Result<Vec<(f64, f64)>> {
    if !layer.crs().is_some_and(super::schema::is_wgs84) {
        return Ok(Vec::new());
    }
    // A ten-millionth of a degree is a centimetre.
    let round = |degrees: f64| (degrees * 1e7).round() / 1e7;
    Ok(layer.sample_positions(SAMPLES)?.into_iter().map(|(x, y)| (round(x), round(y))).collect())
}

/// Field that the archive of a layer states.
pub(super) fn stated_field(layer: &Layer) -> Option<String> {
    let stated = layer.metadata().iter().find(|(key, _)| key.to_lowercase() == FIELD_NAME);
    stated.map(|(_, name)| name.trim().to_owned()).filter(|name| !name.is_empty())
}

impl FieldNames {
    /// Reads the table of boundaries. `boxes` are those of jobs whose field the service states.
    pub(super) fn new(tables: &[RecordBatch], boxes: Vec<NamedBox>) -> Result<Self> {
        let mut boundaries = Vec::new();
        for table in tables {
            let text = |name: &str, row: usize| {
                let column = table.column_by_name(name)?.as_string_opt::<i32>()?;
                column.is_valid(row).then(|| column.value(row).to_owned())
            };
            let years = table.column_by_name("year").and_then(|column| column.as_primitive_opt::<Int32Type>());
            let areas = table.column_by_name("area_m2").and_then(|column| column.as_primitive_opt::<Float64Type>());
            let shapes = table.column_by_name(GEOMETRY).and_then(|column| column.as_binary_opt::<i64>());
            for row in 0..table.num_rows() {
                let (Some(job_id), Some(field)) = (text(JOB_ID, row), text("field", row)) else { continue };
                let wkb = shapes.filter(|shapes| shapes.is_valid(row)).map(|shapes| shapes.value(row));
                boundaries.push(NamedBoundary {
                    job_id,
                    field,
                    year: years.filter(|years| years.is_valid(row)).map(|years| years.value(row)),
                    area: areas.filter(|areas| areas.is_valid(row)).map_or(f64::INFINITY, |areas| areas.value(row)),
                    bounds: Bounds::from_geometries([wkb].into_iter())?.sides(),
                    geometry: wkb.unwrap_or_default().to_vec(),
                });
            }
        }
        Ok(Self { boundaries, boxes })
    }

    /// Field of a layer with this bounding box, whose archive states `stated`, and which has rows at `positions`.
    pub(super) fn name(
        &self,
        source: &SourceArchive,
        stated: Option<&str>,
        positions: &[(f64, f64)],
        bounds: Option<Sides>,
    ) -> Result<Option<FieldName>> {
        let found = |name: &str, rule, evidence| Some(FieldName { name: name.to_owned(), rule, evidence });
        if let Some(name) = &source.field {
            return Ok(found(name, "job", None));
        }
        if let Some(name) = stated {
            return Ok(found(name, "archive", None));
        }
        if let Some(own) = self.boundaries.iter().find(|boundary| boundary.job_id == source.job_id) {
            return Ok(found(&own.field, "boundary", Some("the boundary in its archive".to_owned())));
        }
        let mut best: Option<(usize, &NamedBoundary)> = None;
        for boundary in &self.boundaries {
            let count = boundary.count(positions)?;
            // Of boundaries with the same rows, the newest counts, and of one year the smallest.
            let rank = |(count, boundary): (usize, &NamedBoundary)| (count, boundary.year, -boundary.area);
            if count.saturating_mul(2) > positions.len() && best.is_none_or(|best| rank(best) < rank((count, boundary)))
            {
                best = Some((count, boundary));
            }
        }
        if let Some((count, boundary)) = best {
            let evidence =
                format!("the boundary of job {} contains {count} of {} positions", boundary.job_id, positions.len());
            return Ok(found(&boundary.field, "boundary", Some(evidence)));
        }
        // Without positions in degrees, the box is in other coordinates.
        let Some(bounds) = bounds.filter(|_| !positions.is_empty()) else { return Ok(None) };
        let share = |named: &&NamedBox| common_share(named.bounds, bounds);
        let same = self.boxes.iter().filter(|named| share(named) >= SAME_GROUND);
        let best = same.max_by(|one, other| {
            one.year.cmp(&other.year).then(share(one).total_cmp(&share(other))).then(other.job_id.cmp(&one.job_id))
        });
        Ok(best.and_then(|named| {
            let percent = (share(&named) * 100.0).floor();
            let evidence =
                format!("its rows and those of job {} have {percent} % of their box in common", named.job_id);
            found(&named.field, "same ground", Some(evidence))
        }))
    }
}

/// Area that two boxes have in common, as a share of the area that they cover together.
fn common_share(one: Sides, other: Sides) -> f64 {
    let area = |[west, south, east, north]: Sides| (east - west).max(0.0) * (north - south).max(0.0);
    let common = area([one[0].max(other[0]), one[1].max(other[1]), one[2].min(other[2]), one[3].min(other[3])]);
    let both = area(one) + area(other) - common;
    if both > 0.0 { common / both } else { 0.0 }
}

impl NamedBoundary {
    /// Positions inside.
    fn count(&self, positions: &[(f64, f64)]) -> Result<usize> {
        let Some([west, south, east, north]) = self.bounds else { return Ok(0) };
        let mut count = 0_usize;
        for (x, y) in positions {
            if (west..=east).contains(x) && (south..=north).contains(y) && contains(&self.geometry, (*x, *y))? {
                count = count.saturating_add(1);
            }
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agronomy::Job;
    use crate::mirror::ItemKind;

    fn source(field: Option<&str>) -> SourceArchive {
        SourceArchive {
            kind: ItemKind::Job,
            job_id: "7".to_owned(),
            sha256: String::new(),
            archive: std::path::PathBuf::new(),
            job_type: "Yield".to_owned(),
            start: None,
            created: None,
            display: None,
            name: String::new(),
            field: field.map(str::to_owned),
            job: Job::default(),
        }
    }

    fn named(job_id: &str, field: &str, year: i32, bounds: Sides) -> NamedBox {
        NamedBox { job_id: job_id.to_owned(), field: field.to_owned(), year: Some(year), bounds }
    }

    /// The last year's name holds for ground that was worked before, a neighbour's never does.
    #[test]
    fn field_without_a_boundary_is_that_of_the_same_ground() {
        let boxes = vec![
            named("1", "Old Name", 2024, [0.0, 0.0, 1.0, 1.0]),
            named("2", "New Name", 2025, [0.0, 0.0, 1.0, 0.98]),
            named("3", "Neighbour", 2026, [0.9, 0.0, 1.9, 1.0]),
        ];
        let names = FieldNames::new(&[], boxes).unwrap();
        let name = |stated, positions: &[(f64, f64)], bounds| {
            names.name(&source(None), stated, positions, bounds).unwrap().map(|found| (found.name, found.rule))
        };
        let inside = [(0.5, 0.5)];
        let found = |name: &str, rule| Some((name.to_owned(), rule));
        assert_eq!(name(None, &inside, Some([0.01, 0.0, 1.0, 1.0])), found("New Name", "same ground"));
        assert_eq!(name(Some("Stated"), &inside, Some([0.0, 0.0, 1.0, 1.0])), found("Stated", "archive"));
        assert_eq!(name(None, &inside, Some([0.0, 0.0, 0.6, 1.0])), None, "part of a field");
        assert_eq!(name(None, &[], Some([0.0, 0.0, 1.0, 1.0])), None, "not in degrees");
        let by_service = names.name(&source(Some("Service")), Some("Stated"), &[], None).unwrap();
        assert_eq!(by_service.map(|found| found.name), Some("Service".to_owned()));
    }
}
