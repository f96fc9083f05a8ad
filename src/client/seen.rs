//! Which records of a list were given: what a reading remembers of each, and nothing else.
//!
//! A list may move while it is read, so every record that was given has to be known again: that memory grows with the
//! list. An id that is a whole number, as those of the service's records mostly are, is kept as that number: 8 bytes,
//! and exact. Any other is kept as 128 bits of a hash whose keys are new for each list. That two of a million ids have
//! the same 128 bits has a probability of 1.5e-27 (half the square of their number in 2^128), whatever the ids are,
//! since nobody knows the keys; then one of the two records would be missing. With the free places of the table a
//! million records take 19 MB as numbers and 36 MB as hashes, and half as much again for a moment while the table grows.

use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;

/// The records that were given.
#[derive(Debug, Default)]
pub(super) struct Seen {
    numbers: HashSet<u64>,
    others: HashSet<u128>,
    keys: (RandomState, RandomState),
}

impl Seen {
    /// Remembers a record; false where it is known.
    pub(super) fn insert(&mut self, identity: &str) -> bool {
        match number(identity) {
            Some(number) => self.numbers.insert(number),
            None => self.others.insert(self.hash(identity)),
        }
    }

    /// Whether a record is known.
    pub(super) fn contains(&self, identity: &str) -> bool {
        match number(identity) {
            Some(number) => self.numbers.contains(&number),
            None => self.others.contains(&self.hash(identity)),
        }
    }

    /// How many records are known.
    pub(super) fn len(&self) -> usize {
        self.numbers.len().saturating_add(self.others.len())
    }

    fn hash(&self, identity: &str) -> u128 {
        let (high, low) = &self.keys;
        (u128::from(high.hash_one(identity)) << 64) | u128::from(low.hash_one(identity))
    }
}

/// The number that an id is, where it is written in the one way that gives the id back.
fn number(identity: &str) -> Option<u64> {
    let is_plain = matches!(identity.as_bytes(), [b'0'] | [b'1'..=b'9', ..]);
    identity.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_look_alike_are_told_apart() {
        let mut seen = Seen::default();
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
        assert_eq!((seen.numbers.len(), seen.len()), (numbers.len(), ids().count()));
    }
}
