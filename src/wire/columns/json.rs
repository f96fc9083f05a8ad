//! JSON of flat records straight into columns: no value is made for a cell, no text for a name.
//!
//! Only what is quite regular is read here. At anything else, wrong values too, reading stops, and the page is read
//! the general way, which knows every tolerance and names the place of what is wrong.

use std::fmt;

use arrow_array::builder::StringBuilder;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::column::Column;
use super::{Batch, Columns, stamp};
use crate::api::envelope::SERVICE_INDEX;
use crate::api::{Field, Index, Kind, Shape};
use crate::wire::fields::{ITEMS, field_of, put, scalar};
use crate::wire::json_field::FieldSeed;
use crate::wire::names;
use crate::wire::place::Trace;
use crate::wire::reply::{Page, page_of};
use crate::wire::value::{Name, Value};

/// So many records are expected in a page before any is read: the pages that the client asks for unless told otherwise.
const USUAL: usize = 1_000;

/// Why reading stops; nobody reads it, because the general way then says what is wrong, if anything is.
const IRREGULAR: &str = "not regular";

/// Reads one page of a list; `None` where it is not quite regular.
pub(super) fn decode(body: &[u8], index: &'static Index) -> Option<Page<Batch>> {
    if !is_flat(index.item) {
        return None;
    }
    let text = std::str::from_utf8(body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body)).ok()?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let mut columns = Columns::new(index.item, USUAL);
    let id = bit(index.item.fields.iter().position(|field| field.snake == "id")?);
    let members = EnvelopeSeed { index, id, columns: &mut columns }.deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    let page = page_of(Value::Record(members), index).ok()?;
    let items = Batch::of_named(columns.into_batch().ok()?, index.item);
    Some(Page { total_count: page.total_count, is_next_page: page.is_next_page, items })
}

/// Whether records are told apart by an id, and hold nothing but values that are sent.
fn is_flat(shape: &Shape) -> bool {
    let is_value = |field: &Field| {
        field.derived.is_none() && !matches!(field.kind, Kind::Record(_) | Kind::Records(..) | Kind::Integers)
    };
    shape.fields.len() <= BITS && shape.hoists.is_empty() && shape.fields.iter().all(is_value)
}

/// So many fields have a bit each in what is known of a record.
const BITS: usize = 64;

/// The bit of the field at that position.
fn bit(position: usize) -> u64 {
    1 << (position % BITS)
}

/// Reads the envelope: its own fields come back, the records go into the columns.
struct EnvelopeSeed<'a> {
    index: &'static Index,
    /// The bit of the id.
    id: u64,
    columns: &'a mut Columns,
}

impl<'de> DeserializeSeed<'de> for EnvelopeSeed<'_> {
    type Value = Vec<(Name, Value)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for EnvelopeSeed<'_> {
    type Value = Vec<(Name, Value)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(IRREGULAR)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Self { index, id, columns } = self;
        let mut members = Vec::with_capacity(SERVICE_INDEX.fields.len());
        while let Some(wire) = map.next_key::<String>()? {
            if names::same(&wire, index.kind) {
                if members.iter().any(|(name, _)| name == ITEMS) {
                    return Err(A::Error::custom(IRREGULAR));
                }
                map.next_value_seed(ListSeed { id, columns })?;
                members.push((Name::Borrowed(ITEMS), Value::List(Vec::new())));
            } else if let Some(field) = field_of(&SERVICE_INDEX, &wire, members.len()) {
                let value = map.next_value_seed(FieldSeed { field, trace: &Trace::default() })?;
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

struct ListSeed<'a> {
    id: u64,
    columns: &'a mut Columns,
}

impl<'de> DeserializeSeed<'de> for ListSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ListSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(IRREGULAR)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(RecordSeed { id: self.id, columns: self.columns })?.is_some() {}
        Ok(())
    }
}

struct RecordSeed<'a> {
    id: u64,
    columns: &'a mut Columns,
}

impl<'de> DeserializeSeed<'de> for RecordSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RecordSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(IRREGULAR)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Columns { shape, values, .. } = &mut *self.columns;
        let mut position = 0;
        // A bit for each field that has its value.
        let mut filled = 0;
        while let Some(at) = map.next_key_seed(NameSeed { shape, position })? {
            let (Some(column), Some(field)) = (values.get_mut(at), shape.fields.get(at)) else {
                return Err(A::Error::custom(IRREGULAR));
            };
            // The same name again, unless it was null before.
            if filled & bit(at) != 0 {
                return Err(A::Error::custom(IRREGULAR));
            }
            if map.next_value_seed(CellSeed { column, kind: field.kind })? {
                filled |= bit(at);
            }
            position = at.saturating_add(1);
        }
        if filled & self.id == 0 {
            return Err(A::Error::custom(IRREGULAR));
        }
        for (at, column) in values.iter_mut().enumerate() {
            if filled & bit(at) == 0 {
                column.null().map_err(A::Error::custom)?;
            }
        }
        self.columns.end_known();
        Ok(())
    }
}

