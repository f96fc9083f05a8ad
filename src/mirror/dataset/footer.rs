//! Reads the Parquet footer of a part: columns, geometry column, coordinate system, row groups and their bounding
//! boxes.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::errors::ParquetError;
use parquet::file::FOOTER_SIZE;
use parquet::file::metadata::{FooterTail, ParquetMetaDataReader, RowGroupMetaData};
use parquet::file::statistics::Statistics;
use serde_json::Value;

use super::checked_file::{CheckedFile, damaged_error};
use super::hilbert::Sides;
use headland_base::error::Result;

/// Name of the geometry column.
pub(super) const GEOMETRY: &str = "geometry";

/// Fields of a bounding box, in the order of [`Sides`].
pub(super) const SIDES: [&str; 4] = ["xmin", "ymin", "xmax", "ymax"];

/// Coordinate system of geometries that state none, by <https://geoparquet.org/releases/v1.1.0/>.
const DEFAULT_CRS: &str = "OGC:CRS84";

/// Footer of a part.
pub(super) struct Footer {
    pub(super) metadata: ArrowReaderMetadata,
    /// Columns without the bounding boxes. The geometry column is named [`GEOMETRY`] in every coordinate system.
    pub schema: Schema,
    /// Name of the geometry column in the file.
    pub geometry: Option<String>,
    /// Name of the bounding box column.
    pub(super) boxes: Option<String>,
    pub(super) groups: Vec<Group>,
    /// Types of its geometries, such as `Polygon`.
    pub(super) types: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) index: usize,
    pub(super) rows: usize,
    /// Bounding box of its geometries, if the statistics have one.
    pub(super) bounds: Option<Sides>,
}

/// Reads the footer of a part.
pub(super) fn read(path: &Path, crc32: &str) -> Result<Footer> {
    let mut file = CheckedFile::open(path, crc32)?;
    let invalid = |cause: ParquetError| damaged_error(path, &cause.to_string());
    let tail_start = file.len().saturating_sub(FOOTER_SIZE as u64);
    let tail = file.read(tail_start..file.len())?;
    let tail = FooterTail::try_from(&*tail).map_err(invalid)?;
    let start = tail_start.checked_sub(tail.metadata_length() as u64);
    let start = start.ok_or_else(|| damaged_error(path, "its metadata are longer than the file"))?;
    let content = file.read(start..tail_start)?;
    let metadata = ParquetMetaDataReader::decode_metadata(&content).map_err(invalid)?;
    let metadata = ArrowReaderMetadata::try_new(Arc::new(metadata), ArrowReaderOptions::default()).map_err(invalid)?;
    let stated = metadata.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    let geo = stated.filter(|entry| entry.key == "geo").find_map(|entry| entry.value.as_deref()).unwrap_or("{}");
    let geo: Value = serde_json::from_str(geo).map_err(|cause| damaged_error(path, &cause.to_string()))?;
    let geometry = geo.get("primary_column").and_then(Value::as_str).map(str::to_owned);
    let column = geometry.as_ref().and_then(|name| geo.get("columns")?.get(name));
    let types = column.and_then(|column| column.get("geometry_types")?.as_array()).into_iter().flatten();
    let types = types.filter_map(Value::as_str).map(str::to_owned).collect();
    let boxes = column.and_then(|column| column.pointer("/covering/bbox/xmin/0")).and_then(Value::as_str);
    let boxes = boxes.map(str::to_owned);
    let crs = column.and_then(|column| column.get("crs")).cloned().unwrap_or_else(|| Value::from(DEFAULT_CRS));
    let fields = metadata.schema().fields().iter().filter(|field| Some(field.name()) != boxes.as_ref());
    let fields: Vec<Field> = fields
        .map(
            |field| {
                if Some(field.name()) == geometry.as_ref() { geometry_field(field, &crs) } else { (**field).clone() }
            },
        )
        .collect();
    let groups = metadata.metadata().row_groups().iter().enumerate();
    let groups = groups
        .map(|(index, group)| Group {
            index,
            rows: usize::try_from(group.num_rows()).unwrap_or_default(),
            bounds: boxes.as_deref().and_then(|boxes| bounds(group, boxes)),
        })
        .collect();
    Ok(Footer { schema: Schema::new(fields), geometry, boxes, groups, types, metadata })
}

/// Geometry column with its coordinate system; null if unknown. See <https://geoarrow.org/extension-types.html>.
fn geometry_field(field: &Field, crs: &Value) -> Field {
    let metadata_json = if crs.is_null() { serde_json::json!({}) } else { serde_json::json!({ "crs": crs }) };
    let mut metadata: HashMap<String, String> = field.metadata().clone();
    metadata.insert(EXTENSION_TYPE_NAME_KEY.to_owned(), "geoarrow.wkb".to_owned());
    metadata.insert(EXTENSION_TYPE_METADATA_KEY.to_owned(), metadata_json.to_string());
    Field::new(GEOMETRY, DataType::LargeBinary, true).with_metadata(metadata)
}

/// Coordinate system of a geometry column; `None` if unknown.
pub(super) fn crs(field: &Field) -> Option<Value> {
    let metadata_json: Value = serde_json::from_str(field.metadata().get(EXTENSION_TYPE_METADATA_KEY)?).ok()?;
    metadata_json.get("crs").filter(|crs| !crs.is_null()).cloned()
}

/// Bounding box of a row group, from the statistics of its box columns.
fn bounds(group: &RowGroupMetaData, boxes: &str) -> Option<Sides> {
    let side = |name: &str, is_low: bool| {
        let path = format!("{boxes}.{name}");
        let column = group.columns().iter().find(|column| column.column_path().string() == path)?;
        match column.statistics()? {
            Statistics::Float(found) => if is_low { found.min_opt() } else { found.max_opt() }.copied().map(f64::from),
            Statistics::Double(found) => if is_low { found.min_opt() } else { found.max_opt() }.copied(),
            _ => None,
        }
    };
    let [west, south, east, north] = SIDES;
    Some([side(west, true)?, side(south, true)?, side(east, false)?, side(north, false)?])
}
