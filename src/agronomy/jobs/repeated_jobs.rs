//! Jobs of a table of means whose rows are those of another one, such as the same harvest in two files.

use std::collections::{HashMap, HashSet};

use crate::columns::row_ratios::median;
use crate::columns::values::CanonicalValues;
use crate::ground::seasons::times;
use crate::jobs::parts::Part;
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;

/// One of this many locations is compared, which bounds the memory of a season.
const COMPARED: i64 = 7;
/// Rows that are compared at least, and of the rows of a job one of this many that is shared.
const LEAST_ROWS: usize = 20;
const LEAST_SHARE: usize = 50;
/// Part by which the mass of a row differs in two exports of it at most.
const SAME_ROW: f64 = 1e-4;
/// Parts of a degree in which machines are at one location.
const PER_DEGREE: f64 = 1e5;

/// Part by which masses of two exports of one job differ at most, and part of the rows of one that are on the ground of the other.
const SAME_MASS: f64 = 0.03;
const SAME_GROUND: f64 = 0.8;
/// Microseconds between their first rows: the clock of a zone and a night.
const SAME_TIME: i64 = 36 * 3_600_000_000;
/// Part of a swath that is the side of a cell, so that machines on every second pass share few cells, and its metres without one.
const SIDE: f64 = 0.45;
const USUAL_WIDTH: f64 = 6.0;
/// Rows of an export that are compared at most.
const MOST_COMPARED: usize = 2_000;
/// Metres of a degree of latitude.
const DEGREE: f64 = 111_195.0;

/// Mass and start of a job, which two exports of it have in common.
struct Totals {
    mass: f64,
    start: Option<i64>,
}

impl Totals {
    fn read(layer: &Layer) -> Option<Self> {
        let mass = masses(&CanonicalValues::new(layer, None))?.into_iter().filter(|kg| kg.is_finite()).sum();
        Some(Self { mass, start: times(layer).and_then(|times| times.into_iter().flatten().min()) })
    }

    fn are_those_of(&self, other: &Self) -> bool {
        let apart = self.start.zip(other.start).map_or(0, |(one, other)| one.saturating_sub(other).saturating_abs());
        apart <= SAME_TIME && (self.mass / other.mass - 1.0).abs() <= SAME_MASS
    }
}

/// The ground of a job as cells, which hold the rows of another export of it that has other moments or lies some metres aside.
struct Ground {
    /// Cells in a degree of longitude and of latitude.
    scale: [f64; 2],
    cells: HashSet<[i64; 2]>,
    sample: Vec<[f64; 2]>,
}

impl Ground {
    fn read(layer: &Layer) -> Option<Self> {
        let values = CanonicalValues::new(layer, None);
        let [xs, ys] = layer.positions().ok().flatten().filter(|_| layer.geometry_index().is_some())?;
        let rows = xs.into_iter().zip(ys).zip(masses(&values)?);
        let rows = rows.filter(|((x, y), kg)| x.is_finite() && y.is_finite() && *kg > 0.0);
        let places: Vec<[f64; 2]> = rows.map(|((x, y), _)| [x, y]).collect();
        let latitude = places.first()?[1];
        let width = median(values.numbers("swath_width", "m").unwrap_or_default());
        let per_degree = DEGREE / (SIDE * if width > 0.0 { width } else { USUAL_WIDTH });
        let scale = [per_degree * latitude.to_radians().cos(), per_degree];
        Some(Self {
            scale,
            cells: places.iter().map(|place| cell(*place, scale)).collect(),
            sample: places.iter().copied().step_by(places.len().div_ceil(MOST_COMPARED).max(1)).collect(),
        })
    }

    /// Of the rows of another export, the part on or next to cells of this one.
    fn share_of(&self, other: &Self) -> f64 {
        let is_near = |place: &&[f64; 2]| {
            let [x, y] = cell(**place, self.scale);
            (-1..=1).any(|dx| (-1..=1).any(|dy| self.cells.contains(&[x.saturating_add(dx), y.saturating_add(dy)])))
        };
        ratio(other.sample.iter().filter(is_near).count(), other.sample.len())
    }

    fn is_that_of(&self, other: &Self) -> bool {
        let is_enough = self.sample.len().min(other.sample.len()) >= LEAST_ROWS;
        is_enough && self.share_of(other).max(other.share_of(self)) >= SAME_GROUND
    }
}

/// The masses of rows in kilograms, wet ones if they are known.
fn masses(values: &CanonicalValues<'_>) -> Option<Vec<f64>> {
    values.numbers("wet_mass", "kg").or_else(|| values.numbers("dry_mass", "kg"))
}

/// The cell of a location.
#[expect(clippy::cast_possible_truncation, reason = "degrees times a factor")]
fn cell([x, y]: [f64; 2], [per_x, per_y]: [f64; 2]) -> [i64; 2] {
    [(x * per_x).floor() as i64, (y * per_y).floor() as i64]
}

