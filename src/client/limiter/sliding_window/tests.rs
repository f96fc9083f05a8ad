//! Tests of the log at the boundaries of its times and after the clock was changed.

use super::*;

const SECOND: Micros = 1_000_000;
const NOW: Micros = 1_790_000_000 * SECOND;
const KEEP: Micros = 120 * SECOND;
const MINUTE: Micros = 60 * SECOND;

fn in_flight(owner: &str, lease: Micros) -> EntryState {
    EntryState::InFlight { owner: owner.to_owned(), lease }
}

fn external(until: Micros) -> EntryState {
    EntryState::External { until, period: MINUTE }
}

#[test]
fn refresh_keeps_moves_completes_or_drops_an_entry() {
    let completed = |time| Some((time, EntryState::Completed));
    for (name, before, after) in [
        ("completed now", (NOW, EntryState::Completed), completed(NOW)),
        ("completed earlier", (NOW - 1, EntryState::Completed), completed(NOW - 1)),
        ("just counted", (NOW - KEEP, EntryState::Completed), completed(NOW - KEEP)),
        ("no longer counted", (NOW - KEEP - 1, EntryState::Completed), None),
        ("completed in the future", (NOW + MINUTE, EntryState::Completed), completed(NOW)),
        ("in flight", (NOW - 5, in_flight("here", NOW + 1)), Some((NOW - 5, in_flight("here", NOW + 1)))),
        ("lease over", (NOW - 5, in_flight("here", NOW)), completed(NOW)),
        ("lease long over", (NOW - 5, in_flight("here", NOW - 3)), completed(NOW - 3)),
        ("its process ended", (NOW - 5, in_flight("gone", NOW + 1)), completed(NOW)),
        ("granted in the future", (NOW + 7, in_flight("here", NOW + 10)), Some((NOW, in_flight("here", NOW + 3)))),
        ("external", (NOW - 5, external(NOW + 1)), Some((NOW - 5, external(NOW + 1)))),
        ("external, expired", (NOW - 5, external(NOW)), None),
        ("external in the future", (NOW + 7, external(NOW + 10)), Some((NOW, external(NOW + 3)))),
    ] {
        let entry = |(time, state)| Entry { id: 1, time, state };
        let (before, after) = (entry(before), after.map(entry));
        let mut log = Log { entries: vec![before.clone()], ..Log::default() };
        log.refresh(NOW, KEEP, |owner| owner == "gone");
        let changes = match &after {
            Some(after) if *after == before => Vec::new(),
            Some(after) => vec![Change::Put(after.clone())],
            None => vec![Change::Remove(1)],
        };
        assert_eq!((log.entries.pop(), log.changes), (after, changes), "{name}");
    }
}

#[test]
fn refresh_drops_an_expired_block_and_moves_one_from_the_future() {
    for (name, (from, until, requested), after) in [
        ("on", (NOW - 5, NOW + 1, None), Some((NOW - 5, NOW + 1))),
        ("over", (NOW - 5, NOW, None), None),
        ("unconfirmed", (NOW - 5, NOW - 1, Some(6)), Some((NOW - 5, NOW - 1))),
        ("over as asked", (NOW - 5, NOW - 1, Some(5)), None),
        ("from now", (NOW, NOW + 9, None), Some((NOW, NOW + 9))),
        ("from the future", (NOW + 5, NOW + 9, None), Some((NOW, NOW + 4))),
    ] {
        let block = |(from, until)| BlockedSpan { from, until, requested, probe: None };
        let before = block((from, until));
        let mut log = Log { block: Some(before), ..Log::default() };
        log.refresh(NOW, KEEP, |_| false);
        let changes = if after == Some((from, until)) { Vec::new() } else { vec![Change::Limits] };
        assert_eq!((log.block, log.changes), (after.map(block), changes), "{name}");
    }
}

#[test]
fn next_slot_gives_the_requested_wait_only_if_calls_wait_for_it() {
    let windows = [Window { calls: 1, period: Duration::from_secs(60) }];
    let counted = Entry { id: 1, time: NOW, state: EntryState::Completed };
    for (name, until, requested) in
        [("the block is on", NOW + 1, Some(MINUTE)), ("the block is unconfirmed", NOW, None)]
    {
        let block = Some(BlockedSpan { from: NOW - 5, until, requested: Some(MINUTE), probe: None });
        let log = Log { entries: vec![counted.clone()], block, ..Log::default() };
        let next = log.next_slot(&windows, NOW, 0);
        assert_eq!((next.time, next.requested), (NOW + span(windows[0].period), requested), "{name}");
    }
}

