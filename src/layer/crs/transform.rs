//! Coordinates of a file into longitudes and latitudes on WGS 84, by proj4rs.

use std::fmt::Write as _;

use proj4rs::Proj;
use proj4rs::adaptors::transform_xy;

use super::datum::{self, Known, Way};
use super::definition::{Datum, Definition, Direction, Ellipsoid, Geographic, Projected};
use super::projection::WEB_MERCATOR;
use crate::error::{Error, Kind, Result};

/// How coordinates of one system become longitude and latitude in degrees on WGS 84.
#[derive(Clone)]
pub struct Transform {
    steps: Option<Box<Steps>>,
}

#[derive(Clone)]
struct Steps {
    source: Proj,
    target: Proj,
    /// Radians in a unit of a geographic source; 1 for a projected one.
    factor: f64,
    name: String,
}

impl std::fmt::Debug for Transform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.steps.as_ref().map_or("identity", |steps| &steps.name);
        f.debug_tuple("Transform").field(&name).finish()
    }
}

impl Transform {
    /// The transform that leaves every coordinate as it is.
    #[must_use]
    pub const fn identity() -> Self {
        Self { steps: None }
    }

    /// Whether coordinates stay as they are, so that callers can leave out the work.
    #[must_use]
    pub const fn is_identity(&self) -> bool {
        self.steps.is_none()
    }

    /// Turns x and y in place into longitude and latitude in degrees. Coordinates that are not numbers (the empty
    /// points of shapefiles) become NaN; a number that has no place on the earth is an error that names it. The slices
    /// are walked together, as far as the shorter one goes.
    pub fn apply(&self, xs: &mut [f64], ys: &mut [f64]) -> Result<()> {
        let Some(steps) = &self.steps else {
            return Ok(());
        };
        for (record, (x, y)) in xs.iter_mut().zip(ys.iter_mut()).enumerate() {
            if !(x.is_finite() && y.is_finite()) {
                (*x, *y) = (f64::NAN, f64::NAN);
                continue;
            }
            let (longitude, latitude) =
                transform_xy(&steps.source, &steps.target, *x * steps.factor, *y * steps.factor)
                    .ok()
                    .filter(|(longitude, latitude)| longitude.is_finite() && latitude.is_finite())
                    .ok_or_else(|| {
                        let name = &steps.name;
                        let place = format!("the coordinate ({x}, {y}), number {record},");
                        Error::new(Kind::Archive, format!("{place} lies outside the coordinate system `{name}`"))
                    })?;
            (*x, *y) = (longitude.to_degrees(), latitude.to_degrees());
        }
        Ok(())
    }
}

/// Prepares the transform of a system.
pub(super) fn prepare(definition: &Definition) -> Result<Transform> {
    match definition {
        Definition::Geographic(system) => geographic(system),
        Definition::Projected(system) => projected(system),
        Definition::Other(reason) => Err(impossible("of this layer", reason)),
    }
}

fn impossible(name: &str, reason: &str) -> Error {
    Error::new(
        Kind::Archive,
        format!(
            "coordinates of the system `{name}` cannot be brought to WGS 84: {reason}; take them as they are \
             (`as-is`) or transform the layer with pyproj"
        ),
    )
}

fn geographic(system: &Geographic) -> Result<Transform> {
    let shift = shift(&system.name, &system.datum)?;
    if shift.is_none() && system.unit.is_degree() && system.meridian.degrees == 0.0 {
        return Ok(Transform::identity());
    }
    let mut source = format!("+proj=longlat {}", figure(&system.datum.ellipsoid));
    meridian(system, &mut source);
    let factor = if system.unit.is_degree() { super::definition::DEGREE } else { system.unit.factor };
    build(&system.name, source, &system.datum.ellipsoid, shift, factor)
}

fn projected(system: &Projected) -> Result<Transform> {
    let conversion = system.conversion.as_ref().map_err(|reason| impossible(&system.name, reason))?;
    if system.axes.iter().any(|axis| matches!(axis, Direction::West | Direction::South)) {
        return Err(impossible(&system.name, "its axes point west or south"));
    }
    let shift = shift(&system.name, &system.base.datum)?;
    let ellipsoid = &system.base.datum.ellipsoid;
    let sphere = Ellipsoid { inverse_flattening: 0.0, ..ellipsoid.clone() };
    let is_web = std::ptr::eq(conversion.method, &raw const WEB_MERCATOR);
    let ellipsoid = if is_web { &sphere } else { ellipsoid };
    // Hotine's projection with its line running due east is the one of Switzerland, which PROJ computes apart.
    let east = conversion.method.proj == "omerc"
        && conversion.pairs().all(|(parameter, value)| {
            !matches!(parameter.key, "alpha" | "gamma") || (value.number - 90.0).abs() < 1e-9
        });
    let mut source = format!("+proj={}", if east { "somerc" } else { conversion.method.proj });
    for (parameter, value) in conversion.pairs() {
        let key = match parameter.key {
            "alpha" | "gamma" if east => continue,
            "lonc" if east => "lon_0",
            "lat_0" if conversion.method.proj == "merc" && value.number != 0.0 => {
                return Err(impossible(
                    &system.name,
                    "a Mercator projection starts at the equator, and this one does not",
                ));
            }
            "lat_0" if conversion.method.proj == "merc" => continue,
            key => key,
        };
        let _ = write!(source, " +{key}={}", value.in_base());
        if conversion.method.code == 9801 && key == "lat_0" {
            let _ = write!(source, " +lat_1={}", value.in_base());
        }
    }
    let _ = write!(source, " +to_meter={} {}", system.unit.factor, figure(ellipsoid));
    meridian(&system.base, &mut source);
    build(&system.name, source, ellipsoid, shift, 1.0)
}

