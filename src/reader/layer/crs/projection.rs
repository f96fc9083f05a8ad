//! Supported map projections: names and parameters in WKT1, ESRI, WKT2 and EPSG.

/// Measure of a parameter, which determines its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    Angle,
    Length,
    Scale,
}

/// A parameter of a projection.
#[derive(Debug)]
pub(super) struct Parameter {
    /// EPSG's name.
    pub(super) name: &'static str,
    /// EPSG's code.
    pub(super) code: u32,
    /// The key in a PROJ string.
    pub(super) key: &'static str,
    pub(super) measure: Measure,
    /// The default value; `None` if the parameter is required.
    pub(super) default: Option<f64>,
    /// Other names, normalized.
    aliases: &'static [&'static str],
}

impl Parameter {
    /// Whether the value is a latitude; other angles are longitudes and directions.
    pub(super) fn is_latitude(&self) -> bool {
        self.name.starts_with("Latitude")
    }

    /// Whether a normalized name means this parameter.
    pub(super) fn is_named(&self, name: &str) -> bool {
        normalize(self.name) == name || self.aliases.contains(&name)
    }
}

/// A projection.
#[derive(Debug)]
pub(super) struct Method {
    /// EPSG's name.
    pub(super) name: &'static str,
    /// EPSG's code.
    pub(super) code: u32,
    /// The start of its PROJ string.
    pub(super) proj: &'static str,
    pub(super) parameters: &'static [&'static Parameter],
}

/// Normalizes a name to lower-case letters and digits.
pub(super) fn normalize(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

const fn angle(
    name: &'static str,
    code: u32,
    key: &'static str,
    default: Option<f64>,
    aliases: &'static [&'static str],
) -> Parameter {
    Parameter { name, code, key, measure: Measure::Angle, default, aliases }
}

const fn length(name: &'static str, code: u32, key: &'static str, aliases: &'static [&'static str]) -> Parameter {
    Parameter { name, code, key, measure: Measure::Length, default: Some(0.0), aliases }
}

const fn scale(name: &'static str, code: u32) -> Parameter {
    Parameter { name, code, key: "k_0", measure: Measure::Scale, default: Some(1.0), aliases: &["scalefactor"] }
}

const ORIGIN_LAT: &[&str] = &["latitudeoforigin", "latitudeofcenter", "standardparallel1"];
const ORIGIN_LON: &[&str] = &["centralmeridian", "longitudeoforigin", "longitudeofcenter"];
const EAST: &[&str] = &["falseeasting"];
const NORTH: &[&str] = &["falsenorthing"];

static NATURAL_LAT: Parameter = angle("Latitude of natural origin", 8801, "lat_0", Some(0.0), ORIGIN_LAT);
static NATURAL_LON: Parameter = angle("Longitude of natural origin", 8802, "lon_0", None, ORIGIN_LON);
static NATURAL_SCALE: Parameter = scale("Scale factor at natural origin", 8805);
static FALSE_EAST: Parameter = length("False easting", 8806, "x_0", EAST);
static FALSE_NORTH: Parameter = length("False northing", 8807, "y_0", NORTH);
static FALSE_LAT: Parameter =
    angle("Latitude of false origin", 8821, "lat_0", Some(0.0), &["latitudeoforigin", "latitudeofcenter"]);
static FALSE_LON: Parameter = angle("Longitude of false origin", 8822, "lon_0", None, ORIGIN_LON);
static PARALLEL_1: Parameter = angle("Latitude of 1st standard parallel", 8823, "lat_1", None, &["standardparallel1"]);
static PARALLEL_2: Parameter = angle("Latitude of 2nd standard parallel", 8824, "lat_2", None, &["standardparallel2"]);
static PARALLEL_TS: Parameter =
    angle("Latitude of 1st standard parallel", 8823, "lat_ts", None, &["standardparallel1"]);
