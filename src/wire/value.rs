//! Decoded values: records before they become Python dicts, Arrow columns or rows of the sandbox.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use serde_json::Value as Tree;

use headland_base::times::iso;

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
    Unknown(Box<Tree>),
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

    /// The value as JSON, with the Python names of fields.
    pub(super) fn to_json(&self) -> Tree {
        match self {
            Self::Null => Tree::Null,
            Self::Boolean(truth) => Tree::from(*truth),
            Self::Integer(number) => Tree::from(*number),
            Self::Decimal(number) => Tree::from(*number),
            Self::Text(text) => Tree::from(text.as_str()),
            Self::Time(at) => Tree::from(iso::write(at)),
            Self::List(items) => items.iter().map(Self::to_json).collect(),
            Self::Record(fields) => {
                Tree::Object(fields.iter().map(|(name, value)| (name.to_string(), value.to_json())).collect())
            }
            Self::Unknown(tree) => (**tree).clone(),
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
