//! Records, lists and fields of JSON, each read by its shape, without a tree in between.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};
use serde_json::Value as Tree;

use super::extra_fields::{ExtraFields, OnRepeat};
use super::fields::{
    ITEMS, bare_uri, describe, duplicate_field, field_of, finish, inner_field_of, is_known, list_of, put, put_inside,
    scalar, void, void_inside,
};
use super::json::{NameSeed, read_whole};
use super::names;
use super::path::{FieldPath, Step, Unreadable};
use super::value::{Name, Value};
use crate::api::{Field, Index, Kind, Shape};

/// Reads a whole body as a record of `shape`, and `items` where it is the envelope of a list: each item is under the item
/// kind's name. Gives the values that `trace` excuses, too.
pub(super) fn decode(
    body: &[u8],
    shape: &'static Shape,
    items: Option<&'static Index>,
    what: &str,
    trace: FieldPath,
) -> crate::error::Result<(Value, Vec<Unreadable>)> {
    match read_whole(body, what, RecordSeed { shape, items, trace: &trace }) {
        Ok(record) => Ok((record, trace.into_unreadable())),
        Err(error) => Err(error.with(|facts| facts.field = trace.path(shape.name))),
    }
}

/// Reads an object as a record of `shape`, and `items` where it is the envelope of a list.
#[derive(Clone, Copy)]
struct RecordSeed<'a> {
    shape: &'static Shape,
    items: Option<&'static Index>,
    trace: &'a FieldPath,
}

impl<'de> DeserializeSeed<'de> for RecordSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RecordSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with the fields of {}", self.shape.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut so_far = SoFar::new(self.shape);
        self.read_members(&mut map, &mut so_far)?;
        Ok(finish(self.shape, so_far.fields))
    }
}

/// What was read of a record so far.
struct SoFar {
    fields: Vec<(Name, Value)>,
    unknown: ExtraFields,
    /// Whether an object was met whose members belong to the record: it repeats some of the record's fields, and the
    /// first value of each stays.
    is_hoisted: bool,
}

impl SoFar {
    fn new(shape: &Shape) -> Self {
        Self { fields: Vec::with_capacity(shape.fields.len()), unknown: ExtraFields::default(), is_hoisted: false }
    }
}

impl RecordSeed<'_> {
    fn read_members<'de, A: MapAccess<'de>>(self, map: &mut A, so_far: &mut SoFar) -> Result<(), A::Error> {
        while let Some(wire) = map.next_key_seed(NameSeed)? {
            self.read_member(&wire, map, so_far)?;
        }
        Ok(())
    }

    fn read_member<'de, A: MapAccess<'de>>(self, wire: &str, map: &mut A, so_far: &mut SoFar) -> Result<(), A::Error> {
        let Self { shape, items, trace } = self;
        let SoFar { fields, unknown, is_hoisted } = so_far;
        let differs = |field: &Field| {
            if trace.excuse(field.wire, &duplicate_field(field)) {
                return Ok(());
            }
            trace.field(field.wire);
            Err(A::Error::custom(duplicate_field(field)))
        };
        let own = field_of(shape, wire, fields.len());
        if let Some(field) = own.filter(|field| !is_known(fields, field.snake)) {
            let value = map.next_value_seed(FieldSeed { field, trace }).inspect_err(|_| trace.field(field.wire))?;
            fields.push((Name::Borrowed(field.snake), value));
        } else if let Some(index) = items.filter(|index| names::same(wire, index.kind)) {
            let seed = ListSeed { shape: index.item, element: None, trace };
            trace.enter(|| Step::Field(index.kind.to_owned()));
            let items = map.next_value_seed(seed).inspect_err(|_| trace.field(index.kind))?;
            trace.leave();
            fields.push((Name::Borrowed(ITEMS), items));
        } else if let Some((outer, inner)) = inner_field_of(shape, wire, fields) {
            let seed = FieldSeed { field: inner, trace };
            let value = map.next_value_seed(seed).inspect_err(|_| trace.field(inner.wire))?;
            if !put_inside(fields, outer, inner, value) {
                differs(inner)?;
                void_inside(fields, outer, inner);
            }
        } else if let Some(field) = own.or_else(|| list_of(shape, wire)) {
            let value = map.next_value_seed(FieldSeed { field, trace }).inspect_err(|_| trace.field(field.wire))?;
            if !put(fields, Name::Borrowed(field.snake), value) && !*is_hoisted {
                differs(field)?;
                void(fields, field);
            }
        } else if shape.hoists.iter().any(|name| names::same(wire, name)) {
            *is_hoisted = true;
            let before = unknown.enter();
            map.next_value_seed(HoistSeed { record: self, so_far: &mut *so_far })?;
            so_far.unknown.leave(before);
        } else {
            let value = map.next_value::<Tree>().inspect_err(|_| trace.field(wire))?;
            unknown.put(shape, fields, wire, value, OnRepeat::Compare);
        }
        Ok(())
    }
}

/// Reads an object whose members belong to the record around it.
struct HoistSeed<'a> {
    record: RecordSeed<'a>,
    so_far: &'a mut SoFar,
}

impl<'de> DeserializeSeed<'de> for HoistSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for HoistSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with fields of {}", self.record.shape.name)
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.record.read_members(&mut map, self.so_far)
    }
}

/// Reads records: an array, one bare object, or nothing; also an object that wraps the array, as XML does.
pub(super) struct ListSeed<'a> {
    pub(super) shape: &'static Shape,
    /// The name of an item in XML, which is that of the array in an object that wraps it.
    pub(super) element: Option<&'static str>,
    pub(super) trace: &'a FieldPath,
}

