//! The log at the boundaries of its times and after a step of the clock.

use super::*;

const SECOND: Micros = 1_000_000;
const NOW: Micros = 1_790_000_000 * SECOND;
const KEEP: Micros = 120 * SECOND;
const MINUTE: Micros = 60 * SECOND;

fn in_flight(owner: &str, lease: Micros) -> Standing {
    Standing::InFlight { owner: owner.to_owned(), lease }
}

fn foreign(until: Micros) -> Standing {
    Standing::Foreign { until, period: MINUTE }
}

#[test]
fn tidy_keeps_moves_settles_or_forgets_an_entry() {
    let settled = |at| Some((at, Standing::Settled));
    for (name, before, after) in [
        ("settled now", (NOW, Standing::Settled), settled(NOW)),
        ("settled a while ago", (NOW - 1, Standing::Settled), settled(NOW - 1)),
        ("just counted", (NOW - KEEP, Standing::Settled), settled(NOW - KEEP)),
        ("no longer counted", (NOW - KEEP - 1, Standing::Settled), None),
        ("settled in the future", (NOW + MINUTE, Standing::Settled), settled(NOW)),
        ("in flight", (NOW - 5, in_flight("here", NOW + 1)), Some((NOW - 5, in_flight("here", NOW + 1)))),
        ("lease over", (NOW - 5, in_flight("here", NOW)), settled(NOW)),
        ("lease long over", (NOW - 5, in_flight("here", NOW - 3)), settled(NOW - 3)),
        ("its process ended", (NOW - 5, in_flight("gone", NOW + 1)), settled(NOW)),
        ("granted in the future", (NOW + 7, in_flight("here", NOW + 10)), Some((NOW, in_flight("here", NOW + 3)))),
        ("of others", (NOW - 5, foreign(NOW + 1)), Some((NOW - 5, foreign(NOW + 1)))),
        ("of others, over", (NOW - 5, foreign(NOW)), None),
        ("of others in the future", (NOW + 7, foreign(NOW + 10)), Some((NOW, foreign(NOW + 3)))),
    ] {
        let entry = |(at, standing)| Entry { id: 1, at, standing };
        let (before, after) = (entry(before), after.map(entry));
        let mut log = Log { entries: vec![before.clone()], ..Log::default() };
        log.tidy(NOW, KEEP, |owner| owner == "gone");
        let changes = match &after {
            Some(after) if *after == before => Vec::new(),
            Some(after) => vec![Change::Put(after.clone())],
            None => vec![Change::Remove(1)],
        };
        assert_eq!((log.entries.pop(), log.changes), (after, changes), "{name}");
    }
}

#[test]
fn tidy_lifts_a_block_that_is_over_and_moves_one_that_is_in_the_future() {
    for (name, (from, until, asked), after) in [
        ("on", (NOW - 5, NOW + 1, None), Some((NOW - 5, NOW + 1))),
        ("over", (NOW - 5, NOW, None), None),
        ("doubted", (NOW - 5, NOW - 1, Some(6)), Some((NOW - 5, NOW - 1))),
        ("over as asked", (NOW - 5, NOW - 1, Some(5)), None),
        ("from now", (NOW, NOW + 9, None), Some((NOW, NOW + 9))),
        ("from the future", (NOW + 5, NOW + 9, None), Some((NOW, NOW + 4))),
    ] {
        let block = |(from, until)| Block { from, until, asked, probe: None };
        let before = block((from, until));
        let mut log = Log { block: Some(before), ..Log::default() };
        log.tidy(NOW, KEEP, |_| false);
        let changes = if after == Some((from, until)) { Vec::new() } else { vec![Change::Limits] };
        assert_eq!((log.block, log.changes), (after.map(block), changes), "{name}");
    }
}
