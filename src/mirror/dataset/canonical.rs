//! Canonical rows of a layer: the same columns and units for all jobs of a kind, with keys of the job.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{
    Array as _, ArrayRef, Int32Array, Int64Array, LargeBinaryArray, LargeStringArray, RecordBatch, RecordBatchOptions,
    TimestampMicrosecondArray,
};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use chrono::Datelike as _;

use super::convert::ConvertedLayer;
use super::schema::{self, JOB_ID, JOB_ROW, LAYER};
use super::source_archive::SourceArchive;
use crate::ItemKind;
use headland_agronomy::{JobKind, Statements, canonical_fields, canonical_rows, first_year, harmonize, layer_kind};
use headland_base::error::{Error, Kind, Result};
use headland_reader::layer::crs::Crs;
use headland_reader::layer::{Layer, Table};

/// Kinds of jobs with the names of their tables, which are folders of a generation and SQL views.
pub(super) const TABLES: [(JobKind, &str); 3] =
    [(JobKind::Yield, "harvest_rows"), (JobKind::AsApplied, "application_rows"), (JobKind::Planting, "planting_rows")];

/// Name of the column with the field.
const FIELD: &str = "field";

/// The table of a kind. Its columns are the same in all files.
pub(super) fn table(kind: JobKind) -> Table {
    let described = |name: &str, data_type, text: &str| {
        Field::new(name, data_type, true).with_metadata(HashMap::from([("documentation".to_owned(), text.to_owned())]))
    };
    let clock = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let mut fields = vec![
        described(JOB_ID, DataType::LargeUtf8, "Id of the job."),
        described(LAYER, DataType::LargeUtf8, "Layer of its archive."),
        described(JOB_ROW, DataType::Int64, "Record of the layer, from 0."),
        described("job_name", DataType::LargeUtf8, "Name of the job in the list."),
        described(
            FIELD,
            DataType::LargeUtf8,
            "Stated by row, job or archive, or that of the boundary or the job on the same ground.",
        ),
        described("year", DataType::Int32, "Year in which the job started, or of its first row."),
        described("start_date", clock, "Start of the job, by the clock of the field computer."),
    ];
    fields.extend(canonical_fields(kind).into_iter().filter(|field| field.name() != FIELD));
    fields.push(schema::wgs84_geometry_field("In WGS 84; null where the coordinate system is unknown."));
    Table {
        geometry: Some(fields.len().saturating_sub(1)),
        schema: Arc::new(Schema::new(fields)),
        boxes: "bbox".to_owned(),
        crs: Crs::wgs84().projjson().cloned(),
        counter: Some(schema::OWN_COLUMNS - 1),
    }
}

/// Harmonises a layer by what the service states of its job. `None` if its job is of no kind that has canonical rows.
pub(super) fn harmonized_layer(source: &SourceArchive, layer: &ConvertedLayer) -> Option<Result<Layer>> {
    // Names of the service for jobs whose kind is not known (specification 2.1); then the columns decide.
    let is_open = matches!(&*source.job_type, "" | "Unknown" | "Planter/Sprayer");
    let is_field_work = source.kind == ItemKind::Job && (source.job.kind.is_some() || is_open);
    let (job, market_moisture) = (source.job.clone(), source.market_moisture.clone());
    let statements = Statements { market_moisture, job, ..Statements::default() };
    is_field_work.then(|| harmonize(layer.layer.clone(), &statements))
}

/// Canonical rows of a harmonised layer. `field` is that of rows that name none.
pub(super) fn rows(
    source: &SourceArchive,
    layer: &ConvertedLayer,
    harmonized: &Layer,
    field: Option<&str>,
) -> Result<Option<(JobKind, Vec<RecordBatch>)>> {
    let Some(kind) = layer_kind(harmonized) else { return Ok(None) };
    let schema = table(kind).schema;
    let canonical = canonical_fields(kind);
    let named = canonical.iter().position(|column| column.name() == FIELD);
    let (is_placed, year) = (layer.is_wgs84(), row_year(source, harmonized));
    let mut first = 0_usize;
    let batches = canonical_rows(harmonized, kind).into_iter().zip(harmonized.batches()).map(|(cells, batch)| {
        let rows = batch.num_rows();
        let text = |text: Option<&str>| Arc::new(LargeStringArray::from(vec![text; rows])) as ArrayRef;
        let start = source.start.map(|start| start.timestamp_micros());
        let number = |row: usize| i64::try_from(row).unwrap_or(i64::MAX);
        let numbers = (first..first.saturating_add(rows)).map(number);
        let mut arrays: Vec<ArrayRef> = vec![
            text(Some(&source.job_id)),
            text(Some(&layer.name)),
            Arc::new(Int64Array::from_iter_values(numbers)),
            text(Some(&*source.name).filter(|name| !name.is_empty())),
            field_names(named.and_then(|index| cells.get(index)), field, rows),
            Arc::new(Int32Array::from(vec![year; rows])),
            Arc::new(TimestampMicrosecondArray::from(vec![start; rows]).with_timezone("UTC")),
        ];
        first = first.saturating_add(rows);
        arrays.extend(cells.into_iter().enumerate().filter(|(index, _)| Some(*index) != named).map(|(_, array)| array));
        let geometry = harmonized.geometry_index().and_then(|index| batch.columns().get(index)).filter(|_| is_placed);
        arrays.push(geometry.cloned().unwrap_or_else(|| Arc::new(LargeBinaryArray::new_null(rows))));
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options).map_err(|cause| {
            let message = format!("cannot add the canonical rows of layer `{}` to the dataset: {cause}", layer.name);
            Error::new(Kind::Archive, message)
        })
    });
    Ok(Some((kind, batches.collect::<Result<_>>()?)))
}

/// Years before this one are those of clocks that were never set.
const FIRST_YEAR: i32 = 1990;

/// Year of the job's start, or else of its rows, or else of its upload.
pub(super) fn row_year(source: &SourceArchive, harmonized: &Layer) -> Option<i32> {
    let is_set = |year: &i32| *year >= FIRST_YEAR;
    let start = source.start.map(|start| start.year()).filter(is_set);
    start.or_else(|| first_year(harmonized).filter(is_set)).or_else(|| schema::job_year(source))
}

/// Field of each row: its own, or that of the job.
fn field_names(own: Option<&ArrayRef>, field: Option<&str>, rows: usize) -> ArrayRef {
    let own = own.and_then(|array| array.as_string_opt::<i64>());
    let name = |row: usize| {
        let stated = own.filter(|own| row < own.len() && own.is_valid(row)).map(|own| own.value(row).trim());
        stated.filter(|name| !name.is_empty()).or(field)
    };
    Arc::new((0..rows).map(name).collect::<LargeStringArray>())
}
