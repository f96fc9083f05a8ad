//! Recognises tables that headland wrote and whose metadata another library dropped: polars, `DuckDB` and pandas keep none.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array as _, ArrayRef, Date32Array, RecordBatch, RecordBatchOptions, TimestampMicrosecondArray};
use arrow_schema::{DataType, Field, Schema};

use crate::columns::canonical::{CANONICAL, Canonical, Content, JobKind, RATE, canonical};
use crate::columns::cell_values::{arrays, flags, integers, numbers, texts, trimmed};
use crate::columns::convert::known_crop;
use crate::columns::crops::Crop;
use crate::columns::market_moisture::{MARKET, basis_of};
use crate::columns::matching::Match;
use crate::columns::own_units::{check_units, is_rate, stated_quantity, stated_unit, unknown_rates};
use crate::columns::provenance as keys;
use crate::columns::statements::Statements;
use crate::rows::result_columns::select_columns;
use crate::times::row_times::row_times;
use headland_base::error::{Error, Kind, Result};
use headland_base::times::parse_date;
use headland_reader::layer::Layer;
use headland_reader::layer::crs::Crs;
use headland_reader::layer::units::Unit;

/// Computed columns that no display logs. Tables with all of a line are of headland: rows, cleaned rows and swaths, maps,
/// and means of fields.
const MARKS: &[&[&str]] =
    &[&["worked_area"], &["market_moisture"], &["wet_mass"], &["dry_mass"], &["reasons", "used"], &["m2", "covered"]];
/// Those of rows.
const ROW_MARKS: &[&[&str]] = &[&["worked_area"], &["wet_mass"], &["dry_mass"]];

/// Letters to which a shapefile truncates names.
const TRUNCATED: usize = 10;

/// The rule of columns that are recognised.
const RULE: &str = "headland";

/// Computed columns and their units.
const COMPUTED: [(&str, &str); 6] = [
    ("worked_area", "m2"),
    ("wet_mass", "kg"),
    ("dry_mass", "kg"),
    ("yield_wet", "kg/ha"),
    ("yield_dry", "kg/ha"),
    (MARKET, "%"),
];

/// Units of columns of maps, swaths and means, which are no canonical columns.
const OTHERS: [(&str, &str); 8] = [
    ("kg", "kg"),
    ("m2", "m2"),
    ("flow_shifted", "kg/s"),
    ("moisture_shifted", "%"),
    ("kg_wet", "kg"),
    ("kg_dry", "kg"),
    ("covered", "m2"),
    ("covered_area", "m2"),
];

/// Columns of a cleaning.
const CLEANED: [&str; 10] = [
    "pass_number",
    "reasons",
    "used",
    "share",
    "kg",
    "m2",
    "yield_wet",
    "yield_dry",
    "flow_shifted",
    "moisture_shifted",
];

/// The layer with the provenance of columns that have canonical names, in their fixed units; `None` for other tables.
pub(crate) fn restored(layer: &Layer, statements: &Statements) -> Result<Option<Layer>> {
    if layer.schema().fields().iter().any(|field| keys::is_added(field)) {
        return Ok(None);
    }
    // Metadata of the file can outlive those of its columns.
    let known_kind = layer.metadata().iter().find(|(key, _)| key == keys::KIND);
    let known_kind = known_kind.and_then(|(_, kind)| JobKind::find(kind));
    let marks = if keys::is_harmonized(layer) { ROW_MARKS } else { MARKS };
    let layer = &full_names(layer)?;
    let schema = layer.schema();
    let has = |name: &str| schema.fields().iter().any(|field| field.name() == name && is_own_unit(field));
    if !marks.iter().any(|names| names.iter().all(|name| has(name))) {
        return Ok(None);
    }
    let layer = &with_points(placed(layer)?, statements.crs.as_ref())?;
    let schema = layer.schema();
    let crop = match &statements.crop {
        Some(name) => Some(known_crop(name)?),
        None => common(layer, "crop").and_then(|name| Crop::find(&name)),
    };
    let is_cleaned = has("reasons") && has("used");
    let quantity = common(layer, "quantity").or_else(|| stated_quantity(&schema, statements).map(str::to_owned));
    let table = Table { layer, statements, crop, is_cleaned, quantity };
    check_units(layer, statements, |name| table.fixed(name))?;
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (index, field) in schema.fields().iter().enumerate() {
        let own = if layer.geometry_index() == Some(index) { None } else { table.restored(index, field) };
        let (field, cells) = own.unwrap_or_else(|| (Field::clone(field), arrays(layer, index).cloned().collect()));
        fields.push(field);
        columns.push(cells);
    }
    let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
    let batches = layer.batches().iter().enumerate().map(|(number, batch)| {
        let cells = columns.iter().filter_map(|cells| cells.get(number).cloned()).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&schema), cells, &options)
            .map_err(|cause| Error::new(Kind::Value, format!("the columns do not form a table: {cause}")))
    });
    let batches = batches.collect::<Result<Vec<_>>>()?;
    let kind = statements.kind.or(statements.job.kind).or(known_kind).unwrap_or_else(|| table.kind());
    let unknown = if kind == JobKind::Yield {
        None
    } else {
        unknown_rates(&schema, |field| table.unit(field.name(), field).is_some())
    };
    let layer = layer.clone().with_batches(schema, batches, layer.geometry_index());
    let layer = layer.with_diagnostics(unknown.into_iter().collect());
    Ok(Some(layer.with_entry(keys::KIND, Some(kind.as_str())).with_entry(keys::CROP, crop.map(|crop| crop.name))))
}

