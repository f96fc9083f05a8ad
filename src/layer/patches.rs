//! Surfaces of triangles and rings (`MultiPatch`), written as simple features.

use super::geometry::{Dimensions, Geometries};
use crate::archive::Shape;

/// Writes a `MultiPatch`; whether it could be written.
pub(super) fn write(_into: &mut Geometries, _shape: &Shape<'_>, _dimensions: Dimensions) -> bool {
    false
}
