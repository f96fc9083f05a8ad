//! Reads the sidecars of a shapefile: vendor JSON with units, and ESRI metadata (.shp.xml).
//!
//! All of it is kept as metadata. Damage is a diagnostic and no error, since the records do not depend on it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::Layer;
use super::column_metadata;
use crate::archive::{Code, Diagnostic, Element, LayerFiles, Member};
use headland_base::error::Result;

/// The size limit of a sidecar in bytes.
pub(super) const MAX_SIZE: u64 = 4 << 20;

/// The most names in a diagnostic.
const MAX_LISTED: usize = 20;

/// The metadata key of the text of a `.shp.xml`.
const SHP_XML: &str = "shp.xml";

/// The least length of a column name that may be a truncated attribute name.
const MIN_TRUNCATED_LENGTH: usize = 7;

const RECODED: (Code, &str) = (Code::TextRecoded, "its text is not valid UTF-8; it was read as Windows-1252");
const LOST: (Code, &str) =
    (Code::TextLost, "its text has code units that are not valid UTF-16; they were replaced by U+FFFD");

/// Content of the sidecars of a dataset.
#[derive(Debug, Default)]
pub(super) struct Sidecars {
    /// Column names and their units.
    units: Vec<(String, String)>,
    /// Column names and their descriptions.
    descriptions: Vec<(String, String)>,
    /// All entries as text.
    metadata: Vec<(String, String)>,
}

impl Sidecars {
    /// Reads the sidecars of a dataset.
    pub(super) fn read(set: &LayerFiles, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut found = Self::default();
        if let Some(member) = &set.metadata
            && let Ok(Some(bytes)) = read_small(member, MAX_SIZE, false, diagnostics)
        {
            found.read_vendor_json(member, &bytes, diagnostics);
        }
        if let Some(member) = &set.shp_xml {
            found.read_shp_xml(member, diagnostics);
        }
        found
    }

    fn read_vendor_json(&mut self, member: &Member, bytes: &[u8], diagnostics: &mut Vec<Diagnostic>) {
        let (text, issue) = decode_json(bytes);
        let Ok(Value::Object(entries)) = serde_json::from_str::<Value>(&text) else {
            let message = "the sidecar does not have the expected JSON format; the units are unknown";
            diagnostics.push(Diagnostic::new(Code::MetadataIgnored, message).in_member(member.name()));
            return;
        };
        if let Some((code, message)) = issue {
            diagnostics.push(Diagnostic::new(code, message).in_member(member.name()));
        }
        let stated = column_metadata::from_vendor_json(&entries);
        self.units.extend(stated.units);
        self.descriptions.extend(stated.descriptions);
        let text = |value: Value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        self.metadata.extend(entries.into_iter().map(|(key, value)| (key, text(value))));
    }

    fn read_shp_xml(&mut self, member: &Member, diagnostics: &mut Vec<Diagnostic>) {
        let (root, text) = match Element::read_with_text(member, MAX_SIZE) {
            Ok(read) => read,
            Err(error) => {
                diagnostics.push(sidecar_lost(member, &error.to_string()));
                return;
            }
        };
        let stated = column_metadata::from_fgdc(&root);
        // The vendor's entries come first, and the first entry of a column is used.
        self.units.extend(stated.units);
        self.descriptions.extend(stated.descriptions);
        self.metadata.push((SHP_XML.to_owned(), text));
    }

