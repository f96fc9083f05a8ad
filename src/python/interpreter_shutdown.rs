//! Interpreter shutdown: threads stop acquiring the GIL once it has begun.
//!
//! `CPython` unwinds a thread that requests the GIL too late, and frames of Rust must not be unwound like this. So each
//! thread registers before it attaches, and the shutdown waits for the registered ones. Later threads park until the
//! process exits, which takes milliseconds at that point.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// Interval at which the shutdown checks for attaching threads.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// How long a thread sleeps that may hold the GIL, for which the shutdown would wait.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Counts threads that are attaching. It belongs to one process, since a fork does not copy other threads.
#[derive(Default)]
pub(super) struct Shutdown {
    has_begun: AtomicBool,
    attaching: AtomicUsize,
    /// The thread that ends the interpreter: it has the GIL and may continue to use headland.
    exiting_thread: OnceLock<ThreadId>,
}

impl Shutdown {
    /// Registers this thread as attaching. Returns false if the shutdown has begun.
    pub(super) fn begin_attach(&self) -> bool {
        self.attaching.fetch_add(1, Ordering::SeqCst);
        if self.has_begun.load(Ordering::SeqCst) && self.exiting_thread.get() != Some(&thread::current().id()) {
            self.end_attach();
            return false;
        }
        true
    }

    /// Like [`Shutdown::begin_attach`], and parks the thread until the process exits if the shutdown has begun.
    pub(super) fn begin_attach_or_park(&self) {
        while !self.begin_attach() {
            thread::park();
        }
    }

    /// Sleeps while the interpreter exits, unless this thread is the one that ends it.
    pub(super) fn wait_for_exit(&self) {
        if self.begin_attach() {
            self.end_attach();
        } else {
            thread::sleep(EXIT_TIMEOUT);
        }
    }

    /// Unregisters this thread, which has acquired the GIL or failed to.
    pub(super) fn end_attach(&self) {
        self.attaching.fetch_sub(1, Ordering::SeqCst);
    }

    /// Begins the shutdown and returns when no thread is attaching. The caller must not hold the GIL.
    pub(super) fn begin(&self) {
        // A second call keeps the thread of the first. Both are the main thread, in which the interpreter ends.
        self.exiting_thread.get_or_init(|| thread::current().id());
        self.has_begun.store(true, Ordering::SeqCst);
        while self.attaching.load(Ordering::SeqCst) > 0 {
            thread::sleep(POLL_INTERVAL);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn shutdown_waits_for_attaching_threads_and_refuses_later_ones() {
        let shutdown = Arc::new(Shutdown::default());
        assert!(shutdown.begin_attach());
        let exiting = thread::spawn({
            let shutdown = Arc::clone(&shutdown);
            move || {
                shutdown.begin();
                shutdown.begin_attach()
            }
        });
        while !shutdown.has_begun.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        assert!(!exiting.is_finished());
        assert!(!shutdown.begin_attach(), "it is too late for another thread");
        shutdown.end_attach();
        assert!(exiting.join().unwrap(), "the thread that ends the interpreter may still call");
    }

    #[test]
    fn shutdown_with_any_number_of_threads_leaves_none_attaching() {
        for threads in 1..9 {
            for rounds in 0..40 {
                let shutdown = Shutdown::default();
                let inside = AtomicUsize::new(0);
                thread::scope(|scope| {
                    for _ in 0..threads {
                        scope.spawn(|| {
                            while shutdown.begin_attach() {
                                inside.fetch_add(1, Ordering::SeqCst);
                                thread::yield_now();
                                inside.fetch_sub(1, Ordering::SeqCst);
                                shutdown.end_attach();
                            }
                        });
                    }
                    for _ in 0..rounds {
                        thread::yield_now();
                    }
                    shutdown.begin();
                    assert_eq!(inside.load(Ordering::SeqCst), 0, "{threads} threads");
                });
            }
        }
    }
}
