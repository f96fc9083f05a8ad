//! A layer as a small map in SVG that needs no network, no script and no font file.
//!
//! North is up. Distances are true along both axes at the middle of the map (a local equirectangular map), which for a
//! field is true everywhere. Records beyond what a small map can show are thinned evenly over the ground, and the map
//! says so.

mod colour;
mod frame;
mod ground;
mod marks;
mod text;

use self::colour::Scale;
use self::ground::{Ground, Shape};
use super::crs::Transform;
use crate::error::Result;

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

/// The values that give the colours, one for each geometry.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Every record has the same colour.
    None,
    /// Numbers; numbers that are not finite count as missing.
    Numbers(&'a [Option<f64>]),
    /// Names, such as those of products.
    Categories(&'a [Option<&'a str>]),
}

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Drawing<'a> {
    /// ISO WKB, None for null.
    pub geometries: &'a [Option<&'a [u8]>],
    /// How many geometries there are, where those above are a sample of them.
    pub sample_of: Option<usize>,
    /// The values of the column shown, in the order of the geometries.
    pub values: Values<'a>,
    /// The transform to WGS 84; None draws coordinates as they are.
    pub transform: Option<&'a Transform>,
    /// The title, which is the field's or the layer's name.
    pub title: &'a str,
    /// The name of the column shown.
    pub column: Option<&'a str>,
    /// The unit of its values; the map says so where it is unknown.
    pub unit: Option<&'a str>,
    /// The width in pixels; None is 760.
    pub width: Option<u32>,
}

/// Draws the map. Geometry that is not well-formed, or has no place on the earth, is an error that names the record.
pub fn draw(drawing: &Drawing<'_>) -> Result<String> {
    let ground = Ground::survey(drawing.geometries, drawing.transform)?;
    let scale = Scale::of(&drawing.values);
    let layout = frame::Layout::new(drawing, &ground);
    let selection = ground.select();
    let marks = match selection.shape {
        Shape::Dots | Shape::Squares { .. } => marks::dots(&ground, &selection, &scale, &layout),
        Shape::Outlines => marks::outlines(drawing, &ground, &selection, &scale, &layout)?,
    };
    Ok(frame::write(drawing, &ground, &selection, &scale, &layout, &marks))
}

#[cfg(test)]
mod tests;
