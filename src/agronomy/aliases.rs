//! Names of columns in files of displays and farm software, and the canonical columns that they mean.
//!
//! Sources are files of Ag Leader, SMS, Deere and Climate displays in public repositories, and the local service.

use super::units::Unit;

/// A canonical column that a name means, and the unit that the name states.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alias {
    pub(super) canonical: &'static str,
    pub(super) unit: Option<Unit>,
    /// The rule that found it: `exact`, `alias`, `suffix` or `truncated`.
    pub(super) rule: &'static str,
    /// Less is more specific, among the names of one canonical column.
    pub(super) rank: usize,
}

/// Parts of names that mean something else: goals and recommendations, zones, projected coordinates, offsets,
/// calibration, quality of the position, and rates of nutrients that are computed from the rate of a product.
const OTHER_PARTS: &[&str] = &[
    "goal",
    "recom",
    "zone",
    "utm",
    "easting",
    "northing",
    "offset",
    "calib",
    "slope",
    "bias",
    "dop",
    "gps_stat",
    "diff_",
    "gl_mas",
    "rate__ma",
    "area_count",
    "prod_ac",
    "prod_ha",
    "flw_v",
    "flow_v",
];

/// Names of ids, in addition to those that end in `_id`.
const IDS: &[&str] = &["id", "fid", "oid", "gid", "objectid", "uuid", "guid"];

/// Canonical name, unit that the names state, names without separators. Numbers of languages: English, French, German,
/// Spanish, Portuguese.
const ALIASES: &[(&str, &str, &[&str])] = &[
    (
        "time",
        "",
        &[
            "isotime",
            "timestamp",
            "utctimestamp",
            "datetime",
            "gpstime",
            "gpstim",
            "time",
            "zeit",
            "uhrzeit",
            "heure",
            "hora",
        ],
    ),
    ("date", "", &["date", "datum", "fecha"]),
    ("longitude", "", &["longitude", "lon", "long", "lng", "longitud"]),
    ("latitude", "", &["latitude", "lat", "latitud"]),
    (
        "interval",
        "",
        &["interval", "cycle", "cycles", "cycletime", "duration", "logginginterval", "duree", "dauer", "duracion"],
    ),
    (
        "distance",
        "",
        &["distance", "dist", "dstnc", "distanc", "distancetravelled", "distancetraveled", "strecke", "distancia"],
    ),
    (
        "swath_width",
        "",
        &[
            "swathwidth",
            "swath",
            "swathwi",
            "swthwdth",
            "swthw",
            "swthwidth",
            "workingwidth",
            "width",
            "largeur",
            "largeurdetravail",
            "arbeitsbreite",
            "breite",
            "ancho",
            "anchodetrabajo",
            "largura",
            "larguradetrabalho",
        ],
    ),
    (
        "heading",
        "",
        &["heading", "track", "course", "bearing", "machineheading", "piste", "kurs", "fahrtrichtung", "rumbo"],
    ),
    ("heading", "deg", &["hdngdg", "trckd"]),
    (
        "speed",
        "",
        &[
            "speed",
            "groundspeed",
            "vehiclespeed",
            "gpsspeed",
            "velocity",
            "vitesse",
            "geschwindigkeit",
            "velocidad",
            "velocidade",
        ],
    ),
    ("speed", "mph", &["spdmp"]),
    ("speed", "km/h", &["vitessekm"]),
    (
        "elevation",
        "",
        &["elevation", "elev", "elevatn", "altitude", "alt", "gpsaltitude", "altura", "hoehe", "hohe", "altitud"],
    ),
    ("elevation", "m", &["zmetrs"]),
    ("pass", "", &["pass", "passnum", "passnumber", "passno", "passnm", "passage", "pasada", "passada"]),
    ("section", "", &["section", "sectionid", "boomsection"]),
    ("machine", "", &["machine", "machineid", "serial"]),
    (
        "working",
        "",
        &[
            "working",
            "workstate",
            "headerdown",
            "headerstatus",
            "headerstat",
            "header",
            "boomon",
            "boomstatus",
            "clutchon",
            "status",
        ],
    ),
    ("flow", "", &["flow", "massflow", "cropflow", "grainflow", "cropflwm", "debit", "durchfluss", "flujo", "fluxo"]),
    ("flow", "lb/s", &["flwlbs"]),
    (
        "moisture",
        "",
        &[
            "moisture",
            "moistur",
            "mostr",
            "moist",
            "grainmoisture",
            "humidite",
            "humedad",
            "umidade",
            "feuchte",
            "feuchtigkeit",
            "kornfeuchte",
        ],
    ),
    ("yield_wet_mass", "", &["yieldwetmass", "wetmass", "yldmasswet", "yldmassw", "yieldmasswet"]),
    ("yield_dry_mass", "", &["yielddrymass", "drymass", "yldmassdry", "yldmassd", "yieldmassdry", "drymatter"]),
    ("yield_wet_volume", "", &["yieldwetvolume", "wetvolume", "yldvolwet", "yldvolwe", "yieldvolwet"]),
    (
        "yield_dry_volume",
        "",
        &["yielddryvolume", "dryvolume", "yldvoldry", "yldvoldr", "yldvld", "yieldvoldry", "rendvols"],
    ),
    ("yield_dry_volume", "bu/ac", &["drybuac"]),
    (
        "yield",
        "",
        &["yield", "vryieldvol", "vryieldmas", "yieldvol", "yld", "rendement", "ertrag", "rendimiento", "rendimento"],
    ),
    ("protein", "", &["protein", "proteine", "proteina", "eiweiss"]),
    (
        "target_rate",
        "",
        &[
            "targetrate",
            "target",
            "targtrt",
            "tgtrate",
            "tgtratel",
            "tgtratek",
            "ratetarget",
            "targetpop",
            "targetpopulation",
            "sollmenge",
            "dosecible",
            "dosisobjetivo",
        ],
    ),
    (
        "applied_rate",
        "",
        &[
            "appliedrate",
            "appldrate",
            "appldrt",
            "rateappld",
            "rateapplied",
            "rtapdms",
            "rtapd",
            "vrappratev",
            "vrappratem",
            "vrapprate",
            "actualrate",
            "population",
            "appliedpop",
            "seedingrate",
            "vrseedrate",
            "istmenge",
            "doseappliquee",
            "dosisaplicada",
        ],
    ),
    ("control_rate", "", &["controlrate", "cntrlrt"]),
    ("depth", "", &["depth", "seeddepth", "seedingdepth", "plantingdepth"]),
    ("down_force", "", &["downforce"]),
    ("singulation", "", &["singulation", "singulatn"]),
    ("skips", "", &["skips"]),
    ("doubles", "", &["doubles", "multiples"]),
    ("product", "", &["product", "productname", "produkt", "produit", "producto"]),
    ("variety", "", &["variety", "varietyname", "hybrid", "sorte", "variete", "variedad", "cultivar"]),
    ("crop", "", &["crop", "cropname", "grain", "kultur", "culture", "cultivo"]),
    ("operator", "", &["operator", "operatorname", "driver", "fahrer", "operateur", "operador"]),
    ("field", "", &["field", "fieldname", "schlag", "parcelle", "parcela", "lote", "talhao"]),
    ("load", "", &["load", "loadname"]),
];

