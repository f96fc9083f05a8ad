//! Reports of field hubs and field computers, computed from the clock. No record is stored; the same time always yields
//! the same record.
//!
//! A hub works in turns of two hours. In each turn the ignition is on, then off; the inputs switch sequentially; the
//! antenna loses its satellites twice. In some turns the hub roams. All nine events of specification 6 occur in each
//! turn.

use chrono::{DateTime, Datelike as _, NaiveDate, TimeDelta, Utc};

use super::fields::{MachineState, TURN_SECONDS, Track, WORK_SECONDS};
use super::paging::PageBounds;
use headland_base::times::iso;
use headland_wire::{Name, Value};

/// Seconds between two reports (specification 8).
const HUB_INTERVAL: i64 = 30;
const COMPUTER_INTERVAL: i64 = 300;

/// Seconds of a half hour in which one of three computers is online.
const ONLINE_SPAN: i64 = 600;
const COMPUTERS: i64 = 3;

/// Days of records that exist when a service starts for the first time.
const HISTORY_DAYS: i64 = 2;

/// Maximum number of devices of all customers. Record ids contain the device number.
const MAX_DEVICES: i64 = 64;

/// GPS time of a position without a fix (specification 2.3).
const ZERO_DATE: &str = "0000-00-00T00:00:00Z";

/// A reporting device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Device<'a> {
    pub(super) id: &'a str,
    pub(super) is_hub: bool,
    /// Unique number below [`MAX_DEVICES`].
    pub(super) number: i64,
    pub(super) track: &'a Track,
}

/// Returns the start of the logs of a service that first started at `first_start`.
pub(super) fn log_start(first_start: DateTime<Utc>) -> DateTime<Utc> {
    first_start.checked_sub_signed(TimeDelta::days(HISTORY_DAYS)).unwrap_or(first_start)
}

/// Returns the time of the field computers' last location report.
pub(super) fn last_report_of_computer(now: DateTime<Utc>) -> DateTime<Utc> {
    time_of(now.timestamp().div_euclid(COMPUTER_INTERVAL).saturating_mul(COMPUTER_INTERVAL))
}

/// Returns the next map poll of a computer, strictly after a time. `computer` is its index in the account.
pub(super) fn next_poll(computer: usize, after: DateTime<Utc>) -> DateTime<Utc> {
    let number = i64::try_from(computer).unwrap_or(0).rem_euclid(COMPUTERS);
    let mut poll = after.timestamp().div_euclid(COMPUTER_INTERVAL).saturating_mul(COMPUTER_INTERVAL);
    loop {
        poll = poll.saturating_add(COMPUTER_INTERVAL);
        if poll.div_euclid(ONLINE_SPAN).rem_euclid(COMPUTERS) == number || poll == i64::MAX {
            return time_of(poll);
        }
    }
}

/// Returns the first instant after the calendar month of a time, in UTC.
fn end_of_month(time: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let (year, month) =
        if time.month() == 12 { (time.year().checked_add(1)?, 1) } else { (time.year(), time.month() + 1) };
    Some(NaiveDate::from_ymd_opt(year, month, 1)?.and_time(chrono::NaiveTime::MIN).and_utc())
}

/// Reports of a device in an interval, newest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reports<'a> {
    device: Device<'a>,
    newest: i64,
    count: i64,
}

impl<'a> Reports<'a> {
    /// Selects all reports until `now`. With `date`, selects the reports from `date` to the end of its calendar month
    /// (specification 4.2).
    pub(super) fn new(
        device: Device<'a>,
        log_start: DateTime<Utc>,
        now: DateTime<Utc>,
        date: Option<DateTime<Utc>>,
    ) -> Self {
        let period = if device.is_hub { HUB_INTERVAL } else { COMPUTER_INTERVAL };
        let micros = |time: DateTime<Utc>| time.timestamp_micros();
        let step = period.saturating_mul(1_000_000);
        let first = micros(date.map_or(log_start, |date| date.max(log_start)));
        // The first instant of the next month is excluded.
        let last =
            date.and_then(end_of_month).map_or(micros(now), |end| micros(now).min(micros(end).saturating_sub(1)));
        let oldest = first.saturating_add(step).saturating_sub(1).div_euclid(step);
        let newest = last.div_euclid(step);
        Self {
            device,
            newest: newest.saturating_mul(period),
            count: newest.saturating_sub(oldest).saturating_add(1).max(0),
        }
    }

    pub(super) fn count(&self) -> u64 {
        u64::try_from(self.count).unwrap_or(0)
    }

