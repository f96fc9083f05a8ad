//! The log of slots and what the windows make of it: pure, time is an argument.

use std::time::Duration;

use super::{Budget, RateLimitHeaders, Window};

/// Microseconds since 1970 by the wall clock, the one clock that processes share.
pub(super) type Micros = i64;

/// One call that a window may count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: i64,
    /// When it was granted, then when it was settled; for a stranger's call, when we heard of it.
    pub(super) time: Micros,
    pub(super) state: EntryState,
}

/// Where a call stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EntryState {
    /// On its way: it counts as now, because it may arrive at any moment until its reply.
    InFlight {
        /// The process that sends it.
        owner: String,
        /// When it is settled at the latest, should its owner's fate be unknown.
        lease: Micros,
    },
    /// Answered or failed: it counts from then.
    Completed,
    /// A call of somebody else that only the server's headers told of.
    External {
        /// When the server forgets it.
        until: Micros,
        /// The length of the window that the headers spoke of.
        period: Micros,
    },
}

/// A longer wait is not honoured before the service has asked for it twice.
pub(super) const TRUSTED_WAIT: Micros = 300_000_000;

/// A stretch of time in which no call may start.
///
/// A wait of up to [`TRUSTED_WAIT`] is honoured as asked, and then all may call. A longer one is honoured for that long, and then
/// doubted: one call may start, the probe. Its reply lifts the block, or asks for no more than was asked for before: then it
/// is believed and honoured to its end. A probe without a reply (it failed, or its process ended) leaves its turn to another
/// call, at the latest when its lease ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockedSpan {
    pub(super) from: Micros,
    pub(super) until: Micros,
    /// How long the service asked to wait, where it said.
    pub(super) requested: Option<Micros>,
    /// The call that was last granted as the probe.
    pub(super) probe: Option<i64>,
}

impl BlockedSpan {
    /// When it is over by itself: a doubted wait after the time that the service asked for.
    fn end(&self) -> Micros {
        self.until.max(self.from.saturating_add(self.requested.unwrap_or(0)))
    }
}

/// A change of the log, for those who keep it on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Put(Entry),
    Remove(i64),
    /// Block or cap have changed.
    Limits,
}

/// When the next call may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NextSlot {
    /// Not before this time.
    pub(super) time: Micros,
    /// Whether a call in flight has to end first, so that `time` is only a lower bound.
    pub(super) waits_for_reply: bool,
    /// How long the service asked to wait, where it did and calls wait for that.
    pub(super) requested: Option<Micros>,
}

/// Every call that some window may still count.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    pub(super) entries: Vec<Entry>,
    pub(super) block: Option<BlockedSpan>,
    /// The server's `X-RateLimit-Limit`, where it is below the windows of the user.
    pub(super) cap: Option<u32>,
    pub(super) changes: Vec<Change>,
}

impl Log {
    /// Makes the log fit the time: entries from the future (the clock stepped back) count as now, calls of
    /// processes that ended are settled, and what no window counts any more is forgotten.
    pub(super) fn refresh(&mut self, now: Micros, keep: Micros, is_gone: impl Fn(&str) -> bool) {
        let oldest = now.saturating_sub(keep);
        let changes = &mut self.changes;
        self.entries.retain_mut(|entry| {
            if entry.time > now {
                let step = entry.time.saturating_sub(now);
                entry.time = now;
                match &mut entry.state {
                    EntryState::InFlight { lease, .. } => *lease = lease.saturating_sub(step),
                    EntryState::External { until, .. } => *until = until.saturating_sub(step),
                    EntryState::Completed => {}
                }
                changes.push(Change::Put(entry.clone()));
            }
            match &entry.state {
                EntryState::InFlight { owner, lease } if *lease <= now || is_gone(owner) => {
                    entry.time = (*lease).min(now);
                    entry.state = EntryState::Completed;
                    changes.push(Change::Put(entry.clone()));
                }
                EntryState::Completed if entry.time < oldest => {
                    changes.push(Change::Remove(entry.id));
                    return false;
                }
                EntryState::External { until, .. } if *until <= now => {
                    changes.push(Change::Remove(entry.id));
                    return false;
                }
                _ => {}
            }
            true
        });
        if let Some(block) = self.block {
            if block.end() <= now {
                self.set_block(None);
            } else if block.from > now {
                let until = now.saturating_add(block.until.saturating_sub(block.from));
                self.set_block(Some(BlockedSpan { from: now, until, ..block }));
            }
        }
    }

