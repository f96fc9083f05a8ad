//! Reading `multipart/form-data` of an upload: parts told apart by name alone, in any order (field notes, Replies).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use axum::extract::multipart::MultipartError;
use axum::extract::{DefaultBodyLimit, FromRequest as _, Multipart};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use futures_util::stream::unfold;
use http::{HeaderMap, Request, StatusCode, header};

use super::reply::Reply;
use super::state::ServiceState;
use super::store::{NewUpload, SqlResult};
use super::upload_files::UploadFiles;
use crate::part_file::PartFile;

/// The largest body that is taken, 512 MiB: limits are not shown (specification 8). It goes to the disk as it arrives.
pub(super) const MAX_BODY: usize = 512 * 1024 * 1024;

/// So many bytes may come before the header of a part ends: far more than its lines have, and the first piece of its bytes.
const MAX_PART_HEADER: usize = 64 * 1024;

/// So many bytes of a body are parsed at a time.
const CHUNK: usize = 16 * 1024;

/// A file type is a word; of a longer text the start is read.
const MAX_FILE_TYPE: usize = 64;

/// An upload whose bytes are in a file that is not kept yet.
#[derive(Debug)]
pub(super) struct ReceivedUpload {
    /// The file name as it was sent.
    pub(super) name: String,
    /// What the entry `FileType` says, which prescription maps have.
    pub(super) file_type: Option<String>,
    pub(super) part: PartFile,
}

impl ReceivedUpload {
    /// Keeps the file, then writes the record of it, and gives what comes of that.
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

/// Reads the part `FileName` with its file name into a file, and `FileType`; other parts are passed over.
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

/// The same body in pieces, each for a poll of its own, of which `left` bytes may come. The parser takes all that is there
/// at once, and looks through the header of a part from its beginning whenever more of it comes.
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

/// The name without the folders that some clients send, and otherwise as it came: browsers and others that write a quote
/// as `%22` cannot be told from a name that holds these three characters.
fn strip_folders(name: &str) -> String {
    name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
}

fn content_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn too_large() -> Reply {
    let info = format!("The body is larger than {MAX_BODY} bytes, which is all that this sandbox takes.");
    Reply::invalid(StatusCode::PAYLOAD_TOO_LARGE, info)
}

fn multipart_error(error: &MultipartError) -> Reply {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return too_large();
    }
    Reply::bad_request(format!("The multipart body cannot be read: {}.", error.body_text()))
}

/// Reads a body to its end and lets it go: a client that is still sending would miss the reply.
pub(super) async fn drain(body: Body) {
    let mut stream = body.into_data_stream();
    let mut left = MAX_BODY;
    while let Some(Ok(chunk)) = stream.next().await {
        let chunk: Bytes = chunk;
        let Some(rest) = left.checked_sub(chunk.len()) else { return };
        left = rest;
    }
}
