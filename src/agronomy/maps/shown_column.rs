//! Chooses the column that a map of a layer shows, what was measured or applied and never an id, and labels its unit.

use std::collections::HashSet;

use arrow_array::cast::AsArray;
use arrow_array::{Array as _, ArrayRef};
use arrow_schema::{DataType, Field};

use crate::columns::aliases;
use crate::columns::canonical::{DRY_YIELD, WET_YIELD, canonical, is_canonical};
use crate::columns::provenance as keys;
use crate::maps::column_words::{NUTRIENTS, RATE_STEMS, ROW_SUMS, YIELD_STEMS, capitalized, is_other_name, words};
use headland_base::error::{Error, Kind, Result};
use headland_reader::layer::units::Unit;
use headland_reader::layer::{Layer, floats};

/// Yields that harmonising or cleaning computed, which come before all others.
const COMPUTED: &[&str] = &["yield_dry", "yield_wet"];
/// Yields and rates by canonical name, most wanted first.
const YIELDS_AND_RATES: &[&str] = &[
    "yield_dry_mass",
    "yield_dry_volume",
    "yield",
    DRY_YIELD,
    "yield_wet_mass",
    "yield_wet_volume",
    WET_YIELD,
    "yield_dry_matter",
    "applied_rate",
    "target_rate",
    "control_rate",
];
/// Other measurements, if there is neither a yield nor a rate.
const MEASURED: &[&str] = &["protein", "flow", "moisture"];
/// What a map shows if nothing else varies, by canonical name.
const SECONDARY: &[&str] = &[
    "product",
    "variety",
    "crop",
    "singulation",
    "skips",
    "doubles",
    "depth",
    "down_force",
    "elevation",
    "speed",
    "working",
];
/// Texts with more distinct values are no classes.
const MAX_CLASSES: usize = 20;

/// The rank of a column that is worth a map; less is better.
type Rank = (u8, usize);

/// The column that a map shows: the one of this name, else the one that a map of the layer shows by default.
pub fn shown_column(layer: &Layer, name: Option<&str>) -> Result<Option<usize>> {
    name.map_or_else(|| Ok(map_column(layer)), |name| layer.column_index("column", name).map(Some))
}

/// The position of the column that a map of the layer shows by default; `None` if no column is worth one.
///
/// A rate or yield that varies is preferred to one that is constant, and both to other columns.
#[must_use]
pub fn map_column(layer: &Layer) -> Option<usize> {
    let schema = layer.schema();
    let fields = schema.fields();
    let ranked = fields.iter().enumerate().filter(|(index, _)| layer.geometry_index() != Some(*index)).filter_map(
        |(index, field)| {
            let arrays: Vec<&ArrayRef> =
                layer.batches().iter().filter_map(|batch| batch.columns().get(index)).collect();
            rank(field.name(), field.data_type(), &arrays).map(|rank| (rank, index))
        },
    );
    ranked.min().map(|(_, index)| index)
}

/// The name of a column on a map, in words: a dry yield or mass states its water. `None` for columns without a canonical
/// name, whose own name is known to the reader.
#[must_use]
pub fn column_label(layer: &Layer, index: usize) -> Option<String> {
    let schema = layer.schema();
    let field = schema.fields().get(index)?;
    let name = field.name().as_str();
    let is_dry = field.metadata().contains_key(keys::MOISTURE_BASIS);
    let what = match name {
        "logged" if is_dry => "Yield as logged".to_owned(),
        "logged" => "As logged".to_owned(),
        "reason" => "Main reason".to_owned(),
        _ if name.starts_with("yield") => "Yield".to_owned(),
        _ => capitalized(&name.replace('_', " ")),
    };
    let Some(basis) = field.metadata().get(keys::MOISTURE_BASIS) else { return words_without_basis(field, what) };
    Some(match basis.parse::<f64>() {
        Ok(0.0) => format!("{what}, dry matter"),
        Ok(percent) => format!("{what} at {percent} % water"),
        Err(_) if basis == keys::SEVERAL => format!("{what} at the market moisture of each crop"),
        Err(_) => format!("{what}, dry at an unknown moisture"),
    })
}

/// The name in words of a column that is not dry; `None` without a canonical name.
fn words_without_basis(field: &Field, what: String) -> Option<String> {
    let name = field.name().as_str();
    let is_wet = matches!(name, "yield_wet" | "yield_wet_mass" | "yield_wet_volume");
    let is_known = ["logged", "reason", "rate"].contains(&name) || is_canonical(name);
    if is_wet { Some("Yield as harvested".to_owned()) } else { is_known.then_some(what) }
}

