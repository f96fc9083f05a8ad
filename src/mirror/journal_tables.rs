//! Builds the catalog tables from the journal: jobs, products, devices, maps and locations.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, FieldRef, Schema};

use super::journal::{FileState, Item, ItemKind, ReadTxn, Record};
use super::lists::List;
use super::location_lists::present_records;
use headland_api::Shape;
use headland_api::field_computers::FIELD_COMPUTER_DETAIL;
use headland_api::field_hubs::{FIELD_HUB_DETAIL, FIELD_HUB_REPORT};
use headland_api::grain_carts::GRAIN_CART;
use headland_api::job_data::JOB_DATA_DETAIL;
use headland_api::locations::DEVICE_LOCATION;
use headland_api::prescription_maps::PRESCRIPTION_MAP_DETAIL;
use headland_api::products::PRODUCT_ROW;
use headland_base::error::{Error, Kind, Result};
use headland_client::flatten;
use headland_wire::columns::to_batch;
use headland_wire::{Content, Name, Value, decode_detail};

/// Locations per query, which bounds memory.
const LOCATIONS_PER_READ: usize = 10_000;

/// Field of the detail with the name of the job.
const JOB_NAME: &str = "job_name";

/// Text column that the records of the service lack: name, documentation, values.
type Column = (&'static str, &'static str, Vec<Option<String>>);

/// All tables with their names.
pub(super) fn build_tables(txn: &ReadTxn) -> Result<Vec<(String, RecordBatch)>> {
    let jobs = txn.items(ItemKind::Job)?;
    let details: Vec<Value> = jobs.iter().map(detail).collect();
    let products: Vec<Value> = details.iter().flat_map(|detail| flatten(detail, &PRODUCT_ROW)).collect();
    let carts = txn.items(ItemKind::Cart)?;
    let tables = [
        (
            "jobs",
            with_text_columns(&flat_batch(&JOB_DATA_DETAIL, &details)?, list_columns(&jobs), file_columns(&jobs))?,
        ),
        ("products", flat_batch(&PRODUCT_ROW, &products)?),
        ("field_computers", records(txn, List::Computers, &FIELD_COMPUTER_DETAIL)?),
        ("field_hubs", hubs(txn)?),
        ("prescription_maps", maps(txn)?),
        (
            "grain_carts",
            with_text_columns(
                &flat_batch(&GRAIN_CART, &listed(&carts, &GRAIN_CART))?,
                Vec::new(),
                file_columns(&carts),
            )?,
        ),
        ("locations", locations(txn)?),
    ];
    Ok(tables.into_iter().map(|(name, table)| (name.to_owned(), table)).collect())
}

/// Scalar columns of a shape. Lists inside a record are tables of their own, or addresses that only the service can
/// follow.
fn flat_batch(shape: &'static Shape, records: &[Value]) -> Result<RecordBatch> {
    let batch = to_batch(shape, records)?;
    let is_flat = |field: &FieldRef| !field.data_type().is_nested();
    let kept: Vec<usize> = batch
        .schema()
        .fields()
        .iter()
        .enumerate()
        .filter(|(_, field)| is_flat(field))
        .map(|(index, _)| index)
        .collect();
    batch.project(&kept).map_err(|cause| table_error(shape.name, &cause))
}

/// Detail of a job, or the fields of its listing if there is none.
fn detail(job: &Item) -> Value {
    let detail = job.detail.as_deref().and_then(|json| read(json, &JOB_DATA_DETAIL));
    let mut detail = detail.unwrap_or_else(|| {
        let time = |time: Option<_>| time.map_or(Value::Null, Value::Time);
        Value::Record(vec![
            (Name::Borrowed("create_date"), time(job.created)),
            (Name::Borrowed("update_date"), time(job.updated)),
            (Name::Borrowed("id"), Value::Text(job.id.clone())),
        ])
    });
    // Only sprayers state a job name; that of the others is the name in the list.
    let is_named = detail.get(JOB_NAME).and_then(Value::as_text).is_some_and(|name| !name.is_empty());
    if let (Value::Record(fields), false) = (&mut detail, is_named || job.name.is_empty()) {
        fields.retain(|(field, _)| field != JOB_NAME);
        fields.push((Name::Borrowed(JOB_NAME), Value::Text(job.name.clone())));
    }
    detail
}

fn read(json: &str, shape: &'static Shape) -> Option<Value> {
    decode_detail(Content::Json, json.as_bytes(), shape).ok()
}

fn listed(items: &[Item], shape: &'static Shape) -> Vec<Value> {
    items.iter().map(|item| read(&item.listed, shape).unwrap_or(Value::Null)).collect()
}

fn list_columns(jobs: &[Item]) -> Vec<Column> {
    vec![
        ("name", "Name given by a user, or the file name.", jobs.iter().map(|job| Some(job.name.clone())).collect()),
        ("sub_type", "The kind as lists name it.", jobs.iter().map(|job| job.sub_type.clone()).collect()),
    ]
}

