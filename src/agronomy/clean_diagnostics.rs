//! What a cleaning says about a job: ground that is not complete, positions that wander, a delay that was not found.

use super::clean::CleanRows;
use super::columns::JobKind;
use super::pass_gaps::PassGaps;
use crate::archive::{Code, Diagnostic};

/// All diagnostics of cleaned rows.
pub(super) fn clean_diagnostics(rows: &CleanRows) -> Vec<Diagnostic> {
    let mut diagnostics = not_shifted(rows);
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
        "the flow is not shifted, so that yields are not where the grain was cut: {}; pass `delay=` if it is known",
        reasons.join("; ")
    );
    vec![Diagnostic::new(Code::NotShifted, message)]
}
