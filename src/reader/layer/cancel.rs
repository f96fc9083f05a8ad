//! Cooperative cancellation flag.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use headland_base::error::{Error, Kind, Result};

/// A flag that ends a computation at its next step. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
}

impl Cancel {
    /// Ends the computation.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Returns an error after cancellation.
    pub fn check(&self) -> Result<()> {
        if self.flag.load(Ordering::Relaxed) {
            return Err(Error::new(Kind::File, "the work was cancelled; nothing was written or replaced"));
        }
        Ok(())
    }
}
