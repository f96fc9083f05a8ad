//! JSON into shapes, without a tree in between.

use serde::de::DeserializeSeed;

use super::bigint::quote_big_ints;
use super::json_record::RecordSeed;
use super::path::{FieldPath, Unreadable, excerpt};
use super::reply::{Page, check_detail, strip_bom, to_page};
use super::value::Value;
use crate::api::envelope::SERVICE_INDEX;
use crate::api::{Index, Shape};
use crate::error::{Error, Kind as ErrorKind, Result};

/// Reads one record.
pub(super) fn decode_detail(body: &[u8], shape: &'static Shape) -> Result<Value> {
    check_detail(decode(body, shape, None, shape.name)?, shape)
}

/// Reads one page of a list whose records may have values that cannot be read, which are null.
pub(super) fn decode_index_leniently(body: &[u8], index: &'static Index) -> Result<(Page, Vec<Unreadable>)> {
    let trace = FieldPath::lenient();
    let page = to_page(decode_with(body, &SERVICE_INDEX, Some(index), index.kind, &trace)?, index)?;
    Ok((page, trace.into_unreadable()))
}

/// Reads one page of a list: the fields of the envelope and the items under the item kind's name.
pub(super) fn decode_index(body: &[u8], index: &'static Index) -> Result<Page> {
    to_page(decode(body, &SERVICE_INDEX, Some(index), index.kind)?, index)
}

/// Reads a whole body; nothing may follow the object. `serde_json` refuses what is nested more than 128 deep.
fn decode(body: &[u8], shape: &'static Shape, items: Option<&'static Index>, what: &str) -> Result<Value> {
    decode_with(body, shape, items, what, &FieldPath::default())
}

fn decode_with(
    body: &[u8],
    shape: &'static Shape,
    items: Option<&'static Index>,
    what: &str,
    trace: &FieldPath,
) -> Result<Value> {
    let seed = RecordSeed { shape, items, trace };
    let body = &*quote_big_ints(strip_bom(body));
    // The whole checked at once is faster than text by text; what is no UTF-8 fails where it stands.
    let value = match std::str::from_utf8(body) {
        Ok(text) => read_whole(serde_json::Deserializer::from_str(text), seed),
        Err(_) => read_whole(serde_json::Deserializer::from_slice(body), seed),
    };
    value.map_err(|error| {
        let why = error.to_string();
        Error::new(ErrorKind::Decode, format!("the reply cannot be read as {what}: {}", excerpt(&why)))
            .with(|facts| facts.field = trace.path(shape.name))
    })
}

fn read_whole<'de, R: serde_json::de::Read<'de>>(
    mut reader: serde_json::Deserializer<R>,
    seed: RecordSeed<'_>,
) -> serde_json::Result<Value> {
    let value = seed.deserialize(&mut reader)?;
    reader.end().map(|()| value)
}
