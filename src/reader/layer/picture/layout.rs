//! Lays out a map: title, legend, scale bar, north arrow and record counts.

use std::fmt::Write as _;

use super::colour::{ColourScale, MISSING, SHADES, ramp_colour};
use super::drawing::{Drawing, Values};
use super::extent::{Extent, Selection, Shape};
use super::text::{
    escape, fit, format_count, format_number, format_steps, format_value, round_below, two_lines, width_in_ems,
};

const MARGIN: f64 = 20.0;
const HEADER: f64 = 66.0;
const FOOTER: f64 = 50.0;
const LEGEND: f64 = 168.0;
/// Between the panel and the legend.
const GAP: f64 = 18.0;
/// The width of texts in the legend, which may use most of the margin.
const LEGEND_TEXT: f64 = LEGEND - GAP + MARGIN - 4.0;
/// Between the edge of the panel and the records.
const PADDING: f64 = 16.0;
/// The width of bold letters, as part of that of others.
const BOLD: f64 = 1.1;
const INK: &str = "#1f2421";
const PALE: &str = "#666b67";
const FONTS: &str = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";

/// Sizes in pixels, and the scale of the map.
#[derive(Debug)]
pub(super) struct Layout {
    width: f64,
    height: f64,
    panel_width: f64,
    panel_height: f64,
    pub(super) pixels_per_metre: f64,
    left: f64,
    top: f64,
    is_as_is: bool,
}

impl Layout {
    pub(super) fn new(drawing: &Drawing<'_>, extent: &Extent) -> Self {
        let width = f64::from(drawing.width.unwrap_or(760).clamp(400, 4000));
        let panel_width = width - 2.0 * MARGIN - LEGEND;
        let (across, along) = extent.size();
        let available = panel_width - 2.0 * PADDING;
        let wanted = if across > 0.0 { along / across * available } else { available };
        let panel_height = wanted.clamp(230.0, (available * 1.15).max(230.0)) + 2.0 * PADDING;
        let fits = (available / across).min((panel_height - 2.0 * PADDING) / along);
        // A single point has no extent, so any scale works.
        let pixels_per_metre = if fits.is_finite() { fits } else { 1.0 };
        Self {
            width,
            height: HEADER + panel_height + FOOTER,
            panel_width,
            panel_height,
            pixels_per_metre,
            left: (panel_width - across * pixels_per_metre) / 2.0,
            top: (panel_height - along * pixels_per_metre) / 2.0,
            is_as_is: drawing.transform.is_none(),
        }
    }

    /// Converts a coordinate to tenths of a pixel in the panel.
    pub(super) fn to_tenths(&self, extent: &Extent, x: f64, y: f64) -> (i64, i64) {
        let right = self.left + (x - extent.west) * extent.metres.0 * self.pixels_per_metre;
        let down = self.top + (extent.north - y) * extent.metres.1 * self.pixels_per_metre;
        // Vertices of records at the edge may be far outside; the panel clips them.
        #[expect(clippy::cast_possible_truncation, reason = "clamped to a few pages")]
        let tenth = |pixels: f64| (pixels * 10.0).round().clamp(-1e6, 1e6) as i64;
        (tenth(right), tenth(down))
    }
}

