//! Names the field of a job: stated, that of a boundary, or that of a job on the same ground.

use std::cmp::Reverse;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{Array as _, RecordBatch};

use super::footer::GEOMETRY;
use super::hilbert::Sides;
use super::row_origin::FieldName;
use super::schema::JOB_ID;
use super::source_archive::SourceArchive;
use crate::error::Result;
use crate::layer::{Bounds, Layer, contains};

/// Positions of a layer that are compared with boundaries and with other layers.
const SAMPLES: usize = 25;

/// Share of positions that have to agree: rows at the edge may be outside by the error of a receiver.
const AGREEING: f64 = 0.9;

/// Positions of two layers on the same ground are nearer than this many times their mean distance.
const NEAR: f64 = 1.5;

/// Boundaries whose areas differ by less than this factor are versions of one boundary.
const SAME_AREA: f64 = 1.1;

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

/// Ground of a job whose field the service states.
pub(super) struct NamedGround {
    pub(super) job_id: String,
    pub(super) field: String,
    pub(super) year: Option<i32>,
    pub(super) positions: Vec<(f64, f64)>,
}

/// Boundaries and jobs that name a field.
pub(super) struct FieldNames {
    boundaries: Vec<NamedBoundary>,
    ground: Vec<NamedGround>,
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
    /// Reads the table of boundaries. `ground` is that of jobs whose field the service states.
    pub(super) fn new(tables: &[RecordBatch], ground: Vec<NamedGround>) -> Result<Self> {
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
        Ok(Self { boundaries, ground })
    }

    /// Field of a layer whose archive states `stated`, and which has rows at `positions`; `None` if it is on several.
    pub(super) fn name(
        &self,
        source: &SourceArchive,
        stated: Option<&str>,
        positions: &[(f64, f64)],
    ) -> Result<Option<FieldName>> {
        let found = |name: &str, rule: &str, evidence| {
            Some(FieldName { name: name.to_owned(), rule: rule.to_owned(), evidence })
        };
        if let Some(name) = &source.field {
            return Ok(found(name, "job", None));
        }
        if let Some(name) = stated {
            return Ok(found(name, "archive", None));
        }
        let own: Vec<&NamedBoundary> =
            self.boundaries.iter().filter(|boundary| boundary.job_id == source.job_id).collect();
        if let Some(first) = own.first() {
            let is_one = own.iter().all(|boundary| boundary.field == first.field);
            let own = if is_one { Some(*first) } else { smallest_around(own.into_iter(), positions)? };
            return Ok(
                own.and_then(|own| found(&own.field, "boundary", Some("the boundary in its archive".to_owned())))
            );
        }
        if let Some(boundary) = smallest_around(self.boundaries.iter(), positions)? {
            let evidence = format!("the boundary of job {} contains its rows", boundary.job_id);
            return Ok(found(&boundary.field, "boundary", Some(evidence)));
        }
        let same = || self.ground.iter().filter(|ground| is_same_ground(&ground.positions, positions));
        let Some(newest) = same().max_by_key(|ground| (ground.year, Reverse(&ground.job_id))) else { return Ok(None) };
        // The first job with this name stays the same if others follow.
        let first =
            same().filter(|ground| ground.field == newest.field).min_by_key(|ground| (ground.year, &ground.job_id));
        let evidence = format!("its rows are on the same ground as those of job {}", first.unwrap_or(newest).job_id);
        Ok(found(&newest.field, "same ground", Some(evidence)))
    }
}

/// The smallest boundary that contains nearly all positions; of its versions the first with the newest name.
fn smallest_around<'a>(
    boundaries: impl Iterator<Item = &'a NamedBoundary>,
    positions: &[(f64, f64)],
) -> Result<Option<&'a NamedBoundary>> {
    let mut around = Vec::new();
    for boundary in boundaries {
        if !positions.is_empty() && share(boundary.count(positions)?, positions.len()) >= AGREEING {
            around.push(boundary);
        }
    }
    let least = around.iter().map(|boundary| boundary.area).fold(f64::INFINITY, f64::min);
    let versions = || around.iter().filter(|boundary| boundary.area <= least * SAME_AREA);
    let Some(newest) = versions().max_by_key(|boundary| (boundary.year, Reverse(&boundary.job_id))) else {
        return Ok(None);
    };
    // The first boundary with this name stays the same if others follow.
    let same_name = versions().filter(|boundary| boundary.field == newest.field);
    Ok(same_name.min_by_key(|boundary| (boundary.year, &boundary.job_id)).copied())
}

/// Whether positions of two layers are spread over the same ground: those of each are near to those of the other.
fn is_same_ground(one: &[(f64, f64)], other: &[(f64, f64)]) -> bool {
    let Some((_, latitude)) = one.first() else { return false };
    let scale = latitude.to_radians().cos();
    let plane = |positions: &[(f64, f64)]| positions.iter().map(|(x, y)| (x * scale, *y)).collect::<Vec<_>>();
    let (one, other) = (plane(one), plane(other));
    let all = || one.iter().chain(&other);
    let extent = |side: fn(&(f64, f64)) -> f64| {
        let (low, high) = all()
            .map(side)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        high - low
    };
    #[expect(clippy::cast_precision_loss, reason = "some tens of positions")]
    let count = one.len().min(other.len()) as f64;
    let near = NEAR * (extent(|(x, _)| *x) * extent(|(_, y)| *y) / count).sqrt();
    let is_near = |from: &[(f64, f64)], to: &[(f64, f64)]| {
        let within = |(x, y): &&(f64, f64)| to.iter().any(|(a, b)| (x - a).hypot(y - b) <= near);
        share(from.iter().filter(within).count(), from.len()) >= AGREEING
    };
    one.len() == SAMPLES && other.len() == SAMPLES && is_near(&one, &other) && is_near(&other, &one)
}

