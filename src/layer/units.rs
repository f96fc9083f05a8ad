//! Units that a vendor's sidecar states for the columns of a shapefile.

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Metadata {
    #[serde(default)]
    data_attributes: Vec<Attribute>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Attribute {
    name: String,
    unit: Option<String>,
}

/// The unit of each column that a `*-Deere-Metadata.json` names, in the vendor's words; `None` where it cannot be read.
pub(super) fn from_metadata(json: &[u8]) -> Option<Vec<(String, String)>> {
    let text = json.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(json);
    let metadata: Metadata = serde_json::from_slice(text).ok()?;
    let unit = |attribute: Attribute| Some((attribute.name, attribute.unit.filter(|unit| !unit.trim().is_empty())?));
    Some(metadata.data_attributes.into_iter().filter_map(unit).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_that_the_sidecar_states() {
        let json = br#"{"Version":"1.0","DataAttributes":[{"Name":"DISTANCE","Unit":"ft","Description":"d"},{"Name":"Time"}]}"#;
        assert_eq!(from_metadata(json), Some(vec![("DISTANCE".to_owned(), "ft".to_owned())]));
        assert_eq!(from_metadata(b"<html>"), None);
    }
}
