//! A word from outside that work is no longer wanted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Kind, Result};

/// A flag that ends work which computes, seen at its next step; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
}

impl Cancel {
    /// Ends the work.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// An error once the work is ended.
    pub(crate) fn check(&self) -> Result<()> {
        if self.flag.load(Ordering::Relaxed) {
            return Err(Error::new(Kind::File, "the work was cancelled; nothing was written or replaced"));
        }
        Ok(())
    }
}
