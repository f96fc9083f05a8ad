//! What the user should be told although the call went on.

use std::sync::{Mutex, PoisonError};

/// Warnings that nobody has taken yet.
#[derive(Debug, Default)]
pub struct Warnings {
    texts: Mutex<Vec<String>>,
}

impl Warnings {
    /// Adds a warning.
    pub fn add(&self, text: String) {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    /// Takes all warnings.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.texts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
