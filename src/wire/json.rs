//! JSON into and out of shapes, without a tree in between.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Tree};

use super::names;
use super::reply::{Page, ServiceResponse};
use super::time::{self, Read};
use super::value::{Name, Value};
use crate::api::envelope::SERVICE_INDEX;
use crate::api::{Field, Index, Kind, Shape};
use crate::error::{Error, Kind as ErrorKind, Result};

/// Reads one record.
pub(super) fn decode_detail(body: &[u8], shape: &'static Shape) -> Result<Value> {
    decode(body, RecordSeed { shape, items: None }, shape.name)
}

/// Reads one page of a list: the fields of the envelope and the items under the item kind's name.
pub(super) fn decode_index(body: &[u8], index: &'static Index) -> Result<Page> {
    let record = decode(body, RecordSeed { shape: &SERVICE_INDEX, items: Some(index) }, index.kind)?;
    let Value::Record(fields) = record else {
        return Err(wrong_envelope(index.kind));
    };
    let mut page = Page { total_count: None, is_next_page: false, items: Vec::new() };
    let mut is_envelope = false;
    for (name, value) in fields {
        match (name.as_ref(), value) {
            ("total_count", Value::Integer(count)) => {
                page.total_count = u64::try_from(count).ok();
                is_envelope = true;
            }
            ("is_next_page", Value::Boolean(more)) => {
                page.is_next_page = more;
                is_envelope = true;
            }
            (ITEMS, Value::List(items)) => {
                page.items = items;
                is_envelope = true;
            }
            _ => {}
        }
    }
    if is_envelope { Ok(page) } else { Err(wrong_envelope(index.kind)) }
}

fn wrong_envelope(kind: &str) -> Error {
    Error::new(
        ErrorKind::Decode,
        format!("the reply is not a ServiceIndex of {kind}: it has neither TotalCount nor IsNextPage nor {kind}"),
    )
}

/// Reads a `ServiceResponse`; `None` where the object is something else.
pub(super) fn decode_response(body: &[u8]) -> Option<ServiceResponse> {
    let tree: Map<String, Tree> = serde_json::from_slice(strip_bom(body)).ok()?;
    // A service may wrap the object in the name of its root element, as XML does.
    let tree = match (tree.len(), tree.values().next()) {
        (1, Some(Tree::Object(inner))) => inner.clone(),
        _ => tree,
    };
    let text = |wire: &str| {
        tree.iter().find(|(name, _)| names::same(name, wire)).and_then(|(_, value)| match value {
            Tree::String(text) => Some(text.clone()),
            Tree::Null => None,
            other => Some(other.to_string()),
        })
    };
    let status = text("status")?;
    // A detail has a `Status` too (a job, a map): a ServiceResponse is told by its `errorInfo` or by having nothing else.
    let error_info = text("errorInfo");
    if error_info.is_none() && tree.len() > 2 {
        return None;
    }
    Some(ServiceResponse {
        status,
        error_info: error_info.unwrap_or_default(),
        result: text("result").filter(|text| !text.is_empty() && text != "nil"),
    })
}

fn strip_bom(body: &[u8]) -> &[u8] {
    body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body)
}

fn decode(body: &[u8], seed: RecordSeed, what: &str) -> Result<Value> {
    let mut reader = serde_json::Deserializer::from_slice(strip_bom(body));
    let fail = |error: serde_json::Error| {
        Error::new(ErrorKind::Decode, format!("the reply cannot be read as {what}: {error}"))
    };
    let value = seed.deserialize(&mut reader).map_err(fail)?;
    reader.end().map_err(fail)?;
    Ok(value)
}

/// The name under which [`RecordSeed`] keeps the items of a list; no field of the envelope has it.
const ITEMS: &str = "(items)";

/// Reads an object as a record of `shape`, and `items` where it is the envelope of a list.
#[derive(Clone, Copy)]
struct RecordSeed {
    shape: &'static Shape,
    items: Option<&'static Index>,
}

impl<'de> DeserializeSeed<'de> for RecordSeed {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RecordSeed {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with the fields of {}", self.shape.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Value, A::Error> {
        let mut fields = Vec::with_capacity(self.shape.fields.len());
        self.read_members(&mut map, &mut fields)?;
        Ok(Value::Record(fields))
    }
}

impl RecordSeed {
    fn read_members<'de, A: MapAccess<'de>>(
        self,
        map: &mut A,
        fields: &mut Vec<(Name, Value)>,
    ) -> std::result::Result<(), A::Error> {
        while let Some(wire) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            if let Some(index) = self.items.filter(|index| names::same(&wire, index.kind)) {
                let items = map.next_value_seed(ListSeed { shape: index.item })?;
                fields.push((Name::Borrowed(ITEMS), items));
            } else if let Some(field) = field_of(self.shape, &wire, fields.len()) {
                let value = map.next_value_seed(FieldSeed { field })?;
                put(fields, Name::Borrowed(field.snake), value);
            } else if self.shape.hoists.iter().any(|name| names::same(&wire, name)) {
                map.next_value_seed(HoistSeed { record: self, fields })?;
            } else {
                let value = map.next_value::<Tree>()?;
                put(fields, Name::Owned(names::snake(&wire)), Value::Unknown(value));
            }
        }
        Ok(())
    }
}

