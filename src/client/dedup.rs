//! Set of the ids of a list's records: records may move between pages while the list is read.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

use headland_wire::Value;

/// The ids of the returned records, with 128 bits each: a million use at most 64 MB (`tests/memory.rs`).
///
/// An id is stored as a hash with keys that are new for each list. Two of a million ids collide with a probability of
/// about 1.5e-27.
#[derive(Debug, Default)]
pub(super) struct SeenIds {
    ids: HashSet<(u64, u64), BuildHasherDefault<Hashed>>,
    keys: (RandomState, RandomState),
}

/// The hash of a key whose parts are hashes already: the last part.
#[derive(Debug, Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, part: u64) {
        self.0 = part;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl SeenIds {
    /// Adds a record; false if it is already in the set.
    pub(super) fn insert(&mut self, identity: &str) -> bool {
        self.ids.insert(self.key(identity))
    }

    /// Removes the records that are in the set, and adds the others, also those of one page that have the same id.
    pub(super) fn retain_new(&mut self, records: &mut Vec<Value>) {
        let mut keys = Vec::with_capacity(records.len());
        records.retain(|record| {
            let key = self.key(&record.identity());
            let is_new = !self.ids.contains(&key);
            if is_new {
                keys.push(key);
            }
            is_new
        });
        self.ids.extend(keys);
    }

    /// Whether a record is in the set.
    pub(super) fn contains(&self, identity: &str) -> bool {
        self.ids.contains(&self.key(identity))
    }

    /// The number of records.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    fn key(&self, identity: &str) -> (u64, u64) {
        let (first, second) = &self.keys;
        (first.hash_one(identity), second.hash_one(identity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_ids_are_distinct() {
        let mut seen = SeenIds::default();
        let numbers = ["7", "0", "18446744073709551615"];
        let others = ["07", "+7", "7.0", " 7", "7 ", "00", "", "-7", "18446744073709551616", "a", "A"];
        let ids = || numbers.iter().chain(&others);
        for id in ids() {
            assert!(!seen.contains(id), "{id:?}");
            assert!(seen.insert(id), "{id:?}");
        }
        for id in ids() {
            assert!(seen.contains(id) && !seen.insert(id), "{id:?}");
        }
        assert_eq!(seen.len(), ids().count());
    }
}
