//! Uploads of this client, so that the record of one upload is not mistaken for that of another.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use headland_api::Endpoint;

/// The ids that belong or may belong to uploads of this client with their names, and the names of uploads in flight.
#[derive(Debug, Default)]
pub(super) struct OwnUploads {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    ids: HashMap<(&'static str, String), String>,
    /// The number of unfinished uploads per name.
    open: HashMap<(&'static str, String), u32>,
}

impl OwnUploads {
    /// Records the start of an upload. A cancelled upload, as by Ctrl-C, remains unfinished: its outcome is unknown.
    pub(crate) fn begin(&self, row: &Endpoint, name: &str) {
        let mut state = self.state();
        let open = state.open.entry((row.path, name.to_ascii_lowercase())).or_default();
        *open = open.saturating_add(1);
    }

    /// Records the end of an upload. It created one of the records `ids`, if there are any.
    pub(super) fn end(&self, row: &Endpoint, name: &str, ids: &[String]) {
        let mut state = self.state();
        let key = (row.path, name.to_ascii_lowercase());
        match state.open.get_mut(&key) {
            Some(open) if *open > 1 => *open = open.saturating_sub(1),
            _ => drop(state.open.remove(&key)),
        }
        state.ids.extend(ids.iter().map(|id| ((row.path, id.clone()), name.to_owned())));
    }

    /// Whether `id` is, or may be, the record of an earlier upload of this client.
    pub(super) fn is_own(&self, row: &Endpoint, id: &str) -> bool {
        self.state().ids.contains_key(&(row.path, id.to_owned()))
    }

    /// The file name of an upload of this client.
    pub(super) fn name_of(&self, row: &Endpoint, id: &str) -> Option<String> {
        self.state().ids.get(&(row.path, id.to_owned())).cloned()
    }

    /// Whether a new record called `name` may be that of a concurrent upload of this client.
    pub(super) fn has_concurrent(&self, row: &Endpoint, name: &str) -> bool {
        self.state().open.get(&(row.path, name.to_ascii_lowercase())).is_some_and(|open| *open > 1)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
