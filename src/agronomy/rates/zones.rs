//! Finds the zones of a prescription that a location is in, and the ground that is in several.

use std::collections::BTreeMap;

use crate::columns::derived::HECTARE;
use crate::ground::convex_clip::{Extent, Point, edges, extent};
use crate::rows::neighbours::ExtentGrid;
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Polygons;

/// Overlaps of zones that are reported, as a part of the ground in zones: the limit of checks of prescriptions.
const LEAST_OVERLAP: f64 = 0.001;
/// Pairs of zones that a message names.
const SHOWN: usize = 3;

/// Passes the zones that contain each of some locations, in their order. Outlines belong to one of the zones beside them.
pub(super) fn visit_zones(
    zones: &[Polygons],
    count: usize,
    location: impl Fn(usize) -> Point,
    mut visit: impl FnMut(usize, &[usize]),
) {
    let around = |zone: &Polygons| {
        let vertices: Vec<Point> = zone.iter().flatten().flatten().copied().collect();
        if vertices.is_empty() { [0.0; 4] } else { extent(&vertices) }
    };
    let extents: Vec<Extent> = zones.iter().map(around).collect();
    let mut grid = ExtentGrid::new(&extents);
    (0_u32..).zip(zones).filter(|(_, zone)| !zone.is_empty()).for_each(|(item, _)| grid.insert(item));
    let (mut near, mut own) = (Vec::new(), Vec::new());
    for k in 0..count {
        let point = location(k);
        near.clear();
        if point.iter().all(|coordinate| coordinate.is_finite()) {
            grid.near(&[point[0], point[1], point[0], point[1]], &mut near);
        }
        near.sort_unstable();
        own.clear();
        own.extend(near.iter().map(|zone| *zone as usize).filter(|zone| contains(&zones[*zone], point)));
        visit(k, &own);
    }
}

/// Ground for which two zones state different rates.
#[derive(Default)]
pub(super) struct ZoneOverlaps {
    /// Square metres in zones.
    whole: f64,
    /// Square metres by the zone that counts and one with another rate.
    pairs: BTreeMap<[usize; 2], f64>,
}

impl ZoneOverlaps {
    /// Adds ground that is in the zones `own`.
    pub(super) fn add(&mut self, own: &[usize], rates: &[f64], ground: f64) {
        let Some((first, others)) = own.split_first().filter(|_| ground > 0.0) else { return };
        self.whole += ground;
        if let Some(other) = others.iter().find(|other| rates[**other].total_cmp(&rates[*first]).is_ne()) {
            *self.pairs.entry([*first, *other]).or_default() += ground;
        }
    }

    /// A diagnostic that names the zones with the most ground, if it is more than rounding of coordinates makes.
    pub(super) fn diagnostic(self, rates: &[f64]) -> Option<Diagnostic> {
        let ground: f64 = self.pairs.values().sum();
        if ground <= LEAST_OVERLAP * self.whole {
            return None;
        }
        let mut pairs: Vec<_> = self.pairs.into_iter().collect();
        pairs.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        let named = pairs.iter().take(SHOWN).map(|([one, other], m2)| {
            format!("{:.2} ha in zones {one} and {other} (rates {} and {})", m2 / HECTARE, rates[*one], rates[*other])
        });
        let mut named: Vec<String> = named.collect();
        if let Some(more) = pairs.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            named.push(format!("and {more} more pairs"));
        }
        let message = format!(
            "zones of the prescription overlap on {:.2} ha of the job, where the first zone counts and a display may have \
             applied another rate: {}; `headland.check_prescription` checks the zones",
            ground / HECTARE,
            named.join(", ")
        );
        Some(Diagnostic::new(Code::ZonesOverlap, message))
    }
}

/// Whether an odd number of edges is east of a location.
fn contains(zone: &Polygons, [x, y]: Point) -> bool {
    let is_east =
        |([x0, y0], [x1, y1]): &(Point, Point)| (*y0 > y) != (*y1 > y) && x < (x1 - x0) * (y - y0) / (y1 - y0) + x0;
    zone.iter().flatten().map(|ring| edges(ring).filter(is_east).count()).sum::<usize>() % 2 == 1
}
