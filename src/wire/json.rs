//! JSON into shapes, without a tree in between.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Tree};

use super::fields::{ITEMS, bare_uri, describe, field_of, finish, inner_field_of, put, put_inside, scalar};
use super::names;
use super::reply::{Page, ServiceResponse, page_of, response_of};
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
    page_of(record, index)
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
    response_of(text, tree.len())
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
        Ok(finish(self.shape, fields))
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
            } else if let Some((outer, inner)) = inner_field_of(self.shape, &wire, fields) {
                let value = map.next_value_seed(FieldSeed { field: inner })?;
                put_inside(fields, outer, inner, value);
            } else if let Some(field) = field_of(self.shape, &wire, fields.len()) {
                let value = map.next_value_seed(FieldSeed { field })?;
                put(fields, Name::Borrowed(field.snake), value);
            } else if self.shape.hoists.iter().any(|name| names::same(&wire, name)) {
                map.next_value_seed(HoistSeed { record: self, fields })?;
            } else {
                let value = map.next_value::<Tree>()?;
                put(fields, Name::Owned(names::snake(&wire)), Value::Unknown(Box::new(value)));
            }
        }
        Ok(())
    }
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
        Ok(Value::List(vec![finish(self.shape, fields)]))
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
