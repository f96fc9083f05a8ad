//! Tests lists that are stable and lists that change while they are read.

use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use headland::client::{Client, Pages};
use headland::error::Kind;
use headland::transport::Request;
use headland::wire::Value;
use proptest::prelude::*;

use crate::support::*;

/// The service's side of a list: its records, and the change before each reply.
pub(crate) struct List {
    kind: &'static str,
    pub(crate) ids: Vec<u32>,
    largest_page: usize,
}

impl List {
    pub(crate) fn page(&self, request: &Request) -> Canned {
        let asked: usize = query(request, "pageSize").unwrap().parse().unwrap();
        let size = asked.min(self.largest_page);
        let page: usize = query(request, "page").unwrap().parse().unwrap();
        let items: Vec<_> = self.ids.iter().skip(page * size).take(size).collect();
        let json: Vec<_> = items.iter().map(|id| format!(r#"{{"ID":{id},"Name":"n{id}"}}"#)).collect();
        let more = (page + 1) * size < self.ids.len();
        ok(format!(
            r#"{{"TotalCount":{},"PageSize":{asked},"IsPreviousPage":false,"IsNextPage":{more},"PageIndex":{page},"TotalPages":9,"{}":[{}]}}"#,
            self.ids.len(),
            self.kind,
            json.join(",")
        ))
    }
}

pub(crate) fn jobs(ids: impl IntoIterator<Item = u32>) -> List {
    List { kind: "JobData", ids: ids.into_iter().collect(), largest_page: 1_000 }
}

/// A client of a list that `change` modifies before each reply but the first.
fn serve(mut list: List, mut change: impl FnMut(usize, &mut Vec<u32>) + Send + 'static) -> (Client, Arc<Script>) {
    let script = Script::new(move |number, request| {
        if number > 0 {
            change(number, &mut list.ids);
        }
        Ok(list.page(request))
    });
    (client(&script), script)
}

pub(crate) fn pages(client: &Client, name: &str, page_size: u32) -> Pages {
    client.pages(row(name), arguments(name, &[]), Some(page_size), None).unwrap()
}

pub(crate) async fn read(pages: &mut Pages) -> headland::error::Result<Vec<u32>> {
    read_as(pages, 0).await
}

/// Reads a list, its pages as records or as columns by the bits of `forms`.
async fn read_as(pages: &mut Pages, forms: u32) -> headland::error::Result<Vec<u32>> {
    let mut ids = Vec::new();
    let mut number = 0;
    loop {
        if forms.rotate_right(number) & 1 == 0 {
            let Some(page) = pages.next_page().await? else { return Ok(ids) };
            let id = |item: &Value| item.get("id").and_then(Value::as_text).unwrap().parse::<u32>().unwrap();
            ids.extend(page.iter().map(id));
        } else {
            let Some(batch) = pages.next_batch().await? else { return Ok(ids) };
            let column = batch.column_by_name("id").unwrap().as_string::<i32>();
            ids.extend(column.iter().map(|id| id.unwrap().parse::<u32>().unwrap()));
        }
        number += 1;
    }
}

#[tokio::test(start_paused = true)]
async fn stable_list_takes_one_call_a_page_and_total_takes_none() {
    let (client, script) = serve(jobs(0..7), |_, _| {});
    let mut list = pages(&client, "job_data.list", 3);
    assert_eq!(script.count(), 0, "nothing is called before it is needed");
    assert_eq!(list.total().await.unwrap(), Some(7));
    assert_eq!(list.total().await.unwrap(), Some(7));
    assert_eq!(script.count(), 1);
    assert_eq!(read(&mut list).await.unwrap(), (0..7).collect::<Vec<_>>());
    assert_eq!(script.count(), 3);
    assert!(list.next_page().await.unwrap().is_none());
    // The page that `total` read is also the first one of the columns.
    let (client, script) = serve(jobs(0..7), |_, _| {});
    let mut list = pages(&client, "job_data.list", 3);
    assert_eq!(list.first().await.unwrap().unwrap().get("name").and_then(Value::as_text), Some("n0"));
    assert_eq!(read_as(&mut list, u32::MAX).await.unwrap(), (0..7).collect::<Vec<_>>());
    assert_eq!((script.count(), list.first().await.unwrap()), (3, None));
    let (client, script) = serve(jobs([]), |_, _| {});
    assert!(read(&mut pages(&client, "job_data.list", 3)).await.unwrap().is_empty());
    assert_eq!(script.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn smaller_pages_than_requested_are_read_to_the_end() {
    let list = List { largest_page: 2, ..jobs(0..5) };
    let (client, script) = serve(list, |_, _| {});
    assert_eq!(read(&mut pages(&client, "job_data.list", 1_000)).await.unwrap(), [0, 1, 2, 3, 4]);
    assert_eq!(script.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn single_page_can_be_read() {
    let (client, script) = serve(jobs(0..7), |_, _| {});
    let mut page = client.pages(row("job_data.list"), arguments("job_data.list", &[]), Some(3), Some(1)).unwrap();
    assert_eq!(read(&mut page).await.unwrap(), [3, 4, 5]);
    assert_eq!(script.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn unsupported_page_size_is_an_error_before_any_call() {
    let (client, script) = serve(jobs(0..7), |_, _| {});
    for (size, word) in [(0, "deprecated"), (1_001, "1000")] {
        let error = client.pages(row("job_data.list"), arguments("job_data.list", &[]), Some(size), None).unwrap_err();
        assert_eq!(error.kind(), Kind::Value);
        assert!(error.message().contains(word), "{error}");
    }
    assert_eq!(script.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn removed_records_do_not_hide_others() {
    let (client, _) = serve(jobs(0..9), |number, ids| {
        if number == 1 {
            ids.drain(..2);
        }
    });
    let mut ids = read(&mut pages(&client, "job_data.list", 3)).await.unwrap();
    ids.sort_unstable();
    assert_eq!(ids, (0..9).collect::<Vec<_>>(), "3 and 4 moved to the page that was read already");
    // The last page no longer exists when it is requested.
    let mut list = jobs(0..7);
    let script = Script::new(move |number, request| {
        if number == 2 {
            list.ids.drain(..3);
        }
        let page: usize = query(request, "page").unwrap().parse().unwrap();
        Ok(if page * 3 >= list.ids.len() { canned(404, "no such page") } else { list.page(request) })
    });
    let mut ids = read(&mut pages(&client_of(config(), &script), "job_data.list", 3)).await.unwrap();
    ids.sort_unstable();
    assert_eq!(ids, (0..7).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn added_records_are_returned_at_most_once_and_hide_none() {
    let (client, _) = serve(jobs(100..109), |number, ids| {
        let new: Vec<u32> = (0..4).map(|index| u32::try_from(number).unwrap() * 10 + index).collect();
        if number <= 2 {
            ids.splice(0..0, new);
        }
    });
    let ids = read(&mut pages(&client, "job_data.list", 3)).await.unwrap();
    assert_eq!(ids.iter().copied().filter(|id| *id >= 100).collect::<Vec<_>>(), (100..109).collect::<Vec<_>>());
}

proptest! {
    #[test]
    fn record_present_throughout_is_returned_exactly_once(
        size in 1_u32..6,
        count in 0_u32..30,
        changes in prop::collection::vec((0_u32..4, prop::collection::vec(any::<prop::sample::Index>(), 0..4)), 0..12),
        forms in prop_oneof![Just(0), Just(u32::MAX), any::<u32>()],
        looks in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let removed = Arc::new(Mutex::new(Vec::new()));
        let gone = removed.clone();
        let result = runtime.block_on(async {
            let mut fresh = 1_000;
            let (client, _) = serve(jobs(0..count), move |number, ids| {
                let Some((added, taken)) = changes.get(number - 1) else { return };
                for index in taken {
                    if !ids.is_empty() {
                        gone.lock().unwrap().push(ids.remove(index.index(ids.len())));
                    }
                }
                for _ in 0..*added {
                    fresh += 1;
                    ids.insert(0, fresh);
                }
            });
            let mut pages = pages(&client, "job_data.list", size);
            if looks {
                assert_eq!(pages.total().await?, Some(u64::from(count)));
                assert_eq!(pages.first().await?.is_some(), count > 0);
            }
            read_as(&mut pages, forms).await
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

#[tokio::test(start_paused = true)]
async fn repeating_pages_are_an_error_and_no_endless_loop() {
    let list = jobs(0..7);
    let script = Script::new(move |_, request| {
        let first = Request { url: request.url.replace("page=1", "page=0"), ..request.clone() };
        Ok(list.page(&first))
    });
    let error = read(&mut pages(&client(&script), "job_data.list", 3)).await.unwrap_err();
    assert_eq!((error.kind(), script.count()), (Kind::Decode, 3));
    assert!(error.message().contains("no new record"), "{error}");
    // A count that alternates does not cause an endless loop either.
    let mut list = jobs(0..7);
    let script = Script::new(move |number, request| {
        list.ids = (0..if number % 2 == 0 { 7 } else { 6 }).collect();
        Ok(list.page(request))
    });
    let result = read(&mut pages(&client(&script), "job_data.list", 3)).await;
    assert!(script.count() < 40, "{result:?}");
}

#[tokio::test(start_paused = true)]
async fn rejected_page_is_an_error_after_few_calls() {
    let list = jobs(0..7);
    let script = Script::new(move |_, request| {
        let is_second = query(request, "page").unwrap() == "1";
        Ok(if is_second { canned(400, "no") } else { list.page(request) })
    });
    let error = read(&mut pages(&client(&script), "job_data.list", 3)).await.unwrap_err();
    assert_eq!(error.kind(), Kind::InvalidRequest);
    assert!(script.count() <= 6, "{}", script.count());
}

/// The specification promises no id that is unique across devices (2.3): a page is a snapshot with all its records.
#[tokio::test(start_paused = true)]
async fn duplicate_ids_on_one_page_are_two_records() {
    let script = Script::new(|_, _| {
        Ok(ok(
            r#"{"TotalCount":2,"IsNextPage":false,"DeviceLocation":[{"ID":0,"DeviceId":"1"},{"ID":0,"DeviceId":"2"}]}"#
                .to_owned(),
        ))
    });
    for forms in [0, u32::MAX] {
        let mut pages = pages(&client(&script), "field_hubs.current_locations", 1_000);
        assert_eq!(read_as(&mut pages, forms).await.unwrap().len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn unordered_list_is_read_again_after_a_change() {
    let list = List { kind: "FieldComputer", ..jobs(0..9) };
    let (client, script) = serve(list, |number, ids| {
        if number == 1 {
            ids.drain(..2);
            ids.push(50);
        }
    });
    let ids = read(&mut pages(&client, "field_computers.list", 3)).await.unwrap();
    for id in 0..9 {
        assert_eq!(ids.iter().filter(|other| **other == id).count(), 1, "{id} in {ids:?}");
    }
    assert!(script.count() > 4);
    let list = List { kind: "FieldComputer", ..jobs(0..9) };
    let (client, _) = serve(list, |number, ids| ids.push(u32::try_from(number).unwrap() + 100));
    let error = read(&mut pages(&client, "field_computers.list", 8)).await.unwrap_err();
    assert!(error.message().contains("changed"), "{error}");
}

/// A list page by page, independent of the request, under one `TotalCount`.
fn scripted(kind: &'static str, total: u32, pages: &'static [&'static [u32]]) -> Arc<Script> {
    Script::new(move |_, request| {
        let page: usize = query(request, "page").unwrap().parse().unwrap();
        let items: Vec<_> = pages[page].iter().map(|id| format!(r#"{{"ID":{id}}}"#)).collect();
        let more = page + 1 < pages.len();
        Ok(ok(format!(r#"{{"TotalCount":{total},"IsNextPage":{more},"{kind}":[{}]}}"#, items.join(","))))
    })
}

/// Specification 2.1: `TotalCount` is the total of records in the list.
#[tokio::test(start_paused = true)]
async fn list_shorter_than_its_total_is_an_error() {
    for (name, kind, calls) in [("job_data.list", "JobData", 3), ("field_computers.list", "FieldComputer", 6)] {
        let script = scripted(kind, 5, &[&[1, 2], &[3]]);
        let error = read(&mut pages(&client(&script), name, 2)).await.unwrap_err();
        assert_eq!((error.kind(), script.count()), (Kind::Decode, calls), "{error}");
        assert!(error.message().contains("reports 5 records") && error.message().contains("returned 3"), "{error}");
        // No array, an empty one, and one under another name.
        for (body, words) in [
            ("", "reports 5 records"),
            (r#","JobData":[],"FieldComputer":[]"#, "reports 5 records"),
            (r#","Jobs":[{"ID":1}]"#, "contains `jobs` instead"),
        ] {
            let script = Script::new(move |_, _| Ok(ok(format!(r#"{{"TotalCount":5,"IsNextPage":false{body}}}"#))));
            let error = read(&mut pages(&client(&script), name, 2)).await.unwrap_err();
            assert_eq!((error.kind(), script.count()), (Kind::Decode, 1), "{error}");
            assert!(error.message().contains(words) && error.message().contains(kind), "{error}");
        }
    }
    // Two records under one id count as two records of the total.
    let script = scripted("JobData", 3, &[&[1, 2], &[2]]);
    assert_eq!(read(&mut pages(&client(&script), "job_data.list", 2)).await.unwrap(), [1, 2]);
}

#[tokio::test(start_paused = true)]
async fn list_with_replaced_records_is_not_short() {
    // A later record is removed while a new one is inserted in front: the count stays the same.
    let (client, script) = serve(jobs(0..7), |number, ids| {
        if number == 1 {
            ids.retain(|id| *id != 6);
            ids.insert(0, 99);
        }
    });
    assert_eq!(read(&mut pages(&client, "job_data.list", 3)).await.unwrap(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(script.count(), 3);
    // Records vanish between the count and the reply: the first page is read once more, and shows the change.
    let script = Script::new(|number, _| {
        let total = if number == 0 { 5 } else { 2 };
        Ok(ok(format!(r#"{{"TotalCount":{total},"IsNextPage":false,"JobData":[{{"ID":1}},{{"ID":2}}]}}"#)))
    });
    assert_eq!(read(&mut pages(&client_of(config(), &script), "job_data.list", 3)).await.unwrap(), [1, 2]);
    assert_eq!(script.count(), 2);
}
