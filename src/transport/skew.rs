//! The difference between this machine's clock and the service's, learnt from `Date`.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use http::HeaderMap;
use http::header::DATE;

use super::Notices;

/// A 401 whose `Date` is further than this from our time is taken to be about our time.
const SUSPICIOUS: i64 = 60;

/// Differences below this explain nothing: `Date` has whole seconds and a reply takes time.
const NOISE: i64 = 5;

/// A service whose time jumps about is told of so often.
const MOST_TOLD: usize = 8;

/// What a client has learnt about its clock.
#[derive(Debug, Default)]
pub struct Skew {
    learnt: Mutex<Learnt>,
    /// The last `Date` of the service, and when it arrived by the clock for deadlines.
    heard: Mutex<Option<(DateTime<Utc>, Duration)>>,
}

#[derive(Debug, Default)]
struct Learnt {
    seconds: i64,
    /// The corrections that the user was told of, each once.
    told: Vec<i64>,
}

/// What a 401 says about the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lesson {
    /// The clock was off by so many seconds; requests signed from now on are right.
    Corrected(i64),
    /// The clock may be off, but there is no `Date` to tell.
    NoDate,
    /// The clock is right.
    NotTheClock,
}

impl Skew {
    /// The service's clock minus ours, in seconds.
    #[must_use]
    pub fn seconds(&self) -> i64 {
        self.learnt.lock().unwrap_or_else(PoisonError::into_inner).seconds
    }

    /// Notes the `Date` of a reply that arrived at `elapsed`.
    pub(super) fn hear(&self, headers: &HeaderMap, elapsed: Duration) {
        if let Some(date) = date(headers) {
            *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = Some((date, elapsed));
        }
    }

    /// The earliest time that the service's own clock can have shown at `moment`, by a `Date` that came after it;
    /// `None` where none came since.
    #[must_use]
    pub fn service_time_at(&self, moment: Duration) -> Option<DateTime<Utc>> {
        let (date, arrived) = (*self.heard.lock().unwrap_or_else(PoisonError::into_inner))?;
        let passed = chrono::Duration::from_std(arrived.checked_sub(moment)?).ok()?;
        date.checked_sub_signed(passed)
    }

    /// Learns from a 401 to a request that was signed with `used` seconds of correction. Of many calls that fail
    /// together, one warns.
    pub(super) fn learn(
        &self,
        headers: &HeaderMap,
        now: DateTime<Utc>,
        used: i64,
        about_time: bool,
        notices: &Notices,
    ) -> Lesson {
        let Some(measured) = measure(headers, now) else {
            return if about_time { Lesson::NoDate } else { Lesson::NotTheClock };
        };
        let error = measured.saturating_sub(used).saturating_abs();
        if error < if about_time { NOISE } else { SUSPICIOUS } {
            return Lesson::NotTheClock;
        }
        let mut learnt = self.learnt.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = |known: &i64| measured.saturating_sub(*known).saturating_abs() >= NOISE;
        if is_new(&learnt.seconds) {
            learnt.seconds = measured;
            if learnt.told.len() < MOST_TOLD && learnt.told.iter().all(is_new) {
                learnt.told.push(measured);
                notices.add(warning(measured));
            }
        }
        Lesson::Corrected(measured)
    }
}

/// The service's clock minus ours in whole seconds; `None` without a `Date`.
pub(super) fn measure(headers: &HeaderMap, now: DateTime<Utc>) -> Option<i64> {
    // `Date` has whole seconds, cut: on average it is half a second behind.
    let difference = date(headers)?.signed_duration_since(now).num_milliseconds().saturating_add(500);
    Some(difference.saturating_add(500).div_euclid(1_000))
}

fn date(headers: &HeaderMap) -> Option<DateTime<Utc>> {
    let text = headers.get(DATE)?.to_str().ok()?;
    DateTime::parse_from_rfc2822(text).ok().map(|date| date.to_utc())
}

fn warning(skew: i64) -> String {
    if skew.saturating_abs() < NOISE {
        return "this machine's clock agrees with the service again; the correction for this client ended".to_owned();
    }
    let side = if skew > 0 { "behind" } else { "ahead of" };
    format!(
        "this machine's clock is {} s {side} the service; corrected for this client. Set the clock to be rid of this",
        skew.saturating_abs()
    )
}
