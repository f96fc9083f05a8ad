//! Reads JSON of flat records cell by cell into a sink, without a value in between.
//!
//! Only what is quite regular is read here. At anything else, wrong values too, reading stops, and the page is read the
//! general way, which knows every tolerance and names the place of what is wrong.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::fields::{ITEMS, field_of, put};
use super::json::NameSeed;
use super::json_record::FieldSeed;
use super::names;
use super::path::FieldPath;
use super::reply::{Page, strip_bom, to_page};
use super::time::{Read, parse_exact, read};
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
    /// A point in time in the form `2026-09-01T12:00:00Z`, with or without a fraction, and the same as a number.
    Time(&'a str, DateTime<Utc>),
}

/// What flat records are read into. Where it says no, the page is read the general way.
pub trait Sink {
    /// The next cell of this record, and the place of its field in the shape.
    fn cell(&mut self, at: usize, cell: Cell<'_>) -> bool;

    /// The end of this record.
    fn end(&mut self) -> bool;
}

/// Why reading stops. The text is not shown: the general reader then reports the fault, if there is one.
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
    to_page(Value::Record(members), index).ok().map(|page| page.with_items(()))
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
                let value = map.next_value_seed(FieldSeed { field, trace: &FieldPath::default() })?;
                if !put(&mut members, Name::Borrowed(field.snake), value) {
                    return Err(A::Error::custom(IRREGULAR));
                }
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
            // Fields come in the order of the shape, though some may be left out.
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
            Kind::Id | Kind::Text => {
                let mut room = [0; 20];
                let text = decimal(number, &mut room).ok_or_else(|| E::custom(IRREGULAR))?;
                self.give(Cell::Text(text))
            }
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
            Kind::Time => match parse_exact(text) {
                Some(time) => self.give(Cell::Time(text, time)),
                None if read(text) == Read::Nothing => self.give(Cell::Null),
                None => Err(E::custom(IRREGULAR)),
            },
            _ => Err(E::custom(IRREGULAR)),
        }
    }
}

/// A number from 0 up in decimal, without memory of its own; ids below 0 are not regular.
fn decimal(number: i64, room: &mut [u8; 20]) -> Option<&str> {
    let mut rest = u64::try_from(number).ok()?;
    let mut start = room.len();
    for byte in room.iter_mut().rev() {
        *byte = b'0'.saturating_add(u8::try_from(rest % 10).ok()?);
        start = start.saturating_sub(1);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    std::str::from_utf8(room.get(start..)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{Returns, row};

    /// Notes every cell as text.
    #[derive(Default)]
    struct Noted(Vec<String>);

    impl Sink for Noted {
        fn cell(&mut self, at: usize, cell: Cell<'_>) -> bool {
            self.0.push(format!("{at} {cell:?}"));
            true
        }

        fn end(&mut self) -> bool {
            self.0.push("end".to_owned());
            true
        }
    }

    fn read(records: &str) -> Option<String> {
        let Returns::Index(index) = row("field_computers.locations").unwrap().returns else { panic!("a list") };
        let mut noted = Noted::default();
        let body = format!(r#"{{"TotalCount":7,"DeviceLocation":[{records}],"IsNextPage":true}}"#);
        let page = decode(body.as_bytes(), index, &mut noted)?;
        assert_eq!((page.total_count, page.is_next_page), (Some(7), true));
        Some(noted.0.join(", "))
    }

    #[test]
    fn cells_have_the_types_of_their_fields() {
        for (id, text) in [("0", "0"), ("10", "10"), ("9223372036854775807", "9223372036854775807")] {
            assert_eq!(read(&format!(r#"{{"ID": {id}}}"#)).unwrap(), format!("0 Text({text:?}), end"));
        }
        let record = r#"{"ID": 5, "SubType": "\u00e9", "Lat": 4, "Alt": 3, "Valid": true, "GPSDateTime": "2026-09-01T12:00:00Z"}"#;
        let cells = "0 Text(\"5\"), 2 Text(\"é\"), 3 Decimal(4.0), 5 Integer(3), 8 Boolean(true), 9 Time(\"2026-09-01T12:00:00Z\", 2026-09-01T12:00:00Z), end";
        assert_eq!(read(record).unwrap(), cells);
        // Specification 2.3: a zero date where there was no fix.
        for nothing in ["null", "\"\"", "\"0000-00-00T00:00:00Z\"", "\"0001-01-01T00:00:00Z\""] {
            assert_eq!(read(&format!(r#"{{"GPSDateTime": {nothing}}}"#)).unwrap(), "9 Null, end", "{nothing}");
        }
    }

    #[test]
    fn what_is_not_regular_is_left_to_the_general_way() {
        for record in [
            r#"{"ID": "1", "Colour": 3}"#,
            r#"{"ID": "1", "id": "2"}"#,
            r#"{"Lat": 1, "ID": "1"}"#,
            r#"{"ID": "1", "ID": "1"}"#,
            r#"{"ID": "1", "Alt": 1.5}"#,
            r#"{"ID": "1", "Alt": "3"}"#,
            r#"{"ID": "1", "Valid": 1}"#,
            r#"{"ID": "1", "GPSDateTime": "2026-09-01 12:00:00"}"#,
            r#"{"ID": -1}"#,
            r#"{"ID": "1", "GPSDateTime": "2026-09-01T12:00:00.0Z"}"#,
            r#"{"ID": "1", "GPSDateTime": "2026-09-01T24:00:00Z"}"#,
            r#""1""#,
            r#"{"ID": "1""#,
        ] {
            assert_eq!(read(record), None, "{record}");
        }
    }
}
