//! Converts `MultiPatch` surfaces of triangles and rings to simple features.

use super::wkb_builder::{Dimensions, WkbBuilder};
use crate::archive::{Shape, Vertices};

const TRIANGLE: u32 = 17;
const SURFACE: u32 = 16;
const COLLECTION: u32 = 7;
const MULTI_POLYGON: u32 = 6;
const POLYGON: u32 = 3;

/// The parts of a `MultiPatch` by target geometry.
#[derive(Default)]
struct Patches {
    surfaces: Vec<Vec<[usize; 3]>>,
    polygons: Vec<Vec<(usize, usize)>>,
}

impl Patches {
    /// Classifies the parts: triangle strips, fans and lists, and rings that start or continue a polygon. `None` for an
    /// unknown kind.
    fn classify(parts: &[(usize, usize)], kinds: &[u8]) -> Option<Self> {
        let mut patches = Self::default();
        let mut continues_polygon = false;
        for ((start, end), kind) in parts.iter().copied().zip(kinds.chunks_exact(4)) {
            let last = end.saturating_sub(2).max(start);
            match kind.first()? & 0x0F {
                0 => patches.surfaces.push((start..last).map(|vertex| [vertex, vertex + 1, vertex + 2]).collect()),
                1 => patches.surfaces.push((start..last).map(|vertex| [start, vertex + 1, vertex + 2]).collect()),
                6 => patches
                    .surfaces
                    .push((start..last).step_by(3).map(|vertex| [vertex, vertex + 1, vertex + 2]).collect()),
                ring @ 2..=5 => {
                    match patches.polygons.last_mut().filter(|_| continues_polygon && matches!(ring, 3 | 5)) {
                        Some(polygon) => polygon.push((start, end)),
                        None => patches.polygons.push(vec![(start, end)]),
                    }
                    continues_polygon = true;
                    continue;
                }
                _ => return None,
            }
            continues_polygon = false;
        }
        Some(patches)
    }
}

/// Appends a `MultiPatch`. Returns false if it is broken.
pub(super) fn write(
    builder: &mut WkbBuilder,
    shape: &Shape<'_>,
    parts: &[(usize, usize)],
    dimensions: Dimensions,
    number: u64,
) -> bool {
    let Some(patches) = Patches::classify(parts, shape.part_kinds) else { return false };
    let count = patches.surfaces.len() + usize::from(!patches.polygons.is_empty());
    let single = count == 1;
    if !single {
        builder.begin_geometry(COLLECTION, dimensions);
        builder.push_count(count);
    }
    for surface in &patches.surfaces {
        begin_geometry(builder, SURFACE, dimensions, single);
        builder.push_count(surface.len());
        for corners in surface {
            push_triangle(builder, shape.vertices, *corners, dimensions);
        }
    }
    if !patches.polygons.is_empty() {
        begin_geometry(builder, MULTI_POLYGON, dimensions, single);
        builder.push_count(patches.polygons.len());
        for polygon in &patches.polygons {
            builder.begin_member(POLYGON, dimensions);
            builder.push_count(polygon.len());
            for (start, end) in polygon.iter().copied() {
                // A ring in space is closed only if its heights match too.
                let vertices = shape.vertices;
                let is_open = vertices.differ(start, end - 1) || vertices.differ_in_z(start, end - 1);
                builder.push_closed_ring(vertices, (start, end), is_open, dimensions, number);
            }
        }
    }
    count > 0
}

fn begin_geometry(builder: &mut WkbBuilder, shape_type: u32, dimensions: Dimensions, single: bool) {
    if single {
        builder.begin_geometry(shape_type, dimensions);
    } else {
        builder.begin_member(shape_type, dimensions);
    }
}

fn push_triangle(builder: &mut WkbBuilder, vertices: Vertices<'_>, [a, b, c]: [usize; 3], dimensions: Dimensions) {
    builder.begin_member(TRIANGLE, dimensions);
    builder.push_count(1);
    builder.push_count(4);
    for corner in [a, b, c, a] {
        builder.push_coordinates(vertices, corner, corner + 1, dimensions);
    }
}
