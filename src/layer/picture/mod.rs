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

use self::colour::Scale;
use self::extent::{Ground, Shape};
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
    let ground = Ground::survey(drawing.geometries, drawing.transform)?;
    let scale = Scale::of(&drawing.values);
    let layout = layout::Layout::new(drawing, &ground);
    let selection = ground.select();
    let marks = match selection.shape {
        Shape::Dots | Shape::Squares { .. } => symbols::dots(&ground, &selection, &scale, &layout),
        Shape::Outlines => symbols::outlines(drawing, &ground, &selection, &scale, &layout)?,
    };
    Ok(layout::write(drawing, &ground, &selection, &scale, &layout, &marks))
}

#[cfg(test)]
mod tests;