fn figure(ellipsoid: &Ellipsoid) -> String {
    if ellipsoid.inverse_flattening == 0.0 {
        format!("+R={}", ellipsoid.semi_major)
    } else {
        format!("+a={} +rf={}", ellipsoid.semi_major, ellipsoid.inverse_flattening)
    }
}

fn meridian(system: &Geographic, source: &mut String) {
    if system.meridian.degrees != 0.0 {
        let _ = write!(source, " +pm={}", system.meridian.degrees);
    }
}

/// The seven numbers to WGS 84; None where the datum is taken for WGS 84, as PROJ does without grids too.
fn shift(name: &str, datum: &Datum) -> Result<Option<[f64; 7]>> {
    if let Some(shift) = datum.to_wgs84.filter(|shift| shift.iter().any(|part| *part != 0.0)) {
        let sane = shift.iter().all(|part| part.abs() < 1e5);
        return if sane { Ok(Some(shift)) } else { Err(impossible(name, "its TOWGS84 is out of range")) };
    }
    let is_modern = datum.ellipsoid.is_modern();
    if is_modern && (datum.to_wgs84.is_some() || datum::is_unknown(&datum.name)) {
        return Ok(None);
    }
    match known(datum).map(|known| known.way) {
        Some(Way::Same | Way::AsIs(_)) => Ok(None),
        Some(Way::Helmert(shift, _)) if datum.to_wgs84.is_none() => Ok(Some(shift)),
        _ => {
            let reason = format!(
                "its datum `{}` needs a shift or a grid of shifts that neither the .prj nor headland carries",
                datum.name
            );
            Err(impossible(name, &reason))
        }
    }
}

/// A datum that is known, on an ellipsoid that is its own or does not differ from it by a millimetre.
fn known(datum: &Datum) -> Option<&'static Known> {
    let is_on = |known: &&Known| known.is_on(&datum.ellipsoid) || known.is_modern() && datum.ellipsoid.is_modern();
    datum::find(&datum.name).filter(is_on)
}

/// How far from their places on WGS 84 transformed coordinates may be, in a sentence; None where they are there within
/// centimetres, where the text itself says how to bring them there, and where they cannot be brought there at all.
pub(super) fn caution(definition: &Definition) -> Option<String> {
    let datum = match definition {
        Definition::Geographic(system) => &system.datum,
        Definition::Projected(system) => &system.base.datum,
        Definition::Other(_) => return None,
    };
    if datum.to_wgs84.is_some() {
        return None;
    }
    if datum.ellipsoid.is_modern() && datum::is_unknown(&datum.name) {
        return Some(
            "the coordinate system names no datum: where WGS 84 is asked for it is taken for that, which may be some \
             metres off"
                .to_owned(),
        );
    }
    let known = known(datum)?;
    let name = known.system;
    match known.way {
        Way::Same | Way::Unknown => None,
        Way::AsIs(off) => Some(format!(
            "where WGS 84 is asked for, {name} is taken for it, as PROJ does without grids: places may be off by up to \
             {off}"
        )),
        Way::Helmert(_, off) => Some(format!(
            "where WGS 84 is asked for, {name} is shifted by the seven parameters that PROJ takes without grids: places \
             may be off by up to {off}"
        )),
    }
}

fn build(
    name: &str,
    mut source: String,
    ellipsoid: &Ellipsoid,
    shift: Option<[f64; 7]>,
    factor: f64,
) -> Result<Transform> {
    let target = if let Some(shift) = shift {
        let parts: Vec<String> = shift.iter().map(ToString::to_string).collect();
        let _ = write!(source, " +towgs84={}", parts.join(","));
        "+proj=longlat +datum=WGS84".to_owned()
    } else {
        format!("+proj=longlat {}", figure(ellipsoid))
    };
    let parse = |text: &str| {
        Proj::from_proj_string(text)
            .map_err(|cause| impossible(name, &format!("its parameters make no projection ({cause})")))
    };
    let (source, target) = (parse(&source)?, parse(&target)?);
    Ok(Transform { steps: Some(Box::new(Steps { source, target, factor, name: name.to_owned() })) })
}
