//! Truncates replies of each kind at each byte on a real connection: no short file passes as a complete one, and no
//! request is sent twice that must be sent once.

#![expect(clippy::panic, reason = "a test says what it expects by panicking")]

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use futures_util::{StreamExt as _, stream};
use headland::client::{Client, Config, Delivered, Target, UploadFile};
use headland::error::{Error, Kind};
use headland::layer::{ReadOptions, Source};
use headland::wire::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::loopback::with_real_transport;
use crate::payloads::{CREATE, dispatching, make};
use crate::support::{arguments, config, row, zip_of};

const CART: &str = "GrcVersion,1.6,\r\nTotalPounds,30,\r\n,Pounds,,\r\nLoadNumber,Weight,TruckID,Comment\r\n\
                    1,10,North,wet\r\n2,20,South,\"dry, late\"\r\n";
const JOBS: &str = r#"{"TotalCount":2,"IsNextPage":false,"JobData":[{"ID":8,"Name":"a.zip","Uri":"u","CreateDate":"2999-01-01T00:00:00Z"},{"ID":9,"Name":"b"}]}"#;
const JOBS_XML: &str = "<XIndex><TotalCount>2</TotalCount><IsNextPage>false</IsNextPage><JobData><ID>8</ID></JobData>\
                        <JobData><ID>9</ID></JobData></XIndex>";
const JOB: &str = r#"{"ID":8,"Name":"a.zip","SubType":"Yield"}"#;
const JOB_XML: &str = "<JobDataDetail><ID>8</ID><Name>a.zip</Name></JobDataDetail>";
const XML: &str = "<?xml version=\"1.0\"?><RadData><Job Id=\"8\">text</Job><RadDataEnd/><Empty/></RadData>\r\n";
const REFUSED: &str = r#"{"status":"INVALID_REQUEST","errorInfo":"Bad id.","result":"nil"}"#;
const QUEUED: &str = r#"{"status":"INVALID_REQUEST","errorInfo":"The map is already queued. Please wait."}"#;
const MAPS: &str = r#"{"TotalCount":1,"IsNextPage":false,"PrescriptionMap":[{"ID":11}]}"#;
const NO_MAPS: &str = r#"{"TotalCount":0,"IsNextPage":false,"PrescriptionMap":[]}"#;
const CREATED: &str = r#"{"status":"OK","result":"/V1/jobdata/81"}"#;
const OPERATION: &str = r#"{"fieldOperationId":"a-7","status":"Released","list":[{"a":1},{"b":2}]}"#;

/// How the end of a body is marked.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Framing {
    Length,
    Chunks,
    /// Only by the end of the connection.
    Nothing,
}

/// The request.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    List,
    Detail,
    Zip,
    Xml,
    Cart,
    Upload,
    Send,
    /// A send that the service rejects.
    Refused,
    Dispatch,
}

/// A kind of reply.
#[derive(Clone)]
struct Reply {
    call: Call,
    status: &'static str,
    body: Vec<u8>,
}

/// Which of the replies to one call are truncated.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cut {
    First,
    /// Each, and each one byte earlier than the one before.
    Each,
    /// Each at the same byte.
    Same,
}

fn replies() -> Vec<Reply> {
    let reply = |call, status, body: &[u8]| Reply { call, status, body: body.to_vec() };
    // A nested archive has an end record of its own.
    let stored = {
        use std::io::Write as _;
        let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        let plain = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        writer.start_file("inner.zip", plain).unwrap();
        writer.write_all(&zip_of(b"inner")).unwrap();
        writer.set_comment("made by a display").unwrap();
        writer.finish().unwrap().into_inner()
    };
    vec![
        reply(Call::List, "200 OK", JOBS.as_bytes()),
        reply(Call::List, "200 OK", JOBS_XML.as_bytes()),
        reply(Call::List, "400 Bad Request", REFUSED.as_bytes()),
        reply(Call::Detail, "200 OK", JOB.as_bytes()),
        reply(Call::Detail, "200 OK", JOB_XML.as_bytes()),
        reply(Call::Zip, "200 OK", &stored),
        reply(Call::Zip, "200 OK", REFUSED.as_bytes()),
        reply(Call::Xml, "200 OK", XML.as_bytes()),
        reply(Call::Cart, "200 OK", CART.as_bytes()),
        reply(Call::Upload, "201 Created", CREATED.as_bytes()),
        reply(Call::Send, "200 OK", b"The map is queued."),
        reply(Call::Send, "200 OK", b""),
        reply(Call::Refused, "200 OK", REFUSED.as_bytes()),
        reply(Call::Dispatch, "201 Created", OPERATION.as_bytes()),
    ]
}

