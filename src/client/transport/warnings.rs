//! Warnings for the user from calls that continued.

use std::sync::{Mutex, PoisonError};

/// Warnings that are not yet delivered.
#[derive(Debug, Default)]
pub struct Warnings {
    texts: Mutex<Vec<String>>,
}

impl Warnings {
    /// Adds a warning.
    pub fn add(&self, text: String) {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    /// Returns and removes all warnings.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.texts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
