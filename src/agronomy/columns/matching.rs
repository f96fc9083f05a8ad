//! Finds the canonical columns of a layer by the names and units of its columns.

use arrow_schema::{DataType, Field};

use crate::columns::aliases;
use crate::columns::canonical::{CANONICAL, Content, JobKind, YIELDS, canonical, fits};
use crate::columns::cell_values::{decimal_sign, numbers};
use crate::columns::convert::UNIT_EXAMPLES;
use crate::columns::statements::Stated;
use headland_base::error::{Error, Result};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;
use headland_reader::layer::units::{Quantity, Unit};

/// A column of the layer and the canonical column that it means.
#[derive(Clone, Debug)]
pub(crate) struct Match {
    pub(crate) column: usize,
    /// `time`, `date`, or the name of a row of [`CANONICAL`].
    pub(crate) canonical: &'static str,
    /// How it was found.
    pub(crate) rule: &'static str,
    pub(crate) unit: Option<Unit>,
    /// The unit of the source.
    pub(crate) unit_in: Option<String>,
    /// What proves the unit, where nothing states it.
    pub(crate) evidence: Option<String>,
}

impl Match {
    /// A column whose meaning is known, without a unit.
    pub(crate) fn named(column: usize, canonical: &'static str, rule: &'static str) -> Self {
        Self { column, canonical, rule, unit: None, unit_in: None, evidence: None }
    }
}

/// A column that is not used.
#[derive(Debug)]
pub(crate) struct Unused {
    pub(crate) column: usize,
    /// The canonical column that it could have been; empty if its name is not known.
    pub(crate) canonical: &'static str,
    pub(crate) reason: String,
}

impl Unused {
    pub(crate) fn new(column: usize, canonical: &'static str, reason: impl Into<String>) -> Self {
        Self { column, canonical, reason: reason.into() }
    }
}

/// The rule of a moisture that follows from dry matter in percent.
pub(crate) const COMPLEMENT: &str = "100 - dry matter";

/// Rank of a moisture that follows from dry matter: any other one is more specific.
const RANK_COMPLEMENT: usize = 2_000;

/// The values of a match in the unit of its column; null is not a number.
pub(crate) fn values(layer: &Layer, found: &Match) -> Vec<f64> {
    let mut values = numbers(layer, found.column);
    if found.rule == COMPLEMENT {
        for value in &mut values {
            *value = 100.0 - *value;
        }
    }
    values
}

