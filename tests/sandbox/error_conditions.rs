//! Tests every row of the tables of specification 7 and 8 that concerns the field data API: provoked at the service,
//! checked on the wire and in the client.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use headland::client::{Client, Target, UploadFile};
use headland::error::{Error, Kind, Result};
use headland::limiter::Window;
use headland::sandbox::{Options, Sandbox};

use super::headland_client::{arguments_for, client, client_with_key, client_with_secret, row, small_job};
use super::raw_client::{Call, Reply, call, generated, get, limited, options, start, upload, zip_of};

/// The rows of 7, as the specification words them, each checked by the test below that names it.
const CONDITIONS: [&str; 12] = [
    "Failed API key check, signature check or expired timestamp (older than 120 seconds)",
    "Access key does not permit the data",
    "HTTP method not allowed for the URI",
    "URI does not exist",
    "Rate limit exceeded",
    "Database trouble",
    "Bad request or missing item",
    "Server needs more time",
    "No coverage in job data",
    "Requested job data format not ready",
    "Upload succeeds",
    "PUT send-to-computer conflict (already queued id, or same file name)",
];

/// The rows of 8; the row about dispatch does not concern the field data API.
const LIMITS: [&str; 10] = [
    "Rate limit",
    "Earlier stated throttle",
    "Rate limit response headers",
    "Request lifetime",
    "Default pageSize",
    "Recommended maximum pageSize",
    "Default page",
    "Location refresh",
    "Dispatch record limit per call",
    "Upload size limits",
];

#[test]
fn condition_lists_equal_those_of_the_specification() {
    let path = std::env::var("HEADLAND_SPEC")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/spec/service.md").to_owned());
    let Ok(text) = std::fs::read_to_string(path) else {
        println!("skipped: no specification at HEADLAND_SPEC or ../shared/spec/service.md");
        return;
    };
    for (begin, end, rows) in [("\n## 7.", "\n## 8.", &CONDITIONS[..]), ("\n## 8.", "\n## 9.", &LIMITS[..])] {
        let section = text.split_once(begin).unwrap().1.split_once(end).unwrap().0;
        let stated: Vec<&str> =
            section.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next()).collect();
        assert_eq!(stated[1..], *rows, "behind the table's header");
    }
}

/// A request, sent once by the independent client of these tests and once by headland's client.
#[derive(Clone, Copy, Debug)]
enum RequestKind {
    Summary,
    Detail,
    File,
    Send,
}

fn on_the_wire(sandbox: &Sandbox, request: RequestKind) -> Reply {
    let account = generated();
    match request {
        RequestKind::Summary => get(sandbox, "/accesskey").send(),
        RequestKind::Detail => get(sandbox, &format!("/jobdata/{}", small_job())).send(),
        RequestKind::File => get(sandbox, &format!("/jobdata/{}?format=BIN", small_job())).send(),
        RequestKind::Send => {
            let path = format!("/prescriptionmaps/{}/fieldcomputers/{}", account.maps[0].id, account.computers[0].id);
            call(sandbox, "PUT", &path).send()
        }
    }
}

async fn by_client(client: &Client, request: RequestKind) -> Result<()> {
    let account = generated();
    let (map, computer) = (&account.maps[0].id, &account.computers[0].id);
    match request {
        RequestKind::Summary => client.detail(row("access_key"), &arguments_for("access_key", &[])).await.map(drop),
        RequestKind::Detail => {
            client.detail(row("job_data.get"), &arguments_for("job_data.get", &[("id", &small_job())])).await.map(drop)
        }
        RequestKind::File => {
            let given = arguments_for("job_data.download", &[("id", &small_job()), ("format", "BIN")]);
            client.download(row("job_data.download"), &given, Target::Memory, None).await.map(drop)
        }
        RequestKind::Send => {
            let given = arguments_for("prescription_maps.send", &[("rx_id", map), ("field_computer_id", computer)]);
            client.send_command(row("prescription_maps.send"), &given).await
        }
    }
}

/// A condition that a fault causes: its row in 7, the status, the text of the body, and the error of the client, unless
/// it recovers.
type Made = (usize, &'static str, RequestKind, u16, &'static str, Option<Kind>);

