//! Time as an argument, so that waits of minutes take no time in a test.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use chrono::{DateTime, Utc};

/// A wait that a clock grants.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Where the time comes from and who waits for it to pass.
pub trait Clock: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> DateTime<Utc>;

    /// A future that ends when `duration` has passed.
    fn sleep(&self, duration: Duration) -> Sleep;
}

/// The machine's own clock, with tokio's timers.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}
