//! Records as dots or outlines: one path for each colour, in whole tenths of a pixel.

use std::fmt::Write as _;

use super::colour::Scale;
use super::drawing::{Drawing, Values};
use super::extent::{self, Ground, Selection, Shape};
use super::layout::Layout;
use crate::error::Result;
use crate::layer::wkb::{Flat, Part};

/// Bends of less than this many tenths of a pixel say nothing to the eye.
const NEAR: f64 = 2.0;
/// With more corners than this the file grows beyond what a page should carry, and they are thinned further.
const MAX_CORNERS: usize = 50_000;

/// Round dots that just touch their neighbours, or squares side by side.
pub(super) fn dots(ground: &Ground, selection: &Selection, scale: &Scale<'_>, layout: &Layout) -> String {
    let (opening, paint, mark, corner) = if let Shape::Squares { cell } = selection.shape {
        // A little more than the cell, so that no seam shows.
        #[expect(clippy::cast_possible_truncation, reason = "tenths of a pixel on a page")]
        let side = (cell * layout.pixels_per_metre * 10.0).clamp(1.0, 1e5) as i64 + 4;
        (r#"<g transform="scale(.1)">"#.to_owned(), "fill", format!("h{side}v{side}h-{side}z"), side / 2)
    } else {
        let touching = ground.spacing(&selection.spots) * layout.pixels_per_metre;
        let width = (touching * 1.12).clamp(2.0, 13.0) * 10.0;
        let round = r#"<g transform="scale(.1)" fill="none" stroke-linecap="round" stroke-width=""#;
        (format!("{round}{width:.0}\">"), "stroke", "h0".to_owned(), 0)
    };
    let mut paths: Vec<String> = Vec::new();
    let mut places: Vec<(i64, i64)> = Vec::new();
    for spot in &selection.spots {
        let shade = scale.shade(spot.record);
        if paths.len() <= shade {
            paths.resize(shade + 1, String::new());
            places.resize(shade + 1, (0, 0));
        }
        let (Some(path), Some(place)) = (paths.get_mut(shade), places.get_mut(shade)) else { continue };
        let (x, y) = layout.tenths(ground, spot.x, spot.y);
        let (x, y) = (x - corner, y - corner);
        step(path, if path.is_empty() { 'M' } else { 'm' }, (x - place.0, y - place.1));
        path.push_str(&mark);
        *place = (x, y);
    }
    group(&opening, &paths, scale, |colour| format!(r#"{paint}="{colour}""#))
}

/// Lines and polygons with their corners.
pub(super) fn outlines(
    drawing: &Drawing<'_>,
    ground: &Ground,
    selection: &Selection,
    scale: &Scale<'_>,
    layout: &Layout,
) -> Result<String> {
    let mut near = NEAR;
    let (fills, strokes) = loop {
        let (fills, strokes, corners) = trace(drawing, ground, selection, scale, layout, near)?;
        if corners <= MAX_CORNERS || near > 100.0 {
            break (fills, strokes);
        }
        near *= 2.0;
    };
    let plain = matches!(drawing.values, Values::None);
    // A hair of the same colour closes the seams between neighbours; a few large zones are told apart by white lines.
    let few = selection.spots.len() <= 300;
    let mut svg =
        group(r#"<g transform="scale(.1)" stroke-linejoin="round">"#, &fills, scale, |colour| match (plain, few) {
            (true, _) => format!(r#"fill="{colour}" fill-opacity=".35" stroke="{colour}" stroke-width="12""#),
            (false, true) => format!(r##"fill="{colour}" stroke="#fff" stroke-width="6""##),
            (false, false) => format!(r#"fill="{colour}" stroke="{colour}" stroke-width="3""#),
        });
    let opening =
        r#"<g transform="scale(.1)" fill="none" stroke-linejoin="round" stroke-linecap="round" stroke-width="18">"#;
    svg.push_str(&group(opening, &strokes, scale, |colour| format!(r#"stroke="{colour}""#)));
    Ok(svg)
}

fn group(opening: &str, paths: &[String], scale: &Scale<'_>, paint: impl Fn(&str) -> String) -> String {
    let mut svg = String::new();
    for (shade, colour) in scale.colours() {
        if let Some(path) = paths.get(shade).filter(|path| !path.is_empty()) {
            let _ = write!(svg, r#"<path {} d="{path}"/>"#, paint(&colour));
        }
    }
    if svg.is_empty() { svg } else { format!("{opening}{svg}</g>\n") }
}

type Traced = (Vec<String>, Vec<String>, usize);

fn trace(
    drawing: &Drawing<'_>,
    ground: &Ground,
    selection: &Selection,
    scale: &Scale<'_>,
    layout: &Layout,
    near: f64,
) -> Result<Traced> {
    let shades = scale.colours().len();
    let (mut fills, mut strokes) = (vec![String::new(); shades], vec![String::new(); shades]);
    let (mut flat, mut corners, mut run, mut kept) = (Flat::default(), 0, Vec::new(), Vec::new());
    for spot in &selection.spots {
        let Some(wkb) = drawing.geometries.get(spot.record).copied().flatten() else { continue };
        extent::read(&mut flat, wkb, spot.record, drawing.transform)?;
        let shade = scale.shade(spot.record);
        for (part, xs, ys) in flat.parts() {
            run.clear();
            run.extend(xs.iter().zip(ys).map(|(x, y)| layout.tenths(ground, *x, *y)));
            run.dedup();
            thin(&mut kept, &run, near);
            let paths = if matches!(part, Part::Shell | Part::Hole) { &mut fills } else { &mut strokes };
            let Some(path) = paths.get_mut(shade) else { continue };
            corners += kept.len();
            match part {
                // Outlines of one colour share a path: with shells one way round and holes the other, overlaps stay
                // filled and holes stay empty.
                Part::Shell => close(path, &mut kept, true),
                Part::Hole => close(path, &mut kept, false),
                Part::Line => follow(path, &kept),
                Part::Point => {
                    follow(path, &kept);
                    path.push_str("h0");
                }
            }
        }
    }
    Ok((fills, strokes, corners))
}

/// Leaves out corners that lie within `near` of the line between those that stay (Douglas and Peucker's rule).
fn thin(kept: &mut Vec<(i64, i64)>, corners: &[(i64, i64)], near: f64) {
    kept.clear();
    let Some(last) = corners.len().checked_sub(1) else { return };
    kept.extend(corners.first());
    let mut open = vec![(0, last)];
    while let Some((from, to)) = open.pop() {
        let (Some(start), Some(end)) = (corners.get(from), corners.get(to)) else { continue };
        let between = corners.get(from.saturating_add(1)..to).unwrap_or(&[]);
        let distances = between.iter().map(|corner| distance(*corner, *start, *end));
        let farthest = distances.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|farthest| farthest.1 > near);
        match farthest {
            // The part nearer to the start is looked at first, so that corners come out in order.
            Some((at, _)) => open.extend([(from + 1 + at, to), (from, from + 1 + at)]),
            None if to > from => kept.push(*end),
            None => {}
        }
    }
}

/// The distance of a corner from the line through `start` and `end`, or from `start` where the two are one.
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

fn close(path: &mut String, ring: &mut Vec<(i64, i64)>, clockwise: bool) {
    if ring.len() > 1 && ring.first() == ring.last() {
        ring.pop();
    }
    let next = ring.iter().skip(1).chain(ring.first());
    let doubled: i64 = ring.iter().zip(next).map(|(a, b)| a.0.saturating_mul(b.1) - b.0.saturating_mul(a.1)).sum();
    if (doubled > 0) != clockwise {
        ring.reverse();
    }
    follow(path, ring);
    path.push('z');
}

fn follow(path: &mut String, line: &[(i64, i64)]) {
    let mut corners = line.iter();
    let Some(mut before) = corners.next() else { return };
    step(path, 'M', *before);
    for (place, corner) in corners.enumerate() {
        step(path, if place == 0 { 'l' } else { ' ' }, (corner.0 - before.0, corner.1 - before.1));
        before = corner;
    }
}

/// A command with a pair of numbers, as short as the grammar of paths allows.
fn step(path: &mut String, command: char, (x, y): (i64, i64)) {
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