#[expect(clippy::cast_precision_loss, reason = "some tens of positions")]
fn share(count: usize, of: usize) -> f64 {
    count as f64 / of.max(1) as f64
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

    fn boundary(field: &str, year: i32, side: f64) -> NamedBoundary {
        let corners =
            [(10.0, 50.0), (10.0 + side, 50.0), (10.0 + side, 50.0 + side), (10.0, 50.0 + side), (10.0, 50.0)];
        let mut wkb = vec![1, 3, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0];
        for (x, y) in corners {
            wkb.extend([f64::to_le_bytes(x), f64::to_le_bytes(y)].concat());
        }
        NamedBoundary {
            job_id: format!("{field} {year}"),
            field: field.to_owned(),
            year: Some(year),
            area: side * side,
            bounds: Some([10.0, 50.0, 10.0 + side, 50.0 + side]),
            geometry: wkb,
        }
    }

    /// A farm around a field does not name it, a newer version of the field does, and ground of two fields has no name.
    #[test]
    fn boundary_that_names_a_field_is_the_smallest_around_all_rows() {
        let rows = positions(0.4, |_, _| true);
        let mut names = FieldNames::new(&[], Vec::new()).unwrap();
        names.boundaries = vec![
            boundary("Alpha", 2024, 0.0101),
            boundary("Alpha East", 2025, 0.0103),
            boundary("Whole farm", 2026, 0.1),
            boundary("Corner", 2026, 0.004),
        ];
        let name = |names: &FieldNames| names.name(&source(None), None, &rows).unwrap().map(|found| found.name);
        assert_eq!(name(&names), Some("Alpha East".to_owned()));
        // Two boundaries in the own archive: the one around the rows.
        for own in names.boundaries.iter_mut().filter(|boundary| ["Corner", "Alpha"].contains(&&*boundary.field)) {
            own.job_id = "7".to_owned();
        }
        assert_eq!(name(&names), Some("Alpha".to_owned()));
        names.boundaries.retain(|boundary| boundary.field != "Alpha");
        names.boundaries.push(NamedBoundary { job_id: "7".to_owned(), ..boundary("Half", 2026, 0.007) });
        assert_eq!(name(&names), None, "rows in several boundaries, and outside");
    }

    /// Positions of a job that covers the part of a square that `is_worked`.
    fn positions(salt: f64, is_worked: fn(f64, f64) -> bool) -> Vec<(f64, f64)> {
        let spread = |step: f64| (1..).map(move |number| (f64::from(number) * step + salt).fract());
        let all = spread(0.754_877_666).zip(spread(0.569_840_291));
        all.filter(|(x, y)| is_worked(*x, *y)).map(|(x, y)| (10.0 + x * 0.01, 50.0 + y * 0.006)).take(SAMPLES).collect()
    }

    fn named(field: &str, year: i32, positions: Vec<(f64, f64)>) -> NamedGround {
        NamedGround { job_id: year.to_string(), field: field.to_owned(), year: Some(year), positions }
    }

    /// The last name of the same ground holds; parts of a field and neighbours get no name, even if their boxes agree.
    #[test]
    fn field_without_a_boundary_is_that_of_the_same_ground() {
        let whole: fn(f64, f64) -> bool = |_, _| true;
        let ground =
            vec![named("Old Name", 2024, positions(0.1, whole)), named("New Name", 2025, positions(0.2, whole))];
        let names = FieldNames::new(&[], ground).unwrap();
        let name = |names: &FieldNames, stated, positions: &[(f64, f64)]| {
            names.name(&source(None), stated, positions).unwrap().map(|found| (found.name, found.rule))
        };
        let found = |name: &str, rule: &str| Some((name.to_owned(), rule.to_owned()));
        for salt in 0..20 {
            let positions = positions(f64::from(salt) / 20.0, whole);
            assert_eq!(name(&names, None, &positions), found("New Name", "same ground"), "{salt}");
        }
        assert_eq!(name(&names, Some("Stated"), &positions(0.3, whole)), found("Stated", "archive"));
        assert_eq!(name(&names, None, &positions(0.3, |x, _| x < 0.6)), None, "part of the field");
        assert_eq!(name(&names, None, &[]), None, "not in degrees");
        let circle: fn(f64, f64) -> bool = |x, y| (x - 0.5).hypot(y - 0.5) < 0.5;
        let corners: fn(f64, f64) -> bool = |x, y| (x - 0.5).hypot(y - 0.5) >= 0.5;
        for (one, other) in [(circle, corners), (|x, y| x < y, |x, y| x >= y), (|x, _| x < 0.5, |x, _| x >= 0.5)] {
            let names = FieldNames::new(&[], vec![named("Neighbour", 2025, positions(0.1, one))]).unwrap();
            assert_eq!(name(&names, None, &positions(0.3, other)), None);
            assert_eq!(name(&names, None, &positions(0.3, one)), found("Neighbour", "same ground"));
        }
        // A further job with the name changes nothing, so that the rows need not be written again.
        let named_by = |names: &FieldNames| names.name(&source(None), None, &positions(0.3, whole)).unwrap().unwrap();
        let before = named_by(&names);
        let mut names = names;
        names.ground.push(named("New Name", 2026, positions(0.4, whole)));
        assert_eq!(named_by(&names), before);
        let by_service = names.name(&source(Some("Service")), Some("Stated"), &[]).unwrap();
        assert_eq!(by_service.map(|found| found.name), Some("Service".to_owned()));
    }
}
