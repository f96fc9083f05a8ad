//! The state of a sweep line over polygons that assigns each piece of ground to its first polygon.

use crate::ground::convex_clip::Point;

/// No polygon.
pub(crate) const NONE: u32 = u32::MAX;

/// The ground of polygons, by their place in the order.
pub(crate) struct Owned {
    /// Square metres that no earlier polygon covers.
    pub(crate) areas: Vec<f64>,
    /// Whether the boundary is not exact, since too many edges cross each other there.
    pub(crate) is_limited: Vec<bool>,
}

/// Receives pieces: the position of a polygon in the order, and the anticlockwise corners of a convex piece.
pub(crate) type Visit<'a> = &'a mut dyn FnMut(u32, &[Point]);

/// The winding numbers at the location of a sweep, and the ground that it has passed.
pub(crate) struct SweepState<'a> {
    pub(crate) visit: Option<Visit<'a>>,
    /// How many times each polygon winds around the location.
    pub(crate) winding: Vec<i32>,
    pub(crate) owned: Owned,
    /// Edges of strips that are left before clusters are not cut any more.
    pub(crate) work: usize,
}

impl SweepState<'_> {
    #[inline]
    pub(crate) fn add(&mut self, owner: u32, area: f64) {
        if let Some(sum) = self.owned.areas.get_mut(owner as usize) {
            *sum += area;
        }
    }
}
