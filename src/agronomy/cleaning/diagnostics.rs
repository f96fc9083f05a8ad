//! Diagnostics of a cleaning: ground, positions, delays and machines that are uncertain.

use crate::cleaning::clean_rows::CleanRows;
use crate::cleaning::left_out::left_out;
use crate::cleaning::machine_ratio::yields_differ;
use crate::cleaning::reasons::{MOISTURE, SWATH};
use crate::columns::canonical::JobKind;
use crate::columns::derived::HECTARE;
use crate::columns::row_ratios::median;
use crate::ground::convex_clip::Point;
use crate::ground::logged_shapes::are_inside;
use crate::passes::gaps::{PassGaps, WIDTHS};
use crate::rows::field_rows::FieldRows;
use crate::rows::track_rows::WrongHeadings;
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Polygons;

/// One of this many rows has no flow before it is said.
const DROPOUTS: usize = 200;

/// One of this many working rows has a width of 0 before it is said.
const WIDTHLESS: usize = 20;

/// One of this many working rows has no position before it is said.
const PLACELESS: usize = 100;

/// One of this many working rows is outside of the boundary before it is said, of at most so many that are looked at.
const LEAST_OUTSIDE: usize = 10;
const BOUNDARY_ROWS: usize = 2_000;

/// Of the covered ground, what was driven without grain before it is said.
const LEAST_EMPTY: f64 = 0.002;

/// Seconds between rows, above which they are far apart, and passes by rows, above which that is said.
const LONGEST_INTERVAL: f64 = 7.5;
const LEAST_UNKNOWN: f64 = 0.04;

/// Of the ground, what is beyond the logged widths before it is said.
const LEAST_WIDENED: f64 = 0.02;

/// One of this many rows is there twice before it is said.
const TWINS: usize = 50;
/// Rows of one moisture that are no chance.
const MANY: usize = 200;

/// Percent of water that grain has when it is harvested.
const MOISTURES: std::ops::RangeInclusive<f64> = 3.0..=45.0;

/// All diagnostics of cleaned rows.
pub(crate) fn clean_diagnostics(rows: &CleanRows) -> Vec<Diagnostic> {
    let mut diagnostics = not_shifted(rows);
    for WrongHeadings { machine, rows: count, radians, is_exchanged } in &rows.headings {
        let of = if rows.flow.delays.len() > 1 { format!(" of machine {machine}") } else { String::new() };
        let why = if *is_exchanged {
            ": they are those of positions whose longitude and latitude were exchanged, which makes all ground wrong; pass \
             `columns={\"longitude\": ..., \"latitude\": ...}`, or exchange the coordinates"
        } else {
            ""
        };
        let message = format!(
            "the headings of {count} rows{of} differ from the motion by {:.0} degrees in the median, so that the direction of \
             the motion is used{why}",
            radians.to_degrees()
        );
        diagnostics.push(Diagnostic::new(Code::HeadingContradicts, message));
    }
    if rows.flow.dropouts * DROPOUTS > rows.passes.number.len() {
        let message =
            format!("{} rows have no flow between rows that have one, which is interpolated there", rows.flow.dropouts);
        diagnostics.push(Diagnostic::new(Code::NoValues, message));
    }
    let covered: f64 = rows.ground.coverage.fresh.iter().sum();
    if rows.passes.without_grain > LEAST_EMPTY * covered {
        let message = format!(
            "{:.2} ha were driven with the header down without grain, each time for longer than any delay; they count as no \
             ground: where a crop yielded nothing, add them to it",
            rows.passes.without_grain / HECTARE
        );
        diagnostics.push(Diagnostic::new(Code::NoGrain, message));
    }
    if rows.twins * TWINS > rows.passes.number.len() {
        let message = format!(
            "{} of {} rows are there twice, within a metre at one time, or at one location later by one time for all; the second \
             ones are left out as `duplicate`; sections at the location of the antenna are no copies: give each its own location",
            rows.twins,
            rows.passes.number.len()
        );
        diagnostics.push(Diagnostic::new(Code::JobTwice, message));
    }
    diagnostics.extend(width_contradicts(rows));
    diagnostics.extend(widened(rows));
    diagnostics.extend(coarse_ends(rows));
    diagnostics.extend(yields_differ(rows));
    diagnostics.extend(unusual_moisture(rows));
    diagnostics.extend(left_out(rows));
    if rows.ground.coverage.limited > 0 {
        let message = format!(
            "the ground of {} rows is not exact: too many swaths cross each other there; no ground is counted twice",
            rows.ground.coverage.limited
        );
        diagnostics.push(Diagnostic::new(Code::GroundIncomplete, message));
    }
    diagnostics.extend(lost_ground(rows));
    if rows.passes.gaps.is_wandering() {
        let PassGaps { overlap, gap } = rows.passes.gaps;
        let is_harvest = rows.kind == JobKind::Yield;
        let effect = if is_harvest {
            "so that harvested passes meet in the middle between their tracks"
        } else {
            "so that overlaps and gaps of the worked ground are larger than in the field"
        };
        let message = format!(
            "neighbouring passes overlap by {overlap:.2} m and leave gaps of {gap:.2} m on average: positions wander, {effect}"
        );
        diagnostics.push(Diagnostic::new(Code::PositionsWander, message));
    }
    diagnostics
}

