//! Clock and sleep as arguments, so that tests do not wait.

use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};

/// The future of a sleep.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A source of time, and of sleeps.
pub trait Clock: Send + Sync + 'static {
    /// The current time.
    fn now(&self) -> DateTime<Utc>;

    /// The time since a fixed moment, for deadlines. If possible, changes of the system time do not affect it.
    fn elapsed(&self) -> Duration {
        Duration::from_micros(u64::try_from(self.now().timestamp_micros()).unwrap_or(0))
    }

    /// A future that completes after `duration`.
    fn sleep(&self, duration: Duration) -> Sleep;
}

/// The system clock, with the timers of tokio.
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