    /// When a call may start that has `ahead` others before it in the queue.
    pub(super) fn next_slot(&self, windows: &[Window], now: Micros, ahead: usize) -> NextSlot {
        let is_probed = self.is_probed(now);
        let start = self.block.map_or(now, |block| block.until.max(now.saturating_add(Micros::from(is_probed))));
        let requested = self.block.filter(|_| start > now).and_then(|block| block.requested);
        let mut next = NextSlot { time: start, waits_for_reply: is_probed, requested };
        for window in windows {
            let calls = self.calls(window);
            let span = span(window.period);
            let ends = self.end_times(window, now);
            // The call number `ahead` after this one starts whole rounds of `calls` later, each a span long.
            let rounds = ahead.checked_div(calls).unwrap_or(0);
            let rank = ahead.saturating_sub(rounds.saturating_mul(calls)).saturating_add(1);
            let must_leave = rank.saturating_add(ends.len()).checked_sub(calls).filter(|index| *index > 0);
            let mut time = start;
            let mut waits_for_reply = false;
            if let Some((end, in_flight)) = must_leave.and_then(|index| ends.get(index.saturating_sub(1))) {
                time = time.max(*end);
                waits_for_reply = *in_flight;
            }
            let rounds = Micros::try_from(rounds).unwrap_or(Micros::MAX);
            next.time = next.time.max(time.saturating_add(span.saturating_mul(rounds)));
            next.waits_for_reply |= waits_for_reply;
        }
        next
    }

    /// Whether calls wait for the reply to a probe.
    fn is_probed(&self, now: Micros) -> bool {
        let probe = self.block.filter(|block| block.until <= now).and_then(|block| block.probe);
        let is_in_flight = |entry: &Entry| matches!(entry.state, EntryState::InFlight { .. });
        probe.is_some_and(|probe| self.entries.iter().any(|entry| entry.id == probe && is_in_flight(entry)))
    }

    fn set_block(&mut self, block: Option<BlockedSpan>) {
        self.block = block;
        self.changes.push(Change::Limits);
    }

    /// Whether some call in flight went through another gate, whose bell is not ours.
    pub(super) fn others_in_flight(&self, own: &str) -> bool {
        self.entries.iter().any(|entry| matches!(&entry.state, EntryState::InFlight { owner, .. } if owner != own))
    }

    /// Notes a call that is about to be sent.
    pub(super) fn grant(&mut self, id: i64, now: Micros, owner: &str, lease: Micros) {
        self.put(Entry { id, time: now, state: EntryState::InFlight { owner: owner.to_owned(), lease } });
        if let Some(block) = self.block {
            self.set_block(Some(BlockedSpan { probe: Some(id), ..block }));
        }
    }

    /// Notes that a call was answered or failed. One that the log has lost is written anew.
    pub(super) fn complete(&mut self, id: i64, time: Micros) {
        self.put(Entry { id, time, state: EntryState::Completed });
    }

    /// Forgets a call that was never sent.
    pub(super) fn release(&mut self, id: i64) {
        self.entries.retain(|entry| entry.id != id);
        self.changes.push(Change::Remove(id));
    }

    fn put(&mut self, entry: Entry) {
        self.changes.push(Change::Put(entry.clone()));
        match self.entries.iter_mut().find(|known| known.id == entry.id) {
            Some(known) => *known = entry,
            None => self.entries.push(entry),
        }
    }

    /// Tightens the log by what the server said.
    ///
    /// `Reset` is rounded up to whole seconds, so obeying it where our own log explains the server's count would
    /// waste up to a second in each window: only what the server counts beyond our log is added, as calls of others.
    /// The server counted when the call arrived, so our log is read as of `granted`: calls that have left the window
    /// since then would be taken for those of others.
    pub(super) fn apply_headers(
        &mut self,
        id: i64,
        headers: &RateLimitHeaders,
        windows: &[Window],
        granted: Micros,
        now: Micros,
        mut new_id: impl FnMut() -> i64,
    ) {
        let unconfirmed = self.block.filter(|block| block.probe == Some(id));
        if unconfirmed.is_some() {
            self.set_block(None);
        }
        if let Some(wait) = headers.block {
            let requested = headers.requested_wait().map(to_micros);
            self.block_for(now, requested.unwrap_or(to_micros(wait)), requested, unconfirmed);
        }
        let Some(limit) = headers.limit else { return };
        let exact = windows.iter().find(|window| window.calls == limit);
        let Some(window) = exact.or_else(|| windows.iter().max_by_key(|window| window.period)) else { return };
        let cap = (exact.is_none() && windows.iter().any(|window| window.calls > limit)).then_some(limit);
        if self.cap != cap {
            self.cap = cap;
            self.changes.push(Change::Limits);
        }
        let (Some(remaining), Some(reset)) = (headers.remaining, headers.reset) else { return };
        let counted = self.end_times(window, granted).len();
        let free = self.calls(window).saturating_sub(counted);
        let surplus = free.saturating_sub(usize::try_from(remaining).unwrap_or(usize::MAX));
        let reset = to_micros(reset);
        // No call is left for longer than our window knows: it is shorter than the server's. A longer wait than is trusted has
        // to show in calls that are not ours, or in a 429.
        let is_beyond = reset > span(window.period).saturating_add(1_000_000) && (surplus > 0 || reset <= TRUSTED_WAIT);
        if remaining == 0 && is_beyond && unconfirmed.is_none() {
            self.block_for(now, reset, Some(reset), None);
            return;
        }
        let until = now.saturating_add(reset.min(TRUSTED_WAIT));
        let state = EntryState::External { until, period: to_micros(window.period) };
        for _ in 0..surplus {
            self.put(Entry { id: new_id(), time: now, state: state.clone() });
        }
    }

