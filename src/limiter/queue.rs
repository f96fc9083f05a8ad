//! The gate that every request passes: it grants slots in the order of asking, and waits until the windows allow one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Notify;

use super::shared_file::LogFile;
use super::sliding_window::{Log, Micros, Verdict, length, micros, since};
use super::slot_owner;
use super::store::{Place, Store, budget_key};
use super::{Budget, Heard, Window};
use crate::clock::Clock;

/// How often the log is read again while a call in flight of another process is in the way: its end rings no bell
/// here.
const GLANCE: Duration = Duration::from_millis(25);

/// How often it is read while a call of this process is in the way: its end rings the bell, but its lease may end first.
const LEASE_CHECK: Duration = Duration::from_secs(1);

/// How long a free slot that the head of the queue does not take shows that its call is not driven.
const STALLED: Duration = Duration::from_millis(50);

/// The limiter of one client. Clients with the same base address and API key share what it counts.
#[derive(Clone)]
pub struct Limiter {
    gate: Arc<Gate>,
    windows: Arc<[Window]>,
    clock: Arc<dyn Clock>,
}

/// What is shared inside a process: the log, the queue and the bell.
#[derive(Debug)]
struct Gate {
    store: Mutex<Store>,
    /// The head of the queue holds this; tokio's mutex is fair, and a waiter that goes away leaves the queue.
    turn: tokio::sync::Mutex<()>,
    /// How often the head has looked for a slot.
    looks: AtomicUsize,
    /// Rings when a slot is settled or released; only the head of the queue listens.
    bell: Notify,
    waiting: AtomicUsize,
    /// The longest window of the clients that share the gate.
    keep: AtomicI64,
    owner: String,
    pid: u32,
    warning: Mutex<Warning>,
}

/// Why the budget is not shared although it should be, and whether the user was told.
#[derive(Debug, Default)]
struct Warning {
    text: Option<String>,
    is_told: bool,
    /// What the user should know though the budget is shared.
    note: Option<String>,
}

impl Warning {
    fn of(reason: &str) -> Self {
        Self { text: Some(not_shared(reason)), ..Self::default() }
    }
}

/// No slot is free before the deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// How long until a call may start, as far as can be told.
    pub ready_in: Duration,
    /// How long the service asked to wait, where that is why.
    pub service_wait: Option<Duration>,
}

/// The gates of this process, so that two clients of one budget queue in one line.
static GATES: Mutex<Option<Gates>> = Mutex::new(None);

/// By process, place and budget.
type Gates = HashMap<(u32, Place, String), Weak<Gate>>;

impl std::fmt::Debug for Limiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Limiter").field("windows", &self.windows).finish_non_exhaustive()
    }
}

impl Limiter {
    /// The limiter for `windows` of the service at `base_url` for `api_key`, shared with every client of this
    /// process, and of others where `place` is a file, that has the same base address and key.
    #[must_use]
    pub fn shared(place: Place, base_url: &str, api_key: &str, windows: &[Window], clock: Arc<dyn Clock>) -> Self {
        let key = budget_key(base_url, api_key);
        let entry = (std::process::id(), place, key);
        let known = lock(&GATES).as_ref().and_then(|gates| gates.get(&entry)).and_then(Weak::upgrade);
        let gate = known.unwrap_or_else(|| {
            // Opened outside the lock: a fork must not find it held for as long as a file takes to open.
            let fresh = Arc::new(Gate::open(&entry.1, &entry.2));
            let mut gates = lock(&GATES);
            let gates = gates.get_or_insert_with(HashMap::new);
            gates.retain(|_, gate| gate.strong_count() > 0);
            // Another thread may have been faster; then its gate is the one.
            if let Some(gate) = gates.get(&entry).and_then(Weak::upgrade) {
                return gate;
            }
            gates.insert(entry, Arc::downgrade(&fresh));
            fresh
        });
        Self::through(gate, windows, clock)
    }

    /// The same, shared with nobody in this process: for clients whose clock is their own.
    #[must_use]
    pub fn alone(place: &Place, base_url: &str, api_key: &str, windows: &[Window], clock: Arc<dyn Clock>) -> Self {
        Self::through(Arc::new(Gate::open(place, &budget_key(base_url, api_key))), windows, clock)
    }

