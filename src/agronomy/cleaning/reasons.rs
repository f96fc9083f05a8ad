//! Reasons why a logged row misleads: the bits of the column `reasons`.

/// A reason.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reason {
    pub(crate) bit: u32,
    pub(crate) name: &'static str,
}

pub(crate) const NOT_WORKING: u32 = 1;
pub(crate) const ENDS: u32 = 1 << 1;
pub(crate) const SPEED: u32 = 1 << 2;
pub(crate) const POSITION: u32 = 1 << 3;
pub(crate) const DUPLICATE: u32 = 1 << 4;
pub(crate) const SWATH: u32 = 1 << 5;
pub(crate) const OVERLAP: u32 = 1 << 6;
pub(crate) const MOISTURE: u32 = 1 << 7;
pub(crate) const SPIKE: u32 = 1 << 8;
pub(crate) const LOCAL: u32 = 1 << 9;
pub(crate) const LIMITS: u32 = 1 << 10;
pub(crate) const EDGE: u32 = 1 << 11;

/// All reasons by bit.
pub(crate) const REASONS: [Reason; 12] = [
    Reason { bit: NOT_WORKING, name: "not_working" },
    Reason { bit: ENDS, name: "ends" },
    Reason { bit: SPEED, name: "speed" },
    Reason { bit: POSITION, name: "position" },
    Reason { bit: DUPLICATE, name: "duplicate" },
    Reason { bit: SWATH, name: "swath" },
    Reason { bit: OVERLAP, name: "overlap" },
    Reason { bit: MOISTURE, name: "moisture" },
    Reason { bit: SPIKE, name: "spike" },
    Reason { bit: LOCAL, name: "local" },
    Reason { bit: LIMITS, name: "limits" },
    Reason { bit: EDGE, name: "edge" },
];

/// Sets a bit where `is_marked` is true.
pub(crate) fn mark(reasons: &mut [u32], bit: u32, is_marked: impl Fn(usize) -> bool) {
    for (k, bits) in reasons.iter_mut().enumerate() {
        if is_marked(k) {
            *bits |= bit;
        }
    }
}

/// The first reason of a row that is not used.
pub(crate) fn main_reason(bits: u32, is_used: bool) -> &'static str {
    let first = REASONS.iter().find(|reason| bits & reason.bit != 0 && (is_used || reason.bit != OVERLAP));
    first.map_or("used", |reason| reason.name)
}