    /// Adds the content to a layer. `is_whole` if the layer has all columns of its file.
    pub(super) fn apply_to(
        self,
        mut layer: Layer,
        set: &LayerFiles,
        is_whole: bool,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Layer {
        let columns: HashMap<String, String> = layer
            .schema
            .fields()
            .iter()
            .map(|field| (field.name().to_ascii_lowercase(), field.name().clone()))
            .collect();
        let attributes = self.units.iter().chain(&self.descriptions);
        let attributes: BTreeMap<String, String> =
            attributes.map(|(name, _)| (name.to_ascii_lowercase(), name.clone())).collect();
        let truncated = truncated_names(&columns, &attributes);
        // The first entry of a column is used. Names are compared without case.
        let first = |stated: Vec<(String, String)>| {
            let mut known = BTreeMap::new();
            let mut unmatched = Vec::new();
            for (name, text) in stated {
                let lower = name.to_ascii_lowercase();
                match columns.get(truncated.get(&lower).unwrap_or(&lower)) {
                    Some(column) => drop(known.entry(column.clone()).or_insert(text)),
                    None => unmatched.push(name),
                }
            }
            (known, unmatched)
        };
        let (units, unmatched) = first(self.units);
        let member = set.metadata.as_ref().or(set.shp_xml.as_ref());
        let member = member.map(|member| member.name().to_owned()).unwrap_or_default();
        let pair = |(attribute, column): (&String, &String)| {
            let column = columns.get(column)?;
            let attribute = attributes.get(attribute)?;
            units.contains_key(column).then(|| format!("`{column}` from `{attribute}`"))
        };
        let pairs: Vec<String> = truncated.iter().filter_map(pair).collect();
        if !pairs.is_empty() {
            let message = format!("units of columns with truncated names: {}", pairs.join(", "));
            diagnostics.push(Diagnostic::new(Code::UnitsByCutName, message).in_member(&member));
        }
        if is_whole && !unmatched.is_empty() {
            let listed = unmatched.get(..unmatched.len().min(MAX_LISTED)).unwrap_or_default().join(", ");
            let more = if unmatched.len() > MAX_LISTED { ", ..." } else { "" };
            let message = format!("it states units of columns that the layer does not have: {listed}{more}");
            diagnostics.push(Diagnostic::new(Code::UnitsUnmatched, message).in_member(&member));
        }
        for (key, stated) in [("unit", units), ("description", first(self.descriptions).0)] {
            if !stated.is_empty() {
                layer = layer.with_field_metadata(key, &stated);
            }
        }
        if self.metadata.is_empty() { layer } else { layer.with_metadata(self.metadata) }
    }
}

/// Attributes that columns name in truncated form, as .dbf writers do. An attribute matches if it is the only one with
/// that prefix and no other column does; columns with an exact match are excluded.
fn truncated_names(
    columns: &HashMap<String, String>,
    attributes: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, Vec<&String>> = BTreeMap::new();
    for column in
        columns.keys().filter(|column| column.len() >= MIN_TRUNCATED_LENGTH && !attributes.contains_key(*column))
    {
        let from = attributes.range(column.clone()..);
        let mut longer = from.map(|(attribute, _)| attribute).take_while(|attribute| attribute.starts_with(&**column));
        if let (Some(attribute), None) = (longer.next(), longer.next())
            && !columns.contains_key(attribute)
        {
            found.entry(attribute.clone()).or_default().push(column);
        }
    }
    let single = |(attribute, columns): (String, Vec<&String>)| match &*columns {
        [column] => Some((attribute, (*column).clone())),
        _ => None,
    };
    found.into_iter().filter_map(single).collect()
}

/// Decodes JSON by its byte order mark, or by NULs next to the first brace, else as UTF-8. Also returns the issue of a
/// wrong encoding.
fn decode_json(bytes: &[u8]) -> (Cow<'_, str>, Option<(Code, &'static str)>) {
    let (encoding, mark) = match bytes {
        [b'{', 0, ..] => (encoding_rs::UTF_16LE, 0),
        [0, b'{', ..] => (encoding_rs::UTF_16BE, 0),
        _ => encoding_rs::Encoding::for_bom(bytes).unwrap_or((encoding_rs::UTF_8, 0)),
    };
    let content = bytes.get(mark..).unwrap_or_default();
    let (text, is_wrong) = encoding.decode_without_bom_handling(content);
    if is_wrong && encoding == encoding_rs::UTF_8 {
        return (encoding_rs::WINDOWS_1252.decode_without_bom_handling(content).0, Some(RECODED));
    }
    (text, is_wrong.then_some(LOST))
}

/// Reads a small member. Damage is an error if the member is needed, else a diagnostic and `None`.
pub(super) fn read_small(
    member: &Member,
    most: u64,
    is_needed: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<Vec<u8>>> {
    match member.read_all(most) {
        Err(error) if !is_needed && !error.lacks_memory() => {
            diagnostics.push(sidecar_lost(member, &error.to_string()));
            Ok(None)
        }
        bytes => bytes.map(Some),
    }
}

fn sidecar_lost(member: &Member, why: &str) -> Diagnostic {
    Diagnostic::new(Code::SidecarLost, format!("the sidecar could not be read: {why}")).in_member(member.name())
}
