//! Parses units and descriptions of columns from sidecars.

use serde_json::{Map, Value};

use crate::archive::Element;

/// Units and descriptions by column name.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ColumnMetadata {
    pub(super) units: Vec<(String, String)>,
    pub(super) descriptions: Vec<(String, String)>,
}

impl ColumnMetadata {
    fn add(&mut self, name: &str, unit: Option<&str>, description: Option<&str>) {
        let text = |text: Option<&str>| text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        self.units.extend(text(unit).map(|unit| (name.to_owned(), unit)));
        self.descriptions.extend(text(description).map(|text| (name.to_owned(), text)));
    }
}

/// Parses a `*-Deere-Metadata.json`: `{"DataAttributes": [{"Name": ..., "Unit": ..., "Description": ...}]}`.
pub(super) fn from_vendor_json(entries: &Map<String, Value>) -> ColumnMetadata {
    let mut stated = ColumnMetadata::default();
    for attribute in entries.get("DataAttributes").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| attribute.get(key).and_then(Value::as_str);
        if let Some(name) = text("Name") {
            stated.add(name, text("Unit"), text("Description"));
        }
    }
    stated
}

/// Parses FGDC and ESRI metadata: in each `attr`, `attrlabl` is the column name, `attrdef` the description and a nested
/// `attrunit` the unit.
pub(super) fn from_fgdc(root: &Element) -> ColumnMetadata {
    let mut stated = ColumnMetadata::default();
    for attribute in root.find_all("attr") {
        if let Some(name) = attribute.value("attrlabl") {
            let unit = attribute.find_all("attrunit").into_iter().map(Element::text).find(|unit| !unit.is_empty());
            stated.add(name, unit, attribute.value("attrdef"));
        }
    }
    stated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vendor_json_gives_units_and_descriptions() {
        let json = r#"{"Version":"1.0","DataAttributes":[{"Name":"DISTANCE","Unit":"ft","Description":"d"},{"Name":"Time","Unit":null},7]}"#;
        let Ok(Value::Object(entries)) = serde_json::from_str(json) else { panic!("it is an object") };
        let pair = |value: &str| vec![("DISTANCE".to_owned(), value.to_owned())];
        assert_eq!(from_vendor_json(&entries), ColumnMetadata { units: pair("ft"), descriptions: pair("d") });
        assert_eq!(from_vendor_json(&Map::new()), ColumnMetadata::default());
    }
}
