//! Records as dots or outlines: one path for each colour, in whole tenths of a pixel.

use std::fmt::Write as _;

use super::colour::Scale;
use super::frame::Layout;
use super::ground::{self, Ground, Selection};
use super::{Drawing, Values};
use crate::error::Result;
use crate::layer::walk::{Flat, Part};

/// Corners closer together than this many tenths of a pixel say nothing to the eye.
const NEAR: i64 = 4;
/// With more corners than this the file grows beyond what a page should carry, and they are thinned further.
const MAX_CORNERS: usize = 50_000;

/// Round dots that just touch their neighbours.
pub(super) fn dots(ground: &Ground, selection: &Selection, scale: &Scale<'_>, layout: &Layout) -> String {
    let touching = ground.spacing(&selection.spots) * layout.pixels_per_metre;
    // Machines lay points in passes, but polygons in tiles, which leave wider gaps when some are left out.
    let overlap = if ground.kind == "points" { 1.12 } else { 1.4 };
    let diameter = (touching * overlap).clamp(2.0, 13.0);
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
        step(path, if path.is_empty() { 'M' } else { 'm' }, (x - place.0, y - place.1));
        path.push_str("h0");
        *place = (x, y);
    }
    let opening = format!(
        r#"<g transform="scale(.1)" fill="none" stroke-linecap="round" stroke-width="{:.0}">"#,
        diameter * 10.0
    );
    group(&opening, &paths, scale, |colour| format!(r#"stroke="{colour}""#))
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
        if corners <= MAX_CORNERS || near > 100 {
            break (fills, strokes);
        }
        near = near.saturating_mul(2);
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
    near: i64,
) -> Result<Traced> {
    let shades = scale.colours().len();
    let (mut fills, mut strokes) = (vec![String::new(); shades], vec![String::new(); shades]);
    let (mut flat, mut corners, mut kept) = (Flat::default(), 0, Vec::new());
    for spot in &selection.spots {
        let Some(wkb) = drawing.geometries.get(spot.record).copied().flatten() else { continue };
        ground::read(&mut flat, wkb, spot.record, drawing.transform)?;
        let shade = scale.shade(spot.record);
        for (part, xs, ys) in flat.parts() {
            thin(&mut kept, xs.iter().zip(ys).map(|(x, y)| layout.tenths(ground, *x, *y)), near);
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

fn thin(kept: &mut Vec<(i64, i64)>, corners: impl Iterator<Item = (i64, i64)>, near: i64) {
    kept.clear();
    let mut left_out = None;
    for (x, y) in corners {
        let is_near = |last: &(i64, i64)| (x - last.0).abs() < near && (y - last.1).abs() < near;
        if kept.last().is_some_and(is_near) {
            left_out = Some((x, y));
        } else {
            kept.push((x, y));
            left_out = None;
        }
    }
    // The end of a line stays where it is.
    kept.extend(left_out.filter(|_| kept.len() < 3));
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