/// A table of headland.
struct Table<'a> {
    layer: &'a Layer,
    statements: &'a Statements,
    crop: Option<&'static Crop>,
    is_cleaned: bool,
    /// What rates measure, in tables of the mirror.
    quantity: Option<String>,
}

impl Table<'_> {
    /// A column with the type and the metadata of its canonical name.
    fn restored(&self, index: usize, field: &Field) -> Option<(Field, Vec<ArrayRef>)> {
        let name = field.name().as_str();
        let mut metadata = field.metadata().clone();
        if let Some(original) = name.strip_suffix("_original") {
            metadata.insert(keys::ORIGINAL_NAME.to_owned(), original.to_owned());
            return Some((field.clone().with_metadata(metadata), arrays(self.layer, index).cloned().collect()));
        }
        if let Some((_, unit)) = OTHERS.iter().find(|(other, _)| *other == name) {
            metadata.entry("unit".to_owned()).or_insert_with(|| (*unit).to_owned());
        }
        if self.is_cleaned && CLEANED.contains(&name) {
            if let Some(unit) = self.unit(name, field).filter(|unit| !unit.is_empty()) {
                metadata.insert("unit".to_owned(), unit);
            }
            metadata.insert(keys::SOURCE.to_owned(), "computed".to_owned());
            metadata.insert(keys::RULE.to_owned(), keys::CLEANED.to_owned());
            return Some((field.clone().with_metadata(metadata), arrays(self.layer, index).cloned().collect()));
        }
        let meaning = match name.strip_suffix("_logged").filter(|_| self.is_cleaned) {
            Some(logged) => {
                metadata.insert(keys::ORIGINAL_NAME.to_owned(), logged.to_owned());
                logged
            }
            None => name,
        };
        let Some(unit) = self.unit(meaning, field) else {
            let is_other = metadata != *field.metadata();
            let cells = || arrays(self.layer, index).cloned().collect();
            return is_other.then(|| (field.clone().with_metadata(metadata), cells()));
        };
        metadata.extend((!unit.is_empty()).then(|| ("unit".to_owned(), unit)));
        metadata.insert(keys::SOURCE.to_owned(), name.to_owned());
        metadata.insert(keys::RULE.to_owned(), RULE.to_owned());
        self.state_bases(meaning, &mut metadata);
        let cells = match canonical(meaning).map(|column| column.content) {
            Some(Content::Integer) => integers(self.layer, index),
            Some(Content::Flag) => flags(self.layer, index),
            Some(Content::Text) => Ok(texts(self.layer, index)),
            None if meaning == "time" => Ok(self.times(index)),
            None if meaning == "date" => Ok(self.dates(index)),
            _ => Ok(arrays(self.layer, index).cloned().collect()),
        };
        let cells = cells.ok()?;
        let data_type = cells.first().map_or_else(|| field.data_type().clone(), |array| array.data_type().clone());
        Some((Field::new(name, data_type, true).with_metadata(metadata), cells))
    }

    /// Times, which are texts in tables from CSV. They are in UTC where they state no zone.
    fn times(&self, index: usize) -> Vec<ArrayRef> {
        let cells = || arrays(self.layer, index).cloned().collect::<Vec<ArrayRef>>();
        if arrays(self.layer, index).all(|array| matches!(array.data_type(), DataType::Timestamp(_, Some(_)))) {
            return cells();
        }
        let found = Match::named(index, "time", RULE);
        let Some(times) = row_times(self.layer, &[found], None, &mut Vec::new()) else { return cells() };
        let mut micros = times.micros.into_iter();
        let column = |array: &ArrayRef| {
            let times: TimestampMicrosecondArray = micros.by_ref().take(array.len()).collect();
            Arc::new(times.with_timezone("UTC")) as ArrayRef
        };
        arrays(self.layer, index).map(column).collect()
    }

    /// Dates, which are texts in tables from CSV.
    fn dates(&self, index: usize) -> Vec<ArrayRef> {
        let column = |array: &ArrayRef| match array.as_string_opt::<i64>() {
            Some(texts) => {
                let days = |text: &str| parse_date(text)?.year_first().and_then(|days| i32::try_from(days).ok());
                Arc::new(texts.iter().map(|text| text.and_then(days)).collect::<Date32Array>()) as ArrayRef
            }
            None => Arc::clone(array),
        };
        arrays(self.layer, index).map(column).collect()
    }

    /// The unit of a canonical name: stated, else the fixed one. `None` for other names and for rates without a quantity.
    fn unit(&self, name: &str, field: &Field) -> Option<String> {
        let stated = stated_unit(self.statements, field);
        let Some(fixed) = self.fixed(name) else {
            return stated.filter(|_| is_rate(name)).map(|unit| unit.to_string());
        };
        Some(stated.map_or_else(|| fixed.to_owned(), |unit| unit.to_string()))
    }

    /// The unit that headland writes a column in. `None` for other names, for yields as stated, and for rates without a quantity.
    fn fixed(&self, name: &str) -> Option<&'static str> {
        Some(match (name, canonical(name)) {
            ("time" | "date" | "order", _) => "",
            (_, Some(Canonical { unit: RATE, .. })) => match self.quantity.as_deref() {
                Some("mass") => "kg/ha",
                Some("volume") => "L/ha",
                Some("count") => "seeds/ha",
                _ => return None,
            },
            ("amount", _) => match self.quantity.as_deref() {
                Some("mass") => "kg",
                Some("volume") => "L",
                Some("count") => "seeds",
                _ => return None,
            },
            ("yield", _) => return None,
            (_, Some(column)) => column.unit,
            (_, None) => COMPUTED.iter().find(|(computed, _)| *computed == name).map(|(_, unit)| *unit)?,
        })
    }

    /// The moisture of dry masses, the weight of a bushel and the quantity of a rate.
    fn state_bases(&self, name: &str, metadata: &mut HashMap<String, String>) {
        let value = |column: &str| {
            let index = self.layer.schema().index_of(column).ok()?;
            let mut known = numbers(self.layer, index).into_iter().filter(|value| !value.is_nan());
            known.next().map(|value| value.to_string())
        };
        let of_crop = |value: fn(&Crop) -> Option<f64>| self.crop.and_then(value).map(|value| value.to_string());
        let (key, text) = match name {
            "dry_mass" | "yield_dry" => {
                let markets = self.layer.schema().index_of(MARKET).map(|index| numbers(self.layer, index));
                let basis = markets.ok().and_then(|markets| basis_of(&markets));
                (keys::MOISTURE_BASIS, basis.or_else(|| of_crop(|crop| crop.market_moisture)))
            }
            "yield_dry_matter" => (keys::MOISTURE_BASIS, Some("0".to_owned())),
            "yield_dry_mass" => (keys::MOISTURE_BASIS, value("yield_dry_basis").or_else(|| Some("unknown".to_owned()))),
            "yield_wet_volume" | "yield_dry_volume" => {
                (keys::KG_PER_BUSHEL, value("kg_per_bushel").or_else(|| of_crop(Crop::kg_per_bushel)))
            }
            "target_rate" | "applied_rate" | "control_rate" => (keys::QUANTITY, self.quantity.clone()),
            _ => return,
        };
        if let Some(text) = text {
            metadata.entry(key.to_owned()).or_insert(text);
        }
    }

    /// The kind of job that the columns imply.
    fn kind(&self) -> JobKind {
        let schema = self.layer.schema();
        let has = |names: &[&str]| schema.fields().iter().any(|field| names.contains(&field.name().as_str()));
        if has(&["wet_mass", "dry_mass", "flow", "moisture", "yield_wet", "yield_dry"]) {
            JobKind::Yield
        } else if self.quantity.as_deref() == Some("count") || has(&["depth", "down_force", "singulation", "skips"]) {
            JobKind::Planting
        } else {
            JobKind::AsApplied
        }
    }
}

