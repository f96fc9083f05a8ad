//! Gaps and overlaps between neighbouring passes, which show how far positions wander.

use super::neighbours::Neighbours;
use super::row_ratios::median;
use super::track_rows::TrackRows;

/// At most about this many rows look for the pass next to them.
const MOST_ROWS: usize = 4_000;
/// Passes within this many widths are neighbours, if their directions are parallel.
const REACH: f64 = 1.5;
const PARALLEL: f64 = 0.97;

/// Mean overlap and mean gap between neighbouring passes, as parts of the width.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PassGaps {
    pub(super) overlap: f64,
    pub(super) gap: f64,
}

impl PassGaps {
    /// Measures the distance across to the nearest pass on each side of rows.
    pub(super) fn measure(rows: &TrackRows, pass: &[i32], excluded: &[bool], location: (&[f64], &[f64])) -> Self {
        let inside: Vec<usize> = (0..rows.len()).filter(|k| pass[*k] > 0 && !excluded[*k]).collect();
        let width = median(inside.iter().map(|k| rows.width[*k]).collect());
        if width.is_nan() || width <= 0.0 {
            return Self::default();
        }
        let at = |column: &[f64]| inside.iter().map(|k| column[*k]).collect::<Vec<f64>>();
        let (xs, ys) = (at(location.0), at(location.1));
        let points = Neighbours::new(&xs, &ys, width);
        let (mut near, mut sums, mut count) = (Vec::new(), Self::default(), 0.0);
        for i in (0..inside.len()).step_by(inside.len().div_ceil(MOST_ROWS).max(1)) {
            let a = inside[i];
            let (north, east) = rows.heading[a].sin_cos();
            points.within(xs[i], ys[i], REACH * width, &mut near);
            let mut across = [f64::INFINITY; 2];
            for j in near.iter().map(|j| *j as usize) {
                let (dx, dy) = (xs[j] - xs[i], ys[j] - ys[i]);
                let is_level = (dx * east + dy * north).abs() < 0.5 * width;
                let is_parallel = (rows.heading[a] - rows.heading[inside[j]]).cos().abs() > PARALLEL;
                if pass[inside[j]] != pass[a] && is_level && is_parallel {
                    let offset = east * dy - north * dx;
                    let side = &mut across[usize::from(offset > 0.0)];
                    *side = side.min(offset.abs());
                }
            }
            for across in across.into_iter().filter(|across| *across > 0.5 * width && across.is_finite()) {
                sums.overlap += (1.0 - across / width).max(0.0);
                sums.gap += (across / width - 1.0).max(0.0);
                count += 1.0;
            }
        }
        if count > 0.0 { Self { overlap: sums.overlap / count, gap: sums.gap / count } } else { sums }
    }
}
