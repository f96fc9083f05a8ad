//! Steps of work that several threads make and one puts in order, with few steps in memory at a time.
//!
//! Each thread makes every n-th step and sends it through a channel of its own. It waits only where that channel is full,
//! and the caller only for the thread whose step is next, so neither can wait for the other.

use std::sync::mpsc::{channel, sync_channel};
use std::thread;

use crate::error::{Error, Kind, Result};

/// Finished steps of one thread that may wait for their turn.
const AHEAD: usize = 1;

/// Takes each step that was made, in order.
pub(crate) type Put<'a, T> = &'a mut dyn FnMut(&mut T) -> Result<()>;

/// The threads that writers use: two if the machine has them, as reading does.
pub(crate) fn threads() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get().min(2))
}

/// Makes `steps` on several threads and puts them in order on this one. What is put and the error are those of a single
/// thread. `make` receives an earlier step to reuse its memory.
pub(crate) fn in_order<T: Default + Send>(
    threads: usize,
    steps: usize,
    make: impl Fn(usize, &mut T) -> Result<()> + Sync,
    put: Put<'_, T>,
) -> Result<()> {
    if threads < 2 || steps < 2 {
        let mut reused = T::default();
        for step in 0..steps {
            make(step, &mut reused)?;
            put(&mut reused)?;
        }
        return Ok(());
    }
    let threads = threads.min(steps);
    let make = &make;
    thread::scope(|scope| {
        let start = |first: usize| {
            let (send, steps_of_thread) = sync_channel(AHEAD);
            let (recycle, recycled) = channel::<T>();
            scope.spawn(move || {
                for step in (first..steps).step_by(threads) {
                    let mut reused = recycled.try_recv().unwrap_or_default();
                    let outcome = make(step, &mut reused).map(|()| reused);
                    let has_failed = outcome.is_err();
                    // The caller has ended if it no longer receives.
                    if send.send(outcome).is_err() || has_failed {
                        return;
                    }
                }
            });
            (steps_of_thread, recycle)
        };
        let channels: Vec<_> = (0..threads).map(start).collect();
        for (steps_of_thread, recycle) in channels.iter().cycle().take(steps) {
            // The channel closes early only if the thread panics, which leaving the scope reports.
            let outcome = steps_of_thread.recv();
            let mut step = outcome.map_err(|_| Error::new(Kind::File, "a thread that wrote the file was lost"))??;
            put(&mut step)?;
            // Fails after the last step of the thread, which reuses nothing more.
            let _ = recycle.send(step);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Steps of very different lengths; returns the most steps that were begun and not yet put.
    fn run(threads: usize, steps: usize, fails: Option<usize>) -> (Result<()>, Vec<u8>, usize) {
        let (begun, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut all = Vec::new();
        let make = |step: usize, bytes: &mut Vec<u8>| {
            most.fetch_max(begun.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            if fails.is_some_and(|fails| step >= fails) {
                return Err(Error::new(Kind::Archive, format!("step {step}")));
            }
            bytes.clear();
            (0..step % 7 * 1_000).for_each(|_| bytes.push(b'.'));
            bytes.extend_from_slice(format!("{step}\n").as_bytes());
            Ok(())
        };
        let ended = in_order(threads, steps, make, &mut |bytes: &mut Vec<u8>| {
            begun.fetch_sub(1, Ordering::SeqCst);
            all.extend_from_slice(bytes);
            Ok(())
        });
        (ended, all, most.into_inner())
    }

    #[test]
    fn several_threads_put_what_one_does_and_hold_few_steps() {
        let (_, expected, _) = run(1, 100, None);
        for threads in [2, 3, 8] {
            let (ended, all, most) = run(threads, 100, None);
            assert!(ended.is_ok() && all == expected, "{threads} threads");
            // Each thread makes one step and has one in its channel; the caller puts one.
            assert!(most <= threads * (AHEAD + 1) + 1, "{most} steps at a time");
        }
        assert!(run(2, 0, None).0.is_ok());
    }

    #[test]
    fn every_number_of_threads_and_steps_ends_wherever_it_fails() {
        for threads in 1..=5 {
            for steps in 0..=12 {
                for fails in (0..=steps).map(|step| (step < steps).then_some(step)) {
                    let (ended, all, _) = run(threads, steps, fails);
                    assert_eq!(ended.is_err(), fails.is_some(), "{threads} threads, {steps} steps");
                    let put = all.split(|byte| *byte == b'\n').count() - 1;
                    assert_eq!(put, fails.unwrap_or(steps), "{threads} threads, {steps} steps");
                    let refuse = |at: usize| {
                        let mut put = 0;
                        in_order(threads, steps, |_, (): &mut ()| Ok(()), &mut |()| {
                            put += 1;
                            if put > at { Err(Error::new(Kind::File, "full")) } else { Ok(()) }
                        })
                    };
                    assert_eq!(refuse(fails.unwrap_or(steps)).is_err(), fails.is_some());
                }
            }
        }
    }

    #[test]
    fn a_thread_that_panics_ends_the_work() {
        let make = |step: usize, (): &mut ()| {
            assert_ne!(step, 3, "planted");
            Ok(())
        };
        let work = || in_order(2, 100, make, &mut |()| Ok(()));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err());
    }

    #[test]
    fn the_error_is_that_of_the_first_step_that_fails() {
        for threads in [1, 2, 5] {
            let (ended, all, _) = run(threads, 50, Some(13));
            assert_eq!(ended.unwrap_err().message(), "step 13");
            assert!(all.ends_with(b"12\n"), "{threads} threads put what came before");
        }
        let refused = in_order(2, 9, |_, (): &mut ()| Ok(()), &mut |()| Err(Error::new(Kind::File, "full")));
        assert_eq!(refused.unwrap_err().message(), "full");
    }
}
