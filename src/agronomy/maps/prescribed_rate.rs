//! Finds the column of rates in a prescription, for its checks and for comparisons with applied rates.

use arrow_schema::{DataType, Field};

use crate::columns::cell_values::numbers;
use crate::columns::row_ratios::median;
use crate::maps::column_words::{NUTRIENTS, RATE_STEMS, YIELD_STEMS, is_other_name, words};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;
use headland_reader::layer::crs::Crs;
use headland_reader::layer::units::Unit;

/// Ids that no word for a rate makes a rate, such as the `TARGET_FID` of a spatial join.
const IDS: &str = "id ids fid oid gid uid uuid guid objectid";

/// Words that say what a zone is, not what it receives: its number, its class, or its edges in a grid of QGIS.
const ZONES: &str =
    "zone zones zona zonas zonen mz cluster clusters class klasse classe clase left right top bottom product";

/// Words of sizes, in the languages of exports, and of shapes, whose numbers are lengths and areas.
const SIZES: &str = "area areas perimeter perim umfang perimetre perimetro flache flaeche superficie superf surface \
                     oppervlakte shape geom geometry acreage";

/// Ends of sizes that are written without a separator, such as `TOTALACRES`.
const SIZE_ENDS: &[&str] = &["acres", "hectares", "area", "perimeter", "flache", "flaeche"];

/// Words of names that are sizes if there are no others but the fillers, as in `GIS_Acres` and `LENGTH_M`.
const GROUND_UNITS: &str = "ha hectare hectares hectareas hektar ac acre acres sqm qm sqft length leng";
const FILLERS: &str = "total gis calc gps gross net sum size sq m km ft of in";

/// What the ground and the plants are; no machine applies it.
const MEASURED: &str =
    "elev elevation elevatio altitude dem slope aspect ndvi ndre evi savi gndvi ph cec om ec twi moisture";

/// Words of amounts, with which a unit of ground is a rate: `lbs_acre`, `seeds_ha`.
const AMOUNTS: &str = "kg g t to ton tons tonne tonnes lb lbs oz cwt l lt ltr liter litre litres gal gals gpa qt pt ml seeds \
                       sds ksds kseeds units korn korner per";

/// Zones whose column is proportional to their area, as a part of all zones.
const LEAST_PROPORTIONAL: f64 = 0.9;
/// Rounding of areas, and the part by which areas must differ for a column to follow them.
const ROUNDING: f64 = 0.02;
const LEAST_SPREAD: f64 = 0.05;
/// Fewer zones can have rates as their areas by chance.
const FEWEST: usize = 3;

/// The column of rates, by its place among the columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrescribedRate {
    /// `RATE`, or the only number that is neither an id nor a size of the zones.
    Column(usize),
    /// Columns that can all be the rate.
    Several(Vec<usize>),
    /// No number but ids, years, coordinates, and lengths and areas of the zones.
    Missing,
}

/// Finds the column of rates: `RATE` in any letter case, else the only number that is no id, no measurement of the ground and
/// no size of the zones, by its name or because it is proportional to their areas.
#[must_use]
pub fn prescribed_rate(zones: &Layer) -> PrescribedRate {
    let schema = zones.schema();
    let fields = || schema.fields().iter().enumerate().filter(|(index, _)| Some(*index) != zones.geometry_index());
    let is_number = |kind: &DataType| matches!(kind, DataType::Float64 | DataType::Int32 | DataType::Int64);
    let select = |is_it: &dyn Fn(&Field) -> bool| -> Vec<usize> {
        fields().filter(|(_, field)| is_it(field)).map(|(index, _)| index).collect()
    };
    let mut found = select(&|field| field.name().eq_ignore_ascii_case("rate"));
    if found.is_empty() {
        found = select(&|field| is_number(field.data_type()) && !is_no_rate(field.name()));
        if found.iter().any(|index| !is_rate(schema.field(*index))) {
            let areas = own_areas(zones);
            found.retain(|index| is_rate(schema.field(*index)) || !is_proportional(&numbers(zones, *index), &areas));
        }
    }
    match *found {
        [] => PrescribedRate::Missing,
        [index] => PrescribedRate::Column(index),
        _ => PrescribedRate::Several(found),
    }
}

/// A diagnostic of a column that is read as the rate although neither its name nor its unit says so.
#[must_use]
pub fn assumed_rate(zones: &Layer, index: usize) -> Option<Diagnostic> {
    let schema = zones.schema();
    let field = schema.fields().get(index).filter(|field| !is_rate(field))?;
    let message = format!(
        "column `{}` is read as the rate, because it is the only one of numbers that is no id and no size; call the column of \
         rates `RATE` if it is another one",
        field.name()
    );
    Some(Diagnostic::new(Code::RateAssumed, message))
}

/// Whether the name or the unit of a column says that it is a rate.
fn is_rate(field: &Field) -> bool {
    let words = words(field.name());
    let is_per_area = |text: &String| Unit::parse(text).is_some_and(|unit| unit.quantity().1.is_some());
    names_rate(&words)
        || words.iter().any(|word| NUTRIENTS.contains(&word.as_str()))
        || field.metadata().get("unit").is_some_and(is_per_area)
}

