//! Values that belong to one process: the child of a fork ignores the copy and makes its own.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tokio::sync::Mutex;

use super::reentrancy;
use headland_base::error::Result;

/// A value that each process makes on first use.
///
/// It has no lock: another thread could hold it at the moment of a fork, and the child would deadlock.
pub(super) struct PerProcess<T> {
    entry: AtomicPtr<Entry<T>>,
}

struct Entry<T> {
    process: u32,
    value: T,
}

impl<T: Send + Sync> PerProcess<T> {
    /// Returns an empty cell.
    pub(super) const fn new() -> Self {
        Self { entry: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Returns the value of this process. Calls `make` on first use, and again in the child of a fork.
    pub(super) fn get(&self, make: impl FnOnce() -> Result<T>) -> Result<&T> {
        let process = std::process::id();
        let found = self.entry.load(Ordering::Acquire);
        // SAFETY: the pointer is null or came from `Box::into_raw` below. Its target lives as long as `self`: only
        // `drop` frees it, and never a value copied by a fork.
        if let Some(entry) = unsafe { found.as_ref() }.filter(|entry| entry.process == process) {
            return Ok(&entry.value);
        }
        if !found.is_null() {
            reseed(process);
        }
        let fresh = Box::into_raw(Box::new(Entry { process, value: make()? }));
        let winner = match self.entry.compare_exchange(found, fresh, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => fresh,
            Err(other) => {
                // SAFETY: no other thread has seen `fresh`.
                drop(unsafe { Box::from_raw(fresh) });
                other
            }
        };
        // SAFETY: as above; the exchange left a pointer of this process.
        Ok(unsafe { &(*winner).value })
    }
}

/// Reseeds the random number generator, whose state a fork copies: parent and child would draw the same numbers.
fn reseed(process: u32) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    fastrand::seed((u64::from(process) << 32) | u64::from(now));
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        let entry = *self.entry.get_mut();
        // SAFETY: the pointer is null or came from `Box::into_raw`, and `self` is being dropped.
        if unsafe { entry.as_ref() }.is_some_and(|entry| entry.process == std::process::id()) {
            // SAFETY: as above, and no reference outlives `self`.
            drop(unsafe { Box::from_raw(entry) });
        }
    }
}

/// Refuses a handle copied by a fork, or in use by a call that this one interrupts.
pub(super) fn check_usable<T>(process: u32, handle: &Mutex<T>, what: &str) -> PyResult<()> {
    check_process(process, what)?;
    reentrancy::refuse_reentrant(handle, what)
}

/// Refuses a handle copied by a fork, because its connection and its locks belong to the parent.
fn check_process(process: u32, what: &str) -> PyResult<()> {
    if process == std::process::id() {
        return Ok(());
    }
    Err(PyRuntimeError::new_err(format!(
        "{what} was opened before a fork: request it from the client again in this process"
    )))
}