/// Finds at most one column for each canonical column. Other candidates are added to `unused`.
pub(crate) fn match_columns(
    layer: &Layer,
    stated: &Stated,
    unused: &mut Vec<Unused>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<Match>> {
    let schema = layer.schema();
    let attributes = attributes(layer);
    let mut candidates: Vec<(Match, usize)> = Vec::new();
    for (name, original) in &stated.columns {
        let column = layer.column_index("columns", original)?;
        let canonical = known(name)?;
        if let Err(reason) = can_hold(canonical, layer, column) {
            let message = format!("column `{original}`: {reason}, so it cannot be `{canonical}`");
            return Err(Error::for_argument("columns", message));
        }
        candidates.push((Match::named(column, canonical, "user"), 0));
    }
    for (column, field) in schema.fields().iter().enumerate() {
        let is_taken =
            |canonical: &str| candidates.iter().any(|(other, _)| other.rule == "user" && other.canonical == canonical);
        if layer.geometry_index() == Some(column) || candidates.iter().any(|(other, _)| other.column == column) {
            continue;
        }
        let Some((mut found, mut rank)) = find(column, field, &attributes) else { continue };
        if found.canonical.starts_with("yield") && is_percent(field, &attributes, stated) {
            let letters: String = field.name().to_lowercase().chars().filter(|letter| *letter != '_').collect();
            if !letters.contains("drymatter") {
                unused.push(Unused::new(column, found.canonical, "a yield is not in percent"));
                continue;
            }
            (found.canonical, found.rule, rank) = ("moisture", COMPLEMENT, RANK_COMPLEMENT);
        }
        if is_taken(found.canonical) {
            continue;
        }
        match can_hold(found.canonical, layer, column) {
            Ok(()) => candidates.push((found, rank)),
            Err(reason) => unused.push(Unused::new(column, found.canonical, reason)),
        }
    }
    let nulls = |column: usize| {
        layer
            .batches()
            .iter()
            .filter_map(|batch| batch.columns().get(column))
            .map(|array| array.null_count())
            .sum::<usize>()
    };
    let priority = |(found, rank): &(Match, usize)| (*rank, nulls(found.column), found.column);
    let mut matches: Vec<Match> = Vec::new();
    for candidate in &candidates {
        let (found, field) = (&candidate.0, schema.field(candidate.0.column));
        let rivals = candidates.iter().filter(|(other, _)| other.canonical == found.canonical);
        let Some((best, _)) = rivals.min_by_key(|rival| priority(rival)) else { continue };
        if best.column == found.column {
            let mut found = found.clone();
            state_unit(&mut found, field, &attributes, stated, diagnostics)?;
            matches.push(found);
        } else {
            let used = schema.field(best.column).name();
            unused.push(Unused::new(found.column, found.canonical, format!("`{used}` is used")));
        }
    }
    for (original, _) in &stated.units {
        layer.column_index("units", original)?;
    }
    Ok(matches)
}

/// The kind of job that the columns imply.
pub(crate) fn implied_kind(matches: &[Match]) -> Option<JobKind> {
    let has = |names: &[&str]| matches.iter().any(|found| names.contains(&found.canonical));
    let has_yield = has(YIELDS);
    let has_rate = has(&["target_rate", "applied_rate", "control_rate"]);
    let counts_seeds = matches.iter().any(|found| found.unit.is_some_and(|unit| unit.quantity().0 == Quantity::Count));
    if has_yield && has_rate {
        return None;
    }
    let is_seeded = || counts_seeds || has(&["depth", "down_force", "singulation", "skips", "doubles", "variety"]);
    if has_rate {
        return Some(if is_seeded() { JobKind::Planting } else { JobKind::AsApplied });
    }
    (has_yield || has(&["flow", "moisture", "protein"])).then_some(JobKind::Yield)
}

fn known(name: &str) -> Result<&'static str> {
    let names = || ["time", "date"].into_iter().chain(CANONICAL.iter().map(|column| column.name));
    names().find(|known| *known == name).ok_or_else(|| {
        let message = format!(
            "`columns` has no canonical column `{name}`; there are: {}",
            names().collect::<Vec<_>>().join(", ")
        );
        Error::for_argument("columns", message)
    })
}

/// Attributes of the sidecar: name and unit.
fn attributes(layer: &Layer) -> Vec<(String, Option<String>)> {
    let text = layer.metadata().iter().find(|(key, _)| key == "DataAttributes").map(|(_, text)| text.as_str());
    let entries: serde_json::Value = text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let entries = entries.as_array().map_or(&[][..], Vec::as_slice);
    let text =
        |entry: &serde_json::Value, key: &str| entry.get(key).and_then(|value| value.as_str()).map(str::to_owned);
    entries.iter().filter_map(|entry| Some((text(entry, "Name")?, text(entry, "Unit")))).collect()
}

/// The attribute that a column of another name abbreviates, if it is the only one.
fn abbreviated<'a>(name: &str, attributes: &'a [(String, Option<String>)]) -> Option<&'a (String, Option<String>)> {
    let mut all = attributes.iter().filter(|(attribute, _)| aliases::is_abbreviation(name, attribute));
    all.next().filter(|_| all.next().is_none())
}

/// What a column means, and the rank of the rule that says so.
fn find(column: usize, field: &Field, attributes: &[(String, Option<String>)]) -> Option<(Match, usize)> {
    let (alias, rule) = match abbreviated(field.name(), attributes) {
        Some((attribute, _)) => (aliases::find(attribute)?, "sidecar"),
        None => aliases::find(field.name()).map(|alias| (alias, alias.rule))?,
    };
    let unit_in = alias.unit.map(|unit| unit.to_string());
    Some((Match { column, canonical: alias.canonical, rule, unit: alias.unit, unit_in, evidence: None }, alias.rank))
}

