//! Writes a coordinate system as PROJJSON, for GeoParquet and `pyproj.CRS.from_json`.
//!
//! Format: <https://proj.org/en/stable/specifications/projjson.html>.

use serde_json::{Value as Json, json};

use super::datum;
use super::definition::{Conversion, Datum, Definition, Direction, Geographic, Projected, SURVEY_FOOT, Unit, Value};
use super::projection::{Measure, TRANSVERSE_MERCATOR_SOUTH};

/// Writes a system; `None` if it is not supported.
pub(super) fn write(definition: &Definition, epsg: Option<u32>) -> Option<Json> {
    let (mut json, shift) = match definition {
        Definition::Geographic(system) => (geographic_json(system, epsg), system.datum.to_wgs84),
        Definition::Projected(system) => (projected_json(system, epsg)?, system.base.datum.to_wgs84),
        Definition::Other(_) => return None,
    };
    if let Some(shift) = shift.filter(|shift| shift.iter().any(|part| *part != 0.0)) {
        json = bound_json(&json, shift);
    }
    json.as_object_mut()?.insert("$schema".to_owned(), json!("https://proj.org/schemas/v0.7/projjson.schema.json"));
    Some(json)
}

fn with_id(mut json: Json, epsg: Option<u32>) -> Json {
    if let (Some(code), Some(object)) = (epsg, json.as_object_mut()) {
        object.insert("id".to_owned(), json!({ "authority": super::epsg::authority(code), "code": code }));
    }
    json
}

fn geographic_json(system: &Geographic, epsg: Option<u32>) -> Json {
    // EPSG's geographic systems have the latitude first, and readers reject a code with another order. Coordinates in
    // files are x, y anyway, as GeoParquet specifies.
    let (given, default) = match epsg {
        Some(_) => (&[][..], [Direction::North, Direction::East]),
        None => (&system.axes[..], [Direction::East, Direction::North]),
    };
    let json = json!({
        "type": "GeographicCRS",
        "name": system.name,
        "datum": datum_json(&system.datum, system),
        "coordinate_system": {
            "subtype": "ellipsoidal",
            "axis": axes_json(given, default, &angle_unit(&system.unit), ["Geodetic longitude", "Geodetic latitude", "Lon", "Lat"]),
        },
    });
    with_id(json, epsg)
}

fn datum_json(datum: &Datum, system: &Geographic) -> Json {
    let ellipsoid = &datum.ellipsoid;
    let ellipsoid_json = if ellipsoid.inverse_flattening == 0.0 {
        json!({ "name": ellipsoid.name, "radius": ellipsoid.semi_major })
    } else {
        json!({
            "name": ellipsoid.name,
            "semi_major_axis": ellipsoid.semi_major,
            "inverse_flattening": ellipsoid.inverse_flattening,
        })
    };
    let name = if datum::is_unknown(&datum.name) { "unknown" } else { &datum.name };
    let mut json = json!({ "type": "GeodeticReferenceFrame", "name": name, "ellipsoid": ellipsoid_json });
    if let (true, Some(object)) = (system.meridian.degrees != 0.0, json.as_object_mut()) {
        let meridian = json!({ "name": system.meridian.name, "longitude": system.meridian.degrees });
        object.insert("prime_meridian".to_owned(), meridian);
    }
    json
}

fn angle_unit(unit: &Unit) -> Json {
    if unit.is_degree() {
        json!("degree")
    } else {
        json!({ "type": "AngularUnit", "name": unit.name, "conversion_factor": unit.factor })
    }
}

fn length_unit(unit: &Unit) -> Json {
    let is_about = |factor: f64| (unit.factor / factor - 1.0).abs() < 1e-10;
    let (name, factor) = if is_about(1.0) {
        return json!("metre");
    } else if is_about(0.3048) {
        ("foot", 0.3048)
    } else if is_about(SURVEY_FOOT) {
        ("US survey foot", SURVEY_FOOT)
    } else {
        (unit.name.as_str(), unit.factor)
    };
    json!({ "type": "LinearUnit", "name": name, "conversion_factor": factor })
}

