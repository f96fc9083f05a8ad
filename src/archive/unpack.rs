//! How compressed members are unpacked, step by step: the one place that knows the methods of zips.

use deflate64::InflaterManaged;
use fdeflate::Decompressor;
use flate2::{Decompress, FlushDecompress, Status};

/// How far back deflate repeats what it gave: so many bytes have to stand before those that come next.
pub(super) const HISTORY: usize = 32 * 1024;

/// A method of compression that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Deflate,
    /// What Windows chooses for members above 2 GiB.
    Deflate64,
}

impl Method {
    /// The method of this number in a zip; `None` for those that cannot be read, and for 0, which is no compression.
    pub(super) fn of(number: u16) -> Option<Self> {
        match number {
            8 => Some(Self::Deflate),
            9 => Some(Self::Deflate64),
            _ => None,
        }
    }

    /// How many bytes one byte can stand for at most: two bits for 258 of them, or eighteen for 65,538.
    pub(super) fn most(self) -> u64 {
        match self {
            Self::Deflate => 1_032,
            Self::Deflate64 => 29_128,
        }
    }
}

/// A stream that is being unpacked.
pub(super) enum Unpacker {
    Quick(Box<Quick>),
    Careful(Decompress),
    Deflate64(Box<InflaterManaged>),
}

/// Deflate by fdeflate, which takes four fifths of the time of zlib-rs for digits.
///
/// It does not tell how far it came before a fault, nor what follows the end of a stream, and takes two codes that stand
/// for nothing for the end of a block. So it is trusted where a stream ends exactly with its data and the checksum of
/// the zip agrees; in all other cases zlib-rs has the last word.
pub(super) struct Quick {
    stream: Decompressor,
    given: usize,
}

/// What one step did: bytes taken, bytes given, whether the stream has ended, and what is wrong behind those bytes.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) taken: usize,
    pub(super) given: usize,
    pub(super) ended: bool,
    pub(super) damage: Option<String>,
}

impl Unpacker {
    /// For those who read on to the end or throw away what they have: of damaged data it may give more than there is.
    pub(super) fn quick(method: Method) -> Self {
        match method {
            Method::Deflate => Self::Quick(Box::new(Quick::new())),
            Method::Deflate64 => Self::Deflate64(Box::new(InflaterManaged::new())),
        }
    }

    /// What has the last word, from the start of the data on: it gives exactly what stands before a fault.
    pub(super) fn careful(method: Method) -> Self {
        match method {
            Method::Deflate => Self::Careful(Decompress::new(false)),
            Method::Deflate64 => Self::Deflate64(Box::new(InflaterManaged::new())),
        }
    }

    /// Unpacks some of `input` into `buffer` from `at` on; before it stands what came last, [`HISTORY`] bytes if there
    /// are so many. `None` where [`Unpacker::careful`] has to start again.
    pub(super) fn step(&mut self, input: &[u8], buffer: &mut [u8], at: usize) -> Option<Step> {
        match self {
            Self::Quick(quick) => quick.step(input, buffer, at),
            Self::Careful(stream) => {
                let (taken, given) = (stream.total_in(), stream.total_out());
                let status = stream.decompress(input, buffer.get_mut(at..)?, FlushDecompress::None);
                let since = |now: u64, before: u64| usize::try_from(now.saturating_sub(before)).unwrap_or(0);
                Some(Step {
                    taken: since(stream.total_in(), taken),
                    given: since(stream.total_out(), given),
                    ended: matches!(status, Ok(Status::StreamEnd)),
                    damage: status.err().map(|cause| cause.to_string()),
                })
            }
            Self::Deflate64(stream) => {
                let done = stream.inflate(input, buffer.get_mut(at..)?);
                Some(Step {
                    taken: done.bytes_consumed,
                    given: done.bytes_written,
                    ended: stream.finished(),
                    damage: done.data_error.then(|| "it is no deflate64".to_owned()),
                })
            }
        }
    }
}

impl Quick {
    /// The library reads the frame of zlib, which members of a zip do not have: a header before the data ...
    const HEADER: [u8; 2] = [0x78, 0x01];
    /// ... and so many bytes behind them, of a checksum which it is told not to look at: that of the zip is checked.
    const CHECKSUM: usize = 4;

    fn new() -> Self {
        let mut stream = Decompressor::new();
        stream.ignore_adler32();
        // Nothing can be wrong with a header alone; if it were, the first step would say so.
        let _ = stream.read(&Self::HEADER, &mut [], 0, false);
        Self { stream, given: 0 }
    }