/// Keeps the first value of a name unless it was null: a hoisted object repeats some of its parent's fields.
fn put(fields: &mut Vec<(Name, Value)>, name: Name, value: Value) {
    match fields.iter_mut().find(|(known, _)| *known == name) {
        Some((_, known)) if *known == Value::Null => *known = value,
        Some(_) => {}
        None => fields.push((name, value)),
    }
}

/// Finds a field by its name on the wire; fields mostly come in the order of the shape, so that place is tried first.
fn field_of(shape: &'static Shape, wire: &str, position: usize) -> Option<&'static Field> {
    if let Some(field) = shape.fields.get(position).filter(|field| field.wire == wire) {
        return Some(field);
    }
    shape
        .fields
        .iter()
        .find(|field| field.wire == wire)
        .or_else(|| shape.fields.iter().find(|field| is_named(field, wire)))
}

fn is_named(field: &Field, wire: &str) -> bool {
    names::same(field.wire, wire) || field.also.iter().any(|name| names::same(name, wire))
}

/// Reads an object whose members belong to the record around it.
struct HoistSeed<'a> {
    record: RecordSeed,
    fields: &'a mut Vec<(Name, Value)>,
}

impl<'de> DeserializeSeed<'de> for HoistSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for HoistSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with fields of {}", self.record.shape.name)
    }

    fn visit_unit<E>(self) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        self.record.read_members(&mut map, self.fields)
    }
}

/// Reads records: an array, one bare object, or nothing; also an object that wraps the array, as XML does.
struct ListSeed {
    shape: &'static Shape,
}

impl<'de> DeserializeSeed<'de> for ListSeed {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ListSeed {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of {}", self.shape.name)
    }

