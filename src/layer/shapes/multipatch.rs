//! Surfaces of triangles and rings (`MultiPatch`), written as simple features.

use super::wkb_builder::{Dimensions, Geometries};
use crate::archive::{Shape, Vertices};

const TRIANGLE: u32 = 17;
const SURFACE: u32 = 16;
const COLLECTION: u32 = 7;
const MULTI_POLYGON: u32 = 6;
const POLYGON: u32 = 3;

/// The parts of a `MultiPatch`, sorted by what they become.
#[derive(Default)]
struct Patches {
    surfaces: Vec<Vec<[usize; 3]>>,
    polygons: Vec<Vec<(usize, usize)>>,
}

impl Patches {
    /// What each part is: strips, fans and lists of triangles, or rings that begin a polygon or go on with one.
    fn sort(parts: &[(usize, usize)], kinds: &[u8]) -> Option<Self> {
        let mut patches = Self::default();
        let mut goes_on = false;
        for ((start, end), kind) in parts.iter().copied().zip(kinds.chunks_exact(4)) {
            let last = end.saturating_sub(2).max(start);
            match kind.first()? & 0x0F {
                0 => patches.surfaces.push((start..last).map(|at| [at, at + 1, at + 2]).collect()),
                1 => patches.surfaces.push((start..last).map(|at| [start, at + 1, at + 2]).collect()),
                6 => patches.surfaces.push((start..last).step_by(3).map(|at| [at, at + 1, at + 2]).collect()),
                ring @ 2..=5 => {
                    match patches.polygons.last_mut().filter(|_| goes_on && matches!(ring, 3 | 5)) {
                        Some(polygon) => polygon.push((start, end)),
                        None => patches.polygons.push(vec![(start, end)]),
                    }
                    goes_on = true;
                    continue;
                }
                _ => return None,
            }
            goes_on = false;
        }
        Some(patches)
    }
}

/// Writes a `MultiPatch`; whether it could be written.
pub(super) fn write(
    into: &mut Geometries,
    shape: &Shape<'_>,
    parts: &[(usize, usize)],
    dimensions: Dimensions,
    number: u64,
) -> bool {
    let Some(patches) = Patches::sort(parts, shape.part_kinds) else { return false };
    let count = patches.surfaces.len() + usize::from(!patches.polygons.is_empty());
    let single = count == 1;
    if !single {
        into.head(COLLECTION, dimensions);
        into.count(count);
    }
    for surface in &patches.surfaces {
        begin(into, SURFACE, dimensions, single);
        into.count(surface.len());
        for corners in surface {
            triangle(into, shape.vertices, *corners, dimensions);
        }
    }
    if !patches.polygons.is_empty() {
        begin(into, MULTI_POLYGON, dimensions, single);
        into.count(patches.polygons.len());
        for polygon in &patches.polygons {
            into.subhead(POLYGON, dimensions);
            into.count(polygon.len());
            for (start, end) in polygon.iter().copied() {
                // On a surface in space, a ring is closed where it comes back in height too.
                let vertices = shape.vertices;
                let is_open = vertices.differ(start, end - 1) || vertices.differ_in_z(start, end - 1);
                into.closed_ring(vertices, (start, end), is_open, dimensions, number);
            }
        }
    }
    count > 0
}

fn begin(into: &mut Geometries, flat: u32, dimensions: Dimensions, single: bool) {
    if single {
        into.head(flat, dimensions);
    } else {
        into.subhead(flat, dimensions);
    }
}

fn triangle(into: &mut Geometries, vertices: Vertices<'_>, [a, b, c]: [usize; 3], dimensions: Dimensions) {
    into.subhead(TRIANGLE, dimensions);
    into.count(1);
    into.count(4);
    for corner in [a, b, c, a] {
        into.coordinates(vertices, corner, corner + 1, dimensions);
    }
}
