//! Converts a reply to an HTTP response: encoding, compression and common headers.

use std::fs::File;
use std::io::{self, Read as _, Write as _};

use axum::body::Body;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Response};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::clock::http_date;
use super::encode::encode;
use super::negotiate::{Accepted, parse_weights};
use super::rate_limit::WindowState;
use super::reply::{Content, Reply};
use super::variants::{ActiveVariants, Variant};

/// Smaller bodies are not compressed: compression costs more time than it saves.
const MIN_COMPRESSED_SIZE: usize = 1_024;

/// Bytes of a stored file in memory at a time.
const CHUNK: usize = 64 * 1024;

/// Characters of a file name that are escaped in a header.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Request properties and faults that affect the response.
#[derive(Debug)]
pub(super) struct ResponseOptions<'a> {
    pub(super) request_headers: &'a HeaderMap,
    pub(super) variants: &'a ActiveVariants,
    /// Media type of records.
    pub(super) accepted: Accepted,
    /// Rate limit of the client; `None` without a limit.
    pub(super) rate_limit: Option<WindowState>,
    /// Time for `Date`; `None` omits the header.
    pub(super) date: Option<DateTime<Utc>>,
    /// Whether the request is for a file. The variant `vague-content-type` applies only then.
    pub(super) is_file_request: bool,
    /// Whether the body ends after half of its length.
    pub(super) is_truncated: bool,
}

/// Builds the response.
pub(super) fn to_response(reply: Reply, options: &ResponseOptions<'_>) -> Response<Body> {
    let Reply { status, headers, content } = reply;
    // A stored file has the same headers as other files.
    let (content, stored) = match content {
        Content::Stored { name, file, length } => (Content::File { name, bytes: Bytes::new() }, Some((file, length))),
        content => (content, None),
    };
    let file_name = match &content {
        Content::File { name, .. } => Some(name.clone()),
        _ => None,
    };
    let is_record = matches!(content, Content::Record(..) | Content::List { .. } | Content::Payload { .. });
    let is_nothing = matches!(content, Content::Nothing);
    let (mut bytes, mut media_type) = encode(content, options.accepted, options.variants);
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    let out = response.headers_mut();
    for (name, value) in headers {
        insert_header(out, name, &value);
    }
    if let Some(name) = file_name {
        insert_header(out, header::CONTENT_DISPOSITION, &content_disposition(&name));
    } else {
        if is_record && let Some((name, compressed)) = compress(&bytes, options.request_headers) {
            insert_header(out, header::CONTENT_ENCODING, name);
            bytes = compressed;
        }
        if options.is_file_request && options.variants.has(Variant::VagueContentType) && is_record {
            media_type = "application/octet-stream";
        }
    }
    if !is_nothing {
        insert_header(out, header::CONTENT_TYPE, media_type);
        let length = stored.as_ref().map_or(u64::try_from(bytes.len()).unwrap_or(u64::MAX), |(_, length)| *length);
        insert_header(out, header::CONTENT_LENGTH, &length.to_string());
    }
    if let Some(date) = options.date {
        insert_header(out, header::DATE, &http_date(date));
    }
    if let Some(window) = options.rate_limit {
        insert_header(out, HeaderName::from_static("x-ratelimit-limit"), &window.limit.to_string());
        insert_header(out, HeaderName::from_static("x-ratelimit-remaining"), &window.remaining.to_string());
        insert_header(out, HeaderName::from_static("x-ratelimit-reset"), &window.reset.to_string());
    }
    *response.body_mut() = match stored {
        Some((file, length)) => stream_file(file, length, options.is_truncated),
        None if options.is_truncated => half_then_error(&bytes),
        None => Body::from(bytes),
    };
    response
}

fn insert_header(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    // Only file and job names may contain characters that are invalid in a header. Those are escaped before.
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// Returns `Content-Disposition` of a file ([RFC 6266](https://www.rfc-editor.org/rfc/rfc6266)): a plain name, also in
/// UTF-8 if it contains other characters.
fn content_disposition(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| if (c.is_ascii_graphic() || c == ' ') && c != '"' && c != '\\' { c } else { '_' })
        .collect();
    if plain == name {
        return format!("attachment; filename=\"{name}\"");
    }
    let encoded = utf8_percent_encode(name, RESERVED);
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{encoded}")
}

/// Returns the compressed body and its `Content-Encoding` if the client accepts one and the body is large enough
/// (specification 4.5).
fn compress(bytes: &[u8], request: &HeaderMap) -> Option<(&'static str, Bytes)> {
    if bytes.len() < MIN_COMPRESSED_SIZE {
        return None;
    }
    let asked: Vec<(String, f32)> = request.get_all(header::ACCEPT_ENCODING).iter().flat_map(parse_weights).collect();
    let name = ["gzip", "deflate"]
        .into_iter()
        .find(|name| asked.iter().any(|(asked, weight)| asked == name && *weight > 0.0))?;
    let compressed = if name == "gzip" {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).and_then(|()| encoder.finish())
    } else {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).and_then(|()| encoder.finish())
    };
    Some((name, Bytes::from(compressed.ok()?)))
}

/// Sends the first half of the bytes, then closes the connection.
fn half_then_error(bytes: &Bytes) -> Body {
    let half = bytes.slice(..bytes.len() / 2);
    Body::from_stream(futures_util::stream::unfold(Some(half), |half| async move {
        if let Some(half) = half {
            return Some((Ok(half), None));
        }
        // The server flushes its buffer only when the body is pending.
        tokio::task::yield_now().await;
        Some((Err(io::Error::other("truncated on request")), None))
    }))
}

/// Streams a file, or its first half before it closes the connection. Reads are synchronous: recently written data is
/// in the page cache.
fn stream_file(file: File, length: u64, is_truncated: bool) -> Body {
    let left = if is_truncated { length / 2 } else { length };
    Body::from_stream(futures_util::stream::unfold(Some((file, left)), move |state| async move {
        let (mut file, left) = state?;
        if left == 0 && !is_truncated {
            return None;
        }
        let mut chunk = vec![0; usize::try_from(left).unwrap_or(usize::MAX).min(CHUNK)];
        let read = if left == 0 {
            // The server flushes its buffer only when the body is pending.
            tokio::task::yield_now().await;
            Err(io::Error::other("truncated on request"))
        } else {
            file.read_exact(&mut chunk)
        };
        let left = left.saturating_sub(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
        Some(match read {
            Ok(()) => (Ok(Bytes::from(chunk)), Some((file, left))),
            Err(error) => (Err(error), None),
        })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_with_any_characters_are_escaped_in_the_header() {
        assert_eq!(content_disposition("North 40.zip"), "attachment; filename=\"North 40.zip\"");
        assert_eq!(
            content_disposition("Ä\r\n\".zip"),
            "attachment; filename=\"____.zip\"; filename*=UTF-8''%C3%84%0D%0A%22.zip"
        );
    }
}
