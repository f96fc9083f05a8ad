//! Tests the real transport against a small server on loopback: the bytes on the wire, and broken connections.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use headland::client::{Client, Config, Delivered, Target, Timeouts, UploadFile};
use headland::clock::{Clock, Sleep};
use headland::error::Kind;
use headland::limiter::Window;
use headland::secret::Secret;
use headland::signing::{SigningInput, SigningKey};
use headland::transport::{BaseUrl, HttpClient};
use headland::wire::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::support::{SECRET, arguments, config, row, zip_of};

const KEY: &str = r#"{"AccessKey":"k","ID":"1","IsActive":true}"#;

/// A reply as bytes, and the time that the connection stays open without more.
type Raw = (Vec<u8>, Duration);

/// The received requests: the head as text, and the body.
type Seen = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

fn reply(head: &str, body: &[u8]) -> Raw {
    ([format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat(), Duration::ZERO)
}

/// Answers requests in turn on any connection.
async fn serve(mut answer: impl FnMut(usize) -> Raw + Send + 'static) -> (SocketAddr, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Seen::default();
    let kept = seen.clone();
    tokio::spawn(async move {
        let mut number = 0;
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            loop {
                let mut bytes = Vec::new();
                let end = loop {
                    if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                        break Some(end + 4);
                    }
                    if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                        break None;
                    }
                };
                let Some(end) = end else { break };
                let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
                let length = head.lines().find_map(|line| {
                    let (name, value) = line.split_once(':')?;
                    name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
                });
                while bytes.len() < end + length.unwrap_or(0) {
                    stream.read_buf(&mut bytes).await.unwrap();
                }
                kept.lock().unwrap().push((head, bytes[end..].to_vec()));
                let (raw, open) = answer(number);
                number += 1;
                stream.write_all(&raw).await.unwrap();
                tokio::time::sleep(open).await;
                if !open.is_zero() || raw.is_empty() || String::from_utf8_lossy(&raw).contains("Connection: close") {
                    break;
                }
            }
        }
    });
    (address, seen)
}

fn client(address: SocketAddr) -> Client {
    let base_url = format!("http://{address}/V1/");
    let timeout = Timeouts { read: Duration::from_millis(300), ..Timeouts::default() };
    with_real_transport(Config { base_url, timeout, ..config() })
}

pub(crate) fn with_real_transport(config: Config) -> Client {
    let base = BaseUrl::parse(&config.base_url).unwrap();
    let transport = HttpClient::new(&base, config.timeout.connect, config.timeout.read, None).unwrap();
    Client::with_parts(config, Arc::new(transport), Arc::new(Hurried)).unwrap()
}

/// The real time, with pauses that are fifty times shorter.
struct Hurried;

impl Clock for Hurried {
    fn now(&self) -> chrono::DateTime<chrono::Utc> {
        chrono::Utc::now()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration / 50))
    }
}