/// A diagnostic if the moisture is not one of grain, such as that of silage.
fn unusual_moisture(rows: &CleanRows) -> Option<Diagnostic> {
    let moisture = rows.moisture.shifted.as_ref()?;
    let usual = median((0..moisture.len()).filter(|k| rows.passes.number[*k] > 0).map(|k| moisture[k]).collect());
    let is_unusual = usual.is_finite() && !MOISTURES.contains(&usual);
    let message = is_unusual.then(|| {
        format!("the moisture is {usual:.1} % in the median, which is unusual for grain; the values are kept")
    });
    message.or_else(|| one_moisture(rows, moisture)).map(|message| Diagnostic::new(Code::MoistureUnusual, message))
}

/// What is said of a moisture that never changes.
fn one_moisture(rows: &CleanRows, moisture: &[f64]) -> Option<String> {
    let is_measured = |k: &usize| rows.passes.number[*k] > 0 && rows.reasons[*k] & MOISTURE == 0;
    let mut inside = (0..moisture.len()).filter(is_measured).map(|k| moisture[k]);
    let value = inside.next()?;
    let count = inside.try_fold(1, |count: usize, other| other.total_cmp(&value).is_eq().then_some(count + 1))?;
    (count > MANY).then(|| {
        format!(
            "the moisture is {value:.1} % in all rows, as a default of the display is; one percent of water more makes all dry \
             masses {:.1} % less: if it was not measured, pass a column of right ones as `columns={{\"moisture\": ...}}`",
            100.0 / (100.0 - value)
        )
    })
}

/// A diagnostic if the width differs from the distance between neighbouring tracks.
fn width_contradicts(rows: &CleanRows) -> Option<Diagnostic> {
    let (width, apart) = rows.passes.track_distance?;
    (!WIDTHS.contains(&(width / apart))).then(|| {
        let message = format!(
            "rows are {width:.2} m wide, but neighbouring tracks are {apart:.2} m apart; nothing is corrected: if the width is \
             wrong, pass its unit as `units=`, or a corrected column"
        );
        Diagnostic::new(Code::WidthContradicts, message)
    })
}

/// A diagnostic if much ground is that of the usual width, though its rows log a narrower one.
fn widened(rows: &CleanRows) -> Option<Diagnostic> {
    let is_widened = |k: &usize| rows.reasons[*k] & SWATH != 0 && rows.ground.coverage.fresh[*k] > 0.0;
    let widened: Vec<usize> = (0..rows.passes.number.len()).filter(is_widened).collect();
    // What is beyond the logged width, of the ground that is new.
    let beyond = |k: &usize| {
        let logged = rows.rows.distance[*k] * rows.rows.width[*k] / rows.ground.coverage.full[*k];
        rows.ground.coverage.fresh[*k] * (1.0 - logged).max(0.0)
    };
    let (more, all): (f64, f64) = (widened.iter().map(beyond).sum(), rows.ground.coverage.fresh.iter().sum());
    (more > LEAST_WIDENED * all).then(|| {
        let width = median(widened.iter().map(|k| rows.rows.width[*k]).collect());
        let message = format!(
            "{} rows log a narrower width than usual, {width:.2} m in the median, on ground that no other row covers; they count \
             with the usual width, as after a wrong entry, which is {:.2} ha or {:.1} % of the ground more: if they were \
             narrower, as in a strip trial, pass `full_width` of 0 in the `recipe` of `headland.clean`",
            widened.len(),
            more / HECTARE,
            100.0 * more / all
        );
        Diagnostic::new(Code::MeanContradicts, message)
    })
}

/// A diagnostic if rows are so far apart in time that passes begin and end anywhere between two of them.
fn coarse_ends(rows: &CleanRows) -> Option<Diagnostic> {
    let inside: Vec<usize> = (0..rows.passes.number.len()).filter(|k| rows.passes.number[*k] > 0).collect();
    let interval = median(inside.iter().map(|k| rows.rows.interval[*k]).collect());
    let step = median(inside.iter().map(|k| rows.rows.distance[*k]).collect());
    let is_coarse = rows.rows.has_time && interval > LONGEST_INTERVAL && rows.ground.swaths.logged().is_empty();
    let mut passes: Vec<i32> = inside.iter().map(|k| rows.passes.number[*k]).collect();
    passes.sort_unstable();
    passes.dedup();
    #[expect(clippy::cast_precision_loss, reason = "rows are far fewer than 2^53")]
    let share = passes.len() as f64 / inside.len().max(1) as f64;
    (is_coarse && share > LEAST_UNKNOWN).then(|| {
        let delay = if rows.kind == JobKind::Yield { ", and a delay of the flow to some seconds at best" } else { "" };
        let message = format!(
            "rows are {interval:.0} s and {step:.0} m apart, so that passes begin and end up to that much earlier or later: the \
             ground and what follows from it are known to {:.0} % only{delay}; export every row of the log if it has more",
            100.0 * share
        );
        Diagnostic::new(Code::GroundIncomplete, message)
    })
}

