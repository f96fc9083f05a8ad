//! Queue that every request passes: grants slots in the order of the requests and waits until the windows allow one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Notify;

use super::patience::{DeadlineExceeded, POLL_INTERVAL, Patience, deadline_exceeded};
use super::shared_file::LogFile;
use super::sliding_window::{Log, Micros, time_until, to_micros};
use super::slot_owner;
use super::store::{Store, StoreLocation, budget_key};
use super::{Budget, RateLimitHeaders, Window};
use headland_base::clock::Clock;

/// How often the log is read while a call of this process, whose lease may expire, is in flight. Its end notifies the task.
const LEASE_CHECK: Duration = Duration::from_secs(1);

/// If the head of the queue leaves a slot free for this long, no thread polls its call.
const STALL_TIMEOUT: Duration = Duration::from_millis(50);

/// The limiter of one client. Clients with the same base address and API key share its count.
#[derive(Clone)]
pub struct Limiter {
    shared: Arc<Shared>,
    windows: Arc<[Window]>,
    clock: Arc<dyn Clock>,
}

/// State that the limiters of a process share: the log, the queue and the notification.
#[derive(Debug)]
struct Shared {
    store: Mutex<Store>,
    /// Locked by the head of the queue. Tokio's mutex is fair, and a dropped waiter leaves the queue.
    head: tokio::sync::Mutex<()>,
    /// How often the head has checked for a slot.
    polls: AtomicUsize,
    /// Notified when a slot is completed or released. Only the head of the queue waits for it.
    notify: Notify,
    waiting: AtomicUsize,
    /// Twice the longest window of the clients that share this state.
    retention: AtomicI64,
    owner: String,
    pid: u32,
    warning: Mutex<Warning>,
}

/// Why the budget is not shared although it should be, and whether that was reported.
#[derive(Debug, Default)]
struct Warning {
    text: Option<String>,
    is_reported: bool,
    /// Warning that the file of a shared budget was replaced.
    replaced: Option<String>,
}

impl Warning {
    fn from_reason(reason: &str) -> Self {
        Self { text: Some(not_shared(reason)), ..Self::default() }
    }
}

/// The shared states of this process: two clients of one budget use the same queue.
static REGISTRY: Mutex<Option<Registry>> = Mutex::new(None);

/// The key is the process, the store location and the budget.
type Registry = HashMap<(u32, StoreLocation, String), Weak<Shared>>;

impl std::fmt::Debug for Limiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Limiter").field("windows", &self.windows).finish_non_exhaustive()
    }
}

impl Limiter {
    /// Creates a limiter for `windows` of the service at `base_url` for `api_key`. It shares its count with all clients
    /// of this process that have the same base address and key. If `location` is a file, it also shares with other
    /// processes.
    #[must_use]
    pub fn shared(
        location: StoreLocation,
        base_url: &str,
        api_key: &str,
        windows: &[Window],
        clock: Arc<dyn Clock>,
    ) -> Self {
        let key = budget_key(base_url, api_key);
        let entry = (std::process::id(), location, key);
        let known = lock(&REGISTRY).as_ref().and_then(|registry| registry.get(&entry)).and_then(Weak::upgrade);
        let shared = known.unwrap_or_else(|| {
            // Opened outside the lock: otherwise a fork during that time would leave the lock taken in the child.
            let fresh = Arc::new(Shared::open(&entry.1, &entry.2));
            let mut registry = lock(&REGISTRY);
            let registry = registry.get_or_insert_with(HashMap::new);
            registry.retain(|_, shared| shared.strong_count() > 0);
            // Another thread may have inserted one; that one is used.
            if let Some(shared) = registry.get(&entry).and_then(Weak::upgrade) {
                return shared;
            }
            registry.insert(entry, Arc::downgrade(&fresh));
            fresh
        });
        Self::with_shared(shared, windows, clock)
    }

    /// Creates a limiter that shares with no other client of this process, for clients with a clock of their own.
    #[must_use]
    pub fn unshared(
        location: &StoreLocation,
        base_url: &str,
        api_key: &str,
        windows: &[Window],
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self::with_shared(Arc::new(Shared::open(location, &budget_key(base_url, api_key))), windows, clock)
    }

