//! Units and provenance as the attributes of a frame, which pandas and geopandas restore from a file: they drop the
//! metadata of columns.

use arrow_schema::Schema;
use serde_json::{Map, Value};

use crate::layer::schema::METADATA;

/// Key of the attributes in the metadata of the file.
pub(super) const KEY: &str = "PANDAS_ATTRS";

/// Prefix of the metadata of harmonised columns and layers.
const OWN: &str = "headland:";

/// Left out: pandas keeps the attributes of a concatenation only if they are equal.
const EVIDENCE: &str = "headland:evidence";

/// The attributes as `to_geopandas` sets them: known units by column, and the provenance as JSON text. `None` without
/// either.
pub(super) fn attributes(schema: &Schema) -> Option<String> {
    let fields = schema.fields().iter();
    let unit = |unit: &String| Some(Value::from(unit.as_str())).filter(|_| !unit.is_empty() && unit != "unknown");
    let units: Map<String, Value> = fields
        .clone()
        .filter_map(|field| Some((field.name().clone(), field.metadata().get("unit").and_then(unit)?)))
        .collect();
    let columns = fields.filter_map(|field| {
        let own = field.metadata().iter().filter(|(key, _)| key.starts_with(OWN) && *key != EVIDENCE);
        let own: Map<String, Value> = own.map(|(key, text)| (key.clone(), text.as_str().into())).collect();
        (!own.is_empty()).then(|| (field.name().clone(), own.into()))
    });
    let entries = schema.metadata().get(METADATA).and_then(|text| serde_json::from_str(text).ok());
    let entries: Map<String, Value> = entries.unwrap_or_default();
    let layer = entries.into_iter().filter(|(key, _)| key.starts_with(OWN));
    let parts = [("columns", columns.collect::<Map<_, _>>()), ("layer", layer.collect())];
    let parts = parts.into_iter().filter(|(_, part)| !part.is_empty());
    let provenance: Map<String, Value> = parts.map(|(name, part)| (name.to_owned(), part.into())).collect();
    let mut attributes = Map::new();
    if !units.is_empty() {
        attributes.insert("units".to_owned(), units.into());
    }
    if !provenance.is_empty() {
        attributes.insert("headland".to_owned(), Value::Object(provenance).to_string().into());
    }
    (!attributes.is_empty()).then(|| Value::Object(attributes).to_string())
}
