//! Reads a coordinate system definition from WKT of any dialect.

use super::definition::{
    DEGREE, Datum, Definition, Direction, Ellipsoid, Geographic, Meridian, Projected, Unit, nearly_equal,
};
use super::projection;
use super::wkt::Node;
use super::{datum, parameters};
use headland_base::error::{Error, Kind, Result};

fn invalid_crs(node: &Node, what: &str) -> Error {
    let name = node.text(0).unwrap_or("without a name");
    Error::new(Kind::Archive, format!("the coordinate system (.prj) `{name}` is invalid: {what}"))
}

const DATUM: &[&str] = &["DATUM", "GEODETICDATUM", "TRF", "ENSEMBLE"];
const BASE: &[&str] = &["GEOGCS", "BASEGEOGCRS", "BASEGEODCRS"];
const LENGTH_UNIT: &[&str] = &["LENGTHUNIT", "UNIT"];
const ANGLE_UNIT: &[&str] = &["ANGLEUNIT", "UNIT"];

pub(super) fn read_definition(node: &Node) -> Result<Definition> {
    match node.keyword.as_str() {
        "GEOGCS" | "GEOGCRS" | "GEOGRAPHICCRS" => read_geographic(node).map(Definition::Geographic),
        "GEODCRS" | "GEODETICCRS" => match node.child(&["CS"]).and_then(|cs| cs.text(0)) {
            Some(kind) if kind.eq_ignore_ascii_case("ellipsoidal") => read_geographic(node).map(Definition::Geographic),
            _ => Ok(Definition::Other("it is geocentric (X, Y, Z), neither geographic nor projected".to_owned())),
        },
        "PROJCS" | "PROJCRS" | "PROJECTEDCRS" => read_projected(node).map(Definition::Projected),
        "COMPD_CS" | "COMPOUNDCRS" => {
            let horizontal = ["PROJCS", "GEOGCS", "PROJCRS", "PROJECTEDCRS", "GEOGCRS", "GEODCRS", "BOUNDCRS"];
            let part = node.child(&horizontal).ok_or_else(|| invalid_crs(node, "it has no horizontal part"))?;
            read_definition(part)
        }
        "BOUNDCRS" => read_bound(node),
        "GEOCCS" | "LOCAL_CS" | "ENGCRS" | "ENGINEERINGCRS" | "VERT_CS" | "VERTCRS" | "VERTICALCRS" | "FITTED_CS"
        | "DERIVEDPROJCRS" => Ok(Definition::Other(format!(
            "systems of the kind `{}` have no known relation to the earth's surface",
            node.keyword
        ))),
        other => Err(invalid_crs(
            node,
            &format!("`{}` is not a coordinate system", other.chars().take(40).collect::<String>()),
        )),
    }
}

fn read_bound(node: &Node) -> Result<Definition> {
    let wrapper = node.child(&["SOURCECRS"]).ok_or_else(|| invalid_crs(node, "SOURCECRS is missing"))?;
    let kinds = ["PROJCRS", "PROJECTEDCRS", "GEOGCRS", "GEOGRAPHICCRS", "GEODCRS"];
    let source = wrapper.child(&kinds).ok_or_else(|| invalid_crs(node, "SOURCECRS is empty"))?;
    let mut definition = read_definition(source)?;
    let shift = parameters::read_abridged_shift(node);
    match (&mut definition, shift) {
        (_, None) => return Ok(Definition::Other("its transformation to another system is not supported".to_owned())),
        (Definition::Geographic(system), shift) => system.datum.to_wgs84 = shift,
        (Definition::Projected(system), shift) => system.base.datum.to_wgs84 = shift,
        (Definition::Other(_), _) => {}
    }
    Ok(definition)
}

fn read_geographic(node: &Node) -> Result<Geographic> {
    let datum_node = node.child(DATUM).ok_or_else(|| invalid_crs(node, "DATUM is missing"))?;
    let datum = read_datum(node, datum_node)?;
    let unit = read_unit(node, ANGLE_UNIT, &Unit { name: "degree".to_owned(), factor: DEGREE });
    let known = datum::find(&datum.name);
    let name = known
        .filter(|known| known.is_on(&datum.ellipsoid))
        .map_or_else(|| node_name(node), |known| known.system.to_owned());
    let meridian = match node.child(&["PRIMEM", "PRIMEMERIDIAN"]) {
        None => Meridian { name: "Greenwich".to_owned(), degrees: 0.0 },
        Some(meridian) => {
            let value = meridian.number(1).ok_or_else(|| invalid_crs(node, "PRIMEM has no longitude"))?;
            // WKT1 has degrees, regardless of the unit of the system. WKT2 states the unit.
            let degrees = meridian
                .child(ANGLE_UNIT)
                .and_then(|unit| unit.number(1))
                .map_or(value, |factor| Unit { name: String::new(), factor }.to_degrees(value));
            Meridian { name: node_name(meridian), degrees }
        }
    };
    if !(unit.factor > 0.0 && meridian.degrees.abs() <= 360.0) {
        return Err(invalid_crs(node, "its unit or its prime meridian is out of range"));
    }
    Ok(Geographic { name, datum, meridian, unit, axes: read_axes(node), epsg: node.epsg() })
}

