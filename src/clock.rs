//! Time as an argument, so that waits of minutes take no time in a test.

use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};

/// A wait that a clock grants.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Where the time comes from and who waits for it to pass.
pub trait Clock: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> DateTime<Utc>;

    /// The time since some fixed moment, for deadlines: where the clock can do it, setting the machine's time does
    /// not move it.
    fn elapsed(&self) -> Duration {
        Duration::from_micros(u64::try_from(self.now().timestamp_micros()).unwrap_or(0))
    }

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

    fn elapsed(&self) -> Duration {
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}
