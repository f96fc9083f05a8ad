//! Reads JSON: whole bodies, and names without copies.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Visitor};

use super::bigint::quote_big_ints;
use super::path::excerpt;
use super::reply::strip_bom;
use crate::error::{Error, Kind};

/// Reads a whole body; nothing may follow the value. `serde_json` refuses what is nested more than 128 deep. `what` is for
/// the message of the error.
pub(super) fn read_whole<T>(
    body: &[u8],
    what: &str,
    seed: impl for<'de> DeserializeSeed<'de, Value = T>,
) -> crate::error::Result<T> {
    let body = &*quote_big_ints(strip_bom(body));
    // The whole checked at once is faster than text by text; what is no UTF-8 fails where it stands.
    let value = match std::str::from_utf8(body) {
        Ok(text) => read_to_end(serde_json::Deserializer::from_str(text), seed),
        Err(_) => read_to_end(serde_json::Deserializer::from_slice(body), seed),
    };
    value.map_err(|error| {
        let why = error.to_string();
        Error::new(Kind::Decode, format!("the reply cannot be read as {what}: {}", excerpt(&why)))
    })
}

fn read_to_end<'de, R: serde_json::de::Read<'de>, S: DeserializeSeed<'de>>(
    mut reader: serde_json::Deserializer<R>,
    seed: S,
) -> serde_json::Result<S::Value> {
    let value = seed.deserialize(&mut reader)?;
    reader.end().map(|()| value)
}

/// Reads a name, without a copy where it stands in the body as it is.
pub(super) struct NameSeed;

impl<'de> DeserializeSeed<'de> for NameSeed {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for NameSeed {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}