const MADE: &[Made] = &[
    (0, "unauthorized", RequestKind::Detail, 401, "signature check failed", Some(Kind::Authentication)),
    (1, "forbidden", RequestKind::Detail, 403, "does not permit", Some(Kind::PermissionDenied)),
    (2, "method-not-allowed", RequestKind::Detail, 405, "does not accept the method", Some(Kind::MethodNotAllowed)),
    (3, "not-found", RequestKind::Detail, 404, "nothing at this address", Some(Kind::NotFound)),
    (3, "server-error", RequestKind::Detail, 500, "failed unexpectedly", None),
    (4, "too-many-requests", RequestKind::Detail, 429, "Exceeded maximum requests.", None),
    (5, "unavailable", RequestKind::Detail, 503, "Resources exhausted. Try again.", None),
    (6, "bad-request", RequestKind::Detail, 400, "Something in the request is wrong.", Some(Kind::InvalidRequest)),
    (7, "more-time", RequestKind::Detail, 202, "00:00:01", None),
    (7, "more-time", RequestKind::Summary, 202, "00:00:01", None),
    (7, "more-time", RequestKind::Send, 202, "00:00:01", None),
    (8, "no-coverage", RequestKind::File, 200, "No coverage available.", Some(Kind::NoCoverage)),
    (9, "not-ready", RequestKind::File, 200, "00:00:01", None),
    (11, "already-queued", RequestKind::Send, 409, "Please wait", Some(Kind::Conflict)),
    (11, "same-name", RequestKind::Send, 409, "same name", Some(Kind::Conflict)),
];

/// Checks the form of a reply that 7 promises.
fn assert_form(reply: &Reply, row: usize, status: u16) {
    let is_word = |word: &str| assert_eq!(reply.json()["status"], word, "{}: {}", CONDITIONS[row], reply.text());
    match (row, status) {
        (4, _) => assert_eq!(reply.get("retry-after"), Some("1")),
        (5, _) => {
            // A plain string without an envelope.
            assert_eq!(reply.text(), "Resources exhausted. Try again.");
            assert_eq!(reply.get("content-type"), Some("text/plain; charset=utf-8"));
        }
        (7 | 9, _) => {
            is_word("MORE_TIME_NEEDED");
            assert_eq!(reply.get("retry-after"), Some("1"));
        }
        (8, _) => {
            is_word("NO_COVERAGE");
            assert_eq!(reply.json()["result"], "nil");
        }
        _ => is_word("INVALID_REQUEST"),
    }
}

#[tokio::test]
async fn each_condition_of_section_7_can_be_caused_and_the_client_handles_it() {
    let windows = [Window { calls: 1_000, period: Duration::from_secs(60) }];
    let sandbox = Arc::new(start(Options { rate_limits: windows.to_vec(), ..options() }));
    for (place, kind, request, status, says, error) in MADE {
        let name = format!("{}: {kind} for {request:?}", CONDITIONS[*place]);
        sandbox.add_fault("*", kind, 1).unwrap();
        let reply = on_the_wire(&sandbox, *request);
        assert_eq!(reply.status, *status, "{name}: {}", reply.text());
        assert!(reply.text().contains(says), "{name}: {}", reply.text());
        assert_form(&reply, *place, *status);
        for header in ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"] {
            assert!(reply.get(header).is_some(), "{name} has {header}");
        }
        sandbox.add_fault("*", kind, 1).unwrap();
        let (before, asked) = (sandbox.now(), sandbox.requests().len());
        let met = by_client(&client(&sandbox, &[]), *request).await;
        assert_eq!(met.as_ref().map_err(Error::kind).err(), *error, "{name}: {met:?}");
        let statuses: Vec<u16> = sandbox.requests()[asked..].iter().map(|request| request.status).collect();
        if let Err(error) = met {
            assert_eq!(error.facts().status, Some(*status), "{name}");
            assert!(error.message().contains(says), "{name}: {error}");
            assert_eq!(statuses, [*status], "{name}: what is refused is not asked again");
        } else {
            // The state of a sent map is read from the queue of its computer.
            let lookups: &[u16] = if matches!(request, RequestKind::Send) { &[200] } else { &[] };
            assert_eq!(statuses, [&[*status, 200], lookups].concat(), "{name}");
            let least = i64::from(reply.get("retry-after").is_some());
            assert!(sandbox.now() - before >= chrono::TimeDelta::seconds(least), "{name}: asked too early");
        }
        // A sent map is queued; the next condition needs an empty queue.
        sandbox.advance(Duration::from_secs(1_800));
        sandbox.clear_faults();
    }
    let made: BTreeSet<usize> = MADE.iter().map(|(place, ..)| *place).collect();
    assert_eq!(made, (0..12).filter(|place| *place != 10).collect(), "the eleventh is the success of an upload");
}