/// The layer with the whole names of columns that a shapefile truncated, if each can be that of one column only.
fn full_names(layer: &Layer) -> Result<Layer> {
    let schema = layer.schema();
    let is_there = |name: &str| schema.index_of(name).is_ok();
    let whole = |field: &Field| {
        let known = CANONICAL.iter().map(|column| column.name).chain(COMPUTED.iter().map(|(name, _)| *name));
        let mut found =
            known.filter(|name| name.len() > TRUNCATED && name.get(..TRUNCATED) == Some(field.name().as_str()));
        found.next().filter(|name| found.next().is_none() && !is_there(name))
    };
    let is_truncated = is_there("worked_are") || is_there("wet_mass") || is_there("dry_mass");
    if !is_truncated || schema.fields().iter().all(|field| whole(field).is_none()) {
        return Ok(layer.clone());
    }
    let renamed = |field: &Arc<Field>| {
        whole(field).map_or_else(|| Arc::clone(field), |name| Arc::new(field.as_ref().clone().with_name(name)))
    };
    select_columns(layer.clone(), schema.fields().iter().map(renamed).enumerate().collect())
}

/// A table without a geometry gets points of its longitudes and latitudes.
pub(crate) fn with_points(layer: Layer, crs: Option<&Crs>) -> Result<Layer> {
    let schema = layer.schema();
    let column = |name: &str| schema.index_of(name).ok().map(|index| numbers(&layer, index));
    let Some((x, y)) = column("longitude").zip(column("latitude")).filter(|_| layer.geometry_index().is_none()) else {
        return Ok(layer);
    };
    points_of(layer, (&x, &y), crs)
}

