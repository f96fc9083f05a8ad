//! The value of one field of a record in JSON, by the type that the shape gives it.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};

use super::fields::{describe, scalar};
use super::json::{ListSeed, RecordSeed};
use super::place::{Step, Trace};
use super::value::Value;
use crate::api::envelope::SERVICE_INDEX;
use crate::api::{Field, Kind};

/// Reads the value of one field.
pub(super) struct FieldSeed<'a> {
    pub(super) field: &'static Field,
    pub(super) trace: &'a Trace,
}

impl<'de> DeserializeSeed<'de> for FieldSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Value, D::Error> {
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
    fn refuse<E: serde::de::Error>(&self, found: &dyn fmt::Display) -> std::result::Result<Value, E> {
        let why = format!("`{}` should be {}, found {found}", self.field.wire, describe(self.field.kind));
        if self.trace.is_lenient() {
            self.trace.excuse(SERVICE_INDEX.name, self.field.wire, &why);
            return Ok(Value::Null);
        }
        Err(E::custom(why))
    }
}

impl<'de> Visitor<'de> for FieldSeed<'_> {
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
            _ => self.refuse(&truth),
        }
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> std::result::Result<Value, E> {
        match self.field.kind {
            Kind::Integer => Ok(Value::Integer(number)),
            Kind::Id | Kind::Text => Ok(Value::Text(number.to_string())),
            Kind::Boolean if number == 0 || number == 1 => Ok(Value::Boolean(number == 1)),
            #[expect(clippy::cast_precision_loss, reason = "a JSON number is a double for everybody else, too")]
            Kind::Decimal => Ok(Value::Decimal(number as f64)),
            _ => self.refuse(&number),
        }
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> std::result::Result<Value, E> {
        match (i64::try_from(number), self.field.kind) {
            (Ok(number), _) => self.visit_i64(number),
            (Err(_), Kind::Id | Kind::Text) => Ok(Value::Text(number.to_string())),
            (Err(_), _) => self.refuse(&number),
        }
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> std::result::Result<Value, E> {
        match self.field.kind {
            Kind::Decimal => Ok(Value::Decimal(number)),
            #[expect(clippy::cast_possible_truncation, reason = "the guard proves that nothing is cut")]
            Kind::Integer if number.fract() == 0.0 && number.abs() < 9e15 => Ok(Value::Integer(number as i64)),
            Kind::Id | Kind::Text => Ok(Value::Text(number.to_string())),
            _ => self.refuse(&number),
        }
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<Value, E> {
        scalar(self.field.kind, text).map_or_else(|| self.refuse(&format_args!("`{text}`")), Ok)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Value, A::Error> {
        if !self.trace.is_lenient() {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self));
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        self.refuse(&"a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Value, A::Error> {
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
