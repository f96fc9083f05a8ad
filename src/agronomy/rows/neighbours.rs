//! Hash grids that find the points near a location and the extents that meet an extent.

use crate::ground::convex_clip::Extent;

/// Smallest cell of an `ExtentGrid` in metres.
const LEAST_CELL: f64 = 1e-3;

/// Cells of a plane, folded onto a square table: cells a multiple of the table's side apart share an entry.
///
/// Memory depends on the number of items alone, however far apart they are.
struct Cells {
    origin: [f64; 2],
    /// Cells a metre.
    scale: f64,
    /// Binary logarithm of the side of the table.
    bits: u32,
}

impl Cells {
    fn new(items: usize, origin: [f64; 2], cell: f64) -> Self {
        let bits = (items.max(1).ilog2() / 2).clamp(4, 10);
        // An infinite cell holds everything.
        let scale = if cell > 0.0 { 1.0 / cell } else { 1.0 };
        let origin = origin.map(|coordinate| if coordinate.is_finite() { coordinate } else { 0.0 });
        Self { origin, scale, bits }
    }

    fn table_len(&self) -> usize {
        1 << (2 * self.bits)
    }

    /// Column of an x or row of a y; saturates far out and below the origin, where no item is.
    #[inline]
    fn index(&self, coordinate: f64, axis: usize) -> i32 {
        #[expect(clippy::cast_possible_truncation, reason = "saturates, which keeps the order of cells")]
        let index = ((coordinate - self.origin[axis]) * self.scale) as i32;
        index.max(0)
    }

    #[inline]
    fn entry(&self, column: i32, row: i32) -> usize {
        let mask = (1_u32 << self.bits) - 1;
        let folded = ((row.cast_unsigned() & mask) << self.bits) | (column.cast_unsigned() & mask);
        folded as usize
    }

    fn range(&self, extent: &Extent) -> [i32; 4] {
        [self.index(extent[0], 0), self.index(extent[1], 1), self.index(extent[2], 0), self.index(extent[3], 1)]
    }

    /// Whether a range of cells is so wide that two of its cells share an entry.
    fn wraps(&self, range: [i32; 4]) -> bool {
        let side = 1_i64 << self.bits;
        let width = |low: i32, high: i32| i64::from(high) - i64::from(low) + 1;
        width(range[0], range[2]) > side || width(range[1], range[3]) > side
    }
}

/// Turns counts into starts; the last one is the sum.
fn starts(mut counts: Vec<u32>) -> Vec<u32> {
    let mut sum = 0_u32;
    for count in &mut counts {
        sum = sum.saturating_add(std::mem::replace(count, sum));
    }
    counts.push(sum);
    counts
}

/// Points sorted by cell.
pub(crate) struct Neighbours {
    cells: Cells,
    starts: Vec<u32>,
    /// Coordinates and position in the input.
    points: Vec<([f64; 2], u32)>,
}

impl Neighbours {
    /// Sorts points into cells of `cell` metres, best about the radius of the searches.
    ///
    /// Points that are not finite are in no result.
    pub(crate) fn new(xs: &[f64], ys: &[f64], cell: f64) -> Self {
        let is_finite = |point: &([f64; 2], u32)| point.0[0].is_finite() && point.0[1].is_finite();
        let all = || xs.iter().zip(ys).zip(0_u32..).map(|((x, y), index)| ([*x, *y], index)).filter(is_finite);
        let origin = all().fold([f64::INFINITY; 2], |low, (point, _)| [low[0].min(point[0]), low[1].min(point[1])]);
        let cells = Cells::new(xs.len(), origin, cell);
        let entry = |point: [f64; 2]| cells.entry(cells.index(point[0], 0), cells.index(point[1], 1));
        let mut counts = vec![0_u32; cells.table_len()];
        let mut len = 0;
        for (point, _) in all() {
            counts[entry(point)] += 1;
            len += 1;
        }
        let starts = starts(counts);
        let mut free = starts.clone();
        let mut points = vec![([0.0; 2], 0); len];
        for (point, index) in all() {
            let next = &mut free[entry(point)];
            points[*next as usize] = (point, index);
            *next += 1;
        }
        Self { cells, starts, points }
    }

