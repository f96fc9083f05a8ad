//! What is drawn: geometries, the values that give their colours, and the words around them.

use crate::layer::crs::Transform;

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