/// Whether the caller, the sidecar or the name states that a column is in percent.
fn is_percent(field: &Field, attributes: &[(String, Option<String>)], stated: &Stated) -> bool {
    let by_user = stated.units.iter().find(|(name, _)| name == field.name()).map(|(_, unit)| unit.clone());
    let unit = by_user
        .or_else(|| field.metadata().get("unit").cloned())
        .or_else(|| abbreviated(field.name(), attributes).and_then(|(_, unit)| unit.clone()));
    unit.and_then(|unit| Unit::parse(&unit)).is_some_and(|unit| unit.quantity() == (Quantity::Percent, None))
}

/// What the cells of a column are, in a message.
fn cells(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::LargeUtf8 => "texts",
        DataType::Boolean => "flags",
        DataType::Date32 | DataType::Timestamp(..) => "dates or times",
        DataType::Int32 | DataType::Int64 | DataType::Float64 => "numbers",
        _ => "other values",
    }
}

/// Whether a canonical column can come from the cells of a column, or why not.
fn can_hold(name: &str, layer: &Layer, column: usize) -> std::result::Result<(), String> {
    let schema = layer.schema();
    let field = schema.field(column);
    let is_integer = matches!(field.data_type(), DataType::Int32 | DataType::Int64);
    let is_number = is_integer || *field.data_type() == DataType::Float64;
    let is_text = *field.data_type() == DataType::LargeUtf8;
    let is_fit = match (name, canonical(name).map(|column| column.content)) {
        ("time", _) => is_number || is_text || matches!(field.data_type(), DataType::Timestamp(..)),
        ("date", _) => is_text || is_integer || *field.data_type() == DataType::Date32,
        // Points state the position already.
        ("longitude" | "latitude", _) if is_text && layer.geometry_index().is_some() => false,
        (_, Some(Content::Number)) if is_text => return decimal_sign(layer, column).map(|_| ()),
        (_, Some(Content::Number)) => is_number,
        (_, Some(Content::Integer)) => is_number || is_text,
        (_, Some(Content::Flag)) => is_number || is_text || *field.data_type() == DataType::Boolean,
        ("load", _) => is_text || is_integer,
        // Integers are ids there.
        (_, Some(Content::Text)) => is_text,
        _ => false,
    };
    if is_fit { Ok(()) } else { Err(format!("it has {}", cells(field.data_type()))) }
}

/// The unit that the caller states of a column.
fn parse_unit(name: &str, text: &str) -> Result<Unit> {
    Unit::parse(text).ok_or_else(|| {
        let message = format!("`units`: `{text}` of column `{name}` is not a known unit; {UNIT_EXAMPLES}");
        Error::for_argument("units", message)
    })
}

/// Sets the unit: the caller's, that of the sidecar, or that of the name.
fn state_unit(
    found: &mut Match,
    field: &Field,
    attributes: &[(String, Option<String>)],
    stated: &Stated,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<()> {
    let needs_unit = canonical(found.canonical).is_some_and(|column| column.content == Content::Number);
    let name = field.name();
    let by_user = stated.units.iter().find(|(original, _)| original == name).map(|(_, unit)| unit);
    if let Some(text) = by_user {
        let wrong = |message: String| Error::for_argument("units", message);
        let unit = parse_unit(name, text)?;
        if !needs_unit || !fits(found.canonical, unit) {
            return Err(wrong(format!(
                "`units`: column `{name}` is `{}`, which cannot be in `{text}`",
                found.canonical
            )));
        }
        (found.unit, found.unit_in) = (Some(unit), Some(unit.to_string()));
        return Ok(());
    }
    if !needs_unit {
        return Ok(());
    }
    let by_attribute = || abbreviated(name, attributes).and_then(|(_, unit)| unit.clone());
    let by_sidecar = field.metadata().get("unit").cloned().or_else(by_attribute).filter(|unit| unit != "unknown");
    let Some(text) = by_sidecar else { return Ok(()) };
    if let Some(unit) = Unit::parse(&text).filter(|unit| fits(found.canonical, *unit)) {
        (found.unit, found.unit_in) = (Some(unit), Some(unit.to_string()));
        return Ok(());
    }
    let message = format!(
        "column `{name}` is `{}`, but its unit `{text}` is unknown or that of another quantity",
        found.canonical
    );
    diagnostics.push(Diagnostic::new(Code::UnitUnknown, message));
    (found.unit, found.unit_in) = (None, Some(text));
    Ok(())
}