static ORIGIN_EAST: Parameter = length("Easting at false origin", 8826, "x_0", EAST);
static ORIGIN_NORTH: Parameter = length("Northing at false origin", 8827, "y_0", NORTH);
static ELLIPSOID_SCALE: Parameter = scale("Ellipsoid scaling factor", 1038);
static CENTRE_LAT: Parameter =
    angle("Latitude of projection centre", 8811, "lat_0", None, &["latitudeofcenter", "latitudeoforigin"]);
static CENTRE_LON: Parameter =
    angle("Longitude of projection centre", 8812, "lonc", None, &["longitudeofcenter", "centralmeridian"]);
static AZIMUTH: Parameter =
    angle("Azimuth at projection centre", 8813, "alpha", None, &["azimuth", "azimuthofinitialline"]);
static GRID_ANGLE: Parameter = angle("Angle from Rectified to Skew Grid", 8814, "gamma", None, &["rectifiedgridangle"]);
static CENTRE_SCALE: Parameter = scale("Scale factor at projection centre", 8815);
static CENTRE_EAST: Parameter = length("Easting at projection centre", 8816, "x_0", EAST);
static CENTRE_NORTH: Parameter = length("Northing at projection centre", 8817, "y_0", NORTH);

type Parameters = &'static [&'static Parameter];
const NATURAL: Parameters = &[&NATURAL_LAT, &NATURAL_LON, &NATURAL_SCALE, &FALSE_EAST, &FALSE_NORTH];
const CONIC: Parameters = &[&FALSE_LAT, &FALSE_LON, &PARALLEL_1, &PARALLEL_2, &ORIGIN_EAST, &ORIGIN_NORTH];

/// Transverse Mercator, used by UTM. `etmerc` is the exact series, as in PROJ.
pub(super) static TRANSVERSE_MERCATOR: Method =
    Method { name: "Transverse Mercator", code: 9807, proj: "etmerc", parameters: NATURAL };
/// The coordinates of Transverse Mercator with axes that point west and south, as in South Africa.
pub(super) static TRANSVERSE_MERCATOR_SOUTH: Method =
    Method { name: "Transverse Mercator (South Orientated)", code: 9808, proj: "etmerc", parameters: NATURAL };
pub(super) static LAMBERT_1SP: Method =
    Method { name: "Lambert Conic Conformal (1SP)", code: 9801, proj: "lcc", parameters: NATURAL };
pub(super) static LAMBERT_2SP: Method =
    Method { name: "Lambert Conic Conformal (2SP)", code: 9802, proj: "lcc", parameters: CONIC };
/// Lambert with two parallels and a scale, as of the low-distortion zones of Iowa. The scale of the ellipsoid is that of
/// the coordinates.
pub(super) static LAMBERT_SCALED: Method = Method {
    name: "Lambert Conic Conformal (2SP Michigan)",
    code: 1051,
    proj: "lcc",
    parameters: &[&FALSE_LAT, &FALSE_LON, &PARALLEL_1, &PARALLEL_2, &ORIGIN_EAST, &ORIGIN_NORTH, &ELLIPSOID_SCALE],
};
pub(super) static ALBERS: Method = Method { name: "Albers Equal Area", code: 9822, proj: "aea", parameters: CONIC };
pub(super) static MERCATOR_A: Method =
    Method { name: "Mercator (variant A)", code: 9804, proj: "merc", parameters: NATURAL };