/// The layer with points of its longitudes and latitudes, if the numbers can be those.
pub(crate) fn points_of(layer: Layer, (x, y): (&[f64], &[f64]), crs: Option<&Crs>) -> Result<Layer> {
    if are_degrees(x, y) { layer.with_points(x, y, crs.unwrap_or(&Crs::wgs84())) } else { Ok(layer) }
}

/// Whether numbers can be longitudes and latitudes, and some are known.
fn are_degrees(x: &[f64], y: &[f64]) -> bool {
    let is_within = |values: &[f64], most: f64| values.iter().all(|value| value.is_nan() || value.abs() <= most);
    is_within(x, 180.0) && is_within(y, 90.0) && x.iter().any(|value| !value.is_nan())
}

/// Whether a computed column is in a unit of its own, if one is stated: a vendor's `dry_mass` in lb/ac is a yield.
fn is_own_unit(field: &Field) -> bool {
    let stated = field.metadata().get("unit").and_then(|unit| Unit::parse(unit));
    let own = COMPUTED.iter().chain(&OTHERS).find(|(name, _)| name == field.name());
    let own = own.and_then(|(_, unit)| Unit::parse(unit));
    stated.zip(own).is_none_or(|(stated, own)| stated.quantity() == own.quantity())
}

/// Rows of a mirror and of a concatenation are in WGS 84, also in tables that have no place for a coordinate system.
fn placed(layer: &Layer) -> Result<Layer> {
    let schema = layer.schema();
    let has = |names: &[&str]| names.iter().all(|name| schema.index_of(name).is_ok());
    let is_placed = has(&["job_id", "layer", "job_row"]) || has(&["source", "job_id"]);
    if !is_placed || layer.geometry_index().is_none() || layer.crs().is_some() || layer.crs_wkt().is_some() {
        return Ok(layer.clone());
    }
    layer.clone().with_stated_crs(&Crs::wgs84())
}

/// The one text of a column that all rows with a text have.
fn common(layer: &Layer, name: &str) -> Option<String> {
    let index = layer.schema().index_of(name).ok()?;
    let cells = arrays(layer, index).filter_map(|array| array.as_string_opt::<i64>());
    let mut cells = cells.flat_map(|array| array.iter().flatten()).map(trimmed).filter(|text| !text.is_empty());
    let first = cells.next()?;
    cells.all(|text| text == first).then(|| first.to_owned())
}
