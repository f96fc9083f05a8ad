//! Spreads the fresh ground of rows over square cells and over plots.

use crate::ground::convex_clip::{Point, area};
use crate::ground::swath_coverage::Coverage;
use crate::maps::plots::{Overlay, Plots};
use crate::maps::unit_squares::Raster;

/// Smallest side of a cell in metres.
const LEAST_CELL: f64 = 0.01;

/// Larger grid coordinates are no location on Earth, in metres.
const LARGEST_COORDINATE: f64 = 2e7;

/// Largest number of parts, for which memory is taken.
const MOST_PARTS: usize = 1 << 25;

/// Parts of polygons are added up by row and cell when there are this many more.
const MOST_UNMERGED: usize = 1 << 16;

/// Ground of a row in a cell or plot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Part {
    /// Position of the cell or plot.
    pub(crate) target: u32,
    pub(crate) row: u32,
    /// In m2.
    pub(crate) area: f64,
}

/// Cells with ground in them.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    /// Column and row of each cell: multiples of its side from the origin of the grid, in ascending order.
    pub(crate) cells: Vec<(i64, i64)>,
    /// Parts by cell, then row.
    pub(crate) parts: Vec<Part>,
}

/// Spreads the fresh ground of rows over square cells whose side is `cell` metres.
///
/// `to_grid` turns locations of the local plane into grid coordinates and must keep the orientation. A part is the
/// fresh area of its piece in the local plane times the share of the piece in the cell, measured in grid coordinates,
/// so the parts of a row add up to its fresh area. Pieces whose grid coordinates are not finite are left out.
///
/// Returns none if the side is not a number of at least a centimetre, or so small that the parts do not fit in memory.
pub(crate) fn onto_cells(coverage: &Coverage, to_grid: impl Fn(Point) -> Point, cell: f64) -> Option<Cells> {
    if !(cell >= LEAST_CELL && cell.is_finite()) {
        return None;
    }
    let mut base = None;
    let mut raster = Raster::default();
    let scale = 1.0 / cell;
    let mut located: Vec<Point> = Vec::new();
    let mut found: Vec<Found> = Vec::with_capacity(coverage.fresh.len() * 2);
    let (mut merged, mut is_complete) = (0, true);
    coverage.visit_pieces(|row, piece| {
        located.clear();
        located.extend(piece.iter().map(|point| to_grid(*point)));
        if !is_complete || !located.iter().flatten().all(|value| value.abs() <= LARGEST_COORDINATE) {
            return;
        }
        // Coordinates relative to a cell of the field keep their digits below a metre.
        let [east, north] = *base.get_or_insert_with(|| {
            let first = located.first().copied().unwrap_or_default();
            first.map(|coordinate| (coordinate / cell).floor())
        });
        for [x, y] in &mut located {
            (*x, *y) = ((*x - east * cell) * scale, (*y - north * cell) * scale);
        }
        let start = found.len();
        let mut measured = 0.0;
        is_complete = raster.spread(&located, |column, line, area| {
            found.push(Found { column, line, row, area });
            measured += area;
        });
        let area = area(piece);
        match &mut found[start..] {
            [part] => part.area = area,
            parts => parts.iter_mut().for_each(|part| part.area *= area / measured),
        }
        if coverage.is_mixed() && found.len() - merged > MOST_UNMERGED {
            merge(&mut found, merged);
            merged = found.len();
        }
        is_complete &= found.len() <= MOST_PARTS;
    });
    if !is_complete {
        return None;
    }
    if coverage.is_mixed() {
        merge(&mut found, 0);
        let mut sums = vec![0.0; coverage.fresh.len()];
        for part in &found {
            sums[part.row as usize] += part.area;
        }
        for part in &mut found {
            part.area *= coverage.fresh[part.row as usize] / sums[part.row as usize];
        }
    }
    let base = base.unwrap_or_default();
    #[expect(clippy::cast_possible_truncation, reason = "at most the largest coordinate by the least cell")]
    Some(sorted_cells(&found, base.map(|index| index as i64)))
}

/// Sorts parts from a position on by row, and adds up those of one row in one cell.
fn merge(found: &mut Vec<Found>, from: usize) {
    found[from..].sort_unstable_by_key(|part| (part.row, part.line, part.column));
    let mut kept = from;
    for at in from..found.len() {
        let part = found[at];
        let is_same = |other: &Found| (other.row, other.line, other.column) == (part.row, part.line, part.column);
        if kept > from && is_same(&found[kept - 1]) {
            found[kept - 1].area += part.area;
        } else {
            found[kept] = part;
            kept += 1;
        }
    }
    found.truncate(kept);
}

/// A part in a cell, relative to the first cell.
#[derive(Clone, Copy)]
struct Found {
    column: i32,
    line: i32,
    row: u32,
    area: f64,
}

