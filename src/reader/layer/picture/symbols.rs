//! Draws records as dots, squares or outlines: one path per colour, in integer tenths of a pixel.

use std::fmt::Write as _;

use super::colour::ColourScale;
use super::drawing::{Drawing, Values};
use super::extent::{self, Extent, Selection, Shape};
use super::layout::Layout;
use super::text::escape;
use crate::layer::wkb::{FlatCoordinates, Part};
use headland_base::error::Result;

/// The initial tolerance in tenths of a pixel; smaller bends are not visible.
const MIN_TOLERANCE: f64 = 2.0;
/// The most vertices of a map. With more, outlines are simplified further to bound the file size.
const MAX_CORNERS: usize = 50_000;

/// Draws touching round dots, or a grid of squares.
pub(super) fn draw_dots(
    drawing: &Drawing<'_>,
    extent: &Extent,
    selection: &Selection,
    scale: &ColourScale<'_>,
    layout: &Layout,
) -> String {
    let (opening, paint, mark, corner) = if let Shape::Squares { cell } = selection.shape {
        // Slightly larger than the cell, so that no seam is visible.
        #[expect(clippy::cast_possible_truncation, reason = "tenths of a pixel on a page")]
        let side = (cell * layout.pixels_per_metre * 10.0).clamp(1.0, 1e5) as i64 + 4;
        (r#"<g transform="scale(.1)">"#.to_owned(), "fill", format!("h{side}v{side}h-{side}z"), side / 2)
    } else {
        let touching = extent.spacing(&selection.markers) * layout.pixels_per_metre;
        let width = (touching * 1.12).clamp(2.0, 13.0) * 10.0;
        let round = r#"<g transform="scale(.1)" fill="none" stroke-linecap="round" stroke-width=""#;
        (format!("{round}{width:.0}\">"), "stroke", "h0".to_owned(), 0)
    };
    let mut paths: Vec<String> = Vec::new();
    let mut last_points: Vec<(i64, i64)> = Vec::new();
    for marker in &selection.markers {
        let shade = scale.shade(marker.record);
        if paths.len() <= shade {
            paths.resize(shade + 1, String::new());
            last_points.resize(shade + 1, (0, 0));
        }
        let (Some(path), Some(last)) = (paths.get_mut(shade), last_points.get_mut(shade)) else { continue };
        let (x, y) = layout.to_tenths(extent, marker.x, marker.y);
        let (x, y) = (x - corner, y - corner);
        append_command(path, if path.is_empty() { 'M' } else { 'm' }, (x - last.0, y - last.1));
        path.push_str(&mark);
        *last = (x, y);
    }
    group_paths(&opening, &paths, scale, drawing, |colour| format!(r#"{paint}="{colour}""#))
}

/// Draws lines and polygons.
pub(super) fn draw_outlines(
    drawing: &Drawing<'_>,
    extent: &Extent,
    selection: &Selection,
    scale: &ColourScale<'_>,
    layout: &Layout,
) -> Result<String> {
    let mut tolerance = MIN_TOLERANCE;
    let (fills, strokes) = loop {
        let (fills, strokes, corners) = trace_paths(drawing, extent, selection, scale, layout, tolerance)?;
        if corners <= MAX_CORNERS || tolerance > 100.0 {
            break (fills, strokes);
        }
        tolerance *= 2.0;
    };
    let plain = matches!(drawing.values, Values::None);
    // A thin line of the same colour closes seams between neighbours. Few zones are separated by white lines.
    let few = selection.markers.len() <= 300;
    let mut svg =
        group_paths(r#"<g transform="scale(.1)" stroke-linejoin="round">"#, &fills, scale, drawing, |colour| {
            match (plain, few) {
                (true, _) => format!(r#"fill="{colour}" fill-opacity=".35" stroke="{colour}" stroke-width="12""#),
                (false, true) => format!(r##"fill="{colour}" stroke="#fff" stroke-width="6""##),
                (false, false) => format!(r#"fill="{colour}" stroke="{colour}" stroke-width="3""#),
            }
        });
    let opening =
        r#"<g transform="scale(.1)" fill="none" stroke-linejoin="round" stroke-linecap="round" stroke-width="18">"#;
    svg.push_str(&group_paths(opening, &strokes, scale, drawing, |colour| format!(r#"stroke="{colour}""#)));
    Ok(svg)
}

fn group_paths(
    opening: &str,
    paths: &[String],
    scale: &ColourScale<'_>,
    drawing: &Drawing<'_>,
    paint: impl Fn(&str) -> String,
) -> String {
    let mut svg = String::new();
    for (shade, colour) in scale.colours() {
        let Some(path) = paths.get(shade).filter(|path| !path.is_empty()) else { continue };
        let paint = paint(&colour);
        let _ = match scale.label(shade, drawing.unit) {
            Some(label) => write!(svg, r#"<path {paint} d="{path}"><title>{}</title></path>"#, escape(&label)),
            None => write!(svg, r#"<path {paint} d="{path}"/>"#),
        };
    }
    if svg.is_empty() { svg } else { format!("{opening}{svg}</g>\n") }
}

type Traced = (Vec<String>, Vec<String>, usize);

fn trace_paths(
    drawing: &Drawing<'_>,
    extent: &Extent,
    selection: &Selection,
    scale: &ColourScale<'_>,
    layout: &Layout,
    tolerance: f64,
) -> Result<Traced> {
    let shades = scale.colours().len();
    let (mut fills, mut strokes) = (vec![String::new(); shades], vec![String::new(); shades]);
    let (mut flat, mut corners, mut run, mut kept) = (FlatCoordinates::default(), 0, Vec::new(), Vec::new());
    for marker in &selection.markers {
        let Some(wkb) = drawing.geometries.get(marker.record).copied().flatten() else { continue };
        extent::read_geometry(&mut flat, wkb, marker.record, drawing.transform, extent.first)?;
        let shade = scale.shade(marker.record);
        for (part, xs, ys) in flat.parts() {
            run.clear();
            run.extend(xs.iter().zip(ys).map(|(x, y)| layout.to_tenths(extent, *x, *y)));
            run.dedup();
            simplify(&mut kept, &run, tolerance);
            let paths = if matches!(part, Part::Shell | Part::Hole) { &mut fills } else { &mut strokes };
            let Some(path) = paths.get_mut(shade) else { continue };
            corners += kept.len();
            match part {
                // Outlines of one colour share a path. With opposite directions of shells and holes, overlaps stay
                // filled and holes stay empty.
                Part::Shell => append_ring(path, &mut kept, true),
                Part::Hole => append_ring(path, &mut kept, false),
                Part::Line => append_line(path, &kept),
                Part::Point => {
                    append_line(path, &kept);
                    path.push_str("h0");
                }
            }
        }
    }
    Ok((fills, strokes, corners))
}

/// Douglas-Peucker simplification: drops vertices within `tolerance` of the line between those kept
/// (<https://doi.org/10.3138/FM57-6770-U75U-7727>).
fn simplify(kept: &mut Vec<(i64, i64)>, corners: &[(i64, i64)], tolerance: f64) {
    kept.clear();
    let Some(last) = corners.len().checked_sub(1) else { return };
    kept.extend(corners.first());
    let mut open = vec![(0, last)];
    while let Some((first, last)) = open.pop() {
        let (Some(start), Some(end)) = (corners.get(first), corners.get(last)) else { continue };
        let between = corners.get(first.saturating_add(1)..last).unwrap_or(&[]);
        let distances = between.iter().map(|corner| distance(*corner, *start, *end));
        let farthest =
            distances.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|farthest| farthest.1 > tolerance);
        match farthest {
            // The first half is on top of the stack, so that vertices are emitted in order.
            Some((index, _)) => open.extend([(first + 1 + index, last), (first, first + 1 + index)]),
            None if last > first => kept.push(*end),
            None => {}
        }
    }
}

/// The distance from the line through `start` and `end`, or from `start` if both are equal.
fn distance(corner: (i64, i64), start: (i64, i64), end: (i64, i64)) -> f64 {
    let (along_x, along_y) = (end.0 - start.0, end.1 - start.1);
    let (off_x, off_y) = (corner.0 - start.0, corner.1 - start.1);
    #[expect(clippy::cast_precision_loss, reason = "tenths of a pixel on a page")]
    let float = |number: i64| number as f64;
    let length = float(along_x).hypot(float(along_y));
    if length == 0.0 {
        float(off_x).hypot(float(off_y))
    } else {
        float(off_x * along_y - off_y * along_x).abs() / length
    }
}

fn append_ring(path: &mut String, ring: &mut Vec<(i64, i64)>, clockwise: bool) {
    if ring.len() > 1 && ring.first() == ring.last() {
        ring.pop();
    }
    let next = ring.iter().skip(1).chain(ring.first());
    let doubled: i64 = ring.iter().zip(next).map(|(a, b)| a.0.saturating_mul(b.1) - b.0.saturating_mul(a.1)).sum();
    if (doubled > 0) != clockwise {
        ring.reverse();
    }
    append_line(path, ring);
    path.push('z');
}

fn append_line(path: &mut String, line: &[(i64, i64)]) {
    let mut corners = line.iter();
    let Some(mut previous) = corners.next() else { return };
    append_command(path, 'M', *previous);
    for (index, corner) in corners.enumerate() {
        append_command(path, if index == 0 { 'l' } else { ' ' }, (corner.0 - previous.0, corner.1 - previous.1));
        previous = corner;
    }
}

/// Appends a command and two numbers in the shortest SVG path syntax.
fn append_command(path: &mut String, command: char, (x, y): (i64, i64)) {
    if command != ' ' {
        path.push(command);
    } else if x >= 0 {
        path.push(' ');
    }
    let _ = write!(path, "{x}");
    if y >= 0 {
        path.push(' ');
    }
    let _ = write!(path, "{y}");
}
