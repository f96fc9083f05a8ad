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
const LOOK: Duration = Duration::from_millis(1);

/// How long a thread stays that may hold the GIL, for which the end would wait as long.
const WHILE: Duration = Duration::from_secs(1);

/// Counts who is on the way to the GIL. It belongs to one process, since a fork leaves the other threads behind.
#[derive(Default)]
pub(super) struct Ending {
    begun: AtomicBool,
    on_the_way: AtomicUsize,
    /// The thread that ends the interpreter: it has the GIL and may go on using headland.
    ender: OnceLock<ThreadId>,
}

impl Ending {
    /// Says that this thread is on its way to the GIL; false where it is too late for that.
    pub(super) fn approach(&self) -> bool {
        self.on_the_way.fetch_add(1, Ordering::SeqCst);
        if self.begun.load(Ordering::SeqCst) && self.ender.get() != Some(&thread::current().id()) {
            self.arrive();
            return false;
        }
        true
    }

    /// Like [`Ending::approach`], for a thread that has nothing else to do but wait for the end.
    pub(super) fn approach_or_stay(&self) {
        while !self.approach() {
            thread::park();
        }
    }

    /// Lets the interpreter end before this thread goes on, where it is not the one that ends it.
    pub(super) fn stay_a_while(&self) {
        if self.approach() {
            self.arrive();
        } else {
            thread::sleep(WHILE);
        }
    }

    /// Says that this thread has had the GIL.
    pub(super) fn arrive(&self) {
        self.on_the_way.fetch_sub(1, Ordering::SeqCst);
    }

    /// Begins the end; comes back when nobody is on the way. The caller must not hold the GIL.
    pub(super) fn begin(&self) {
        // A second call finds the thread of the first, which is the same one: the interpreter ends in its main thread.
        self.ender.get_or_init(|| thread::current().id());
        self.begun.store(true, Ordering::SeqCst);
        while self.on_the_way.load(Ordering::SeqCst) > 0 {
            thread::sleep(LOOK);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn the_end_waits_for_those_on_the_way_and_stops_those_who_come_later() {
        let ending = Arc::new(Ending::default());
        assert!(ending.approach());
        let ender = thread::spawn({
            let ending = Arc::clone(&ending);
            move || {
                ending.begin();
                ending.approach()
            }
        });
        while !ending.begun.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        assert!(!ender.is_finished());
        assert!(!ending.approach(), "it is too late for another thread");
        ending.arrive();
        assert!(ender.join().unwrap(), "the thread that ends the interpreter may still call");
    }

    #[test]
    fn the_end_comes_for_any_number_of_threads_and_finds_none_on_the_way() {
        for threads in 1..9 {
            for rounds in 0..40 {
                let ending = Ending::default();
                let inside = AtomicUsize::new(0);
                thread::scope(|scope| {
                    for _ in 0..threads {
                        scope.spawn(|| {
                            while ending.approach() {
                                inside.fetch_add(1, Ordering::SeqCst);
                                thread::yield_now();
                                inside.fetch_sub(1, Ordering::SeqCst);
                                ending.arrive();
                            }
                        });
                    }
                    for _ in 0..rounds {
                        thread::yield_now();
                    }
                    ending.begin();
                    assert_eq!(inside.load(Ordering::SeqCst), 0, "{threads} threads");
                });
            }
        }
    }
}
