//! Recognises a reply of the service that was saved instead of a file, for an error that shows it.

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::Event;
use serde_json::{Map, Value};

use headland_base::names::{same, strip_bom};

/// The status and the reason of a `ServiceResponse` (specification 2.1), in JSON or XML.
pub(super) fn find(first: &[u8]) -> Option<(String, String)> {
    let text = String::from_utf8_lossy(strip_bom(first));
    let body = text.trim_ascii();
    let fields = if body.starts_with('{') { json_fields(body)? } else { xml_fields(body)? };
    let field = |wire: &str| fields.iter().find(|(name, _)| same(name, wire)).map(|(_, text)| text.clone());
    let reason = field("errorInfo");
    // Records of other kinds have a status, too.
    (reason.is_some() || fields.len() <= 2).then_some((field("status")?, reason.unwrap_or_default()))
}

fn json_fields(body: &str) -> Option<Vec<(String, String)>> {
    let mut object: Map<String, Value> = serde_json::from_str(body).ok()?;
    // A service may wrap the object in the name of the root element of XML.
    if let (1, Some(Value::Object(inner))) = (object.len(), object.values_mut().next()) {
        object = std::mem::take(inner);
    }
    let text = |value| match value {
        Value::String(text) => Some(text),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
        number => Some(number.to_string()),
    };
    Some(object.into_iter().filter_map(|(name, value)| Some((name, text(value)?))).collect())
}

/// The elements in the root, with their texts.
fn xml_fields(body: &str) -> Option<Vec<(String, String)>> {
    let mut reader = Reader::from_str(body);
    let (mut depth, mut fields) = (0_usize, Vec::<(String, String)>::new());
    loop {
        let part = match reader.read_event().ok()? {
            Event::Start(start) => {
                depth = depth.checked_add(1)?;
                if depth == 2 {
                    fields.push((start.local_name().as_ref().to_owned(), String::new()));
                }
                continue;
            }
            Event::End(_) => {
                depth = depth.checked_sub(1)?;
                continue;
            }
            Event::Text(text) => text.to_string(),
            Event::GeneralRef(name) => resolve_predefined_entity(&name).unwrap_or_default().to_owned(),
            Event::Eof => return Some(fields),
            _ => continue,
        };
        if let (2, Some((_, text))) = (depth, fields.last_mut()) {
            text.push_str(&part);
        }
    }
}
