//! Tests of swaths with areas worked out on paper.

use std::sync::Arc;

use crate::ground::logged_shapes::Shapes;
use crate::ground::polygon_coverage::owned_area;
use crate::ground::swath_coverage::{Coverage, cover};
use crate::ground::swaths::{SwathRows, Swaths, build_swaths};

struct Rows {
    x: Vec<f64>,
    y: Vec<f64>,
    heading: Vec<f64>,
    distance: Vec<f64>,
    width: Vec<f64>,
    pass: Vec<i32>,
    time: Vec<f64>,
    antenna: f64,
    shapes: Option<Arc<Shapes>>,
}

impl Rows {
    /// A pass of rows of 2 m by 9 m, one a second.
    fn new(positions: &[(f64, f64, f64)]) -> Self {
        let len = positions.len();
        Self {
            x: positions.iter().map(|row| row.0).collect(),
            y: positions.iter().map(|row| row.1).collect(),
            heading: positions.iter().map(|row| row.2).collect(),
            distance: vec![2.0; len],
            width: vec![9.0; len],
            pass: vec![1; len],
            time: (0..len).map(|row| f64::from(u32::try_from(row).unwrap())).collect(),
            antenna: 0.0,
            shapes: None,
        }
    }

    /// Rows that drive east, with their fronts at the given places.
    fn east(fronts: &[f64]) -> Self {
        Self::new(&fronts.iter().map(|x| (*x, 0.0, 0.0)).collect::<Vec<_>>())
    }

    fn build(&self) -> Swaths {
        let places: Vec<usize> = (0..self.x.len()).collect();
        build_swaths(&SwathRows {
            x: &self.x,
            y: &self.y,
            heading: &self.heading,
            distance: &self.distance,
            width: &self.width,
            extra: &[],
            track: &vec![0; self.x.len()],
            pass: &self.pass,
            time: &self.time,
            antenna: self.antenna,
            most_width: 60.0,
            shapes: self.shapes.as_ref().map(|shapes| (shapes, places.as_slice())),
        })
    }

    fn areas(&self) -> Vec<f64> {
        let swaths = self.build();
        Coverage::whole(&swaths, |_| true).full
    }
}

fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }
}

#[test]
fn swath_lies_behind_the_cutter_bar() {
    let mut rows = Rows::new(&[(10.0, 5.0, std::f64::consts::FRAC_PI_2)]);
    rows.antenna = 3.0;
    for (found, expected) in rows.build().polygon(0).iter().zip([[14.5, 6.0], [14.5, 8.0], [5.5, 8.0], [5.5, 6.0]]) {
        assert_close(found, &expected);
    }
}

#[test]
fn jitter_along_a_pass_neither_adds_nor_loses_ground() {
    let rows = Rows::east(&[2.0, 4.3, 5.8, 8.0]);
    // Joints in the middle of front and back: 2.15, 4.05 and 5.9.
    assert_close(&rows.areas(), &[2.15 * 9.0, 1.9 * 9.0, 1.85 * 9.0, 2.1 * 9.0]);
    let swaths = rows.build();
    assert_eq!(swaths.polygon(0)[1..2], swaths.polygon(1)[..1]);
    assert_eq!(swaths.polygon(0)[2..3], swaths.polygon(1)[3..]);
}

#[test]
fn circle_has_the_area_of_the_polygons_around_it() {
    let (rows, radius, width) = (60_u32, 20.0, 9.0);
    let half_turn = std::f64::consts::PI / f64::from(rows);
    let positions: Vec<_> = (0..rows)
        .map(|row| f64::from(row) * 2.0 * half_turn)
        .map(|angle| (radius * angle.cos(), radius * angle.sin(), angle + std::f64::consts::FRAC_PI_2))
        .collect();
    let mut driven = Rows::new(&positions);
    let distance = 2.0 * radius * half_turn.tan();
    driven.distance.fill(distance);
    driven.antenna = distance / 2.0;
    let swaths = driven.build();
    let all: Vec<u32> = (0..rows).collect();
    let coverage = cover(&swaths, &all, &[], &[]);
    assert_close(&coverage.full, &vec![distance * width; positions.len()]);
    // The square ends of the first and the last row overlap in two triangles.
    let overlap = (width / 2.0) * (width / 2.0) * half_turn.tan();
    let ring = f64::from(rows) * half_turn.tan() * 2.0 * radius * width;
    assert_close(&[coverage.fresh.iter().sum()], &[ring - overlap]);
    assert!((ring / (2.0 * std::f64::consts::PI * radius * width) - 1.0).abs() < 1e-3);
}

