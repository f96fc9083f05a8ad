//! Folder and column names of a layer in the dataset, derived from its job and columns.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{DataType, Field, Schema};
use chrono::{Datelike, NaiveDate};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::footer::GEOMETRY;
use super::manifest::version;
use super::short_digest::short_digest;
use super::source_archive::SourceArchive;
use crate::ItemKind;
use headland_reader::layer::crs::Crs;
use headland_reader::layer::{Layer, Table};

/// Leading columns of every part.
pub(super) const JOB_ID: &str = "job_id";
pub(super) const LAYER: &str = "layer";
pub(super) const JOB_ROW: &str = "job_row";
/// Number of these columns.
pub(super) const OWN_COLUMNS: usize = 3;

const BOXES: &str = "bbox";

/// Names reserved for dataset columns and partition keys, compared without case, as `DuckDB` does.
const RESERVED: [&str; 8] = [JOB_ID, LAYER, JOB_ROW, GEOMETRY, BOXES, "job_type", "year", "columns"];

/// Partition value that Hive-style readers take for null.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// Longest encoded partition value in bytes. File systems allow 255 bytes per name, which includes the key.
const MAX_VALUE_LENGTH: usize = 160;

/// Characters that are escaped in the name of a folder.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// Path prefix of all rows of a job: `dataset/job_type=.../year=.../`.
pub(super) fn job_folder(source: &SourceArchive) -> String {
    let job_type = match source.kind {
        ItemKind::Cart => "GrainCart".to_owned(),
        ItemKind::Job => encode_value(&source.job_type),
    };
    let year = job_year(source).map_or_else(|| NULL.to_owned(), |year| year.to_string());
    format!("dataset/job_type={job_type}/year={year}/")
}

/// Year of a job's start, or else of its record.
///
/// Lists of grain carts have no time, so the year comes from the file name
/// (`<Crop>_<Field>_<JobNumber>_<YYYY-MM-DD>_<HHMMSS>_<bridge>.grc`).
pub(super) fn job_year(source: &SourceArchive) -> Option<i32> {
    let named = || {
        let words = source.name.rsplit('_').filter(|_| source.kind == ItemKind::Cart);
        words.filter_map(|word| NaiveDate::parse_from_str(word, "%Y-%m-%d").ok()).map(|date| date.year()).next()
    };
    source.start.or(source.created).map(|time| time.year()).or_else(named)
}

/// Percent-encodes all but letters, digits, `-`, `_` and `.`, so that the value is valid in a path.
fn encode_value(value: &str) -> String {
    let value = value.trim();
    if value.is_empty() {
        return NULL.to_owned();
    }
    let text = utf8_percent_encode(value, ESCAPED).to_string();
    if text.len() > MAX_VALUE_LENGTH {
        // A truncated escape of a multi-byte character would not decode to text.
        let mut end = MAX_VALUE_LENGTH - 20;
        while !value.is_char_boundary(end / 3) {
            end -= 3;
        }
        let start: String = value.get(..end / 3).map(encode_value).unwrap_or_default();
        return format!("{start}~{}", short_digest(value.as_bytes()));
    }
    text
}

/// Job type and year of a part, from the folders of its path.
pub(super) fn partition_keys(path: &str) -> (Option<String>, Option<i32>) {
    let value = |key: &str| {
        let folder = path.split('/').find_map(|folder| folder.strip_prefix(key)?.strip_prefix('='));
        folder.filter(|value| *value != NULL)
    };
    (value("job_type").map(decode_value), value("year").and_then(|year| year.parse().ok()))
}

/// Decodes a value of [`encode_value`].
fn decode_value(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Table layout of a layer, with the key of its columns. Equal keys mean equal layouts.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    pub(super) table: Table,
    pub(super) key: String,
}

/// Dataset columns of a layer.
pub(super) fn dataset_columns(layer: &Layer) -> Columns {
    let schema = layer.schema();
    let geometry = layer.geometry_index();
    let suffix = crs_suffix(layer);
    let (geometry_name, boxes) = (format!("{GEOMETRY}{suffix}"), format!("{BOXES}{suffix}"));
    let names = unique_names(&schema, geometry, &[&geometry_name, &boxes]);
    let own_field = |name: &str, kind| Field::new(name, kind, false);
    let mut fields = vec![
        own_field(JOB_ID, DataType::LargeUtf8),
        own_field(LAYER, DataType::LargeUtf8),
        own_field(JOB_ROW, DataType::Int64),
    ];
    let mut key = Vec::new();
    let mut last = None;
    for (index, (field, name)) in schema.fields().iter().zip(names).enumerate() {
        if Some(index) == geometry {
            last = Some(geometry_field(layer, field, &geometry_name));
            continue;
        }
        let mut metadata = HashMap::new();
        let stated = field.metadata().get("unit").filter(|unit| !unit.is_empty());
        // Numbers without a stated unit get the unit `unknown`.
        let is_number = matches!(field.data_type(), DataType::Int32 | DataType::Int64 | DataType::Float64);
        if let Some(unit) = stated.cloned().or_else(|| is_number.then(|| "unknown".to_owned())) {
            metadata.insert("unit".to_owned(), unit);
        }
        metadata.insert("headland.column".to_owned(), field.name().clone());
        key.push(format!("{name}\n{}\n{}", field.data_type(), stated.map_or("", String::as_str)));
        fields.push(Field::new(name, field.data_type().clone(), true).with_metadata(metadata));
    }
    let index = last.as_ref().map(|_| fields.len());
    key.extend(last.as_ref().map(|_| geometry_name));
    fields.extend(last);
    let metadata =
        HashMap::from([("headland.version".to_owned(), version()), ("headland.origin".to_owned(), ORIGIN.to_owned())]);
    let table = Table {
        schema: Arc::new(Schema::new_with_metadata(fields, metadata)),
        geometry: index,
        boxes,
        crs: layer.crs_projjson().cloned(),
        counter: Some(OWN_COLUMNS - 1),
    };
    Columns { table, key: short_digest(key.join("\n\n").as_bytes()) }
}

