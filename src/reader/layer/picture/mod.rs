//! Draws a layer as an SVG map without network, script or font file.
//!
//! North is up. The local equirectangular projection is true to scale along both axes at the centre, and for a field
//! everywhere. Large layers are thinned evenly, and the map states the drawn and total number of records.

mod colour;
mod drawing;
mod extent;
mod layout;
mod symbols;
pub(super) mod text;

use self::colour::ColourScale;
pub(super) use self::colour::MISSING;
use self::extent::{Extent, Shape};
pub use drawing::{Drawing, Values};
use headland_base::error::Result;

/// Options of a picture.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The name of the column on the map; `None` is its own.
    pub label: Option<String>,
    /// The title; `None` is the name of the layer.
    pub title: Option<String>,
    /// The unit of the values; `None` is the unit of the layer, if known.
    pub unit: Option<String>,
    /// The width in pixels; `None` is 760.
    pub width: Option<u32>,
    /// The values of the first and the last colour of numbers; `None` is the 2 % or the 98 % quantile.
    pub limits: (Option<f64>, Option<f64>),
    /// Draws unchanged coordinates, for layers with an unknown CRS.
    pub as_is: bool,
}

/// Draws the map. A malformed geometry or an invalid coordinate is an error with the record.
pub fn draw(drawing: &Drawing<'_>) -> Result<String> {
    let extent = Extent::measure(drawing.geometries, drawing.transform)?;
    let scale = ColourScale::from_values(&drawing.values, drawing.limits);
    let layout = layout::Layout::new(drawing, &extent);
    let selection = extent.select();
    let symbols_svg = match selection.shape {
        Shape::Dots | Shape::Squares { .. } => symbols::draw_dots(drawing, &extent, &selection, &scale, &layout),
        Shape::Outlines => symbols::draw_outlines(drawing, &extent, &selection, &scale, &layout)?,
    };
    Ok(layout::write(drawing, &extent, &selection, &scale, &layout, &symbols_svg))
}

/// The colours of records, as on a map.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordColours {
    /// One colour for each record, such as `#440154`.
    pub colours: Vec<String>,
    /// The values of the first and the last colour of a ramp; `None` for classes.
    pub range: Option<(f64, f64)>,
}

/// The classes of numbers on a map.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberClasses {
    /// Whether a class is one value, instead of all values up to it.
    pub is_exact: bool,
    /// Largest value, colour and label of each class; infinity ends a ramp.
    pub classes: Vec<(f64, String, String)>,
}

/// The classes of numbers.
#[must_use]
pub fn number_classes(numbers: &[Option<f64>], unit: Option<&str>) -> NumberClasses {
    let scale = ColourScale::from_values(&Values::Numbers(numbers), (None, None));
    NumberClasses { is_exact: scale.range().is_none(), classes: scale.classes(unit) }
}

/// The colours of `count` records.
#[must_use]
pub fn record_colours(values: &Values<'_>, count: usize) -> RecordColours {
    let scale = ColourScale::from_values(values, (None, None));
    let colours = scale.colours();
    let colour = |record| colours.get(scale.shade(record)).map(|(_, colour)| colour.clone()).unwrap_or_default();
    RecordColours { colours: (0..count).map(colour).collect(), range: scale.range() }
}

#[cfg(test)]
mod tests;
