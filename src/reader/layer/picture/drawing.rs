//! Input of a map: geometries, values for the colours, and labels.

use crate::layer::crs::Transform;

/// Values for the colours, one per geometry.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// All records have the same colour.
    None,
    /// Numbers; values that are not finite are missing.
    Numbers(&'a [Option<f64>]),
    /// Names, such as products.
    Categories(&'a [Option<&'a str>]),
}

/// Input of a map.
#[derive(Clone, Copy, Debug)]
pub struct Drawing<'a> {
    /// ISO WKB; `None` for null.
    pub geometries: &'a [Option<&'a [u8]>],
    /// The total number of geometries, if the above are a sample.
    pub sample_of: Option<usize>,
    /// The values of the shown column, in the order of the geometries.
    pub values: Values<'a>,
    /// The transform to WGS 84; `None` draws unchanged coordinates.
    pub transform: Option<&'a Transform>,
    /// The title: name of the field or layer.
    pub title: &'a str,
    /// The name of the shown column.
    pub column: Option<&'a str>,
    /// The unit of its values. An unknown unit is labelled as such; identifiers have an empty one.
    pub unit: Option<&'a str>,
    /// The width in pixels; `None` is 760.
    pub width: Option<u32>,
    /// The values of the first and the last colour of numbers, where given.
    pub limits: (Option<f64>, Option<f64>),
}
