//! Reads the JSON object or list of a request body, with limits on size and depth.

use axum::body::Body;
use futures_util::StreamExt as _;
use http::{HeaderMap, StatusCode, header};
use serde_json::Value;

use crate::multipart;
use crate::reply::Reply;
use headland_wire::quote_big_ints;

/// Maximum payload size: 1 MiB.
const MAX_PAYLOAD: usize = 1024 * 1024;

/// Maximum nesting of lists and objects. Stored records are nested a few levels deeper and stay readable.
const MAX_DEPTH: usize = 64;

/// Reads the payload.
pub(super) async fn read_json(headers: &HeaderMap, body: Body) -> Result<Value, Reply> {
    if !is_json(headers) {
        multipart::drain(body).await;
        let info = "The body must be JSON: Content-Type must be application/json.";
        return Err(Reply::invalid(StatusCode::UNSUPPORTED_MEDIA_TYPE, info));
    }
    let mut stream = body.into_data_stream();
    let (mut bytes, mut length) = (Vec::new(), 0_usize);
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_| Reply::bad_request("The body is truncated."))?;
        length = length.saturating_add(chunk.len());
        if length > multipart::MAX_BODY {
            break;
        }
        // The rest is read and discarded: a client that is still sending would not read the reply.
        if length <= MAX_PAYLOAD {
            bytes.extend_from_slice(&chunk);
        }
    }
    if length > MAX_PAYLOAD {
        let info = format!("The body is larger than {MAX_PAYLOAD} bytes.");
        return Err(Reply::invalid(StatusCode::PAYLOAD_TOO_LARGE, info));
    }
    // Integers beyond 64 bits would lose digits, so they are converted to strings with all digits.
    match serde_json::from_slice(&quote_big_ints(&bytes)) {
        Ok(value) if fits_depth(&value, MAX_DEPTH + 1) => Ok(value),
        Ok(_) => Err(Reply::bad_request(format!("The body nests lists and objects deeper than {MAX_DEPTH}."))),
        Err(error) => Err(Reply::bad_request(format!("The body is not JSON: {error}."))),
    }
}

/// Whether the content type is JSON. A missing content type is accepted.
fn is_json(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(header::CONTENT_TYPE) else { return true };
    let text = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
    let name = text.split(';').next().unwrap_or_default().trim();
    name == "application/json" || name == "text/json" || (name.starts_with("application/") && name.ends_with("+json"))
}

fn fits_depth(value: &Value, depth: usize) -> bool {
    let Some(left) = depth.checked_sub(1) else { return !(value.is_array() || value.is_object()) };
    match value {
        Value::Array(items) => items.iter().all(|item| fits_depth(item, left)),
        Value::Object(fields) => fields.values().all(|item| fits_depth(item, left)),
        _ => true,
    }
}