impl<'de> DeserializeSeed<'de> for ListSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ListSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of {}", self.shape.name)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::List(Vec::new()))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Value, E> {
        if text.trim().is_empty() {
            return Ok(Value::List(Vec::new()));
        }
        Ok(Value::List(vec![
            bare_uri(self.shape, text).ok_or_else(|| E::custom(format!("`{text}` is not {}", self.shape.name)))?,
        ]))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let Self { shape, element, trace } = self;
        let Some(first) = map.next_key_seed(NameSeed)? else { return Ok(Value::List(Vec::new())) };
        let is_wrapper = element.is_some_and(|element| names::same(&first, element));
        if is_wrapper && field_of(shape, &first, 0).is_none() {
            let items = map.next_value_seed(ListSeed { shape, element: None, trace })?;
            return match map.next_key_seed(NameSeed)? {
                None => Ok(items),
                Some(other) => Err(A::Error::custom(format!("unexpected `{other}` next to the list `{first}`"))),
            };
        }
        let mut so_far = SoFar::new(shape);
        let record = RecordSeed { shape, items: None, trace };
        trace.enter(|| Step::Item(0));
        record
            .read_member(&first, &mut map, &mut so_far)
            .and_then(|()| record.read_members(&mut map, &mut so_far))
            .inspect_err(|_| trace.item(0))?;
        trace.leave();
        Ok(Value::List(vec![finish(shape, so_far.fields)]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let Self { shape, trace, .. } = self;
        let mut items = Vec::with_capacity(seq.size_hint().unwrap_or(0).min(1_000));
        loop {
            trace.enter(|| Step::Item(items.len()));
            let item = seq.next_element_seed(ItemSeed { shape, trace }).inspect_err(|_| trace.item(items.len()))?;
            trace.leave();
            match item {
                Some(item) => items.push(item),
                None => break,
            }
        }
        Ok(Value::List(items))
    }
}

/// Reads an item of a list: an object, or a bare address where the shape has one (specification 2.6 calls the
/// available files a list of URLs, 2.5 a list of objects).
struct ItemSeed<'a> {
    shape: &'static Shape,
    trace: &'a FieldPath,
}

impl<'de> DeserializeSeed<'de> for ItemSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ItemSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with the fields of {}", self.shape.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value, A::Error> {
        RecordSeed { shape: self.shape, items: None, trace: self.trace }.visit_map(map)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Value, E> {
        bare_uri(self.shape, text).ok_or_else(|| E::custom(format!("`{text}` is not {}", self.shape.name)))
    }
}

/// Reads the value of one field.
pub(super) struct FieldSeed<'a> {
    pub(super) field: &'static Field,
    pub(super) trace: &'a FieldPath,
}

impl<'de> DeserializeSeed<'de> for FieldSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        match self.field.kind {
            Kind::Records(shape, element) => {
                ListSeed { shape, element: Some(element), trace: self.trace }.deserialize(deserializer)
            }
            _ => deserializer.deserialize_any(self),
        }
    }
}

impl FieldSeed<'_> {
    /// An error, or null where values that cannot be read are null.
    fn refuse<E: serde::de::Error>(&self, found: &dyn fmt::Display) -> Result<Value, E> {
        let why = format!("`{}` is invalid: expected {}, got {found}", self.field.wire, describe(self.field.kind));
        if self.trace.excuse(self.field.wire, &why) { Ok(Value::Null) } else { Err(E::custom(why)) }
    }
}

impl<'de> Visitor<'de> for FieldSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} as `{}`", describe(self.field.kind), self.field.wire)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: serde::de::Error>(self, truth: bool) -> Result<Value, E> {
        match self.field.kind {
            Kind::Boolean => Ok(Value::Boolean(truth)),
            Kind::Text => Ok(Value::Text(truth.to_string())),
            _ => self.refuse(&truth),
        }
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Value, E> {
        match self.field.kind {
            Kind::Integer => Ok(Value::Integer(number)),
            Kind::Id | Kind::Text => Ok(Value::Text(number.to_string())),
            Kind::Boolean if number == 0 || number == 1 => Ok(Value::Boolean(number == 1)),
            #[expect(clippy::cast_precision_loss, reason = "a JSON number is a double for everybody else, too")]
            Kind::Decimal => Ok(Value::Decimal(number as f64)),
            _ => self.refuse(&number),
        }
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Value, E> {
        match (i64::try_from(number), self.field.kind) {
            (Ok(number), _) => self.visit_i64(number),
            (Err(_), Kind::Id | Kind::Text) => Ok(Value::Text(number.to_string())),
            (Err(_), _) => self.refuse(&number),
        }
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Value, E> {
        match self.field.kind {
            Kind::Decimal => Ok(Value::Decimal(number)),
            #[expect(clippy::cast_possible_truncation, reason = "the guard proves that nothing is cut")]
            Kind::Integer if number.fract() == 0.0 && number.abs() < 9e15 => Ok(Value::Integer(number as i64)),
            Kind::Id | Kind::Text => Ok(Value::Text(number.to_string())),
            _ => self.refuse(&number),
        }
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Value, E> {
        scalar(self.field.kind, text).map_or_else(|| self.refuse(&format_args!("`{text}`")), Ok)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        if !self.trace.is_lenient() {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self));
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        self.refuse(&"a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        if let Kind::Record(shape) = self.field.kind {
            self.trace.enter(|| Step::Field(self.field.wire.to_owned()));
            let record = RecordSeed { shape, items: None, trace: self.trace }.visit_map(map)?;
            self.trace.leave();
            return Ok(record);
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        self.refuse(&"an object")
    }
}
