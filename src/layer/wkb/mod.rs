//! Readers of ISO well-known binary: runs of vertices in place, and flat coordinates.

mod cursor;
mod flatten;

pub(super) use cursor::{Cursor, GeometryHeader, flat_point, ordinate, points};
pub(super) use flatten::{FlatCoordinates, Part};
