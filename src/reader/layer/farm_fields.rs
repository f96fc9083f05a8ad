//! Finds the farm field of a job by its location: that of a boundary around it, or of a job on the same ground.

use std::cmp::Reverse;

use super::boundary_columns::boundary_names;
use super::crs::Crs;
use super::{Bounds, Layer, area, contains};
use headland_base::error::Result;

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
pub struct NamedBoundary {
    job_id: String,
    field: String,
    year: Option<i32>,
    area: f64,
    bounds: Option<[f64; 4]>,
    geometry: Vec<u8>,
}

/// Ground of a job whose field is stated.
pub struct NamedGround {
    /// The job.
    pub job_id: String,
    /// The name of its field.
    pub field: String,
    /// The year of its start.
    pub year: Option<i32>,
    /// Longitudes and latitudes of some of its rows.
    pub positions: Vec<(f64, f64)>,
}

/// Boundaries and jobs that name a field.
#[derive(Default)]
pub struct KnownFields {
    /// Boundaries whose field is named.
    pub boundaries: Vec<NamedBoundary>,
    /// Ground of jobs whose field is stated.
    pub ground: Vec<NamedGround>,
}

/// The field at a place.
#[derive(Debug, PartialEq)]
pub struct FieldFound {
    /// Its name.
    pub name: String,
    /// `boundary` or `same ground`.
    pub rule: &'static str,
    /// Which boundary or which job names it.
    pub evidence: String,
}

/// Position of some rows of a layer in WGS 84; empty for a layer in another system.
pub fn sample_positions(layer: &Layer) -> Result<Vec<(f64, f64)>> {
    if layer.crs().is_none_or(|crs| crs.wkt() != Crs::wgs84().wkt()) {
        return Ok(Vec::new());
    }
    // A ten-millionth of a degree is a centimetre.
    let round = |degrees: f64| (degrees * 1e7).round() / 1e7;
    Ok(layer.sample_positions(SAMPLES)?.into_iter().map(|(x, y)| (round(x), round(y))).collect())
}

/// Field that the archive of a layer states.
#[must_use]
pub fn stated_field(layer: &Layer) -> Option<String> {
    let stated = layer.metadata().iter().find(|(key, _)| key.to_lowercase() == FIELD_NAME);
    stated.map(|(_, name)| name.trim().to_owned()).filter(|name| !name.is_empty())
}

impl NamedBoundary {
    /// A boundary in WGS 84. Without an area it is larger than any other.
    pub fn new(job_id: &str, field: &str, year: Option<i32>, wkb: Option<&[u8]>, area: Option<f64>) -> Result<Self> {
        Ok(Self {
            job_id: job_id.to_owned(),
            field: field.to_owned(),
            year,
            area: area.unwrap_or(f64::INFINITY),
            bounds: Bounds::from_geometries([wkb].into_iter())?.sides(),
            geometry: wkb.unwrap_or_default().to_vec(),
        })
    }

    /// The named boundaries of a layer of them, which is transformed to WGS 84.
    pub fn read(job_id: &str, year: Option<i32>, layer: Layer) -> Result<Vec<Self>> {
        let layer = layer.into_wgs84()?;
        let names = boundary_names(&layer, None);
        let places = layer.geometries().zip(names).filter_map(|(wkb, name)| Some((wkb, name?)));
        let boundary = |(wkb, name): (Option<&[u8]>, String)| {
            let area = area::known_area(wkb)?;
            Self::new(job_id, &name, year, wkb, area)
        };
        places.map(boundary).collect()
    }
}

impl KnownFields {
    /// The field of a job with rows at `positions`; `None` if it is on several or on none.
    pub fn find(&self, job_id: &str, positions: &[(f64, f64)]) -> Result<Option<FieldFound>> {
        let found = |name: &str, rule, evidence| Some(FieldFound { name: name.to_owned(), rule, evidence });
        let own: Vec<&NamedBoundary> = self.boundaries.iter().filter(|boundary| boundary.job_id == job_id).collect();
        if let Some(first) = own.first() {
            let is_one = own.iter().all(|boundary| boundary.field == first.field);
            let own = if is_one { Some(*first) } else { smallest_around(own.into_iter(), positions)? };
            return Ok(own.and_then(|own| found(&own.field, "boundary", "the boundary in its archive".to_owned())));
        }
        if let Some(boundary) = smallest_around(self.boundaries.iter(), positions)? {
            let evidence = format!("the boundary of job {} contains its rows", boundary.job_id);
            return Ok(found(&boundary.field, "boundary", evidence));
        }
        let same = || self.ground.iter().filter(|ground| is_same_ground(&ground.positions, positions));
        let Some(newest) = same().max_by_key(|ground| (ground.year, Reverse(&ground.job_id))) else { return Ok(None) };
        // The first job with this name stays the same if others follow.
        let first =
            same().filter(|ground| ground.field == newest.field).min_by_key(|ground| (ground.year, &ground.job_id));
        let evidence = format!("its rows are on the same ground as those of job {}", first.unwrap_or(newest).job_id);
        Ok(found(&newest.field, "same ground", evidence))
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
        let boundaries = vec![
            boundary("Alpha", 2024, 0.0101),
            boundary("Alpha East", 2025, 0.0103),
            boundary("Whole farm", 2026, 0.1),
            boundary("Corner", 2026, 0.004),
        ];
        let mut names = KnownFields { boundaries, ground: Vec::new() };
        let name = |names: &KnownFields| names.find("7", &rows).unwrap().map(|found| found.name);
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
        let names = KnownFields { boundaries: Vec::new(), ground };
        let name = |names: &KnownFields, positions: &[(f64, f64)]| {
            names.find("7", positions).unwrap().map(|found| (found.name, found.rule))
        };
        let found = |name: &str, rule| Some((name.to_owned(), rule));
        for salt in 0..20 {
            let positions = positions(f64::from(salt) / 20.0, whole);
            assert_eq!(name(&names, &positions), found("New Name", "same ground"), "{salt}");
        }
        assert_eq!(name(&names, &positions(0.3, |x, _| x < 0.6)), None, "part of the field");
        assert_eq!(name(&names, &[]), None, "not in degrees");
        let circle: fn(f64, f64) -> bool = |x, y| (x - 0.5).hypot(y - 0.5) < 0.5;
        let corners: fn(f64, f64) -> bool = |x, y| (x - 0.5).hypot(y - 0.5) >= 0.5;
        for (one, other) in [(circle, corners), (|x, y| x < y, |x, y| x >= y), (|x, _| x < 0.5, |x, _| x >= 0.5)] {
            let ground = vec![named("Neighbour", 2025, positions(0.1, one))];
            let names = KnownFields { boundaries: Vec::new(), ground };
            assert_eq!(name(&names, &positions(0.3, other)), None);
            assert_eq!(name(&names, &positions(0.3, one)), found("Neighbour", "same ground"));
        }
        // A further job with the name changes nothing, so that the rows need not be written again.
        let named_by = |names: &KnownFields| names.find("7", &positions(0.3, whole)).unwrap().unwrap();
        let before = named_by(&names);
        let mut names = names;
        names.ground.push(named("New Name", 2026, positions(0.4, whole)));
        assert_eq!(named_by(&names), before);
    }
}