    fn with_shared(shared: Arc<Shared>, windows: &[Window], clock: Arc<dyn Clock>) -> Self {
        let longest = windows.iter().map(|window| to_micros(window.period)).max().unwrap_or(0);
        shared.retention.fetch_max(longest.saturating_mul(2), Ordering::Relaxed);
        Self { shared, windows: windows.into(), clock }
    }

    /// Whether there is a limit.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        !self.windows.is_empty()
    }

    /// Same as [`Limiter::grant_with`], without a callback.
    pub async fn grant(&self, lease: Duration, timeout: Duration) -> Result<Option<Slot>, DeadlineExceeded> {
        self.grant_with(lease, Patience::Total(timeout), |_| {}).await
    }

    /// Waits for a slot, as long as `patience` allows. A wait that is known to be longer is an immediate error. `lease`
    /// is the longest time that the request can take. `on_wait` receives each computed wait. `None`: the limiter is
    /// disabled.
    pub async fn grant_with(
        &self,
        lease: Duration,
        patience: Patience,
        mut on_wait: impl FnMut(Duration),
    ) -> Result<Option<Slot>, DeadlineExceeded> {
        if !self.is_enabled() {
            return Ok(None);
        }
        let position = QueuePosition::enter(&self.shared.waiting);
        if position.ahead > 0 {
            let (next, now) = self.transact(|log, now| (log.next_slot(&self.windows, now, position.ahead), now));
            patience.check(now, next)?;
            on_wait(time_until(now, next.time));
        }
        let end_of_patience = async {
            match patience {
                Patience::Total(timeout) => self.clock.sleep(timeout).await,
                Patience::Requested(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            slot = self.wait_in_queue(lease, patience, on_wait) => slot.map(Some),
            () = end_of_patience => {
                let (next, now) = self.transact(|log, now| (log.next_slot(&self.windows, now, 0), now));
                Err(deadline_exceeded(now, next))
            }
        }
    }

    async fn wait_in_queue(
        &self,
        lease: Duration,
        patience: Patience,
        mut on_wait: impl FnMut(Duration),
    ) -> Result<Slot, DeadlineExceeded> {
        let started = self.now();
        let mut head = None;
        loop {
            if head.is_none() {
                head = self.wait_for_head().await;
            }
            self.shared.polls.fetch_add(1, Ordering::Relaxed);
            let id = new_id();
            let (next, others, now) = self.transact(|log, now| {
                let next = log.next_slot(&self.windows, now, 0);
                if next.time <= now {
                    log.grant(id, now, &self.shared.owner, now.saturating_add(to_micros(lease)));
                }
                (next, log.others_in_flight(&self.shared.owner), now)
            });
            if next.time <= now {
                return Ok(Slot { limiter: self.clone(), id, granted: now, state: SlotState::Granted });
            }
            patience.after(time_until(started, now)).check(now, next)?;
            on_wait(time_until(now, next.time));
            if head.is_none() {
                continue;
            }
            let wait = if !next.waits_for_reply {
                time_until(now, next.time)
            } else if others {
                POLL_INTERVAL
            } else {
                LEASE_CHECK
            };
            tokio::select! {
                () = self.shared.notify.notified() => {}
                () = self.clock.sleep(wait) => {}
            }
        }
    }

    /// Waits to become the head of the queue. Returns `None` if a slot is free but the head does not check for one. The
    /// thread of that call is then in a signal handler, which may be the one that waits here.
    async fn wait_for_head(&self) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        let mut head = std::pin::pin!(self.shared.head.lock());
        let (mut pause, mut free_since) = (LEASE_CHECK, None);
        loop {
            tokio::select! {
                biased;
                head = &mut head => return Some(head),
                () = self.clock.sleep(pause) => {}
            }
            let wait = self.transact(|log, now| time_until(now, log.next_slot(&self.windows, now, 0).time));
            let polls = self.shared.polls.load(Ordering::Relaxed);
            if wait.is_zero() && free_since == Some(polls) {
                return None;
            }
            free_since = wait.is_zero().then_some(polls);
            pause = if wait.is_zero() { STALL_TIMEOUT } else { wait.max(LEASE_CHECK) };
        }
    }

    /// The unused part of the limit.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.transact(|log, now| log.budget(&self.windows, now))
    }

    /// Returns once why the budget is not shared although it should be, or that its file was replaced.
    #[must_use]
    pub fn take_warning(&self) -> Option<String> {
        let mut warning = lock(&self.shared.warning);
        if let Some(replaced) = warning.replaced.take() {
            return Some(replaced);
        }
        if std::mem::replace(&mut warning.is_reported, true) { None } else { warning.text.clone() }
    }

    /// Why the budget is not shared although it should be; not limited to one call.
    #[must_use]
    pub fn not_shared_reason(&self) -> Option<String> {
        lock(&self.shared.warning).text.clone()
    }

    fn now(&self) -> Micros {
        self.clock.now().timestamp_micros()
    }

    fn transact<T>(&self, mut work: impl FnMut(&mut Log, Micros) -> T) -> T {
        let shared = &self.shared;
        let retention = shared.retention.load(Ordering::Relaxed);
        let (result, failure) = lock(&shared.store).transact(
            || self.now(),
            retention,
            |log, now| {
                log.refresh(now, retention, |owner| owner != shared.owner && slot_owner::is_gone(owner));
                work(log, now)
            },
        );
        if let Some(reason) = failure {
            *lock(&shared.warning) = Warning::from_reason(&reason);
        }
        result
    }
}

