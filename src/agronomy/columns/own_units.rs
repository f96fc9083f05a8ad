//! Units of tables that headland wrote: those that are stated, those that were lost, and those that would be wrong.

use std::sync::Arc;

use arrow_schema::{Field, Schema};

use crate::columns::canonical::{RATE, canonical};
use crate::columns::convert::UNIT_EXAMPLES;
use crate::columns::statements::Statements;
use headland_base::error::{Error, Result};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;
use headland_reader::layer::units::{Quantity, System, Unit};

/// Tests that columns are in the units of headland, which `fixed` gives, or that all columns of a system of units state theirs:
/// a table in feet whose masses are read in kilograms would be wrong without a sign of it.
pub(super) fn check_units(
    layer: &Layer,
    statements: &Statements,
    fixed: impl Fn(&str) -> Option<&'static str>,
) -> Result<()> {
    for (name, unit) in &statements.stated.units {
        layer.column_index("units", name)?;
        if Unit::parse(unit).is_none() {
            let message = format!("`units`: `{unit}` of column `{name}` is not a known unit; {UNIT_EXAMPLES}");
            return Err(Error::for_argument("units", message));
        }
    }
    let schema = layer.schema();
    let (mut other, mut open) = (None, Vec::new());
    for field in schema.fields() {
        let Some(fixed) = fixed(field.name()).and_then(Unit::parse) else { continue };
        let is_same = |unit: Unit| unit.factor(fixed, None).is_ok_and(|factor| (factor - 1.0).abs() < 1e-9);
        match stated_unit(statements, field) {
            Some(unit) if !is_same(unit) => other = other.or_else(|| Some((field.name().clone(), unit))),
            None if fixed.in_system(System::Us).is_some_and(|us| !is_same(us)) => open.push(field.name().as_str()),
            Some(_) | None => {}
        }
    }
    let Some((name, unit)) = other.filter(|_| !open.is_empty()) else { return Ok(()) };
    let message = format!(
        "`units`: `{name}` is in `{unit}`, so that the table is not in the units of headland; state those of `{}` as well",
        open.join("`, `")
    );
    Err(Error::for_argument("units", message))
}

/// What is said of rates whose unit was in the metadata that are lost.
pub(super) fn unknown_rates(schema: &Schema, has_unit: impl Fn(&Field) -> bool) -> Option<Diagnostic> {
    let is_unknown = |field: &&Arc<Field>| {
        let column = canonical(field.name());
        column.is_some_and(|column| column.unit == RATE) && !has_unit(field)
    };
    let names: Vec<&str> = schema.fields().iter().filter(is_unknown).map(|field| field.name().as_str()).collect();
    let first = names.first()?;
    let message = if schema.index_of("quantity").is_ok() {
        format!(
            "`{}` of rows with several quantities have no unit; keep the rows of one `quantity`",
            names.join("`, `")
        )
    } else {
        format!(
            "the table of headland has lost the unit of `{}`, so that nothing is known of what was applied: pass \
             `units={{\"{first}\": \"L/ha\"}}` to `headland.harmonize`, or \"kg/ha\", \"seeds/ha\"",
            names.join("`, `")
        )
    };
    Some(Diagnostic::new(Code::UnitUnknown, message))
}

/// The unit of a column: the caller's, else that of its metadata.
pub(super) fn stated_unit(statements: &Statements, field: &Field) -> Option<Unit> {
    let by_user = statements.stated.units.iter().find(|(column, _)| column == field.name()).map(|(_, unit)| unit);
    by_user.or_else(|| field.metadata().get("unit")).and_then(|unit| Unit::parse(unit))
}

/// Whether a column has no unit of its own: it has that of what was applied or reported.
pub(super) fn is_rate(name: &str) -> bool {
    ["amount", "yield"].contains(&name) || canonical(name).is_some_and(|column| column.unit == RATE)
}

/// What rates measure, by the first unit that is stated of one.
pub(super) fn stated_quantity(schema: &Schema, statements: &Statements) -> Option<&'static str> {
    let mut rates =
        schema.fields().iter().filter(|field| canonical(field.name()).is_some_and(|column| column.unit == RATE));
    let unit = rates.find_map(|field| stated_unit(statements, field))?;
    match unit.quantity() {
        (Quantity::Mass, _) => Some("mass"),
        (Quantity::Count, _) => Some("count"),
        (Quantity::Volume, _) => Some("volume"),
        _ => None,
    }
}
