//! Transforms coordinates to longitude and latitude on WGS 84, with proj4rs.

use std::fmt::Write as _;

use proj4rs::Proj;
use proj4rs::adaptors::transform_xy;

use super::datum::{self, DatumShift, KnownDatum};
use super::definition::{Datum, Definition, Direction, Ellipsoid, Geographic, Projected};
use super::projection::{Measure, TRANSVERSE_MERCATOR_SOUTH, WEB_MERCATOR};
use headland_base::error::{Error, Kind};

/// A transform to longitude and latitude in degrees on WGS 84.
#[derive(Clone)]
pub struct Transform {
    steps: Option<Box<Steps>>,
}

#[derive(Clone)]
struct Steps {
    source: Proj,
    target: Proj,
    /// Radians per unit of a geographic source; 1 for a projected one, and -1 if its axes point west and south.
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
    /// The identity transform.
    #[must_use]
    pub const fn identity() -> Self {
        Self { steps: None }
    }

    /// Whether coordinates are unchanged, so that callers can skip the work.
    #[must_use]
    pub const fn is_identity(&self) -> bool {
        self.steps.is_none()
    }

    /// Transforms x and y in place to degrees of longitude and latitude, up to the length of the shorter slice.
    ///
    /// Coordinates that are not finite, such as those of empty points, become NaN. A coordinate outside the system is
    /// an error.
    pub fn apply(&self, xs: &mut [f64], ys: &mut [f64]) -> headland_base::error::Result<()> {
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
                        let subject = format!("the coordinate ({x}, {y}), number {record},");
                        Error::new(Kind::Archive, format!("{subject} is outside the coordinate system `{name}`"))
                    })?;
            (*x, *y) = (longitude.to_degrees(), latitude.to_degrees());
        }
        Ok(())
    }

    /// The coordinates of a position in degrees on WGS 84, the inverse of [`Transform::apply`]. `None` outside the system.
    ///
    /// proj4rs inverts datum shifts to the first order only, so the difference after a round trip is subtracted.
    pub(super) fn invert(&self, longitude: f64, latitude: f64) -> Option<[f64; 2]> {
        let Some(steps) = &self.steps else { return Some([longitude, latitude]) };
        let from_radians = |longitude: f64, latitude: f64| {
            let (x, y) = transform_xy(&steps.target, &steps.source, longitude, latitude).ok()?;
            Some((x / steps.factor, y / steps.factor))
        };
        let start = from_radians(longitude.to_radians(), latitude.to_radians())?;
        let (mut x, mut y) = start;
        for _ in 0..2 {
            let (longitude, latitude) =
                transform_xy(&steps.source, &steps.target, x * steps.factor, y * steps.factor).ok()?;
            let again = from_radians(longitude, latitude)?;
            x += start.0 - again.0;
            y += start.1 - again.1;
        }
        (x.is_finite() && y.is_finite()).then_some([x, y])
    }
}

/// Prepares the transform of a system. The error is a clause for the user.
pub(super) fn prepare(definition: &Definition) -> Result<Transform, String> {
    match definition {
        Definition::Geographic(system) => from_geographic(system),
        Definition::Projected(system) => projected_transform(system, datum_shift(&system.base.datum)?),
        Definition::Other(reason) => Err(reason.clone()),
    }
}

/// The transform to longitude and latitude on the ellipsoid of the system, without a shift of the datum.
pub(super) fn on_ellipsoid(system: &Projected) -> Result<Transform, String> {
    projected_transform(system, None)
}

/// The error of a system that has no transform.
pub(super) fn unsupported(name: &str, reason: &str) -> Error {
    Error::new(
        Kind::Archive,
        format!(
            "cannot transform coordinates of the system `{name}` to WGS 84: {reason}; use them unchanged (`as-is`) or \
             transform the layer with pyproj"
        ),
    )
}

fn from_geographic(system: &Geographic) -> Result<Transform, String> {
    let shift = datum_shift(&system.datum)?;
    if shift.is_none() && system.unit.is_degree() && system.meridian.degrees == 0.0 {
        return Ok(Transform::identity());
    }
    let mut source = format!("+proj=longlat {}", ellipsoid_parameters(&system.datum.ellipsoid));
    push_meridian(system, &mut source);
    let factor = if system.unit.is_degree() { super::definition::DEGREE } else { system.unit.factor };
    build_transform(&system.name, source, &system.datum.ellipsoid, shift, factor)
}