    /// Stops calls for `wait`; `unconfirmed` is what this call was the probe of.
    fn block_for(&mut self, now: Micros, wait: Micros, requested: Option<Micros>, unconfirmed: Option<BlockedSpan>) {
        let is_confirmed = unconfirmed.and_then(|block| block.requested).is_some_and(|before| wait <= before);
        let until = now.saturating_add(if is_confirmed { wait } else { wait.min(TRUSTED_WAIT) });
        if self.block.is_none_or(|block| block.until < until) {
            self.set_block(Some(BlockedSpan { from: now, until, requested, probe: None }));
        }
    }

    /// What is left of the limit.
    pub(super) fn budget(&self, windows: &[Window], now: Micros) -> Budget {
        let next = self.next_slot(windows, now, 0).time;
        let mut budget = Budget {
            remaining: if windows.is_empty() { u32::MAX } else { 0 },
            next_call_in: time_until(now, next),
            reset_in: self.block.map_or(Duration::ZERO, |block| time_until(now, block.until)),
            windows: Vec::with_capacity(windows.len()),
            service_wait: self.block.and_then(|block| block.requested).map(to_duration),
        };
        let mut free = usize::MAX;
        for window in windows {
            let ends = self.end_times(window, now);
            free = free.min(self.calls(window).saturating_sub(ends.len()));
            if let Some((end, _)) = ends.last() {
                budget.reset_in = budget.reset_in.max(time_until(now, *end));
            }
            budget.windows.push((*window, u32::try_from(ends.len()).unwrap_or(u32::MAX)));
        }
        if next <= now && !windows.is_empty() {
            // Where a wait is doubted, the next call is the only one.
            let max_calls = if self.block.is_some() { 1 } else { usize::MAX };
            budget.remaining = u32::try_from(free.min(max_calls)).unwrap_or(u32::MAX);
        }
        budget
    }

    fn calls(&self, window: &Window) -> usize {
        let calls = self.cap.map_or(window.calls, |cap| window.calls.min(cap)).max(1);
        usize::try_from(calls).unwrap_or(usize::MAX)
    }

    /// When each call that the window counts now leaves it, earliest first, and whether it is in flight: then the
    /// time is a lower bound.
    fn end_times(&self, window: &Window, now: Micros) -> Vec<(Micros, bool)> {
        let span = span(window.period);
        let mut ends: Vec<(Micros, bool)> = self
            .entries
            .iter()
            .map(|entry| match &entry.state {
                EntryState::InFlight { .. } => (now.saturating_add(span), true),
                EntryState::Completed => (entry.time.saturating_add(span), false),
                EntryState::External { until, period } if to_micros(window.period) < *period => {
                    ((*until).min(entry.time.saturating_add(span)), false)
                }
                EntryState::External { until, .. } => (*until, false),
            })
            .filter(|(end, _)| *end > now)
            .collect();
        ends.sort_unstable();
        ends
    }
}

/// How long a window counts a call. A server's clock does not run at exactly our pace and it may round to
/// milliseconds: a ten-thousandth and a millisecond more keep the last call of a window out of the next.
fn span(period: Duration) -> Micros {
    let period = to_micros(period);
    period.saturating_add(period.checked_div(10_000).unwrap_or(0)).saturating_add(1_000)
}

pub(super) fn to_micros(duration: Duration) -> Micros {
    Micros::try_from(duration.as_micros()).unwrap_or(Micros::MAX)
}

pub(super) fn to_duration(micros: Micros) -> Duration {
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

/// From `now` until `then`; zero when that is past.
pub(super) fn time_until(now: Micros, then: Micros) -> Duration {
    to_duration(then.saturating_sub(now))
}

#[cfg(test)]
mod tests;
