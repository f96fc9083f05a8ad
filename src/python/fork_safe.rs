//! Values that belong to one process: what a fork copies is left alone, and the child makes its own.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tokio::sync::Mutex;

use super::reentrancy;
use crate::error::Result;

/// A value that each process makes for itself on first use.
///
/// There is no lock, because another thread could hold it at the moment of a fork and the child would wait for ever.
pub(super) struct PerProcess<T> {
    entry: AtomicPtr<Entry<T>>,
}

struct Entry<T> {
    process: u32,
    value: T,
}

impl<T: Send + Sync> PerProcess<T> {
    /// Nothing made yet.
    pub(super) const fn new() -> Self {
        Self { entry: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// The value of this process; `make` gives it on first use, and again in the child of a fork.
    pub(super) fn get(&self, make: impl FnOnce() -> Result<T>) -> Result<&T> {
        let process = std::process::id();
        let found = self.entry.load(Ordering::Acquire);
        // SAFETY: the pointer is null or came from `Box::into_raw` below, and what it points to lives as long as
        // `self`: only `drop` frees it, and a value that a fork copied is never freed.
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
                // SAFETY: nobody else has seen `fresh`.
                drop(unsafe { Box::from_raw(fresh) });
                other
            }
        };
        // SAFETY: as above; the exchange left a pointer that this process made.
        Ok(unsafe { &(*winner).value })
    }
}

/// A fork copies the state of the random numbers too; parent and child would draw the same ones from then on.
fn reseed(process: u32) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    fastrand::seed((u64::from(process) << 32) | u64::from(now));
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        let entry = *self.entry.get_mut();
        // SAFETY: the pointer is null or came from `Box::into_raw`, and `self` is going away.
        if unsafe { entry.as_ref() }.is_some_and(|entry| entry.process == std::process::id()) {
            // SAFETY: as above, and no reference outlives `self`.
            drop(unsafe { Box::from_raw(entry) });
        }
    }
}

/// Refuses a handle that a fork copied, or that a call has which this one interrupts.
pub(super) fn check_usable<T>(process: u32, handle: &Mutex<T>, what: &str) -> PyResult<()> {
    check_process(process, what)?;
    reentrancy::refuse_reentrant(handle, what)
}

/// Refuses a handle that a fork copied, because its connection and its locks stayed with the parent.
fn check_process(process: u32, what: &str) -> PyResult<()> {
    if process == std::process::id() {
        return Ok(());
    }
    Err(PyRuntimeError::new_err(format!(
        "{what} was opened before a fork: ask the client for it again in this process"
    )))
}
