//! Arrow schema of a layer: names, types, units, and the geometry with its coordinate system.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use super::Layer;
use super::crs::Crs;
use super::units::Unit;
use crate::archive::{Diagnostic, find_name};
use headland_base::error::{Error, Kind, Result};

/// The Arrow schema entry with the metadata of the layer.
pub(super) const METADATA: &str = "headland.metadata";

/// The metadata of a field with its unit, in headland's spelling.
const UNIT: &str = "unit";

/// The name of the geometry column, without the number that avoids a duplicate.
const GEOMETRY: &str = "geometry";

impl Layer {
    /// Whether one or several columns have this name in either Unicode normal form.
    #[must_use]
    pub fn has_column(&self, name: &str) -> bool {
        let names = self.schema.fields().iter().map(|field| field.name().as_str());
        !matches!(find_name("column", name, names), Ok(None))
    }

    /// The index of the column that `argument` names. An unknown or duplicate name is an error.
    pub fn column_index(&self, argument: &str, name: &str) -> Result<usize> {
        let names: Vec<&str> = self.schema.fields().iter().map(|field| field.name().as_str()).collect();
        let own = resolve_name(argument, name, &names)?;
        let indices: Vec<usize> =
            names.iter().enumerate().filter(|(_, known)| **known == own).map(|(index, _)| index).collect();
        if let [index] = &*indices {
            return Ok(*index);
        }
        let message = format!(
            "{} columns have the name `{own}`, at the positions {indices:?}: select one with \
             `to_arrow().column({first})` or `to_geopandas().iloc[:, {first}]`",
            indices.len(),
            first = indices.first().copied().unwrap_or_default()
        );
        Err(Error::new(Kind::Value, message).with(|facts| facts.field = Some(own.to_owned())))
    }

    /// The unit of each column that has one.
    #[must_use]
    pub fn units(&self) -> Vec<(String, String)> {
        let unit = |field: &Arc<Field>| Some((field.name().clone(), field.metadata().get(UNIT)?.clone()));
        self.schema.fields().iter().filter_map(unit).collect()
    }

    /// Sets units of columns. Unknown names are ignored, since a service may list more columns than a file has.
    #[must_use]
    pub fn with_units(self, units: &[(String, String)]) -> Self {
        self.with_field_metadata(UNIT, &units.iter().rev().cloned().collect())
    }

    /// Sets a text under `key` in the metadata of these columns. Units get the one spelling of headland.
    pub(super) fn with_field_metadata(self, key: &str, texts: &BTreeMap<String, String>) -> Self {
        let field = |field: &Arc<Field>| {
            let Some(text) = texts.get(field.name()) else { return Arc::clone(field) };
            let text = if key == UNIT { Unit::spell(text) } else { text.clone() };
            let mut metadata = field.metadata().clone();
            metadata.insert(key.to_owned(), text);
            Arc::new(field.as_ref().clone().with_metadata(metadata))
        };
        let fields: Vec<_> = self.schema.fields().iter().map(field).collect();
        let schema = Schema::new_with_metadata(fields, self.schema.metadata().clone());
        self.with_schema(schema)
    }

    /// Sets the metadata of the layer, also as one JSON entry of the Arrow schema. With separate entries, a file could
    /// set keys that Arrow and Parquet readers interpret.
    pub(super) fn with_metadata(mut self, metadata: Vec<(String, String)>) -> Self {
        let object: serde_json::Map<String, serde_json::Value> =
            metadata.iter().map(|(key, value)| (key.clone(), value.clone().into())).collect();
        let mut entries = self.schema.metadata().clone();
        entries.insert(METADATA.to_owned(), serde_json::Value::Object(object).to_string());
        self.metadata = metadata;
        let schema = Schema::new_with_metadata(self.schema.fields().clone(), entries);
        self.with_schema(schema)
    }

    /// Replaces the schema by one with other metadata.
    pub(super) fn with_schema(mut self, schema: Schema) -> Self {
        let schema = Arc::new(schema);
        // Only metadata differ, so every batch fits. If not, the old schema is kept.
        let batches: std::result::Result<Vec<_>, _> = self
            .batches
            .iter()
            .map(|batch| {
                let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
                RecordBatch::try_new_with_options(Arc::clone(&schema), batch.columns().to_vec(), &options)
            })
            .collect();
        if let Ok(batches) = batches {
            self.schema = schema;
            self.batches = batches;
        }
        self
    }

    /// Replaces the columns. The geometry is the one at index `geometry`, with the same values.
    #[must_use]
    pub fn with_batches(mut self, schema: SchemaRef, batches: Vec<RecordBatch>, geometry: Option<usize>) -> Self {
        self.schema = schema;
        self.batches = batches;
        self.geometry = geometry;
        self
    }

    /// Unique names of the columns, as Parquet and JSON need them.
    #[must_use]
    pub fn distinct_columns(&self) -> Vec<String> {
        distinct_names(&self.schema)
    }

    /// The layer with its first records only.
    #[must_use]
    pub fn head(&self, count: usize) -> Self {
        let mut left = count;
        let mut batches = Vec::new();
        for batch in &self.batches {
            let rows = left.min(batch.num_rows());
            left = left.saturating_sub(rows);
            if rows > 0 {
                batches.push(batch.slice(0, rows));
            }
        }
        self.clone().with_batches(SchemaRef::clone(&self.schema), batches, self.geometry)
    }

    /// Sets one entry of the metadata of the layer, or removes it.
    #[must_use]
    pub fn with_entry(self, key: &str, value: Option<&str>) -> Self {
        let mut metadata = self.metadata.clone();
        metadata.retain(|(known, _)| known != key);
        metadata.extend(value.map(|value| (key.to_owned(), value.to_owned())));
        self.with_metadata(metadata)
    }

