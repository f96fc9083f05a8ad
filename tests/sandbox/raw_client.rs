//! Implements a client that shares nothing with headland: its own signature, its own few lines of HTTP.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests expect by unwrapping")]

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::LazyLock;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use headland::limiter::Window;
use headland::sandbox::fields::{Account, HarvestStyle, generate_account};
use headland::sandbox::{Options, Sandbox};
use hmac::{KeyInit as _, Mac as _};
use serde_json::Value;

/// A service without a limit, with a manual clock and conversions of 30 seconds.
pub(crate) fn options() -> Options {
    Options {
        rate_limits: Vec::new(),
        manual_clock: true,
        conversion_time: Duration::from_secs(30),
        ..Options::default()
    }
}

pub(crate) fn start(options: Options) -> Sandbox {
    Sandbox::start(options).unwrap()
}

pub(crate) fn limited(windows: &[(u32, u64)], sliding: bool) -> Sandbox {
    let window = |&(calls, seconds): &(u32, u64)| Window { calls, period: Duration::from_secs(seconds) };
    start(Options { rate_limits: windows.iter().map(window).collect(), sliding, ..options() })
}

/// The account of the first customer, generated once for all tests.
pub(crate) fn generated() -> &'static Account {
    static ACCOUNT: LazyLock<Account> = LazyLock::new(|| generate_account(0, HarvestStyle::Ideal));
    &ACCOUNT
}

/// A request to be sent; every part of it can be made wrong.
pub(crate) struct Call<'a> {
    sandbox: &'a Sandbox,
    method: String,
    pub(crate) target: String,
    pub(crate) access_key: String,
    pub(crate) api_key: String,
    pub(crate) secret: String,
    pub(crate) signed_host: Option<String>,
    /// Seconds to add to the time stamp.
    pub(crate) late: i64,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) without: Vec<&'static str>,
    pub(crate) body: Vec<u8>,
}

/// A raw reply.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

pub(crate) fn get<'a>(sandbox: &'a Sandbox, target: &str) -> Call<'a> {
    call(sandbox, "GET", target)
}

pub(crate) fn call<'a>(sandbox: &'a Sandbox, method: &str, target: &str) -> Call<'a> {
    let keys = sandbox.keys();
    Call {
        sandbox,
        method: method.to_owned(),
        target: target.to_owned(),
        access_key: keys.access_key.clone(),
        api_key: keys.api_key.clone(),
        secret: keys.shared_secret.clone(),
        signed_host: None,
        late: 0,
        headers: vec![("Accept".to_owned(), "application/json".to_owned())],
        without: Vec::new(),
        body: Vec::new(),
    }
}

/// An upload of one file under `FileName`, after an unrelated part.
pub(crate) fn upload<'a>(sandbox: &'a Sandbox, name: &str, content: &[u8]) -> Call<'a> {
    let mut call = call(sandbox, "POST", "/jobdata");
    call.headers.push(("Content-Type".to_owned(), "multipart/form-data; boundary=XX".to_owned()));
    let mut body = b"--XX\r\nContent-Disposition: form-data; name=\"Note\"\r\n\r\nhello\r\n".to_vec();
    body.extend_from_slice(
        format!("--XX\r\nContent-Disposition: form-data; name=\"FileName\"; filename=\"{name}\"\r\n\r\n").as_bytes(),
    );
    body.extend_from_slice(content);
    body.extend_from_slice(b"\r\n--XX--\r\n");
    call.body = body;
    call
}

impl Call<'_> {
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn by_customer(mut self, access_key: &str) -> Self {
        access_key.clone_into(&mut self.access_key);
        self
    }

    /// The reply; panics if there is none.
    pub(crate) fn send(self) -> Reply {
        self.try_send().expect("a reply")
    }

    /// The reply, or nothing where the connection closed without one.
    pub(crate) fn try_send(self) -> Option<Reply> {
        let base = self.sandbox.base_url();
        let host = base.strip_prefix("http://").unwrap().to_owned();
        let path = self.target.split('?').next().unwrap();
        let timestamp = (self.sandbox.now().timestamp() + self.late).to_string();
        let text = [
            self.method.to_uppercase(),
            self.signed_host.clone().unwrap_or_else(|| host.clone()).to_lowercase(),
            path.to_lowercase(),
            timestamp.clone(),
            self.api_key.clone(),
            self.access_key.clone(),
        ]
        .map(|value| value + "\r\n")
        .concat();
        let mut mac = hmac::Hmac::<sha1::Sha1>::new_from_slice(&STANDARD.decode(&self.secret).unwrap()).unwrap();
        mac.update(text.as_bytes());
        let signature = STANDARD.encode(mac.finalize().into_bytes());

        let mut head = format!("{} {} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n", self.method, self.target);
        let own = [
            ("X-SS-APIKey", self.api_key.as_str()),
            ("X-SS-Signature", &signature),
            ("X-SS-AccessKey", &self.access_key),
            ("X-SS-TimeStamp", &timestamp),
        ];
        let own = own.into_iter().filter(|(name, _)| !self.without.contains(name));
        for (name, value) in own.chain(self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()))) {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        if !self.body.is_empty() {
            write!(head, "Content-Length: {}\r\n", self.body.len()).unwrap();
        }
        let mut stream = TcpStream::connect(&host).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(b"\r\n").unwrap();
        stream.write_all(&self.body).unwrap();
        let mut bytes = Vec::new();
        // A connection that is reset returns the bytes before that.
        drop(stream.read_to_end(&mut bytes));
        Reply::parse(&bytes)
    }
}

impl Reply {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&bytes[..end]).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let header = |line: &str| {
            let (name, value) = line.split_once(':').unwrap();
            (name.to_lowercase(), value.trim().to_owned())
        };
        Some(Self { status, headers: lines.map(header).collect(), body: bytes[end + 4..].to_vec() })
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The `errorInfo` of a `ServiceResponse`.
    pub(crate) fn info(&self) -> String {
        self.json()["errorInfo"].as_str().unwrap().to_owned()
    }
}

/// The ids of a list's page.
pub(crate) fn ids(reply: &Reply, kind: &str) -> Vec<String> {
    reply.json()[kind].as_array().unwrap().iter().map(|item| id_text(&item["ID"])).collect()
}

/// An id, which is a number where the specification says so.
pub(crate) fn id_text(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        other => other.as_str().unwrap().to_owned(),
    }
}

/// Every job of a customer: (id, name), newest first.
pub(crate) fn jobs(sandbox: &Sandbox, access_key: &str) -> Vec<(String, String)> {
    let reply = get(sandbox, "/jobdata?pageSize=0").by_customer(access_key).send();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    reply.json()["JobData"].as_array().unwrap().iter().map(|job| (id_text(&job["ID"]), text(&job["Name"]))).collect()
}

/// A zip with one member.
pub(crate) fn zip_of(member: &str, content: &[u8]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file(member, zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(content).unwrap();
    zip.finish().unwrap().into_inner()
}
