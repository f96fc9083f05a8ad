//! What was read of an element of XML so far: its fields, its items, and what the table does not know.

use serde_json::Value as Tree;

use super::extra_fields::{ExtraFields, OnRepeat};
use super::fields::put;
use super::value::{Name, Value};
use crate::api::{Field, Index, Shape};

/// What was read of an element so far.
pub(super) struct RecordBuilder<'f> {
    pub(super) shape: &'static Shape,
    pub(super) items: Option<&'static Index>,
    pub(super) fields: &'f mut Vec<(Name, Value)>,
    /// The items of a list, where this is its envelope.
    pub(super) listed: Vec<Value>,
    /// The lists that this element has begun.
    lists: Vec<&'static str>,
    unknown: ExtraFields,
    /// Whether an element was met whose children belong to the record: it repeats some of the record's fields, and the
    /// first value of each stays.
    is_hoisted: bool,
}

impl<'f> RecordBuilder<'f> {
    /// Nothing yet.
    pub(super) fn new(
        shape: &'static Shape,
        items: Option<&'static Index>,
        fields: &'f mut Vec<(Name, Value)>,
    ) -> Self {
        let (listed, lists, unknown) = (Vec::new(), Vec::new(), ExtraFields::default());
        Self { shape, items, fields, listed, lists, unknown, is_hoisted: false }
    }

    /// Begins an element whose children belong to the record; gives what `leave` takes.
    pub(super) fn enter(&mut self) -> (Vec<&'static str>, usize) {
        self.is_hoisted = true;
        (std::mem::take(&mut self.lists), self.unknown.enter())
    }

    /// Ends such an element.
    pub(super) fn leave(&mut self, lists: Vec<&'static str>, before: usize) {
        self.lists = lists;
        self.unknown.leave(before);
    }

    /// Keeps a value that the table does not know; repeated elements are the items of a list, as in JSON.
    pub(super) fn put_unknown(&mut self, wire: &str, tree: Tree) {
        self.unknown.put(self.shape, self.fields, wire, tree, OnRepeat::Append);
    }

    /// Keeps a value; the items of a list may come in several elements. Says no where the field has another value.
    #[must_use]
    pub(super) fn put(&mut self, field: &'static Field, value: Value) -> bool {
        let is_begun = self.lists.contains(&field.snake);
        let known = self.fields.iter_mut().find(|(name, _)| is_begun && name == field.snake);
        match (known, value) {
            (Some((_, Value::List(items))), Value::List(more)) => {
                items.extend(more);
                true
            }
            (_, value) => {
                if matches!(value, Value::List(_)) && !is_begun {
                    self.lists.push(field.snake);
                }
                put(self.fields, Name::Borrowed(field.snake), value) || self.is_hoisted
            }
        }
    }

    /// How many items a list has so far.
    pub(super) fn length(&self, field: &Field) -> usize {
        match self.fields.iter().find(|(name, _)| name == field.snake) {
            Some((_, Value::List(items))) => items.len(),
            _ => 0,
        }
    }
}