/// Labels of SMS, whose signs other than letters and digits become `_` in a .dbf, which truncates them: canonical name,
/// label, and the units that the label can end with.
const LABELS: &[(&str, &str, &[&str])] = &[
    ("distance", "distance", &["ft", "m"]),
    ("swath_width", "swth_wdth", &["ft", "m"]),
    ("heading", "track", &["deg"]),
    ("interval", "duration", &["s"]),
    ("elevation", "elevation", &["ft", "m"]),
    ("moisture", "moisture", &["%"]),
    ("flow", "crop_flw_m_", &["lb/s", "tonne/h"]),
    ("yield_wet_mass", "yld_mass_wet_", &["lb/ac", "tonne/ha"]),
    ("yield_dry_mass", "yld_mass_dry_", &["lb/ac", "tonne/ha"]),
    ("yield_wet_volume", "yld_vol_wet_", &["bu/ac", "m3/ha"]),
    ("yield_dry_volume", "yld_vol_dry_", &["bu/ac", "m3/ha"]),
    ("speed", "speed", &["mph", "km/h"]),
    ("target_rate", "tgt_rate", &["lb/ac", "kg/ha", "l/ha", "ksds/ac", "gal/ac"]),
    ("swath_width", "largeur_de_travail", &[""]),
];

/// Truncated names are less specific than any other.
const RANK_TRUNCATED: usize = 1_000;

/// Lengths at which exports truncate names.
const TRUNCATED: std::ops::RangeInclusive<usize> = 10..=11;

/// The canonical column that a name means.
pub(super) fn find(name: &str) -> Option<Alias> {
    let plain = plain(name);
    if is_other(&plain) {
        return None;
    }
    let squeezed = squeeze(&plain);
    exact(&squeezed).or_else(|| with_suffix(name, &plain)).or_else(|| truncated(&plain))
}