async fn access_key(client: &Client) -> headland::error::Result<Value> {
    client.detail(row("access_key"), &arguments("access_key", &[])).await
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

#[tokio::test]
async fn signature_covers_the_bytes_on_the_wire() {
    let (address, seen) = serve(|_| reply("200 OK", br#"{"ID":"A b%2e"}"#)).await;
    let client = client(address);
    client.detail(row("job_data.get"), &arguments("job_data.get", &[("id", "A b%2e")])).await.unwrap();
    let (head, _) = seen.lock().unwrap()[0].clone();
    let path = head.split(' ').nth(1).unwrap();
    assert_eq!(path, "/V1/jobdata/A%20b%252e");
    assert_eq!(header(&head, "host"), Some(address.to_string().as_str()));
    assert_eq!(header(&head, "accept"), Some("application/json"));
    assert_eq!(header(&head, "accept-encoding"), Some("gzip, deflate"));
    let signed = SigningInput {
        method: "GET",
        host: &address.to_string(),
        path,
        timestamp: header(&head, "x-ss-timestamp").unwrap().parse().unwrap(),
        api_key: header(&head, "x-ss-apikey").unwrap(),
        access_key: header(&head, "x-ss-accesskey").unwrap(),
    };
    assert!(signed.verify(&SigningKey::from_base64(SECRET).unwrap(), header(&head, "x-ss-signature").unwrap()));
}

#[tokio::test]
async fn compressed_records_are_decoded_and_files_stay_unchanged() {
    use std::io::Write as _;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(KEY.as_bytes()).unwrap();
    let packed = gzip.finish().unwrap();
    let file = zip_of(b"points");
    let whole = file.clone();
    let (address, seen) = serve(move |number| match number {
        0 => reply("200 OK\r\nContent-Encoding: gzip", &packed),
        _ => reply("200 OK\r\nContent-Type: application/zip", &file),
    })
    .await;
    let client = client(address);
    access_key(&client).await.unwrap();
    let given = arguments("job_data.download", &[("id", "1")]);
    let bytes = client.download(row("job_data.download"), &given, Target::Memory, None).await.unwrap();
    assert_eq!(bytes, Delivered::Bytes(whole));
    assert_eq!(header(&seen.lock().unwrap()[1].0, "accept-encoding"), Some("identity"));
}

#[tokio::test]
async fn truncated_body_is_requested_again_and_leaves_no_file() {
    let file = zip_of(&[9; 3_000]);
    let whole = file.clone();
    let (address, seen) = serve(move |number| {
        let (mut raw, _) = reply("200 OK\r\nConnection: close", &file);
        if number < 2 {
            raw.truncate(raw.len() - 20);
        }
        // The second time, the connection stays open, but nothing follows.
        (raw, if number == 1 { Duration::from_millis(500) } else { Duration::ZERO })
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("1.zip");
    let target = Target::Disk { to: path.clone(), overwrite: false };
    let given = arguments("job_data.download", &[("id", "1")]);
    client(address).download(row("job_data.download"), &given, target, None).await.unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), whole);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(seen.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn redirect_is_an_error_and_not_followed() {
    let (elsewhere, unseen) = serve(|_| reply("200 OK", KEY.as_bytes())).await;
    let location = format!("307 Temporary Redirect\r\nLocation: http://{elsewhere}/accesskey");
    let (address, seen) = serve(move |_| reply(&location, b"")).await;
    let error = access_key(&client(address)).await.unwrap_err();
    assert_eq!((error.kind(), error.facts().status), (Kind::Transport, Some(307)));
    assert!(error.message().contains("127.0.0.1"), "{error}");
    assert_eq!((seen.lock().unwrap().len(), unseen.lock().unwrap().len()), (1, 0));
}

#[tokio::test]
async fn upload_with_a_lost_reply_is_sent_once() {
    let date = chrono::Utc::now().to_rfc3339();
    let (address, seen) = serve(move |number| {
        if number == 0 {
            (Vec::new(), Duration::ZERO)
        } else {
            let item = format!(r#"{{"ID":8,"Name":"a.zip","Uri":"u","CreateDate":"{date}"}}"#);
            let head = format!("200 OK\r\nDate: {}", chrono::Utc::now().to_rfc2822());
            reply(&head, format!(r#"{{"TotalCount":1,"IsNextPage":false,"JobData":[{item}]}}"#).as_bytes())
        }
    })
    .await;
    let file = UploadFile { name: "a.zip".to_owned(), content: zip_of(b"points").into() };
    let created =
        client(address).upload(row("job_data.upload"), &arguments("job_data.upload", &[]), file.clone()).await.unwrap();
    assert_eq!(created.id, "8");
    let seen = seen.lock().unwrap();
    assert_eq!(seen.iter().filter(|(head, _)| head.starts_with("POST")).count(), 1);
    assert!(seen[0].1.windows(file.content.len()).any(|bytes| bytes == file.content), "the file went whole");
}

#[tokio::test]
async fn closed_port_and_server_without_tls_are_errors_that_name_the_cause() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = access_key(&client(address)).await.unwrap_err();
    assert_eq!((error.kind(), error.facts().attempts), (Kind::Transport, Some(4)));
    assert!(error.message().contains(&format!("cannot connect to {address}")), "{error}");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(&reply("400 Bad Request", b"plain").0).await.unwrap();
        }
    });
    let tls = with_real_transport(Config { base_url: format!("https://{address}"), ..config() });
    let error = access_key(&tls).await.unwrap_err();
    assert_eq!((error.kind(), error.facts().attempts), (Kind::Transport, Some(1)), "{error}");
    assert!(error.message().contains("the TLS connection"), "{error}");
}

#[test]
fn plain_http_to_another_machine_is_an_error_before_any_call() {
    let error = Client::new(Config { base_url: "http://192.0.2.1".to_owned(), ..config() }).unwrap_err();
    assert_eq!(error.kind(), Kind::Configuration);
    let missing = Config { base_url: "https://x.org".to_owned(), ca_file: Some("/nowhere/ca.pem".into()), ..config() };
    assert!(Client::new(missing).unwrap_err().message().contains("ca_file"));
}

#[test]
fn a_client_in_another_runtime_shares_the_budget() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (first, second) = (runtime(), runtime());
    let (address, _) = first.block_on(serve(|_| reply("200 OK\r\nConnection: close", KEY.as_bytes())));
    let config = Config {
        base_url: format!("http://{address}"),
        rate_limits: vec![Window { calls: 5, period: Duration::from_secs(60) }],
        ..config()
    };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let server = std::thread::spawn(move || first.block_on(stopped));
    let config = Config { api_key: Secret::new("key-of-this-test"), ..config };
    let client = Client::new(config.clone()).unwrap();
    let twin = Client::new(config).unwrap();
    runtime().block_on(access_key(&client)).unwrap();
    second.block_on(access_key(&twin)).unwrap();
    assert_eq!((client.budget().remaining, twin.budget().remaining), (3, 3));
    drop(stop);
    assert!(server.join().unwrap().is_err());
}

/// A client that is only driven during its calls does not notice between them that the server closed the connection.
/// Its next request must not be lost.
#[test]
fn connection_closed_between_calls_loses_no_request() {
    let server = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (address, seen) = server.block_on(serve(|number| {
        if number == 0 {
            // The reply does not announce that the connection closes.
            (reply("200 OK", KEY.as_bytes()).0, Duration::from_millis(20))
        } else {
            reply("201 Created\r\nLocation: /V1/jobdata/5", b"")
        }
    }));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = client(address);
    runtime.block_on(access_key(&client)).unwrap();
    server.block_on(async { tokio::time::sleep(Duration::from_millis(100)).await });
    let file = UploadFile { name: "a.zip".to_owned(), content: zip_of(b"points").into() };
    assert_eq!(
        runtime.block_on(client.upload(row("job_data.upload"), &arguments("job_data.upload", &[]), file)).unwrap().id,
        "5"
    );
    assert_eq!(seen.lock().unwrap().len(), 2, "no list was read to find it");
}
