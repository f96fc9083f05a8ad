//! Reads the parameters of a projection, and the shift of a bound system.

use super::definition::{Conversion, Ellipsoid, Unit, Value, make_value, nearly_equal};
use super::projection::{self, Measure, Method, Parameter};
use super::wkt::Node;

/// Values of parameters that are equivalent to their absence.
const NEUTRAL: &[(&str, f64)] = &[("scalefactor", 1.0), ("auxiliaryspheretype", 0.0), ("latitudeoforigin", 0.0)];

/// Reads the projection. The error is a clause for the user.
pub(super) fn read_conversion(
    system: &Node,
    ellipsoid: &Ellipsoid,
    angle: &Unit,
    length: &Unit,
) -> Result<Conversion, String> {
    let holder = system.child(&["CONVERSION"]).unwrap_or(system);
    let written = written_method(system).ok_or("its projection has no name")?;
    let mut given = read_parameters(holder, angle, length);
    let web = web_mercator(system)?;
    let is_scaled = given.iter().any(|given| given.name == "scalefactor" && !nearly_equal(given.raw, 1.0));
    let has_parameter = |parameter: &Parameter| given.iter().any(|given| parameter.is_named(&given.name));
    let found = projection::find(written, has_parameter, is_scaled);
    let method = if web { Some(&projection::WEB_MERCATOR) } else { found };
    let method = method.map(|method| reversed(method, &mut given));
    let method = method.ok_or_else(|| format!("headland does not support the projection `{written}`"))?;
    let mut values: Vec<Value> = Vec::with_capacity(method.parameters.len());
    for parameter in method.parameters {
        values.push(find_value(method, parameter, &mut given, &values, length)?);
    }
    let is_neutral = |given: &GivenParameter| {
        NEUTRAL.iter().any(|(name, number)| *name == given.name && nearly_equal(*number, given.raw))
            || is_axis_of(given, ellipsoid, method)
    };
    if let Some(left) = given.iter().find(|given| !given.used && !is_neutral(given)) {
        return Err(format!("the parameter `{}` of the projection `{written}` is unknown", left.written));
    }
    let name = if std::ptr::eq(holder, system) { "unnamed" } else { holder.text(0).unwrap_or("unnamed") };
    Ok(Conversion { name: name.to_owned(), method, values })
}

/// The name of the projection in the text.
pub(super) fn written_method(system: &Node) -> Option<&str> {
    system.child(&["CONVERSION"]).unwrap_or(system).child(&["METHOD", "PROJECTION"])?.text(0)
}