/// A row at a location.
#[derive(Clone, Copy)]
struct Row {
    time: i64,
    mass: f64,
}

impl Row {
    /// Whether two rows of one location are one: two machines are not there at one time, and no ground yields the same again on
    /// one day.
    fn is_that_of(&self, other: &Self) -> bool {
        let apart = self.time.saturating_sub(other.time).saturating_abs();
        apart == 0 || (apart <= SAME_TIME && self.mass > 0.0 && (self.mass / other.mass - 1.0).abs() < SAME_ROW)
    }
}

/// Diagnostics of jobs of which a part of the rows, or of those of an earlier job, are at the same locations with the same times
/// or masses.
pub(super) fn repeated_jobs(parts: &[Part]) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let mut known: HashMap<[i64; 2], Vec<(usize, Row)>> = HashMap::new();
    let mut counts: Vec<usize> = Vec::with_capacity(parts.len());
    let mut totals: Vec<Option<Totals>> = Vec::with_capacity(parts.len());
    let name = |number: usize| {
        let name = parts.get(number).map(|part| part.job_name.as_deref().unwrap_or_else(|| part.layer.source()));
        name.filter(|name| !name.is_empty()).map_or_else(|| format!("layer {number}"), |name| format!("`{name}`"))
    };
    for (number, part) in parts.iter().enumerate().filter(|_| parts.len() > 1) {
        let places = places(part);
        counts.push(places.len());
        let mut shared: HashMap<usize, usize> = HashMap::new();
        for (place, row) in &places {
            let same = known.get(place).into_iter().flatten().filter(|(_, known)| row.is_that_of(known));
            // Those of one job are in succession.
            let mut others: Vec<usize> = same.map(|(other, _)| *other).collect();
            others.dedup();
            for other in others {
                *shared.entry(other).or_default() += 1;
            }
        }
        let most = shared.into_iter().max_by_key(|(other, count)| (*count, usize::MAX - other));
        let fewer = |other: usize| places.len().min(counts.get(other).copied().unwrap_or(0));
        if let Some((other, count)) =
            most.filter(|(other, count)| *count >= LEAST_ROWS && LEAST_SHARE * count > fewer(*other))
        {
            let message = format!(
                "{:.0} % of the rows of {} or {} are at locations of the other one, with the same times or masses: both count as a \
                 job of their own, so leave out these rows of one of them",
                100.0 * ratio(count, fewer(other)),
                name(number),
                name(other)
            );
            diagnostics.push(Diagnostic::new(Code::JobTwice, message));
            totals.push(None);
        } else {
            let own = Totals::read(&part.layer);
            // The ground is compared only where the totals agree: it takes memory for each row.
            let is_again = |(other, known): (usize, &Option<Totals>)| {
                known.as_ref().zip(own.as_ref()).is_some_and(|(known, own)| known.are_those_of(own))
                    && Ground::read(&part.layer)
                        .zip(parts.get(other).and_then(|other| Ground::read(&other.layer)))
                        .is_some_and(|(own, other)| own.is_that_of(&other))
            };
            if let Some(other) = totals.iter().enumerate().position(is_again) {
                let message = format!(
                    "{} and {} have the same ground and mass within a day, as two exports of one job have: both count as a job of \
                     their own, so leave out one of them",
                    name(other),
                    name(number)
                );
                diagnostics.push(Diagnostic::new(Code::JobTwice, message));
            }
            totals.push(own);
        }
        for (place, row) in places {
            known.entry(place).or_default().push((number, row));
        }
    }
    diagnostics
}

#[expect(clippy::cast_precision_loss, reason = "rows are far fewer than 2^53")]
fn ratio(count: usize, of: usize) -> f64 {
    count as f64 / of as f64
}

/// The rows of a job that are compared, by their location; none without times or locations.
fn places(part: &Part) -> Vec<([i64; 2], Row)> {
    let located = if part.layer.geometry_index().is_some() { part.layer.positions().ok().flatten() } else { None };
    let (Some(times), Some([xs, ys])) = (times(&part.layer), located) else { return Vec::new() };
    let masses = masses(&CanonicalValues::new(&part.layer, None)).unwrap_or_default();
    let place = |(number, (time, (x, y))): (usize, (Option<i64>, (f64, f64)))| {
        let time = time.filter(|_| x.is_finite() && y.is_finite())?;
        // Rounded coordinates are in the middle of a cell.
        let [x, y] = cell([x, y].map(|degrees| degrees + 0.5 / PER_DEGREE), [PER_DEGREE; 2]);
        let hash = x.wrapping_mul(31).wrapping_add(y).wrapping_mul(0x9E37_79B9).div_euclid(1 << 16);
        let mass = masses.get(number).copied().unwrap_or(f64::NAN);
        (hash.rem_euclid(COMPARED) == 0).then_some(([x, y], Row { time, mass }))
    };
    times.into_iter().zip(xs.into_iter().zip(ys)).enumerate().filter_map(place).collect()
}
