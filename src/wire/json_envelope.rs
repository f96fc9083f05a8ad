//! What stands around records in JSON: names, the count of a list, a `ServiceResponse`; the records are passed over.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value as Tree;

use super::json::NameSeed;
use super::names;
use super::reply::{ServiceResponse, response_from, strip_bom};

/// The field of an envelope that counts a list (specification 2.1).
const TOTAL_COUNT: &str = "TotalCount";

/// The members of a `ServiceResponse` (specification 2.1).
const MEMBERS: [&str; 3] = ["status", "errorInfo", "result"];

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
    if !has_status(body) {
        return None;
    }
    let body = &*super::bigint::quote_big_ints(strip_bom(body));
    let mut found: MaybeResponse = serde_json::from_slice(body).ok()?;
    // A service may wrap the object in the name of its root element, as XML does.
    if found.members == 1 && found.texts.is_empty() {
        found = serde_json::from_slice::<BTreeMap<String, MaybeResponse>>(body).ok()?.into_values().next()?;
    }
    let text = |wire: &str| {
        found.texts.iter().find(|(name, _)| names::same(name, wire)).and_then(|(_, value)| match value {
            Tree::String(text) => Some(text.clone()),
            Tree::Null => None,
            other => Some(other.to_string()),
        })
    };
    response_from(text, found.members)
}

/// Whether a body can be a `ServiceResponse`, each of which has a status. Most are records without one, and need no second
/// reading.
fn has_status(body: &[u8]) -> bool {
    let [status, ..] = MEMBERS;
    body.windows(status.len()).any(|word| word.eq_ignore_ascii_case(status.as_bytes()))
}

/// Reads the total count of an envelope and stops there.
struct TotalSeed<'a>(&'a mut Option<i64>);

impl<'de> DeserializeSeed<'de> for TotalSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for TotalSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the envelope of a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
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

/// What may be a `ServiceResponse`: its texts, and how many members the object has.
#[derive(Default)]
struct MaybeResponse {
    texts: Vec<(&'static str, Tree)>,
    members: usize,
}

impl<'de> Deserialize<'de> for MaybeResponse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(ResponseVisitor)
    }
}

struct ResponseVisitor;

impl<'de> Visitor<'de> for ResponseVisitor {
    type Value = MaybeResponse;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a ServiceResponse")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<MaybeResponse, A::Error> {
        let mut found = MaybeResponse::default();
        while let Some(name) = map.next_key_seed(NameSeed)? {
            match MEMBERS.into_iter().find(|member| names::same(&name, member)) {
                Some(member) => found.texts.push((member, map.next_value()?)),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
            found.members = found.members.saturating_add(1);
        }
        Ok(found)
    }
}