    fn through(gate: Arc<Gate>, windows: &[Window], clock: Arc<dyn Clock>) -> Self {
        let longest = windows.iter().map(|window| micros(window.period)).max().unwrap_or(0);
        gate.keep.fetch_max(longest.saturating_mul(2), Ordering::Relaxed);
        Self { gate, windows: windows.into(), clock }
    }

    /// Whether there is a limit at all.
    #[must_use]
    pub fn is_on(&self) -> bool {
        !self.windows.is_empty()
    }

    /// Waits for a slot, at most for `patience`; a wait that is known to be longer is refused at once. `lease` is
    /// how long the request can take at most. `None` when the limiter is off.
    pub async fn grant(&self, lease: Duration, patience: Duration) -> Result<Option<Slot>, Refusal> {
        if !self.is_on() {
            return Ok(None);
        }
        let place = Queued::enter(&self.gate.waiting);
        if place.ahead > 0 {
            let (verdict, now) = self.step(|log, now| (log.verdict(&self.windows, now, place.ahead), now));
            refuse_beyond(patience, now, verdict)?;
        }
        tokio::select! {
            biased;
            slot = self.queue(lease, patience) => slot.map(Some),
            () = self.clock.sleep(patience) => {
                let (verdict, now) = self.step(|log, now| (log.verdict(&self.windows, now, 0), now));
                Err(refusal(now, verdict))
            }
        }
    }

    async fn queue(&self, lease: Duration, patience: Duration) -> Result<Slot, Refusal> {
        let started = self.now();
        let mut turn = None;
        loop {
            if turn.is_none() {
                turn = self.turn().await;
            }
            self.gate.looks.fetch_add(1, Ordering::Relaxed);
            let id = fresh_id();
            let (verdict, others, now) = self.step(|log, now| {
                let verdict = log.verdict(&self.windows, now, 0);
                if verdict.at <= now {
                    log.grant(id, now, &self.gate.owner, now.saturating_add(micros(lease)));
                }
                (verdict, log.others_in_flight(&self.gate.owner), now)
            });
            if verdict.at <= now {
                return Ok(Slot { limiter: self.clone(), id, granted: now, state: SlotState::Granted });
            }
            refuse_beyond(patience.saturating_sub(since(started, now)), now, verdict)?;
            if turn.is_none() {
                continue;
            }
            let wait = if !verdict.waits_for_reply {
                since(now, verdict.at)
            } else if others {
                GLANCE
            } else {
                LEASE_CHECK
            };
            tokio::select! {
                () = self.gate.bell.notified() => {}
                () = self.clock.sleep(wait) => {}
            }
        }
    }

    /// Waits to be the head of the queue. Gives nothing where a slot is free and the head does not look for one: its call is
    /// not driven, since its thread runs the handler of a signal, which may be the one that waits here.
    async fn turn(&self) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        let mut turn = std::pin::pin!(self.gate.turn.lock());
        let (mut pause, mut free_since) = (LEASE_CHECK, None);
        loop {
            tokio::select! {
                biased;
                turn = &mut turn => return Some(turn),
                () = self.clock.sleep(pause) => {}
            }
            let wait = self.step(|log, now| since(now, log.verdict(&self.windows, now, 0).at));
            let looks = self.gate.looks.load(Ordering::Relaxed);
            if wait.is_zero() && free_since == Some(looks) {
                return None;
            }
            free_since = wait.is_zero().then_some(looks);
            pause = if wait.is_zero() { STALLED } else { wait.max(LEASE_CHECK) };
        }
    }

    /// What is left of the limit now.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.step(|log, now| log.budget(&self.windows, now))
    }

    /// Why the budget is not shared with other processes although it should be, or that its file was replaced; told once.
    #[must_use]
    pub fn take_warning(&self) -> Option<String> {
        let mut warning = lock(&self.gate.warning);
        if let Some(note) = warning.note.take() {
            return Some(note);
        }
        if std::mem::replace(&mut warning.is_told, true) { None } else { warning.text.clone() }
    }

    /// The same, told as often as it is asked for.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        lock(&self.gate.warning).text.clone()
    }

    fn now(&self) -> Micros {
        self.clock.now().timestamp_micros()
    }

    fn step<T>(&self, mut work: impl FnMut(&mut Log, Micros) -> T) -> T {
        let gate = &self.gate;
        let keep = gate.keep.load(Ordering::Relaxed);
        let (result, failure) = lock(&gate.store).step(
            || self.now(),
            keep,
            |log, now| {
                log.tidy(now, keep, |owner| owner != gate.owner && slot_owner::is_gone(owner));
                work(log, now)
            },
        );
        if let Some(reason) = failure {
            *lock(&gate.warning) = Warning::of(&reason);
        }
        result
    }
}

