//! Detects calls from a signal handler whose thread waits for another call.

use std::cell::Cell;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tokio::sync::Mutex;

thread_local! {
    /// Nested waits of this thread; more than one if a signal handler makes a call.
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

/// Refuses a lock that the interrupted call of this thread may hold: waiting for it would deadlock.
pub(super) fn refuse_reentrant<T>(lock: &Mutex<T>, what: &str) -> PyResult<()> {
    if WAITS.get() == 0 || lock.try_lock().is_ok() {
        return Ok(());
    }
    Err(PyRuntimeError::new_err(format!(
        "{what} is in use by another call, which this call may have interrupted: use it after that call"
    )))
}
