//! Payload objects: field names match in any letter case, and unknown fields are preserved.

use serde_json::{Map, Value};

use crate::keys::guid;
use crate::reply::Reply;

/// A payload or a stored record.
pub(super) type Object = Map<String, Value>;

/// Returns a field by name, in any letter case.
pub(super) fn field<'a>(object: &'a Object, name: &str) -> Option<&'a Value> {
    object.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// Returns the text of a field; a number is converted to decimal text. `None` if the field is missing, null or blank.
pub(super) fn text(object: &Object, name: &str) -> Result<Option<String>, Reply> {
    match field(object, name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(_) => Err(Reply::bad_request(format!("{name} must be a string."))),
    }
}

/// Returns the text of a required field.
pub(super) fn required(object: &Object, name: &str) -> Result<String, Reply> {
    text(object, name)?.ok_or_else(|| Reply::bad_request(format!("{name} is missing.")))
}

/// Merges the service's fields with the payload. The service's fields win and are first.
pub(super) fn merge_fields<const N: usize>(set: [(&str, Value); N], given: Object) -> Object {
    let mut object: Object = set.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    for (name, value) in given {
        if field(&object, &name).is_none() {
            object.insert(name, value);
        }
    }
    object
}

/// Edits a list of a stored record; creates a missing list.
pub(super) fn edit_items<T>(object: &mut Object, name: &str, work: impl FnOnce(&mut Vec<Value>) -> T) -> T {
    if let Some(Value::Array(items)) = object.get_mut(name) {
        return work(items);
    }
    let mut items = Vec::new();
    let result = work(&mut items);
    object.insert(name.to_owned(), Value::Array(items));
    result
}

/// Creates a random GUID for an object inside a record.
pub(super) fn new_id() -> String {
    guid(fastrand::u128(..))
}

/// Whether a field of the object equals the id. Ids are GUIDs and match in any letter case.
pub(super) fn has_id(object: &Value, name: &str, id: &str) -> bool {
    object.get(name).and_then(Value::as_str).is_some_and(|known| known.eq_ignore_ascii_case(id))
}