    /// A layer of other rows with this coordinate system: a table from several sources.
    #[must_use]
    pub fn concatenated(
        self,
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
        geometry: Option<usize>,
        types: Vec<u32>,
        diagnostics: Vec<Diagnostic>,
    ) -> Self {
        let layer =
            Self { name: "concat".to_owned(), source: "concat".to_owned(), diagnostics, types, boundary: None, ..self };
        layer.with_batches(schema, batches, geometry).with_metadata(Vec::new())
    }

    /// Adds diagnostics.
    #[must_use]
    pub fn with_diagnostics(mut self, diagnostics: Vec<Diagnostic>) -> Self {
        self.diagnostics.extend(diagnostics);
        self
    }

    /// Sets the columns as one batch of `rows`. Longer columns are truncated.
    pub(super) fn with_batch(mut self, arrays: Vec<ArrayRef>, rows: usize) -> Result<Self> {
        let truncate = |array: ArrayRef| if array.len() > rows { array.slice(0, rows) } else { array };
        let arrays = arrays.into_iter().map(truncate).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options)
            .map_err(|cause| schema_error(&cause))?;
        self.batches = vec![batch];
        Ok(self)
    }

    /// The coordinate system, or an error with the alternatives.
    pub(super) fn known_crs(&self) -> Result<&Crs> {
        self.crs.as_ref().ok_or_else(|| {
            let message = format!(
                "the coordinate system of layer `{}` is unknown, so its coordinates cannot be transformed to WGS 84; \
                 `write_geojson`, `plot` and `area` use them unchanged with `crs=\"as-is\"`",
                self.name
            );
            Error::new(Kind::Value, message)
        })
    }
}

/// The error for columns that do not form a table. No input should cause it.
pub(super) fn schema_error(cause: &ArrowError) -> Error {
    Error::new(Kind::Archive, format!("the columns do not form a table: {cause}"))
}

/// Finds a column by its name in either Unicode normal form, NFC or NFD.
pub(super) fn resolve_name<'a>(argument: &str, name: &str, names: &[&'a str]) -> Result<&'a str> {
    find_name(argument, name, names.iter().copied())?.ok_or_else(|| {
        let near = names.iter().find(|known| known.eq_ignore_ascii_case(name));
        let hint = near
            .map_or_else(|| format!("; there are: {}", names.join(", ")), |near| format!(": did you mean `{near}`?"));
        let message = format!("there is no column `{name}`{hint}");
        Error::new(Kind::Value, message).with(|facts| facts.field = Some(name.to_owned()))
    })
}

/// The requested columns by their names in the source. The geometry column may be requested and is always included.
pub(super) fn resolve_names(wanted: &[String], names: &[&str], has_geometry: bool) -> Result<Vec<String>> {
    let mut own = Vec::new();
    for name in wanted {
        match resolve_name("columns", name, names) {
            Ok(known) => own.push(known.to_owned()),
            Err(_) if has_geometry && is_geometry_name(name) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(own)
}

/// Whether a geometry column can have this name.
fn is_geometry_name(name: &str) -> bool {
    let number = name.strip_prefix(GEOMETRY).and_then(|rest| rest.strip_prefix('_'));
    name == GEOMETRY || number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// The geometry field with the [`GeoArrow`](https://geoarrow.org/extension-types.html) extension `geoarrow.wkb`.
pub(super) fn geometry_field(names: &[String], crs: Option<&Crs>, prj: Option<&str>) -> Field {
    let name = unique_name(GEOMETRY, names);
    let metadata = match (crs.and_then(Crs::projjson), crs.map(Crs::wkt).or(prj)) {
        (Some(projjson), _) => serde_json::json!({ "crs": projjson, "crs_type": "projjson" }),
        (None, Some(wkt)) if crs.is_some() => serde_json::json!({ "crs": wkt }),
        _ => serde_json::json!({}),
    };
    let metadata = HashMap::from([
        (EXTENSION_TYPE_NAME_KEY.to_owned(), "geoarrow.wkb".to_owned()),
        (EXTENSION_TYPE_METADATA_KEY.to_owned(), metadata.to_string()),
    ]);
    Field::new(name, DataType::LargeBinary, true).with_metadata(metadata)
}

/// The wanted name, or the first numbered one that no column has. Names are compared without case.
pub(super) fn unique_name(wanted: &str, names: &[String]) -> String {
    let taken = |name: &str| names.iter().any(|other| other.eq_ignore_ascii_case(name));
    // There is one more candidate than columns, so one is unused.
    std::iter::once(wanted.to_owned())
        .chain((1..=names.len()).map(|number| format!("{wanted}_{number}")))
        .find(|name| !taken(name))
        .unwrap_or_default()
}

/// Unique names of all columns: a later column of the same name gets a number. Parquet and JSON need unique names.
pub(super) fn distinct_names(schema: &Schema) -> Vec<String> {
    let mut taken: HashSet<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let (mut seen, mut next) = (HashSet::new(), HashMap::new());
    let name = |field: &Arc<Field>| {
        if seen.insert(field.name().clone()) {
            return field.name().clone();
        }
        let number = next.entry(field.name().clone()).or_insert(1_u64);
        loop {
            let name = format!("{}_{number}", field.name());
            *number = number.saturating_add(1);
            if taken.insert(name.clone()) {
                return name;
            }
        }
    };
    schema.fields().iter().map(name).collect()
}

/// Builds a batch. `rows` is the row count if there is no column.
pub(super) fn build_batch(
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
    rows: usize,
) -> std::result::Result<(SchemaRef, RecordBatch), ArrowError> {
    let schema = Arc::new(Schema::new(fields));
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options)?;
    Ok((schema, batch))
}
