//! One table from several layers: canonical columns, each with one unit.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{
    Array as _, ArrayRef, LargeStringArray, RecordBatch, RecordBatchOptions, TimestampMicrosecondArray, new_null_array,
};
use arrow_schema::{DataType, Field, Schema, TimeUnit};

use crate::columns::added::field as column_field;
use crate::columns::canonical::{CANONICAL, JobKind};
use crate::columns::canonical_rows::{crop_array, market_array};
use crate::columns::convert::{in_system, scaled};
use crate::columns::harmonize::harmonize;
use crate::columns::market_moisture::{MARKET, MarketMoisture};
use crate::columns::provenance as metadata;
use crate::columns::statements::Statements;
use crate::jobs::parts::{Part, name_fields, row_fields};
use crate::maps::title::{joined_titles, map_title};
use headland_base::error::{Error, Kind, Result};
use headland_reader::archive::{Code, Diagnostic};
use headland_reader::layer::Layer;
use headland_reader::layer::units::{System, Unit};

/// Options of [`concat`].
#[derive(Clone, Debug)]
pub struct ConcatOptions {
    /// Whether values are converted to metric units. Otherwise columns keep their unit, which has to be one.
    pub is_metric: bool,
    /// Whether original columns are kept, those of one name and type as one column.
    pub originals: bool,
    /// The water that dry masses have, where it is not that of the crop.
    pub market_moisture: MarketMoisture,
}

/// What a column of the result has: its type, unit, quantity and moisture basis, and the source that has it first.
struct Target {
    field: Field,
    source: String,
}

/// Concatenates layers in their order, in WGS 84. Layers that are not harmonised are harmonised, and all are dried to the
/// stated moisture.
pub fn concat(parts: Vec<Part>, options: &ConcatOptions) -> Result<Layer> {
    let mut harmonized = Vec::with_capacity(parts.len());
    let statements = Statements { market_moisture: options.market_moisture.clone(), ..Statements::default() };
    for part in parts {
        let source = part.layer.source().to_owned();
        let layer = harmonize(part.layer, &statements)
            .and_then(in_wgs84)
            .map_err(|error| error.map_message(|said| format!("`{source}`: {said}")))?;
        harmonized.push(Part { layer, ..part });
    }
    check_kinds(&harmonized)?;
    let mut diagnostics = Vec::new();
    let keys = key_fields(&harmonized);
    name_fields(&mut harmonized, &mut diagnostics)?;
    let mut located = harmonized.iter().map(|part| &part.layer).filter(|layer| layer.geometry_index().is_some());
    let targets = targets(&harmonized, &keys, options, &mut diagnostics)?;
    let mut fields = keys.clone();
    fields.extend(targets.iter().map(|target| target.field.clone()));
    let Some(first) = harmonized.first().map(|part| part.layer.clone()) else {
        return Err(Error::new(Kind::Value, "`layers` is empty: pass at least one layer".to_owned()));
    };
    // Layers without geometries can precede those that have them.
    let first = located.next().cloned().unwrap_or(first);
    let geometry_field = first.geometry_index().and_then(|index| first.schema().fields().get(index).cloned());
    fields.extend(geometry_field.iter().map(|field| Field::clone(field)));
    let schema = Arc::new(Schema::new_with_metadata(fields, HashMap::new()));
    let mut batches = Vec::new();
    let mut types: Vec<u32> = Vec::new();
    for part in &harmonized {
        let layer = &part.layer;
        types.extend(layer.geometry_types());
        diagnostics.extend(layer.diagnostics().iter().map(|diagnostic| match &diagnostic.member {
            Some(_) => diagnostic.clone(),
            None => diagnostic.clone().in_member(layer.source()),
        }));
        for batch in layer.batches() {
            let rows = batch.num_rows();
            let mut columns: Vec<ArrayRef> =
                keys.iter().map(|field| key_column(part, layer, batch, field.name())).collect();
            for target in &targets {
                columns.push(column(layer, batch, target, options)?);
            }
            if geometry_field.is_some() {
                let geometry = layer.geometry_index().and_then(|index| batch.columns().get(index)).cloned();
                columns.push(geometry.unwrap_or_else(|| new_null_array(&DataType::LargeBinary, rows)));
            }
            let options = RecordBatchOptions::new().with_row_count(Some(rows));
            batches.push(
                RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options)
                    .map_err(|cause| Error::new(Kind::Value, format!("the columns do not form a table: {cause}")))?,
            );
        }
    }
    types.sort_unstable();
    types.dedup();
    let geometry = geometry_field.map(|_| keys.len().saturating_add(targets.len()));
    let kind = harmonized.iter().find_map(|part| kind(&part.layer));
    let title = joined_titles(harmonized.iter().map(|part| map_title(&part.layer, None)));
    let layer = first.concatenated(schema, batches, geometry, types, diagnostics);
    let layer = layer.with_entry(metadata::JOB_NAME, Some(&title));
    Ok(match kind {
        Some(kind) => layer.with_entry(metadata::KIND, Some(kind.as_str())),
        None => layer,
    })
}

