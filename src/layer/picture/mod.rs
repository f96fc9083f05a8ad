//! A layer as a small map in SVG that needs no network, no script and no font file.
//!
//! North is up. Distances are true along both axes at the middle of the map (a local equirectangular map), which for a
//! field is true everywhere. Records beyond what a small map can show are thinned evenly over the ground, and the map
//! says so.

mod colour;
mod drawing;
mod extent;
mod layout;
mod symbols;
mod text;

use self::colour::ColourScale;
use self::extent::{Extent, Shape};
use crate::error::Result;
pub use drawing::{Drawing, Values};

/// How a picture is drawn.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The column whose values are shown; None chooses one.
    pub column: Option<String>,
    /// The title; None takes the layer's name.
    pub title: Option<String>,
    /// The unit of the values; None takes the layer's, if it is known.
    pub unit: Option<String>,
    /// The width in pixels; None is 760.
    pub width: Option<u32>,
    /// Draws coordinates as they are, for layers whose coordinate system is not known.
    pub as_is: bool,
}

/// Draws the map. Geometry that is not well-formed, or has no place on the earth, is an error that names the record.
pub fn draw(drawing: &Drawing<'_>) -> Result<String> {
    let extent = Extent::measure(drawing.geometries, drawing.transform)?;
    let scale = ColourScale::from_values(&drawing.values);
    let layout = layout::Layout::new(drawing, &extent);
    let selection = extent.select();
    let symbols_svg = match selection.shape {
        Shape::Dots | Shape::Squares { .. } => symbols::draw_dots(&extent, &selection, &scale, &layout),
        Shape::Outlines => symbols::draw_outlines(drawing, &extent, &selection, &scale, &layout)?,
    };
    Ok(layout::write(drawing, &extent, &selection, &scale, &layout, &symbols_svg))
}

#[cfg(test)]
mod tests;