/// A reply as bytes on the wire.
fn raw(status: &str, framing: Framing, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\nDate: Tue, 01 Sep 2026 10:00:00 GMT\r\nConnection: close\r\n");
    let (mark, body) = match framing {
        Framing::Length => (format!("Content-Length: {}\r\n", body.len()), body.to_vec()),
        Framing::Nothing => (String::new(), body.to_vec()),
        Framing::Chunks => {
            let chunks = body.chunks(50).flat_map(|chunk| {
                [format!("{:x}\r\n", chunk.len()).into_bytes(), chunk.to_vec(), b"\r\n".to_vec()].concat()
            });
            ("Transfer-Encoding: chunked\r\n".to_owned(), chunks.chain(b"0\r\n\r\n".iter().copied()).collect())
        }
    };
    [head.as_bytes(), mark.as_bytes(), b"\r\n", &body].concat()
}

/// The methods of the requests that a server has seen.
type Seen = Arc<Mutex<Vec<String>>>;

/// A server that closes each connection after its one reply.
async fn serve(answer: impl Fn(&str, usize) -> Vec<u8> + Send + 'static) -> (SocketAddr, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Seen::default();
    let recorded = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut bytes = Vec::new();
            let end = loop {
                if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                    break end + 4;
                }
                if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                    break 0;
                }
            };
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head.split("content-length: ").nth(1).and_then(|text| text.split("\r\n").next());
            let length: usize = length.map_or(0, |text| text.parse().unwrap());
            while bytes.len() < end + length {
                stream.read_buf(&mut bytes).await.unwrap();
            }
            let method = head.split(' ').next().unwrap_or_default().to_uppercase();
            let number = recorded.lock().unwrap().iter().filter(|known| **known == method).count();
            recorded.lock().unwrap().push(method.clone());
            let _ = stream.write_all(&answer(&method, number)).await;
        }
    });
    (address, seen)
}

/// Makes the call and returns its outcome as bytes or as a record.
async fn perform(call: Call, client: &Client) -> Result<(Vec<u8>, Value), Error> {
    let id = [("id", "8")];
    let file = |name: &'static str, format: &'static str| async move {
        let given: Vec<(&str, &str)> = id.into_iter().chain([("format", format)]).collect();
        match client.download(row(name), &arguments(name, &given), Target::Memory, None).await? {
            Delivered::Bytes(bytes) => Ok((bytes, Value::Null)),
            Delivered::File(_) => panic!("memory was asked for"),
        }
    };
    match call {
        Call::List => {
            let mut pages = client.pages(row("job_data.list"), arguments("job_data.list", &[]), None, None)?;
            let mut all = Vec::new();
            while let Some(page) = pages.next_page().await? {
                all.extend(page);
            }
            Ok((Vec::new(), Value::List(all)))
        }
        Call::Detail => Ok((Vec::new(), client.detail(row("job_data.get"), &arguments("job_data.get", &id)).await?)),
        Call::Zip => file("job_data.download", "SHP").await,
        Call::Xml => file("job_data.download", "XML").await,
        Call::Cart => file("grain_carts.download", "BIN").await,
        Call::Upload => {
            let file = UploadFile { name: "a.zip".to_owned(), content: zip_of(b"points").into() };
            client
                .upload(row("job_data.upload"), &arguments("job_data.upload", &[]), file)
                .await
                .map(|created| (created.id.into_bytes(), Value::Null))
        }
        Call::Send | Call::Refused => {
            let given = arguments("prescription_maps.send", &[("rx_id", "11"), ("field_computer_id", "CR 12")]);
            client.send_command(row("prescription_maps.send"), &given).await.map(|()| (Vec::new(), Value::Null))
        }
        Call::Dispatch => make(client, CREATE).await.map(|value| (Vec::new(), value)),
    }
}

