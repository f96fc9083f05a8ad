//! Known datums: names in every WKT dialect, and their shift to WGS 84.

use super::definition::{DEGREE, Datum, Definition, Ellipsoid, Geographic, Meridian, Unit};

pub(super) struct KnownDatum {
    /// The name in the EPSG registry, which `pyproj` recognizes.
    pub(super) name: &'static str,
    /// The common name of its geographic system, and the EPSG code of that system in degrees from Greenwich.
    pub(super) system: &'static str,
    pub(super) epsg: u32,
    /// The letter of the datum in `systems.txt`.
    pub(super) letter: char,
    figure: Figure,
    /// The shift to WGS 84.
    pub(super) shift: DatumShift,
    aliases: &'static [&'static str],
}

/// The shift of a datum to WGS 84 that PROJ uses without grids in most of its area, and its accuracy. If PROJ treats
/// other regions differently, the accuracy covers the difference.
#[derive(Clone, Copy)]
pub(super) enum DatumShift {
    /// WGS 84 itself.
    Same,
    /// No shift; the text is the error this may cause.
    AsIs(&'static str),
    /// Seven parameters as in `TOWGS84`; the text is the accuracy.
    Helmert([f64; 7], &'static str),
    /// Different shifts in each region, or a grid.
    Unknown,
}

type Figure = (f64, f64);
const GRS80: Figure = (6_378_137.0, 298.257_222_101);
const WGS84_FIGURE: Figure = (6_378_137.0, 298.257_223_563);
const BESSEL: Figure = (6_377_397.155, 299.152_812_8);

/// The name of the WGS 84 datum.
pub(super) const WGS84: &str = "World Geodetic System 1984";
/// For NAD83(CSRS) and NAD83(HARN): NAD83 as of 1997.
const NAD83_1997: [f64; 7] =
    [-0.991, 1.9072, 0.5129, 0.025_789_907_519_493_2, 0.009_650_098_960_270_4, 0.011_659_943_232_342_1, 0.0];
/// Outside the 48 states PROJ does not shift NAD83(HARN). In American Samoa the difference is 2.1 m.
const HARN: &str = "1 m, in Alaska, Hawaii and on the islands, where PROJ applies no shift, by up to 2.1 m";
const OSGB36: [f64; 7] = [446.448, -125.157, 542.06, 0.15, 0.247, 0.842, -20.489];
const AMERSFOORT: [f64; 7] =
    [565.4171, 50.3319, 465.5524, -0.398_957_388_243_134, 0.343_987_817_378_283, -1.877_401_639_980_45, 4.0725];

/// The geographic system WGS 84.
pub(super) fn wgs84() -> Definition {
    let ellipsoid =
        Ellipsoid { name: "WGS 84".to_owned(), semi_major: 6_378_137.0, inverse_flattening: 298.257_223_563 };
    Definition::Geographic(Geographic {
        name: "WGS 84".to_owned(),
        datum: Datum { name: WGS84.to_owned(), ellipsoid, epsg: None, to_wgs84: None },
        meridian: Meridian { name: "Greenwich".to_owned(), degrees: 0.0 },
        unit: Unit { name: "degree".to_owned(), factor: DEGREE },
        axes: Vec::new(),
        epsg: Some(4326),
    })
}

const fn known(
    (letter, epsg): (char, u32),
    name: &'static str,
    system: &'static str,
    figure: Figure,
    shift: DatumShift,
    aliases: &'static [&'static str],
) -> KnownDatum {
    KnownDatum { name, system, epsg, letter, figure, shift, aliases }
}

#[rustfmt::skip]
const KNOWN: &[KnownDatum] = &[
    known(('A', 4326), WGS84, "WGS 84", WGS84_FIGURE, DatumShift::Same, &["wgs1984", "wgs84"]),
    known(('B', 4269), "North American Datum 1983", "NAD83", GRS80, DatumShift::AsIs("4 m, on the Aleutian Islands by up to 8 m"), &["northamerican1983", "nad83", "nad1983"]),
    known(('F', 4617), "NAD83 Canadian Spatial Reference System", "NAD83(CSRS)", GRS80, DatumShift::Helmert(NAD83_1997, "1 m"), &["northamerican1983csrs"]),
    known(('C', 4152), "NAD83 (High Accuracy Reference Network)", "NAD83(HARN)", GRS80, DatumShift::Helmert(NAD83_1997, HARN), &["northamerican1983harn"]),
    known(('D', 4759), "NAD83 (National Spatial Reference System 2007)", "NAD83(NSRS2007)", GRS80, DatumShift::AsIs("2 m"), &["nad1983nsrs2007"]),
    known(('E', 6318), "NAD83 (National Spatial Reference System 2011)", "NAD83(2011)", GRS80, DatumShift::AsIs("2 m"), &["nad19832011"]),
    known(('H', 4258), "European Terrestrial Reference System 1989", "ETRS89", GRS80, DatumShift::AsIs("1 m"), &["etrs1989", "etrs89"]),
    known(('O', 4619), "SWEREF99", "SWEREF99", GRS80, DatumShift::AsIs("1 m"), &[]),
    known(('N', 4171), "Reseau Geodesique Francais 1993 v1", "RGF93 v1", GRS80, DatumShift::AsIs("1 m"), &["rgf1993", "reseaugeodesiquefrancais1993"]),
    known(('J', 4283), "Geocentric Datum of Australia 1994", "GDA94", GRS80, DatumShift::AsIs("3 m"), &["gda1994", "gda94"]),
    known(('K', 7844), "Geocentric Datum of Australia 2020", "GDA2020", GRS80, DatumShift::AsIs("3 m"), &["gda2020"]),
    known(('L', 4167), "New Zealand Geodetic Datum 2000", "NZGD2000", GRS80, DatumShift::AsIs("1 m"), &["nzgd2000"]),
    known(('M', 4674), "Sistema de Referencia Geocentrico para las AmericaS 2000", "SIRGAS 2000", GRS80, DatumShift::AsIs("1 m"), &["sirgas2000"]),
    known(('Q', 4190), "Posiciones Geodesicas Argentinas 1998", "POSGAR 98", GRS80, DatumShift::AsIs("1 m"), &["posgar1998"]),
    known(('P', 5340), "Posiciones Geodesicas Argentinas 2007", "POSGAR 2007", WGS84_FIGURE, DatumShift::Helmert([-0.41, 0.46, -0.35, 0.0, 0.0, 0.0, 0.0], "0.5 m"), &["posgar2007"]),
    known(('Z', 9702), "ETRF2000 Poland", "ETRF2000-PL", GRS80, DatumShift::AsIs("1 m"), &["etrf2000poland"]),
    known(('V', 4612), "Japanese Geodetic Datum 2000", "JGD2000", GRS80, DatumShift::AsIs("1 m, in the north-east of Honshu, which moved in 2011, by up to 5.3 m"), &["jgd2000"]),
    known(('W', 6668), "Japanese Geodetic Datum 2011", "JGD2011", GRS80, DatumShift::AsIs("1 m"), &["jgd2011"]),
    known(('X', 4490), "China 2000", "China Geodetic Coordinate System 2000", GRS80, DatumShift::AsIs("1 m"), &["chinageodeticcoordinatesystem2000"]),
    known(('R', 4277), "Ordnance Survey of Great Britain 1936", "OSGB36", (6_377_563.396, 299.324_964_6), DatumShift::Helmert(OSGB36, "2 m"), &["osgb1936", "osgb36"]),
    known(('S', 4289), "Amersfoort", "Amersfoort", BESSEL, DatumShift::Helmert(AMERSFOORT, "1 m"), &[]),
    known(('U', 4150), "CH1903+", "CH1903+", BESSEL, DatumShift::Helmert([674.374, 15.056, 405.346, 0.0, 0.0, 0.0, 0.0], "1 m"), &[]),
    known(('T', 4314), "Deutsches Hauptdreiecksnetz", "DHDN", BESSEL, DatumShift::Unknown, &[]),
    known(('G', 4267), "North American Datum 1927", "NAD27", (6_378_206.4, 294.978_698_213_898), DatumShift::Unknown, &["northamerican1927", "nad27"]),
    known(('I', 4230), "European Datum 1950", "ED50", (6_378_388.0, 297.0), DatumShift::Unknown, &["european1950", "ed50"]),
    known(('Y', 4618), "South American Datum 1969", "SAD69", (6_378_160.0, 298.25), DatumShift::Unknown, &["southamerican1969", "sad69"]),
];

impl KnownDatum {
    /// Whether the ellipsoid is WGS 84 or GRS 1980, which differ by 0.1 mm.
    pub(super) fn is_modern(&self) -> bool {
        self.figure == GRS80 || self.figure == WGS84_FIGURE
    }