impl Gate {
    fn open(place: &Place, key: &str) -> Self {
        let (store, warning) = match place {
            Place::Memory => (Store::Memory(Log::default()), Warning::default()),
            Place::File(path) => match LogFile::open(path, key) {
                Ok((file, note)) => (Store::File(Box::new(file)), Warning { note, ..Warning::default() }),
                Err(reason) => {
                    let reason = format!("`{}`: {reason}", path.display());
                    (Store::Memory(Log::default()), Warning::of(&reason))
                }
            },
        };
        Self {
            store: Mutex::new(store),
            turn: tokio::sync::Mutex::new(()),
            looks: AtomicUsize::new(0),
            bell: Notify::new(),
            waiting: AtomicUsize::new(0),
            keep: AtomicI64::new(0),
            owner: slot_owner::this(),
            pid: std::process::id(),
            warning: Mutex::new(warning),
        }
    }
}

/// The right to send one request. Dropped before [`Slot::sent`], it is given back; dropped after, its request counts
/// from then.
#[derive(Debug)]
pub struct Slot {
    limiter: Limiter,
    id: i64,
    granted: Micros,
    state: SlotState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlotState {
    Granted,
    Sent,
    Settled,
}

impl Slot {
    /// The request is leaving now.
    pub fn sent(&mut self) {
        self.state = SlotState::Sent;
    }

    /// The reply has come, with these words on the limit. A slot whose request failed is dropped.
    pub fn settle(mut self, heard: &Heard) {
        self.state = SlotState::Settled;
        let at = self.limiter.now();
        let windows = Arc::clone(&self.limiter.windows);
        self.limiter.step(|log, now| {
            log.settle(self.id, at.min(now));
            log.hear(self.id, heard, &windows, self.granted.min(now), now, fresh_id);
        });
        self.limiter.gate.bell.notify_one();
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // A child of a fork holds copies of its parent's slots, but not their requests.
        if self.state == SlotState::Settled || self.limiter.gate.pid != std::process::id() {
            return;
        }
        let (id, sent) = (self.id, self.state == SlotState::Sent);
        self.limiter.step(|log, now| if sent { log.settle(id, now) } else { log.release(id) });
        self.limiter.gate.bell.notify_one();
    }
}

/// A place in the queue, left when dropped.
struct Queued<'a> {
    waiting: &'a AtomicUsize,
    ahead: usize,
}

impl<'a> Queued<'a> {
    fn enter(waiting: &'a AtomicUsize) -> Self {
        Self { waiting, ahead: waiting.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

fn refuse_beyond(patience: Duration, now: Micros, verdict: Verdict) -> Result<(), Refusal> {
    if since(now, verdict.at) > patience { Err(refusal(now, verdict)) } else { Ok(()) }
}

fn refusal(now: Micros, verdict: Verdict) -> Refusal {
    Refusal { ready_in: since(now, verdict.at).max(GLANCE), service_wait: verdict.asked.map(length) }
}

fn not_shared(reason: &str) -> String {
    format!(
        "the budget of calls is kept in this process alone, so that other processes may use it up: {reason}. Pass a \
         writable path as limiter_state, or \"memory\" if that is meant"
    )
}

fn fresh_id() -> i64 {
    fastrand::i64(1..)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
