//! Order of jobs in a part: along a Hilbert curve of their centres, so that neighbours share row groups.
//!
//! See <https://en.wikipedia.org/wiki/Hilbert_curve>.

/// West, south, east and north.
pub(super) type Sides = [f64; 4];

/// Bits per coordinate; resolves about ten metres within a country.
const BITS: u32 = 20;

/// Curve positions of boxes, scaled to the extent of all boxes. Boxes that are `None` sort last.
pub(super) fn hilbert_order(boxes: &[Option<Sides>]) -> Vec<u64> {
    let centres: Vec<Option<[f64; 2]>> = boxes
        .iter()
        .map(|sides| sides.map(|[west, south, east, north]| [west.midpoint(east), south.midpoint(north)]))
        .collect();
    let frame = boxes.iter().copied().reduce(join_boxes).flatten();
    let position = |centre: &Option<[f64; 2]>| {
        let (Some([x, y]), Some([west, south, east, north])) = (centre, frame) else { return u64::MAX };
        hilbert_distance(scale(*x, west, east), scale(*y, south, north))
    };
    centres.iter().map(position).collect()
}

/// Smallest box around two boxes.
pub(super) fn join_boxes(one: Option<Sides>, other: Option<Sides>) -> Option<Sides> {
    let (Some(one), Some(other)) = (one, other) else { return one.or(other) };
    let [west, south, east, north] = other;
    Some([one[0].min(west), one[1].min(south), one[2].max(east), one[3].max(north)])
}

/// Whether a box around both has more than twice the summed perimeters, so that it would be mostly empty.
pub(super) fn are_apart(one: Option<Sides>, other: Option<Sides>) -> bool {
    let half_perimeter =
        |sides: Option<Sides>| sides.map_or(0.0, |[west, south, east, north]| east - west + north - south);
    one.is_some()
        && other.is_some()
        && half_perimeter(join_boxes(one, other)) > 2.0 * (half_perimeter(one) + half_perimeter(other))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a fraction of a small number")]
fn scale(value: f64, low: f64, high: f64) -> u32 {
    let max = f64::from((1_u32 << BITS) - 1);
    if high > low { (((value - low) / (high - low)).clamp(0.0, 1.0) * max) as u32 } else { 0 }
}

/// Distance of a cell along the curve.
fn hilbert_distance(mut x: u32, mut y: u32) -> u64 {
    let mut distance = 0;
    for bit in (0..BITS).rev() {
        let (right, above) = ((x >> bit) & 1, (y >> bit) & 1);
        distance = (distance << 2) | u64::from((3 * right) ^ above);
        if above == 0 {
            if right == 1 {
                let all = (1 << BITS) - 1;
                (x, y) = (all ^ x, all ^ y);
            }
            std::mem::swap(&mut x, &mut y);
        }
    }
    distance
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each cell of a corner is visited once, next to the one before.
    #[test]
    fn neighbours_on_the_curve_are_neighbours_on_the_map() {
        let mut cells: Vec<(u64, i64, i64)> = Vec::new();
        for x in 0..16 {
            for y in 0..16 {
                cells.push((
                    hilbert_distance(x << (BITS - 4), y << (BITS - 4)) >> (2 * (BITS - 4)),
                    i64::from(x),
                    i64::from(y),
                ));
            }
        }
        cells.sort_unstable();
        for (position, (found, ..)) in cells.iter().enumerate() {
            assert_eq!(*found, position as u64);
        }
        for pair in cells.windows(2) {
            assert_eq!((pair[0].1 - pair[1].1).abs() + (pair[0].2 - pair[1].2).abs(), 1, "{pair:?}");
        }
    }

    #[test]
    fn boxes_without_coordinates_sort_last_and_a_point_has_no_extent() {
        assert_eq!(hilbert_order(&[None, Some([1.0; 4])]), [u64::MAX, 0]);
        assert!(are_apart(Some([0.0, 0.0, 1.0, 1.0]), Some([9.0, 0.0, 10.0, 1.0])));
        assert!(!are_apart(Some([0.0, 0.0, 1.0, 1.0]), Some([1.5, 0.0, 2.5, 1.0])));
        assert!(!are_apart(None, Some([1.5, 0.0, 2.5, 1.0])));
    }
}