/// Outcome of one call whose replies are truncated at `at`, with the server.
async fn case(reply: &Reply, framing: Framing, cut: Cut, at: usize) -> (Result<(Vec<u8>, Value), Error>, Vec<String>) {
    let Reply { call, status, body } = reply.clone();
    let whole = raw(status, framing, &body);
    let (address, seen) = serve(move |method, number| match (call, method) {
        // An upload whose reply is lost is searched in the list, and a map is queued once.
        (Call::Upload, "GET") => raw("200 OK", Framing::Length, JOBS.as_bytes()),
        (Call::Send, "GET") => raw("200 OK", Framing::Length, MAPS.as_bytes()),
        (Call::Refused, "GET") => raw("200 OK", Framing::Length, NO_MAPS.as_bytes()),
        (Call::Send, "PUT") if number > 0 => raw("400 Bad Request", Framing::Length, QUEUED.as_bytes()),
        _ => match cut {
            Cut::First if number > 0 => whole.clone(),
            Cut::First | Cut::Same => whole[..at].to_vec(),
            Cut::Each => whole[..at.saturating_sub(number)].to_vec(),
        },
    })
    .await;
    let base_url = format!("http://{address}/V1/");
    let dispatch_url = Some(format!("http://{address}/V2/"));
    let client = with_real_transport(Config { base_url, dispatch_url, ..dispatching_here() });
    let outcome = perform(call, &client).await;
    let seen = seen.lock().unwrap().clone();
    (outcome, seen)
}

fn dispatching_here() -> Config {
    Config { dispatch_token: dispatching().dispatch_token, ..config() }
}

/// Counts of a sweep.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    cases: usize,
    whole: usize,
    errors: usize,
    /// Grain carts that are truncated at the same byte twice, after a complete line or in its last cell.
    same_twice: usize,
}

/// Distance of the tested bytes: 1 in a soak, otherwise larger and different for each kind.
fn step() -> usize {
    if std::env::var_os("HEADLAND_SERIES").is_some() { 1 } else { 29 }
}

