//! The body of a file call, as it arrives: a file into its place, or a `ServiceResponse` that never becomes one.

use std::io::Cursor;
use std::path::PathBuf;

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;

use super::file_check::{Expects, check_xml_end, check_zip, is_grc, xml_root};
use super::record::what_came;
use crate::error::{Error, Kind, Result};
use crate::limiter::Heard;
use crate::part_file::PartFile;
use crate::secret::Secrets;
use crate::transport::{Attempts, Body, Fault, FaultKind, Got, Judged, Outcome, judge_response};
use crate::wire::{decode_response, is_page};

/// A `ServiceResponse` is a few hundred bytes; what is longer is none.
const RESPONSE: usize = 64 * 1024;

/// So much of the end of a file is kept for its check.
const TAIL: usize = 4 * 1024;

/// Where the bytes go.
#[derive(Debug)]
pub(super) enum Sink {
    Memory(Vec<u8>),
    /// A `.part` and, where its name was left to the service, the path it is for.
    Part(PartFile, PathBuf),
}

/// What one asking brought.
#[derive(Debug)]
pub(super) enum Answer {
    /// The whole, checked file.
    File(Sink),
    /// Not yet.
    MoreTime(Judged),
    /// A file that came whole as often as it was asked for, and is damaged each time; the error is for those who want no
    /// such file.
    Damaged(Sink, Error),
}

enum Received {
    File(Sink),
    Response(Judged),
    Broken(Fault),
    Damaged(Sink, Fault),
}

/// Asks for a file until there is an answer; `open` makes the sink once the headers are known.
pub(super) async fn ask<F>(attempts: &mut Attempts<'_>, expects: Expects, open: F) -> Result<Answer>
where
    F: Fn(&HeaderMap) -> Result<Sink>,
{
    loop {
        let (status, headers, said, body) = match attempts.reply().await? {
            Got::MoreTime(judged) => return Ok(Answer::MoreTime(judged)),
            Got::Reply { status, headers, heard, body } => (status, headers, heard, body),
        };
        let received = receive(body, &headers, &said, expects, &open, attempts.secrets()).await;
        let received = received.map_err(|error| attempts.finish(error.with(|facts| facts.status = Some(status))))?;
        match received {
            Received::File(sink) => return Ok(Answer::File(sink)),
            Received::Response(judged) if judged.outcome == Outcome::MoreTime => return Ok(Answer::MoreTime(judged)),
            Received::Response(judged) => return Err(attempts.finish(judged.at(status).error)),
            Received::Broken(fault) => attempts.after_fault(&fault).await?,
            Received::Damaged(sink, fault) => match attempts.after_fault(&fault).await {
                Ok(()) => {}
                Err(error) => return Ok(Answer::Damaged(sink, error)),
            },
        }
    }
}

async fn receive<F>(
    mut body: Body,
    headers: &HeaderMap,
    said: &Heard,
    expects: Expects,
    open: &F,
    secrets: &Secrets,
) -> Result<Received>
where
    F: Fn(&HeaderMap) -> Result<Sink>,
{
    let head = match head(&mut body).await {
        Ok(head) => head,
        Err(fault) => return Ok(Received::Broken(fault)),
    };
    let is_zip = head.starts_with(b"PK");
    let root = if expects == Expects::Xml && !is_page(&head) { xml_root(&head) } else { None };
    let root = root.filter(|root| !root.ends_with("Response"));
    let is_text = expects == Expects::Grc && is_grc(&head);
    if !is_zip && root.is_none() && !is_text {
        return no_file(head, body, headers, said, expects, secrets).await;
    }
    let mut sink = open(headers)?;
    let mut tail: Vec<u8> = Vec::new();
    let mut next = Some(Bytes::from(head));
    while let Some(chunk) = next {
        match &mut sink {
            Sink::Memory(bytes) => bytes.extend_from_slice(&chunk),
            Sink::Part(part, _) => part.write(&chunk)?,
        }
        tail.extend_from_slice(chunk.get(chunk.len().saturating_sub(TAIL)..).unwrap_or_default());
        tail.drain(..tail.len().saturating_sub(TAIL));
        next = match body.chunk().await {
            Ok(chunk) => chunk,
            Err(fault) => return Ok(Received::Broken(fault)),
        };
    }
    let checked = match (&root, &sink) {
        (Some(root), _) => check_xml_end(root, &tail),
        _ if is_text && !is_zip => Ok(()),
        (None, Sink::Memory(bytes)) => check_zip(Cursor::new(bytes)).await,
        (None, Sink::Part(part, _)) => check_zip(std::io::BufReader::new(part.reader()?)).await,
    };
    Ok(match checked {
        Ok(()) => Received::File(sink),
        Err(message) => Received::Damaged(sink, Fault { kind: FaultKind::Cut, message }),
    })
}

/// The first bytes of a body: enough to see what it is.
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

/// What came is no file: the service's word, or something that must not be saved.
async fn no_file(
    mut head: Vec<u8>,
    body: Body,
    headers: &HeaderMap,
    said: &Heard,
    expects: Expects,
    secrets: &Secrets,
) -> Result<Received> {
    match body.collect(RESPONSE).await {
        Ok(rest) => head.extend_from_slice(&rest.unwrap_or_default()),
        Err(fault) => return Ok(Received::Broken(fault)),
    }
    let response = decode_response(&head);
    if let Some(judged) = response.and_then(|response| judge_response(&response, said)) {
        return Ok(Received::Response(judged));
    }
    let wanted = match expects {
        Expects::Zip => "a zip",
        Expects::Xml => "an XML file",
        Expects::Grc => "a grain cart file",
    };
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    // Masked before it is cut: the rest of a secret would not be found.
    let head = String::from_utf8_lossy(&head);
    let came = what_came(content_type, secrets.masked(&head).as_bytes().trim_ascii_start());
    Err(Error::new(Kind::Decode, format!("{wanted} was asked for, but {came} came; nothing was saved")))
}