    /// Replaces `found` by the points at most `radius` metres away, in no particular order.
    pub(crate) fn within(&self, x: f64, y: f64, radius: f64, found: &mut Vec<u32>) {
        found.clear();
        let limit = radius * radius;
        let mut collect = |points: &[([f64; 2], u32)]| {
            for (point, index) in points {
                let (east, north) = (point[0] - x, point[1] - y);
                if east * east + north * north <= limit {
                    found.push(*index);
                }
            }
        };
        if radius.is_nan() || radius < 0.0 {
            return;
        }
        let range = self.cells.range(&[x - radius, y - radius, x + radius, y + radius]);
        if self.cells.wraps(range) {
            collect(&self.points);
            return;
        }
        for row in range[1]..=range[3] {
            for column in range[0]..=range[2] {
                let entry = self.cells.entry(column, row);
                collect(&self.points[self.starts[entry] as usize..self.starts[entry + 1] as usize]);
            }
        }
    }
}

/// Extents that are inserted one by one and found if they meet another extent.
pub(crate) struct ExtentGrid<'a> {
    cells: Cells,
    extents: &'a [Extent],
    /// Cells of each extent: first column, first row, last column, last row.
    ranges: Vec<[i32; 4]>,
    starts: Vec<u32>,
    /// End of the inserted extents of each entry of the table.
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl<'a> ExtentGrid<'a> {
    /// Prepares a grid for extents of finite numbers, none of which is inserted yet.
    ///
    /// The cell is the root mean square of the extents' larger sides: an extent then has nine cells at most on
    /// average, no matter how unequal they are.
    pub(crate) fn new(extents: &'a [Extent]) -> Self {
        let mut origin = [f64::INFINITY; 2];
        let (mut squares, mut count) = (0.0, 0.0);
        for extent in extents {
            origin = [origin[0].min(extent[0]), origin[1].min(extent[1])];
            squares += (extent[2] - extent[0]).max(extent[3] - extent[1]).powi(2);
            count += 1.0;
        }
        let cells = Cells::new(extents.len(), origin, (squares / count).sqrt().max(LEAST_CELL));
        let ranges: Vec<[i32; 4]> = extents.iter().map(|extent| cells.range(extent)).collect();
        let mut counts = vec![0_u32; cells.table_len()];
        for [first_column, first_row, last_column, last_row] in &ranges {
            for row in *first_row..=*last_row {
                for column in *first_column..=*last_column {
                    counts[cells.entry(column, row)] += 1;
                }
            }
        }
        let starts = starts(counts);
        let items = vec![0; starts.last().copied().unwrap_or_default() as usize];
        Self { cells, extents, ranges, ends: starts.clone(), starts, items }
    }

    /// Inserts an extent by its position, once.
    pub(crate) fn insert(&mut self, item: u32) {
        let Some([first_column, first_row, last_column, last_row]) = self.ranges.get(item as usize).copied() else {
            return;
        };
        for row in first_row..=last_row {
            for column in first_column..=last_column {
                let end = &mut self.ends[self.cells.entry(column, row)];
                if let Some(free) = self.items.get_mut(*end as usize) {
                    *free = item;
                    *end += 1;
                }
            }
        }
    }

    /// Replaces `found` by the inserted extents that meet a given one of the grid, in no particular order.
    #[inline]
    pub(crate) fn near_item(&self, item: u32, found: &mut Vec<u32>) {
        found.clear();
        if let (Some(extent), Some(range)) = (self.extents.get(item as usize), self.ranges.get(item as usize)) {
            self.find(extent, *range, found);
        }
    }

    /// Replaces `found` by the inserted extents that meet an extent, in no particular order.
    pub(crate) fn near(&self, extent: &Extent, found: &mut Vec<u32>) {
        found.clear();
        let range = self.cells.range(extent);
        if !self.cells.wraps(range) {
            self.find(extent, range, found);
            return;
        }
        for (item, other) in (0_u32..).zip(self.extents) {
            // Inserted extents are in the entry of their first cell.
            let [column, row, ..] = self.ranges[item as usize];
            if meets(extent, other) && self.inserted(column, row).contains(&item) {
                found.push(item);
            }
        }
    }

    fn inserted(&self, column: i32, row: i32) -> &[u32] {
        let entry = self.cells.entry(column, row);
        &self.items[self.starts[entry] as usize..self.ends[entry] as usize]
    }

    /// Extents that wrap around the table may be found more than once.
    #[inline]
    fn find(&self, extent: &Extent, range: [i32; 4], found: &mut Vec<u32>) {
        let mut len = 0;
        for row in range[1]..=range[3] {
            for column in range[0]..=range[2] {
                let inserted = self.inserted(column, row);
                if found.len() < len + inserted.len() {
                    found.resize(len + inserted.len(), 0);
                }
                for item in inserted {
                    let other = &self.ranges[*item as usize];
                    // Of the cells that two extents share, only the first one counts. Every item is written and the
                    // next one overwrites it if it does not count, since a branch would be mispredicted often.
                    let is_first = (range[0].max(other[0]) == column) & (range[1].max(other[1]) == row);
                    found[len] = *item;
                    len += usize::from(is_first & meets(extent, &self.extents[*item as usize]));
                }
            }
        }
        found.truncate(len);
    }
}

