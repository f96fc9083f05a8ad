//! The body of a reply as a stream: counted against `Content-Length` on the wire, then decompressed.

use std::io::{self, Write as _};

use bytes::Bytes;
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, TRANSFER_ENCODING};

use super::body_timeout::BodyTimeout;
use super::{BodyStream, Fault, FaultKind};
use headland_base::names::strip_bom;

/// Number of compressed bytes that are decompressed in one step. They become at most 4 MB, so that the caller's size
/// limit stops a decompression bomb before it fills the memory.
const COMPRESSED_STEP: usize = 4 * 1024;

/// Memory that is reserved in advance for the announced size. More is reserved as bytes are received.
const MAX_RESERVED: usize = 1024 * 1024;

/// A body that is read in chunks.
pub struct Body {
    stream: BodyStream,
    timeout: Box<BodyTimeout>,
    expected: Option<u64>,
    is_chunked: bool,
    received: u64,
    compressed: Option<Box<Compressed>>,
    is_ended: bool,
}

/// Received bytes of a compressed body that are not decompressed yet.
struct Compressed {
    rest: Bytes,
    decoder: Decoder,
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Body")
            .field("expected", &self.expected)
            .field("received", &self.received)
            .finish_non_exhaustive()
    }
}

impl Body {
    /// The body of a reply with these headers.
    pub(super) fn new(headers: &HeaderMap, stream: BodyStream, timeout: BodyTimeout) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
        Self {
            stream,
            timeout: Box::new(timeout),
            expected: text(CONTENT_LENGTH).and_then(|text| text.parse().ok()),
            is_chunked: text(TRANSFER_ENCODING).is_some_and(|text| text.to_ascii_lowercase().ends_with("chunked")),
            received: 0,
            compressed: Decoder::from_encoding(text(CONTENT_ENCODING).unwrap_or_default())
                .map(|decoder| Box::new(Compressed { rest: Bytes::new(), decoder })),
            is_ended: false,
        }
    }

    /// Whether the reply marks the end of its body by `Content-Length` or chunks, so that truncation is detected. Any
    /// other body ends with its connection (RFC 9112, section 6.3:
    /// <https://www.rfc-editor.org/rfc/rfc9112#section-6.3>).
    #[must_use]
    pub const fn is_framed(&self) -> bool {
        self.expected.is_some() || self.is_chunked
    }

    /// The number of bytes on the wire that `Content-Length` states.
    #[must_use]
    pub const fn content_length(&self) -> Option<u64> {
        self.expected
    }

    /// Applies the deadline of the call from now on, because the body is not the expected file.
    pub fn apply_call_deadline(&mut self) {
        self.timeout.apply_call_deadline();
    }

    /// The next chunk, decompressed. `None` at the end, which is only reached if all announced bytes were received.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Fault> {
        while !self.is_ended {
            if let Some(compressed) = &mut self.compressed
                && !compressed.rest.is_empty()
            {
                let part = compressed.rest.split_to(compressed.rest.len().min(COMPRESSED_STEP));
                let piece = compressed.decoder.push(&part).map_err(|error| corrupt_fault(&error))?;
                if piece.is_empty() {
                    continue;
                }
                return Ok(Some(piece.into()));
            }
            let Some(chunk) = self.timeout.next(&mut self.stream).await else {
                self.is_ended = true;
                self.check_length()?;
                let Some(compressed) = &mut self.compressed else { return Ok(None) };
                let rest = compressed.decoder.finish().map_err(|error| corrupt_fault(&error))?;
                return Ok((!rest.is_empty()).then(|| rest.into()));
            };
            let chunk = chunk?;
            let length = u64::try_from(chunk.len()).unwrap_or(u64::MAX);
            self.received = self.received.saturating_add(length);
            match &mut self.compressed {
                Some(compressed) => compressed.rest = chunk,
                None if chunk.is_empty() => {}
                None => return Ok(Some(chunk)),
            }
        }
        Ok(None)
    }

    fn check_length(&self) -> Result<(), Fault> {
        match self.expected {
            Some(expected) if expected != self.received => Err(Fault {
                kind: FaultKind::Truncated,
                message: format!("the reply ended after {} of {expected} bytes", self.received),
            }),
            _ => Ok(()),
        }
    }

    /// Reads the complete body of at most `limit` bytes; `None` if it is longer.
    pub async fn collect(mut self, limit: usize) -> Result<Option<Vec<u8>>, Fault> {
        let content_length = self.expected.and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
        let mut content = Vec::new();
        content
            .try_reserve(content_length.min(MAX_RESERVED).min(limit))
            .map_err(|_| out_of_memory_fault(content_length.min(MAX_RESERVED)))?;
        while let Some(chunk) = self.chunk().await? {
            if content.len().saturating_add(chunk.len()) > limit {
                return Ok(None);
            }
            content
                .try_reserve(chunk.len())
                .map_err(|_| out_of_memory_fault(content.len().saturating_add(chunk.len())))?;
            content.extend_from_slice(&chunk);
        }
        Ok(Some(content))
    }
}

