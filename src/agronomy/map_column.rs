//! Chooses the column that a map of a layer shows, what was measured or applied and never an id, and labels its unit.

use std::collections::HashSet;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::aliases;
use super::units::Unit;
use crate::layer::Layer;

/// What a map is usually made for, most wanted first, by canonical name.
const MEASURED: &[&str] = &[
    "yield_dry_mass",
    "yield_dry_volume",
    "yield",
    "yield_wet_mass",
    "yield_wet_volume",
    "applied_rate",
    "target_rate",
    "control_rate",
    "protein",
    "flow",
    "moisture",
];
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
/// Parts of the names of rates and yields that are no alias, most specific first.
const MEASURED_PARTS: &[&str] =
    &["yield", "yld", "ertrag", "rendem", "applied", "rate", "target", "dose", "seed", "pop"];
/// Nutrients and products, which prescriptions use as the name of their rate, without digits.
const NUTRIENTS: &[&str] =
    &["n", "p", "k", "s", "nitrogen", "phosphorus", "potassium", "potash", "urea", "uan", "lime"];
/// Parts of names of ids, years, times, coordinates and qualities of a position.
const OTHER_PARTS: &[&str] = &[
    "year", "jahr", "date", "time", "lat", "lon", "lng", "utm", "east", "north", "gps", "dop", "code", "serial",
    "count", "objectid", "fid", "guid", "index",
];
/// Texts with more distinct values are no classes.
const MAX_CLASSES: usize = 20;

/// The rank of a column that is worth a map; less is better.
type Rank = (u8, usize);

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

/// The unit of a column in one spelling: `bu/ac` for `bu1ac-1`. `None` if it is not stated or unknown here.
#[must_use]
pub fn unit_label(layer: &Layer, index: usize) -> Option<String> {
    let schema = layer.schema();
    let name = schema.fields().get(index)?.name();
    let (_, stated) = layer.units().into_iter().find(|(known, _)| known == name)?;
    Unit::parse(&stated).map(|unit| unit.to_string())
}

fn rank(name: &str, data_type: &DataType, arrays: &[&ArrayRef]) -> Option<Rank> {
    let is_text = matches!(data_type, DataType::LargeUtf8 | DataType::Boolean);
    let canonical = aliases::find(name).map(|alias| alias.canonical);
    let position = |names: &[&str]| names.iter().position(|known| canonical == Some(*known));
    let lower = name.to_lowercase();
    let letters = lower.trim_matches(|sign: char| !sign.is_alphabetic());
    let measured = position(MEASURED)
        .or_else(|| NUTRIENTS.iter().position(|known| *known == letters).map(|place| place + 100))
        .or_else(|| {
            let is_unknown = canonical.is_none() && !aliases::is_other(&lower);
            let part = MEASURED_PARTS.iter().position(|part| lower.contains(part));
            part.filter(|_| is_unknown).map(|place| place + 200)
        });
    if is_text {
        let classes = position(SECONDARY).map_or(100, |place| place);
        let is_known = canonical.is_some() && position(SECONDARY).is_none();
        return (!is_known && has_classes(arrays)).then_some((3, classes));
    }
    let numbers = Numbers::from_arrays(arrays)?;
    match measured {
        Some(place) if numbers.varies => Some((0, place)),
        // A uniform rate is still a rate. Zero in all rows is an unused column.
        Some(place) if numbers.first != 0.0 => Some((1, place)),
        Some(_) => None,
        None if !numbers.varies => None,
        None if position(SECONDARY).is_some() => position(SECONDARY).map(|place| (4, place)),
        None => {
            let is_other = canonical.is_some()
                || matches!(letters, "x" | "y" | "z" | "id")
                || lower.ends_with("id")
                || OTHER_PARTS.iter().any(|part| lower.contains(part));
            (!is_other && !numbers.is_numbering).then_some((2, 0))
        }
    }
}

/// What decides whether numbers are worth a map.
struct Numbers {
    first: f64,
    varies: bool,
    /// Whether all values are different whole numbers, as those of an id.
    is_numbering: bool,
}

impl Numbers {
    /// `None` for a column without numbers.
    fn from_arrays(arrays: &[&ArrayRef]) -> Option<Self> {
        let mut found: Option<Self> = None;
        let mut seen: HashSet<u64> = HashSet::new();
        for array in arrays {
            #[expect(clippy::cast_precision_loss, reason = "equal large numbers only make a column less likely")]
            let numbers: Box<dyn Iterator<Item = f64>> = match array.data_type() {
                DataType::Float64 => Box::new(array.as_primitive::<Float64Type>().iter().flatten()),
                DataType::Int32 => Box::new(array.as_primitive::<Int32Type>().iter().flatten().map(f64::from)),
                DataType::Int64 => {
                    Box::new(array.as_primitive::<Int64Type>().iter().flatten().map(|number| number as f64))
                }
                _ => return None,
            };
            for number in numbers.filter(|number| number.is_finite()) {
                let first = found.get_or_insert(Self { first: number, varies: false, is_numbering: true });
                first.varies |= number.total_cmp(&first.first).is_ne();
                first.is_numbering = first.is_numbering && number.fract() == 0.0 && seen.insert(number.to_bits());
                if first.varies && !first.is_numbering {
                    return found;
                }
            }
        }
        found
    }
}

/// Whether a text or a flag has at least two and few different values.
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
    classes.len() > 1
}
