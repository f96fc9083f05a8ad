//! Calls that a handler of a signal makes while its thread waits for another call.

use std::cell::Cell;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tokio::sync::Mutex;

thread_local! {
    /// How many waits of this thread have begun: more than one where the handler of a signal calls, too.
    static WAITS: Cell<u32> = const { Cell::new(0) };
}

/// A wait of this thread, until it is dropped.
pub(super) struct WaitGuard;

impl WaitGuard {
    pub(super) fn enter() -> Self {
        WAITS.set(WAITS.get().saturating_add(1));
        Self
    }
}

impl Drop for WaitGuard {
    fn drop(&mut self) {
        WAITS.set(WAITS.get().saturating_sub(1));
    }
}

/// Refuses what is in use where this call interrupts another of its thread: that one may have it, and would have to end
/// first, as this one would.
pub(super) fn refuse_reentrant<T>(lock: &Mutex<T>, what: &str) -> PyResult<()> {
    if WAITS.get() == 0 || lock.try_lock().is_ok() {
        return Ok(());
    }
    Err(PyRuntimeError::new_err(format!(
        "{what} is in use by a call, which may be the one that this call interrupts: use it after that call"
    )))
}