/// The layer in WGS 84; a table stays one.
fn in_wgs84(layer: Layer) -> Result<Layer> {
    if layer.geometry_index().is_none() {
        return Ok(layer);
    }
    let message = |cause: &str| {
        format!(
            "its coordinates cannot be transformed to WGS 84: {cause}; state the coordinate system with `crs=` of `headland.harmonize`"
        )
    };
    if layer.crs().is_none() {
        return Err(Error::for_argument("crs", message("its coordinate system is unknown")));
    }
    layer.into_wgs84().map_err(|error| Error::for_argument("crs", message(&error.message())))
}

/// All layers have to be of one kind: the columns of others would be null.
fn check_kinds(parts: &[Part]) -> Result<()> {
    let mut first: Option<(JobKind, &str)> = None;
    for part in parts {
        let Some(kind) = kind(&part.layer) else { continue };
        match first {
            None => first = Some((kind, part.layer.source())),
            Some((other, source)) if other != kind => {
                let message = format!(
                    "`{source}` is {} and `{}` is {}; concatenate layers of one kind",
                    other.as_str(),
                    part.layer.source(),
                    kind.as_str()
                );
                return Err(Error::for_argument("layers", message));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn kind(layer: &Layer) -> Option<JobKind> {
    layer.metadata().iter().find(|(key, _)| key == metadata::KIND).and_then(|(_, kind)| JobKind::find(kind))
}

/// The columns that say where a row comes from; those of jobs only if a layer has them.
fn key_fields(parts: &[Part]) -> Vec<Field> {
    let text = |name: &str| Field::new(name, DataType::LargeUtf8, true);
    let mut fields = vec![text("source"), text("job_id")];
    let has_key = |name: &str| {
        parts
            .iter()
            .any(|part| metadata::is_concatenated(&part.layer) && part.layer.schema().column_with_name(name).is_some())
    };
    let has_jobs = has_key("job_name") || parts.iter().any(|part| part.job_name.is_some());
    fields.extend(has_jobs.then(|| text("job_name")));
    fields.push(text("field"));
    if has_jobs {
        fields.push(Field::new("start_date", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), true));
    }
    fields
}

fn key_column(part: &Part, layer: &Layer, batch: &RecordBatch, name: &str) -> ArrayRef {
    let rows = batch.num_rows();
    if let Some(kept) = batch.column_by_name(name).filter(|_| metadata::is_concatenated(layer)) {
        return Arc::clone(kept);
    }
    match name {
        "source" => constant(Some(layer.source()), rows),
        "job_id" => constant(part.job_id.as_deref().or_else(|| id_of_source(layer.source())), rows),
        "job_name" => constant(part.job_name.as_deref(), rows),
        "field" => field_names(layer, batch, part.field.as_deref()),
        _ => Arc::new(TimestampMicrosecondArray::from(vec![part.start; rows]).with_timezone("UTC")),
    }
}

/// The field that each row names, else `field`.
pub(crate) fn field_names(layer: &Layer, batch: &RecordBatch, field: Option<&str>) -> ArrayRef {
    let own = row_fields(layer).and_then(|index| batch.columns().get(index)?.as_string_opt::<i64>());
    let named = |row: usize| own.filter(|own| own.is_valid(row)).map(|own| own.value(row).trim());
    let name = |row: usize| named(row).filter(|name| !name.is_empty()).or(field);
    Arc::new((0..batch.num_rows()).map(name).collect::<LargeStringArray>())
}

/// The id of the job whose file a layer comes from: `job_data.read/31/SHP`.
pub(crate) fn id_of_source(source: &str) -> Option<&str> {
    source.strip_prefix("job_data.read/")?.split('/').next()
}

/// The columns of the result, in canonical order, then originals in the order in which they first occur.
fn targets(
    parts: &[Part],
    keys: &[Field],
    options: &ConcatOptions,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<Target>> {
    let computed = ["worked_area", "wet_mass", "dry_mass", "yield_wet", "yield_dry", MARKET, "amount"];
    let names = ["time", "date"].into_iter().chain(CANONICAL.iter().map(|column| column.name)).chain(computed);
    let is_harvest = parts.iter().any(|part| kind(&part.layer) == Some(JobKind::Yield));
    let mut targets: Vec<Target> = Vec::new();
    for name in names.filter(|name| *name != "field") {
        // What a layer states of all rows is a column here, since rows of others differ.
        if name == "crop" || (name == MARKET && is_harvest) {
            let (data_type, unit) = if name == MARKET { (DataType::Float64, "%") } else { (DataType::LargeUtf8, "") };
            let field = column_field(name, data_type, unit);
            let field = wanted(&field, options);
            targets.push(Target { field, source: String::new() });
            continue;
        }
        let mut target: Option<Target> = None;
        for part in parts {
            let schema = part.layer.schema();
            let Some(field) = schema.fields().iter().find(|field| field.name() == name && metadata::is_added(field))
            else {
                continue;
            };
            match &mut target {
                None => target = Some(Target { field: wanted(field, options), source: part.layer.source().to_owned() }),
                Some(target) => check_same(target, field, part.layer.source(), options, diagnostics)?,
            }
        }
        targets.extend(target);
    }
    if options.originals {
        for part in parts {
            for (index, field) in part.layer.schema().fields().iter().enumerate() {
                let is_new = !targets.iter().any(|target| target.field.name().eq_ignore_ascii_case(field.name()));
                if is_new
                    && !metadata::is_added(field)
                    && !keys.iter().any(|key| key.name() == field.name())
                    && part.layer.geometry_index() != Some(index)
                {
                    let field = Field::new(field.name(), field.data_type().clone(), true)
                        .with_metadata(field.metadata().clone());
                    targets.push(Target { field, source: part.layer.source().to_owned() });
                }
            }
        }
    }
    Ok(targets)
}

/// The field of the result: in metric units if requested, and without what holds for one source only.
fn wanted(field: &Field, options: &ConcatOptions) -> Field {
    let stated = field.metadata();
    let mut kept: HashMap<String, String> = HashMap::new();
    let unit = stated.get("unit").map(|unit| {
        let metric =
            Unit::parse(unit).filter(|_| options.is_metric).and_then(|unit| in_system(field, unit, System::Metric));
        metric.map_or_else(|| unit.clone(), |metric| metric.to_string())
    });
    kept.extend(unit.map(|unit| ("unit".to_owned(), unit)));
    for key in [metadata::QUANTITY, metadata::MOISTURE_BASIS, metadata::KG_PER_BUSHEL] {
        kept.extend(stated.get(key).map(|value| (key.to_owned(), value.clone())));
    }
    kept.insert(metadata::SOURCE.to_owned(), field.name().clone());
    kept.insert(metadata::RULE.to_owned(), metadata::CONCATENATED.to_owned());
    Field::new(field.name(), field.data_type().clone(), true).with_metadata(kept)
}

/// Checks that a column of another source can be part of the target.
fn check_same(
    target: &mut Target,
    field: &Field,
    source: &str,
    options: &ConcatOptions,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<()> {
    let name = field.name();
    let pair = |key: &str| (target.field.metadata().get(key).cloned(), field.metadata().get(key).cloned());
    let refuse = |what: &str, (one, other): (Option<String>, Option<String>)| {
        let text = |value: Option<String>| value.unwrap_or_else(|| "unknown".to_owned());
        let message = format!(
            "column `{name}`: {what} is {} in `{}` and {} in `{source}`",
            text(one),
            target.source,
            text(other)
        );
        Err(Error::for_argument(name, message))
    };
    let quantity = pair(metadata::QUANTITY);
    if quantity.0 != quantity.1 {
        return refuse("the quantity", quantity);
    }
    let unit = pair("unit");
    if unit.0 != unit.1 {
        let factor = unit
            .1
            .as_deref()
            .and_then(Unit::parse)
            .zip(unit.0.as_deref().and_then(Unit::parse))
            .map(|(from, to)| from.factor(to, kg_per_bushel(field)));
        if !options.is_metric || !matches!(factor, Some(Ok(_))) {
            return refuse("the unit", unit);
        }
    }
    let weight = pair(metadata::KG_PER_BUSHEL);
    if weight.0 != weight.1 {
        let mut changed = target.field.metadata().clone();
        changed.remove(metadata::KG_PER_BUSHEL);
        target.field = target.field.clone().with_metadata(changed);
    }
    let basis = (
        target.field.metadata().get(metadata::MOISTURE_BASIS).cloned(),
        field.metadata().get(metadata::MOISTURE_BASIS).cloned(),
    );
    if basis.0 != basis.1 {
        if !options.is_metric {
            return refuse("the moisture basis", basis);
        }
        let mut changed = target.field.metadata().clone();
        let before = changed.insert(metadata::MOISTURE_BASIS.to_owned(), metadata::SEVERAL.to_owned());
        if name != "yield_dry" && before.is_none_or(|before| before != metadata::SEVERAL) {
            let message =
                format!("column `{name}` has several moisture bases: compare sources or crops only within one");
            diagnostics.push(Diagnostic::new(Code::SeveralBases, message));
        }
        target.field = target.field.clone().with_metadata(changed);
    }
    Ok(())
}

/// The values of one batch for a column of the result; null where the layer has none.
fn column(layer: &Layer, batch: &RecordBatch, target: &Target, options: &ConcatOptions) -> Result<ArrayRef> {
    let schema = layer.schema();
    let name = target.field.name();
    match name.as_str() {
        "crop" => return Ok(crop_array(layer, batch)),
        MARKET => return Ok(market_array(layer, batch)),
        _ => {}
    }
    let is_canonical = metadata::is_added(&target.field);
    let index =
        schema.fields().iter().position(|field| field.name() == name && metadata::is_added(field) == is_canonical);
    let Some((array, field)) = index.and_then(|index| Some((batch.columns().get(index)?, schema.fields().get(index)?)))
    else {
        return Ok(new_null_array(target.field.data_type(), batch.num_rows()));
    };
    let (from, to) = (field.metadata().get("unit"), target.field.metadata().get("unit"));
    if from != to {
        let factor = from
            .and_then(|from| Unit::parse(from))
            .zip(to.and_then(|to| Unit::parse(to)))
            .and_then(|(from, to)| from.factor(to, kg_per_bushel(field)).ok());
        if let (Some(factor), true) = (factor, options.is_metric && is_canonical) {
            return Ok(scaled(array, factor));
        }
    }
    if array.data_type() == target.field.data_type() && (from == to || is_canonical) {
        return Ok(Arc::clone(array));
    }
    let message = format!(
        "original column `{name}` is {} in {} in `{}` and {} in {} in `{}`; leave `originals` out",
        target.field.data_type(),
        to.map_or("unknown", String::as_str),
        target.source,
        array.data_type(),
        from.map_or("unknown", String::as_str),
        layer.source()
    );
    Err(Error::for_argument(name, message))
}

/// The weight of a bushel that a column states.
fn kg_per_bushel(field: &Field) -> Option<f64> {
    field.metadata().get(metadata::KG_PER_BUSHEL)?.parse().ok()
}

pub(crate) fn constant(text: Option<&str>, rows: usize) -> ArrayRef {
    Arc::new(LargeStringArray::from(vec![text; rows]))
}
