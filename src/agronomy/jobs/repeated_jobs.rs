//! Jobs of a table of means whose rows are those of another one, such as the same harvest in two files.

use std::collections::HashMap;

use crate::ground::seasons::times;
use crate::jobs::parts::Part;
use headland_reader::archive::{Code, Diagnostic};

/// One of this many moments is compared, which bounds the memory of a season.
const COMPARED: i64 = 7;
/// Rows that are compared at least.
const LEAST_ROWS: usize = 20;
/// Parts of a degree in which machines are at one location: no two are there at one time.
const PER_DEGREE: f64 = 1e5;

/// Time and location of a row.
type Place = [i64; 3];

/// Diagnostics of jobs of which half of the rows, or of those of an earlier job, are at the same times and locations.
pub(super) fn repeated_jobs(parts: &[Part]) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let mut known: HashMap<Place, usize> = HashMap::new();
    let mut counts: Vec<usize> = Vec::with_capacity(parts.len());
    for (number, part) in parts.iter().enumerate().filter(|_| parts.len() > 1) {
        let places = places(part);
        counts.push(places.len());
        let mut shared: HashMap<usize, usize> = HashMap::new();
        for place in &places {
            if let Some(other) = known.get(place) {
                *shared.entry(*other).or_default() += 1;
            }
        }
        let most = shared.into_iter().max_by_key(|(other, count)| (*count, usize::MAX - other));
        let fewer = |other: usize| places.len().min(counts.get(other).copied().unwrap_or(0));
        if let Some((other, count)) = most.filter(|(other, count)| *count >= LEAST_ROWS && 2 * count > fewer(*other)) {
            let name = |number: usize, part: &Part| {
                let name = part.job_name.as_deref().unwrap_or_else(|| part.layer.source());
                if name.is_empty() { format!("layer {number}") } else { format!("`{name}`") }
            };
            let message = format!(
                "{:.0} % of the rows of {} are at the times and locations of rows of {}: both count as a job of their own, so leave \
                 out one of them",
                100.0 * ratio(count, fewer(other)),
                name(number, part),
                parts.get(other).map(|part| name(other, part)).unwrap_or_default()
            );
            diagnostics.push(Diagnostic::new(Code::JobTwice, message));
        }
        known.extend(places.into_iter().map(|place| (place, number)));
    }
    diagnostics
}

#[expect(clippy::cast_precision_loss, reason = "rows are far fewer than 2^53")]
fn ratio(count: usize, of: usize) -> f64 {
    count as f64 / of as f64
}

/// The rows of a job that are compared; none without times or locations.
fn places(part: &Part) -> Vec<Place> {
    let located = if part.layer.geometry_index().is_some() { part.layer.positions().ok().flatten() } else { None };
    let (Some(times), Some([xs, ys])) = (times(&part.layer), located) else { return Vec::new() };
    #[expect(clippy::cast_possible_truncation, reason = "degrees times a factor")]
    let rounded = |degrees: f64| (degrees * PER_DEGREE).round() as i64;
    let place = |(time, (x, y)): (Option<i64>, (f64, f64))| {
        let time = time.filter(|_| x.is_finite() && y.is_finite())?;
        // Times of logs are whole seconds, mostly of some step.
        (time.div_euclid(100_000).wrapping_mul(0x9E37_79B9).div_euclid(1 << 16).rem_euclid(COMPARED) == 0)
            .then(|| [time, rounded(x), rounded(y)])
    };
    times.into_iter().zip(xs.into_iter().zip(ys)).filter_map(place).collect()
}