    fn visit_unit<E>(self) -> std::result::Result<Value, E> {
        Ok(Value::List(Vec::new()))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<Value, E> {
        if text.trim().is_empty() {
            return Ok(Value::List(Vec::new()));
        }
        Ok(Value::List(vec![
            bare_uri(self.shape, text).ok_or_else(|| E::custom(format!("`{text}` is not {}", self.shape.name)))?,
        ]))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Value, A::Error> {
        let mut fields = Vec::new();
        RecordSeed { shape: self.shape, items: None }.read_members(&mut map, &mut fields)?;
        Ok(Value::List(vec![Value::Record(fields)]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Value, A::Error> {
        let mut items = Vec::with_capacity(seq.size_hint().unwrap_or(0).min(1_000));
        while let Some(item) = seq.next_element_seed(ItemSeed { shape: self.shape })? {
            items.push(item);
        }
        Ok(Value::List(items))
    }
}

/// Reads an item of a list: an object, or a bare address where the shape has one (specification 2.6 calls the
/// available files a list of URLs, 2.5 a list of objects).
struct ItemSeed {
    shape: &'static Shape,
}

impl<'de> DeserializeSeed<'de> for ItemSeed {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ItemSeed {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with the fields of {}", self.shape.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<Value, A::Error> {
        RecordSeed { shape: self.shape, items: None }.visit_map(map)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<Value, E> {
        bare_uri(self.shape, text).ok_or_else(|| E::custom(format!("`{text}` is not {}", self.shape.name)))
    }
}

fn bare_uri(shape: &'static Shape, text: &str) -> Option<Value> {
    shape.field("uri").map(|field| Value::Record(vec![(Name::Borrowed(field.snake), Value::Text(text.to_owned()))]))
}

/// Reads the value of one field.
struct FieldSeed {
    field: &'static Field,
}

impl<'de> DeserializeSeed<'de> for FieldSeed {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Value, D::Error> {
        match self.field.kind {
            Kind::Records(shape, _) => ListSeed { shape }.deserialize(deserializer),
            _ => deserializer.deserialize_any(self),
        }
    }
}

impl FieldSeed {
    fn wrong<E: serde::de::Error>(&self, found: &dyn fmt::Display) -> E {
        E::custom(format!("`{}` should be {}, found {found}", self.field.wire, describe(self.field.kind)))
    }
}

impl<'de> Visitor<'de> for FieldSeed {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} as `{}`", describe(self.field.kind), self.field.wire)
    }

    fn visit_unit<E>(self) -> std::result::Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: serde::de::Error>(self, truth: bool) -> std::result::Result<Value, E> {
        match self.field.kind {
            Kind::Boolean => Ok(Value::Boolean(truth)),
            Kind::Text => Ok(Value::Text(truth.to_string())),
            _ => Err(self.wrong(&truth)),
        }
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> std::result::Result<Value, E> {
        match self.field.kind {
            Kind::Integer => Ok(Value::Integer(number)),
            Kind::Id | Kind::Text => Ok(Value::Text(number.to_string())),
            Kind::Boolean if number == 0 || number == 1 => Ok(Value::Boolean(number == 1)),
            #[expect(clippy::cast_precision_loss, reason = "a JSON number is a double for everybody else, too")]
            Kind::Decimal => Ok(Value::Decimal(number as f64)),
            _ => Err(self.wrong(&number)),
        }
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> std::result::Result<Value, E> {
        match (i64::try_from(number), self.field.kind) {
            (Ok(number), _) => self.visit_i64(number),
            (Err(_), Kind::Id | Kind::Text) => Ok(Value::Text(number.to_string())),
            (Err(_), _) => Err(self.wrong(&number)),
        }
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> std::result::Result<Value, E> {
        match self.field.kind {
            Kind::Decimal => Ok(Value::Decimal(number)),
            #[expect(clippy::cast_possible_truncation, reason = "the guard proves that nothing is cut")]
            Kind::Integer if number.fract() == 0.0 && number.abs() < 9e15 => Ok(Value::Integer(number as i64)),
            Kind::Id | Kind::Text => Ok(Value::Text(number.to_string())),
            _ => Err(self.wrong(&number)),
        }
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<Value, E> {
        scalar(self.field.kind, text).ok_or_else(|| self.wrong(&format_args!("`{text}`")))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Value, A::Error> {
        if let Kind::Record(shape) = self.field.kind {
            return RecordSeed { shape, items: None }.visit_map(map);
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Err(A::Error::custom(format!("`{}` should be {}, found an object", self.field.wire, describe(self.field.kind))))
    }
}

/// Reads a text as a value of that type; `None` where it is not one. An empty text is null unless a text was asked
/// for.
pub(super) fn scalar(kind: Kind, text: &str) -> Option<Value> {
    let trimmed = text.trim();
    match kind {
        Kind::Text => Some(Value::Text(text.to_owned())),
        _ if trimmed.is_empty() => Some(Value::Null),
        Kind::Id => Some(Value::Text(trimmed.to_owned())),
        Kind::Boolean => match trimmed {
            "1" => Some(Value::Boolean(true)),
            "0" => Some(Value::Boolean(false)),
            _ if trimmed.eq_ignore_ascii_case("true") => Some(Value::Boolean(true)),
            _ if trimmed.eq_ignore_ascii_case("false") => Some(Value::Boolean(false)),
            _ => None,
        },
        Kind::Integer => trimmed.parse().ok().map(Value::Integer),
        Kind::Decimal => trimmed.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::Decimal),
        Kind::Time => match time::read(trimmed) {
            Read::Time(time) => Some(Value::Time(time)),
            Read::Nothing => Some(Value::Null),
            Read::Wrong => None,
        },
        Kind::Record(_) | Kind::Records(..) => None,
    }
}

fn describe(kind: Kind) -> &'static str {
    match kind {
        Kind::Id => "an id",
        Kind::Text => "a text",
        Kind::Boolean => "true or false",
        Kind::Integer => "a whole number",
        Kind::Decimal => "a number",
        Kind::Time => "an ISO 8601 time",
        Kind::Record(_) => "an object",
        Kind::Records(..) => "a list",
    }
}

/// Writes a record by its shape: the fields that it has, in the order of the shape, then those the table does not
/// know.
#[must_use]
pub fn encode_detail(shape: &Shape, record: &Value) -> Tree {
    let mut object = Map::new();
    for field in shape.fields {
        if let Some(value) = record.get(field.snake) {
            object.insert(field.wire.to_owned(), encode_field(field, value));
        }
    }
    if let Value::Record(fields) = record {
        for (name, value) in fields {
            if let Value::Unknown(tree) = value {
                object.insert(name.to_string(), tree.clone());
            }
        }
    }
    Tree::Object(object)
}

fn encode_field(field: &Field, value: &Value) -> Tree {
    match (field.kind, value) {
        (Kind::Record(shape), record @ Value::Record(_)) => encode_detail(shape, record),
        (Kind::Records(shape, _), Value::List(items)) => {
            Tree::Array(items.iter().map(|item| encode_detail(shape, item)).collect())
        }
        (_, Value::Boolean(truth)) => Tree::Bool(*truth),
        (_, Value::Integer(number)) => Tree::from(*number),
        (_, Value::Decimal(number)) => Tree::from(*number),
        (_, Value::Text(text)) => Tree::String(text.clone()),
        (_, Value::Time(at)) => Tree::String(time::write(at)),
        (_, Value::Unknown(tree)) => tree.clone(),
        (_, Value::Null | Value::List(_) | Value::Record(_)) => Tree::Null,
    }
}
