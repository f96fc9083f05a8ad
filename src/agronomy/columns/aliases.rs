//! Finds the canonical column that the name of a column means.

use crate::columns::alias_table::{ALIASES, IDS, LABELS, OTHER_PARTS};
use crate::columns::canonical::{YIELDS, fits};
use headland_reader::layer::units::Unit;

/// A canonical column that a name means, and the unit that the name states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alias {
    pub(crate) canonical: &'static str,
    pub(crate) unit: Option<Unit>,
    /// The rule that found it: `exact`, `alias`, `suffix` or `truncated`.
    pub(crate) rule: &'static str,
    /// Less is more specific, among the names of one canonical column.
    pub(crate) rank: usize,
}

/// Truncated names are less specific than any other.
const RANK_TRUNCATED: usize = 1_000;

/// Lengths at which exports truncate names.
const TRUNCATED: std::ops::RangeInclusive<usize> = 10..=11;

/// The canonical column that a name means.
pub(crate) fn find(name: &str) -> Option<Alias> {
    let plain = plain(name);
    if is_other(&plain) {
        return None;
    }
    let squeezed = squeeze(&plain);
    match exact(&squeezed) {
        // The signs behind a known name can be those of a unit: `Moisture__` of `Moisture(%)`.
        Some(alias) if alias.unit.is_none() && plain.ends_with('_') => {
            let unit =
                truncated(&plain).filter(|label| label.canonical == alias.canonical).and_then(|label| label.unit);
            Some(Alias { unit, ..alias })
        }
        Some(alias) => Some(alias),
        None => with_suffix(name, &plain).or_else(|| truncated(&plain)),
    }
}

/// How much a user cares for the unit of a column, by its name: yields come first, then rates, then other columns with a
/// meaning.
#[must_use]
pub fn name_rank(name: &str) -> u8 {
    match find(name).map(|alias| alias.canonical) {
        Some(yields) if YIELDS.contains(&yields) => 0,
        Some("target_rate" | "applied_rate" | "control_rate") => 1,
        Some(_) => 2,
        None => 3,
    }
}

