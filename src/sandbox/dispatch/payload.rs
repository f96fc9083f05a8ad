//! Payloads: objects whose names are read in any letter case, and which keep what the service does not know.

use serde_json::{Map, Value};

use crate::sandbox::keys::guid;
use crate::sandbox::reply::Reply;

/// A payload, or what is stored of one.
pub(super) type Object = Map<String, Value>;

/// The field of that name, in any letter case.
pub(super) fn field<'a>(object: &'a Object, name: &str) -> Option<&'a Value> {
    object.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// The text of a field; a whole number is read in decimal. `None` where it is absent, null or blank.
pub(super) fn text(object: &Object, name: &str) -> Result<Option<String>, Reply> {
    match field(object, name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(_) => Err(Reply::bad_request(format!("{name} must be a text."))),
    }
}

/// The same for a field that must be there.
pub(super) fn required(object: &Object, name: &str) -> Result<String, Reply> {
    text(object, name)?.ok_or_else(|| Reply::bad_request(format!("{name} is missing.")))
}

/// What the service sets, and after it what was given under other names.
pub(super) fn complete<const N: usize>(set: [(&str, Value); N], given: Object) -> Object {
    let mut object: Object = set.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    for (name, value) in given {
        if field(&object, &name).is_none() {
            object.insert(name, value);
        }
    }
    object
}

/// Works on the items of a list in what is stored; one that is missing is made.
pub(super) fn edit_items<T>(object: &mut Object, name: &str, work: impl FnOnce(&mut Vec<Value>) -> T) -> T {
    if let Some(Value::Array(items)) = object.get_mut(name) {
        return work(items);
    }
    let mut items = Vec::new();
    let result = work(&mut items);
    object.insert(name.to_owned(), Value::Array(items));
    result
}

/// A new GUID for what lies inside a record.
pub(super) fn new_id() -> String {
    guid(fastrand::u128(..))
}

/// Whether that is the object of an id, which is a GUID and so has no letter case.
pub(super) fn has_id(object: &Value, name: &str, id: &str) -> bool {
    object.get(name).and_then(Value::as_str).is_some_and(|known| known.eq_ignore_ascii_case(id))
}
