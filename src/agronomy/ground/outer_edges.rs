//! The edges of a boundary that have the field on one side only: polygons that touch or overlap share the others.

use crate::ground::convex_clip::{Point, edges};
use crate::ground::logged_shapes::are_inside;
use headland_reader::layer::Polygons;

/// Edges are tested in pieces of this many metres, of at most so many, and as far from them to both sides.
const PIECE: f64 = 2.0;
const MOST_PIECES: f64 = 50_000.0;
const ASIDE: f64 = 1.0;

/// Edges of the union of polygons, as far as a metre.
pub(crate) fn outer_edges(boundary: &[Polygons]) -> Vec<[Point; 2]> {
    let all = boundary.iter().flatten().flatten().flat_map(|ring| edges(ring));
    let all: Vec<[Point; 2]> = all.map(|(from, to)| [from, to]).collect();
    if boundary.iter().flatten().count() < 2 {
        return all;
    }
    let length: f64 = all.iter().map(|[a, b]| (b[0] - a[0]).hypot(b[1] - a[1])).sum();
    let piece = PIECE.max(length / MOST_PIECES);
    let mut pieces: Vec<(usize, [Point; 2])> = Vec::new();
    for (number, [a, b]) in all.iter().enumerate() {
        let count = ((b[0] - a[0]).hypot(b[1] - a[1]) / piece).ceil().max(1.0);
        let at = |share: f64| [a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])];
        let mut index = 0.0;
        while index < count {
            pieces.push((number, [at(index / count), at((index + 1.0) / count)]));
            index += 1.0;
        }
    }
    let sides: Vec<[Point; 2]> = pieces.iter().map(|(_, piece)| beside(piece)).collect();
    let mut is_inside = vec![[false; 2]; pieces.len()];
    for polygon in boundary.iter().flatten() {
        let own = [vec![polygon.clone()]];
        let found: Vec<bool> = are_inside(&own, sides.iter().flatten().copied()).collect();
        for (sides, own) in is_inside.iter_mut().flatten().zip(found) {
            *sides |= own;
        }
    }
    let outer = pieces.into_iter().zip(is_inside).enumerate().filter(|(_, (_, sides))| *sides != [true, true]);
    // Pieces of one edge that follow each other are one again.
    let mut joined: Vec<([usize; 2], [Point; 2])> = Vec::new();
    for (place, ((number, piece), _)) in outer {
        match joined.last_mut() {
            Some((last, [_, end])) if *last == [number, place.saturating_sub(1)] => {
                (*last, *end) = ([number, place], piece[1]);
            }
            _ => joined.push(([number, place], piece)),
        }
    }
    joined.into_iter().map(|(_, piece)| piece).collect()
}

/// The points on both sides of the middle of a piece.
fn beside([a, b]: &[Point; 2]) -> [Point; 2] {
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    let length = dx.hypot(dy).max(f64::MIN_POSITIVE);
    let middle = [f64::midpoint(a[0], b[0]), f64::midpoint(a[1], b[1])];
    [ASIDE, -ASIDE].map(|aside| [middle[0] - aside * dy / length, middle[1] + aside * dx / length])
}
