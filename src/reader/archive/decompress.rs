//! Decompresses members in steps. Supports the zip methods deflate (RFC 1951) and deflate64.

use deflate64::InflaterManaged;
use flate2::{Decompress, FlushDecompress, Status};

/// A supported compression method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Deflate,
    /// The method that Windows uses for members above 2 GiB.
    Deflate64,
}

impl Method {
    /// The method with this number in a zip; `None` for unsupported methods and for 0, which means stored.
    pub(super) fn from_number(number: u16) -> Option<Self> {
        match number {
            8 => Some(Self::Deflate),
            9 => Some(Self::Deflate64),
            _ => None,
        }
    }

    /// Largest number of bytes from one compressed byte. Two bits encode at most 258 bytes, or 65,538 in 18 bits.
    pub(super) fn max_ratio(self) -> u64 {
        match self {
            Self::Deflate => 1_032,
            Self::Deflate64 => 29_128,
        }
    }
}

/// A decompressor with the state of its stream.
pub(super) enum Decompressor {
    Deflate(Decompress),
    Deflate64(Box<InflaterManaged>),
}

/// Result of a step: bytes consumed and produced, whether the stream ended, and the damage after these bytes.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) consumed: usize,
    pub(super) produced: usize,
    pub(super) is_at_end: bool,
    pub(super) damage: Option<String>,
}

impl Decompressor {
    pub(super) fn new(method: Method) -> Self {
        match method {
            Method::Deflate => Self::Deflate(Decompress::new(false)),
            Method::Deflate64 => Self::Deflate64(Box::new(InflaterManaged::new())),
        }
    }

    /// Decompresses some of `input` into `output`.
    pub(super) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        match self {
            Self::Deflate(stream) => {
                let (consumed, produced) = (stream.total_in(), stream.total_out());
                let status = stream.decompress(input, output, FlushDecompress::None);
                let since = |now: u64, before: u64| usize::try_from(now.saturating_sub(before)).unwrap_or(0);
                Step {
                    consumed: since(stream.total_in(), consumed),
                    produced: since(stream.total_out(), produced),
                    is_at_end: matches!(status, Ok(Status::StreamEnd)),
                    damage: status.err().map(|cause| cause.to_string()),
                }
            }
            Self::Deflate64(stream) => {
                let done = stream.inflate(input, output);
                Step {
                    consumed: done.bytes_consumed,
                    produced: done.bytes_written,
                    is_at_end: stream.finished(),
                    damage: done.data_error.then(|| "invalid deflate64 stream".to_owned()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use bytes::Bytes;
    use flate2::{Compression, write::DeflateEncoder};
    use proptest::prelude::*;

    use super::*;
    use crate::archive::member::{Body, Member};

    fn deflated(bytes: &[u8], level: u32) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(level));
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// The bytes that a reader with this buffer returns before the end or an error, and the error.
    fn read_through(compressed: Vec<u8>, plain: &[u8], buffer_size: usize) -> (Vec<u8>, Option<String>) {
        let body = Body::Compressed {
            compressed_size: compressed.len() as u64,
            store: Arc::new(Bytes::from(compressed)),
            offset: 0,
            crc: crc32fast::hash(plain),
            is_truncated: false,
            method: Method::Deflate,
        };
        let mut reader = Member::new("plain".to_owned(), plain.len() as u64, body).open(buffer_size).unwrap();
        let mut all = Vec::new();
        loop {
            match reader.fill(1) {
                Ok([]) => return (all, None),
                Ok(part) => all.extend_from_slice(part),
                Err(fault) => return (all, Some(fault.to_string())),
            }
            reader.consume(usize::MAX);
        }
    }

    /// The bytes that zlib-rs returns, and whether the stream ends exactly with the input.
    fn expected(compressed: &[u8], limit: usize) -> (Vec<u8>, bool) {
        let (mut stream, mut all) = (Decompress::new(false), vec![0; limit + 1]);
        let status = stream.decompress(compressed, &mut all, FlushDecompress::None);
        all.truncate(usize::try_from(stream.total_out()).unwrap());
        (all, matches!(status, Ok(Status::StreamEnd)) && stream.total_in() == compressed.len() as u64)
    }

    fn contents() -> impl Strategy<Value = Vec<u8>> {
        let digits = prop::collection::vec(prop_oneof![8 => b'0'..=b'9', 3 => Just(b' '), 1 => Just(b'.')], 0..40_000);
        let bytes = prop::collection::vec(any::<u8>(), 0..3_000);
        let repeats =
            (prop::collection::vec(any::<u8>(), 1..400), 1_usize..400).prop_map(|(part, times)| part.repeat(times));
        prop_oneof![digits, bytes, repeats]
    }

    proptest! {
        #[test]
        fn complete_stream_yields_its_bytes(text in contents(), level in 0_u32..=9, buffer_size in 1_usize..70_000) {
            let (all, fault) = read_through(deflated(&text, level), &text, buffer_size);
            prop_assert_eq!(fault, None);
            prop_assert!(all == text, "{} bytes came of {}", all.len(), text.len());
        }

        #[test]
        fn damaged_stream_yields_what_zlib_yields_before_the_error(
            text in contents(), level in 1_u32..=9, buffer_size in 1_usize..70_000, index in any::<prop::sample::Index>(),
            change in prop_oneof![(1_u8..=255).prop_map(Some), Just(None)], more in prop::collection::vec(any::<u8>(), 0..7),
        ) {
            let mut compressed = deflated(&text, level);
            let index = index.index(compressed.len());
            match change {
                Some(bits) => compressed[index] ^= bits,
                None => compressed.truncate(index),
            }
            compressed.extend_from_slice(&more);
            let (bytes, is_whole) = expected(&compressed, text.len());
            let (all, fault) = read_through(compressed, &text, buffer_size);
            let promised = bytes.get(..text.len()).unwrap_or(&bytes);
            prop_assert!(all == promised, "{} bytes came, not {}", all.len(), promised.len());
            prop_assert_eq!(fault.is_none(), is_whole && bytes == text, "{:?}", fault);
        }
    }
}