fn read_datum(system: &Node, node: &Node) -> Result<Datum> {
    let ellipsoid_node = node
        .child(&["SPHEROID", "ELLIPSOID"])
        .ok_or_else(|| invalid_crs(system, "DATUM has no SPHEROID or ELLIPSOID"))?;
    let metres = ellipsoid_node.child(LENGTH_UNIT).and_then(|unit| unit.number(1)).unwrap_or(1.0);
    let semi_major = ellipsoid_node.number(1).map(|value| value * metres).filter(|value| (1e6..1e8).contains(value));
    let inverse_flattening =
        ellipsoid_node.number(2).filter(|value| nearly_equal(*value, 0.0) || (100.0..1e10).contains(value));
    let (Some(semi_major), Some(inverse_flattening)) = (semi_major, inverse_flattening) else {
        return Err(invalid_crs(system, "the size of its ellipsoid is missing or is not that of the earth"));
    };
    let ellipsoid = Ellipsoid { name: ellipsoid_name(&node_name(ellipsoid_node)), semi_major, inverse_flattening };
    let written = node_name(node);
    let name = datum::find(&written).map_or_else(
        || {
            written
                .strip_prefix(['D', 'd'])
                .and_then(|rest| rest.strip_prefix('_'))
                .unwrap_or(&written)
                .replace('_', " ")
        },
        |known| known.name.to_owned(),
    );
    let to_wgs84 = node.child(&["TOWGS84"]).and_then(|shift| {
        let translation = [shift.number(0)?, shift.number(1)?, shift.number(2)?];
        let rest = [3, 4, 5, 6].map(|index| shift.number(index).unwrap_or(0.0));
        let [x, y, z] = translation;
        let [rx, ry, rz, scale] = rest;
        Some([x, y, z, rx, ry, rz, scale])
    });
    Ok(Datum { name, ellipsoid, to_wgs84 })
}

/// EPSG's name of the relevant ellipsoids; other names are kept.
fn ellipsoid_name(written: &str) -> String {
    match projection::normalize(written).as_str() {
        "wgs84" | "wgs1984" => "WGS 84".to_owned(),
        "grs80" | "grs1980" => "GRS 1980".to_owned(),
        _ => written.replace('_', " "),
    }
}

fn read_projected(node: &Node) -> Result<Projected> {
    let base_node = node.child(BASE).ok_or_else(|| invalid_crs(node, "its geographic system is missing"))?;
    let base = read_geographic(base_node)?;
    let unit = read_unit(node, LENGTH_UNIT, &Unit { name: "metre".to_owned(), factor: 1.0 });
    if !(1e-6..1e6).contains(&unit.factor) {
        return Err(invalid_crs(node, "its unit of length is out of range"));
    }
    let conversion = parameters::read_conversion(node, &base.datum.ellipsoid, &base.unit, &unit);
    let method = parameters::written_method(node).unwrap_or_default().to_owned();
    Ok(Projected { name: node_name(node), base, conversion, method, unit, axes: read_axes(node), epsg: node.epsg() })
}

fn node_name(node: &Node) -> String {
    node.text(0).unwrap_or("unnamed").trim().to_owned()
}

/// The unit of a system: a child of it (WKT1), or of its first axis (WKT2).
fn read_unit(node: &Node, keywords: &[&str], default: &Unit) -> Unit {
    let below_axis = || node.child(&["AXIS"]).and_then(|axis| axis.child(keywords));
    let found = node.child(keywords).or_else(below_axis);
    let read = |unit: &Node| Some(Unit { name: unit.text(0)?.to_owned(), factor: unit.number(1)? });
    found.and_then(read).unwrap_or_else(|| default.clone())
}

fn read_axes(node: &Node) -> Vec<Direction> {
    let direction = |axis: &Node| match axis.text(1)?.to_ascii_lowercase().as_str() {
        "east" => Some(Direction::East),
        "north" => Some(Direction::North),
        "west" => Some(Direction::West),
        "south" => Some(Direction::South),
        _ => None,
    };
    node.children("AXIS").filter_map(direction).take(2).collect()
}
