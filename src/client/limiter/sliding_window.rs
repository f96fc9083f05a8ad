//! Sliding window log of calls and its evaluation; pure functions with the time as an argument.

use std::time::Duration;

use super::{Budget, RateLimitHeaders, Window};

/// Microseconds since 1970 by the wall clock, the only clock that processes share.
pub(super) type Micros = i64;

/// A call that a window may count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: i64,
    /// When it was granted, then when it was completed. For an external call: when the headers reported it.
    pub(super) time: Micros,
    pub(super) state: EntryState,
}

/// The state of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EntryState {
    /// It counts as now, because it may arrive at any moment until its reply.
    InFlight {
        /// The process that sends it.
        owner: String,
        /// When it counts as completed at the latest, if the state of its owner is unknown.
        lease: Micros,
    },
    /// Answered or failed: it counts from that time.
    Completed,
    /// A call of another program that only the server's headers report.
    External {
        /// When the server no longer counts it.
        until: Micros,
        /// The length of the window that the headers describe.
        period: Micros,
    },
}

/// A longer wait is only honoured after the service has requested it twice.
pub(super) const TRUSTED_WAIT: Micros = 300_000_000;

/// An interval in which no call may start.
///
/// A wait of up to [`TRUSTED_WAIT`] is honoured as requested; then all calls may start. A longer wait is honoured for
/// that long and is then unconfirmed: one call may start, the probe. Its reply lifts the block, or requests a wait that
/// is not longer than before. In the second case the wait is confirmed and honoured to its end. If a probe has no reply
/// (it failed, or its process ended), another call becomes the probe, at the latest when its lease expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockedSpan {
    pub(super) from: Micros,
    pub(super) until: Micros,
    /// The wait that the service requested, if it stated one.
    pub(super) requested: Option<Micros>,
    /// The call that was last granted as the probe.
    pub(super) probe: Option<i64>,
}

impl BlockedSpan {
    /// When it expires by itself. An unconfirmed wait expires after the requested time.
    fn end(&self) -> Micros {
        self.until.max(self.from.saturating_add(self.requested.unwrap_or(0)))
    }
}

/// A change of the log, for stores on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Put(Entry),
    Remove(i64),
    /// The block or the cap has changed.
    Limits,
}

/// When the next call may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NextSlot {
    /// The earliest time.
    pub(super) time: Micros,
    /// When calls may start again if the service has stopped them; otherwise now.
    pub(super) blocked_until: Micros,
    /// Whether a call in flight has to end first. Then `time` is only a lower bound.
    pub(super) waits_for_reply: bool,
    /// The wait that the service requested, if calls wait for that.
    pub(super) requested: Option<Micros>,
}

/// All calls that a window may still count.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    pub(super) entries: Vec<Entry>,
    pub(super) block: Option<BlockedSpan>,
    /// The server's `X-RateLimit-Limit`, if no configured window has it.
    pub(super) cap: Option<u32>,
    pub(super) changes: Vec<Change>,
}

impl Log {
    /// Updates the log to the current time. Entries from the future (the clock was set back) count as now. Calls of
    /// ended processes are completed. Entries that no window counts are removed.
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

    /// When a call may start that has `ahead` calls before it in the queue.
    pub(super) fn next_slot(&self, windows: &[Window], now: Micros, ahead: usize) -> NextSlot {
        let is_probed = self.is_probed(now);
        let start = self.block.map_or(now, |block| block.until.max(now.saturating_add(Micros::from(is_probed))));
        let requested = self.block.filter(|_| start > now).and_then(|block| block.requested);
        let mut next = NextSlot { time: start, blocked_until: start, waits_for_reply: is_probed, requested };
        for window in windows {
            let calls = self.calls(window);
            let span = span(window.period);
            let ends = self.end_times(window, now);
            // A call behind `ahead` others starts whole rounds of `calls` later, each one span long.
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

    /// Whether a call of another process or client is in flight. Its end does not notify this queue.
    pub(super) fn others_in_flight(&self, own: &str) -> bool {
        self.entries.iter().any(|entry| matches!(&entry.state, EntryState::InFlight { owner, .. } if owner != own))
    }

    /// Records a call that is about to be sent.
    pub(super) fn grant(&mut self, id: i64, now: Micros, owner: &str, lease: Micros) {
        self.put(Entry { id, time: now, state: EntryState::InFlight { owner: owner.to_owned(), lease } });
        if let Some(block) = self.block {
            self.set_block(Some(BlockedSpan { probe: Some(id), ..block }));
        }
    }

    /// Records that a call was answered or failed. A call that is missing from the log is added.
    pub(super) fn complete(&mut self, id: i64, time: Micros) {
        self.put(Entry { id, time, state: EntryState::Completed });
    }

    /// Removes a call that was never sent.
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

    /// Tightens the log by the server's headers.
    ///
    /// `Reset` is rounded up to whole seconds. Obeying it although the local log explains the server's count would
    /// waste up to a second per window. So only what the server counts beyond the log is added, as external calls. The
    /// server counted when the call arrived, so the log is read as of `granted`. Otherwise calls that have left the
    /// window since then would be added as external calls.
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
        let cap = exact.is_none().then_some(limit);
        if self.cap != cap {
            self.cap = cap;
            self.changes.push(Change::Limits);
        }
        let (Some(remaining), Some(reset)) = (headers.remaining, headers.reset) else { return };
        let counted = self.end_times(window, granted).len();
        let free = self.calls(window).saturating_sub(counted);
        let surplus = free.saturating_sub(usize::try_from(remaining).unwrap_or(usize::MAX));
        let reset = to_micros(reset);
        // No call is left for longer than the local window: the server's window is longer. A wait above the trusted one
        // needs evidence: external calls, or a 429.
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

    /// Blocks calls for `wait`. `unconfirmed` is the block that this call was the probe of.
    fn block_for(&mut self, now: Micros, wait: Micros, requested: Option<Micros>, unconfirmed: Option<BlockedSpan>) {
        let is_confirmed = unconfirmed.and_then(|block| block.requested).is_some_and(|before| wait <= before);
        let until = now.saturating_add(if is_confirmed { wait } else { wait.min(TRUSTED_WAIT) });
        if self.block.is_none_or(|block| block.until < until) {
            self.set_block(Some(BlockedSpan { from: now, until, requested, probe: None }));
        }
    }

    /// The unused part of the limit.
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
            // During an unconfirmed wait only the probe may start.
            let max_calls = if self.block.is_some() { 1 } else { usize::MAX };
            budget.remaining = u32::try_from(free.min(max_calls)).unwrap_or(u32::MAX);
        }
        budget
    }

    fn calls(&self, window: &Window) -> usize {
        let calls = self.cap.map_or(window.calls, |cap| window.calls.min(cap)).max(1);
        usize::try_from(calls).unwrap_or(usize::MAX)
    }

    /// When each counted call leaves the window, earliest first, and whether it is in flight. For a call in flight the
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

/// How long a window counts a call. The server's clock may run at another rate and round to milliseconds. A margin of
/// one ten-thousandth and one millisecond keeps the last call of a window out of the next one.
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

/// Time from `now` until `then`; zero if that is past.
pub(super) fn time_until(now: Micros, then: Micros) -> Duration {
    to_duration(then.saturating_sub(now))
}

#[cfg(test)]
mod tests;