/// Whether `name` is an abbreviation of `attribute`: its beginning, or its letters without some vowels.
pub(crate) fn is_abbreviation(name: &str, attribute: &str) -> bool {
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

/// Whether a name as of [`plain`] means something that no canonical column has, such as a goal or an id.
pub(crate) fn is_other(plain: &str) -> bool {
    let letters = plain.trim_matches('_');
    let is_id =
        IDS.contains(&letters) || (letters.ends_with("_id") && letters != "machine_id" && letters != "section_id");
    letters.len() < 2 || is_id || OTHER_PARTS.iter().any(|part| plain.contains(part))
}

fn exact(squeezed: &str) -> Option<Alias> {
    let position = |names: &str| names.split(' ').position(|known| known == squeezed);
    let (canonical, unit, place) =
        ALIASES.iter().find_map(|(canonical, unit, names)| Some((canonical, unit, position(names)?)))?;
    let rule = if squeeze(canonical) == squeezed { "exact" } else { "alias" };
    Some(Alias { canonical, unit: Unit::parse(unit), rule, rank: place.saturating_add(1) })
}

/// A known name and a unit in parentheses or behind `_`: `Distance(m)`, `Ertrag [dt/ha]`, `dist_in`, `flow_lb_s`,
/// `Yield_Mg_ha`, `rate_gal_per_ac`, `yield_kg_ha_1`.
fn with_suffix(name: &str, plain: &str) -> Option<Alias> {
    let in_brackets = |open, close| name.trim().strip_suffix(close).and_then(|name| name.rsplit_once(open));
    if let Some((label, unit)) = in_brackets('(', ')').or_else(|| in_brackets('[', ']')) {
        return fitting(label, unit);
    }
    // Letters keep their case: `Mg` is a megagram.
    let parts: Vec<&str> = name.trim().split(|sign: char| !sign.is_alphanumeric()).collect();
    let ends = parts.iter().rev().take_while(|part| part.is_empty()).count();
    let parts = parts.get(..parts.len().saturating_sub(ends))?;
    let label_of =
        |count: usize| plain.split('_').take(parts.len().saturating_sub(count)).collect::<Vec<_>>().join("_");
    (1..=3_usize).find_map(|count| {
        let unit = parts.get(parts.len().checked_sub(count)?..)?;
        let unit = match unit {
            // A single letter can begin several units.
            [unit] if unit.len() > 1 => (*unit).to_owned(),
            [base, per] | [base, "per", per] | [base, per, "1"] => format!("{base}/{per}"),
            _ => return None,
        };
        fitting(&label_of(count), &unit)
    })
}

fn fitting(label: &str, unit: &str) -> Option<Alias> {
    let unit = Unit::parse(unit)?;
    let alias = exact(&squeeze(&self::plain(label)))?;
    fits(alias.canonical, unit).then_some(Alias { unit: Some(unit), rule: "suffix", ..alias })
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
        let begins = |known: &str| known.len() > squeezed.len() && squeezed.len() >= 8 && known.starts_with(&squeezed);
        let mut all = ALIASES.iter().filter(|(_, _, names)| names.split(' ').any(begins));
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
pub(crate) fn plain(name: &str) -> String {
    let letter = |letter: char| if letter.is_alphanumeric() { without_accent(letter) } else { '_' };
    name.trim().chars().flat_map(char::to_lowercase).map(letter).collect()
}

/// The small letter without its accent.
pub(crate) fn without_accent(letter: char) -> char {
    match letter {
        '\u{e0}'..='\u{e5}' | '\u{105}' => 'a',
        '\u{e7}' | '\u{107}' => 'c',
        '\u{e8}'..='\u{eb}' | '\u{119}' => 'e',
        '\u{ec}'..='\u{ef}' => 'i',
        '\u{f1}' | '\u{144}' => 'n',
        '\u{f2}'..='\u{f6}' | '\u{f8}' => 'o',
        '\u{f9}'..='\u{fc}' => 'u',
        other => other,
    }
}

fn squeeze(plain: &str) -> String {
    plain.chars().filter(|letter| *letter != '_').collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::canonical::{DRY_YIELD, WET_YIELD};

    fn found(name: &str) -> Option<(&'static str, String)> {
        find(name).map(|alias| (alias.canonical, alias.unit.map(|unit| unit.to_string()).unwrap_or_default()))
    }

    #[test]
    fn names_of_real_files_mean_their_columns() {
        let expected = [
            ("Distance_f", "distance", "ft"),
            ("Distance(m)", "distance", "m"),
            ("dist_in", "distance", "in"),
            ("dstnc_f", "distance", "ft"),
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
            ("Pass_Num", "pass_number", ""),
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
            ("durtn_s", "interval", "s"),
            ("elevtn_", "elevation", ""),
            ("crp_flw_m", "flow", ""),
            ("yld_mss_w", "yield_wet_mass", ""),
            ("yld_vl_w", "yield_wet_volume", ""),
            ("yld_mss_d", "yield_dry_mass", ""),
            ("yld_vl_d", "yield_dry_volume", ""),
            ("wrk_stt", "working", ""),
            ("Rt_Apd_Ct_", "applied_rate", ""),
            ("Rt_Apd_Liq", "applied_rate", ""),
            ("Rt Apd Ct(ksds/ac)", "applied_rate", "ksds/ac"),
            ("Rate_Appli", "applied_rate", ""),
            ("Tgt_Rate_g", "target_rate", ""),
            ("DateStamp", "date", ""),
            ("SerialNumb", "machine", ""),
            ("VEHICLSPEED", "speed", ""),
            ("VRYIELDMASS", "yield", ""),
            ("DryYield", DRY_YIELD, ""),
            ("Dry_Yield", DRY_YIELD, ""),
            ("YIELD_DRY", DRY_YIELD, ""),
            ("Wet_Yield", WET_YIELD, ""),
            ("WetYield(bu/ac)", WET_YIELD, "bu/ac"),
            ("ErtragTroc", DRY_YIELD, ""),
            ("Ertrag feucht [dt/ha]", WET_YIELD, "dt/ha"),
            ("Ertrag [t/ha]", "yield", "t/ha"),
            ("Rendement_sec_q_ha", DRY_YIELD, "dt/ha"),
            ("Rendimien", "yield", ""),
            ("Rendimient", "yield", ""),
            ("Rendimiento seco (qq/ha)", DRY_YIELD, "dt/ha"),
            ("Produtivid", "yield", ""),
            ("Produtividade (kg/ha)", "yield", "kg/ha"),
            ("YldMassDry", "yield_dry_mass", ""),
            ("YldMassDry_tHa", "yield_dry_mass", "t/ha"),
            ("YldMassWet", "yield_wet_mass", ""),
            ("YldVolDry", "yield_dry_volume", ""),
            ("DRYMATTER", "yield_dry_matter", ""),
            ("Dry Matter Yield(kg/ha)", "yield_dry_matter", "kg/ha"),
            ("Yield_Mg_ha", "yield", "t/ha"),
            ("yield_kg_ha_1", "yield", "kg/ha"),
            ("yield_buac", "yield", "bu/ac"),
            ("AppliedRate_gal_per_ac", "applied_rate", "gal/ac"),
            ("TIMELAPSE", "time", ""),
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
            "crp_flw_v",
            "are_cnt",
            "dff_stt",
            "y_ffst_",
            "prd_c__",
            "LogTime",
            "GWTotal",
            "GMTTIME",
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
