//! JSON of flat records cell by cell, for whoever makes something of them at once: no value stands in between.
//!
//! Only what is quite regular is read here. At anything else, wrong values too, reading stops, and the page is read the
//! general way, which knows every tolerance and names the place of what is wrong.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::fields::{ITEMS, field_of, put};
use super::json::{FieldSeed, strip_bom};
use super::json_envelope::NameSeed;
use super::names;
use super::place::Trace;
use super::reply::{Page, page_of};
use super::time::{Read, is_usual, read};
use super::value::{Name, Value};
use crate::api::envelope::SERVICE_INDEX;
use crate::api::{Index, Kind, Shape};

/// A value of a flat record, as the type of its field wants it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Nothing.
    Null,
    /// A truth value.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A number with decimals.
    Decimal(f64),
    /// A text; identifiers are texts too.
    Text(&'a str),
    /// A point in time in the form `2026-09-01T12:00:00Z`, with or without milliseconds.
    Time(&'a str),
}

/// What flat records are read into. Where it says no, the page is read the general way.
pub trait Sink {
    /// The next cell of this record, and the place of its field in the shape.
    fn cell(&mut self, at: usize, cell: Cell<'_>) -> bool;

    /// The end of this record.
    fn end(&mut self) -> bool;
}

/// Why reading stops; nobody reads it, because the general way then says what is wrong, if anything is.
const IRREGULAR: &str = "not regular";

/// Reads one page of a list into `sink`; `None` where it is not quite regular.
pub(super) fn decode(body: &[u8], index: &'static Index, sink: &mut dyn Sink) -> Option<Page<()>> {
    let is_flat = index.item.hoists.is_empty()
        && index.item.fields.iter().all(|field| {
            field.derived.is_none() && !matches!(field.kind, Kind::Record(_) | Kind::Records(..) | Kind::Integers)
        });
    if !is_flat {
        return None;
    }
    let text = std::str::from_utf8(strip_bom(body)).ok()?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let members = Envelope { index, sink }.deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    let page = page_of(Value::Record(members), index).ok()?;
    Some(Page { total_count: page.total_count, is_next_page: page.is_next_page, items: () })
}

/// Reads the envelope: its own fields come back, the records go into the sink.
struct Envelope<'a> {
    index: &'static Index,
    sink: &'a mut dyn Sink,
}

impl<'de> DeserializeSeed<'de> for Envelope<'_> {
    type Value = Vec<(Name, Value)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<(Name, Value)>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Envelope<'_> {
    type Value = Vec<(Name, Value)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(IRREGULAR)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<(Name, Value)>, A::Error> {
        let Self { index, sink } = self;
        let mut members = Vec::with_capacity(SERVICE_INDEX.fields.len());
        while let Some(wire) = map.next_key_seed(NameSeed)? {
            if names::same(&wire, index.kind) && members.iter().all(|(name, _)| name != ITEMS) {
                map.next_value_seed(Records { shape: index.item, sink })?;
                members.push((Name::Borrowed(ITEMS), Value::List(Vec::new())));
            } else if let Some(field) = field_of(&SERVICE_INDEX, &wire, members.len()) {
                let value = map.next_value_seed(FieldSeed { field, trace: &Trace::default() })?;
                put(&mut members, Name::Borrowed(field.snake), value);
            } else {
                return Err(A::Error::custom(IRREGULAR));
            }
        }
        Ok(members)
    }
}

struct Records<'a> {
    shape: &'static Shape,
    sink: &'a mut dyn Sink,
}

impl<'de> DeserializeSeed<'de> for Records<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Records<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(IRREGULAR)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Self { shape, sink } = self;
        while seq.next_element_seed(Record { shape, sink: &mut *sink })?.is_some() {}
        Ok(())
    }
}

struct Record<'a> {
    shape: &'static Shape,
    sink: &'a mut dyn Sink,
}

impl<'de> DeserializeSeed<'de> for Record<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Record<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(IRREGULAR)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { shape, sink } = self;
        let mut next = 0;
        while let Some(wire) = map.next_key_seed(NameSeed)? {
            // Vec<(Name, Value)> come in the order of the shape, though some may be left out.
            let mut rest = shape.fields.iter().enumerate().skip(next);
            let Some((at, field)) = rest.find(|(_, field)| field.wire == wire) else {
                return Err(A::Error::custom(IRREGULAR));
            };
            map.next_value_seed(OneCell { at, kind: field.kind, sink: &mut *sink })?;
            next = at.saturating_add(1);
        }
        if sink.end() { Ok(()) } else { Err(A::Error::custom(IRREGULAR)) }
    }
}

/// Reads a value into the sink.
struct OneCell<'a> {
    at: usize,
    kind: Kind,
    sink: &'a mut dyn Sink,
}

impl OneCell<'_> {
    fn give<E: Error>(self, cell: Cell<'_>) -> Result<(), E> {
        if self.sink.cell(self.at, cell) { Ok(()) } else { Err(E::custom(IRREGULAR)) }
    }
}

impl<'de> DeserializeSeed<'de> for OneCell<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for OneCell<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(IRREGULAR)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.give(Cell::Null)
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<(), E> {
        match self.kind {
            Kind::Boolean => self.give(Cell::Boolean(truth)),
            _ => Err(E::custom(IRREGULAR)),
        }
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        match self.kind {
            Kind::Integer => self.give(Cell::Integer(number)),
            Kind::Id | Kind::Text => self.give(Cell::Text(&number.to_string())),
            #[expect(clippy::cast_precision_loss, reason = "a JSON number is a double for everybody else, too")]
            Kind::Decimal => self.give(Cell::Decimal(number as f64)),
            _ => Err(E::custom(IRREGULAR)),
        }
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.visit_i64(i64::try_from(number).map_err(E::custom)?)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        match self.kind {
            Kind::Decimal => self.give(Cell::Decimal(number)),
            _ => Err(E::custom(IRREGULAR)),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        match self.kind {
            Kind::Text => self.give(Cell::Text(text)),
            Kind::Id => match text.trim() {
                "" => self.give(Cell::Null),
                id => self.give(Cell::Text(id)),
            },
            Kind::Time if is_usual(text) => self.give(Cell::Time(text)),
            Kind::Time if read(text) == Read::Nothing => self.give(Cell::Null),
            _ => Err(E::custom(IRREGULAR)),
        }
    }
}