async fn sweep(cut: Cut) -> Counts {
    let mut cases = Vec::new();
    for (kind, reply) in replies().into_iter().enumerate() {
        for framing in [Framing::Length, Framing::Chunks, Framing::Nothing] {
            let length = raw(reply.status, framing, &reply.body).len();
            let (expected, _) = case(&reply, framing, Cut::First, length).await;
            let first = (kind * 7 + framing as usize * 3) % step();
            let body = length - reply.body.len();
            // The bytes around the end of the head and those at the end are always tested.
            let mut places: Vec<usize> = (first..length).step_by(step()).collect();
            places.extend([body, body + 1, length - 1, length.saturating_sub(2)].into_iter().filter(|at| *at < length));
            places.sort_unstable();
            places.dedup();
            let expected = Arc::new(expected);
            cases.extend(places.into_iter().map(|at| (reply.clone(), framing, at, Arc::clone(&expected))));
        }
    }
    let counts = stream::iter(cases).map(|(reply, framing, at, expected)| async move {
        let (outcome, seen) = case(&reply, framing, cut, at).await;
        let what = format!("{:?} {} {framing:?} {cut:?} at {at}: {outcome:?}, {seen:?}", reply.call, reply.status);
        let posts = seen.iter().filter(|method| *method == "POST").count();
        assert!(posts <= 1, "sent twice: {what}");
        if matches!(reply.call, Call::Upload | Call::Dispatch) {
            assert_eq!(posts, 1, "{what}");
        }
        let mut counts = Counts { cases: 1, ..Counts::default() };
        match (&outcome, &*expected) {
            (Err(error), _) => {
                counts.errors = 1;
                let kinds =
                    [Kind::Transport, Kind::Decode, Kind::InvalidRequest, Kind::Conflict, Kind::UploadOutcomeUnknown];
                assert!(kinds.contains(&error.kind()), "{what}");
                assert!(reply.call != Call::Send || cut != Cut::First, "the map is queued: {what}");
            }
            // The list names the record whose reply was lost.
            (Ok((id, _)), _) if reply.call == Call::Upload => {
                counts.whole = 1;
                assert!(id == b"8" || id == b"81", "{what}");
                assert_eq!(id == b"8", seen.len() > 1, "{what}");
            }
            // The status confirms the change; the body of the service is lost.
            (Ok((_, Value::Null)), _) if reply.call == Call::Dispatch => counts.whole = 1,
            (Ok((bytes, value)), Ok((expected_bytes, expected_value))) => {
                let trimmed = reply.call == Call::Xml;
                let end = |bytes: &[u8]| if trimmed { bytes.trim_ascii_end().to_vec() } else { bytes.to_vec() };
                let is_short = end(bytes) != end(expected_bytes) || value != expected_value;
                if is_short && reply.call == Call::Cart && framing == Framing::Nothing && cut == Cut::Same {
                    let layer = headland::layer::read(&Source::Bytes(bytes.clone().into()), &ReadOptions::default());
                    let is_reported = layer
                        .is_ok_and(|layer| layer.diagnostics().iter().any(|it| it.code.as_str() == "total-differs"));
                    let in_last_cell = !expected_bytes[bytes.len()..].trim_ascii_end().contains(&b'\n');
                    assert!(is_reported || in_last_cell, "{what}");
                    counts.same_twice = 1;
                } else {
                    assert!(!is_short, "a short reply was taken for a whole one: {what}");
                    counts.whole = 1;
                }
            }
            (Ok(_), Err(error)) => panic!("an error became a success: {what}, whole: {error}"),
        }
        counts
    });
    counts
        .buffer_unordered(16)
        .fold(Counts::default(), |sum, one| async move {
            Counts {
                cases: sum.cases + one.cases,
                whole: sum.whole + one.whole,
                errors: sum.errors + one.errors,
                same_twice: sum.same_twice + one.same_twice,
            }
        })
        .await
}

#[tokio::test]
async fn truncated_reply_is_requested_again_or_an_error() {
    let counts = sweep(Cut::First).await;
    println!("cut once: {counts:?}");
    assert_eq!(counts.cases, counts.whole + counts.errors);
    assert!(counts.whole > counts.errors, "{counts:?}");
}

#[tokio::test]
async fn replies_truncated_each_time_are_an_error() {
    let counts = sweep(Cut::Each).await;
    println!("cut each time: {counts:?}");
    assert_eq!(counts.cases, counts.whole + counts.errors);
}

#[tokio::test]
async fn grain_cart_truncated_twice_at_the_same_byte_passes_as_complete() {
    let counts = sweep(Cut::Same).await;
    println!("cut at the same byte: {counts:?}");
    assert_eq!(counts.cases, counts.whole + counts.errors + counts.same_twice);
}

/// Lists and details are read once: a truncated one is invalid JSON or XML.
#[tokio::test]
async fn truncated_list_and_detail_without_framing_are_an_error() {
    for reply in replies().into_iter().filter(|reply| matches!(reply.call, Call::List | Call::Detail)) {
        let length = raw(reply.status, Framing::Nothing, &reply.body).len();
        let head = length - reply.body.len();
        for at in (head..length).step_by(step().min(7)) {
            let (outcome, _) = case(&reply, Framing::Nothing, Cut::Same, at).await;
            assert!(outcome.is_err(), "{:?} at {} of {}: {outcome:?}", reply.call, at - head, reply.body.len());
        }
    }
}
