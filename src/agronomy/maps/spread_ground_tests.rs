//! Tests of ground spread over cells and plots, with areas worked out on paper.

use crate::ground::convex_clip::Point;
use crate::ground::swath_coverage_tests::cover_all;
use crate::maps::spread_ground::{Cells, Part, onto_cells, onto_polygons};

fn rectangle(west: f64, south: f64, east: f64, north: f64) -> Vec<Point> {
    vec![[west, south], [east, south], [east, north], [west, north]]
}

/// A square of 10 m by 10 m, one row.
fn square() -> Vec<Vec<Point>> {
    vec![rectangle(0.0, 0.0, 10.0, 10.0)]
}

fn turned(polygon: &[Point], angle: f64) -> Vec<Point> {
    let (sine, cosine) = angle.sin_cos();
    polygon.iter().map(|[x, y]| [cosine * x - sine * y, sine * x + cosine * y]).collect()
}

fn assert_parts(found: &[Part], expected: &[(u32, u32, f64)]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!((found.target, found.row), (expected.0, expected.1));
        assert!((found.area - expected.2).abs() < 1e-9, "{found:?} is not {expected:?}");
    }
}

#[test]
fn square_over_four_cells_is_shared_out_in_order() {
    let coverage = cover_all(&[rectangle(-3.0, -4.0, 7.0, 6.0), rectangle(-3.0, -4.0, 17.0, 6.0)]);
    let Cells { cells, parts } = onto_cells(&coverage, |point| point, 10.0).unwrap();
    assert_eq!(cells, [(-1, -1), (-1, 0), (0, -1), (0, 0), (1, -1), (1, 0)]);
    let shared = [(0, 0, 12.0), (1, 0, 18.0), (2, 0, 28.0), (2, 1, 12.0), (3, 0, 42.0), (3, 1, 18.0)];
    assert_parts(&parts, &[&shared[..], &[(4, 1, 28.0), (5, 1, 42.0)]].concat());
}

#[test]
fn square_on_its_corner_is_cut_into_triangles() {
    let root = 2.0_f64.sqrt();
    let coverage = cover_all(&[turned(&rectangle(-root, -root, root, root), std::f64::consts::FRAC_PI_4)]);
    let Cells { cells, parts } = onto_cells(&coverage, |point| point, 2.0).unwrap();
    assert_eq!(cells, [(-1, -1), (-1, 0), (0, -1), (0, 0)]);
    assert_parts(&parts, &[(0, 0, 2.0), (1, 0, 2.0), (2, 0, 2.0), (3, 0, 2.0)]);
}

#[test]
fn totals_do_not_depend_on_cells_rotation_or_scale_of_the_grid() {
    let rows: Vec<Vec<Point>> = (0_u32..40)
        .map(|row| {
            let (east, north) = (f64::from(row * 7 % 40), f64::from(row * 11 % 40));
            let swath = turned(&rectangle(0.0, 0.0, 9.0, 2.0), f64::from(row));
            swath.iter().map(|[x, y]| [x + east, y + north]).collect()
        })
        .collect();
    let coverage = cover_all(&rows);
    for cell in [0.1, 1.0, 3.3, 10.0, 1000.0] {
        for angle in [0.0, 0.02, 0.7] {
            let to_grid = |point: Point| turned(&[point], angle)[0].map(|value| 0.9996 * value + 5_000_000.0);
            let Cells { cells, parts } = onto_cells(&coverage, to_grid, cell).unwrap();
            let mut sums = vec![0.0; rows.len()];
            for part in &parts {
                sums[part.row as usize] += part.area;
            }
            for (sum, fresh) in sums.iter().zip(&coverage.fresh) {
                assert!((sum - fresh).abs() <= 1e-12 * fresh, "{sum} is not {fresh}");
            }
            assert!(parts.iter().all(|part| part.area > 0.0));
            assert!(parts.is_sorted_by(|a, b| (a.target, a.row) < (b.target, b.row)));
            assert!(cells.is_sorted_by(|a, b| a < b));
            let mut full = vec![0.0; cells.len()];
            for part in &parts {
                full[part.target as usize] += part.area;
            }
            // Coordinates of 5,000 km are rounded to a nanometre.
            assert!(full.iter().all(|area| *area <= cell * cell / (0.9996 * 0.9996) + 1e-8 * cell));
        }
    }
}

#[test]
fn cells_far_apart_take_no_memory_for_those_between() {
    let coverage = cover_all(&[rectangle(0.0, 0.0, 1.0, 1.0), rectangle(9e6, 9e6, 9e6 + 1.0, 9e6 + 1.0)]);
    let Cells { cells, parts } = onto_cells(&coverage, |point| point, 1.0).unwrap();
    assert_eq!(cells, [(0, 0), (9_000_000, 9_000_000)]);
    assert_parts(&parts, &[(0, 0, 1.0), (1, 1, 1.0)]);
}

