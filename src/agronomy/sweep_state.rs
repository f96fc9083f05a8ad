//! What a sweep over polygons keeps while it gives their ground away.

use super::convex_clip::Point;

/// No polygon.
pub(super) const NONE: u32 = u32::MAX;

/// The ground of polygons, by their place in the order.
pub(super) struct Owned {
    /// Square metres that no earlier polygon covers.
    pub(super) areas: Vec<f64>,
    /// Whether the boundary is not exact, since too many edges cross each other there.
    pub(super) is_limited: Vec<bool>,
}

/// Receives pieces: the position of a polygon in the order, and the anticlockwise corners of a convex piece.
pub(super) type Visit<'a> = &'a mut dyn FnMut(u32, &[Point]);

/// The winding numbers at the location of a sweep, and the ground that it has passed.
pub(super) struct SweepState<'a> {
    pub(super) visit: Option<Visit<'a>>,
    /// How many times each polygon winds around the location.
    pub(super) winding: Vec<i32>,
    pub(super) owned: Owned,
    /// Edges of strips that are left before clusters are not cut any more.
    pub(super) work: usize,
}

impl SweepState<'_> {
    #[inline]
    pub(super) fn add(&mut self, owner: u32, area: f64) {
        if let Some(sum) = self.owned.areas.get_mut(owner as usize) {
            *sum += area;
        }
    }
}
