//! Clock difference between this machine and the service, measured from `Date`.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use http::HeaderMap;
use http::header::DATE;

use super::Warnings;
use crate::limiter::parse_http_date;
use headland_base::clock::Clock;

/// Seconds. A 401 whose `Date` differs more from the local time counts as one about the time.
const SUSPECT_SKEW: i64 = 60;

/// Seconds. Smaller differences explain no failure: `Date` has whole seconds, and a reply takes time.
const NOISE: i64 = 5;

/// Largest number of warnings about a service whose time changes repeatedly.
const MAX_WARNINGS: usize = 8;

/// The clock correction of a client.
///
/// A correction is the service's time at a moment of the clock for deadlines, not a difference to the machine's clock.
/// So it stays correct for all calls if the machine's clock is set, even repeatedly and with calls in flight.
#[derive(Debug, Default)]
pub struct Skew {
    state: Mutex<SkewState>,
    /// The last `Date` of the service, and when it was received by the clock for deadlines.
    last_date: Mutex<Option<(DateTime<Utc>, Duration)>>,
}

#[derive(Debug, Default)]
struct SkewState {
    /// The service's time, and when it was received by the clock for deadlines.
    reference: Option<(DateTime<Utc>, Duration)>,
    /// The last measured difference to the machine's clock.
    seconds: i64,
    /// Differences that the user was already warned about.
    warned: Vec<i64>,
}

/// When a request was signed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    /// The time in the signature.
    pub(super) time: DateTime<Utc>,
    /// The moment by the clock for deadlines.
    pub(super) elapsed: Duration,
}

/// When a reply was received.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// By the machine's clock.
    pub(super) now: DateTime<Utc>,
    /// By the clock for deadlines.
    pub(super) elapsed: Duration,
}

impl Arrival {
    pub(super) fn new(clock: &dyn Clock) -> Self {
        Self { now: clock.now(), elapsed: clock.elapsed() }
    }
}

/// What a 401 says about the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Correction {
    /// The request had the wrong time; requests signed from now on have the corrected one. The value is the difference
    /// to the machine's clock in seconds.
    Corrected(i64),
    /// The clock may be wrong, but the reply has no `Date` to measure it.
    NoDate,
    /// The clock is correct.
    NotTheClock,
}

impl Skew {
    /// The service's time, as far as it is known.
    #[must_use]
    pub fn time(&self, clock: &dyn Clock) -> DateTime<Utc> {
        let reference = self.state.lock().unwrap_or_else(PoisonError::into_inner).reference;
        let corrected = reference.and_then(|(time, elapsed)| {
            let passed = chrono::Duration::from_std(clock.elapsed().checked_sub(elapsed)?).ok()?;
            time.checked_add_signed(passed)
        });
        corrected.unwrap_or_else(|| clock.now())
    }

    /// The service's clock minus the local clock in seconds, if requests are corrected by it.
    #[must_use]
    pub fn seconds(&self, clock: &dyn Clock) -> Option<i64> {
        let difference = round_to_seconds(self.time(clock).signed_duration_since(clock.now()));
        Some(difference).filter(|difference| difference.saturating_abs() >= NOISE)
    }

    /// The time of a request that is signed now.
    pub(super) fn stamp(&self, clock: &dyn Clock) -> Stamp {
        Stamp { time: self.time(clock), elapsed: clock.elapsed() }
    }

    /// Records the `Date` of a reply that was received at `elapsed`.
    pub(super) fn record_date(&self, headers: &HeaderMap, elapsed: Duration) {
        if let Some(date) = date(headers) {
            *self.last_date.lock().unwrap_or_else(PoisonError::into_inner) = Some((date, elapsed));
        }
    }

    /// The earliest time that the service's clock can have shown at `moment`, by a later `Date`. `None` if no later
    /// `Date` was received.
    #[must_use]
    pub fn service_time_at(&self, moment: Duration) -> Option<DateTime<Utc>> {
        let (date, received) = (*self.last_date.lock().unwrap_or_else(PoisonError::into_inner))?;
        let passed = chrono::Duration::from_std(received.checked_sub(moment)?).ok()?;
        date.checked_sub_signed(passed)
    }

    /// Updates the correction from a 401 that was received at `arrival` for a request signed with `stamp`. Its `Date`
    /// is compared with that time: the machine's clock may have been set since. If many calls fail together, only one
    /// warns.
    pub(super) fn update(
        &self,
        headers: &HeaderMap,
        arrival: Arrival,
        stamp: Stamp,
        about_time: bool,
        warnings: &Warnings,
    ) -> Correction {
        let Some(time) = date_midpoint(headers) else {
            return if about_time { Correction::NoDate } else { Correction::NotTheClock };
        };
        // The service read the request and its clock at some moment before the reply was received.
        let round_trip = chrono::Duration::from_std(arrival.elapsed.saturating_sub(stamp.elapsed)).unwrap_or_default();
        let ahead = time.signed_duration_since(stamp.time);
        let error = (-ahead).max(ahead - round_trip).num_seconds();
        if error < if about_time { NOISE } else { SUSPECT_SKEW } {
            return Correction::NotTheClock;
        }
        let measured = round_to_seconds(time.signed_duration_since(arrival.now));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.reference.is_some_and(|(_, elapsed)| elapsed > arrival.elapsed) {
            return Correction::Corrected(measured);
        }
        state.reference = Some((time, arrival.elapsed));
        let is_new = |known: &i64| measured.saturating_sub(*known).saturating_abs() >= NOISE;
        if is_new(&state.seconds) {
            state.seconds = measured;
            if state.warned.len() < MAX_WARNINGS && state.warned.iter().all(is_new) {
                state.warned.push(measured);
                warnings.add(warning(measured));
            }
        }
        Correction::Corrected(measured)
    }
}