#[inline]
#[expect(clippy::needless_bitwise_bool, reason = "branches would be mispredicted often")]
fn meets(one: &Extent, other: &Extent) -> bool {
    (one[0] <= other[2]) & (other[0] <= one[2]) & (one[1] <= other[3]) & (other[1] <= one[3])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random numbers from 0 to 1.
    fn random(count: usize, mut state: u64) -> Vec<f64> {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from((state >> 40) as u32) / f64::from(1_u32 << 24)
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn points_within_a_radius_equal_those_of_a_full_search() {
        let xs: Vec<f64> = random(500, 1).iter().map(|x| x * 300.0 - 100.0).collect();
        let ys: Vec<f64> = random(500, 2).iter().map(|y| y * 300.0 - 200.0).collect();
        for (cell, radius) in [(12.0, 25.0), (1.0, 25.0), (12.0, 0.0), (50.0, 1e9), (12.0, f64::NAN), (0.0, 9.0)] {
            let grid = Neighbours::new(&xs, &ys, cell);
            let mut found = Vec::new();
            for (x, y) in xs.iter().zip(&ys) {
                grid.within(*x, *y, radius, &mut found);
                found.sort_unstable();
                let all = (0_u32..).zip(xs.iter().zip(&ys));
                let near = all.filter(|(_, (a, b))| (*a - x).powi(2) + (*b - y).powi(2) <= radius * radius);
                assert_eq!(found, near.map(|(index, _)| index).collect::<Vec<u32>>());
            }
        }
    }

    #[test]
    fn extents_are_visited_once_and_only_after_insertion() {
        let corners = random(900, 3);
        let extents: Vec<Extent> = corners
            .chunks(3)
            .map(|c| [c[0] * 99.0, c[1] * 99.0, c[0] * 99.0 + c[2] * 40.0, c[1] * 99.0 + 5.0])
            .collect();
        let mut grid = ExtentGrid::new(&extents);
        for item in 0..300_u32 {
            let mut found = Vec::new();
            grid.near_item(item, &mut found);
            found.sort_unstable();
            let expected: Vec<u32> =
                (0..item).filter(|other| meets(&extents[item as usize], &extents[*other as usize])).collect();
            assert_eq!(found, expected);
            grid.insert(item);
        }
        let mut all = Vec::new();
        grid.near(&[-1e9, -1e9, 1e9, 1e9], &mut all);
        assert_eq!(all.len(), 300);
    }
}
