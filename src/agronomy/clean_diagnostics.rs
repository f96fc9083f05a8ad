//! What a cleaning says about a job: ground, positions, delays and machines that it could not be sure of.

use super::clean::CleanRows;
use super::columns::JobKind;
use super::pass_gaps::PassGaps;
use crate::archive::{Code, Diagnostic};

/// Rows of one time that are further apart than twice the width of the header and this many metres are no sections.
const APART: f64 = 20.0;

/// All diagnostics of cleaned rows.
pub(super) fn clean_diagnostics(rows: &CleanRows) -> Vec<Diagnostic> {
    let mut diagnostics = not_shifted(rows);
    diagnostics.extend(several_machines(rows));
    if rows.coverage.limited > 0 {
        let message = format!(
            "the ground of {} rows is not complete: too many swaths cross each other there; no ground is counted twice",
            rows.coverage.limited
        );
        diagnostics.push(Diagnostic::new(Code::GroundIncomplete, message));
    }
    if rows.gaps.is_wandering() {
        let PassGaps { overlap, gap } = rows.gaps;
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

/// A diagnostic if the delay of a flow could not be found.
pub(super) fn not_shifted(rows: &CleanRows) -> Vec<Diagnostic> {
    let refused = rows.delays.iter().filter(|one| one.delay.seconds.is_none() && one.delay.is_estimated);
    let reasons: Vec<String> = refused
        .map(|one| {
            let of = if rows.delays.len() > 1 { format!("machine {}: ", one.machine) } else { String::new() };
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

/// A diagnostic if sections of one header are too far apart: several machines without a column that tells them apart.
fn several_machines(rows: &CleanRows) -> Option<Diagnostic> {
    let tracks = &rows.rows;
    if tracks.tracks.len() == tracks.machines.len() {
        return None;
    }
    let (mut together, mut apart, mut furthest) = (0_usize, 0_usize, 0.0_f64);
    for group in tracks.moments().into_iter().filter(|group| group.len() > 1) {
        let first = group[0];
        let distance = |k: &usize| (tracks.x[*k] - tracks.x[first]).hypot(tracks.y[*k] - tracks.y[first]);
        let extent = group.iter().map(distance).fold(0.0, f64::max);
        let header: f64 = group.iter().map(|k| tracks.width[*k].max(0.0)).sum();
        together += 1;
        apart += usize::from(extent > 2.0 * header + APART);
        furthest = furthest.max(extent);
    }
    (apart * 5 > together).then(|| {
        let message = format!(
            "rows of one time are up to {furthest:.0} m apart, but no column tells the machines apart, so they are read as \
             sections of one header: delays and ground are wrong; add a column `machine`, or clean the machines apart"
        );
        Diagnostic::new(Code::MachinesUnknown, message)
    })
}