/// Whether `name` is an abbreviation of `attribute`: its beginning, or its letters without some vowels.
pub(super) fn is_abbreviation(name: &str, attribute: &str) -> bool {
    let (name, attribute) = (squeeze(&plain(name)), squeeze(&plain(attribute)));
    if name.len() < 4 || name.len() >= attribute.len() {
        return false;
    }
    if attribute.starts_with(&name) {
        return true;
    }
    let mut letters = name.chars().peekable();
    for letter in attribute.chars() {
        if letters.peek() == Some(&letter) {
            letters.next();
        } else if !"aeiou".contains(letter) {
            return letters.peek().is_none();
        }
    }
    letters.peek().is_none()
}

fn is_other(plain: &str) -> bool {
    let letters = plain.trim_matches('_');
    let is_id =
        IDS.contains(&letters) || (letters.ends_with("_id") && letters != "machine_id" && letters != "section_id");
    letters.len() < 2 || is_id || OTHER_PARTS.iter().any(|part| plain.contains(part))
}

fn exact(squeezed: &str) -> Option<Alias> {
    let position = |names: &[&str]| names.iter().position(|known| *known == squeezed);
    let (canonical, unit, place) =
        ALIASES.iter().find_map(|(canonical, unit, names)| Some((canonical, unit, position(names)?)))?;
    let rule = if squeeze(canonical) == squeezed { "exact" } else { "alias" };
    Some(Alias { canonical, unit: Unit::parse(unit), rule, rank: place.saturating_add(1) })
}

/// A known name and a unit in parentheses or behind `_`: `Distance(m)`, `dist_in`, `speed_mph_`, `flow_lb_s`.
fn with_suffix(name: &str, plain: &str) -> Option<Alias> {
    let in_parentheses = name.trim().strip_suffix(')').and_then(|name| name.rsplit_once('('));
    if let Some((label, unit)) = in_parentheses {
        return fitting(label, unit);
    }
    let parts: Vec<&str> = plain.trim_end_matches('_').split('_').collect();
    (1..=2_usize).find_map(|count| {
        let (label, unit) = parts.split_at_checked(parts.len().checked_sub(count)?)?;
        // A single letter can begin several units.
        (count > 1 || unit.first()?.len() > 1).then(|| fitting(&label.join("_"), &unit.join("/")))?
    })
}

fn fitting(label: &str, unit: &str) -> Option<Alias> {
    let unit = Unit::parse(unit)?;
    let alias = exact(&squeeze(&self::plain(label)))?;
    super::column_match::fits(alias.canonical, unit).then_some(Alias { unit: Some(unit), rule: "suffix", ..alias })
}

/// A label that is truncated at 10 or 11 characters. Its unit is certain if all labels that begin so have one unit.
fn truncated(plain: &str) -> Option<Alias> {
    if !TRUNCATED.contains(&plain.chars().count()) {
        return None;
    }
    let mut found: Option<Alias> = None;
    for (canonical, label, units) in LABELS {
        for text in *units {
            let whole = format!("{label}_{}_", self::plain(text));
            if !whole.starts_with(plain) {
                continue;
            }
            let unit = Unit::parse(text);
            found = match found {
                None => Some(Alias { canonical, unit, rule: "truncated", rank: RANK_TRUNCATED }),
                Some(other) if other.canonical == *canonical => {
                    Some(Alias { unit: other.unit.filter(|known| Some(*known) == unit), ..other })
                }
                Some(_) => return None,
            };
        }
    }
    // A name of 8 letters or more that another table truncates.
    let squeezed = squeeze(plain);
    found.or_else(|| {
        let begins = |known: &&str| known.len() > squeezed.len() && squeezed.len() >= 8 && known.starts_with(&squeezed);
        let mut all = ALIASES.iter().filter(|(_, _, names)| names.iter().any(|name| begins(&name)));
        let (canonical, unit, _) = all.next()?;
        all.next().is_none().then(|| Alias {
            canonical,
            unit: Unit::parse(unit),
            rule: "truncated",
            rank: RANK_TRUNCATED,
        })
    })
}

/// The name in lower case without accents, with `_` for signs other than letters and digits.
fn plain(name: &str) -> String {
    let letter = |letter: char| match letter {
        '\u{e0}'..='\u{e5}' => 'a',
        '\u{e7}' => 'c',
        '\u{e8}'..='\u{eb}' => 'e',
        '\u{ec}'..='\u{ef}' => 'i',
        '\u{f1}' => 'n',
        '\u{f2}'..='\u{f6}' => 'o',
        '\u{f9}'..='\u{fc}' => 'u',
        other if other.is_alphanumeric() => other,
        _ => '_',
    };
    name.trim().chars().flat_map(char::to_lowercase).map(letter).collect()
}

