//! Reading `multipart/form-data` of an upload: parts told apart by name alone, in any order (field notes, Replies).

use axum::body::Body;
use axum::extract::multipart::MultipartError;
use axum::extract::{DefaultBodyLimit, FromRequest as _, Multipart};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use http::{HeaderMap, Request, StatusCode, header};

use super::files;
use super::reply::Reply;
use super::store::NewUpload;

/// The largest body that is taken, 512 MiB. It is held in memory while it arrives.
pub(super) const LARGEST_BODY: usize = 512 * 1024 * 1024;

/// A file type is a word; of a longer text the start is read.
const LONGEST_TYPE: usize = 64;

/// Reads the part `FileName` with its file name, and `FileType`; other parts are passed over.
pub(super) async fn read(mut request: Request<Body>) -> Result<NewUpload, Reply> {
    if declared(request.headers()).is_some_and(|length| length > LARGEST_BODY) {
        return Err(too_large());
    }
    DefaultBodyLimit::max(LARGEST_BODY).apply(&mut request);
    let mut parts = Multipart::from_request(request, &()).await.map_err(|rejection| {
        Reply::bad_request(format!("The body must be multipart/form-data: {}.", rejection.body_text()))
    })?;
    let (mut found, mut file_type) = (None, None);
    while let Some(mut part) = parts.next_field().await.map_err(|error| broken(&error))? {
        let is_file = part.name().is_some_and(|name| name.eq_ignore_ascii_case("FileName"));
        let is_type = part.name().is_some_and(|name| name.eq_ignore_ascii_case("FileType"));
        let name = part.file_name().map(base_of).unwrap_or_default();
        let mut content = BytesMut::new();
        while let Some(chunk) = part.chunk().await.map_err(|error| broken(&error))? {
            if is_file || (is_type && content.len() < LONGEST_TYPE) {
                content.extend_from_slice(&chunk);
            }
        }
        if is_type {
            file_type = Some(String::from_utf8_lossy(&content).trim().to_owned());
        }
        if is_file {
            found = Some((name, content.freeze()));
        }
    }
    let Some((name, content)) = found else {
        return Err(Reply::bad_request("The entry FileName with the file is missing."));
    };
    if name.trim().is_empty() {
        return Err(Reply::bad_request(
            "The entry FileName has no file name (`filename=` in its Content-Disposition).",
        ));
    }
    if content.is_empty() {
        return Err(Reply::bad_request(format!("The file `{name}` is empty.")));
    }
    let refusal = files::refusal(&content);
    Ok(NewUpload { name, refusal, file_type, content })
}

/// The name without the folders that some clients send, and otherwise as it came: browsers and others that write a quote
/// as `%22` cannot be told from a name that holds these three characters.
fn base_of(name: &str) -> String {
    name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
}

fn declared(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn too_large() -> Reply {
    let info = format!("The body is larger than {LARGEST_BODY} bytes, which is all that this sandbox takes.");
    Reply::invalid(StatusCode::PAYLOAD_TOO_LARGE, info)
}

fn broken(error: &MultipartError) -> Reply {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return too_large();
    }
    Reply::bad_request(format!("The multipart body cannot be read: {}.", error.body_text()))
}

/// Reads a body to its end and lets it go: a client that is still sending would miss the reply.
pub(super) async fn drain(body: Body) {
    let mut stream = body.into_data_stream();
    let mut left = LARGEST_BODY;
    while let Some(Ok(chunk)) = stream.next().await {
        let chunk: Bytes = chunk;
        let Some(rest) = left.checked_sub(chunk.len()) else { return };
        left = rest;
    }
}
