//! The log of slots and what the windows make of it: pure, time is an argument.

use std::time::Duration;

use super::{Budget, Heard, Window};

/// Microseconds since 1970 by the wall clock, the one clock that processes share.
pub(super) type Micros = i64;

/// One call that a window may count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: i64,
    /// When it was granted, then when it was settled; for a stranger's call, when we heard of it.
    pub(super) at: Micros,
    pub(super) standing: Standing,
}

/// Where a call stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// On its way: it counts as now, because it may arrive at any moment until its reply.
    InFlight {
        /// The process that sends it.
        owner: String,
        /// When it is settled at the latest, should its owner's fate be unknown.
        lease: Micros,
    },
    /// Answered or failed: it counts from then.
    Settled,
    /// A call of somebody else that only the server's headers told of.
    Foreign {
        /// When the server forgets it.
        until: Micros,
        /// The length of the window that the headers spoke of.
        period: Micros,
    },
}

/// A longer wait is not honoured before the service has asked for it twice.
pub(super) const TRUSTED: Micros = 300_000_000;

/// A stretch of time in which no call may start.
///
/// A wait of up to [`TRUSTED`] is honoured as asked, and then all may call. A longer one is honoured for that long, and then
/// doubted: one call may start, the probe. Its reply lifts the block, or asks for no more than was asked for before: then it
/// is believed and honoured to its end. A probe without a reply (it failed, or its process ended) leaves its turn to another
/// call, at the latest when its lease ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) from: Micros,
    pub(super) until: Micros,
    /// How long the service asked to wait, where it said.
    pub(super) asked: Option<Micros>,
    /// The call that was last granted as the probe.
    pub(super) probe: Option<i64>,
}

