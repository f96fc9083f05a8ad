//! Point-in-polygon test by ray casting.

use super::wkb::{FlatCoordinates, Part};
use headland_base::error::Result;

/// Polygons, their rings, and the vertices of these. The first ring of a polygon is the outer one; the others are holes.
pub type Polygons = Vec<Vec<Vec<[f64; 2]>>>;

/// Whether the polygons of a geometry contain a position, in the same coordinates. Holes are outside.
pub(crate) fn contains(wkb: &[u8], (x, y): (f64, f64)) -> Result<bool> {
    let mut flat = FlatCoordinates::default();
    flat.read(wkb, 0)?;
    let rings = flat.parts().filter(|(part, ..)| matches!(part, Part::Shell | Part::Hole));
    let crossings: usize = rings.map(|(_, xs, ys)| crossings(xs, ys, x, y)).sum();
    Ok(crossings % 2 == 1)
}

/// Edges of a ring that a ray from the position to the east crosses.
pub(super) fn crossings(xs: &[f64], ys: &[f64], x: f64, y: f64) -> usize {
    let vertices = || xs.iter().copied().zip(ys.iter().copied());
    let edges = vertices().zip(vertices().skip(1).chain(vertices().take(1)));
    edges.filter(|((x0, y0), (x1, y1))| (*y0 > y) != (*y1 > y) && x < (x1 - x0) * (y - y0) / (y1 - y0) + x0).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polygon(rings: &[&[(f64, f64)]]) -> Vec<u8> {
        let mut wkb = vec![1];
        wkb.extend(3_u32.to_le_bytes());
        wkb.extend(u32::try_from(rings.len()).unwrap().to_le_bytes());
        for ring in rings {
            wkb.extend(u32::try_from(ring.len()).unwrap().to_le_bytes());
            ring.iter().for_each(|(x, y)| wkb.extend([x.to_le_bytes(), y.to_le_bytes()].concat()));
        }
        wkb
    }

    #[test]
    fn polygon_contains_its_inside_but_not_its_hole() {
        let outer = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0), (0.0, 0.0)];
        let hole = [(4.0, 4.0), (4.0, 6.0), (6.0, 6.0), (6.0, 4.0), (4.0, 4.0)];
        let wkb = polygon(&[&outer, &hole]);
        for (position, expected) in
            [((1.0, 1.0), true), ((5.0, 5.0), false), ((11.0, 5.0), false), ((-1.0, 5.0), false), ((9.0, 5.0), true)]
        {
            assert_eq!(contains(&wkb, position).unwrap(), expected, "{position:?}");
        }
        assert!(contains(&[1, 3], (0.0, 0.0)).is_err(), "cut short");
    }
}