/// The label of the unit of a column on a map: the given one if the unit is unknown, else the unit in one spelling,
/// `bu/ac` for `bu1ac-1`. `None` if there is neither; empty for numbers that are names, such as those of machines. Another
/// unit than that of the values is an error.
pub fn unit_label(layer: &Layer, index: usize, given: Option<&str>) -> Result<Option<String>> {
    let schema = layer.schema();
    let Some(name) = schema.fields().get(index).map(|field| field.name()) else { return Ok(None) };
    let stated = layer.units().into_iter().find(|(known, _)| known == name).map(|(_, unit)| unit);
    let Some(unit) = stated.as_deref().and_then(Unit::parse) else {
        let is_name = || canonical(name).is_some_and(|column| column.unit.is_empty());
        return Ok(given.map(str::to_owned).or_else(|| is_name().then(String::new)));
    };
    match given {
        Some(given) if Unit::parse(given) != Some(unit) => {
            let message = format!(
                "`unit`: column `{name}` is in `{unit}`, so its map cannot be labelled `{given}`; convert it with \
                 `to_units({{\"{name}\": \"{given}\"}})`"
            );
            Err(Error::new(Kind::Value, message))
        }
        _ => Ok(Some(unit.to_string())),
    }
}

fn rank(name: &str, data_type: &DataType, arrays: &[&ArrayRef]) -> Option<Rank> {
    let words = words(name);
    if ROW_SUMS.contains(&name) || is_other_name(name, &words) {
        return None;
    }
    let canonical = aliases::find(name).map(|alias| alias.canonical);
    let position = |names: &[&str]| names.iter().position(|known| canonical == Some(*known));
    let secondary = position(SECONDARY);
    // Other canonical columns are times, coordinates, and what a machine counts.
    let is_known = canonical.is_some();
    if matches!(data_type, DataType::LargeUtf8 | DataType::Boolean) {
        return ((!is_known || secondary.is_some()) && has_classes(arrays))
            .then_some((3, secondary.unwrap_or(SECONDARY.len())));
    }
    let numbers = Numbers::from_arrays(arrays)?;
    let by_stem = |stems: &[&str]| stems.iter().position(|stem| words.iter().any(|word| word.starts_with(stem)));
    let nutrient = words.first().and_then(|word| NUTRIENTS.iter().position(|known| known == word));
    let is_unknown = !is_known && !aliases::is_other(&aliases::plain(name));
    let computed = COMPUTED.iter().position(|known| *known == name);
    let measured = computed
        // The canonical column of a harmonised layer comes before the source columns, whose units differ.
        .or_else(|| {
            position(YIELDS_AND_RATES).map(|place| if canonical == Some(name) { place + 2 } else { place + 10 })
        })
        .or_else(|| by_stem(YIELD_STEMS).filter(|_| is_unknown).map(|place| place + 20))
        .or_else(|| by_stem(RATE_STEMS).filter(|_| is_unknown).map(|place| place + 50))
        .or_else(|| nutrient.filter(|_| !is_known).map(|place| place + 100))
        .or_else(|| position(MEASURED).map(|place| place + 200));
    match measured {
        Some(place) if numbers.varies => Some((0, place)),
        // A uniform rate is still a rate. Zero in all rows is an unused column.
        Some(place) => (numbers.first != 0.0).then_some((1, place)),
        None if !numbers.varies => None,
        None => match secondary {
            Some(place) => Some((4, place)),
            None => (!is_known && !numbers.is_numbering && !numbers.are_years).then_some((2, 0)),
        },
    }
}

/// What decides whether numbers are worth a map.
struct Numbers {
    first: f64,
    varies: bool,
    /// Whether all values are different whole numbers, as those of an id.
    is_numbering: bool,
    /// Whether all values can be years.
    are_years: bool,
}

impl Numbers {
    /// `None` for a column without numbers.
    fn from_arrays(arrays: &[&ArrayRef]) -> Option<Self> {
        let mut found: Option<Self> = None;
        let mut seen: HashSet<u64> = HashSet::new();
        for array in arrays {
            let numbers = floats(array)?;
            for number in numbers.iter().flatten().filter(|number| number.is_finite()) {
                let first = Self { first: number, varies: false, is_numbering: true, are_years: true };
                let known = found.get_or_insert(first);
                let is_whole = number.fract() == 0.0;
                known.varies |= number.total_cmp(&known.first).is_ne();
                known.is_numbering = known.is_numbering && is_whole && seen.insert(number.to_bits());
                known.are_years = known.are_years && is_whole && (1900.0..=2100.0).contains(&number);
                if known.varies && !known.is_numbering && !known.are_years {
                    return found;
                }
            }
        }
        found
    }
}

/// Whether a text or a flag has at least two and few different values, which are not numbers.
fn has_classes(arrays: &[&ArrayRef]) -> bool {
    let mut classes: HashSet<&str> = HashSet::new();
    for array in arrays {
        if *array.data_type() == DataType::Boolean {
            let flags = array.as_boolean();
            classes.extend(flags.iter().flatten().map(|flag| if flag { "true" } else { "false" }));
            continue;
        }
        for text in array.as_string::<i64>().iter().flatten() {
            classes.insert(text);
            if classes.len() > MAX_CLASSES {
                return false;
            }
        }
    }
    classes.len() > 1 && !classes.iter().all(|text| text.trim().parse::<f64>().is_ok())
}
