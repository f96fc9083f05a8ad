//! What a client remembers of its uploads, so that the record of one is never taken for that of another.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::api::Endpoint;

/// The uploads of a client: the ids that are or may be theirs, and the names that are on the way.
#[derive(Debug, Default)]
pub(super) struct Uploads {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    ids: HashSet<(&'static str, String)>,
    /// How many uploads of a name have begun and have not ended.
    open: HashMap<(&'static str, String), u32>,
}

impl Uploads {
    /// An upload begins. One that is dropped on the way, as by Ctrl-C, stays open: nobody knows what becomes of it.
    pub(super) fn begin(&self, row: &Endpoint, name: &str) {
        let mut known = self.known();
        let open = known.open.entry((row.path, name.to_ascii_lowercase())).or_default();
        *open = open.saturating_add(1);
    }

    /// An upload ends. It made one of the records `ids`, where there are any.
    pub(super) fn end(&self, row: &Endpoint, name: &str, ids: &[String]) {
        let mut known = self.known();
        let key = (row.path, name.to_ascii_lowercase());
        match known.open.get_mut(&key) {
            Some(open) if *open > 1 => *open = open.saturating_sub(1),
            _ => drop(known.open.remove(&key)),
        }
        known.ids.extend(ids.iter().map(|id| (row.path, id.clone())));
    }

    /// Whether `id` is, or may be, the record of an earlier upload of this client.
    pub(super) fn made(&self, row: &Endpoint, id: &str) -> bool {
        self.known().ids.contains(&(row.path, id.to_owned()))
    }

    /// Whether a new record called `name` may be that of another upload of this client.
    pub(super) fn has_another(&self, row: &Endpoint, name: &str) -> bool {
        self.known().open.get(&(row.path, name.to_ascii_lowercase())).is_some_and(|open| *open > 1)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
