//! Upper bounds of the memory that a shape needs: its WKB, and the working memory of the conversion.

use super::wkb_builder::Dimensions;
use crate::archive::{Shape, ShapeType};

/// The header of a geometry, and the excess of a header written as one value.
const HEADER: usize = 16;

/// The header of a part: byte order, type and count; for a polygon also the count of its ring.
const PART: usize = 13;

/// Working memory of a ring and of each of its vertices while rings are assembled.
const RING: usize = 256;
const RING_VERTEX: usize = 40;

/// The vertex indices of a triangle.
const TRIANGLE: usize = 24;

/// The most bytes of its WKB.
pub(super) fn encoded_size(shape: &Shape<'_>, dimensions: Dimensions) -> usize {
    let vertex = 16 + 8 * usize::from(dimensions.z) + 8 * usize::from(dimensions.m);
    let (per_vertex, per_part) = match shape.shape_type {
        ShapeType::Point | ShapeType::PolyLine => (vertex, PART),
        ShapeType::MultiPoint => (vertex + PART, 0),
        // An open ring gets a closing vertex.
        ShapeType::Polygon => (vertex, PART + vertex),
        // A strip has one closed triangle per vertex.
        ShapeType::MultiPatch => (4 * vertex + PART, PART + PART + vertex),
    };
    total(shape, per_vertex, per_part).saturating_add(HEADER)
}

/// The most bytes of working memory; none if the shape is copied.
pub(super) fn scratch_size(shape: &Shape<'_>) -> usize {
    match shape.shape_type {
        ShapeType::Polygon if shape.parts.len() > 4 => total(shape, RING_VERTEX, RING),
        ShapeType::MultiPatch => total(shape, TRIANGLE, RING),
        _ => 0,
    }
}

fn total(shape: &Shape<'_>, per_vertex: usize, per_part: usize) -> usize {
    let (vertices, parts) = (shape.vertices.xy.len() / 16, shape.parts.len() / 4);
    vertices.saturating_mul(per_vertex).saturating_add(parts.saturating_mul(per_part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::{Record, ShapeHeader, Vertices};
    use crate::layer::shapes::wkb_builder::WkbBuilder;

    /// Ordinates that give strips, fans and open rings of different areas.
    fn ordinates(count: usize) -> Vec<u8> {
        (0..count).flat_map(|index| f64::from(u32::try_from(index * index % 97).unwrap()).to_le_bytes()).collect()
    }

    fn ends(starts: &[i32]) -> Vec<u8> {
        starts.iter().flat_map(|start| start.to_le_bytes()).collect()
    }

    #[test]
    fn encoded_size_bounds_every_shape() {
        let (xy, z) = (ordinates(80), ordinates(40));
        let mut most = 0;
        for shape_type in
            [ShapeType::Point, ShapeType::MultiPoint, ShapeType::PolyLine, ShapeType::Polygon, ShapeType::MultiPatch]
        {
            for (has_z, has_m) in [(false, false), (true, false), (false, true), (true, true)] {
                for (starts, kinds) in [(vec![0], vec![0]), (vec![0, 3, 7, 8, 30], vec![0, 1, 2, 3, 6])] {
                    let (starts, kinds) = (ends(&starts), ends(&kinds));
                    let count = if shape_type == ShapeType::Point { 1 } else { 40 };
                    let vertices = Vertices {
                        xy: &xy[..16 * count],
                        z: has_z.then_some(&z[..8 * count]),
                        m: has_m.then_some(&z[..8 * count]),
                    };
                    let is_whole = matches!(shape_type, ShapeType::Point | ShapeType::MultiPoint);
                    let parts = if is_whole { &[][..] } else { &starts };
                    let shape = Shape { shape_type, parts, part_kinds: &kinds, vertices };
                    let header = ShapeHeader { shape_type: Some(shape_type), has_z, length: 0 };
                    let mut builder = WkbBuilder::new(has_m, None, 0, None);
                    builder.push(header, 0, &Record::Shape(shape)).unwrap();
                    let size = encoded_size(&shape, Dimensions { z: has_z, m: has_m });
                    assert!(
                        (1..=size).contains(&builder.data.len()),
                        "{shape_type:?}: {} of {size}",
                        builder.data.len()
                    );
                    most = most.max(100 * builder.data.len() / size);
                }
            }
        }
        assert!(most > 90, "no shape takes more than {most} % of its bound");
    }
}