#[test]
fn unusable_cells_and_coordinates_are_refused() {
    let coverage = cover_all(&square());
    for cell in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-9] {
        assert!(onto_cells(&coverage, |point| point, cell).is_none());
    }
    for value in [f64::NAN, f64::INFINITY, 1e300] {
        assert!(onto_cells(&coverage, |_| [value, 0.0], 10.0).unwrap().parts.is_empty());
    }
    assert!(onto_cells(&cover_all(&[]), |point| point, 10.0).unwrap().cells.is_empty());
}

/// Parts of the square of 10 m by 10 m and the area outside, also after all was turned.
fn assert_plots(plots: &[Vec<Vec<Vec<Point>>>], expected: &[(u32, u32, f64)], outside: f64) {
    for angle in [0.0, 0.3, 1.0, std::f64::consts::FRAC_PI_2, 4.0] {
        let coverage = cover_all(&square().iter().map(|row| turned(row, angle)).collect::<Vec<_>>());
        let turn = |rings: &Vec<Vec<Point>>| rings.iter().map(|ring| turned(ring, angle)).collect();
        let plots: Vec<Vec<Vec<Vec<Point>>>> = plots.iter().map(|plot| plot.iter().map(turn).collect()).collect();
        let (parts, found) = onto_polygons(&coverage, &plots);
        assert_parts(&parts, expected);
        assert!((found[0] - outside).abs() < 1e-9, "{found:?} is not {outside} at {angle}");
    }
}

#[test]
fn plot_with_a_hole_leaves_the_hole_outside() {
    let rings = vec![rectangle(2.0, 2.0, 8.0, 8.0), rectangle(4.0, 4.0, 6.0, 6.0)];
    assert_plots(&[vec![rings]], &[(0, 0, 32.0)], 68.0);
}

#[test]
fn plot_of_two_polygons_and_a_hole_with_an_island_adds_them_up() {
    let first = vec![rectangle(-5.0, -5.0, 3.0, 3.0)];
    let second = vec![rectangle(4.0, 4.0, 20.0, 20.0), rectangle(5.0, 5.0, 9.0, 9.0)];
    assert_plots(&[vec![first, second, vec![rectangle(6.0, 6.0, 8.0, 8.0)]]], &[(0, 0, 9.0 + 36.0 - 16.0 + 4.0)], 67.0);
}

#[test]
fn plots_that_overlap_both_count_and_their_union_is_not_outside() {
    let strip = |west: f64, east: f64| vec![vec![rectangle(west, -1.0, east, 8.0)]];
    assert_plots(&[strip(-1.0, 6.0), strip(4.0, 11.0)], &[(0, 0, 48.0), (1, 0, 48.0)], 20.0);
    assert_plots(&[strip(-1.0, 6.0), strip(6.0, 11.0), strip(30.0, 40.0)], &[(0, 0, 48.0), (1, 0, 32.0)], 20.0);
    let cross = vec![vec![rectangle(-1.0, 4.0, 11.0, 6.0)]];
    assert_plots(&[vec![vec![rectangle(4.0, -1.0, 6.0, 11.0)]], cross], &[(0, 0, 20.0), (1, 0, 20.0)], 64.0);
    assert_plots(&[vec![vec![rectangle(-9.0, -9.0, 19.0, 19.0)]]], &[(0, 0, 100.0)], 0.0);
}

#[test]
fn concave_plot_is_cut_exactly() {
    let comb = vec![[1.0, 1.0], [9.0, 1.0], [9.0, 9.0], [7.0, 9.0], [7.0, 3.0], [3.0, 3.0], [3.0, 9.0], [1.0, 9.0]];
    assert_plots(&[vec![vec![comb]]], &[(0, 0, 16.0 + 24.0)], 60.0);
}

#[test]
fn invalid_plots_neither_panic_nor_add_ground() {
    let crossed = vec![[0.0, 0.0], [10.0, 10.0], [10.0, 0.0], [0.0, 10.0]];
    assert_plots(&[vec![vec![crossed]]], &[(0, 0, 50.0)], 50.0);
    let odd = [vec![], vec![[1.0, 1.0]], vec![[1.0, 1.0], [5.0, 5.0]], vec![[f64::NAN, 1.0], [f64::INFINITY, 2.0]]];
    assert_plots(&[vec![], vec![vec![]], vec![odd.to_vec()]], &[], 100.0);
    let huge = vec![vec![rectangle(-1e300, -1e300, 1e300, 1e300)]];
    let coverage = cover_all(&square());
    assert_parts(&onto_polygons(&coverage, &[huge]).0, &[(0, 0, 100.0)]);
    assert!(onto_polygons(&coverage, &[]).0.is_empty());
}
