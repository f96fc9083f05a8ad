//! Tests bodies that arrive byte by byte or never end: every kind of call ends by its bound, in simulated time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use headland::client::{Client, Config, Delivered, Target, Timeouts, UploadFile, Variation};
use headland::error::{Error, Kind};

use crate::payloads::{CREATE, dispatching, make};
use crate::support::*;

const PAUSE: Duration = Duration::from_millis(500);

/// Four requests of 30 seconds each, and the pauses between them.
const FILE_BOUND: f64 = 4.0 * 30.0 + 0.5 + 1.0 + 2.0;

/// The default deadline of a call.
const CALL_BOUND: f64 = 600.0;

type Outcome<'a> = BoxFuture<'a, Result<(), Error>>;

/// One call of a client.
type Call = for<'a> fn(&'a Client) -> Outcome<'a>;

/// A reply with this status and start, followed by one byte each half second for more than a day.
fn drip(status: u16, start: &str) -> Canned {
    let body = [start.as_bytes(), " ".repeat(200_000).as_bytes()].concat();
    Canned { drips: Some(PAUSE), ..canned(status, body) }
}

fn detail(client: &Client) -> Outcome<'_> {
    Box::pin(async { client.detail(row("job_data.get"), &arguments("job_data.get", &[("id", "8")])).await.map(drop) })
}

fn rows(client: &Client) -> Outcome<'_> {
    Box::pin(async {
        client.rows(row("job_data.products"), &arguments("job_data.products", &[("id", "8")])).await.map(drop)
    })
}

fn list(client: &Client) -> Outcome<'_> {
    Box::pin(async {
        client.pages(row("job_data.list"), arguments("job_data.list", &[]), None, None)?.next_page().await.map(drop)
    })
}

fn total(client: &Client) -> Outcome<'_> {
    Box::pin(async {
        client.pages(row("job_data.list"), arguments("job_data.list", &[]), None, None)?.total().await.map(drop)
    })
}

fn listing(client: &Client) -> Outcome<'_> {
    const NAME: &str = "dispatch.products.list";
    Box::pin(async { client.link_pages(row(NAME), arguments(NAME, &[]), None, None)?.next_page().await.map(drop) })
}

fn act(client: &Client) -> Outcome<'_> {
    const NAME: &str = "prescription_maps.send";
    let given = arguments(NAME, &[("rx_id", "11"), ("field_computer_id", "12")]);
    Box::pin(async move { client.send_command(row(NAME), &given).await })
}

fn create(client: &Client) -> Outcome<'_> {
    Box::pin(async { make(client, CREATE).await.map(drop) })
}

fn upload(client: &Client) -> Outcome<'_> {
    let file = UploadFile { name: "a.zip".to_owned(), content: zip_of(b"points").into() };
    Box::pin(async { client.upload(row("job_data.upload"), &arguments("job_data.upload", &[]), file).await.map(drop) })
}

fn examine(client: &Client) -> Outcome<'_> {
    Box::pin(async { client.examine(row("access_key"), Variation::default()).await?.outcome.map(drop) })
}

async fn download(client: &Client, name: &'static str, format: &str, target: Target) -> Result<Delivered, Error> {
    client.download(row(name), &arguments(name, &[("id", "8"), ("format", format)]), target, None).await
}

fn zip(client: &Client) -> Outcome<'_> {
    Box::pin(async { download(client, "job_data.download", "SHP", Target::Memory).await.map(drop) })
}

fn zip_to_disk(client: &Client) -> Outcome<'_> {
    Box::pin(async {
        let folder = tempfile::tempdir().unwrap();
        let target = Target::Disk { to: folder.path().to_owned(), overwrite: false };
        let outcome = download(client, "job_data.download", "SHP", target).await.map(drop);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
        outcome
    })
}

fn xml(client: &Client) -> Outcome<'_> {
    Box::pin(async { download(client, "job_data.download", "XML", Target::Memory).await.map(drop) })
}

fn cart(client: &Client) -> Outcome<'_> {
    Box::pin(async { download(client, "grain_carts.download", "BIN", Target::Memory).await.map(drop) })
}

fn conversion(client: &Client) -> Outcome<'_> {
    Box::pin(async {
        let given = arguments("job_data.request", &[("id", "8")]);
        client.conversion(row("job_data.request"), given)?.wait(None).await
    })
}

