//! The end of the interpreter: no thread may come for the GIL any more once it has begun.
//!
//! `CPython` ends a thread that asks for the GIL too late by unwinding it, and no frame of Rust may be unwound so. Who
//! wants the GIL therefore says so first, and the end waits for those who did; whoever comes later waits for ever,
//! which at that point is a matter of milliseconds.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// How often the end looks whether those who wanted the GIL have had it.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// How long a thread stays that may hold the GIL, for which the end would wait as long.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Counts who is on the way to the GIL. It belongs to one process, since a fork leaves the other threads behind.
#[derive(Default)]
pub(super) struct Shutdown {
    has_begun: AtomicBool,
    attaching: AtomicUsize,
    /// The thread that ends the interpreter: it has the GIL and may go on using headland.
    exiting_thread: OnceLock<ThreadId>,
}

impl Shutdown {
    /// Says that this thread is on its way to the GIL; false where it is too late for that.
    pub(super) fn begin_attach(&self) -> bool {
        self.attaching.fetch_add(1, Ordering::SeqCst);
        if self.has_begun.load(Ordering::SeqCst) && self.exiting_thread.get() != Some(&thread::current().id()) {
            self.end_attach();
            return false;
        }
        true
    }

    /// Like [`Shutdown::begin_attach`], for a thread that has nothing else to do but wait for the end.
    pub(super) fn begin_attach_or_park(&self) {
        while !self.begin_attach() {
            thread::park();
        }
    }

    /// Lets the interpreter end before this thread goes on, where it is not the one that ends it.
    pub(super) fn wait_for_exit(&self) {
        if self.begin_attach() {
            self.end_attach();
        } else {
            thread::sleep(EXIT_TIMEOUT);
        }
    }

    /// Says that this thread has had the GIL.
    pub(super) fn end_attach(&self) {
        self.attaching.fetch_sub(1, Ordering::SeqCst);
    }

    /// Begins the end; comes back when nobody is on the way. The caller must not hold the GIL.
    pub(super) fn begin(&self) {
        // A second call finds the thread of the first, which is the same one: the interpreter ends in its main thread.
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
