//! Raster of the ground that a harvest has cut: half-metre cells with the first pass over each.

use crate::fields::deterministic_math::{i64_to_f64, round_to_i64, usize_to_f64};
use crate::fields::plane::Point;

/// Side of a cell in metres.
const CELL: f64 = 0.5;

/// Area of a cell in m².
const CELL_AREA: f64 = CELL * CELL;

/// Ground of a field, in cells.
#[derive(Debug)]
pub(in crate::fields) struct CutGround {
    /// Direction of the columns. It differs from that of the rows, so that the edges of passes cross cells everywhere.
    axis: Point,
    origin: (f64, f64),
    columns: usize,
    /// Number of the first pass over each cell; 0 is uncut.
    cells: Vec<u16>,
}

impl CutGround {
    /// Creates uncut ground around a boundary, with a margin in metres.
    pub(in crate::fields) fn new(boundary: &[Point], rows: Point, margin: f64) -> Self {
        let axis = Point::new(rows.east - 0.07 * rows.north, rows.north + 0.07 * rows.east).unit();
        let range = |axis: Point| {
            let levels = boundary.iter().map(|vertex| vertex.dot(axis));
            levels.fold((f64::MAX, f64::MIN), |(low, high), level| (low.min(level), high.max(level)))
        };
        let ((left, right), (bottom, top)) = (range(axis), range(axis.left()));
        let count = |low: f64, high: f64| {
            usize::try_from(round_to_i64(((high - low + 2.0 * margin) / CELL).ceil())).unwrap_or(0)
        };
        let (columns, lines) = (count(left, right), count(bottom, top));
        Self { axis, origin: (left - margin, bottom - margin), columns, cells: vec![0; columns * lines] }
    }

    /// Returns the coordinates of a location in cells.
    fn to_cells(&self, location: Point) -> (f64, f64) {
        ((location.dot(self.axis) - self.origin.0) / CELL, (location.dot(self.axis.left()) - self.origin.1) / CELL)
    }

    fn index(&self, column: i64, line: i64) -> Option<usize> {
        let column = usize::try_from(column).ok().filter(|column| *column < self.columns)?;
        Some(usize::try_from(line).ok()?.checked_mul(self.columns)?.saturating_add(column))
    }

    /// Returns whether another pass has cut a location before. A pass never covers itself.
    pub(in crate::fields) fn is_cut_before(&self, location: Point, pass: u16) -> bool {
        let (column, line) = self.to_cells(location);
        let index = self.index(round_to_i64(column.floor()), round_to_i64(line.floor()));
        index.and_then(|index| self.cells.get(index)).is_some_and(|first| *first != 0 && *first != pass)
    }

    /// Marks the cells with their centre inside a convex quadrilateral as cut by a pass, unless they were cut before.
    pub(in crate::fields) fn cut(&mut self, corners: [Point; 4], pass: u16) {
        let corners = corners.map(|corner| self.to_cells(corner));
        let range = |values: [f64; 4]| {
            let low = values.iter().copied().fold(f64::MAX, f64::min);
            let high = values.iter().copied().fold(f64::MIN, f64::max);
            round_to_i64((low - 0.5).ceil())..=round_to_i64((high - 0.5).floor())
        };
        let columns = range(corners.map(|corner| corner.0));
        for line in range(corners.map(|corner| corner.1)) {
            for column in columns.clone() {
                if !contains(&corners, (i64_to_f64(column) + 0.5, i64_to_f64(line) + 0.5)) {
                    continue;
                }
                let index = self.index(column, line);
                if let Some(cell) = index.and_then(|index| self.cells.get_mut(index))
                    && *cell == 0
                {
                    *cell = pass;
                }
            }
        }
    }

    /// Cut area in m².
    pub(in crate::fields) fn area(&self) -> f64 {
        usize_to_f64(self.cells.iter().filter(|pass| **pass != 0).count()) * CELL_AREA
    }

    /// Centre of each cell, and whether it was cut.
    pub(in crate::fields) fn centres(&self) -> impl Iterator<Item = (Point, bool)> {
        let line_direction = self.axis.left();
        let at = |cells: usize, origin: f64| (usize_to_f64(cells) + 0.5) * CELL + origin;
        self.cells.chunks(self.columns.max(1)).enumerate().flat_map(move |(line, cells)| {
            cells.iter().enumerate().map(move |(column, pass)| {
                let location = Point::new(0.0, 0.0)
                    .moved(self.axis, at(column, self.origin.0))
                    .moved(line_direction, at(line, self.origin.1));
                (location, *pass != 0)
            })
        })
    }
}

/// Returns whether a point is inside a convex quadrilateral of either direction.
fn contains(corners: &[(f64, f64); 4], (column, line): (f64, f64)) -> bool {
    let next = corners.iter().cycle().skip(1);
    let (mut left, mut right) = (true, true);
    for (a, b) in corners.iter().zip(next) {
        let cross = (b.0 - a.0) * (line - a.1) - (b.1 - a.1) * (column - a.0);
        left &= cross >= 0.0;
        right &= cross <= 0.0;
    }
    left || right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn area_of_overlapping_rectangles_is_that_of_their_union() {
        let boundary =
            [Point::new(-80.0, -60.0), Point::new(80.0, -60.0), Point::new(80.0, 60.0), Point::new(-80.0, 60.0)];
        let mut ground = CutGround::new(&boundary, Point::new(0.6, 0.8), 5.0);
        let rectangle = |left: f64, bottom: f64, right: f64, top: f64| {
            [Point::new(left, bottom), Point::new(right, bottom), Point::new(right, top), Point::new(left, top)]
        };
        ground.cut(rectangle(-70.0, -50.0, 30.0, -10.0), 1);
        ground.cut(rectangle(-10.0, -30.0, 60.0, 45.0), 2);
        let union = 100.0 * 40.0 + 70.0 * 75.0 - 40.0 * 20.0;
        assert!((ground.area() / union - 1.0).abs() < 2e-3, "{} instead of {union}", ground.area());
        assert!(ground.is_cut_before(Point::new(0.0, -20.0), 2), "the overlap belongs to the first pass");
        assert!(!ground.is_cut_before(Point::new(0.0, -20.0), 1) && !ground.is_cut_before(Point::new(-40.0, 20.0), 9));
        let cut = ground.centres().filter(|(location, is_cut)| {
            *is_cut && !((-70.5..60.5).contains(&location.east) && (-50.5..45.5).contains(&location.north))
        });
        assert_eq!(cut.count(), 0);
    }
}
