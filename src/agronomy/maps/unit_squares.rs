//! Areas of a polygon in the unit squares that it touches.

use crate::ground::convex_clip::{Point, extent};

/// Largest number of squares around one polygon.
const MOST_SQUARES: usize = 1 << 24;

/// Squares with a smaller share of the polygon are left out: such shares are rounding errors.
const LEAST_SHARE: f64 = 1e-13;

/// Memory of the computation, used again for each polygon.
///
/// An anticlockwise edge that passes a square adds the area between it and the west side of the square, and in the
/// squares west of it the area of the band between its two ends. Downward edges subtract. The sum over all edges is the
/// area in each square, so the polygon needs no cuts.
#[derive(Default)]
pub(crate) struct Raster {
    columns: u32,
    /// Squares by line, then column.
    squares: Vec<Square>,
}

impl Raster {
    /// Passes column, line and area of each square that an anticlockwise polygon touches.
    ///
    /// Coordinates are in sides of a square, below 2^31. Returns false if the polygon touches too many squares.
    pub(crate) fn spread(&mut self, polygon: &[Point], mut visit: impl FnMut(i32, i32, f64)) -> bool {
        let [west, south, east, north] = extent(polygon);
        let [column, line, last_column, last_line] = [floor(west), floor(south), floor(east), floor(north)];
        let width = |first: i32, last: i32| i64::from(last) - i64::from(first) + 1;
        let (columns, lines) = (width(column, last_column), width(line, last_line));
        if (columns, lines) == (1, 1) {
            visit(column, line, 1.0);
            return true;
        }
        let squares = usize::try_from(columns.saturating_mul(lines)).unwrap_or(usize::MAX);
        let Some(columns) = u32::try_from(columns).ok().filter(|_| squares <= MOST_SQUARES) else { return false };
        self.columns = columns;
        self.squares.clear();
        self.squares.resize(squares, Square::default());
        let origin = [f64::from(column), f64::from(line)];
        let mut before = polygon.last().map_or(origin, |point| [point[0] - origin[0], point[1] - origin[1]]);
        for point in polygon {
            let point = [point[0] - origin[0], point[1] - origin[1]];
            if before[1] < point[1] {
                self.edge(before, point, 1.0);
            } else {
                self.edge(point, before, -1.0);
            }
            before = point;
        }
        self.visit_squares([column, line], visit);
        true
    }

    /// Adds an edge from its lower to its upper end.
    #[inline]
    fn edge(&mut self, low: Point, high: Point, sign: f64) {
        let (first, last) = (truncate(low[1]), truncate(high[1]));
        let mut from = low;
        if first < last {
            let slope = (high[0] - low[0]) / (high[1] - low[1]);
            for line in first..last {
                let north = f64::from(line + 1);
                let to = [low[0] + slope * (north - low[1]), north];
                self.band(line, from, to, sign);
                from = to;
            }
        }
        if from[1] < high[1] {
            self.band(last, from, high, sign);
        }
    }

    /// Adds the part of an edge in a line of squares.
    #[inline]
    fn band(&mut self, line: u32, from: Point, to: Point, sign: f64) {
        let (west, east) = if from[0] < to[0] { (from[0], to[0]) } else { (to[0], from[0]) };
        let mut height = sign * (to[1] - from[1]);
        let (first, last) = (truncate(west), truncate(east));
        let mut x = west;
        if first < last {
            let slope = height / (east - west);
            for column in first..last {
                let next = f64::from(column + 1);
                self.add(line, column, 0.5 * (x + next), slope * (next - x));
                x = next;
            }
            height = slope * (east - x);
        }
        self.add(line, last, 0.5 * (x + east), height);
    }

    #[inline]
    fn add(&mut self, line: u32, column: u32, middle: f64, height: f64) {
        // Rounding may put an end just beyond the last column.
        let column = column.min(self.columns - 1);
        if let Some(square) = self.squares.get_mut(line as usize * self.columns as usize + column as usize) {
            square.area += height * (middle - f64::from(column));
            square.height += height;
        }
    }

    fn visit_squares(&mut self, [column, line]: [i32; 2], mut visit: impl FnMut(i32, i32, f64)) {
        let columns = self.columns as usize;
        let mut total = 0.0;
        for line in self.squares.chunks_mut(columns) {
            let mut east = 0.0;
            for square in line.iter_mut().rev() {
                square.area += east;
                east += square.height;
                total += square.area;
            }
        }
        let least = total * LEAST_SHARE;
        let mut is_empty = true;
        for (line, squares) in (line..).zip(self.squares.chunks(columns)) {
            for (column, square) in (column..).zip(squares) {
                if square.area > least && square.area > 0.0 {
                    visit(column, line, square.area);
                    is_empty = false;
                }
            }
        }
        if is_empty {
            // A sliver whose area drowns in rounding.
            visit(column, line, 1.0);
        }
    }
}

/// Sums over the edges that pass a square.
#[derive(Clone, Copy, Default)]
struct Square {
    /// Area west of the edges.
    area: f64,
    /// Height of the edges.
    height: f64,
}

/// The largest integer not above a number; quicker than the function of the standard library without SSE 4.1.
#[inline]
fn floor(value: f64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "saturates")]
    let integer = value as i32;
    integer.saturating_sub(i32::from(value < f64::from(integer)))
}

#[inline]
fn truncate(value: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let integer = value as u32;
    integer
}
