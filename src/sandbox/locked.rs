//! Locks a mutex, also after a panic elsewhere.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a mutex guards, also after a panic elsewhere: every change under these locks is complete in itself.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