fn projected_transform(system: &Projected, shift: Option<[f64; 7]>) -> Result<Transform, String> {
    let conversion = system.conversion.as_ref().map_err(String::clone)?;
    let is_reversed = conversion.method.code == TRANSVERSE_MERCATOR_SOUTH.code;
    if !is_reversed && system.axes.iter().any(|axis| matches!(axis, Direction::West | Direction::South)) {
        return Err("its axes point west or south".to_owned());
    }
    let ellipsoid = &system.base.datum.ellipsoid;
    let sphere = Ellipsoid { inverse_flattening: 0.0, ..ellipsoid.clone() };
    let is_web = std::ptr::eq(conversion.method, &raw const WEB_MERCATOR);
    let ellipsoid = if is_web { &sphere } else { ellipsoid };
    // Hotine with azimuth 90° is the Swiss projection, which PROJ computes separately.
    let is_swiss = conversion.method.proj == "omerc"
        && conversion.pairs().all(|(parameter, value)| {
            !matches!(parameter.key, "alpha" | "gamma") || (value.number - 90.0).abs() < 1e-9
        });
    let mut source = format!("+proj={}", if is_swiss { "somerc" } else { conversion.method.proj });
    for (parameter, value) in conversion.pairs() {
        let key = match parameter.key {
            "alpha" | "gamma" if is_swiss => continue,
            "lonc" if is_swiss => "lon_0",
            "lat_0" if conversion.method.proj == "merc" && value.number != 0.0 => {
                return Err("its Mercator projection has a latitude of origin other than the equator".to_owned());
            }
            "lat_0" if conversion.method.proj == "merc" => continue,
            key => key,
        };
        let sign = if is_reversed && parameter.measure == Measure::Length { -1.0 } else { 1.0 };
        let _ = write!(source, " +{key}={}", sign * value.to_base_unit());
        if conversion.method.code == 9801 && key == "lat_0" {
            let _ = write!(source, " +lat_1={}", value.to_base_unit());
        }
    }
    let _ = write!(source, " +to_meter={} {}", system.unit.factor, ellipsoid_parameters(ellipsoid));
    push_meridian(&system.base, &mut source);
    build_transform(&system.name, source, ellipsoid, shift, if is_reversed { -1.0 } else { 1.0 })
}

fn ellipsoid_parameters(ellipsoid: &Ellipsoid) -> String {
    if ellipsoid.inverse_flattening == 0.0 {
        format!("+R={}", ellipsoid.semi_major)
    } else {
        format!("+a={} +rf={}", ellipsoid.semi_major, ellipsoid.inverse_flattening)
    }
}

fn push_meridian(system: &Geographic, source: &mut String) {
    if system.meridian.degrees != 0.0 {
        let _ = write!(source, " +pm={}", system.meridian.degrees);
    }
}

/// The seven parameters to WGS 84; `None` if the datum is used as WGS 84, as PROJ does without grids.
fn datum_shift(datum: &Datum) -> Result<Option<[f64; 7]>, String> {
    if let Some(shift) = datum.to_wgs84.filter(|shift| shift.iter().any(|part| *part != 0.0)) {
        let sane = shift.iter().all(|part| part.abs() < 1e5);
        return if sane { Ok(Some(shift)) } else { Err("its TOWGS84 is out of range".to_owned()) };
    }
    let is_modern = datum.ellipsoid.is_modern();
    if is_modern && (datum.to_wgs84.is_some() || datum::is_unknown(&datum.name)) {
        return Ok(None);
    }
    match known_datum(datum).map(|known| known.shift) {
        Some(DatumShift::Same | DatumShift::AsIs(_)) => Ok(None),
        Some(DatumShift::Helmert(shift, _)) if datum.to_wgs84.is_none() => Ok(Some(shift)),
        _ => {
            let name = &datum.name;
            Err(format!("its datum `{name}` needs a shift or a shift grid that neither the .prj nor headland contains"))
        }
    }
}

/// The known datum, if the ellipsoid matches within a millimetre.
fn known_datum(datum: &Datum) -> Option<&'static KnownDatum> {
    let is_on = |known: &&KnownDatum| known.is_on(&datum.ellipsoid) || known.is_modern() && datum.ellipsoid.is_modern();
    datum::find(&datum.name).filter(is_on)
}

/// A sentence about the error of transformed coordinates. `None` if it is centimetres, if the text defines the shift,
/// or if there is no transform.
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
            "the coordinate system has no datum name: if WGS 84 is requested, the datum is assumed to be WGS 84, which \
             may be some metres off"
                .to_owned(),
        );
    }
    let known = known_datum(datum)?;
    let name = known.system;
    match known.shift {
        DatumShift::Same | DatumShift::Unknown => None,
        DatumShift::AsIs(off) => Some(format!(
            "if WGS 84 is requested, {name} is used as WGS 84, as PROJ does without grids: positions may be off by up \
             to {off}"
        )),
        DatumShift::Helmert(_, off) => Some(format!(
            "if WGS 84 is requested, {name} is shifted by the seven parameters that PROJ uses without grids: positions \
             may be off by up to {off}"
        )),
    }
}

fn build_transform(
    name: &str,
    mut source: String,
    ellipsoid: &Ellipsoid,
    shift: Option<[f64; 7]>,
    factor: f64,
) -> Result<Transform, String> {
    let target = if let Some(shift) = shift {
        let parts: Vec<String> = shift.iter().map(ToString::to_string).collect();
        let _ = write!(source, " +towgs84={}", parts.join(","));
        "+proj=longlat +datum=WGS84".to_owned()
    } else {
        format!("+proj=longlat {}", ellipsoid_parameters(ellipsoid))
    };
    let parse = |text: &str| {
        Proj::from_proj_string(text)
            .map_err(|cause| format!("its parameters do not define a valid projection ({cause})"))
    };
    let (source, target) = (parse(&source)?, parse(&target)?);
    Ok(Transform { steps: Some(Box::new(Steps { source, target, factor, name: name.to_owned() })) })
}
