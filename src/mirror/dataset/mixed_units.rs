//! Columns of several jobs in different units: the warning about them, and their conversion to the units of a system.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field, Schema};

use super::schema_union::{UNIT, UNIT_SEPARATOR};
use headland_agronomy::{System, Unit, name_rank, scaled};

/// Unit of numbers that state none, next to others that do.
const UNKNOWN: &str = "unknown";

/// Maximum number of columns named in the warning.
const MAX_NAMED: usize = 10;

/// Warning about columns with several units: pairs of name and units. Yields and rates are named first, since their
/// means are what users compute. `None` if each column has one unit. `is_converted` if the units were converted as far
/// as possible.
#[must_use]
pub fn mixed_units_warning(columns: &[(String, String)], is_converted: bool) -> Option<String> {
    let mut mixed: Vec<&(String, String)> =
        columns.iter().filter(|(_, units)| units.contains(UNIT_SEPARATOR)).collect();
    mixed.sort_by_key(|(name, _)| name_rank(name));
    let named = mixed.iter().take(MAX_NAMED).map(|(name, units)| {
        let mut units: Vec<&str> = units.split(UNIT_SEPARATOR).collect();
        units.sort_by_key(|unit| (*unit == UNKNOWN, *unit));
        format!("`{name}` ({})", units.join(UNIT_SEPARATOR))
    });
    let named: Vec<String> = named.collect();
    let more = match mixed.len().saturating_sub(named.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let advice = if is_converted { "" } else { "`units=\"metric\"` converts them, and " };
    (!named.is_empty()).then(|| {
        format!(
            "columns have several units: {}{more}; {advice}`harvest_rows`, `application_rows`, `planting_rows` and \
             `field_means` of a mirror have one unit in each column",
            named.join(", ")
        )
    })
}

/// The schema after conversion to the units of a system. Numbers without a known unit are marked as such, so that they
/// are not taken for converted ones.
#[must_use]
pub fn converted_schema(schema: &Schema, system: System) -> Schema {
    let field = |field: &Arc<Field>| {
        if !matches!(field.data_type(), DataType::Int32 | DataType::Int64 | DataType::Float64) {
            return Arc::clone(field);
        }
        let stated = field.metadata().get(UNIT).map_or(UNKNOWN, String::as_str);
        let unit = Unit::parse(stated)
            .map_or_else(|| stated.to_owned(), |unit| unit.in_system(system).unwrap_or(unit).to_string());
        let mut metadata = field.metadata().clone();
        let data_type = match conversion_factor(stated, &unit) {
            Some(_) => DataType::Float64,
            None => field.data_type().clone(),
        };
        metadata.insert(UNIT.to_owned(), unit);
        Arc::new(field.as_ref().clone().with_data_type(data_type).with_metadata(metadata))
    };
    Schema::new_with_metadata(schema.fields().iter().map(field).collect::<Vec<_>>(), schema.metadata().clone())
}

/// The factor from a unit to the one of several that measures the same; `None` if the values stay as they are.
#[must_use]
pub fn conversion_factor(from: &str, to: &str) -> Option<f64> {
    let unit = Unit::parse(from)?;
    let targets = || to.split(UNIT_SEPARATOR).filter_map(Unit::parse);
    if targets().any(|target| target == unit) {
        return None;
    }
    targets().find_map(|target| unit.factor(target, None).ok())
}

/// The cells of a column of a file in the units that the column has in the union of all files.
pub(super) fn converted(array: &ArrayRef, from: &Field, to: &Field) -> ArrayRef {
    let unit = |field: &Field| field.metadata().get(UNIT).cloned().unwrap_or_default();
    match conversion_factor(&unit(from), &unit(to)) {
        Some(factor) => scaled(array, factor),
        None => Arc::clone(array),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yields_and_rates_are_named_first() {
        let columns = ["Altitude", "DISTANCE", "TARGETRATE", "VRYIELDVOL", "PASS"].map(|name| {
            let units = if name == "PASS" { "" } else { "unknown | b | a" };
            (name.to_owned(), units.to_owned())
        });
        let warning = mixed_units_warning(&columns, false).unwrap();
        let start = "columns have several units: `VRYIELDVOL` (a | b | unknown), `TARGETRATE` (a | b | unknown), ";
        assert!(warning.starts_with(start), "{warning}");
        assert!(!warning.contains("PASS"), "{warning}");
        assert_eq!(mixed_units_warning(&columns[4..], false), None);
    }

    #[test]
    fn values_are_converted_to_the_unit_that_measures_the_same() {
        assert_eq!(conversion_factor("ft", "m"), Some(0.3048));
        assert_eq!(conversion_factor("ft", "m | unknown"), Some(0.3048));
        assert_eq!(conversion_factor("ft", "m | ft"), None);
        assert_eq!(conversion_factor("unknown", "m"), None);
        let rate = conversion_factor("lb/ac", "m3/ha | kg/ha").unwrap();
        assert!((rate - 1.120_851_156_194_456).abs() < 1e-12, "{rate}");
        let volume = conversion_factor("bu/ac", "m3/ha | kg/ha").unwrap();
        assert!((volume - 0.087_077_638_761_4).abs() < 1e-9, "{volume}");
    }
}
