//! A decoded value: what a record becomes before it is a Python dict or a row of the sandbox.

use std::borrow::Cow;

use chrono::{DateTime, Utc};

/// The Python name of a field; borrowed from the shape for fields that the table knows.
pub type Name = Cow<'static, str>;

/// A value of a record.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// A truth value.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A number with decimals.
    Decimal(f64),
    /// A text; identifiers are texts too.
    Text(String),
    /// A point in time.
    Time(DateTime<Utc>),
    /// Records inside a record.
    List(Vec<Value>),
    /// A record, in the order of the reply.
    Record(Vec<(Name, Value)>),
    /// A value of a field that the table does not know, as the service sent it; boxed, so that the others stay small.
    Unknown(Box<serde_json::Value>),
}

impl Value {
    /// The value of that Python name, where this is a record that has it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Record(fields) => fields.iter().find(|(field, _)| field == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// What tells records apart: the id, or where there is none, the whole record.
    #[must_use]
    pub fn identity(&self) -> Cow<'_, str> {
        match self.get("id") {
            Some(Self::Text(id)) => Cow::Borrowed(id),
            _ => Cow::Owned(format!("{self:?}")),
        }
    }

    /// The text, where this is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The truth value, where this is one.
    #[must_use]
    pub fn as_boolean(&self) -> Option<bool> {
        match self {
            Self::Boolean(truth) => Some(*truth),
            _ => None,
        }
    }
}
