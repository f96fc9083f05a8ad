//! Tests of ground counted once, with areas worked out on paper.

use crate::ground::convex_clip::{Point, area};
use crate::ground::swath_coverage::{Coverage, cover};
use crate::ground::swaths::Swaths;

fn rectangle(west: f64, south: f64, east: f64, north: f64) -> Vec<Point> {
    vec![[west, south], [east, south], [east, north], [west, north]]
}

/// Covers polygons in their order, ten seconds apart.
pub(crate) fn cover_all(polygons: &[Vec<Point>]) -> Coverage {
    let all: Vec<u32> = (0_u32..).take(polygons.len()).collect();
    cover(&Swaths::from_polygons(polygons), &all, &[], &[])
}

/// Checks fresh areas, also after the polygons were turned and moved, and the sums of pieces.
fn assert_fresh(polygons: &[Vec<Point>], expected: &[f64]) {
    for angle in [0.0_f64, 0.4, 1.0, 2.5, 4.0] {
        let (sine, cosine) = angle.sin_cos();
        let turn = |[x, y]: &Point| [900.0 * angle + cosine * x - sine * y, sine * x + cosine * y - 70.0 * angle];
        let turned: Vec<Vec<Point>> = polygons.iter().map(|polygon| polygon.iter().map(turn).collect()).collect();
        let coverage = cover_all(&turned);
        assert_eq!(coverage.limited, 0);
        for (row, (fresh, expected)) in (0_u32..).zip(coverage.fresh.iter().zip(expected)) {
            assert!((fresh - expected).abs() < 1e-9, "row {row}: {fresh} is not {expected}");
            let mut pieces = 0.0;
            coverage.visit_pieces(|of, piece| pieces += if of == row { area(piece) } else { 0.0 });
            assert!((fresh - pieces).abs() < 1e-12);
        }
    }
}

#[test]
fn overlapping_rectangles_count_the_overlap_once() {
    assert_fresh(&[rectangle(0.0, 0.0, 10.0, 2.0), rectangle(5.0, 0.0, 15.0, 2.0)], &[20.0, 10.0]);
}

#[test]
fn crossing_passes_count_the_crossings_once() {
    let (first, second) = (rectangle(0.0, 3.0, 10.0, 4.0), rectangle(0.0, 6.0, 10.0, 7.0));
    let (third, fourth) = (rectangle(3.0, 0.0, 4.0, 10.0), rectangle(6.0, 0.0, 7.0, 10.0));
    assert_fresh(&[first.clone(), third.clone()], &[10.0, 9.0]);
    assert_fresh(&[first, second, third, fourth], &[10.0, 10.0, 8.0, 8.0]);
}

#[test]
fn pass_driven_twice_has_no_fresh_ground() {
    let pass = [rectangle(0.0, 0.0, 2.0, 9.0), rectangle(2.0, 0.0, 4.0, 9.0), rectangle(4.0, 0.0, 6.0, 9.0)];
    let again: Vec<Vec<Point>> = pass.iter().rev().chain(&pass).cloned().collect();
    assert_fresh(&again, &[18.0, 18.0, 18.0, 0.0, 0.0, 0.0]);
    // Half a row ahead, every row is covered by two.
    let shifted = pass.iter().map(|row| row.iter().map(|[x, y]| [x + 1.0, *y]).collect());
    let both: Vec<Vec<Point>> = pass.iter().cloned().chain(shifted).collect();
    assert_fresh(&both, &[18.0, 18.0, 18.0, 0.0, 0.0, 9.0]);
}

#[test]
fn swath_inside_another_is_a_hole_or_nothing() {
    let (small, large) = (rectangle(2.0, 2.0, 3.0, 3.0), rectangle(0.0, 0.0, 9.0, 9.0));
    assert_fresh(&[small.clone(), large.clone()], &[1.0, 80.0]);
    assert_fresh(&[large, small], &[81.0, 0.0]);
}

#[test]
fn row_without_a_swath_covers_nothing() {
    let rows = [rectangle(0.0, 0.0, 2.0, 9.0), Vec::new(), rectangle(0.0, 0.0, 2.0, 10.0)];
    assert_fresh(&rows, &[18.0, 0.0, 2.0]);
}

#[test]
fn excluded_rows_cover_nothing_and_later_rows_come_first_in_time() {
    let swaths = Swaths::from_polygons(&vec![rectangle(0.0, 0.0, 2.0, 9.0); 3]);
    let coverage = cover(&swaths, &[2, 1, 0, 7], &[false, false, true], &[]);
    assert_eq!(coverage.fresh, [0.0, 18.0, 0.0]);
    assert_eq!(coverage.full, [18.0; 3]);
    let mut rows = Vec::new();
    coverage.visit_pieces(|row, _| rows.push(row));
    assert_eq!(rows, [1]);
}

#[test]
fn machine_that_stands_still_takes_no_longer_than_one_that_drives() {
    let coverage = cover_all(&vec![rectangle(0.0, 0.0, 2.0, 9.0); 100_000]);
    assert!((coverage.fresh.iter().sum::<f64>() - 18.0).abs() < 1e-12);
}

#[test]
fn hundreds_of_crossing_slivers_end_in_time_and_count_no_ground_twice() {
    let sliver = |row: u32| {
        let (sine, cosine) = (f64::from(row) * 2.4).sin_cos();
        let off = f64::from(row * 37 % 80) - 40.0;
        let corner = |along: f64, across: f64| {
            let across = across + off;
            [along * cosine - across * sine, along * sine + across * cosine]
        };
        vec![corner(-50.0, 0.0), corner(50.0, 0.0), corner(50.0, 0.02), corner(-50.0, 0.02)]
    };
    let coverage = cover_all(&(0..700).map(sliver).collect::<Vec<_>>());
    let fresh: f64 = coverage.fresh.iter().sum();
    assert!(coverage.limited > 0 && fresh > 300.0 && fresh < 1_350.0, "{fresh}");
}
