//! Spatial indexes for rings: a grid of bounding boxes, and edges in slabs of height.

use std::cell::Cell;
use std::collections::HashMap;

/// Comparisons per vertex of a record. Real records need a few; crafted ones with one per pair of vertices would take
/// hours.
const BUDGET_PER_VERTEX: u64 = 256;
/// The budget of a small record.
const MIN_BUDGET: u64 = 1 << 16;

/// The comparisons left for a record.
#[derive(Debug)]
pub(super) struct WorkBudget(Cell<u64>);

impl WorkBudget {
    pub(super) fn new(vertices: usize) -> Self {
        Self(Cell::new(MIN_BUDGET.saturating_add((vertices as u64).saturating_mul(BUDGET_PER_VERTEX))))
    }

    /// Subtracts comparisons. Returns false if none are left.
    pub(super) fn spend(&self, count: usize) -> bool {
        self.0.set(self.0.get().saturating_sub(count as u64));
        self.is_left()
    }

    pub(super) fn is_left(&self) -> bool {
        self.0.get() > 0
    }
}

/// The edges of a ring by height. Each slab lists the edges that reach into it.
#[derive(Debug)]
pub(super) struct Slabs {
    low: f64,
    scale: f64,
    /// The offset of each slab in `starts`, and the end.
    offsets: Vec<u32>,
    starts: Vec<u32>,
}

impl Slabs {
    /// Uses one slab per edge, or fewer if long edges would be listed many times.
    pub(super) fn new(points: &[(f64, f64)], low: f64, high: f64) -> Self {
        let edges = u32::try_from(points.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let height = high - low;
        let spans = || {
            points.windows(2).zip(0_u32..).filter_map(|(edge, start)| match edge {
                [(_, ay), (_, by)] => Some((start, ay.min(*by), ay.max(*by))),
                _ => None,
            })
        };
        let with_count = |count: u32| Self {
            low,
            scale: f64::from(count) / height,
            offsets: vec![0; count as usize + 1],
            starts: Vec::new(),
        };
        let entry_count = |slabs: &Self| -> u64 {
            spans().map(|(_, low, high)| (slabs.slab(high) - slabs.slab(low)) as u64).sum::<u64>() + u64::from(edges)
        };
        // An edge with NaN has no height. It must stay in the list, so such a ring has a single slab.
        let is_plain = height.is_normal() && points.iter().all(|(x, y)| x.is_finite() && y.is_finite());
        let counts = std::iter::successors(Some(edges), |count| Some(count / 4)).take_while(|count| *count > 8);
        let fitting =
            counts.filter(|_| is_plain).map(with_count).find(|slabs| entry_count(slabs) <= 8 * u64::from(edges));
        let Some(mut slabs) = fitting else {
            return Self { low, scale: 0.0, offsets: vec![0, edges], starts: (0..edges).collect() };
        };
        for (_, low, high) in spans() {
            let (first, last) = (slabs.slab(low), slabs.slab(high));
            for count in slabs.offsets.get_mut(first + 1..last + 2).unwrap_or_default() {
                *count += 1;
            }
        }
        let mut sum = 0;
        for offset in &mut slabs.offsets {
            sum += *offset;
            *offset = sum;
        }
        let mut next = slabs.offsets.clone();
        slabs.starts = vec![0; sum as usize];
        for (start, low, high) in spans() {
            let (first, last) = (slabs.slab(low), slabs.slab(high));
            for next_entry in next.get_mut(first..=last).unwrap_or_default() {
                if let Some(slot) = slabs.starts.get_mut(*next_entry as usize) {
                    *slot = start;
                }
                *next_entry += 1;
            }
        }
        slabs
    }

    fn slab(&self, y: f64) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the number of a slab is small")]
        let slab = ((y - self.low) * self.scale) as usize;
        slab.min(self.offsets.len().saturating_sub(2))
    }

    /// The start indices of the edges that may cross a height.
    pub(super) fn starts_at(&self, y: f64) -> &[u32] {
        let slab = self.slab(y);
        match self.offsets.get(slab..slab + 2) {
            Some([start, end]) => self.starts.get(*start as usize..*end as usize).unwrap_or_default(),
            _ => &[],
        }
    }
}

/// Grid exponent (cell size as a power of two), column and row.
type CellKey = (i32, i64, i64);

/// Bounding boxes of rings, in grids with cells about the size of the boxes. A box is in at most four cells, and a
/// query reads one cell per grid.
#[derive(Debug, Default)]
pub(super) struct BoxIndex {
    cells: HashMap<CellKey, Vec<u32>>,
    /// The exponents of grids with a box.
    grids: Vec<i32>,
    /// All ranks, and the ranks of boxes that fit no grid.
    all: Vec<u32>,
    outliers: Vec<u32>,
}

impl BoxIndex {
    /// Adds a box. Its rank is higher than all before.
    pub(super) fn add(&mut self, rank: u32, bounds: [f64; 4]) {
        self.all.push(rank);
        let side = (bounds[2] - bounds[0]).max(bounds[3] - bounds[1]);
        let grid = Self::grid_exponent(side, bounds);
        let (Some(low), Some(high)) =
            (Self::cell_key(grid, [bounds[0], bounds[1]]), Self::cell_key(grid, [bounds[2], bounds[3]]))
        else {
            return self.outliers.push(rank);
        };
        if !self.grids.contains(&grid) {
            self.grids.push(grid);
        }
        for x in low.1..=high.1 {
            for y in low.2..=high.2 {
                self.cells.entry((grid, x, y)).or_default().push(rank);
            }
        }
    }

    /// The smallest power of two that is at least the side and keeps cell numbers exact.
    fn grid_exponent(side: f64, bounds: [f64; 4]) -> i32 {
        let farthest = bounds.iter().fold(0.0_f64, |most, ordinate| most.max(ordinate.abs()));
        let least = side.max(farthest / 1e15).max(f64::MIN_POSITIVE);
        #[expect(clippy::cast_possible_truncation, reason = "exponents of floats are small")]
        let grid = least.log2().ceil() as i32;
        grid
    }

    /// The cell of a point; `None` if its number is too large.
    fn cell_key(grid: i32, [x, y]: [f64; 2]) -> Option<CellKey> {
        let size = 2_f64.powi(grid);
        let number = |ordinate: f64| {
            let number = (ordinate / size).floor();
            #[expect(clippy::cast_possible_truncation, reason = "the number is checked to be small")]
            let cell = number as i64;
            (number.abs() < 1e16).then_some(cell)
        };
        Some((grid, number(x)?, number(y)?))
    }

    /// The ranks of boxes that may contain a box, the highest first.
    pub(super) fn candidates(&self, bounds: [f64; 4]) -> impl Iterator<Item = usize> + '_ {
        let point = [bounds[0], bounds[1]];
        let mut lists: Vec<&[u32]> = if point.iter().all(|ordinate| ordinate.is_finite()) {
            let cells = self.grids.iter().filter_map(|grid| self.cells.get(&Self::cell_key(*grid, point)?));
            cells.map(Vec::as_slice).chain([self.outliers.as_slice()]).collect()
        } else {
            vec![self.all.as_slice()]
        };
        std::iter::from_fn(move || {
            let highest = lists.iter_mut().max_by_key(|list| list.last().copied())?;
            let (rank, rest) = highest.split_last()?;
            *highest = rest;
            Some(*rank as usize)
        })
    }
}
