//! A record while it is read: its fields so far, and the member order that the next record of a list repeats.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::extra_fields::ExtraFields;
use super::fields::{ITEMS, put};
use super::node::Node;
use super::reply::Content;
use super::value::{Name, Value};
use headland_api::{Field, Index, Shape};

pub(super) type Members<'n> = Vec<(Cow<'n, str>, Node<'n>)>;

/// A member whose meaning its name alone decides.
#[derive(Clone, Copy)]
pub(super) enum Member {
    /// A field that its record has once.
    Field(&'static Field),
    /// The shape does not name it.
    Extra,
}

/// The members of the record before: records of a list repeat names and order, so that each name is searched once a list.
#[derive(Default)]
pub(super) struct Order(Vec<(String, Member)>);

impl Order {
    /// The member of the record before, if it had that name at that place.
    pub(super) fn get(&self, position: usize, wire: &str) -> Option<Member> {
        self.0.get(position).filter(|(name, _)| name == wire).map(|(_, member)| *member)
    }

    /// Forgets what comes after the members that repeat.
    pub(super) fn truncate(&mut self, position: usize) {
        self.0.truncate(position);
    }

    /// Notes a member that follows the noted ones directly.
    pub(super) fn note(&mut self, position: usize, wire: &str, member: Member) {
        if self.0.len() == position {
            self.0.push((wire.to_owned(), member));
        }
    }
}

/// What was read of a record so far.
pub(super) struct Record<'n> {
    pub(super) shape: &'static Shape,
    /// The list, where this is its envelope.
    pub(super) items: Option<&'static Index>,
    pub(super) fields: Vec<(Name, Value)>,
    pub(super) extra: ExtraFields,
    /// The lists that this element of XML has begun; the items of a list may come in several elements.
    pub(super) lists: Vec<&'static str>,
    /// The objects whose members belong to the record. They are read after its own members, because they repeat some of
    /// these, and the record's own value of each stays.
    pub(super) hoisted: Vec<Members<'n>>,
    /// Whether they are read now: a field that they repeat is no conflict.
    pub(super) is_hoisted: bool,
    /// The items of lists to which hoisted objects add, as texts.
    known: HashMap<&'static str, HashSet<String>>,
}

impl Record<'_> {
    pub(super) fn new(shape: &'static Shape, items: Option<&'static Index>) -> Self {
        let fields = Vec::with_capacity(shape.fields.len());
        let (extra, lists, hoisted, known) = (ExtraFields::default(), Vec::new(), Vec::new(), HashMap::new());
        Self { shape, items, fields, extra, lists, hoisted, is_hoisted: false, known }
    }

    /// Keeps the value of a field that has none yet.
    pub(super) fn add(&mut self, field: &'static Field, value: Value) {
        if matches!(value, Value::List(_)) {
            self.lists.push(field.snake);
        }
        self.fields.push((Name::Borrowed(field.snake), value));
    }

    /// Keeps a value. False: the field has another value.
    #[must_use]
    pub(super) fn put(&mut self, field: &'static Field, value: Value, content: Content) -> bool {
        let is_begun = content == Content::Xml && self.lists.contains(&field.snake);
        let known = self.fields.iter_mut().find(|(name, _)| name == field.snake);
        match (known, value) {
            (Some((_, Value::List(items))), Value::List(more)) if is_begun => items.extend(more),
            // Each part of a job may list products of its own.
            (Some((_, Value::List(items))), Value::List(more)) if self.is_hoisted => {
                let text = |item: &Value| format!("{item:?}");
                let known = self.known.entry(field.snake).or_insert_with(|| items.iter().map(text).collect());
                let texts: Vec<String> = more.iter().map(text).collect();
                items.extend(
                    more.into_iter().zip(&texts).filter(|(_, text)| !known.contains(*text)).map(|(item, _)| item),
                );
                known.extend(texts);
            }
            (_, value) => {
                if matches!(value, Value::List(_)) && !is_begun {
                    self.lists.push(field.snake);
                }
                return put(&mut self.fields, Name::Borrowed(field.snake), value) || self.is_hoisted;
            }
        }
        true
    }

    /// Keeps items of the list whose envelope this is.
    pub(super) fn extend_items(&mut self, more: Vec<Value>) {
        match self.fields.iter_mut().find(|(name, _)| name == ITEMS) {
            Some((_, Value::List(items))) => items.extend(more),
            _ => self.fields.push((Name::Borrowed(ITEMS), Value::List(more))),
        }
    }

    /// How many items a list has so far.
    pub(super) fn length(&self, name: &str) -> usize {
        match self.fields.iter().find(|(known, _)| known == name) {
            Some((_, Value::List(items))) => items.len(),
            _ => 0,
        }
    }
}
