//! Lists the archives of a publication, with what the service states of their jobs.

use super::dataset::SourceArchive;
use super::journal::{Item, ReadTxn};
use super::layout::Folder;
use headland_agronomy::{Job, JobKind, JobType, MarketMoisture};
use headland_api::job_data::JOB_DATA_DETAIL;
use headland_base::error::Result;
use headland_wire::{Content, Value, decode_detail};

/// Archives whose rows belong to the dataset.
pub(super) fn source_archives(
    folder: &Folder,
    txn: &ReadTxn,
    market_moisture: &MarketMoisture,
) -> Result<Vec<SourceArchive>> {
    let store = folder.store();
    let source = |item: Item| {
        let Item { kind, id, name, sub_type, created, archive, detail, .. } = item;
        let archive = archive?;
        let detail = detail.and_then(|json| decode_detail(Content::Json, json.as_bytes(), &JOB_DATA_DETAIL).ok());
        let text = |name: &str| detail.as_ref().and_then(|detail| text(detail, name));
        let start = match detail.as_ref().and_then(|detail| detail.get("start_date")) {
            Some(Value::Time(time)) => Some(*time),
            _ => None,
        };
        let job_type = text("job_type").unwrap_or_else(|| job_type(sub_type.as_deref().unwrap_or_default()));
        // A missing archive is rejected when it is read.
        let path = store.path_of(&archive.sha256).unwrap_or_else(|| folder.path().join(&archive.sha256));
        let products = match detail.as_ref().and_then(|detail| detail.get("products")) {
            Some(Value::List(products)) => products.as_slice(),
            _ => &[],
        };
        let job = Job {
            kind: JobKind::find(&job_type),
            crop: text("field_crop").or_else(|| only_product(products)),
            start: start.map(|start| start.timestamp_micros()),
            area: applied_area(products),
            ..Job::default()
        };
        Some(SourceArchive {
            kind,
            job_id: id,
            sha256: archive.sha256,
            archive: path,
            job_type,
            start,
            created,
            display: text("software_version"),
            name,
            field: text("field_name"),
            job,
            market_moisture: market_moisture.clone(),
        })
    };
    Ok(txn.wanted()?.into_iter().filter_map(source).collect())
}

/// Field of a record with a text that is not empty.
fn text(record: &Value, name: &str) -> Option<String> {
    record.get(name).and_then(Value::as_text).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Job Type of the detail for the `SubType` of the list (specification 2.1, 2.6).
fn job_type(sub_type: &str) -> String {
    let kind: &str = match JobType::find(sub_type).map(|known| known.details) {
        Some([detail]) => detail,
        _ if sub_type.is_empty() => "Unknown",
        _ => sub_type,
    };
    kind.to_owned()
}

/// Name of the product of a job that has one; that of a harvest is its crop.
fn only_product(products: &[Value]) -> Option<String> {
    match products {
        [product] => text(product, "product_name"),
        _ => None,
    }
}

/// Area of all products in square metres.
fn applied_area(products: &[Value]) -> Option<f64> {
    let area = |product: &Value| match product.get("applied_area") {
        Some(Value::Decimal(area)) => Some(*area),
        #[expect(clippy::cast_precision_loss, reason = "areas are far below 2^53 square metres")]
        Some(Value::Integer(area)) => Some(*area as f64),
        _ => None,
    };
    let total: f64 = products.iter().filter_map(area).sum();
    (total > 0.0).then_some(total)
}