    /// Returns the locations of a page.
    pub(super) fn locations(&self, page: &PageBounds) -> Vec<Value> {
        let period = if self.device.is_hub { HUB_INTERVAL } else { COMPUTER_INTERVAL };
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let (skip, end) = (number(page.skip), number(page.skip.saturating_add(page.count)));
        (skip..end).map(|back| self.device.location(self.newest.saturating_sub(back.saturating_mul(period)))).collect()
    }

    /// Returns the location of the newest report.
    pub(super) fn latest_location(&self) -> Option<Value> {
        (self.count > 0).then(|| self.device.location(self.newest))
    }

    /// Returns the newest report of a hub.
    pub(super) fn latest_report(&self) -> Option<Value> {
        (self.count > 0).then(|| self.device.report(self.newest))
    }
}

/// State of a device at a report.
struct DeviceState {
    machine: MachineState,
    /// Reports since the start of the turn.
    step: i64,
    turn: i64,
    ignition: bool,
    has_fix: bool,
}

impl Device<'_> {
    /// Returns the state at a time. Devices are shifted in time against each other.
    fn state(&self, seconds: i64) -> DeviceState {
        let shifted = seconds.saturating_add(self.number.saturating_mul(1_770));
        let inside = shifted.rem_euclid(TURN_SECONDS);
        let step = inside.div_euclid(HUB_INTERVAL);
        DeviceState {
            machine: self.track.state_at(shifted),
            step,
            turn: shifted.div_euclid(TURN_SECONDS),
            ignition: inside < WORK_SECONDS,
            has_fix: !(90..94).contains(&step) && !(210..214).contains(&step),
        }
    }

    /// Returns a record id: unique among all devices and increasing with time.
    fn record_id(&self, seconds: i64) -> String {
        seconds.div_euclid(HUB_INTERVAL).saturating_mul(MAX_DEVICES).saturating_add(self.number).to_string()
    }

    fn location(&self, seconds: i64) -> Value {
        let state = self.state(seconds);
        Value::Record(self.position_fields(seconds, &state))
    }

    fn position_fields(&self, seconds: i64, state: &DeviceState) -> Vec<(Name, Value)> {
        let text = |text: &str| Value::Text(text.to_owned());
        let machine = state.machine;
        record([
            ("id", Value::Text(self.record_id(seconds))),
            ("device_id", text(self.id)),
            ("sub_type", text(if self.is_hub { "Field Hub" } else { "Field Computer" })),
            ("lat", Value::Decimal(round_degrees(machine.lat))),
            ("lon", Value::Decimal(round_degrees(machine.lon))),
            ("alt", Value::Integer(machine.alt)),
            ("speed", Value::Integer(if state.has_fix { machine.speed } else { 0 })),
            ("direction", Value::Integer(machine.direction)),
            ("valid", Value::Boolean(state.has_fix)),
            ("gps_date_time", if state.has_fix { Value::Text(timestamp(seconds)) } else { text(ZERO_DATE) }),
        ])
    }

    fn report(&self, seconds: i64) -> Value {
        let state = self.state(seconds);
        let text = |text: &str| Value::Text(text.to_owned());
        let input = |number| Value::Boolean(is_on(number, state.step));
        let small = u32::try_from(state.step).unwrap_or(0);
        let mut fields = self.position_fields(seconds, &state);
        fields.extend(record([
            ("active", Value::Boolean(true)),
            ("gps_sat", Value::Integer(if state.has_fix { 7 + state.step % 6 } else { 2 })),
            ("event", text(event(state.step))),
            ("gps_fix", Value::Boolean(state.has_fix)),
            ("rssi", Value::Decimal(-85.0 - f64::from(small.wrapping_mul(7) % 37) / 2.0)),
            ("ignition", Value::Boolean(state.ignition)),
            ("digital_input_1", input(1)),
            ("digital_input_2", input(2)),
            ("digital_input_3", input(3)),
            ("digital_input_4", input(4)),
            ("analog_input_1", Value::Decimal(f64::from(small % 60) / 4.0)),
            ("analog_input_2", Value::Decimal(if state.ignition { 5.0 } else { 0.0 })),
            ("analog_input_3", Value::Decimal(0.0)),
            ("analog_input_4", Value::Decimal(0.0)),
            ("battery_voltage", Value::Decimal(if state.ignition { 13.8 } else { 12.4 })),
            ("digital_output_1", Value::Boolean(state.ignition)),
            ("digital_output_2", Value::Boolean(false)),
            ("digital_output_3", Value::Boolean(false)),
            // The specification allows null (2.4).
            ("server_date_time", if state.step == 100 { Value::Null } else { Value::Text(timestamp(seconds)) }),
            ("odometer", Value::Integer(Track::odometer(seconds).rem_euclid(1 << 32))),
            ("service", text(if state.turn.rem_euclid(4) == 3 { "" } else { "LTE" })),
            ("carrier", text("Prairie Wireless")),
            (
                "roam",
                text(
                    ["00", "00", "302720", ""]
                        .get(usize::try_from(state.turn.rem_euclid(4)).unwrap_or(0))
                        .copied()
                        .unwrap_or_default(),
                ),
            ),
        ]));
        Value::Record(fields)
    }
}

