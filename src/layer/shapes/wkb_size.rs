//! How much room a shape takes: as well-known binary, and beside that while it is put together.

use super::wkb_builder::Dimensions;
use crate::archive::{Flat, Shape};

/// The head of a geometry, and what a head that is written at one go takes too much.
const HEAD: usize = 16;

/// The head of a part: byte order, type, and a count; in a polygon another count for its ring.
const PART: usize = 13;

/// What a ring takes beside its vertices while it is known to which polygon it belongs, and what each of those takes.
const RING: usize = 256;
const OF_RING: usize = 40;

/// The corners of a triangle of a surface, by their places.
const CORNERS: usize = 24;

/// The most bytes that it takes as well-known binary.
pub(super) fn written(shape: &Shape<'_>, dimensions: Dimensions) -> usize {
    let vertex = 16 + 8 * usize::from(dimensions.z) + 8 * usize::from(dimensions.m);
    let (of_vertex, of_part) = match shape.flat {
        Flat::Point | Flat::PolyLine => (vertex, PART),
        Flat::MultiPoint => (vertex + PART, 0),
        // A ring that is open gets a vertex that closes it.
        Flat::Polygon => (vertex, PART + vertex),
        // A strip has a triangle for each vertex, closed as rings are.
        Flat::MultiPatch => (4 * vertex + PART, PART + PART + vertex),
    };
    all(shape, of_vertex, of_part).saturating_add(HEAD)
}

/// The most bytes that it takes on the way, in pieces: none where it is written as it stands.
pub(super) fn on_the_way(shape: &Shape<'_>) -> usize {
    match shape.flat {
        Flat::Polygon if shape.parts.len() > 4 => all(shape, OF_RING, RING),
        Flat::MultiPatch => all(shape, CORNERS, RING),
        _ => 0,
    }
}

fn all(shape: &Shape<'_>, of_vertex: usize, of_part: usize) -> usize {
    let (vertices, parts) = (shape.vertices.xy.len() / 16, shape.parts.len() / 4);
    vertices.saturating_mul(of_vertex).saturating_add(parts.saturating_mul(of_part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::{Record, ShapeHeader, Vertices};
    use crate::layer::shapes::wkb_builder::Geometries;

    /// Numbers that make strips, fans and open rings of different areas.
    fn ordinates(count: usize) -> Vec<u8> {
        (0..count).flat_map(|at| f64::from(u32::try_from(at * at % 97).unwrap()).to_le_bytes()).collect()
    }

    fn ends(starts: &[i32]) -> Vec<u8> {
        starts.iter().flat_map(|start| start.to_le_bytes()).collect()
    }

    #[test]
    fn no_shape_takes_more_than_its_room() {
        let (xy, z) = (ordinates(80), ordinates(40));
        let mut most = 0;
        for flat in [Flat::Point, Flat::MultiPoint, Flat::PolyLine, Flat::Polygon, Flat::MultiPatch] {
            for (has_z, has_m) in [(false, false), (true, false), (false, true), (true, true)] {
                for (starts, kinds) in [(vec![0], vec![0]), (vec![0, 3, 7, 8, 30], vec![0, 1, 2, 3, 6])] {
                    let (starts, kinds) = (ends(&starts), ends(&kinds));
                    let count = if flat == Flat::Point { 1 } else { 40 };
                    let vertices = Vertices {
                        xy: &xy[..16 * count],
                        z: has_z.then_some(&z[..8 * count]),
                        m: has_m.then_some(&z[..8 * count]),
                    };
                    let is_whole = matches!(flat, Flat::Point | Flat::MultiPoint);
                    let parts = if is_whole { &[][..] } else { &starts };
                    let shape = Shape { flat, parts, part_kinds: &kinds, vertices };
                    let header = ShapeHeader { flat: Some(flat), has_z, length: 0 };
                    let mut all = Geometries::new(has_m, None, 0, None);
                    all.push(header, 0, &Record::Shape(shape)).unwrap();
                    let room = written(&shape, Dimensions { z: has_z, m: has_m });
                    assert!((1..=room).contains(&all.data.len()), "{flat:?}: {} of {room}", all.data.len());
                    most = most.max(100 * all.data.len() / room);
                }
            }
        }
        assert!(most > 90, "no shape takes more than {most} % of its room");
    }
}