#[test]
fn next_slot_waits_for_a_reply_if_a_call_in_flight_fills_a_window() {
    let window = |calls, seconds| Window { calls, period: Duration::from_secs(seconds) };
    let entry = |id, state| Entry { id, time: NOW, state };
    let log = Log {
        entries: vec![entry(1, in_flight("here", NOW + MINUTE)), entry(2, EntryState::Completed)],
        ..Log::default()
    };
    for (windows, is_waiting) in [
        (vec![], false),
        (vec![window(3, 60)], false),
        (vec![window(1, 60)], true),
        // The completed call leaves first and frees its slot.
        (vec![window(2, 60)], false),
        (vec![window(1, 60), window(3, 30)], true),
    ] {
        assert_eq!(log.next_slot(&windows, NOW, 0).waits_for_reply, is_waiting, "{windows:?}");
    }
    assert!(log.others_in_flight("there") && !log.others_in_flight("here"));
    let completed = Log { entries: vec![entry(2, EntryState::Completed)], ..Log::default() };
    assert!(!completed.others_in_flight("there"));
}

#[test]
fn shorter_wait_does_not_end_a_longer_block() {
    for (seconds, after) in [(5, 9), (9, 9), (20, 20)] {
        let block = Some(BlockedSpan { from: NOW - 5, until: NOW + 9 * SECOND, requested: None, probe: None });
        let mut log = Log { block, ..Log::default() };
        let headers = RateLimitHeaders { block: Some(Duration::from_secs(seconds)), ..RateLimitHeaders::default() };
        log.apply_headers(1, &headers, &[], NOW, NOW, || 2);
        assert_eq!(log.block.map(|block| block.until), Some(NOW + after * SECOND), "{seconds} s");
        assert_eq!(log.changes.is_empty(), after == 9, "{seconds} s");
    }
}

#[test]
fn external_call_leaves_a_shorter_window_after_its_length() {
    for (name, seconds, until, next) in [
        ("the window of the headers", 60, NOW + 2 * MINUTE, NOW + 2 * MINUTE),
        ("a longer window", 90, NOW + MINUTE, NOW + MINUTE),
        ("a shorter window", 30, NOW + MINUTE, NOW + span(Duration::from_secs(30))),
        ("a shorter window that the reset empties", 30, NOW + 10 * SECOND, NOW + 10 * SECOND),
    ] {
        let windows = [Window { calls: 1, period: Duration::from_secs(seconds) }];
        let log = Log { entries: vec![Entry { id: 1, time: NOW, state: external(until) }], ..Log::default() };
        assert_eq!(log.next_slot(&windows, NOW, 0).time, next, "{name}");
        for (now, count) in [(next - 1, 1), (next, 0)] {
            assert_eq!(log.budget(&windows, now).windows, [(windows[0], count)], "{name}");
        }
    }
}

#[test]
fn header_limit_caps_only_windows_with_another_limit() {
    let windows = [(30, 60), (15, 30)].map(|(calls, seconds)| Window { calls, period: Duration::from_secs(seconds) });
    for (limit, cap) in [(30, None), (15, None), (40, Some(40)), (20, Some(20)), (10, Some(10))] {
        let mut log = Log::default();
        log.apply_headers(
            1,
            &RateLimitHeaders { limit: Some(limit), ..RateLimitHeaders::default() },
            &windows,
            NOW,
            NOW,
            || 2,
        );
        assert_eq!(log.cap, cap, "{limit}");
    }
}

#[test]
fn reset_blocks_if_longer_than_the_window_and_trusted() {
    let window = Window { calls: 1, period: Duration::from_secs(60) };
    let longest = span(window.period) + SECOND;
    for (reset, is_counted, is_blocked) in [
        (longest, true, false),
        (longest + 1, true, true),
        (TRUSTED_WAIT, true, true),
        (TRUSTED_WAIT + 1, true, false),
        (TRUSTED_WAIT + 1, false, true),
        (longest, false, false),
    ] {
        let own = Entry { id: 1, time: NOW, state: EntryState::Completed };
        let mut log = Log { entries: Vec::from_iter(is_counted.then_some(own)), ..Log::default() };
        let headers = RateLimitHeaders {
            limit: Some(1),
            remaining: Some(0),
            reset: Some(to_duration(reset)),
            ..RateLimitHeaders::default()
        };
        log.apply_headers(1, &headers, &[window], NOW, NOW, || 2);
        assert_eq!(log.block.is_some(), is_blocked, "{reset} {is_counted}");
    }
}