impl Shared {
    fn open(location: &StoreLocation, key: &str) -> Self {
        let (store, warning) = match location {
            StoreLocation::Memory => (Store::Memory(Log::default()), Warning::default()),
            StoreLocation::File(path) => match LogFile::open(path, key) {
                Ok((file, replaced)) => (Store::File(Box::new(file)), Warning { replaced, ..Warning::default() }),
                Err(reason) => {
                    let reason = format!("`{}`: {reason}", path.display());
                    (Store::Memory(Log::default()), Warning::from_reason(&reason))
                }
            },
        };
        Self {
            store: Mutex::new(store),
            head: tokio::sync::Mutex::new(()),
            polls: AtomicUsize::new(0),
            notify: Notify::new(),
            waiting: AtomicUsize::new(0),
            retention: AtomicI64::new(0),
            owner: slot_owner::current(),
            pid: std::process::id(),
            warning: Mutex::new(warning),
        }
    }
}

/// The right to send one request. Dropping it before [`Slot::mark_sent`] returns it to the budget. Dropping it
/// afterwards counts its request from that time.
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
    Completed,
}

impl Slot {
    /// Records that the request is being sent.
    pub fn mark_sent(&mut self) {
        self.state = SlotState::Sent;
    }

    /// Records that the reply was received, with its rate limit headers. A slot whose request failed is dropped
    /// instead.
    pub fn complete(mut self, headers: &RateLimitHeaders) {
        self.state = SlotState::Completed;
        let completed = self.limiter.now();
        let windows = Arc::clone(&self.limiter.windows);
        self.limiter.transact(|log, now| {
            log.complete(self.id, completed.min(now));
            log.apply_headers(self.id, headers, &windows, self.granted.min(now), now, new_id);
        });
        self.limiter.shared.notify.notify_one();
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // The child of a fork has copies of its parent's slots, but not their requests.
        if self.state == SlotState::Completed || self.limiter.shared.pid != std::process::id() {
            return;
        }
        let (id, is_sent) = (self.id, self.state == SlotState::Sent);
        self.limiter.transact(|log, now| if is_sent { log.complete(id, now) } else { log.release(id) });
        self.limiter.shared.notify.notify_one();
    }
}

/// A position in the queue, released when dropped.
struct QueuePosition<'a> {
    waiting: &'a AtomicUsize,
    ahead: usize,
}

impl<'a> QueuePosition<'a> {
    fn enter(waiting: &'a AtomicUsize) -> Self {
        Self { waiting, ahead: waiting.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for QueuePosition<'_> {
    fn drop(&mut self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

fn not_shared(reason: &str) -> String {
    format!(
        "the rate limit is not shared, so other processes may use up the calls: {reason}. Pass a writable path as \
         limiter_state, or \"memory\" if this is intended"
    )
}

fn new_id() -> i64 {
    fastrand::i64(1..)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