pub(super) static MERCATOR_B: Method = Method {
    name: "Mercator (variant B)",
    code: 9805,
    proj: "merc",
    parameters: &[&PARALLEL_TS, &NATURAL_LON, &FALSE_EAST, &FALSE_NORTH],
};
/// Spherical Mercator of ellipsoidal latitudes, used by web maps.
pub(super) static WEB_MERCATOR: Method = Method {
    name: "Popular Visualisation Pseudo Mercator",
    code: 1024,
    proj: "merc",
    parameters: &[&NATURAL_LAT, &NATURAL_LON, &FALSE_EAST, &FALSE_NORTH],
};
pub(super) static LAMBERT_AZIMUTHAL: Method = Method {
    name: "Lambert Azimuthal Equal Area",
    code: 9820,
    proj: "laea",
    parameters: &[&NATURAL_LAT, &NATURAL_LON, &FALSE_EAST, &FALSE_NORTH],
};
pub(super) static OBLIQUE_STEREOGRAPHIC: Method =
    Method { name: "Oblique Stereographic", code: 9809, proj: "sterea", parameters: NATURAL };
pub(super) static HOTINE_A: Method = Method {
    name: "Hotine Oblique Mercator (variant A)",
    code: 9812,
    proj: "omerc +no_uoff",
    parameters: &[&CENTRE_LAT, &CENTRE_LON, &AZIMUTH, &GRID_ANGLE, &CENTRE_SCALE, &FALSE_EAST, &FALSE_NORTH],
};
pub(super) static HOTINE_B: Method = Method {
    name: "Hotine Oblique Mercator (variant B)",
    code: 9815,
    proj: "omerc",
    parameters: &[&CENTRE_LAT, &CENTRE_LON, &AZIMUTH, &GRID_ANGLE, &CENTRE_SCALE, &CENTRE_EAST, &CENTRE_NORTH],
};

/// Finds a projection by its name in any dialect. `has_parameter` checks the text: ESRI uses one name for one and two
/// standard parallels. `is_scaled` is whether the text has a scale other than 1.
pub(super) fn find(name: &str, has_parameter: impl Fn(&Parameter) -> bool, is_scaled: bool) -> Option<&'static Method> {
    Some(match normalize(name).as_str() {
        "transversemercator" | "gausskruger" => &TRANSVERSE_MERCATOR,
        "transversemercatorsouthorientated" => &TRANSVERSE_MERCATOR_SOUTH,
        "lambertconformalconic" if !has_parameter(&PARALLEL_2) => &LAMBERT_1SP,
        "lambertconformalconic1sp" | "lambertconicconformal1sp" => &LAMBERT_1SP,
        "lambertconicconformal2spmichigan" => &LAMBERT_SCALED,
        "lambertconformalconic" | "lambertconformalconic2sp" | "lambertconicconformal2sp" if is_scaled => {
            &LAMBERT_SCALED
        }
        "lambertconformalconic" | "lambertconformalconic2sp" | "lambertconicconformal2sp" => &LAMBERT_2SP,
        "albers" | "albersconicequalarea" | "albersequalarea" => &ALBERS,
        "mercator" if !has_parameter(&PARALLEL_TS) => &MERCATOR_A,
        "mercator1sp" | "mercatorvarianta" => &MERCATOR_A,
        "mercator" | "mercator2sp" | "mercatorvariantb" => &MERCATOR_B,
        "mercatorauxiliarysphere" | "popularvisualisationpseudomercator" => &WEB_MERCATOR,
        "lambertazimuthalequalarea" => &LAMBERT_AZIMUTHAL,
        "obliquestereographic" | "doublestereographic" => &OBLIQUE_STEREOGRAPHIC,
        "hotineobliquemercator" | "hotineobliquemercatorvarianta" | "hotineobliquemercatorazimuthnaturalorigin" => {
            &HOTINE_A
        }
        "hotineobliquemercatorazimuthcenter" | "hotineobliquemercatorvariantb" | "obliquemercator" => &HOTINE_B,
        _ => return None,
    })
}

/// Whether the parameter is the angle of the rectified grid. ESRI omits it if it equals the azimuth.
pub(super) fn defaults_to_azimuth(parameter: &Parameter) -> bool {
    parameter.code == GRID_ANGLE.code
}

pub(super) fn is_azimuth(parameter: &Parameter) -> bool {
    parameter.code == AZIMUTH.code
}