/// Numbers the cells in ascending order and sorts the parts by them.
fn sorted_cells(found: &[Found], base: [i64; 2]) -> Cells {
    let Some(first) = found.first() else { return Cells::default() };
    let mut range = [first.column, first.line, first.column, first.line];
    for part in found {
        range =
            [range[0].min(part.column), range[1].min(part.line), range[2].max(part.column), range[3].max(part.line)];
    }
    let lines = u64::from(range[3].abs_diff(range[1])) + 1;
    let key =
        |part: &Found| u64::from(part.column.abs_diff(range[0])) * lines + u64::from(part.line.abs_diff(range[1]));
    let all = (u64::from(range[2].abs_diff(range[0])) + 1).saturating_mul(lines);
    // Cells that lie close together are numbered by their location, others by a sorted list.
    let dense = usize::try_from(all).ok().filter(|all| *all <= 4 * found.len() + (1 << 16));
    let mut keys: Vec<u64> = Vec::new();
    if dense.is_none() {
        keys.extend(found.iter().map(key));
        keys.sort_unstable();
        keys.dedup();
    }
    let number = |part: &Found| {
        let key = key(part);
        let position = if dense.is_some() { key } else { keys.partition_point(|other| *other < key) as u64 };
        #[expect(clippy::cast_possible_truncation, reason = "at most four times the largest number of parts")]
        let number = position as u32;
        number
    };
    let part = |part: &Found| Part { target: number(part), row: part.row, area: part.area };
    let mut parts = by_target(found, part, dense.unwrap_or(keys.len()));
    let mut cells = Vec::new();
    for same in parts.chunk_by_mut(|one, next| one.target == next.target) {
        let number = same.first().map_or(0, |part| part.target);
        let key = keys.get(number as usize).copied().unwrap_or(u64::from(number));
        #[expect(clippy::cast_possible_wrap, reason = "differences of 32-bit integers")]
        let [column, line] = [(key / lines) as i64, (key % lines) as i64];
        let target = u32::try_from(cells.len()).unwrap_or(u32::MAX);
        cells.push((base[0] + i64::from(range[0]) + column, base[1] + i64::from(range[1]) + line));
        for part in same {
            part.target = target;
        }
    }
    Cells { cells, parts }
}

/// Sorts parts that are in the order of rows by target, and merges those of one row in one target.
fn by_target<T>(found: &[T], part: impl Fn(&T) -> Part, targets: usize) -> Vec<Part> {
    let mut next = vec![0_u32; targets + 1];
    for found in found {
        next[part(found).target as usize + 1] += 1;
    }
    let mut sum = 0;
    for start in &mut next {
        sum += *start;
        *start = sum;
    }
    let mut sorted = vec![Part::default(); found.len()];
    for found in found {
        let part = part(found);
        let at = &mut next[part.target as usize];
        sorted[*at as usize] = part;
        *at += 1;
    }
    sorted.dedup_by(|part, kept| {
        let is_same = part.target == kept.target && part.row == kept.row;
        if is_same {
            kept.area += part.area;
        }
        is_same
    });
    sorted
}

/// Spreads the fresh ground of rows over plots, given as polygons of rings in the local plane.
///
/// A location is in a plot if a line to it from outside crosses the plot's rings an odd number of times: holes and
/// separate polygons need no particular orientation or order. Ground in several plots is a part of each.
///
/// Returns the parts by plot, then row, and the area of each row in m2 that is in no plot.
pub(crate) fn onto_polygons(coverage: &Coverage, polygons: &[Vec<Vec<Vec<Point>>>]) -> (Vec<Part>, Vec<f64>) {
    let plots = Plots::new(polygons);
    let mut overlay = Overlay::new(&plots);
    let mut parts: Vec<Part> = Vec::new();
    let mut outside = vec![0.0; coverage.fresh.len()];
    let mut sums = vec![0.0; if coverage.is_mixed() { coverage.fresh.len() } else { 0 }];
    coverage.visit_pieces(|row, piece| {
        let rest = overlay.spread(piece, |target, area| match parts.last_mut() {
            Some(last) if (last.target, last.row) == (target, row) => last.area += area,
            _ => parts.push(Part { target, row, area }),
        });
        outside[row as usize] += rest;
        if let Some(sum) = sums.get_mut(row as usize) {
            *sum += area(piece);
        }
    });
    if coverage.is_mixed() {
        let scale = |row: usize| if sums[row] > 0.0 { coverage.fresh[row] / sums[row] } else { 1.0 };
        for part in &mut parts {
            part.area *= scale(part.row as usize);
        }
        outside.iter_mut().enumerate().for_each(|(row, outside)| *outside *= scale(row));
        parts.sort_unstable_by_key(|part| (part.row, part.target));
    }
    (by_target(&parts, |part: &Part| *part, polygons.len()), outside)
}