fn squeeze(plain: &str) -> String {
    plain.chars().filter(|letter| *letter != '_').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str) -> Option<(&'static str, String)> {
        find(name).map(|alias| (alias.canonical, alias.unit.map(|unit| unit.to_string()).unwrap_or_default()))
    }

    #[test]
    fn names_of_real_files_mean_their_columns() {
        let expected = [
            ("Distance_f", "distance", "ft"),
            ("Distance(m)", "distance", "m"),
            ("dist_in", "distance", "in"),
            ("dstnc_f", "distance", ""),
            ("DISTANC", "distance", ""),
            ("Track_deg_", "heading", "deg"),
            ("trck_d_", "heading", "deg"),
            ("Duration_s", "interval", "s"),
            ("Elevation_", "elevation", ""),
            ("Swth_Wdth_", "swath_width", ""),
            ("Swth Wdth(m)", "swath_width", "m"),
            ("largeur_de", "swath_width", ""),
            ("swth_w_", "swath_width", ""),
            ("Crop_Flw_M", "flow", ""),
            ("Crop Flw(M)(tonne/h)", "flow", "t/h"),
            ("flw_lbs", "flow", "lb/s"),
            ("Moisture__", "moisture", "%"),
            ("mostr__", "moisture", ""),
            ("Yld_Mass_W", "yield_wet_mass", ""),
            ("Yld_Vol_We", "yield_wet_volume", ""),
            ("Yld_Mass_D", "yield_dry_mass", ""),
            ("Yld_Vol_Dr", "yield_dry_volume", ""),
            ("Yld Mass(Dry)(tonne/ha)", "yield_dry_mass", "t/ha"),
            ("DRY_BU_AC", "yield_dry_volume", "bu/ac"),
            ("Speed_mph_", "speed", "mph"),
            ("spd_mp_", "speed", "mph"),
            ("vitesse_km", "speed", "km/h"),
            ("Pass_Num", "pass", ""),
            ("Work_State", "working", ""),
            ("VRYIELDVOL", "yield", ""),
            ("SECTIONID", "section", ""),
            ("vrappratev", "applied_rate", ""),
            ("tgt_rate_l", "target_rate", ""),
            ("rt_apd_ms_", "applied_rate", ""),
            ("rate_appld", "applied_rate", ""),
            ("z_metrs", "elevation", "m"),
            ("hdng_dg", "heading", "deg"),
            ("gps_tim", "time", ""),
        ];
        for (name, canonical, unit) in expected {
            assert_eq!(found(name), Some((canonical, unit.to_owned())), "{name}");
        }
    }

    #[test]
    fn other_columns_mean_nothing() {
        let names = [
            "id",
            "Obj__Id",
            "sample_id",
            "x",
            "y",
            "n",
            "w",
            "utm_x",
            "utm_zon",
            "yld_goal_b",
            "yld_gl_mas",
            "ph_goal__1",
            "n_goal_ppm",
            "rate__mass",
            "rate__ma_1",
            "Area_Count",
            "Diff_Statu",
            "Crop_Flw_V",
            "Y_Offset_f",
            "Prod_ac_hr",
            "Dataset",
            "slope1",
            "bias2",
            "int_time",
            "utc_time",
            "gps",
            "PDOP",
            "rm_code",
            "sp12",
            "temp",
            "RowWidth",
            "FlowOffset",
            "TimeOffset",
            "N",
            "Nitrogen",
            "POP2020",
            "REGION_UN",
            "STEP_ELEVATION",
            "orig_file",
            "farmer",
            "year",
            "PRESSURE",
            "WINDSPEED",
            "AIRTEMP",
        ];
        for name in names {
            assert_eq!(found(name), None, "{name}");
        }
    }

    #[test]
    fn abbreviations_are_beginnings_or_drop_vowels() {
        for (name, attribute) in
            [("SWATHWI", "SWATHWIDTH"), ("AppldRt", "AppliedRate"), ("Elevatn", "Elevation"), ("TargtRt", "TargetRate")]
        {
            assert!(is_abbreviation(name, attribute), "{name}");
        }
        for (name, attribute) in
            [("Crop", "CropId2x"), ("Tim", "Time"), ("AppldRt", "ApplicationRate"), ("Rate", "TargetRate")]
        {
            assert_eq!(
                is_abbreviation(name, attribute),
                attribute.to_lowercase().starts_with(&name.to_lowercase()) && name.len() > 3,
                "{name}"
            );
        }
    }
}