impl Block {
    /// When it is over by itself: a doubted wait after the time that the service asked for.
    fn end(&self) -> Micros {
        self.until.max(self.from.saturating_add(self.asked.unwrap_or(0)))
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
pub(super) struct Verdict {
    /// Not before this time.
    pub(super) at: Micros,
    /// Whether a call in flight has to end first, so that `at` is only a lower bound.
    pub(super) waits_for_reply: bool,
    /// How long the service asked to wait, where it did and calls wait for that.
    pub(super) asked: Option<Micros>,
}

/// Every call that some window may still count.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    pub(super) entries: Vec<Entry>,
    pub(super) block: Option<Block>,
    /// The server's `X-RateLimit-Limit`, where it is below the windows of the user.
    pub(super) cap: Option<u32>,
    pub(super) changes: Vec<Change>,
}

impl Log {
    /// Makes the log fit the time: entries from the future (the clock stepped back) count as now, calls of
    /// processes that ended are settled, and what no window counts any more is forgotten.
    pub(super) fn tidy(&mut self, now: Micros, keep: Micros, is_gone: impl Fn(&str) -> bool) {
        let oldest = now.saturating_sub(keep);
        let changes = &mut self.changes;
        self.entries.retain_mut(|entry| {
            if entry.at > now {
                let step = entry.at.saturating_sub(now);
                entry.at = now;
                match &mut entry.standing {
                    Standing::InFlight { lease, .. } => *lease = lease.saturating_sub(step),
                    Standing::Foreign { until, .. } => *until = until.saturating_sub(step),
                    Standing::Settled => {}
                }
                changes.push(Change::Put(entry.clone()));
            }
            match &entry.standing {
                Standing::InFlight { owner, lease } if *lease <= now || is_gone(owner) => {
                    entry.at = (*lease).min(now);
                    entry.standing = Standing::Settled;
                    changes.push(Change::Put(entry.clone()));
                }
                Standing::Settled if entry.at < oldest => {
                    changes.push(Change::Remove(entry.id));
                    return false;
                }
                Standing::Foreign { until, .. } if *until <= now => {
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
                self.set_block(Some(Block { from: now, until, ..block }));
            }
        }
    }

    /// When a call may start that has `ahead` others before it in the queue.
    pub(super) fn verdict(&self, windows: &[Window], now: Micros, ahead: usize) -> Verdict {
        let is_probed = self.is_probed(now);
        let start = self.block.map_or(now, |block| block.until.max(now.saturating_add(Micros::from(is_probed))));
        let asked = self.block.filter(|_| start > now).and_then(|block| block.asked);
        let mut verdict = Verdict { at: start, waits_for_reply: is_probed, asked };
        for window in windows {
            let calls = self.calls(window);
            let span = span(window.period);
            let ends = self.ends(window, now);
            // The call number `ahead` after this one starts whole rounds of `calls` later, each a span long.
            let rounds = ahead.checked_div(calls).unwrap_or(0);
            let place = ahead.saturating_sub(rounds.saturating_mul(calls)).saturating_add(1);
            let leaves = place.saturating_add(ends.len()).checked_sub(calls).filter(|index| *index > 0);
            let mut at = start;
            let mut waits_for_reply = false;
            if let Some((end, in_flight)) = leaves.and_then(|index| ends.get(index.saturating_sub(1))) {
                at = at.max(*end);
                waits_for_reply = *in_flight;
            }
            let rounds = Micros::try_from(rounds).unwrap_or(Micros::MAX);
            verdict.at = verdict.at.max(at.saturating_add(span.saturating_mul(rounds)));
            verdict.waits_for_reply |= waits_for_reply;
        }
        verdict
    }

    /// Whether calls wait for the reply to a probe.
    fn is_probed(&self, now: Micros) -> bool {
        let probe = self.block.filter(|block| block.until <= now).and_then(|block| block.probe);
        let is_in_flight = |entry: &Entry| matches!(entry.standing, Standing::InFlight { .. });
        probe.is_some_and(|probe| self.entries.iter().any(|entry| entry.id == probe && is_in_flight(entry)))
    }

    fn set_block(&mut self, block: Option<Block>) {
        self.block = block;
        self.changes.push(Change::Limits);
    }

    /// Whether some call in flight went through another gate, whose bell is not ours.
    pub(super) fn others_in_flight(&self, me: &str) -> bool {
        self.entries.iter().any(|entry| matches!(&entry.standing, Standing::InFlight { owner, .. } if owner != me))
    }

    /// Notes a call that is about to be sent.
    pub(super) fn grant(&mut self, id: i64, now: Micros, owner: &str, lease: Micros) {
        self.put(Entry { id, at: now, standing: Standing::InFlight { owner: owner.to_owned(), lease } });
        if let Some(block) = self.block {
            self.set_block(Some(Block { probe: Some(id), ..block }));
        }
    }

    /// Notes that a call was answered or failed. One that the log has lost is written anew.
    pub(super) fn settle(&mut self, id: i64, at: Micros) {
        self.put(Entry { id, at, standing: Standing::Settled });
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
    pub(super) fn hear(
        &mut self,
        id: i64,
        heard: &Heard,
        windows: &[Window],
        granted: Micros,
        now: Micros,
        mut fresh_id: impl FnMut() -> i64,
    ) {
        let doubted = self.block.filter(|block| block.probe == Some(id));
        if doubted.is_some() {
            self.set_block(None);
        }
        if let Some(wait) = heard.block {
            let asked = heard.asked().map(micros);
            self.wait(now, asked.unwrap_or(micros(wait)), asked, doubted);
        }
        let Some(limit) = heard.limit else { return };
        let exact = windows.iter().find(|window| window.calls == limit);
        let Some(window) = exact.or_else(|| windows.iter().max_by_key(|window| window.period)) else { return };
        let cap = (exact.is_none() && windows.iter().any(|window| window.calls > limit)).then_some(limit);
        if self.cap != cap {
            self.cap = cap;
            self.changes.push(Change::Limits);
        }
        let (Some(remaining), Some(reset)) = (heard.remaining, heard.reset) else { return };
        let counted = self.ends(window, granted).len();
        let free = self.calls(window).saturating_sub(counted);
        let surplus = free.saturating_sub(usize::try_from(remaining).unwrap_or(usize::MAX));
        let reset = micros(reset);
        // No call is left for longer than our window knows: it is shorter than the server's. A longer wait than is trusted has
        // to show in calls that are not ours, or in a 429.
        let is_beyond = reset > span(window.period).saturating_add(1_000_000) && (surplus > 0 || reset <= TRUSTED);
        if remaining == 0 && is_beyond && doubted.is_none() {
            self.wait(now, reset, Some(reset), None);
            return;
        }
        let until = now.saturating_add(reset.min(TRUSTED));
        let standing = Standing::Foreign { until, period: micros(window.period) };
        for _ in 0..surplus {
            self.put(Entry { id: fresh_id(), at: now, standing: standing.clone() });
        }
    }

    /// Stops calls for `wait`; `doubted` is what this call was the probe of.
    fn wait(&mut self, now: Micros, wait: Micros, asked: Option<Micros>, doubted: Option<Block>) {
        let is_confirmed = doubted.and_then(|block| block.asked).is_some_and(|before| wait <= before);
        let until = now.saturating_add(if is_confirmed { wait } else { wait.min(TRUSTED) });
        if self.block.is_none_or(|block| block.until < until) {
            self.set_block(Some(Block { from: now, until, asked, probe: None }));
        }
    }

    /// What is left of the limit.
    pub(super) fn budget(&self, windows: &[Window], now: Micros) -> Budget {
        let next = self.verdict(windows, now, 0).at;
        let mut budget = Budget {
            remaining: if windows.is_empty() { u32::MAX } else { 0 },
            next_call_in: since(now, next),
            reset_in: self.block.map_or(Duration::ZERO, |block| since(now, block.until)),
            windows: Vec::with_capacity(windows.len()),
            service_wait: self.block.and_then(|block| block.asked).map(length),
        };
        let mut free = usize::MAX;
        for window in windows {
            let ends = self.ends(window, now);
            free = free.min(self.calls(window).saturating_sub(ends.len()));
            if let Some((end, _)) = ends.last() {
                budget.reset_in = budget.reset_in.max(since(now, *end));
            }
            budget.windows.push((*window, u32::try_from(ends.len()).unwrap_or(u32::MAX)));
        }
        if next <= now && !windows.is_empty() {
            // Where a wait is doubted, the next call is the only one.
            let most = if self.block.is_some() { 1 } else { usize::MAX };
            budget.remaining = u32::try_from(free.min(most)).unwrap_or(u32::MAX);
        }
        budget
    }

    fn calls(&self, window: &Window) -> usize {
        let calls = self.cap.map_or(window.calls, |cap| window.calls.min(cap)).max(1);
        usize::try_from(calls).unwrap_or(usize::MAX)
    }

    /// When each call that the window counts now leaves it, earliest first, and whether it is in flight: then the
    /// time is a lower bound.
    fn ends(&self, window: &Window, now: Micros) -> Vec<(Micros, bool)> {
        let span = span(window.period);
        let mut ends: Vec<(Micros, bool)> = self
            .entries
            .iter()
            .map(|entry| match &entry.standing {
                Standing::InFlight { .. } => (now.saturating_add(span), true),
                Standing::Settled => (entry.at.saturating_add(span), false),
                Standing::Foreign { until, period } if micros(window.period) < *period => {
                    ((*until).min(entry.at.saturating_add(span)), false)
                }
                Standing::Foreign { until, .. } => (*until, false),
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
    let period = micros(period);
    period.saturating_add(period.checked_div(10_000).unwrap_or(0)).saturating_add(1_000)
}

pub(super) fn micros(duration: Duration) -> Micros {
    Micros::try_from(duration.as_micros()).unwrap_or(Micros::MAX)
}

pub(super) fn length(micros: Micros) -> Duration {
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

/// From `now` until `then`; zero when that is past.
pub(super) fn since(now: Micros, then: Micros) -> Duration {
    length(then.saturating_sub(now))
}

#[cfg(test)]
mod tests;
