//! Reads the count of a list, and a `ServiceResponse`, from JSON.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value as Tree;

use super::json::{NameSeed, read_whole};
use super::limits::check_values;
use super::names;
use super::reply::{ServiceResponse, response_from, strip_bom};

/// The field of an envelope that counts a list (specification 2.1).
const TOTAL_COUNT: &str = "TotalCount";

/// Reads the total count of a list and nothing behind it; `None` where it is not there or not right.
pub(super) fn total_of(body: &[u8]) -> Option<i64> {
    let mut reader = serde_json::Deserializer::from_slice(strip_bom(body));
    let mut total = None;
    // The reader is stopped by an error once the count is known.
    let _ = TotalSeed(&mut total).deserialize(&mut reader);
    total
}

/// Reads a `ServiceResponse`; `None` where the object is something else.
pub(super) fn decode_response(body: &[u8]) -> Option<ServiceResponse> {
    if !has_status(body) || check_values(body).is_err() {
        return None;
    }
    let Tree::Object(mut members) = read_whole(body, "a ServiceResponse", PhantomData).ok()? else { return None };
    // A service may wrap the object in the name of its root element, as XML does.
    if let (1, Some(Tree::Object(inner))) = (members.len(), members.values_mut().next()) {
        members = std::mem::take(inner);
    }
    let text = |wire: &str| {
        members.iter().find(|(name, _)| names::same(name, wire)).and_then(|(_, value)| match value {
            Tree::String(text) => Some(text.clone()),
            Tree::Null => None,
            other => Some(other.to_string()),
        })
    };
    response_from(text, members.len())
}

/// Whether a body can be a `ServiceResponse`, each of which has a status. Most are records without one, and need no second
/// reading.
fn has_status(body: &[u8]) -> bool {
    const STATUS: &[u8] = b"status";
    body.windows(STATUS.len()).any(|word| word.eq_ignore_ascii_case(STATUS))
}

/// Reads the total count of an envelope and stops there.
struct TotalSeed<'a>(&'a mut Option<i64>);

impl<'de> DeserializeSeed<'de> for TotalSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for TotalSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the envelope of a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key_seed(NameSeed)? {
            if names::same(&name, TOTAL_COUNT) {
                *self.0 = Some(map.next_value()?);
                return Err(A::Error::custom("read enough"));
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}
