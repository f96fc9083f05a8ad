//! Reads the `multipart/form-data` body of an upload. Parts are identified by name only, in any order (field notes,
//! Replies).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use axum::extract::multipart::MultipartError;
use axum::extract::{DefaultBodyLimit, FromRequest as _, Multipart};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use futures_util::stream::unfold;
use http::{HeaderMap, Request, StatusCode, header};

use super::database::{NewUpload, SqlResult};
use super::reply::Reply;
use super::service_state::ServiceState;
use super::upload_files::UploadFiles;
use headland_base::part_file::PartFile;

/// Maximum body size, 512 MiB; the specification documents no limit (section 8). The body is streamed to disk.
pub(super) const MAX_BODY: usize = 512 * 1024 * 1024;

/// Maximum number of bytes before the end of a part header, including the first chunk of the part's content. Real
/// headers are much shorter.
const MAX_PART_HEADER: usize = 64 * 1024;

/// Maximum number of bytes passed to the parser in one poll.
const CHUNK: usize = 16 * 1024;

/// Maximum length of `FileType` in bytes; longer values are truncated.
const MAX_FILE_TYPE: usize = 64;

/// An upload in a temporary file.
#[derive(Debug)]
pub(super) struct ReceivedUpload {
    /// File name as sent.
    pub(super) name: String,
    /// Value of the entry `FileType` of prescription maps.
    pub(super) file_type: Option<String>,
    pub(super) part: PartFile,
}

impl ReceivedUpload {
    /// Stores the file, then calls `add` to insert its record. Removes the file if that fails.
    pub(super) fn keep<T>(
        self,
        state: &ServiceState,
        add: impl FnOnce(NewUpload<'_>) -> SqlResult<T>,
    ) -> Result<T, Reply> {
        let file = state.uploads.keep(self.part)?;
        let added = add(NewUpload { name: &self.name, file: &file });
        if added.is_err() {
            state.uploads.remove(&file);
        }
        Ok(added?)
    }
}

/// Reads the part `FileName` into a file, and the part `FileType`; ignores other parts.
pub(super) async fn read_upload(mut request: Request<Body>, files: &UploadFiles) -> Result<ReceivedUpload, Reply> {
    if content_length(request.headers()).is_some_and(|length| length > MAX_BODY) {
        return Err(too_large());
    }
    DefaultBodyLimit::max(MAX_BODY).apply(&mut request);
    let left = Arc::new(AtomicUsize::new(MAX_PART_HEADER));
    let request = request.map(|body| in_chunks(body, Arc::clone(&left)));
    let mut parts = Multipart::from_request(request, &()).await.map_err(|rejection| {
        Reply::bad_request(format!("The body must be multipart/form-data: {}.", rejection.body_text()))
    })?;
    let (mut found, mut file_type) = (None, None);
    while let Some(mut part) = parts.next_field().await.map_err(|error| multipart_error(&error))? {
        left.store(usize::MAX, Ordering::Relaxed);
        let is_file = part.name().is_some_and(|name| name.eq_ignore_ascii_case("FileName"));
        let is_type = part.name().is_some_and(|name| name.eq_ignore_ascii_case("FileType"));
        let name = part.file_name().map(strip_folders).unwrap_or_default();
        let mut file = if is_file { Some(files.begin()?) } else { None };
        let (mut text, mut is_empty) = (BytesMut::new(), true);
        while let Some(chunk) = part.chunk().await.map_err(|error| multipart_error(&error))? {
            is_empty &= chunk.is_empty();
            if let Some(file) = &mut file {
                file.write(&chunk)?;
            } else if is_type && text.len() < MAX_FILE_TYPE {
                text.extend_from_slice(&chunk);
            }
        }
        if is_type {
            file_type = Some(String::from_utf8_lossy(&text).trim().to_owned());
        }
        if let Some(file) = file {
            found = Some((name, file, is_empty));
        }
        left.store(MAX_PART_HEADER, Ordering::Relaxed);
    }
    let Some((name, part, is_empty)) = found else {
        return Err(Reply::bad_request("The entry FileName with the file is missing."));
    };
    if name.trim().is_empty() {
        return Err(Reply::bad_request(
            "The entry FileName has no file name (`filename=` in its Content-Disposition).",
        ));
    }
    if is_empty {
        return Err(Reply::bad_request(format!("The file `{name}` is empty.")));
    }
    Ok(ReceivedUpload { name, file_type, part })
}

/// Splits a body into chunks of one poll each and limits it to `left` bytes. The parser otherwise buffers all available
/// bytes, and scans a part header again from its start with each chunk.
fn in_chunks(body: Body, left: Arc<AtomicUsize>) -> Body {
    Body::from_stream(unfold((body.into_data_stream(), Bytes::new()), move |(mut stream, mut rest)| {
        let left = Arc::clone(&left);
        async move {
            tokio::task::yield_now().await;
            while rest.is_empty() {
                match stream.next().await? {
                    Ok(chunk) => rest = chunk,
                    Err(error) => return Some((Err(error), (stream, rest))),
                }
            }
            let chunk = rest.split_to(rest.len().min(CHUNK));
            let Some(after) = left.load(Ordering::Relaxed).checked_sub(chunk.len()) else {
                return Some((Err(axum::Error::new("the header of a part is too long")), (stream, rest)));
            };
            left.store(after, Ordering::Relaxed);
            Some((Ok(chunk), (stream, rest)))
        }
    }))
}

/// Removes the folders that some clients send. `%22` stays: it may be an escaped quote or a part of the name.
fn strip_folders(name: &str) -> String {
    name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
}

fn content_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn too_large() -> Reply {
    let info = format!("The body is larger than {MAX_BODY} bytes, the limit of this sandbox.");
    Reply::invalid(StatusCode::PAYLOAD_TOO_LARGE, info)
}

fn multipart_error(error: &MultipartError) -> Reply {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return too_large();
    }
    Reply::bad_request(format!("The multipart body cannot be read: {}.", error.body_text()))
}

/// Reads and discards a body. A client that is still sending would not read the reply.
pub(super) async fn drain(body: Body) {
    let mut stream = body.into_data_stream();
    let mut left = MAX_BODY;
    while let Some(Ok(chunk)) = stream.next().await {
        let chunk: Bytes = chunk;
        let Some(rest) = left.checked_sub(chunk.len()) else { return };
        left = rest;
    }
}
