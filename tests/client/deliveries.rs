//! Tests the wait for the delivery of a prescription map: its polls, its deadline and its handle.

use std::sync::Arc;
use std::time::Duration;

use headland::api::Method;
use headland::client::Client;
use headland::error::Kind;

use crate::support::*;

/// A service whose field computer fetches map 11 after this many reads of its queue, or never lists it.
fn service(reads: Option<usize>, refusal: Option<u16>) -> Arc<Script> {
    let mut read = 0;
    Script::new(move |_, request| {
        if request.method == Method::Put {
            let body = r#"{"status":"INVALID_REQUEST","errorInfo":"Already queued.","result":"nil"}"#;
            return Ok(refusal.map_or_else(|| ok(""), |status| canned(status, body)));
        }
        let is_queue = query(request, "state").as_deref() == Some("queued");
        read += usize::from(is_queue);
        let is_listed = reads.is_some_and(|reads| is_queue == (read <= reads));
        let id = if is_listed { "11" } else { "7" };
        Ok(ok(format!(r#"{{"TotalCount":1,"IsNextPage":false,"PrescriptionMap":[{{"ID":"{id}"}}]}}"#)))
    })
}

fn pauses(script: &Script) -> usize {
    script
        .requests
        .lock()
        .unwrap()
        .iter()
        .filter(|request| query(request, "state").as_deref() == Some("queued"))
        .count()
}

async fn send(client: &Client, seconds: u64) -> Result<bool, headland::error::Error> {
    client.send_map("11", "CR 12", Some(Some(Duration::from_secs(seconds)))).await.map(|sent| sent.is_delivered)
}

#[tokio::test(start_paused = true)]
async fn wait_ends_when_the_computer_has_fetched_the_map() {
    let script = service(Some(4), None);
    let begun = tokio::time::Instant::now();
    assert!(send(&client(&script), 600).await.unwrap());
    assert_eq!((pauses(&script), begun.elapsed().as_secs()), (5, 2 + 4 + 8 + 16));
}

#[tokio::test(start_paused = true)]
async fn deadline_polls_a_last_time_and_the_handle_resumes() {
    let script = service(Some(5), None);
    let client = client(&script);
    let begun = tokio::time::Instant::now();
    let error = send(&client, 7).await.unwrap_err();
    assert_eq!((error.kind(), begun.elapsed().as_secs(), pauses(&script)), (Kind::NotReady, 7, 4));
    let handle = error.facts().handle.clone().unwrap();
    assert_eq!(handle, "prescription_maps.send/11/CR 12/dcfd");
    assert!(error.message().contains("client.delivery(error.handle)"), "{error}");
    assert!(error.cli_message().unwrap().contains("the same command follows it"), "{error}");
    let mut delivery = client.delivery(&handle).unwrap();
    assert!(!delivery.ready().await.unwrap());
    delivery.wait(Some(Duration::ZERO)).await.unwrap();
    let read = script.count();
    assert!(delivery.ready().await.unwrap());
    assert_eq!(script.count(), read, "a delivered map is not polled again");
}

#[tokio::test(start_paused = true)]
async fn map_that_is_queued_already_is_followed_and_another_conflict_is_an_error() {
    for status in [409, 400, 200] {
        assert!(send(&client(&service(Some(2), Some(status))), 600).await.unwrap(), "{status}");
        let script = service(None, Some(status));
        let error = send(&client(&script), 600).await.unwrap_err();
        assert!(matches!(error.kind(), Kind::Conflict | Kind::InvalidRequest), "{status}: {error}");
        assert_eq!(pauses(&script), 1, "{status}: one look at the queue");
    }
}

#[tokio::test(start_paused = true)]
async fn map_that_leaves_the_queue_undelivered_is_an_error() {
    let script = service(None, None);
    let error = send(&client(&script), 600).await.unwrap_err();
    assert_eq!((error.kind(), pauses(&script)), (Kind::NotFound, 3));
    assert!(error.message().contains("send it again"), "{error}");
}
