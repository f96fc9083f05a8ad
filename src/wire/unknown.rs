//! Fields that the table does not know: each is kept under a name of its own, and what comes again becomes a list.

use std::collections::HashMap;

use serde_json::Value as Tree;

use super::names;
use super::value::{Name, Value};
use crate::api::Shape;

/// What a name means that comes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// One more item of a list, as elements of XML repeat themselves.
    Item,
    /// The same field once more, as an object does that repeats fields of the record around it: only another value is
    /// one more.
    Repeat,
}

/// The unknown fields of one record, by their names on the wire.
#[derive(Debug, Default)]
pub(super) struct Unknown {
    places: HashMap<String, Place>,
    /// Which of the objects is read whose members belong to the record, and how many there are: 0 is the record's own.
    section: usize,
    sections: usize,
}

#[derive(Debug)]
struct Place {
    /// Which of the record's fields it is.
    at: usize,
    /// Whether it came again and is a list by that.
    is_list: bool,
    /// Where it came first.
    section: usize,
}

impl Unknown {
    /// Begins an object whose members belong to the record; gives what `leave` takes.
    pub(super) fn enter(&mut self) -> usize {
        self.sections = self.sections.saturating_add(1);
        std::mem::replace(&mut self.section, self.sections)
    }

    /// Ends such an object.
    pub(super) fn leave(&mut self, before: usize) {
        self.section = before;
    }

    /// Keeps a value.
    pub(super) fn put(
        &mut self,
        shape: &'static Shape,
        fields: &mut Vec<(Name, Value)>,
        wire: &str,
        tree: Tree,
        again: Again,
    ) {
        let Some(place) = self.places.get_mut(wire) else {
            let is_taken = |name: &str| shape.field(name).is_some() || fields.iter().any(|(known, _)| known == name);
            let name = free_name(wire, is_taken);
            self.places.insert(wire.to_owned(), Place { at: fields.len(), is_list: false, section: self.section });
            fields.push((Name::Owned(name), Value::Unknown(Box::new(tree))));
            return;
        };
        let again = if place.section == self.section { again } else { Again::Repeat };
        let Some((_, Value::Unknown(known))) = fields.get_mut(place.at) else { return };
        match known.as_mut() {
            Tree::Array(items) if place.is_list => {
                if again == Again::Item || items.last() != Some(&tree) {
                    items.push(tree);
                }
            }
            known if again == Again::Repeat && (*known == tree || tree.is_null()) => {}
            known if again == Again::Repeat && known.is_null() => *known = tree,
            known => {
                *known = Tree::Array(vec![known.take(), tree]);
                place.is_list = true;
            }
        }
    }
}

/// The name of a field that no rule names otherwise: its own in `snake_case`; where that is taken, the one it came
/// with; where that is taken too, the first with a number at its end.
pub(super) fn free_name(wire: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let snake = names::snake(wire);
    if !snake.is_empty() && !is_taken(&snake) {
        return snake;
    }
    if !is_taken(wire) {
        return wire.to_owned();
    }
    let mut number = 2_u64;
    loop {
        let name = format!("{snake}_{number}");
        if !is_taken(&name) {
            return name;
        }
        number = number.saturating_add(1);
    }
}
