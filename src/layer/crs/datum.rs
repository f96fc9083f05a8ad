//! The datums that field data come in: their names in every dialect, and whether they lie on WGS 84.

/// A datum known by name.
pub(super) struct Known {
    /// As the EPSG registry spells it, which is how `pyproj` finds it again.
    pub(super) name: &'static str,
    /// The usual name of the geographic system on it.
    pub(super) system: &'static str,
    /// True where the usual transformation to WGS 84 changes nothing (within a metre or two).
    pub(super) null_shift: bool,
    aliases: &'static [&'static str],
}

const fn on_wgs84(name: &'static str, system: &'static str, aliases: &'static [&'static str]) -> Known {
    Known { name, system, null_shift: true, aliases }
}

const fn apart(name: &'static str, system: &'static str, aliases: &'static [&'static str]) -> Known {
    Known { name, system, null_shift: false, aliases }
}

/// The name of the datum of WGS 84.
pub(super) const WGS84: &str = "World Geodetic System 1984";
/// The name of the datum of NAD83.
pub(super) const NAD83: &str = "North American Datum 1983";

#[rustfmt::skip]
const KNOWN: &[Known] = &[
    on_wgs84(WGS84, "WGS 84", &["wgs1984", "wgs84"]),
    on_wgs84(NAD83, "NAD83", &["northamerican1983", "nad83", "nad1983"]),
    on_wgs84("NAD83 Canadian Spatial Reference System", "NAD83(CSRS)", &["northamerican1983csrs"]),
    on_wgs84("NAD83 (High Accuracy Reference Network)", "NAD83(HARN)", &["northamerican1983harn"]),
    on_wgs84("NAD83 (National Spatial Reference System 2007)", "NAD83(NSRS2007)", &["nad1983nsrs2007"]),
    on_wgs84("NAD83 (National Spatial Reference System 2011)", "NAD83(2011)", &["nad19832011"]),
    on_wgs84("European Terrestrial Reference System 1989", "ETRS89", &["etrs1989", "etrs89"]),
    on_wgs84("Geocentric Datum of Australia 1994", "GDA94", &["gda1994", "gda94"]),
    on_wgs84("New Zealand Geodetic Datum 2000", "NZGD2000", &["nzgd2000"]),
    on_wgs84("Sistema de Referencia Geocentrico para las AmericaS 2000", "SIRGAS 2000", &["sirgas2000"]),
    on_wgs84("Reseau Geodesique Francais 1993 v1", "RGF93 v1", &["rgf1993", "reseaugeodesiquefrancais1993"]),
    on_wgs84("Geocentric Datum of Australia 2020", "GDA2020", &["gda2020"]),
    on_wgs84("Japanese Geodetic Datum 2000", "JGD2000", &["jgd2000"]),
    on_wgs84("Japanese Geodetic Datum 2011", "JGD2011", &["jgd2011"]),
    on_wgs84("China 2000", "China Geodetic Coordinate System 2000", &["chinageodeticcoordinatesystem2000"]),
    apart("North American Datum 1927", "NAD27", &["northamerican1927", "nad27"]),
    apart("Ordnance Survey of Great Britain 1936", "OSGB36", &["osgb1936", "osgb36"]),
    apart("European Datum 1950", "ED50", &["european1950", "ed50"]),
    apart("CH1903+", "CH1903+", &[]),
];

/// A name as it compares: lower-case letters and digits, without ESRI's `D_` and EPSG's ` ensemble`.
pub(super) fn plain(name: &str) -> String {
    let name = name.strip_prefix("D_").unwrap_or(name);
    let name = name.strip_suffix(" ensemble").unwrap_or(name);
    name.chars().filter(|c| c.is_alphanumeric() || *c == '+').map(|c| c.to_ascii_lowercase()).collect()
}

/// Finds a datum by any of its names.
pub(super) fn find(name: &str) -> Option<&'static Known> {
    let wanted = plain(name);
    KNOWN.iter().find(|known| plain(known.name) == wanted || known.aliases.contains(&wanted.as_str()))
}

/// Whether the text says that its writer did not know the datum. PROJ writes "unknown" too where it knew a shift.
pub(super) fn is_unknown(name: &str) -> bool {
    let name = plain(name);
    !name.contains("towgs84")
        && (name.is_empty() || name.starts_with("unknown") || name.starts_with("notspecified") || name == "unnamed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_every_dialect_and_nothing_else() {
        for name in ["D_WGS_1984", "WGS_1984", "World Geodetic System 1984 ensemble", "WGS84"] {
            assert_eq!(find(name).map(|known| known.name), Some(WGS84), "{name}");
        }
        assert_eq!(find("D_North_American_1983").map(|known| known.name), Some(NAD83));
        assert_eq!(find("D_North_American_1983_CSRS").map(|known| known.system), Some("NAD83(CSRS)"));
        assert!(find("D_North_American_1927").is_some_and(|known| !known.null_shift));
        assert!(find("D_Tokyo").is_none() && find("").is_none());
        assert!(
            is_unknown("D_unknown")
                && is_unknown("Not specified (based on GRS 1980 ellipsoid)")
                && !is_unknown("D_Tokyo")
        );
    }
}