/// `names` are the east axis, the north axis and their abbreviations.
fn axes_json(given: &[Direction], default: [Direction; 2], unit: &Json, names: [&str; 4]) -> Json {
    let [east, north, east_short, north_short] = names;
    let axis = |direction: &Direction| {
        let (name, short, word) = match direction {
            Direction::East => (east, east_short, "east"),
            Direction::North => (north, north_short, "north"),
            Direction::West => ("Westing", "W", "west"),
            Direction::South => ("Southing", "S", "south"),
        };
        json!({ "name": name, "abbreviation": short, "direction": word, "unit": unit })
    };
    let directions = if given.len() == 2 { given } else { &default };
    directions.iter().map(axis).collect()
}

fn projected_json(system: &Projected, epsg: Option<u32>) -> Option<Json> {
    let conversion = system.conversion.as_ref().ok()?;
    let base_epsg = super::epsg::code_of_geographic(&system.base);
    // A code implies the axis order of its definition, regardless of the text. Coordinates are x, y.
    let proven = super::epsg::certain_projected(system).filter(|code| Some(code.number) == epsg);
    let is_reversed = std::ptr::eq(conversion.method, &raw const TRANSVERSE_MERCATOR_SOUTH);
    let east_first =
        if is_reversed { [Direction::West, Direction::South] } else { [Direction::East, Direction::North] };
    let north_first = [Direction::North, Direction::East];
    let order = proven.map(|code| if code.north_first { north_first } else { east_first });
    let given = order.as_ref().map_or(&system.axes[..], |order| &order[..]);
    let json = json!({
        "type": "ProjectedCRS",
        "name": system.name,
        "base_crs": geographic_json(&system.base, base_epsg),
        "conversion": conversion_json(conversion),
        "coordinate_system": {
            "subtype": "Cartesian",
            "axis": axes_json(given, east_first, &length_unit(&system.unit), ["Easting", "Northing", "E", "N"]),
        },
    });
    Some(with_id(json, epsg))
}

fn conversion_json(conversion: &Conversion) -> Json {
    let parameters: Vec<Json> = conversion
        .pairs()
        .map(|(parameter, Value { number, unit })| {
            let unit = match (parameter.measure, unit) {
                (Measure::Angle, _) => json!("degree"),
                (Measure::Scale, _) => json!("unity"),
                (Measure::Length, unit) => unit.as_ref().map_or_else(|| json!("metre"), length_unit),
            };
            let json = json!({ "name": parameter.name, "value": number, "unit": unit });
            with_id(json, Some(parameter.code))
        })
        .collect();
    let method = with_id(json!({ "name": conversion.method.name }), Some(conversion.method.code));
    json!({ "name": conversion.name, "method": method, "parameters": parameters })
}

fn bound_json(source: &Json, shift: [f64; 7]) -> Json {
    let [x, y, z, rx, ry, rz, scale] = shift;
    let translation = |name: &str, value: f64, code: u32| {
        with_id(json!({ "name": name, "value": value, "unit": "metre" }), Some(code))
    };
    let arc =
        json!({ "type": "AngularUnit", "name": "arc-second", "conversion_factor": super::definition::DEGREE / 3600.0 });
    let rotation =
        |name: &str, value: f64, code: u32| with_id(json!({ "name": name, "value": value, "unit": arc }), Some(code));
    let million = json!({ "type": "ScaleUnit", "name": "parts per million", "conversion_factor": 1e-6 });
    json!({
        "type": "BoundCRS",
        "source_crs": source,
        "target_crs": write(&datum::wgs84(), Some(4326)),
        "transformation": {
            "name": "Transformation to WGS 84",
            "method": with_id(json!({ "name": "Position Vector transformation (geog2D domain)" }), Some(9606)),
            "parameters": [
                translation("X-axis translation", x, 8605),
                translation("Y-axis translation", y, 8606),
                translation("Z-axis translation", z, 8607),
                rotation("X-axis rotation", rx, 8608),
                rotation("Y-axis rotation", ry, 8609),
                rotation("Z-axis rotation", rz, 8610),
                with_id(json!({ "name": "Scale difference", "value": scale, "unit": million }), Some(8611)),
            ],
        },
    })
}
