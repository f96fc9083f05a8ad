//! The ground of rows: the areas of their polygons, and rows that log several products on the same ground.

use std::collections::HashMap;
use std::f64::consts::PI;

use arrow_array::cast::AsArray as _;

use crate::columns::added::Added;
use crate::columns::derived::Rows;
use crate::columns::row_ratios::{median, median_and_range};
use crate::ground::convex_clip::{Point, area, edges};
use crate::rows::repeated_rows::has_repeats;
use crate::rows::unnamed_products::{LEAST, is_same_rate};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::{Layer, Polygons};

/// The area of the polygons of each row in m2; empty without polygons, and where their coordinate system is unknown.
pub(crate) fn polygon_areas(layer: &Layer) -> Vec<f64> {
    let has_polygons = layer.geometry_types().iter().any(|code| matches!(code % 1000, 3 | 6));
    let areas = if has_polygons { layer.areas().unwrap_or_default() } else { Vec::new() };
    areas.into_iter().map(|area| area.unwrap_or(f64::NAN)).collect()
}

/// Rows with a polygon, a distance and a width that a comparison needs.
const LEAST_POLYGONS: usize = 30;
/// Area of a polygon, as a part of distance x width, that means the same ground.
const SAME_GROUND: std::ops::RangeInclusive<f64> = 0.9..=1.1;
/// Part by which areas of one size differ at most: coordinate systems stretch them.
const ONE_SIZE: f64 = 0.01;
/// Range of both quartiles of distance x width, as a part of the median, of rows that are not all equal.
const LEAST_SPREAD: f64 = 0.03;
/// Compactness of buffers at least: a circle has 1, a square 0.785, and a swath of twice its length in width 0.70.
const COMPACT: f64 = 0.77;
/// Rows whose polygons are measured.
const SAMPLED: usize = 100;

/// The area of the polygons of the median row, as a part of distance x width, if that is another ground, and whether they are
/// buffers of points: all of one size, and about as wide as long in each direction, which swaths are not.
pub(crate) fn other_polygons(layer: &Layer, areas: &[f64], distance: &[f64], width: &[f64]) -> Option<(f64, bool)> {
    let both = areas.iter().zip(distance.iter().zip(width).map(|(distance, width)| distance * width));
    let both: Vec<(f64, f64)> =
        both.map(|(area, m2)| (*area, *area / m2)).filter(|(area, ratio)| *area > 0.0 && *ratio > 0.0).collect();
    if both.len() < LEAST_POLYGONS {
        return None;
    }
    let (ratio, spread) = median_and_range(both.iter().map(|(_, ratio)| *ratio).collect());
    let usual = median(both.iter().map(|(area, _)| *area).collect());
    let is_one_size = both.iter().all(|(area, _)| (area / usual - 1.0).abs() < ONE_SIZE);
    let is_other = !SAME_GROUND.contains(&ratio);
    // Where the machine changes its speed, swaths do not keep one area.
    let are_buffers = is_one_size && (is_other || spread > LEAST_SPREAD * ratio) && compactness(layer) > COMPACT;
    (is_other || are_buffers).then_some((ratio, are_buffers))
}

/// Area of the polygons as a part of that of a circle with their perimeter, in the median of some rows.
fn compactness(layer: &Layer) -> f64 {
    let Ok(found) = layer.row_shapes("layer") else { return f64::NAN };
    let all = found.polygons.unwrap_or_default();
    let step = all.len().div_ceil(SAMPLED).max(1);
    let one = |(polygons, latitude): (&Polygons, &f64)| {
        let shell = polygons.first()?.first()?;
        let scale = if found.own.is_some() { 1.0 } else { latitude.to_radians().cos() };
        let ring: Vec<Point> = shell.iter().map(|[x, y]| [x * scale, *y]).collect();
        let length: f64 = edges(&ring).map(|([ax, ay], [bx, by])| (bx - ax).hypot(by - ay)).sum();
        Some(4.0 * PI * area(&ring).abs() / (length * length))
    };
    median(all.iter().zip(&found.ys).step_by(step).filter_map(one).collect())
}

/// Ignores polygons that are buffers of points. Reports polygons with another ground than distance x width.
pub(crate) fn settle_polygons(layer: &Layer, rows: &mut Rows) -> Option<Diagnostic> {
    let lengths = rows.get("distance").zip(rows.get("swath_width"));
    let (ratio, are_buffers) =
        lengths.and_then(|(distance, width)| other_polygons(layer, &rows.polygons, distance, width))?;
    if are_buffers {
        (rows.polygons, rows.has_buffers) = (Vec::new(), true);
        let message = format!(
            "the polygons are all of one area, {ratio:.2} times `distance` x `swath_width` in the median row, as of points with a \
             buffer; they are taken as points, and `distance` x `swath_width` as the ground"
        );
        return Some(Diagnostic::new(Code::GroundIncomplete, message));
    }
    let message = format!(
        "the polygons have {ratio:.2} times the area of `distance` x `swath_width` in the median row; they are the ground: if they \
         are no swaths, pass points, and if the width or the distance is wrong, its unit as `units=`"
    );
    Some(Diagnostic::new(Code::WidthContradicts, message))
}

/// Time, machine and section, and geometry of a row.
type Place<'a> = (Option<i64>, [Option<u64>; 2], &'a [u8]);

/// Rows of a further product on the ground of an earlier row: another product or rate at the same time and place, by the same
/// machine and section. Empty if there are none. The ground of a tank mix counts once.
pub(crate) fn further_products(layer: &Layer, rows: &Rows, added: &[Added]) -> Vec<bool> {
    let product = added.iter().filter(|column| column.field.name() == "product").flat_map(|column| &column.arrays);
    let products = product.filter_map(|array| array.as_string_opt::<i64>()).flat_map(|array| array.iter());
    let mut products: Vec<Option<&str>> = products.collect();
    if products.windows(2).all(|pair| pair.first() == pair.last()) && !has_repeats(layer, rows) {
        return Vec::new();
    }
    products.resize(layer.len(), None);
    let key =
        |name: &str, row: usize| rows.columns.get(name).and_then(|column| column.get(row)).map(|value| value.to_bits());
    let time = |row: usize| rows.times.as_ref().and_then(|times| times.get(row).copied().flatten());
    let rate = |row: usize| {
        let rates = rows.get("applied_rate").filter(|_| time(row).is_some());
        rates.and_then(|rates| rates.get(row)).copied().unwrap_or(f64::NAN)
    };
    let mut by_rate: Vec<usize> = Vec::new();
    let mut seen: HashMap<Place<'_>, Vec<(Option<&str>, f64)>> = HashMap::new();
    let further = layer.geometries().zip(&products).enumerate().map(|(row, (wkb, product))| {
        let Some(wkb) = wkb else { return false };
        let known = seen.entry((time(row), [key("machine", row), key("section", row)], wkb)).or_default();
        let is_named = !known.is_empty() && known.iter().all(|(name, _)| name != product);
        let is_other = |(name, other): &(Option<&str>, f64)| name != product || !is_same_rate(*other, rate(row));
        let is_further = !known.is_empty() && known.iter().all(is_other);
        if is_further && !is_named {
            by_rate.push(row);
        }
        known.push((*product, rate(row)));
        is_further
    });
    let mut further: Vec<bool> = further.collect();
    // Single rows of one moment are no mix.
    if by_rate.len() * LEAST <= further.len() {
        for row in by_rate {
            further[row] = false;
        }
    }
    if further.contains(&true) { further } else { Vec::new() }
}