fn out_of_memory_fault(bytes: usize) -> Fault {
    Fault { kind: FaultKind::Truncated, message: format!("cannot allocate {bytes} bytes of memory for it") }
}

/// Whether a body is empty, or starts as JSON or XML but does not end so. A truncated text of another kind is not
/// detected.
#[must_use]
pub fn is_truncated_document(body: &[u8]) -> bool {
    let text = strip_bom(body).trim_ascii();
    let last = text.last().copied();
    match text.first() {
        None => true,
        Some(b'{') => last != Some(b'}'),
        Some(b'[') => last != Some(b']'),
        Some(b'<') => last != Some(b'>'),
        Some(b'"') => last != Some(b'"') || text.len() == 1,
        Some(_) => false,
    }
}

/// The fault of a reply that does not mark its end and whose text is incomplete.
#[must_use]
pub fn unmarked_end_fault() -> Fault {
    let message = "it has neither Content-Length nor chunks, and its text is truncated";
    Fault { kind: FaultKind::Truncated, message: message.to_owned() }
}

fn corrupt_fault(error: &io::Error) -> Fault {
    let message = match error.kind() {
        io::ErrorKind::Unsupported => error.to_string(),
        _ => format!("the compressed reply is damaged: {error}"),
    };
    Fault { kind: FaultKind::Truncated, message }
}

/// Decoders for `Content-Encoding` (specification 4.5).
enum Decoder {
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    /// The coding `deflate`, with or without a zlib header; the first byte decides.
    DeflateOrZlib,
    Zlib(Box<ZlibDecoder<Vec<u8>>>),
    Deflate(Box<DeflateDecoder<Vec<u8>>>),
    /// A coding that no request of this client accepts.
    Unknown(String),
}

impl Decoder {
    fn from_encoding(encoding: &str) -> Option<Self> {
        if encoding.eq_ignore_ascii_case("gzip") || encoding.eq_ignore_ascii_case("x-gzip") {
            Some(Self::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))))
        } else if encoding.eq_ignore_ascii_case("deflate") {
            Some(Self::DeflateOrZlib)
        } else if encoding.is_empty() || encoding.eq_ignore_ascii_case("identity") {
            None
        } else {
            Some(Self::Unknown(encoding.escape_debug().take(40).collect()))
        }
    }

    fn push(&mut self, chunk: &[u8]) -> io::Result<Vec<u8>> {
        if let (Self::DeflateOrZlib, Some(first)) = (&*self, chunk.first()) {
            // No encoder starts plain deflate with 8: that would be a stored block with non-zero padding. A zlib header
            // has 8 there (RFC 1950, section 2.2: <https://www.rfc-editor.org/rfc/rfc1950>).
            *self = if first & 0x0F == 8 {
                Self::Zlib(Box::new(ZlibDecoder::new(Vec::new())))
            } else {
                Self::Deflate(Box::new(DeflateDecoder::new(Vec::new())))
            };
        }
        match self {
            Self::DeflateOrZlib => {}
            Self::Unknown(encoding) => {
                let message = format!("`Content-Encoding: {encoding}` is unknown; headland accepts gzip and deflate");
                return Err(io::Error::new(io::ErrorKind::Unsupported, message));
            }
            Self::Gzip(decoder) => decoder.write_all(chunk)?,
            Self::Zlib(decoder) => decoder.write_all(chunk)?,
            Self::Deflate(decoder) => decoder.write_all(chunk)?,
        }
        Ok(self.take())
    }

    fn finish(&mut self) -> io::Result<Vec<u8>> {
        match self {
            Self::DeflateOrZlib | Self::Unknown(_) => {}
            Self::Gzip(decoder) => decoder.try_finish()?,
            Self::Zlib(decoder) => decoder.try_finish()?,
            Self::Deflate(decoder) => decoder.try_finish()?,
        }
        Ok(self.take())
    }

    fn take(&mut self) -> Vec<u8> {
        match self {
            Self::DeflateOrZlib | Self::Unknown(_) => Vec::new(),
            Self::Gzip(decoder) => std::mem::take(decoder.get_mut()),
            Self::Zlib(decoder) => std::mem::take(decoder.get_mut()),
            Self::Deflate(decoder) => std::mem::take(decoder.get_mut()),
        }
    }
}
