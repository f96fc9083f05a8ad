//! Receives the body of a file call: streams a file to its destination, or reads a `ServiceResponse`.

use std::borrow::Cow;
use std::io::Cursor;

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use sha2::{Digest as _, Sha256};

use super::arguments::Arguments;
use super::destination::{Destination, Sink};
use super::file_check::{Expects, check_whole_xml, check_xml_end, check_zip, is_grc, xml_root};
use super::record::describe_body;
use crate::limiter::RateLimitHeaders;
use crate::transport::{
    AttemptResult, Attempts, Body, Call, Classified, Fault, FaultKind, Outcome, classify_response,
    is_truncated_document, unmarked_end_fault,
};
use headland_api::{Endpoint, Returns};
use headland_base::error::{Error, Kind, Result};
use headland_base::secret_masking::Secrets;
use headland_reader::archive::{Limits, may_be_complete_cart};
use headland_wire::{decode_response, is_page};

/// Longest `ServiceResponse`; usual ones have a few hundred bytes.
const MAX_RESPONSE: usize = 64 * 1024;

/// Largest grain cart file without a marked end, in bytes. The archive reader accepts none that is larger.
const LARGEST_CART: u64 = 16 << 20;

/// Number of bytes at the end of a file that are kept for its check.
const TAIL: usize = 4 * 1024;

/// The call for a file and its expected format.
#[derive(Clone, Debug)]
pub(super) struct FileCall {
    pub(super) call: Call,
    expects: Expects,
    /// The name of the file if the service suggests none.
    fallback: String,
    /// Largest size of the file in bytes.
    pub(super) max_bytes: u64,
}

impl FileCall {
    pub(super) fn new(row: &'static Endpoint, arguments: &Arguments) -> Result<Self> {
        if !matches!(row.returns, Returns::File | Returns::Conversion | Returns::Layer) {
            return Err(Error::new(Kind::Type, format!("{} returns no file", row.full_name)));
        }
        let call = arguments.call(row, &[], None)?;
        let id = arguments.get("id").unwrap_or("file");
        let format = arguments.get("format").unwrap_or_default();
        let (expects, fallback) = match format {
            "XML" => (Expects::Xml, format!("{id}.xml")),
            _ if row.group() == "grain_carts" => (Expects::Grc, format!("{id}.grc")),
            _ => (Expects::Zip, format!("{id}.{}.zip", format.to_ascii_lowercase())),
        };
        Ok(Self { call, expects, fallback, max_bytes: Limits::default().bytes })
    }

    fn open(&self, destination: &Destination, headers: &HeaderMap) -> Result<Sink> {
        destination.open(headers, &self.fallback)
    }
}

/// The result of requesting a file.
#[derive(Debug)]
pub(super) enum FileResult {
    /// The complete, checked file.
    File(Sink),
    /// Not ready yet.
    MoreTime(Classified),
    /// A file that was received completely in each attempt, but was damaged each time. The error is for callers that
    /// reject damaged files.
    Damaged(Sink, Error),
}

enum Received {
    File(Sink),
    Response(Classified),
    Broken(Fault),
    Damaged(Sink, Fault),
    /// A file that may be complete; neither its reply nor its format proves it.
    Unproven(Sink, Reading),
}

/// Size and digest of such a file.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Reading {
    bytes: u64,
    digest: [u8; 32],
}

/// Requests a file until there is a result.
pub(super) async fn request_file(
    attempts: &mut Attempts<'_>,
    file: &FileCall,
    destination: &Destination,
) -> Result<FileResult> {
    let mut longest: Option<Reading> = None;
    loop {
        let (status, headers, rate_limit, body) = match attempts.reply().await? {
            AttemptResult::MoreTime(classified) => return Ok(FileResult::MoreTime(classified)),
            AttemptResult::Reply { status, headers, rate_limit, body } => (status, headers, rate_limit, body),
        };
        let received = receive(body, &headers, &rate_limit, file, destination, attempts.secrets()).await;
        let received = received.map_err(|error| attempts.finish(error.with(|facts| facts.status = Some(status))))?;
        match received {
            Received::File(sink) => return Ok(FileResult::File(sink)),
            Received::Response(classified) if classified.outcome == Outcome::MoreTime => {
                return Ok(FileResult::MoreTime(classified));
            }
            Received::Response(classified) => return Err(attempts.finish(classified.with_status(status).error)),
            Received::Broken(fault) => attempts.handle_fault(&fault).await?,
            Received::Unproven(sink, reading) if longest == Some(reading) => return Ok(FileResult::File(sink)),
            Received::Unproven(sink, reading) => {
                drop(sink);
                if longest.is_none_or(|known| known.bytes < reading.bytes) {
                    longest = Some(reading);
                }
                let message = "it has neither Content-Length nor chunks, and no two downloads of it were equal";
                attempts.handle_fault(&Fault { kind: FaultKind::Truncated, message: message.to_owned() }).await?;
            }
            Received::Damaged(sink, fault) => match attempts.handle_fault(&fault).await {
                Ok(()) => {}
                Err(error) => return Ok(FileResult::Damaged(sink, error)),
            },
        }
    }
}