#[tokio::test]
async fn each_failed_check_is_named_in_reply_and_error_7_and_5_2() {
    let sandbox = Arc::new(start(options()));
    let keys = sandbox.keys().clone();
    let summary = |change: &dyn Fn(&mut Call<'_>)| get(&sandbox, "/accesskey").with(|call| change(call)).send();
    let other = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    for (reply, check) in [
        (summary(&|call| call.api_key = "unknown".to_owned()), "API key check failed"),
        (summary(&|call| other.clone_into(&mut call.secret)), "signature check failed"),
        (summary(&|call| call.late = -121), "timestamp check failed"),
        (summary(&|call| call.access_key = "unknown".to_owned()), "access key check failed"),
    ] {
        assert_eq!(reply.status, 401);
        assert!(reply.info().starts_with(check), "{}", reply.info());
    }
    for (client, check) in [
        (client_with_secret("unknown", &keys.shared_secret, &sandbox), "API key check failed"),
        (client_with_secret(&keys.api_key, other, &sandbox), "signature check failed"),
        (client_with_key("unknown", &sandbox), "access key check failed"),
    ] {
        let error = by_client(&client, RequestKind::Detail).await.unwrap_err();
        assert_eq!((error.kind(), error.facts().status), (Kind::Authentication, Some(401)));
        assert!(error.facts().check.as_deref().unwrap().starts_with(check), "{error}");
    }
    // An expired time stamp is a wrong clock: corrected once, with a warning.
    sandbox.add_fault("*", "skew", 2).unwrap();
    let off = client(&sandbox, &[]);
    by_client(&off, RequestKind::Detail).await.unwrap();
    assert_eq!(off.take_warnings().len(), 1);
}

#[tokio::test]
async fn real_missing_and_rejected_requests_have_the_same_form_7() {
    let sandbox = Arc::new(start(options()));
    let client = client(&sandbox, &[]);
    assert_eq!(get(&sandbox, "/nowhere").send().status, 404);
    assert_eq!(call(&sandbox, "DELETE", "/jobdata").send().status, 405);
    let missing = client.detail(row("job_data.get"), &arguments_for("job_data.get", &[("id", "999999999999")])).await;
    assert_eq!(missing.unwrap_err().kind(), Kind::NotFound);
    for format in ["AGX", "RAD"] {
        let id = generated().maps[0].id.clone();
        let given = arguments_for("prescription_maps.download", &[("id", &id), ("format", format)]);
        let error = client.download(row("prescription_maps.download"), &given, Target::Memory, None).await.unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidRequest, "{error}");
        assert!(
            error.message().contains(if format == "AGX" { "not supported" } else { "cannot be downloaded" }),
            "{error}"
        );
    }
}

#[tokio::test]
async fn successful_upload_is_201_with_the_address_of_the_new_record_7() {
    for (variants, has_location) in [(Vec::new(), true), (vec!["created-in-body".to_owned()], false)] {
        let sandbox = Arc::new(start(Options { variants, ..options() }));
        let reply = upload(&sandbox, "a.jdp.zip", &zip_of("a.shp", b"x")).send();
        assert_eq!((reply.status, reply.get("location").is_some()), (201, has_location));
        assert!(reply.text().starts_with(&sandbox.base_url()), "{}", reply.text());
        let file = UploadFile { name: "b.jdp.zip".to_owned(), content: zip_of("b.shp", b"x").into() };
        let created = client(&sandbox, &[])
            .upload(row("job_data.upload"), &arguments_for("job_data.upload", &[]), file)
            .await
            .unwrap();
        assert_eq!(get(&sandbox, &format!("/jobdata/{}", created.id)).send().status, 200);
    }
}

#[test]
fn limits_of_section_8_are_the_defaults_of_the_sandbox() {
    let limit = Options::default().rate_limits;
    assert_eq!(limit, [Window { calls: 30, period: Duration::from_secs(60) }]);
    let throttled = limited(&[(15, 30)], false);
    let statuses: Vec<u16> = (0..16).map(|_| get(&throttled, "/accesskey").send().status).collect();
    assert_eq!((statuses[14], statuses[15]), (200, 429), "the earlier throttle");

    let sandbox = start(options());
    for (late, status) in [(-120, 200), (-121, 401)] {
        assert_eq!(get(&sandbox, "/accesskey").with(|call| call.late = late).send().status, status);
    }
    let default = get(&sandbox, "/jobdata").send().json();
    assert_eq!((default["PageSize"].as_u64(), default["PageIndex"].as_u64()), (Some(20), Some(0)));
    let computer = &generated().computers[2].id;
    for (path, seconds) in [
        (format!("/fieldhubs/{}/currentlocation", generated().hubs[0].id), 30),
        (format!("/fieldcomputers/{}/currentlocation", computer.replace(' ', "%20").replace('+', "%2B")), 300),
    ] {
        let newest = || get(&sandbox, &path).send().json()["DeviceLocation"][0]["ID"].clone();
        let before = newest();
        sandbox.advance(Duration::from_secs(seconds));
        assert_ne!(newest(), before, "{path} is new after {seconds} s");
    }
    // The service accepts larger pages than it recommends, and the client requests none (paging tests).
    assert_eq!(get(&sandbox, "/jobdata?pageSize=1001").send().status, 200);
    let large = upload(&sandbox, "a.jdp.zip", b"").with(|call| call.body.clear()).header("Content-Length", "536870913");
    assert_eq!(large.send().status, 413, "upload size limits are not shown; this service has one");
}