/// Diagnostics about rows in passes that have no ground: their width, distance or polygon is none of a machine.
fn lost_ground(rows: &CleanRows) -> Vec<Diagnostic> {
    let mut messages = Vec::new();
    if let Some(first) = rows.ground.swaths.implausible.first().map(|row| *row as usize) {
        messages.push(format!(
            "{} rows have no ground: no machine works {:.0} m by {:.0} m in one row, as row {} says; pass the unit of the \
             width or distance to `headland.harmonize(units=...)`",
            rows.ground.swaths.implausible.len(),
            rows.rows.distance[first],
            rows.rows.width[first],
            rows.rows.row[first],
        ));
    }
    let is_worked =
        |k: &usize| rows.rows.working.as_ref().is_some_and(|working| working[*k]) && rows.rows.distance[*k] > 0.0;
    let worked = (0..rows.passes.number.len()).filter(is_worked);
    let without = worked.clone().filter(|k| rows.rows.width[*k] == 0.0 && rows.ground.coverage.full[*k] <= 0.0).count();
    if without * WIDTHLESS > worked.count() {
        messages.push(format!(
            "{without} rows that work have no ground, since their swath width is 0; if it was not logged, make it null"
        ));
    }
    let worked = (0..rows.passes.number.len()).filter(is_worked);
    let placeless = worked.clone().filter(|k| rows.rows.x[*k].is_nan()).count();
    if placeless * PLACELESS > worked.count() {
        messages.push(format!(
            "{placeless} rows that work have no position, and so no ground, though what they log counts in the mass of the job"
        ));
    }
    if let Some((shapes, first)) =
        rows.ground.swaths.logged().first().and_then(|logged| Some((&logged.shapes, logged.shapes.lost.first()?)))
    {
        messages.push(format!(
            "{} rows have no ground: their polygons have no area, such as row {first}",
            shapes.lost.len()
        ));
    }
    messages.into_iter().map(|message| Diagnostic::new(Code::GroundIncomplete, message)).collect()
}

/// A diagnostic if the delay of a flow could not be found.
pub(crate) fn not_shifted(rows: &CleanRows) -> Vec<Diagnostic> {
    let refused = rows.flow.delays.iter().filter(|one| one.delay.seconds.is_none() && one.delay.is_estimated);
    let reasons: Vec<String> = refused
        .map(|one| {
            let of = if rows.flow.delays.len() > 1 { format!("{}: ", one.name()) } else { String::new() };
            format!("{of}{}", one.delay.reason.as_deref().unwrap_or_default())
        })
        .collect();
    if reasons.is_empty() {
        return Vec::new();
    }
    let message = format!(
        "the delay of the flow was not found, so the flow stays where the display put it: {}; pass `delay=` if it is known",
        reasons.join("; ")
    );
    vec![Diagnostic::new(Code::NotShifted, message)]
}

/// What is said of rows outside of a boundary.
pub(crate) fn outside(boundary: &[Polygons], field: &FieldRows) -> Option<Diagnostic> {
    let places = || field.x.iter().zip(&field.y).map(|(x, y)| [*x, *y]);
    if !are_inside(boundary, places()).any(|is_inside| is_inside) {
        let message = "no row is inside of `boundary`: check its coordinate system, or that it is that of this field";
        return Some(Diagnostic::new(Code::OutsideBoundary, message));
    }
    // Roads are outside.
    let is_working = |row: usize| field.working.as_ref().is_none_or(|working| working.get(row) == Some(&true));
    let working: Vec<Point> =
        places().enumerate().filter(|(row, _)| is_working(*row)).map(|(_, place)| place).collect();
    let sample = working.iter().copied().step_by(working.len().div_ceil(BOUNDARY_ROWS).max(1));
    let (count, inside) = (sample.len(), are_inside(boundary, sample).filter(|is_inside| *is_inside).count());
    let outside = count.saturating_sub(inside);
    (outside * LEAST_OUTSIDE > count).then(|| {
        let message = format!(
            "{} % of the rows that work are outside of `boundary`; they are used, and only those near it are left out as `edge`",
            outside * 100 / count.max(1)
        );
        Diagnostic::new(Code::RowsOutside, message)
    })
}
