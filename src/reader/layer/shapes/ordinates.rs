//! Checks coordinates and measures for `no data` values.

use crate::archive::{Shape, ShapeType};

/// M values below this are `no data` (ESRI Shapefile Technical Description).
pub(super) const NO_DATA: f64 = -1e38;

/// Whether an X or Y is a coordinate. Values beyond ±1e38 are `no data`.
pub(in crate::layer) fn is_valid_coordinate(ordinate: f64) -> bool {
    ordinate.abs() <= -NO_DATA
}

/// The Z or M of a vertex.
pub(super) fn read_ordinate(all: Option<&[u8]>, vertex: usize) -> Option<f64> {
    let bytes = all?.get(vertex * 8..vertex * 8 + 8)?;
    bytes.try_into().ok().map(f64::from_le_bytes)
}

/// Whether all X and Y are valid, as `is_valid_coordinate`. Compares the bits without the sign, which have the order of
/// the numbers, and has no branch, so that it vectorises.
#[inline]
pub(super) fn are_valid_coordinates(xy: &[u8]) -> bool {
    let farthest = (-NO_DATA).to_bits();
    let (ordinates, _) = xy.as_chunks();
    let beyond = ordinates
        .iter()
        .fold(0, |beyond, ordinate| beyond | farthest.wrapping_sub(u64::from_le_bytes(*ordinate) & (u64::MAX >> 1)));
    beyond >> 63 == 0
}

pub(super) fn floats(bytes: &[u8]) -> impl Iterator<Item = f64> + '_ {
    bytes.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap_or_default()))
}

/// Whether a ring starts or ends with NaN. NaN equals nothing, so GEOS would reject the ring and its whole geometry
/// column. In a surface, a triangle may start at any vertex.
pub(super) fn has_nan_end(shape: &Shape<'_>) -> bool {
    let xy = shape.vertices.xy;
    let is_nan = |vertex: usize| xy.get(vertex * 16..vertex * 16 + 16).is_some_and(|xy| floats(xy).any(f64::is_nan));
    match shape.shape_type {
        ShapeType::Polygon => {
            let (starts, _) = shape.parts.as_chunks();
            let starts = starts.iter().filter_map(|start| usize::try_from(i32::from_le_bytes(*start)).ok());
            let borders = starts.chain([0]).flat_map(|start| [start.checked_sub(1), Some(start)]);
            borders.flatten().any(is_nan) || xy.last_chunk::<16>().is_some_and(|xy| floats(xy).any(f64::is_nan))
        }
        ShapeType::MultiPatch => floats(xy).any(f64::is_nan),
        ShapeType::Point | ShapeType::MultiPoint | ShapeType::PolyLine => false,
    }
}
