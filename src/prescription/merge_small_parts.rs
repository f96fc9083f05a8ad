//! Gives parts below an area the rate of the neighbour with the longest shared edge.

use std::collections::{BTreeMap, BTreeSet};

use super::disjoint_sets::DisjointSets;
use super::lattice::{Part, SCALE, doubled_area, to_degrees};
use super::merge::same_rate;

/// Height of a lattice unit in metres.
const UNIT: f64 = 111_320.0 / SCALE;

/// Changes the rates of ground below `min_area` (m2), smallest first. Returns the rows of which a part was changed.
pub(super) fn merge_small(
    parts: &mut [Part],
    shared: &BTreeMap<(usize, usize), f64>,
    min_area: f64,
) -> BTreeSet<usize> {
    let mut sets = DisjointSets::new(parts.len());
    let mut changed = BTreeSet::new();
    loop {
        let rates: Vec<f64> = parts.iter().map(|part| part.rate).collect();
        let rate = |number: usize| rates.get(number).copied().unwrap_or_default();
        for (one, other) in shared.keys().filter(|(one, other)| same_rate(rate(*one), rate(*other))) {
            sets.union(*one, *other);
        }
        let mut areas: BTreeMap<usize, f64> = BTreeMap::new();
        for (number, part) in parts.iter().enumerate() {
            *areas.entry(sets.find(number)).or_default() += area(part);
        }
        // Each round takes all small sets whose neighbours are larger, so that rounds are few.
        let mut sides: BTreeMap<usize, BTreeMap<usize, f64>> = BTreeMap::new();
        for ((one, other), length) in shared {
            let (one, other) = (sets.find(*one), sets.find(*other));
            if one != other {
                *sides.entry(one).or_default().entry(other).or_default() += length;
                *sides.entry(other).or_default().entry(one).or_default() += length;
            }
        }
        let mut taken: BTreeMap<usize, f64> = BTreeMap::new();
        let mut small: Vec<(usize, f64)> = areas.iter().map(|(root, area)| (*root, *area)).collect();
        small.retain(|(_, area)| *area < min_area);
        small.sort_by(|one, other| one.1.total_cmp(&other.1));
        for (root, _) in small {
            let near = sides.get(&root).into_iter().flatten();
            let free = near.filter(|(other, _)| !taken.contains_key(other));
            if let Some((other, _)) = free.max_by(|one, other| one.1.total_cmp(other.1)) {
                taken.insert(root, rate(*other));
            }
        }
        if taken.is_empty() {
            return changed;
        }
        for (number, part) in parts.iter_mut().enumerate() {
            if let Some(rate) = taken.get(&sets.find(number)) {
                part.rate = *rate;
                changed.insert(part.row);
            }
        }
    }
}

/// The area of a part in square metres, to a percent.
pub(super) fn area(part: &Part) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "an area to a percent")]
    let doubled: f64 = part.rings.iter().map(|ring| doubled_area(ring) as f64).sum();
    let latitude = part.rings.first().and_then(|ring| ring.first()).map_or(0.0, |vertex| to_degrees(*vertex)[1]);
    doubled / 2.0 * UNIT * UNIT * latitude.to_radians().cos()
}
