//! Runs steps concurrently on a few threads and passes their results on in order, with bounded memory.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use headland_base::error::{Error, Kind, Result};

/// The finished steps that may wait for earlier ones, in addition to those in progress.
const MAX_WAITING: usize = 2;

/// Consumer of the results, in order.
pub(crate) type Sink<'a, T> = &'a mut (dyn FnMut(&mut T) -> Result<()> + Send);

/// The threads of writers and scans: at most two, as for reading.
#[must_use]
pub fn threads() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get().min(2))
}

/// Runs `steps` on `threads` threads, the calling one included, and passes each result to `sink` in order.
///
/// Results and error are those of a single thread. `make` receives a used buffer, since new memory costs more than
/// filling it.
pub fn run_ordered<T: Default + Send>(
    threads: usize,
    steps: usize,
    make: impl Fn(usize, &mut T) -> Result<()> + Sync,
    sink: Sink<'_, T>,
) -> Result<()> {
    if threads < 2 || steps < 2 {
        let mut buffer = T::default();
        for step in 0..steps {
            make(step, &mut buffer)?;
            sink(&mut buffer)?;
        }
        return Ok(());
    }
    let threads = threads.min(steps);
    let pipeline = Pipeline {
        state: Mutex::new(State {
            next_start: 0,
            finished: BTreeMap::new(),
            next_out: 0,
            is_sending: false,
            spare_buffers: Vec::new(),
            end: None,
        }),
        changed: Condvar::new(),
        sink: Mutex::new(sink),
        steps,
        max_ahead: threads + MAX_WAITING,
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| pipeline.run_worker(&make));
        }
        pipeline.run_worker(&make);
    });
    pipeline.state.into_inner().unwrap_or_else(PoisonError::into_inner).end.unwrap_or(Ok(()))
}

/// Shared state of the threads.
struct Pipeline<'a, T> {
    state: Mutex<State<T>>,
    /// Notified after each change of the state.
    changed: Condvar,
    sink: Mutex<Sink<'a, T>>,
    steps: usize,
    /// How far a step may be ahead of the next output.
    max_ahead: usize,
}

struct State<T> {
    /// The next step to start.
    next_start: usize,
    /// Finished steps that wait for earlier ones.
    finished: BTreeMap<usize, Result<T>>,
    /// The next step to pass on.
    next_out: usize,
    is_sending: bool,
    /// Buffers to reuse.
    spare_buffers: Vec<T>,
    /// The final result.
    end: Option<Result<()>>,
}

impl<T: Default + Send> Pipeline<'_, T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes on the next result, else makes the next step, until the end or the first error.
    fn run_worker(&self, make: &(impl Fn(usize, &mut T) -> Result<()> + Sync)) {
        let _guard = PanicGuard(self);
        let mut state = self.state();
        while state.end.is_none() {
            let next_out = state.next_out;
            let ready = if state.is_sending { None } else { state.finished.remove(&next_out) };
            if let Some(ready) = ready {
                state.is_sending = true;
                drop(state);
                let outcome = ready.and_then(|mut buffer| {
                    let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
                    (*sink)(&mut buffer).map(|()| buffer)
                });
                state = self.state();
                state.is_sending = false;
                state.next_out = next_out.saturating_add(1);
                match outcome {
                    Ok(buffer) => state.spare_buffers.push(buffer),
                    Err(error) => state.end = Some(Err(error)),
                }
                if state.next_out >= self.steps && state.end.is_none() {
                    state.end = Some(Ok(()));
                }
                self.changed.notify_all();
            } else if state.next_start < self.steps && state.next_start < next_out.saturating_add(self.max_ahead) {
                let step = state.next_start;
                state.next_start = step.saturating_add(1);
                let mut buffer = state.spare_buffers.pop().unwrap_or_default();
                drop(state);
                let outcome = make(step, &mut buffer).map(|()| buffer);
                state = self.state();
                state.finished.insert(step, outcome);
                self.changed.notify_all();
            } else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

/// Ends the other threads after a panic, so that they do not wait for its step.
struct PanicGuard<'a, 'b, T: Default + Send>(&'a Pipeline<'b, T>);

impl<T: Default + Send> Drop for PanicGuard<'_, '_, T> {
    fn drop(&mut self) {
        if thread::panicking() {
            let lost = Error::new(Kind::File, "a thread that wrote the file ended unexpectedly");
            self.0.state().end.get_or_insert(Err(lost));
            self.0.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Runs steps of different lengths. Also returns the most steps that were started and not passed on.
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
        let ended = run_ordered(threads, steps, make, &mut |bytes: &mut Vec<u8>| {
            begun.fetch_sub(1, Ordering::SeqCst);
            all.extend_from_slice(bytes);
            Ok(())
        });
        (ended, all, most.into_inner())
    }

    #[test]
    fn several_threads_match_one_and_keep_few_steps() {
        let (_, expected, _) = run(1, 100, None);
        for threads in [2, 3, 8] {
            let (ended, all, most) = run(threads, 100, None);
            assert!(ended.is_ok() && all == expected, "{threads} threads");
            assert!(most <= threads + MAX_WAITING + 1, "{most} steps at a time");
        }
        assert!(run(2, 0, None).0.is_ok());
    }

    #[test]
    fn failure_at_any_step_ends_all_threads() {
        for threads in 1..=5 {
            for steps in 0..=12 {
                for fails in (0..=steps).map(|step| (step < steps).then_some(step)) {
                    let (ended, all, _) = run(threads, steps, fails);
                    assert_eq!(ended.is_err(), fails.is_some(), "{threads} threads, {steps} steps");
                    let put = all.split(|byte| *byte == b'\n').count() - 1;
                    assert_eq!(put, fails.unwrap_or(steps), "{threads} threads, {steps} steps");
                    let refuse = |limit: usize| {
                        let mut put = 0;
                        run_ordered(threads, steps, |_, (): &mut ()| Ok(()), &mut |()| {
                            put += 1;
                            if put > limit { Err(Error::new(Kind::File, "full")) } else { Ok(()) }
                        })
                    };
                    assert_eq!(refuse(fails.unwrap_or(steps)).is_err(), fails.is_some());
                }
            }
        }
    }

    #[test]
    fn panic_ends_all_threads() {
        let make = |step: usize, (): &mut ()| {
            assert_ne!(step, 3, "planted");
            Ok(())
        };
        let work = || run_ordered(2, 100, make, &mut |()| Ok(()));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err());
    }

    #[test]
    fn error_is_that_of_the_first_failed_step() {
        for threads in [1, 2, 5] {
            let (ended, all, _) = run(threads, 50, Some(13));
            assert_eq!(ended.unwrap_err().message(), "step 13");
            assert!(all.ends_with(b"12\n"), "{threads} threads put what came before");
        }
        let refused = run_ordered(2, 9, |_, (): &mut ()| Ok(()), &mut |()| Err(Error::new(Kind::File, "full")));
        assert_eq!(refused.unwrap_err().message(), "full");
    }
}
