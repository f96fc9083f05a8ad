//! Which records of a list were given: what a reading remembers of each, and nothing else.
//!
//! A list may move while it is read, so every record that was given has to be known again: that memory grows with the
//! list. An id that is a whole number, as those of the service's records mostly are, is kept as that number: 8 bytes,
//! and exact. Any other is kept as 128 bits of a hash whose keys are new for each list. That two of a million ids have
//! the same 128 bits has a probability of 1.5e-27 (half the square of their number in 2^128), whatever the ids are,
//! since nobody knows the keys; then one of the two records would be missing.
//!
//! A table doubles when it is full, and for a moment there are both sizes; so there are several small ones, which do that
//! one after the other. A million records take some 20 MB as numbers and some 37 MB as hashes (`tests/memory.rs`).

use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash, Hasher};

/// The records that were given.
#[derive(Debug, Default)]
pub(super) struct Seen {
    numbers: Tables<u64>,
    others: Tables<u128>,
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
            Some(number) => self.numbers.contains(number),
            None => self.others.contains(self.hash(identity)),
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

/// A set in several tables.
#[derive(Debug, Default)]
struct Tables<T> {
    tables: [HashSet<T, Spread>; 16],
    spread: Spread,
}

impl<T: Hash + Eq + Copy> Tables<T> {
    fn insert(&mut self, member: T) -> bool {
        let at = self.place(member);
        self.tables.get_mut(at).is_some_and(|table| table.insert(member))
    }

    fn contains(&self, member: T) -> bool {
        self.tables.get(self.place(member)).is_some_and(|table| table.contains(&member))
    }

    fn len(&self) -> usize {
        self.tables.iter().map(HashSet::len).sum()
    }

    /// Which table a member is in; always one that there is.
    fn place(&self, member: T) -> usize {
        usize::from(self.spread.hash_one(member).to_be_bytes()[3]) % self.tables.len()
    }
}

/// Spreads numbers over a table by one multiplication, with a key that is new for each table, so that nobody can choose
/// ids that all fall into one place.
#[derive(Clone, Debug)]
struct Spread(u64);

impl Default for Spread {
    fn default() -> Self {
        Self(RandomState::new().hash_one(()) | 1)
    }
}

impl BuildHasher for Spread {
    type Hasher = Spreading;

    fn build_hasher(&self) -> Spreading {
        Spreading { key: self.0, state: self.0.rotate_left(32) }
    }
}

struct Spreading {
    key: u64,
    state: u64,
}

impl Hasher for Spreading {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.state ^ number).wrapping_mul(u128::from(self.key ^ 0x9E37_79B9_7F4A_7C15));
        let [high, low] = [product >> 64, product & u128::from(u64::MAX)];
        #[expect(clippy::cast_possible_truncation, reason = "both halves have 64 bits")]
        let folded = high as u64 ^ low as u64;
        self.state = folded;
    }

    fn write_u128(&mut self, number: u128) {
        #[expect(clippy::cast_possible_truncation, reason = "what is hashed already has its bits in every part")]
        self.write_u64(number as u64);
    }

    fn finish(&self) -> u64 {
        self.state
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
