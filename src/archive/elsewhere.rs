//! Where a new thread begins: on another processor than the thread that makes it.
//!
//! Linux may queue a new thread behind its maker and move it some milliseconds later, which is a tenth of the time that
//! an archive of 100,000 rows takes.

use std::thread;

/// Where the maker of a thread runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Here {
    #[cfg(target_os = "linux")]
    processor: usize,
}

impl Here {
    /// Where this thread runs now.
    pub(super) fn now() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            processor: rustix::thread::sched_getcpu(),
        }
    }

    /// The first thing that the new thread does: it moves to another processor, where it may use one. From then on the
    /// system places it as any other.
    #[cfg(target_os = "linux")]
    pub(super) fn leave(self) {
        use rustix::thread::{sched_getaffinity, sched_setaffinity};

        // Whatever the system refuses, the thread is as right where it is.
        let Ok(allowed) = sched_getaffinity(None) else { return };
        if let Some(others) = without(allowed, self.processor)
            && sched_setaffinity(None, &others).is_ok()
        {
            let _ = sched_setaffinity(None, &allowed);
        }
    }

    /// Other systems place threads by themselves.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn leave(self) {
        let Self {} = self;
    }
}

/// What the maker of a thread does next: it lets that one go first, where it is queued behind its maker.
pub(super) fn give_way() {
    thread::yield_now();
}

/// The processors that are allowed, but for one; `None` where there is no other.
#[cfg(target_os = "linux")]
fn without(mut allowed: rustix::thread::CpuSet, processor: usize) -> Option<rustix::thread::CpuSet> {
    if processor < rustix::thread::CpuSet::MAX_CPU {
        allowed.unset(processor);
    }
    (allowed.count() > 0).then_some(allowed)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    use super::*;

    fn set(processors: &[usize]) -> CpuSet {
        let mut set = CpuSet::new();
        for processor in processors {
            set.set(*processor);
        }
        set
    }

    #[test]
    fn another_processor_is_one_that_is_allowed() {
        assert_eq!(without(set(&[0, 1, 5]), 1), Some(set(&[0, 5])));
        assert_eq!(without(set(&[2, 3]), 0), Some(set(&[2, 3])));
        assert_eq!(without(set(&[4]), 4), None);
        assert_eq!(without(set(&[4]), usize::MAX), Some(set(&[4])));
    }

    #[test]
    fn a_thread_may_go_wherever_it_might_before() {
        let before = sched_getaffinity(None).unwrap();
        let here = Here::now();
        let new = thread::spawn(move || {
            here.leave();
            sched_getaffinity(None).unwrap()
        });
        give_way();
        assert_eq!(new.join().unwrap(), before);
    }

    #[test]
    fn a_thread_that_is_held_to_one_processor_stays_there() {
        let kept = thread::spawn(|| {
            let here = Here::now();
            let only = set(&[here.processor]);
            sched_setaffinity(None, &only).unwrap();
            let here = Here::now();
            here.leave();
            (sched_getaffinity(None).unwrap() == only, Here::now().processor == here.processor)
        });
        assert_eq!(kept.join().unwrap(), (true, true));
    }
}
