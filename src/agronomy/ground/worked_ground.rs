//! The ground that rows work: usual widths, swaths, and ground counted once.

use std::sync::Arc;

use crate::ground::logged_shapes::Shapes;
use crate::ground::swath_coverage::{Coverage, cover};
use crate::ground::swaths::{SwathRows, Swaths, build_swaths};
use crate::rows::lengths::usual_width;
use crate::rows::track_rows::TrackRows;

/// No header is wider, and no boom or toolbar, in metres.
const WIDEST_HEADER: f64 = 60.0;
const WIDEST_BOOM: f64 = 200.0;

/// Ground of the rows in the order of the tracks.
pub(crate) struct WorkedGround {
    pub(crate) swaths: Swaths,
    pub(crate) coverage: Coverage,
    /// Share of the swath that was covered before; not a number without a swath.
    pub(crate) share: Vec<f64>,
    /// New ground in m2 by distance and width: quieter than that of swaths, which take up the jitter of positions.
    pub(crate) nominal: Vec<f64>,
    /// Rows whose width is too narrow.
    pub(crate) is_narrow: Vec<bool>,
}

/// What the ground of rows depends on, besides the rows.
pub(crate) struct GroundOptions<'a> {
    /// Metres from the antenna forward to the cutter bar.
    pub(crate) antenna: f64,
    /// Of the usual width, what is not narrow. `None` for jobs whose sections switch, so that widths are true.
    pub(crate) full_width: Option<f64>,
    /// Rows that cover nothing.
    pub(crate) excluded: &'a [bool],
    /// Metres beyond half the width on both sides of rows, since passes share their edges; empty for none.
    pub(crate) extra: &'a [[f64; 2]],
    /// Rows that may only drive, which cover only what no other row covers.
    pub(crate) is_idle: &'a [bool],
    /// Logged polygons.
    pub(crate) shapes: Option<&'a Arc<Shapes>>,
}

impl WorkedGround {
    /// Counts the ground of rows in passes once, in order of time.
    ///
    /// A combine that drives half over cut ground logs half its width on many displays, in the middle of the header. Its
    /// grain comes from the other half, so the swath has the full width and the ground that was cut before is counted
    /// there. Narrow rows on new ground have a wrong width.
    pub(crate) fn new(rows: &TrackRows, pass: &[i32], options: &GroundOptions<'_>) -> Self {
        let usual_width = usual_widths(rows, pass);
        let limit = options.full_width.unwrap_or(0.0);
        let is_reduced = |k: usize| pass[k] > 0 && rows.width[k] > 0.0 && rows.width[k] < limit * usual_width[k];
        let width: Vec<f64> =
            (0..rows.len()).map(|k| if is_reduced(k) { usual_width[k] } else { rows.width[k] }).collect();
        let distance = &rows.distance;
        let swaths = build_swaths(&SwathRows {
            x: &rows.x,
            y: &rows.y,
            heading: &rows.heading,
            distance,
            width: &width,
            extra: options.extra,
            track: &rows.track,
            pass,
            time: &rows.time,
            antenna: options.antenna,
            most_width: if options.full_width.is_some() { WIDEST_HEADER } else { WIDEST_BOOM },
            shapes: options.shapes.map(|shapes| (shapes, rows.row.as_slice())),
        });
        let mut by_time: Vec<u32> = (0_u32..).take(rows.len()).collect();
        let key = |row: &u32| (options.is_idle[*row as usize], rows.time[*row as usize]);
        by_time.sort_unstable_by(|a, b| {
            let ((idle_a, time_a), (idle_b, time_b)) = (key(a), key(b));
            idle_a.cmp(&idle_b).then(time_a.total_cmp(&time_b)).then(a.cmp(b))
        });
        let coverage = cover(&swaths, &by_time, options.excluded, &[]);
        let share: Vec<f64> =
            coverage.fresh.iter().zip(&coverage.full).map(|(fresh, full)| 1.0 - fresh / full).collect();
        let nominal = (0..rows.len()).map(|k| {
            let has_shape = options.shapes.is_some_and(|shapes| shapes.area(rows.row[k]) > 0.0);
            let [left, right] = options.extra.get(k).copied().unwrap_or_default();
            let whole = if has_shape { coverage.full[k] } else { distance[k] * (width[k] + left + right) };
            if coverage.fresh[k] > 0.0 { whole * (1.0 - share[k]) } else { 0.0 }
        });
        let nominal = nominal.collect();
        let narrowing = |k: usize| 1.0 - rows.width[k] / usual_width[k];
        let is_narrow = (0..rows.len()).map(|k| is_reduced(k) && share[k] < 0.5 * narrowing(k)).collect();
        Self { swaths, coverage, share, nominal, is_narrow }
    }
}

/// New ground in m2/s. Rows without ground of their own, since they repeat another one or are at a wrong place, log the flow
/// of the ground before them.
pub(crate) fn ground_per_second(rows: &TrackRows, pass: &[i32], nominal: &[f64], excluded: &[bool]) -> Vec<f64> {
    let mut ground: Vec<f64> = nominal.iter().zip(&rows.interval).map(|(m2, seconds)| m2 / seconds).collect();
    for k in (1..ground.len()).filter(|k| excluded[*k] && pass[*k] == pass[*k - 1] && rows.follows(*k)) {
        ground[k] = ground[k - 1];
    }
    ground
}

/// The most frequent width of rows in passes, for each row by its track.
fn usual_widths(rows: &TrackRows, pass: &[i32]) -> Vec<f64> {
    let mut usual = vec![f64::NAN; rows.len()];
    for track in &rows.tracks {
        usual[track.clone()].fill(usual_width(track.clone().filter(|k| pass[*k] > 0).map(|k| rows.width[k])));
    }
    usual
}