    /// Whether this is the ellipsoid of the datum. The tolerance allows truncated digits and separates GRS 1980 from
    /// WGS 84.
    pub(super) fn is_on(&self, figure: &Ellipsoid) -> bool {
        let (semi_major, inverse) = self.figure;
        (figure.semi_major - semi_major).abs() < 1e-3 && (figure.inverse_flattening - inverse).abs() < 1e-7
    }

    /// The WKT of its geographic system in degrees from Greenwich.
    pub(super) fn wkt(&self) -> String {
        let (semi_major, inverse) = self.figure;
        let figure = match self.figure {
            GRS80 => "GRS 1980",
            WGS84_FIGURE => "WGS 84",
            _ => self.system,
        };
        format!(
            "GEOGCS[\"{}\",DATUM[\"{}\",SPHEROID[\"{figure}\",{semi_major},{inverse}]],PRIMEM[\"Greenwich\",0],\
             UNIT[\"degree\",0.0174532925199433]]",
            self.system, self.name
        )
    }
}

/// The first datum that matches.
pub(super) fn find_by(matches: impl Fn(&KnownDatum) -> bool) -> Option<&'static KnownDatum> {
    KNOWN.iter().find(|known| matches(known))
}

/// Normalizes a name: lower-case letters and digits, without ESRI's `D_` and EPSG's ` ensemble`.
pub(super) fn normalize(name: &str) -> String {
    let name = name.strip_prefix("D_").unwrap_or(name);
    let name = name.strip_suffix(" ensemble").unwrap_or(name);
    name.chars().filter(|c| c.is_alphanumeric() || *c == '+').map(|c| c.to_ascii_lowercase()).collect()
}

