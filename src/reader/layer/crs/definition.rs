//! Coordinate system definitions, independent of the WKT dialect.

use super::projection::{Measure, Method, Parameter};

/// A degree in radians.
pub(super) const DEGREE: f64 = std::f64::consts::PI / 180.0;
/// A US survey foot in metres.
pub(super) const SURVEY_FOOT: f64 = 1200.0 / 3937.0;

/// Compares numbers with a tolerance, since texts have fewer digits than floats.
pub(super) fn nearly_equal(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[derive(Clone, Debug)]
pub(super) enum Definition {
    Geographic(Geographic),
    Projected(Projected),
    /// Another kind of system; the text names it.
    Other(String),
}

/// A geographic system: longitude and latitude on an ellipsoid.
#[derive(Clone, Debug)]
pub(super) struct Geographic {
    pub(super) name: String,
    pub(super) datum: Datum,
    pub(super) meridian: Meridian,
    pub(super) unit: Unit,
    pub(super) axes: Vec<Direction>,
    pub(super) epsg: Option<u32>,
}

/// A geodetic datum.
#[derive(Clone, Debug)]
pub(super) struct Datum {
    /// EPSG's name if known, else the name in the text.
    pub(super) name: String,
    pub(super) ellipsoid: Ellipsoid,
    /// Translations in metres, rotations in arc seconds (position vector convention), and scale difference in parts per
    /// million.
    pub(super) to_wgs84: Option<[f64; 7]>,
}

#[derive(Clone, Debug)]
pub(super) struct Ellipsoid {
    pub(super) name: String,
    /// In metres.
    pub(super) semi_major: f64,
    /// Zero for a sphere.
    pub(super) inverse_flattening: f64,
}

/// A prime meridian.
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

/// Direction of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    East,
    North,
    West,
    South,
}

/// A projected system.
#[derive(Clone, Debug)]
pub(super) struct Projected {
    pub(super) name: String,
    pub(super) base: Geographic,
    /// The projection, or the reason why it is not supported.
    pub(super) conversion: std::result::Result<Conversion, String>,
    /// The name of the projection in the text.
    pub(super) method: String,
    pub(super) unit: Unit,
    pub(super) axes: Vec<Direction>,
    pub(super) epsg: Option<u32>,
}

/// A projection with its values, in the order of `method.parameters`.
#[derive(Clone, Debug)]
pub(super) struct Conversion {
    pub(super) name: String,
    pub(super) method: &'static Method,
    pub(super) values: Vec<Value>,
}

/// A parameter value: degrees, a length in its unit, or a ratio.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) number: f64,
    /// The unit of a length.
    pub(super) unit: Option<Unit>,
}

impl Unit {
    pub(super) fn is_degree(&self) -> bool {
        (self.factor / DEGREE - 1.0).abs() < 1e-9
    }

    /// Converts an angle to degrees. Texts truncate the size of a degree, so degrees are not scaled.
    pub(super) fn to_degrees(&self, value: f64) -> f64 {
        if self.is_degree() { value } else { value * self.factor / DEGREE }
    }
}

impl Ellipsoid {
    /// Whether the ellipsoid is WGS 84 or GRS 1980, which differ by 0.1 mm.
    pub(super) fn is_modern(&self) -> bool {
        (self.semi_major - 6_378_137.0).abs() < 1e-3 && (self.inverse_flattening - 298.257_222).abs() < 1e-5
    }
}

impl Conversion {
    /// The parameters with their values.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&'static Parameter, &Value)> {
        self.method.parameters.iter().copied().zip(&self.values)
    }
}

impl Value {
    /// The value in degrees, in metres or as a ratio.
    pub(super) fn to_base_unit(&self) -> f64 {
        self.number * self.unit.as_ref().map_or(1.0, |unit| unit.factor)
    }
}

/// Makes the value of a parameter with this measure.
pub(super) fn make_value(measure: Measure, number: f64, angle: &Unit, length: &Unit) -> Value {
    match measure {
        Measure::Angle => Value { number: angle.to_degrees(number), unit: None },
        Measure::Length => Value { number, unit: Some(length.clone()) },
        Measure::Scale => Value { number, unit: None },
    }
}