/// The service's clock minus the local clock in whole seconds; `None` without a `Date`.
pub(super) fn measure(headers: &HeaderMap, now: DateTime<Utc>) -> Option<i64> {
    Some(round_to_seconds(date_midpoint(headers)?.signed_duration_since(now)))
}

/// The service's time. `Date` has whole seconds, rounded down, so on average it is half a second early.
fn date_midpoint(headers: &HeaderMap) -> Option<DateTime<Utc>> {
    date(headers)?.checked_add_signed(chrono::Duration::milliseconds(500))
}

fn round_to_seconds(difference: chrono::Duration) -> i64 {
    difference.num_milliseconds().saturating_add(500).div_euclid(1_000)
}

fn date(headers: &HeaderMap) -> Option<DateTime<Utc>> {
    parse_http_date(headers.get(DATE)?.to_str().ok()?)
}

fn warning(skew: i64) -> String {
    if skew.saturating_abs() < NOISE {
        return "this machine's clock agrees with the service again; the correction for this client ended".to_owned();
    }
    let side = if skew > 0 { "behind" } else { "ahead of" };
    format!(
        "this machine's clock is {} s {side} the service; corrected for this client. Set the clock to stop this \
         warning",
        skew.saturating_abs()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Updates from a 401 whose `Date` is `ahead` seconds after the local time. The request was signed
    /// `round_trip` seconds before, with a time that was `signed_ahead` seconds after the local one.
    fn update(
        skew: &Skew,
        (ahead, signed_ahead): (i64, i64),
        (arrival, round_trip): (u64, u64),
        about_time: bool,
        warnings: &Warnings,
    ) -> Correction {
        let seconds = chrono::Duration::seconds;
        let elapsed = Duration::from_secs(arrival);
        let sent = DateTime::from_timestamp_millis(1_790_000_000_500).unwrap();
        let now = sent + seconds(round_trip.try_into().unwrap());
        let date = (sent + seconds(ahead)).format("%a, %d %b %Y %H:%M:%S GMT").to_string();
        skew.update(
            &HeaderMap::from_iter([(DATE, date.parse().unwrap())]),
            Arrival { now, elapsed },
            Stamp { time: sent + seconds(signed_ahead), elapsed: Duration::from_secs(arrival - round_trip) },
            about_time,
            warnings,
        )
    }

    #[test]
    fn error_of_a_minute_or_of_five_seconds_after_a_text_about_time_is_corrected() {
        for (ahead, round_trip, about_time, is_corrected) in [
            (60, 0, false, true),
            (59, 0, false, false),
            (-60, 0, false, true),
            (-59, 0, false, false),
            (5, 0, true, true),
            (4, 0, true, false),
            (-5, 0, true, true),
            (-4, 0, true, false),
            // The service may have read its clock at any moment of the round trip.
            (90, 30, false, true),
            (89, 30, false, false),
            (-60, 30, false, true),
        ] {
            let corrected = update(&Skew::default(), (ahead, 0), (40, round_trip), about_time, &Warnings::default());
            let expected = Correction::Corrected(ahead - i64::try_from(round_trip).unwrap());
            let expected = if is_corrected { expected } else { Correction::NotTheClock };
            assert_eq!(corrected, expected, "{ahead} s ahead, {round_trip} s, {about_time}");
        }
    }

    #[test]
    fn warning_names_the_difference_once_and_its_end() {
        let (skew, warnings) = (Skew::default(), Warnings::default());
        for (signed_ahead, ahead, words) in [
            (0, 90, Some("clock is 90 s behind the service")),
            (0, 94, None),
            (90, 0, Some("agrees with the service again")),
            (0, -90, Some("clock is 90 s ahead of the service")),
            (90, 5, Some("clock is 5 s behind the service")),
            (0, 90, None),
            (90, 10, Some("clock is 10 s behind the service")),
        ] {
            update(&skew, (ahead, signed_ahead), (40, 0), true, &warnings);
            let texts = warnings.take();
            assert_eq!(texts.len(), usize::from(words.is_some()), "{ahead} s: {texts:?}");
            assert!(texts.iter().all(|text| text.contains(words.unwrap_or_default())), "{ahead} s: {texts:?}");
        }
    }

    #[test]
    fn service_whose_time_keeps_changing_gives_eight_warnings() {
        let (skew, warnings) = (Skew::default(), Warnings::default());
        for minutes in 1..20 {
            update(&skew, (minutes * 60, 0), (40, 0), false, &warnings);
        }
        assert_eq!(warnings.take().len(), 8);
    }

    #[test]
    fn reply_that_was_received_earlier_changes_no_correction() {
        let (skew, warnings) = (Skew::default(), Warnings::default());
        update(&skew, (3_600, 0), (40, 0), false, &warnings);
        update(&skew, (-3_600, 0), (39, 0), false, &warnings);
        let texts = warnings.take();
        assert!(texts.len() == 1 && texts[0].contains("3600 s behind"), "{texts:?}");
    }
}