fn once(client: &Client) -> Outcome<'_> {
    Box::pin(async {
        let folder = tempfile::tempdir().unwrap();
        let given = arguments("job_data.download", &[("id", "8")]);
        client.poll_file(row("job_data.download"), &given, folder.path(), 0).await.map(drop)
    })
}

/// The calls, each with the status and start of the reply, the bound, and the error.
fn calls() -> Vec<(&'static str, Call, u16, &'static str, f64, Kind)> {
    let (file, lost) = (FILE_BOUND, Kind::UploadOutcomeUnknown);
    vec![
        ("detail", detail, 200, r#"{"ID":8,"#, CALL_BOUND, Kind::Transport),
        ("rows", rows, 200, r#"{"ID":8,"#, CALL_BOUND, Kind::Transport),
        ("list", list, 200, r#"{"TotalCount":1,"#, CALL_BOUND, Kind::Transport),
        ("total", total, 200, r#"{"TotalCount":1,"#, CALL_BOUND, Kind::Transport),
        ("listing", listing, 200, "[", CALL_BOUND, Kind::Transport),
        ("send", act, 200, r#"{"status":"#, CALL_BOUND, Kind::Transport),
        ("dispatch post", create, 201, "{", CALL_BOUND, lost),
        // The file is searched in the list afterwards, and its replies are slow as well.
        ("upload", upload, 201, "{", 2.0 * CALL_BOUND, lost),
        ("doctor", examine, 200, "{", CALL_BOUND, Kind::Transport),
        ("zip", zip, 200, "PK\u{3}\u{4}", file, Kind::Transport),
        ("zip to the disk", zip_to_disk, 200, "PK\u{3}\u{4}", file, Kind::Transport),
        ("xml", xml, 200, "<RadData>", file, Kind::Transport),
        ("cart", cart, 200, "GrcVersion,1.6,\r\n", file, Kind::Transport),
        ("conversion", conversion, 200, "PK\u{3}\u{4}", file, Kind::Transport),
        ("mirror", once, 200, "PK\u{3}\u{4}", file, Kind::Transport),
        ("word in place of a file", zip, 200, r#"{"status":"#, file, Kind::Transport),
        ("more time", zip, 202, r#"{"status":"MORE_TIME_NEEDED","#, file, Kind::Transport),
        ("refused detail", detail, 400, r#"{"status":"#, 60.0, Kind::InvalidRequest),
        ("refused list", list, 401, "", 60.0, Kind::Authentication),
        ("refused file", zip, 404, "", 60.0, Kind::NotFound),
        ("refused dispatch post", create, 422, "{", 60.0, Kind::InvalidRequest),
        ("refused upload", upload, 400, "{", 60.0, Kind::InvalidRequest),
        ("busy detail", detail, 503, "", CALL_BOUND, Kind::ServiceUnavailable),
        ("broken detail", detail, 500, "", CALL_BOUND, Kind::ServiceUnavailable),
        ("busy file", zip, 503, "", CALL_BOUND, Kind::ServiceUnavailable),
    ]
}

#[tokio::test(start_paused = true)]
async fn every_call_with_a_slow_body_ends_by_its_bound() {
    let mut longest = ("", 0.0);
    for (name, call, status, start, bound, kind) in calls() {
        for (latency, limit) in [(0_u32, 1.0), (7, 1.0), (0, 0.05), (0, 0.005)] {
            let script = Script::slow(Duration::from_secs(latency.into()), move |_, _| Ok(drip(status, start)));
            let patience = Duration::from_secs_f64(CALL_BOUND * limit);
            let timeout = Timeouts { call: patience, ..Timeouts::default() };
            let client = client_of(Config { timeout, ..dispatching() }, &script);
            let begun = tokio::time::Instant::now();
            let error = call(&client).await.unwrap_err();
            let took = seconds(begun);
            let patience = patience.as_secs_f64();
            let most = match name {
                "upload" => bound.min(patience * 2.0),
                // The window that measures the throughput of a file ends.
                _ if bound == FILE_BOUND => bound.min(patience + 30.0),
                _ => bound.min(patience),
            };
            let most = most + f64::from(u32::try_from(script.count()).unwrap() * latency);
            assert!(took <= most + 0.01, "{name}: {took} s of {most} s: {error}");
            assert_eq!(error.kind(), kind, "{name}: {error}");
            if took > longest.1 {
                longest = (name, took);
            }
        }
    }
    println!("{} calls, the longest took {} s: {}", calls().len() * 4, longest.1, longest.0);
}

#[tokio::test(start_paused = true)]
async fn large_file_on_a_slow_line_may_exceed_the_deadline() {
    let mut random = fastrand::Rng::with_seed(7);
    let whole = zip_of(&std::iter::repeat_with(|| random.u8(..)).take(4_000_000).collect::<Vec<_>>());
    let sent = whole.clone();
    // Two kilobytes a second for more than half an hour.
    let script = Script::new(move |_, _| {
        let chunks = sent.chunks(2_048).map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
        Ok(Canned { chunks, steps: Some(Duration::from_secs(1)), ..ok("") })
    });
    let client = client(&script);
    let begun = tokio::time::Instant::now();
    let delivered = download(&client, "job_data.download", "SHP", Target::Memory).await.unwrap();
    assert_eq!((delivered, script.count()), (Delivered::Bytes(whole), 1));
    assert!(seconds(begun) > 1_800.0, "{}", seconds(begun));
}

#[tokio::test(start_paused = true)]
async fn minimum_throughput_is_configurable_and_zero_disables_it() {
    let whole = zip_of(&[7; 100]);
    for (least, is_read) in [(1, true), (3, false), (0, true)] {
        let sent = whole.clone();
        let script = Script::new(move |_, _| Ok(Canned { drips: Some(PAUSE), ..ok(sent.clone()) }));
        let timeout = Timeouts { min_throughput: least, ..Timeouts::default() };
        let client = client_of(Config { timeout, ..config() }, &script);
        let outcome = download(&client, "job_data.download", "SHP", Target::Memory).await;
        match outcome {
            Ok(delivered) => assert!(is_read && delivered == Delivered::Bytes(whole.clone()), "{least}"),
            Err(error) => {
                assert!(!is_read, "{least}: {error}");
                assert_eq!(error.kind(), Kind::Transport);
                let words = "received 60 bytes in 30 s, less than the 3 bytes per second of `min_throughput`";
                assert!(error.message().contains(words), "{error}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn endless_file_is_an_error_at_its_limit() {
    for is_announced in [false, true] {
        let given = std::sync::Arc::new(AtomicU64::new(0));
        let counted = std::sync::Arc::clone(&given);
        let script = Script::new(move |_, _| {
            let counted = std::sync::Arc::clone(&counted);
            let chunk = Bytes::from([b"PK\x03\x04".to_vec(), vec![7; 60_000]].concat());
            let endless = std::iter::repeat_with(move || {
                counted.fetch_add(60_004, Ordering::Relaxed);
                Ok(chunk.clone())
            });
            let reply = Canned { endless: Some(Box::new(endless)), ..ok("") };
            Ok(if is_announced { reply.with("content-length", 1_u64 << 40) } else { reply })
        });
        let client = client(&script);
        let folder = tempfile::tempdir().unwrap();
        let to_disk = Target::Disk { to: folder.path().to_owned(), overwrite: false };
        let given_arguments = arguments("job_data.download", &[("id", "8")]);
        for target in [Target::Memory, to_disk] {
            let limit = 1_000_000;
            let row = row("job_data.download");
            let error = client.download(row, &given_arguments, target, Some(limit)).await.unwrap_err();
            assert_eq!(error.kind(), Kind::Archive, "{error}");
            assert!(
                error.message().contains("limit of 1000000 bytes; if you trust it, raise Limits(bytes=...)"),
                "{error}"
            );
        }
        let request = arguments("job_data.request", &[("id", "8")]);
        let mut conversion = client.conversion(row("job_data.request"), request).unwrap().with_max_bytes(1_000_000);
        assert_eq!(conversion.wait(None).await.unwrap_err().kind(), Kind::Archive);
        assert_eq!(script.count(), 3, "what is too long is not asked for again");
        let most = if is_announced { 3 * 60_004 } else { 3 * 1_100_000 };
        assert!(given.load(Ordering::Relaxed) <= most, "{given:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