/// Columns with the state of each item's file.
fn file_columns(items: &[Item]) -> Vec<Column> {
    // Reported like a file that was not requested yet, so that the table does not depend on running conversions.
    let file_state = |item: &Item| match item.file {
        FileState::Converting { .. } => FileState::Pending.as_str(),
        _ => item.file.as_str(),
    };
    let reason = |item: &Item| match &item.file {
        FileState::NoCoverage { reason } | FileState::Failed { reason, .. } | FileState::Quarantined { reason, .. } => {
            Some(reason.clone())
        }
        FileState::Superseded { newer_id } => Some(format!("superseded by {newer_id}")),
        _ => None,
    };
    vec![
        ("file", "What became of its file.", items.iter().map(|item| Some(file_state(item).to_owned())).collect()),
        ("file_reason", "Why there is none.", items.iter().map(reason).collect()),
        (
            "archive",
            "SHA-256 of the archive whose rows are in the dataset.",
            items.iter().map(|item| item.archive.as_ref().map(|archive| archive.sha256.clone())).collect(),
        ),
    ]
}

/// Records of a list, with the fields of their details where available.
fn records(txn: &ReadTxn, list: List, shape: &'static Shape) -> Result<RecordBatch> {
    let to_value = |record: &Record| {
        let detail = record.detail.as_deref().and_then(|json| read(json, shape));
        detail.or_else(|| read(&record.listed, shape)).unwrap_or(Value::Null)
    };
    flat_batch(shape, &present_records(txn, list)?.iter().map(to_value).collect::<Vec<_>>())
}

/// Hubs with their last reports, whose columns have the prefix `report_`.
fn hubs(txn: &ReadTxn) -> Result<RecordBatch> {
    let hubs: Vec<Value> =
        present_records(txn, List::Hubs)?.iter().filter_map(|hub| read(&hub.listed, &FIELD_HUB_DETAIL)).collect();
    let reports: Vec<Value> = hubs.iter().map(|hub| hub.get("report").cloned().unwrap_or(Value::Null)).collect();
    let (hubs, reports) = (flat_batch(&FIELD_HUB_DETAIL, &hubs)?, flat_batch(&FIELD_HUB_REPORT, &reports)?);
    let prefixed = reports
        .schema()
        .fields()
        .iter()
        .map(|field| {
            let field = Field::clone(field);
            let name = format!("report_{}", field.name());
            Arc::new(field.with_name(name))
        })
        .collect::<Vec<FieldRef>>();
    join_columns("FieldHubDetail", [(hubs.schema().fields().to_vec(), hubs.columns()), (prefixed, reports.columns())])
}

/// Prescription maps. The detail does not repeat the id and the name.
fn maps(txn: &ReadTxn) -> Result<RecordBatch> {
    let maps = present_records(txn, List::Maps)?;
    let to_value = |map: &Record| map.detail.as_deref().and_then(|json| read(json, &PRESCRIPTION_MAP_DETAIL));
    let details = flat_batch(
        &PRESCRIPTION_MAP_DETAIL,
        &maps.iter().map(|map| to_value(map).unwrap_or(Value::Null)).collect::<Vec<_>>(),
    )?;
    let name = |map: &Record| {
        let tree: serde_json::Value = serde_json::from_str(&map.listed).unwrap_or_default();
        tree.get("Name").and_then(serde_json::Value::as_str).map(str::to_owned)
    };
    let front = vec![
        ("id", "Id of the prescription map.", maps.iter().map(|map| Some(map.id.clone())).collect()),
        ("name", "Name given by a user, or the file name.", maps.iter().map(name).collect()),
    ];
    with_text_columns(&details, front, Vec::new())
}

/// Locations of all devices, each record once.
fn locations(txn: &ReadTxn) -> Result<RecordBatch> {
    let mut columns = headland_wire::columns::Columns::new(&DEVICE_LOCATION, 0);
    let mut after = 0;
    loop {
        let some = txn.locations(after, LOCATIONS_PER_READ)?;
        for (number, location) in &some {
            after = *number;
            let record = read(&location.json, &DEVICE_LOCATION).unwrap_or(Value::Null);
            columns.push(&record).map_err(|cause| table_error("DeviceLocation", &cause))?;
        }
        if some.len() < LOCATIONS_PER_READ {
            return columns.into_batch();
        }
    }
}

/// Adds text columns before and after those of a table.
fn with_text_columns(table: &RecordBatch, front: Vec<Column>, back: Vec<Column>) -> Result<RecordBatch> {
    let texts = |columns: Vec<Column>| -> (Vec<FieldRef>, Vec<ArrayRef>) {
        let made = columns.into_iter().map(|(name, doc, values)| {
            let metadata = HashMap::from([("documentation".to_owned(), doc.to_owned())]);
            let field: FieldRef = Arc::new(Field::new(name, DataType::Utf8, true).with_metadata(metadata));
            let array: ArrayRef = Arc::new(StringArray::from_iter(values));
            (field, array)
        });
        made.unzip()
    };
    let (front_fields, front) = texts(front);
    let (back_fields, back) = texts(back);
    join_columns(
        "the catalog",
        [(front_fields, front.as_slice()), (table.schema().fields().to_vec(), table.columns()), (back_fields, &back)],
    )
}

fn join_columns<const N: usize>(name: &str, parts: [(Vec<FieldRef>, &[ArrayRef]); N]) -> Result<RecordBatch> {
    let columns: Vec<ArrayRef> = parts.iter().flat_map(|(_, columns)| columns.iter().cloned()).collect();
    let fields: Vec<FieldRef> = parts.into_iter().flat_map(|(fields, _)| fields).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(|cause| table_error(name, &cause))
}

fn table_error(name: &str, cause: &arrow_schema::ArrowError) -> Error {
    Error::new(Kind::Decode, format!("cannot build a table of the records of {name}: {cause}"))
}
