//! Finds the zone of a prescription that a location is in.

use crate::ground::convex_clip::{Extent, Point, edges, extent};
use crate::rows::neighbours::ExtentGrid;
use headland_reader::layer::Polygons;

/// Passes the first zone that contains each location, or none. Outlines belong to one of the zones beside them.
pub(super) fn visit_zones(
    zones: &[Polygons],
    locations: impl Iterator<Item = (usize, Point)>,
    mut visit: impl FnMut(usize, Option<usize>),
) {
    let around = |zone: &Polygons| {
        let vertices: Vec<Point> = zone.iter().flatten().flatten().copied().collect();
        if vertices.is_empty() { [0.0; 4] } else { extent(&vertices) }
    };
    let extents: Vec<Extent> = zones.iter().map(around).collect();
    let mut grid = ExtentGrid::new(&extents);
    (0_u32..).zip(zones).filter(|(_, zone)| !zone.is_empty()).for_each(|(item, _)| grid.insert(item));
    let mut near = Vec::new();
    for (row, point) in locations {
        near.clear();
        if point.iter().all(|coordinate| coordinate.is_finite()) {
            grid.near(&[point[0], point[1], point[0], point[1]], &mut near);
        }
        near.sort_unstable();
        let found = near.iter().map(|zone| *zone as usize).find(|zone| contains(&zones[*zone], point));
        visit(row, found);
    }
}

/// Whether an odd number of edges is east of a location.
fn contains(zone: &Polygons, [x, y]: Point) -> bool {
    let is_east =
        |([x0, y0], [x1, y1]): &(Point, Point)| (*y0 > y) != (*y1 > y) && x < (x1 - x0) * (y - y0) / (y1 - y0) + x0;
    zone.iter().flatten().map(|ring| edges(ring).filter(is_east).count()).sum::<usize>() % 2 == 1
}
