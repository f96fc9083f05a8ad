//! Decoded values: records before they become Python dicts, Arrow columns or rows of the sandbox.

use std::borrow::Cow;

use chrono::{DateTime, Utc};

/// The Python name of a field; borrowed if the shape has the field.
pub type Name = Cow<'static, str>;

/// A value of a record.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Null.
    Null,
    /// A truth value.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A number with decimals.
    Decimal(f64),
    /// A text; identifiers are texts too.
    Text(String),
    /// A time.
    Time(DateTime<Utc>),
    /// A list, mostly of records inside a record.
    List(Vec<Value>),
    /// A record, in the order of the reply.
    Record(Vec<(Name, Value)>),
    /// The unconverted value of a field that the shape does not name. Boxed to keep the other variants small.
    Unknown(Box<serde_json::Value>),
}

impl Value {
    /// The value of the field with that Python name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Record(fields) => fields.iter().find(|(field, _)| field == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The text that identifies a record: its id, else the whole record.
    #[must_use]
    pub fn identity(&self) -> Cow<'_, str> {
        match self.get("id") {
            Some(Self::Text(id)) => Cow::Borrowed(id),
            _ => Cow::Owned(format!("{self:?}")),
        }
    }

    /// The text, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The truth value, if it is one.
    #[must_use]
    pub fn as_boolean(&self) -> Option<bool> {
        match self {
            Self::Boolean(truth) => Some(*truth),
            _ => None,
        }
    }
}