/// Writes the whole map.
pub(super) fn write(
    drawing: &Drawing<'_>,
    extent: &Extent,
    selection: &Selection,
    scale: &ColourScale<'_>,
    layout: &Layout,
    symbols: &str,
) -> String {
    let Layout { width, height, panel_width, panel_height, .. } = *layout;
    let (title, shown) = (escape(drawing.title), escape(&describe_colours(drawing, f64::INFINITY)));
    let drawn = describe_counts(drawing, extent, selection);
    let up = if layout.is_as_is { "" } else { ", north is up" };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         role=\"img\" aria-label=\"{title}: {shown}\" font-family=\"{FONTS}\" style=\"max-width:100%\">\n\
         <title>{title}: {shown}</title>\n<desc>Map{up}. It {drawn}.</desc>\n\
         <rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"#fff\"/>\n"
    );
    let available = width - 2.0 * MARGIN;
    let heading = fit(drawing.title, 20.0 * BOLD, available);
    write_text(&mut svg, (MARGIN, 34.0), r#"font-size="20" font-weight="600""#, INK, &escape(&heading));
    write_text(&mut svg, (MARGIN, 54.0), r#"font-size="13""#, PALE, &escape(&describe_colours(drawing, available)));
    let _ = writeln!(
        svg,
        "<svg x=\"{MARGIN}\" y=\"{HEADER}\" width=\"{panel_width:.0}\" height=\"{panel_height:.0}\" overflow=\"hidden\">\
         <rect width=\"{panel_width:.0}\" height=\"{panel_height:.0}\" rx=\"6\" fill=\"#f3f3ef\"/>\n{symbols}</svg>"
    );
    draw_legend(&mut svg, drawing, scale, layout);
    let line = HEADER + panel_height + 28.0;
    if layout.is_as_is {
        write_text(&mut svg, (MARGIN, line), r#"font-size="12""#, PALE, "coordinates as they are");
    } else {
        let end = draw_scale_bar(&mut svg, line, layout);
        draw_north_arrow(&mut svg, end + 20.0, line - 11.0);
    }
    // On a narrow map, the counts extend below the legend.
    let edge = (if panel_width > 480.0 { MARGIN + panel_width } else { width - MARGIN }, line);
    write_text(&mut svg, edge, r#"font-size="12" text-anchor="end""#, PALE, &drawn);
    svg.push_str("</svg>\n");
    svg
}

/// The caption of the colours, in at most this width. An empty unit is that of an identifier, which has none.
fn describe_colours(drawing: &Drawing<'_>, width: f64) -> String {
    let Some(column) = drawing.column.filter(|_| !matches!(drawing.values, Values::None)) else {
        return "locations of its records".to_owned();
    };
    let unit = match (drawing.values, drawing.unit) {
        (Values::Numbers(_), None) => ", unit unknown".to_owned(),
        (Values::Numbers(_), Some(unit)) if !unit.is_empty() => format!(" in {}", fit(unit, 13.0, width / 2.0)),
        _ => String::new(),
    };
    fit(column, 13.0, width - 13.0 * width_in_ems(&unit)) + &unit
}

fn describe_counts(drawing: &Drawing<'_>, extent: &Extent, selection: &Selection) -> String {
    let Extent { kind, total, outside, .. } = *extent;
    let available = drawing.sample_of.unwrap_or(total);
    let mut drawn = format!("draws {} of {} {kind}", format_count(selection.markers.len()), format_count(available));
    if available > total {
        let _ = write!(drawn, ", from a sample of {}", format_count(total));
    }
    if matches!(selection.shape, Shape::Squares { .. }) {
        drawn.push_str(" as squares");
    }
    if outside > 0 {
        let _ = write!(drawn, "; {} far outside", format_count(outside));
    }
    drawn
}

fn write_text(svg: &mut String, (x, y): (f64, f64), style: &str, colour: &str, escaped: &str) {
    let _ = writeln!(svg, r#"<text x="{x:.1}" y="{y:.1}" {style} fill="{colour}">{escaped}</text>"#);
}

/// Writes a text within a width; a viewer shows the whole of a shortened one where the pointer is.
fn write_fitted(svg: &mut String, at: (f64, f64), style: &str, colour: &str, text: &str, (size, width): (f64, f64)) {
    let fitted = fit(text, size, width);
    let mut escaped = escape(&fitted);
    if fitted != text {
        let _ = write!(escaped, "<title>{}</title>", escape(text));
    }
    write_text(svg, at, style, colour, &escaped);
}

fn draw_north_arrow(svg: &mut String, x: f64, y: f64) {
    let (left, right, low, dent) = (x - 4.0, x + 4.0, y + 11.0, y + 8.5);
    let _ = writeln!(
        svg,
        r#"<path d="M{x:.1} {y:.1}L{right:.1} {low:.1}L{x:.1} {dent:.1}L{left:.1} {low:.1}z" fill="{PALE}"/>"#
    );
    write_text(svg, (x + 8.0, y + 11.0), r#"font-size="12""#, PALE, "N");
}

/// Draws a bar of a round length up to a third of the panel, and its length. Returns the x of the end of the text.
fn draw_scale_bar(svg: &mut String, line: f64, layout: &Layout) -> f64 {
    let metres = round_below(layout.panel_width / 3.0 / layout.pixels_per_metre);
    let end = MARGIN + metres * layout.pixels_per_metre;
    let label = if metres >= 1000.0 {
        format!("{} km", format_value(metres / 1000.0))
    } else {
        format!("{} m", format_value(metres))
    };
    let (y, up) = (line, line - 6.0);
    let _ = writeln!(
        svg,
        r#"<path d="M{MARGIN} {up:.1}V{y:.1}H{end:.1}V{up:.1}" fill="none" stroke="{INK}" stroke-width="1.5"/>"#
    );
    write_text(svg, (end + 7.0, line), r#"font-size="12""#, INK, &label);
    #[expect(clippy::cast_precision_loss, reason = "a few characters")]
    let width = label.len() as f64 * 7.0;
    end + 7.0 + width
}

fn draw_legend(svg: &mut String, drawing: &Drawing<'_>, scale: &ColourScale<'_>, layout: &Layout) {
    let x = MARGIN + layout.panel_width + GAP;
    let mut y = HEADER + 12.0;
    if let Some(column) = drawing.column.filter(|_| !matches!(scale, ColourScale::Plain)) {
        let (first, rest) = two_lines(column, 13.0 * BOLD, LEGEND_TEXT);
        for line in [first, rest].into_iter().filter(|line| !line.is_empty()) {
            write_fitted(svg, (x, y), r#"font-size="13" font-weight="600""#, INK, line, (13.0 * BOLD, LEGEND_TEXT));
            y += 17.0;
        }
        let unit = drawing.unit.unwrap_or("unit unknown");
        if !unit.is_empty() && !matches!(scale, ColourScale::Names { .. }) {
            write_fitted(svg, (x, y), r#"font-size="12""#, PALE, unit, (12.0, LEGEND_TEXT));
            y += 17.0;
        }
    }
    match scale {
        ColourScale::Plain => {}
        ColourScale::Ramp { low, high, least, most, is_limited, .. } => {
            y = draw_ramp(svg, (x, y), layout, [*low, *high]);
            if *is_limited || least < low || most > high {
                let colours = format!("colours: {} to {}", format_value(*low), format_value(*high));
                let quantiles = if *is_limited { "" } else { "(2nd to 98th percentile)" };
                let all = format!("all values: {} to {}", format_value(*least), format_value(*most));
                for text in [colours.as_str(), quantiles, &all].into_iter().filter(|text| !text.is_empty()) {
                    write_text(svg, (x, y), r#"font-size="11""#, PALE, text);
                    y += 14.0;
                }
                y -= 2.0;
            }
        }
        ColourScale::Steps { steps, .. } => {
            for (step, text) in format_steps(steps).iter().enumerate().rev() {
                draw_swatch(svg, x, &mut y, &ramp_colour(step, steps.len()), text);
            }
        }
        ColourScale::Names { names, others, .. } => {
            for ((_, colour), name) in scale.colours().iter().zip(names) {
                draw_swatch(svg, x, &mut y, colour, name);
            }
            if let (true, Some((_, colour))) = (*others > 0, scale.colours().get(names.len())) {
                draw_swatch(svg, x, &mut y, colour, &format!("{} others", format_count(*others)));
            }
        }
    }
    if scale.missing() > 0 {
        draw_swatch(svg, x, &mut y, MISSING, &format!("no value ({})", format_count(scale.missing())));
    }
}

fn draw_swatch(svg: &mut String, x: f64, y: &mut f64, colour: &str, text: &str) {
    let _ = writeln!(svg, r#"<rect x="{x:.1}" y="{y:.1}" width="14" height="14" rx="3" fill="{colour}"/>"#);
    write_fitted(svg, (x + 22.0, *y + 11.5), r#"font-size="12""#, INK, text, (12.0, LEGEND_TEXT - 22.0));
    *y += 20.0;
}

/// Draws the ramp with its numbers. Returns the y of the next entry.
fn draw_ramp(svg: &mut String, (x, y): (f64, f64), layout: &Layout, [low, high]: [f64; 2]) -> f64 {
    // Below the ramp is space for three lines of text and a swatch.
    let length = (HEADER + layout.panel_height - 82.0 - y).clamp(96.0, 220.0);
    #[expect(clippy::cast_precision_loss, reason = "a few shades")]
    let part = length / SHADES as f64;
    for shade in 0..SHADES {
        #[expect(clippy::cast_precision_loss, reason = "a few shades")]
        let top = y + length - part * (shade + 1) as f64;
        // Shades overlap, so that no seam is visible.
        let over = if shade == 0 { part } else { part + 0.6 };
        let colour = ramp_colour(shade, SHADES);
        let _ = writeln!(svg, r#"<rect x="{x:.1}" y="{top:.2}" width="16" height="{over:.2}" fill="{colour}"/>"#);
    }
    let step = round_below((high - low) / 3.2);
    let mut tick = (low / step).ceil() * step;
    for _ in 0..12 {
        if tick.is_nan() || tick > high + step * 1e-6 {
            break;
        }
        let tick_y = y + length * (1.0 - (tick - low) / (high - low));
        let _ = writeln!(svg, r#"<path d="M{:.1} {tick_y:.1}h4" stroke="{PALE}"/>"#, x + 16.0);
        write_text(svg, (x + 25.0, tick_y + 4.0), r#"font-size="12""#, INK, &format_number(tick, step));
        tick += step;
    }
    y + length + 20.0
}