async fn receive(
    mut body: Body,
    headers: &HeaderMap,
    rate_limit: &RateLimitHeaders,
    file: &FileCall,
    destination: &Destination,
    secrets: &Secrets,
) -> Result<Received> {
    let head = match head(&mut body).await {
        Ok(head) => head,
        Err(fault) => return Ok(Received::Broken(fault)),
    };
    let is_zip = head.starts_with(b"PK");
    let root = if file.expects == Expects::Xml && !is_page(&head) { xml_root(&head) } else { None };
    let root = root.filter(|root| !root.ends_with("Response"));
    let is_text = file.expects == Expects::Grc && is_grc(&head);
    if !is_zip && root.is_none() && !is_text {
        return reject_non_file(head, body, headers, rate_limit, file.expects, secrets).await;
    }
    let mut received: u64 = 0;
    if body.content_length().is_some_and(|content_length| content_length > file.max_bytes) {
        return Err(too_long(file.max_bytes));
    }
    let mut sink = file.open(destination, headers)?;
    let mut tail: Vec<u8> = Vec::new();
    let mut next = Some(Bytes::from(head));
    while let Some(chunk) = next {
        received = received.saturating_add(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
        if received > file.max_bytes {
            return Err(too_long(file.max_bytes));
        }
        sink.write(&chunk)?;
        tail.extend_from_slice(chunk.get(chunk.len().saturating_sub(TAIL)..).unwrap_or_default());
        tail.drain(..tail.len().saturating_sub(TAIL));
        next = match body.chunk().await {
            Ok(chunk) => chunk,
            Err(fault) => return Ok(Received::Broken(fault)),
        };
    }
    let is_framed = body.is_framed();
    if is_text && !is_zip {
        return if is_framed { Ok(Received::File(sink)) } else { unproven(sink, received) };
    }
    let checked = match (&root, &sink) {
        (Some(root), _) if is_framed => check_xml_end(root, &tail),
        (Some(_), Sink::Memory(bytes)) => check_whole_xml(&**bytes).await,
        (Some(_), Sink::Part(part, _)) => check_whole_xml(std::io::BufReader::new(part.reader()?)).await,
        (None, Sink::Memory(bytes)) => check_zip(Cursor::new(bytes), is_framed).await,
        (None, Sink::Part(part, _)) => check_zip(std::io::BufReader::new(part.reader()?), is_framed).await,
    };
    Ok(match checked {
        Ok(()) => Received::File(sink),
        Err(message) if is_framed => Received::Damaged(sink, Fault { kind: FaultKind::Truncated, message }),
        // The file may have been truncated in transit, so it does not count as damaged.
        Err(message) => Received::Broken(Fault { kind: FaultKind::Truncated, message }),
    })
}

/// Checks a grain cart file without a marked end. It counts as complete if another reading is identical.
fn unproven(sink: Sink, bytes: u64) -> Result<Received> {
    let text = if bytes > LARGEST_CART { Cow::default() } else { sink.content()? };
    if !may_be_complete_cart(&text) {
        let message = "the grain cart file has neither Content-Length nor chunks, and its text is truncated".to_owned();
        return Ok(Received::Broken(Fault { kind: FaultKind::Truncated, message }));
    }
    let reading = Reading { bytes, digest: Sha256::digest(&text).into() };
    drop(text);
    Ok(Received::Unproven(sink, reading))
}

fn too_long(max_bytes: u64) -> Error {
    let message =
        format!("the file is longer than the limit of {max_bytes} bytes; if you trust it, raise Limits(bytes=...)");
    Error::new(Kind::Archive, message)
}

/// The first bytes of a body, enough to detect its format.
async fn head(body: &mut Body) -> std::result::Result<Vec<u8>, Fault> {
    const ENOUGH: usize = 1_024;
    let mut head = Vec::new();
    while head.len() < ENOUGH {
        match body.chunk().await? {
            Some(chunk) => head.extend_from_slice(&chunk),
            None => break,
        }
    }
    Ok(head)
}

/// Classifies a body that is not a file: a `ServiceResponse`, or content that must not be saved.
async fn reject_non_file(
    mut head: Vec<u8>,
    mut body: Body,
    headers: &HeaderMap,
    rate_limit: &RateLimitHeaders,
    expects: Expects,
    secrets: &Secrets,
) -> Result<Received> {
    body.apply_call_deadline();
    let is_framed = body.is_framed();
    match body.collect(MAX_RESPONSE).await {
        Ok(rest) => head.extend_from_slice(&rest.unwrap_or_default()),
        Err(fault) => return Ok(Received::Broken(fault)),
    }
    if !is_framed && is_truncated_document(&head) {
        return Ok(Received::Broken(unmarked_end_fault()));
    }
    let response = decode_response(&head);
    if let Some(classified) = response.and_then(|response| classify_response(&response, rate_limit)) {
        return Ok(Received::Response(classified));
    }
    let wanted = match expects {
        Expects::Zip => "a zip",
        Expects::Xml => "an XML file",
        Expects::Grc => "a grain cart file",
    };
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    // Masked before it is truncated: otherwise part of a secret would remain.
    let head = String::from_utf8_lossy(&head);
    let received = describe_body(content_type, secrets.mask(&head).as_bytes().trim_ascii_start());
    Err(Error::new(Kind::Decode, format!("expected {wanted}, got {received}; nothing was saved")))
}
