//! Fields that the shape does not name: each keeps its value under a unique name, and repeated names become lists.

use std::collections::{HashMap, HashSet};

use serde_json::Value as Tree;

use super::value::{Name, Value};
use headland_api::Shape;
use headland_base::names;

/// The meaning of a repeated name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnRepeat {
    /// One more item of a list, as in XML.
    Append,
    /// The same field again, as in an object that repeats fields of the record around it. Only a different value is one
    /// more item.
    Compare,
}

/// The extra fields of one record, by their names on the wire.
#[derive(Debug, Default)]
pub(super) struct ExtraFields {
    fields: Vec<(Name, Value)>,
    by_wire: HashMap<String, ExtraField>,
    names: UniqueNames,
    /// The current section: the record itself is 0, and each hoisted object is one more.
    section: usize,
}

#[derive(Debug)]
struct ExtraField {
    /// The position among the extra fields.
    position: usize,
    /// Whether repetition made it a list.
    is_list: bool,
    /// The section of its first value.
    section: usize,
}

impl ExtraFields {
    /// Begins a hoisted object.
    pub(super) fn next_section(&mut self) {
        self.section = self.section.saturating_add(1);
    }

    /// The fields in the order of the reply.
    pub(super) fn into_fields(self) -> Vec<(Name, Value)> {
        self.fields
    }

    /// Adds a value.
    pub(super) fn put(&mut self, shape: &'static Shape, wire: &str, tree: Tree, on_repeat: OnRepeat) {
        let Some(field) = self.by_wire.get_mut(wire) else {
            let name = self.names.unique_name(wire, |name| shape.field(name).is_some());
            let field = ExtraField { position: self.fields.len(), is_list: false, section: self.section };
            self.by_wire.insert(wire.to_owned(), field);
            self.fields.push((Name::Owned(name), Value::Unknown(Box::new(tree))));
            return;
        };
        let on_repeat = if field.section == self.section { on_repeat } else { OnRepeat::Compare };
        let Some((_, Value::Unknown(known))) = self.fields.get_mut(field.position) else { return };
        match known.as_mut() {
            Tree::Array(items) if field.is_list => {
                if on_repeat == OnRepeat::Append || items.last() != Some(&tree) {
                    items.push(tree);
                }
            }
            known if on_repeat == OnRepeat::Compare && (*known == tree || tree.is_null()) => {}
            known if on_repeat == OnRepeat::Compare && known.is_null() => *known = tree,
            known => {
                *known = Tree::Array(vec![known.take(), tree]);
                field.is_list = true;
            }
        }
    }
}

/// The names of the extra fields of one record. A lookup takes constant time, because a reply may have any number of names
/// and any number of collisions.
#[derive(Debug, Default)]
pub(super) struct UniqueNames {
    taken: HashSet<String>,
    /// The next suffix for each name that collided.
    next: HashMap<String, u64>,
}

impl UniqueNames {
    /// Returns a name for the field: its name in `snake_case`, else its name on the wire, else the first free one with a
    /// number as suffix.
    pub(super) fn unique_name(&mut self, wire: &str, is_known: impl Fn(&str) -> bool) -> String {
        let snake = names::snake(wire);
        let is_free = |taken: &HashSet<String>, name: &str| !taken.contains(name) && !is_known(name);
        let name = if !snake.is_empty() && is_free(&self.taken, &snake) {
            snake
        } else if is_free(&self.taken, wire) {
            wire.to_owned()
        } else {
            let number = self.next.entry(snake.clone()).or_insert(2);
            loop {
                let name = format!("{snake}_{number}");
                *number = number.saturating_add(1);
                if is_free(&self.taken, &name) {
                    break name;
                }
            }
        };
        self.taken.insert(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_api::job_data::JOB_DATA_DETAIL;

    /// Lookups that scan all earlier names took minutes here.
    #[test]
    fn many_names_take_linear_time_and_none_is_lost() {
        const MANY: usize = 200_000;
        let different = |number: usize| format!("k{number}");
        let alike = |number: usize| {
            let case = |(at, c): (usize, char)| if number >> at & 1 == 1 { c.to_ascii_uppercase() } else { c };
            "abcdefghijklmnopqr".chars().enumerate().map(case).collect::<String>()
        };
        let started = std::time::Instant::now();
        for name in [&different as &dyn Fn(usize) -> String, &alike] {
            let mut extra = ExtraFields::default();
            for number in 0..MANY {
                extra.put(&JOB_DATA_DETAIL, &name(number), Tree::Null, OnRepeat::Append);
            }
            let fields = extra.into_fields();
            let names: HashSet<&str> = fields.iter().map(|(name, _)| name.as_ref()).collect();
            assert_eq!(names.len(), MANY);
        }
        assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
    }
}