/// Whether there is a word for a rate, or an amount of a unit of ground.
fn names_rate(words: &[String]) -> bool {
    let is_stem = |word: &String| RATE_STEMS.iter().any(|stem| word.starts_with(stem));
    words.iter().any(is_stem) || (has(words, AMOUNTS) && has(words, GROUND_UNITS)) || has(words, "gpa")
}

fn has(words: &[String], known: &str) -> bool {
    words.iter().any(|word| is_in(word, known))
}

fn is_in(word: &str, known: &str) -> bool {
    known.split(' ').any(|other| other == word)
}

/// Whether a name is that of an id, a year, a coordinate, a size or a measurement, such as `Obj__Id` or `Shape_Area`.
fn is_no_rate(name: &str) -> bool {
    let words = words(name);
    let is_id = words.last().is_some_and(|word| is_in(word, IDS));
    let is_yield = words.iter().any(|word| YIELD_STEMS.iter().any(|stem| word.starts_with(stem)));
    if is_id || is_yield {
        return true;
    }
    let is_measured = has(&words, MEASURED) || name.eq_ignore_ascii_case("ph");
    let is_other = is_other_name(name, &words) || has(&words, ZONES) || is_measured;
    !names_rate(&words) && (is_other || is_size(&words))
}

fn is_size(words: &[String]) -> bool {
    let is_ground = |word: &String| is_in(word, GROUND_UNITS);
    let is_unit = words.iter().any(is_ground) && words.iter().all(|word| is_ground(word) || is_in(word, FILLERS));
    let ends = |word: &String| SIZE_ENDS.iter().any(|end| word.ends_with(end));
    is_unit || (!has(words, AMOUNTS) && (has(words, SIZES) || words.iter().any(ends)))
}

/// Square metres of the zones; not a number where there is no polygon.
fn own_areas(zones: &Layer) -> Vec<f64> {
    let has_system = zones.crs().is_some() || zones.crs_wkt().is_some();
    let stated = if has_system { Ok(zones.clone()) } else { zones.clone().with_stated_crs(&Crs::wgs84()) };
    let areas = stated.and_then(|zones| zones.areas()).unwrap_or_default();
    areas.into_iter().map(|area| area.unwrap_or(f64::NAN)).collect()
}

/// Whether a column follows the areas of the zones, in any unit and projection. Equal areas prove nothing.
fn is_proportional(values: &[f64], areas: &[f64]) -> bool {
    let pairs: Vec<(f64, f64)> =
        values.iter().copied().zip(areas.iter().copied()).filter(|(_, area)| *area > 0.0).collect();
    let least = pairs.iter().map(|(_, area)| *area).fold(f64::INFINITY, f64::min);
    let most = pairs.iter().map(|(_, area)| *area).fold(0.0, f64::max);
    if pairs.len() < FEWEST || most - least <= LEAST_SPREAD * most {
        return false;
    }
    let usual = median(pairs.iter().map(|(value, area)| value / area).collect());
    let follows = |(value, area): &&(f64, f64)| (value / area - usual).abs() <= ROUNDING * usual;
    #[expect(clippy::cast_precision_loss, reason = "zones are far fewer than 2^53")]
    let share = pairs.iter().filter(follows).count() as f64 / pairs.len() as f64;
    usual > 0.0 && share >= LEAST_PROPORTIONAL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_ids_sizes_and_measurements_are_no_rates() {
        let no_rates = "Shape_Area Shape_Leng SHAPE_STAr AREA_HA HECTARES ACRES Acres_1 GIS_Acres TOTALACRES PERIMETER \
                        LENGTH_M Fläche_ha SUPERFICIE OBJECTID_1 TARGET_FID Join_Count Obj__Id ZONE Mgmt_Zone left NDVI \
                        Elevation yld_avg year ha";
        for name in no_rates.split(' ') {
            assert!(is_no_rate(name), "{name}");
        }
        let rates = "N kg_ha kg_per_ha Seeds_Acre lbs_acre gal_ac N_kg_ha Lime_t_ha rate_ha Dose_area Menge POPULATION Target \
                     Rate1 value Zone_Rate UREA_AC";
        for name in rates.split(' ') {
            assert!(!is_no_rate(name), "{name}");
        }
    }

    #[test]
    fn columns_that_follow_unequal_areas_are_no_rates() {
        let areas = [10_000.0, 20_000.0, 15_000.0];
        assert!(is_proportional(&[1.0, 2.0, 1.5], &areas));
        assert!(is_proportional(&[2.47, 4.94, 3.71], &areas));
        assert!(!is_proportional(&[1.0, 1.0, 1.0], &areas));
        assert!(!is_proportional(&[1.0, 1.0, 1.0], &[10_000.0; 3]));
        assert!(!is_proportional(&[1.0, 2.0], &areas[..2]));
        assert!(!is_proportional(&[0.0; 3], &areas));
        assert!(!is_proportional(&[f64::NAN; 3], &areas));
    }
}