/// Whether a digital input is on. Inputs 1 to 4 switch sequentially.
fn is_on(input: i64, step: i64) -> bool {
    let begin = input.saturating_mul(20);
    (begin..begin.saturating_add(100)).contains(&step)
}

/// Returns the event code of a step of the turn.
fn event(step: i64) -> &'static str {
    match step {
        0 => "16",
        200 => "17",
        20 | 120 => "1",
        40 | 140 => "2",
        60 | 160 => "3",
        80 | 180 => "4",
        10 | 190 => "5",
        _ if step % 8 == 5 => "31",
        _ => "30",
    }
}

/// Rounds to the six decimals of a hub.
fn round_degrees(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn time_of(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(seconds, 0).unwrap_or(DateTime::<Utc>::MAX_UTC)
}

/// Formats a time as `YYYY-MM-DDTHH:mm:ssZ` (specification 2.3 and 2.4).
fn timestamp(seconds: i64) -> String {
    iso::write(&time_of(seconds))
}

fn record<const N: usize>(fields: [(&'static str, Value); N]) -> Vec<(Name, Value)> {
    fields.into_iter().map(|(name, value)| (Name::Borrowed(name), value)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::fields::{HarvestStyle, generate_account};
    use headland_api::events::EVENTS;

    fn time(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn all_events_of_section_6_occur_and_agree_with_the_inputs() {
        let seen: BTreeSet<&str> = (0..TURN_SECONDS / HUB_INTERVAL).map(event).collect();
        assert_eq!(seen, EVENTS.iter().map(|(code, _)| *code).collect());
        for step in 1..TURN_SECONDS / HUB_INTERVAL {
            for input in 1..=4 {
                let changes = is_on(input, step) != is_on(input, step - 1);
                assert_eq!(changes, event(step) == input.to_string(), "input {input} at {step}");
            }
        }
    }

    #[test]
    fn computers_poll_only_while_online() {
        for (computer, after, expected) in [
            (0, "2026-09-01T12:00:00Z", "2026-09-01T12:05:00Z"),
            (0, "2026-09-01T12:04:59.9Z", "2026-09-01T12:05:00Z"),
            (0, "2026-09-01T12:05:00Z", "2026-09-01T12:30:00Z"),
            (1, "2026-09-01T12:00:00Z", "2026-09-01T12:10:00Z"),
            (2, "2026-09-01T12:29:00Z", "2026-09-01T12:50:00Z"),
        ] {
            assert_eq!(next_poll(computer, time(after)), time(expected), "{computer} after {after}");
        }
    }

    #[test]
    fn month_ends_before_the_first_instant_of_the_next_in_utc() {
        let track = generate_account(0, HarvestStyle::Ideal).hubs.remove(0).track;
        let device = Device { id: "1", is_hub: true, number: 3, track: &track };
        let (log_start, now) = (time("2026-08-01T00:00:00Z"), time("2027-02-01T00:00:00Z"));
        let count = |date: &str| Reports::new(device, log_start, now, Some(time(date))).count();
        assert_eq!(count("2026-08-31T23:59:00Z"), 2, "23:59:00 and 23:59:30, not midnight");
        assert_eq!(count("2026-08-31T23:59:30.000001Z"), 0);
        assert_eq!(count("2026-12-31T23:59:30Z"), 1, "December too");
        assert_eq!(count("2026-09-01T00:00:00Z"), 30 * 2_880);
        assert_eq!(count("2027-02-01T00:00:00Z"), 1, "now itself");
        assert_eq!(count("2027-03-01T00:00:00Z"), 0);
    }

    #[test]
    fn record_ids_are_unique_and_increase_with_time() {
        let track = generate_account(0, HarvestStyle::Ideal).hubs.remove(0).track;
        let device = |number| Device { id: "1", is_hub: true, number, track: &track };
        let ids: Vec<i64> = (0..50)
            .flat_map(|tick| [0, 1, 63].map(|number| device(number).record_id(1_790_000_010 + tick * HUB_INTERVAL)))
            .map(|id| id.parse().unwrap())
            .collect();
        assert!(ids.is_sorted() && ids.iter().collect::<BTreeSet<_>>().len() == 150);
    }
}