    fn step(&mut self, input: &[u8], buffer: &mut [u8], at: usize) -> Option<Step> {
        // Nothing before the first byte is in sight, so that no distance can reach beyond it.
        let history = self.given.min(HISTORY);
        let view = buffer.get_mut(at.checked_sub(history)?..)?;
        let (taken, mut given) = self.stream.read(input, view, history, false).ok()?;
        let is_all_in = input.is_empty() && given == 0;
        for _ in 0..if is_all_in { Self::CHECKSUM } else { 0 } {
            // Were it done before the last of them, it would have taken data for a checksum.
            if self.stream.is_done() {
                return None;
            }
            given = given.saturating_add(self.stream.read(&[0], view, history.saturating_add(given), false).ok()?.1);
        }
        self.given = self.given.saturating_add(given);
        (self.stream.is_done() == is_all_in).then_some(Step { taken, given, ended: is_all_in, damage: None })
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

    /// What a window of that size gives of a member before its end or its fault, and the fault.
    fn given(packed: Vec<u8>, plain: &[u8], window: usize, is_strict: bool) -> (Vec<u8>, Option<String>) {
        let body = Body::Packed {
            packed: packed.len() as u64,
            store: Arc::new(Bytes::from(packed)),
            offset: 0,
            crc: crc32fast::hash(plain),
            method: Method::Deflate,
            is_strict,
        };
        let mut window = Member::new("plain".to_owned(), plain.len() as u64, body).window(window).unwrap();
        let mut all = Vec::new();
        loop {
            match window.fill(1) {
                Ok([]) => return (all, None),
                Ok(part) => all.extend_from_slice(part),
                Err(fault) => return (all, Some(fault.to_string())),
            }
            window.consume(usize::MAX);
        }
    }

    /// What zlib-rs gives of those bytes, and whether it comes to its end exactly with them.
    fn expected(packed: &[u8], most: usize) -> (Vec<u8>, bool) {
        let (mut stream, mut all) = (Decompress::new(false), vec![0; most + 1]);
        let status = stream.decompress(packed, &mut all, FlushDecompress::None);
        all.truncate(usize::try_from(stream.total_out()).unwrap());
        (all, matches!(status, Ok(Status::StreamEnd)) && stream.total_in() == packed.len() as u64)
    }

    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let digits = prop::collection::vec(prop_oneof![8 => b'0'..=b'9', 3 => Just(b' '), 1 => Just(b'.')], 0..40_000);
        let bytes = prop::collection::vec(any::<u8>(), 0..3_000);
        let repeats =
            (prop::collection::vec(any::<u8>(), 1..400), 1_usize..400).prop_map(|(part, times)| part.repeat(times));
        prop_oneof![digits, bytes, repeats]
    }

    #[test]
    fn a_code_that_stands_for_nothing_is_a_fault() {
        // `a`, then the code of 286 in a fixed block, then a stored block with `xyz`.
        let packed = vec![74, 28, 11, 3, 0, 252, 255, 120, 121, 122];
        let (all, fault) = given(packed.clone(), b"axyz", 64, false);
        assert_eq!(all, b"a");
        assert!(fault.unwrap().contains("invalid literal/length code"));
        assert!(given(packed, b"abcd", 64, true).1.is_some());
    }

    proptest! {
        #[test]
        fn whole_streams_give_their_bytes(text in texts(), level in 0_u32..=9, window in 1_usize..70_000, is_strict: bool) {
            let (all, fault) = given(deflated(&text, level), &text, window, is_strict);
            prop_assert_eq!(fault, None);
            prop_assert!(all == text, "{} bytes came of {}", all.len(), text.len());
        }

        #[test]
        fn damaged_streams_give_what_zlib_gives_before_the_fault(
            text in texts(), level in 1_u32..=9, window in 1_usize..70_000, at in any::<prop::sample::Index>(),
            change in prop_oneof![(1_u8..=255).prop_map(Some), Just(None)], more in prop::collection::vec(any::<u8>(), 0..7),
        ) {
            let mut packed = deflated(&text, level);
            let at = at.index(packed.len());
            match change {
                Some(bits) => packed[at] ^= bits,
                None => packed.truncate(at),
            }
            packed.extend_from_slice(&more);
            let (bytes, is_whole) = expected(&packed, text.len());
            let promised = bytes.get(..text.len()).unwrap_or(&bytes);
            for is_strict in [false, true] {
                let (all, fault) = given(packed.clone(), &text, window, is_strict);
                // Who reads strictly gets nothing but the error.
                let is_so = if is_strict { all.starts_with(promised) } else { all == promised };
                prop_assert!(is_so, "{} bytes came, not {}", all.len(), promised.len());
                prop_assert_eq!(fault.is_none(), is_whole && bytes == text, "{:?}", fault);
            }
        }
    }
}