/// The projection without the scale of -1 by which ESRI reverses the axes of Transverse Mercator.
fn reversed(method: &'static Method, given: &mut [GivenParameter]) -> &'static Method {
    let scale = given.iter_mut().find(|given| given.name == "scalefactor" && given.raw < 0.0);
    match scale {
        Some(scale) if std::ptr::eq(method, &raw const projection::TRANSVERSE_MERCATOR) => {
            scale.raw = -scale.raw;
            &projection::TRANSVERSE_MERCATOR_SOUTH
        }
        _ => method,
    }
}

/// Whether the parameter repeats an axis of the ellipsoid, as `GeoTools` writes it. Web Mercator has the sphere.
fn is_axis_of(given: &GivenParameter, ellipsoid: &Ellipsoid, method: &Method) -> bool {
    let is_sphere = std::ptr::eq(method, &raw const projection::WEB_MERCATOR) || ellipsoid.inverse_flattening == 0.0;
    let semi_minor = ellipsoid.semi_major * if is_sphere { 1.0 } else { 1.0 - 1.0 / ellipsoid.inverse_flattening };
    let expected = match given.name.as_str() {
        "semimajor" => ellipsoid.semi_major,
        "semiminor" => semi_minor,
        _ => return false,
    };
    (given.raw * given.length.factor - expected).abs() < 1e-3 || (given.raw - expected).abs() < 1e-3
}

struct GivenParameter {
    written: String,
    /// In lower case without punctuation.
    name: String,
    raw: f64,
    /// WKT2 has a unit per parameter.
    angle: Unit,
    length: Unit,
    used: bool,
}

fn read_parameters(holder: &Node, angle: &Unit, length: &Unit) -> Vec<GivenParameter> {
    let unit_or = |node: &Node, keywords: &[&str], default: &Unit| {
        let unit = node.child(keywords);
        unit.and_then(|unit| Some(Unit { name: unit.text(0)?.to_owned(), factor: unit.number(1)? }))
            .unwrap_or_else(|| default.clone())
    };
    let read = |node: &Node| {
        let written = node.text(0)?.to_owned();
        Some(GivenParameter {
            name: projection::normalize(&written),
            written,
            raw: node.number(1)?,
            angle: unit_or(node, &["ANGLEUNIT", "UNIT"], angle),
            length: unit_or(node, &["LENGTHUNIT", "UNIT"], length),
            used: false,
        })
    };
    holder.children("PARAMETER").filter_map(read).collect()
}

fn find_value(
    method: &Method,
    parameter: &Parameter,
    given: &mut [GivenParameter],
    previous: &[Value],
    length: &Unit,
) -> Result<Value, String> {
    let mut found: Option<Value> = None;
    // Lambert with one parallel repeats the latitude under two names.
    for given in given.iter_mut().filter(|given| parameter.is_named(&given.name)) {
        given.used = true;
        let value = make_value(parameter.measure, given.raw, &given.angle, &given.length);
        if found.as_ref().is_some_and(|found| (found.to_base_unit() - value.to_base_unit()).abs() > 1e-9) {
            return Err(format!("the projection `{}` has two values for `{}`", method.name, parameter.name));
        }
        found = Some(value);
    }
    let azimuth = || {
        let index = method.parameters.iter().position(|other| projection::is_azimuth(other))?;
        previous.get(index).filter(|_| projection::defaults_to_azimuth(parameter)).cloned()
    };
    let default = || {
        let unit = (parameter.measure == Measure::Length).then(|| length.clone());
        parameter.default.map(|number| Value { number, unit })
    };
    let value = found
        .or_else(azimuth)
        .or_else(default)
        .ok_or_else(|| format!("the projection `{}` has no `{}`", method.name, parameter.name))?;
    let limit = match parameter.measure {
        Measure::Angle => 0.0..=360.0,
        Measure::Length => 0.0..=1e9,
        Measure::Scale => 0.01..=100.0,
    };
    let size = if parameter.measure == Measure::Scale { value.number } else { value.to_base_unit().abs() };
    if limit.contains(&size) {
        Ok(value)
    } else {
        Err(format!("`{}` of the projection is out of range", parameter.name))
    }
}

/// Detects web Mercator: GDAL writes it as Mercator with the PROJ definition in an extension.
fn web_mercator(system: &Node) -> Result<bool, String> {
    match system.child(&["EXTENSION"]).and_then(|extension| extension.text(1)) {
        None => Ok(false),
        Some(text) if text.contains("+proj=merc") && text.contains("+nadgrids=@null") => Ok(true),
        Some(_) => Err("its definition is in an extension for PROJ, which headland does not read".to_owned()),
    }
}

/// The seven parameters of `BOUNDCRS` to WGS 84, with rotations in the position vector convention.
pub(super) fn read_abridged_shift(bound: &Node) -> Option<[f64; 7]> {
    let transformation = bound.child(&["ABRIDGEDTRANSFORMATION"])?;
    let target = bound.child(&["TARGETCRS"])?.child(&["GEOGCRS", "GEODCRS"])?;
    if !projection::normalize(target.text(0)?).starts_with("wgs84") {
        return None;
    }
    let method = projection::normalize(transformation.child(&["METHOD"])?.text(0)?);
    let sign = match method.as_str() {
        name if name.starts_with("geocentrictranslations") || name.starts_with("positionvector") => 1.0,
        name if name.starts_with("coordinateframe") => -1.0,
        _ => return None,
    };
    let mut shift = [0.0; 7];
    for parameter in transformation.children("PARAMETER") {
        let number = parameter.number(1)?;
        let factor = parameter.child(&["SCALEUNIT", "ANGLEUNIT", "LENGTHUNIT"]).and_then(|unit| unit.number(1));
        let (index, number) = match projection::normalize(parameter.text(0)?).as_str() {
            "xaxistranslation" => (0, number * factor.unwrap_or(1.0)),
            "yaxistranslation" => (1, number * factor.unwrap_or(1.0)),
            "zaxistranslation" => (2, number * factor.unwrap_or(1.0)),
            "xaxisrotation" => (3, sign * to_arc_seconds(number, factor)),
            "yaxisrotation" => (4, sign * to_arc_seconds(number, factor)),
            "zaxisrotation" => (5, sign * to_arc_seconds(number, factor)),
            // Without a unit, the abridged form has the ratio itself.
            "scaledifference" => (6, factor.map_or((number - 1.0) * 1e6, |factor| number * factor * 1e6)),
            _ => return None,
        };
        *shift.get_mut(index)? = number;
    }
    Some(shift)
}

fn to_arc_seconds(number: f64, radians: Option<f64>) -> f64 {
    radians.map_or(number, |factor| (number * factor).to_degrees() * 3600.0)
}
