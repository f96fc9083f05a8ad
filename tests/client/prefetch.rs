//! Tests concurrent fetches of pages: as few calls, as early, and the same records as sequential fetches (specification
//! 4.1).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use headland::client::Config;
use headland::limiter::Window;
use proptest::prelude::*;

use crate::paging::{jobs, pages, read};
use crate::support::*;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn concurrent_pages_return_each_record_once_and_in_order() {
    let list = jobs(0..600);
    let script = Script::slow(SECOND, move |_, request| Ok(list.page(request)));
    let client = client(&script);
    let started = tokio::time::Instant::now();
    assert_eq!(read(&mut pages(&client, "job_data.list", 6)).await.unwrap(), (0..600).collect::<Vec<_>>());
    // Three single pages, twelve times eight concurrent pages, the last one, and the first page again.
    assert!((seconds(started) - 17.0).abs() < 0.5, "{}", seconds(started));
    assert_eq!(script.count(), 101);
}

#[tokio::test(start_paused = true)]
async fn early_stop_fetches_few_extra_pages() {
    let list = jobs(0..600);
    let script = Script::new(move |_, request| Ok(list.page(request)));
    let client = client(&script);
    let mut list = pages(&client, "job_data.list", 6);
    let mut counts = Vec::new();
    for _ in 0..9 {
        list.next_page().await.unwrap().unwrap();
        counts.push(script.count());
    }
    assert_eq!(counts, [1, 2, 3, 11, 11, 11, 11, 11, 11], "eight from the fourth page on");
}

#[tokio::test(start_paused = true)]
async fn short_list_takes_one_call_a_page() {
    for count in 1..8 {
        let list = jobs(0..count * 3);
        let script = Script::new(move |_, request| Ok(list.page(request)));
        read(&mut pages(&client(&script), "job_data.list", 3)).await.unwrap();
        assert_eq!(script.count(), usize::try_from(count).unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn prefetch_uses_only_free_slots_of_the_limiter() {
    let list = jobs(0..60);
    let script = Script::new(move |_, request| Ok(list.page(request)));
    let rate_limits = vec![Window { calls: 6, period: Duration::from_secs(60) }];
    let client = client_of(Config { rate_limits, ..config() }, &script);
    let started = tokio::time::Instant::now();
    assert_eq!(read(&mut pages(&client, "job_data.list", 3)).await.unwrap().len(), 60);
    assert_eq!(script.count(), 20);
    assert!(seconds(started) < 181.0, "{}", seconds(started));
}

#[tokio::test(start_paused = true)]
async fn interrupt_during_concurrent_fetches_loses_no_record() {
    let list = jobs(0..90);
    let script = Script::slow(SECOND, move |_, request| Ok(list.page(request)));
    let client = client(&script);
    let mut list = pages(&client, "job_data.list", 3);
    let mut ids = Vec::new();
    loop {
        match tokio::time::timeout(SECOND.mul_f64(0.7), list.next_page()).await {
            Err(_) => match list.next_page().await.unwrap() {
                Some(page) => ids.extend(page.iter().map(|item| item.identity().parse::<u32>().unwrap())),
                None => break,
            },
            Ok(page) => match page.unwrap() {
                Some(page) => ids.extend(page.iter().map(|item| item.identity().parse::<u32>().unwrap())),
                None => break,
            },
        }
    }
    assert_eq!(ids, (0..90).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn failed_prefetch_is_an_error_when_its_page_is_read() {
    let list = jobs(0..90);
    let script = Script::new(move |_, request| {
        let is_broken = query(request, "page").unwrap() == "9";
        Ok(if is_broken { canned(400, "no") } else { list.page(request) })
    });
    let client = client(&script);
    let mut list = pages(&client, "job_data.list", 3);
    for _ in 0..9 {
        assert_eq!(list.next_page().await.unwrap().unwrap().len(), 3);
    }
    assert!(read(&mut list).await.is_err());
    assert!(script.count() < 80, "{}", script.count());
}

proptest! {
    /// Records are added in front and removed anywhere between the replies, which arrive in any order.
    #[test]
    fn record_present_throughout_is_returned_exactly_once_for_any_order_of_replies(
        size in 1_u32..4,
        count in 20_u32..80,
        latencies in prop::collection::vec(0_u64..20, 1..12),
        changes in prop::collection::vec((0_usize..12, 0_u32..3, prop::collection::vec(any::<prop::sample::Index>(), 0..3)), 0..9),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let removed = Arc::new(Mutex::new(Vec::new()));
        let gone = removed.clone();
        let result = runtime.block_on(async {
            let mut list = jobs(0..count);
            let (mut fresh, mut due) = (1_000, 0);
            let mut changes = changes.into_iter();
            let mut change = changes.next();
            let latencies = latencies.into_iter().map(Duration::from_millis).collect();
            let script = Script::uneven(latencies, move |_, request| {
                if let Some((pause, added, taken)) = change.take_if(|(pause, ..)| { due += 1; due > *pause }) {
                    due = 0;
                    let _ = pause;
                    for index in taken {
                        if !list.ids.is_empty() {
                            gone.lock().unwrap().push(list.ids.remove(index.index(list.ids.len())));
                        }
                    }
                    for _ in 0..added {
                        fresh += 1;
                        list.ids.insert(0, fresh);
                    }
                    change = changes.next();
                }
                Ok(list.page(request))
            });
            read(&mut pages(&client(&script), "job_data.list", size)).await
        });
        let ids = result.unwrap();
        let mut unique = ids.clone();
        unique.sort_unstable();
        unique.dedup();
        prop_assert_eq!(unique.len(), ids.len(), "each at most once");
        let removed = removed.lock().unwrap();
        for id in (0..count).filter(|id| !removed.contains(id)) {
            prop_assert!(ids.contains(&id), "{} was there throughout", id);
        }
    }
}

/// A fetched page has only known records, so the first page is read, which has new ones. Then records moved while pages
/// were fetched, and one of them moved to a page that was fetched before.
#[tokio::test(start_paused = true)]
async fn change_seen_on_the_first_page_between_prefetched_pages_loses_no_record() {
    let mut list = jobs(0..33);
    let mut count = 0;
    let latencies = [7, 7, 7, 0, 8, 0, 8].map(Duration::from_millis).to_vec();
    let script = Script::uneven(latencies, move |_, request| {
        count += 1;
        if let Some((removed, added)) =
            [(7, (12, 1001)), (11, (13, 1002))].into_iter().find(|(at, _)| *at == count).map(|change| change.1)
        {
            list.ids.retain(|id| *id != removed);
            list.ids.insert(0, added);
        }
        Ok(list.page(request))
    });
    let mut ids = read(&mut pages(&client(&script), "job_data.list", 2)).await.unwrap();
    ids.sort_unstable();
    ids.retain(|id| ![12, 13].contains(id));
    assert_eq!(ids, (0..12).chain(14..33).chain(1001..1003).collect::<Vec<_>>());
}
