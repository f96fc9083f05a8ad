//! What a coordinate system says, once its dialect is out of the way.

use super::projection::{Measure, Method, Parameter};

/// Radians in a degree.
pub(super) const DEGREE: f64 = std::f64::consts::PI / 180.0;
/// Metres in a US survey foot.
pub(super) const SURVEY_FOOT: f64 = 1200.0 / 3937.0;

/// Whether two numbers out of texts are one: the digits of texts say less than their bits.
pub(super) fn nearly_equal(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

/// A coordinate system.
#[derive(Clone, Debug)]
pub(super) enum Definition {
    Geographic(Geographic),
    Projected(Projected),
    /// Well-formed, but no system of the earth's surface that is understood; the sentence says which.
    Other(String),
}

/// Longitudes and latitudes on an ellipsoid.
#[derive(Clone, Debug)]
pub(super) struct Geographic {
    pub(super) name: String,
    pub(super) datum: Datum,
    pub(super) meridian: Meridian,
    pub(super) unit: Unit,
    pub(super) axes: Vec<Direction>,
    pub(super) epsg: Option<u32>,
}

/// Where the ellipsoid lies in the earth.
#[derive(Clone, Debug)]
pub(super) struct Datum {
    /// EPSG's name where it is known, else the text's.
    pub(super) name: String,
    pub(super) ellipsoid: Ellipsoid,
    pub(super) epsg: Option<u32>,
    /// Three translations in metres, three rotations in seconds of arc (position vector), parts per million.
    pub(super) to_wgs84: Option<[f64; 7]>,
}

/// The figure of the earth.
#[derive(Clone, Debug)]
pub(super) struct Ellipsoid {
    pub(super) name: String,
    /// In metres.
    pub(super) semi_major: f64,
    /// Zero for a sphere.
    pub(super) inverse_flattening: f64,
}

/// Where longitudes are counted from.
#[derive(Clone, Debug)]
pub(super) struct Meridian {
    pub(super) name: String,
    pub(super) degrees: f64,
}

/// A unit and its size in metres or radians.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub(super) name: String,
    pub(super) factor: f64,
}

/// The way an axis points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    East,
    North,
    West,
    South,
}

/// A map projection of a geographic system.
#[derive(Clone, Debug)]
pub(super) struct Projected {
    pub(super) name: String,
    pub(super) base: Geographic,
    /// The sentence says why a projection is not understood.
    pub(super) conversion: std::result::Result<Conversion, String>,
    pub(super) unit: Unit,
    pub(super) axes: Vec<Direction>,
    pub(super) epsg: Option<u32>,
}

/// A projection with its parameters, in the order of `method.parameters`.
#[derive(Clone, Debug)]
pub(super) struct Conversion {
    pub(super) name: String,
    pub(super) method: &'static Method,
    pub(super) values: Vec<Value>,
}

/// A parameter's value: degrees, or a number in a unit of length, or a ratio.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) number: f64,
    /// For lengths.
    pub(super) unit: Option<Unit>,
}

impl Unit {
    pub(super) fn is_degree(&self) -> bool {
        (self.factor / DEGREE - 1.0).abs() < 1e-9
    }

    /// Texts cut the size of a degree after ten digits or after fifteen; a degree is a degree.
    pub(super) fn to_degrees(&self, value: f64) -> f64 {
        if self.is_degree() { value } else { value * self.factor / DEGREE }
    }
}

impl Ellipsoid {
    /// The ellipsoids of WGS 84 and GRS 1980, which differ by a tenth of a millimetre.
    pub(super) fn is_modern(&self) -> bool {
        (self.semi_major - 6_378_137.0).abs() < 1e-3 && (self.inverse_flattening - 298.257_222).abs() < 1e-5
    }
}

impl Conversion {
    /// Each parameter with its value.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&'static Parameter, &Value)> {
        self.method.parameters.iter().copied().zip(&self.values)
    }
}

impl Value {
    /// The number in degrees, metres or as the ratio it is.
    pub(super) fn to_base_unit(&self) -> f64 {
        self.number * self.unit.as_ref().map_or(1.0, |unit| unit.factor)
    }
}

/// A value as a parameter of this measure takes it.
pub(super) fn make_value(measure: Measure, number: f64, angle: &Unit, length: &Unit) -> Value {
    match measure {
        Measure::Angle => Value { number: angle.to_degrees(number), unit: None },
        Measure::Length => Value { number, unit: Some(length.clone()) },
        Measure::Scale => Value { number, unit: None },
    }
}
