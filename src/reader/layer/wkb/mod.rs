//! Readers of ISO well-known binary (WKB): runs of vertices in place, and flat coordinates.
//!
//! The format is OGC 06-103r4, [Simple Feature Access, part 1](https://www.ogc.org/standards/sfa/).

mod cursor;
mod flatten;

pub(super) use cursor::{Cursor, GeometryHeader, POINT_HEADER, check_wkb, flat_point, ordinate, points};
pub(super) use flatten::{FlatCoordinates, Part};
