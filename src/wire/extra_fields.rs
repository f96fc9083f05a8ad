//! Fields that the table does not know: each is kept under a name of its own, and what comes again becomes a list.

use std::collections::{HashMap, HashSet};

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
    names: Names,
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
            let name = self.names.free(wire, |name| shape.field(name).is_some());
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

/// The names that fields of one record were given. Each is found in one step, however many there are: a reply decides
/// how many names it has and how many of them become the same.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
    /// The number that comes next for names that became the same.
    next: HashMap<String, u64>,
}

impl Names {
    /// The name of a field that no rule names otherwise: its own in `snake_case`; where that is taken, the one it came
    /// with; where that is taken too, the first with a number at its end.
    pub(super) fn free(&mut self, wire: &str, is_known: impl Fn(&str) -> bool) -> String {
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
    use crate::api::job_data::JOB_DATA_DETAIL;

    /// A reply decides how many names it has and how many of them become the same. With a look at all names before, each
    /// of these took minutes.
    #[test]
    fn each_of_many_names_costs_one_step_and_none_is_lost() {
        const MANY: usize = 200_000;
        let different = |number: usize| format!("k{number}");
        let alike = |number: usize| {
            let case = |(at, c): (usize, char)| if number >> at & 1 == 1 { c.to_ascii_uppercase() } else { c };
            "abcdefghijklmnopqr".chars().enumerate().map(case).collect::<String>()
        };
        let started = std::time::Instant::now();
        for name in [&different as &dyn Fn(usize) -> String, &alike] {
            let (mut unknown, mut fields) = (Unknown::default(), Vec::new());
            for number in 0..MANY {
                unknown.put(&JOB_DATA_DETAIL, &mut fields, &name(number), Tree::Null, Again::Item);
            }
            let names: HashSet<&str> = fields.iter().map(|(name, _)| name.as_ref()).collect();
            assert_eq!(names.len(), MANY);
        }
        assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
    }
}
