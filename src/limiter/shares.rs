//! One budget for several pulls of one process: each gets as much as the others while they have work.
//!
//! Calls that are granted in the order of asking are not shared fairly where one pull asks as soon as slots are free and
//! takes them all. Here each pull says whether it wants slots and is told how many are its own: those that bring everybody
//! who wants some to the same number of calls. What nobody else wants is its own, too.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::log::Micros;

/// Who wants slots and has not been heard of for that long is forgotten until it is: it may hang.
const FORGOTTEN: Micros = 15_000_000;

/// What each pull has had.
#[derive(Debug, Default)]
pub(super) struct Shares(Mutex<HashMap<u64, Standing>>);

#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    /// Calls that it has taken, or was credited with while it wanted none.
    taken: u64,
    /// When it said last that it wants slots; `None` where it wants none.
    wanted_at: Option<Micros>,
}

impl Standing {
    fn wants(&self, now: Micros) -> bool {
        self.wanted_at.is_some_and(|at| now.saturating_sub(at).saturating_abs() < FORGOTTEN)
    }
}

impl Shares {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Standing>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of(&self, id: u64, free: u64, wants: bool, now: Micros) -> u64 {
        let mut all = self.lock();
        let mut taken: Vec<u64> =
            all.iter().filter(|(other, it)| **other != id && it.wants(now)).map(|(_, it)| it.taken).collect();
        let me = all.entry(id).or_default();
        if wants && !me.wants(now) {
            // Who wanted nothing for a while has no claim to what others took meanwhile.
            me.taken = me.taken.max(taken.iter().min().copied().unwrap_or(0));
        }
        me.wanted_at = wants.then_some(now);
        if !wants {
            return 0;
        }
        taken.push(me.taken);
        share(free, me.taken, taken)
    }
}

/// How many of the free slots are those of one who has taken `mine`, where `taken` is what all have taken: the lowest are
/// filled up first, all to the same level.
fn share(free: u64, mine: u64, mut taken: Vec<u64>) -> u64 {
    taken.sort_unstable();
    let (mut sum, mut count) = (0_u64, 0_u64);
    for (at, lowest) in taken.iter().enumerate() {
        sum = sum.saturating_add(*lowest);
        count = count.saturating_add(1);
        let next = at.checked_add(1).and_then(|next| taken.get(next));
        let filled = free.saturating_add(sum);
        if next.is_none_or(|next| filled <= count.saturating_mul(*next)) {
            return filled.saturating_sub(count.saturating_mul(mine)).div_ceil(count).min(free);
        }
    }
    free
}

/// A pull among those that share a budget; dropped, it wants nothing any more.
pub struct Share {
    shares: Arc<Shares>,
    id: u64,
    clock: Arc<dyn crate::clock::Clock>,
}

impl std::fmt::Debug for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Share").field("shares", &self.shares).finish_non_exhaustive()
    }
}

impl Share {
    pub(super) fn enter(shares: Arc<Shares>, clock: Arc<dyn crate::clock::Clock>) -> Self {
        Self { shares, id: fastrand::u64(..), clock }
    }

    /// How many of the free slots are its own, if it wants some. It is asked anew before slots are taken.
    #[must_use]
    pub fn of(&self, free: u64, wants: bool) -> u64 {
        self.shares.of(self.id, free, wants, self.clock.now().timestamp_micros())
    }

    /// It makes a call.
    pub fn took_one(&self) {
        let mut all = self.shares.lock();
        let me = all.entry(self.id).or_default();
        me.taken = me.taken.saturating_add(1);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shares.lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Micros = 1_700_000_000_000_000;

    #[test]
    fn slots_bring_all_to_the_same_number() {
        for (free, mine, taken, own) in [
            (15, 0, vec![0, 0], 8),
            (7, 0, vec![0, 8], 7),
            (1, 3, vec![3, 3], 1),
            (1, 4, vec![3, 4], 0),
            (9, 2, vec![2, 4, 6], 5),
            (9, 6, vec![2, 4, 6], 1),
            (30, 100, vec![100], 30),
            (0, 0, vec![0, 0], 0),
        ] {
            assert_eq!(share(free, mine, taken.clone()), own, "{free} {mine} {taken:?}");
        }
    }

    #[test]
    fn of_any_free_slots_one_who_wants_some_has_some() {
        for code in 0..5_u64.pow(4) {
            let all: Vec<u64> = (0..4).map(|digit| code / 5_u64.pow(digit) % 5 * 3).collect();
            for count in 1..=all.len() {
                let taken = all[..count].to_vec();
                for free in 1..9 {
                    let own: Vec<u64> = taken.iter().map(|mine| share(free, *mine, taken.clone())).collect();
                    let least = (0..count).min_by_key(|index| taken[*index]).unwrap();
                    assert!(own[least] > 0, "{free} free, {taken:?}: {own:?}, so that each would wait for another");
                    assert!(own.iter().all(|own| *own <= free), "{free} free, {taken:?}: {own:?}");
                }
            }
        }
    }

    #[test]
    fn what_nobody_else_wants_is_the_own_and_idling_gives_no_claim() {
        let shares = Shares::default();
        assert_eq!(shares.of(1, 15, true, NOW), 15);
        shares.lock().get_mut(&1).unwrap().taken = 100;
        assert_eq!(shares.of(2, 15, true, NOW), 8, "a new one begins where the others are");
        assert_eq!(shares.of(1, 15, true, NOW), 8);
        assert_eq!(shares.of(2, 15, false, NOW), 0);
        assert_eq!(shares.of(1, 15, true, NOW), 15);
        assert_eq!(shares.of(2, 15, true, NOW), 8);
        assert_eq!(shares.of(1, 15, true, NOW + FORGOTTEN), 15, "one that hangs holds nobody up");
    }
}