#[test]
fn rows_that_do_not_follow_each_other_are_rectangles() {
    let turn = 20_f64.to_radians();
    assert_close(&Rows::new(&[(2.0, 0.0, 0.0), (4.0, 0.2, turn)]).areas(), &[18.0, 18.0]);
    // A row is missing between them.
    assert_close(&Rows::east(&[2.0, 6.0]).areas(), &[18.0, 18.0]);
    assert_close(&Rows::new(&[(2.0, 0.0, 0.0), (4.4, 5.0, 0.0)]).areas(), &[18.0, 18.0]);
    let mut rows = Rows::east(&[2.0, 4.4]);
    rows.pass = vec![1, 2];
    assert_close(&rows.areas(), &[18.0, 18.0]);
    let mut rows = Rows::east(&[2.0, 4.0, 6.0, 8.4]);
    rows.time = vec![0.0, 1.0, 2.0, 6.0];
    assert_close(&rows.areas(), &[18.0; 4]);
    rows.time = vec![f64::NAN; 4];
    assert_close(&rows.areas(), &[18.0, 18.0, 19.8, 19.8]);
}

#[test]
fn bend_tighter_than_half_the_width_gives_rectangles() {
    let turn = 14_f64.to_radians();
    let mut rows =
        Rows::new(&[(2.0, 0.0, 0.0), (2.0 + 2.0 * turn.cos(), 2.0 * turn.sin(), turn), (5.7, 1.4, 2.0 * turn)]);
    rows.width.fill(40.0);
    assert_close(&rows.areas(), &[80.0; 3]);
}

#[test]
fn change_of_width_is_a_step() {
    let mut rows = Rows::east(&[2.0, 4.0]);
    rows.width = vec![9.0, 6.0];
    assert_close(&rows.areas(), &[18.0, 12.0]);
}

#[test]
fn row_without_usable_numbers_has_no_swath() {
    let none = |change: fn(&mut Rows)| {
        let mut rows = Rows::east(&[2.0]);
        change(&mut rows);
        assert_eq!(rows.areas(), [0.0]);
    };
    none(|rows| rows.width[0] = 0.0);
    none(|rows| rows.width[0] = f64::INFINITY);
    none(|rows| rows.distance[0] = -1.0);
    none(|rows| rows.distance[0] = f64::NAN);
    none(|rows| rows.distance[0] = 5_000.0);
    none(|rows| rows.heading[0] = f64::NAN);
    none(|rows| rows.x[0] = f64::INFINITY);
    none(|rows| rows.y[0] = 1e300);
    none(|rows| rows.antenna = f64::NAN);
    none(|rows| rows.pass[0] = 0);
    assert!(Rows::new(&[]).areas().is_empty());
}

#[test]
fn logged_polygon_replaces_the_rectangle() {
    let mut rows = Rows::east(&[2.0, 4.0, 6.0, 8.0]);
    rows.heading[0] = f64::NAN;
    rows.pass[3] = 0;
    let triangle = vec![[0.0, 0.0], [0.0, 4.0], [3.0, 0.0]];
    let crossed = vec![[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]];
    let mut shapes = Shapes::default();
    for ring in [triangle.clone(), crossed, Vec::new(), triangle] {
        shapes.push(&if ring.is_empty() { Vec::new() } else { vec![vec![ring]] }, owned_area);
    }
    rows.shapes = Some(Arc::new(shapes));
    // A polygon that crosses itself has the ground on both sides of the crossing.
    assert_close(&rows.areas(), &[6.0, 0.5, 18.0, 0.0]);
}