/// Metadata of each part that explains its rows.
const ORIGIN: &str = "each row is the record `job_row` (from 0) of layer `layer` in the archive of job `job_id`; manifest.json \
                      names the archive and its digest";

/// Whether a coordinate system is WGS 84, that of the dataset.
pub(super) fn is_wgs84(crs: &Crs) -> bool {
    crs.wkt() == Crs::wgs84().wkt()
}

/// Suffix of the geometry columns: empty in WGS 84, `_unknown` without a .prj, else a digest of the .prj text.
///
/// Other systems have columns of their own, so that a reader of several folders does not mix metres and degrees.
/// `DuckDB` rejects such a mix; geopandas and pyarrow do not.
fn crs_suffix(layer: &Layer) -> String {
    match (layer.crs(), layer.crs_wkt()) {
        (Some(crs), _) if is_wgs84(crs) => String::new(),
        (_, Some(prj)) if !prj.is_empty() => format!("_{}", short_digest(prj.as_bytes()).get(..6).unwrap_or_default()),
        _ => "_unknown".to_owned(),
    }
}

/// Geometry column in WGS 84.
pub(super) fn wgs84_geometry_field(documentation: &str) -> Field {
    let crs = serde_json::json!({ "crs": Crs::wgs84().projjson(), "crs_type": "projjson" });
    let metadata = [
        ("documentation", documentation.to_owned()),
        (EXTENSION_TYPE_NAME_KEY, "geoarrow.wkb".to_owned()),
        (EXTENSION_TYPE_METADATA_KEY, crs.to_string()),
    ];
    let metadata = metadata.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    Field::new(GEOMETRY, DataType::LargeBinary, true).with_metadata(metadata)
}

fn geometry_field(layer: &Layer, field: &Field, name: &str) -> Field {
    let mut metadata = field.metadata().clone();
    if let Some(prj) = layer.crs_wkt().filter(|_| !layer.crs().is_some_and(is_wgs84)) {
        metadata.insert("headland.prj".to_owned(), prj.to_owned());
    }
    Field::new(name, field.data_type().clone(), true).with_metadata(metadata)
}

/// Dataset names of an archive's columns, if its geometries are in WGS 84.
#[must_use]
pub fn column_names(schema: &Schema) -> Vec<String> {
    let is_geometry = |field: &Arc<Field>| field.metadata().contains_key(EXTENSION_TYPE_NAME_KEY);
    let geometry = schema.fields().iter().position(is_geometry);
    let mut names = unique_names(schema, geometry, &[]);
    if let Some(name) = geometry.and_then(|index| names.get_mut(index)) {
        GEOMETRY.clone_into(name);
    }
    names
}

/// Unique column names that avoid the reserved ones.
///
/// A conflicting column gets a number as suffix. Its own name is stored in its metadata.
fn unique_names(schema: &Schema, geometry: Option<usize>, geometry_names: &[&str]) -> Vec<String> {
    let lower = |name: &str| name.to_ascii_lowercase();
    let others = schema.fields().iter().enumerate().filter(|(index, _)| Some(*index) != geometry);
    let mut taken: HashSet<String> = others.map(|(_, field)| lower(field.name())).collect();
    let mut used: HashSet<String> = RESERVED.iter().chain(geometry_names).map(|name| (*name).to_owned()).collect();
    taken.extend(used.iter().cloned());
    let mut next: HashMap<String, u64> = HashMap::new();
    let mut name = |(index, field): (usize, &Arc<Field>)| {
        if Some(index) == geometry {
            return String::new();
        }
        if used.insert(lower(field.name())) {
            return field.name().clone();
        }
        let number = next.entry(lower(field.name())).or_insert(1);
        loop {
            let name = format!("{}_{number}", field.name());
            *number = number.saturating_add(1);
            if taken.insert(lower(&name)) {
                return name;
            }
        }
    };
    schema.fields().iter().enumerate().map(&mut name).collect()
}