/// Reads a name as the position of its field.
struct NameSeed {
    shape: &'static Shape,
    /// The field that comes next where all come in order.
    position: usize,
}

impl<'de> DeserializeSeed<'de> for NameSeed {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for NameSeed {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(IRREGULAR)
    }

    fn visit_str<E: Error>(self, wire: &str) -> Result<usize, E> {
        let Self { shape, position } = self;
        if shape.fields.get(position).is_some_and(|field| field.wire == wire) {
            return Ok(position);
        }
        let field = field_of(shape, wire, position).ok_or_else(|| E::custom(IRREGULAR))?;
        shape.fields.iter().position(|other| std::ptr::eq(other, field)).ok_or_else(|| E::custom(IRREGULAR))
    }
}

/// Reads a value into a column, and says whether there is one: null leaves the column as it is.
struct CellSeed<'a> {
    column: &'a mut Column,
    kind: Kind,
}

impl<'de> DeserializeSeed<'de> for CellSeed<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for CellSeed<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(IRREGULAR)
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<bool, E> {
        let Column::Boolean(builder) = self.column else { return Err(E::custom(IRREGULAR)) };
        builder.append_value(truth);
        Ok(true)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<bool, E> {
        match self.column {
            Column::Integer(builder) => builder.append_value(number),
            #[expect(clippy::cast_precision_loss, reason = "a JSON number is a double for everybody else, too")]
            Column::Decimal(builder) => builder.append_value(number as f64),
            Column::Boolean(builder) if number == 0 || number == 1 => builder.append_value(number == 1),
            Column::Text(builder) => return write(builder, number),
            _ => return Err(E::custom(IRREGULAR)),
        }
        Ok(true)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<bool, E> {
        match (i64::try_from(number), &mut *self.column) {
            (Ok(number), _) => self.visit_i64(number),
            (Err(_), Column::Text(builder)) => write(builder, number),
            (Err(_), _) => Err(E::custom(IRREGULAR)),
        }
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<bool, E> {
        let Column::Decimal(builder) = self.column else { return Err(E::custom(IRREGULAR)) };
        builder.append_value(number);
        Ok(true)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<bool, E> {
        match (self.column, self.kind) {
            (Column::Text(builder), Kind::Text) => builder.append_value(text),
            (Column::Text(builder), Kind::Id) => match text.trim() {
                "" => return Ok(false),
                id => builder.append_value(id),
            },
            (column, kind) => match (&mut *column, stamp::micros(text)) {
                (Column::Time(builder), Some(micros)) => builder.append_value(micros),
                _ => match scalar(kind, text) {
                    Some(Value::Null) => return Ok(false),
                    Some(value) if column.push(&value).map_err(E::custom)? => {}
                    _ => return Err(E::custom(IRREGULAR)),
                },
            },
        }
        Ok(true)
    }
}

/// Writes a number that stands where a text should.
fn write<E: Error>(builder: &mut StringBuilder, number: impl fmt::Display) -> Result<bool, E> {
    use fmt::Write as _;
    write!(builder, "{number}").map_err(E::custom)?;
    builder.append_value("");
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::field_hubs::FIELD_HUB_DETAIL;
    use crate::api::locations::LOCATIONS;

    fn rows(record: &str) -> Option<usize> {
        let body = format!(r#"{{"TotalCount":9,"IsNextPage":true,"DeviceLocation":[{record},{record}]}}"#);
        decode(body.as_bytes(), &LOCATIONS).map(|page| page.items.len())
    }

    #[test]
    fn what_services_mostly_send_is_read_here() {
        assert_eq!(
            rows(
                r#"{"ID":"7","DeviceId":8140,"SubType":"Field Hub","Lat":41.5,"Lon":-93,"Alt":250,"Speed":"7",
                    "Valid":true,"GPSDateTime":"2026-09-01T12:00:00.5Z"}"#
            ),
            Some(2)
        );
        assert_eq!(rows(r#"{"valid":1,"id":7,"Lat":null,"GPSDateTime":"0000-00-00T00:00:00Z"}"#), Some(2));
        assert!(!is_flat(&FIELD_HUB_DETAIL));
    }

    #[test]
    fn what_is_not_regular_is_left_to_the_general_way() {
        for record in [
            "7",
            r#""https://host/7""#,
            "{}",
            r#"{"ID":null}"#,
            r#"{"ID":" "}"#,
            r#"{"ID":"7","ID":"8"}"#,
            r#"{"ID":"7","Extra":1}"#,
            r#"{"ID":"7","Lat":"north"}"#,
            r#"{"ID":"7","Lat":[1]}"#,
            r#"{"ID":{}}"#,
        ] {
            assert_eq!(rows(record), None, "{record}");
        }
    }
}