/// Finds a datum by any of its names.
pub(super) fn find(name: &str) -> Option<&'static KnownDatum> {
    let wanted = normalize(name);
    KNOWN.iter().find(|known| normalize(known.name) == wanted || known.aliases.contains(&wanted.as_str()))
}

/// Whether the writer did not know the datum. PROJ also writes "unknown" for a datum with a known shift.
pub(super) fn is_unknown(name: &str) -> bool {
    let name = normalize(name);
    !name.contains("towgs84")
        && (name.is_empty() || name.starts_with("unknown") || name.starts_with("notspecified") || name == "unnamed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datum_names_of_every_dialect_are_found() {
        for name in ["D_WGS_1984", "WGS_1984", "World Geodetic System 1984 ensemble", "WGS84"] {
            assert_eq!(find(name).map(|known| known.name), Some(WGS84), "{name}");
        }
        assert_eq!(find("D_North_American_1983").map(|known| known.epsg), Some(4269));
        assert_eq!(find("D_North_American_1983_CSRS").map(|known| known.system), Some("NAD83(CSRS)"));
        assert!(find("D_North_American_1927").is_some_and(|known| matches!(known.shift, DatumShift::Unknown)));
        assert!(find("D_Tokyo").is_none() && find("").is_none());
        assert!(
            is_unknown("D_unknown")
                && is_unknown("Not specified (based on GRS 1980 ellipsoid)")
                && !is_unknown("D_Tokyo")
        );
    }
}
