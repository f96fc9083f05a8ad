//! Reads published files through their block checksums, so that damaged bytes are never parsed.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use bytes::{Buf as _, Bytes};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use super::file_checksums::BLOCK;
use crate::fs::fs_error;
use headland_base::error::{Error, Kind, Result};
use headland_base::hex::hex;
use headland_reader::layer::Cancel;

/// Hexadecimal digits of a checksum.
const DIGITS: usize = 8;

/// Advice for a missing file: the next sync detects it.
pub(super) const SYNC_ADVICE: &str = "run `sync()` to rewrite the dataset; `verify()` finds other losses";

/// Advice for a damaged file. A sync keeps a file of unchanged length until `verify()` has read it.
const VERIFY_ADVICE: &str = "run `verify()` to find other damage, then `sync()` to rewrite the dataset";

/// `ENOENT`, the same on all systems.
pub(super) const NOT_FOUND: i32 = 2;

/// Open file of the dataset.
pub(super) struct CheckedFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    crc32: String,
}

impl CheckedFile {
    /// Opens a file. `crc32` holds the checksums of its blocks; a manifest of format 1 has none.
    pub(super) fn open(path: &Path, crc32: &str) -> Result<Self> {
        let fail = |cause: std::io::Error| match cause.kind() {
            ErrorKind::NotFound => missing_error(path),
            _ => fs_error("read", path, &cause),
        };
        let file = File::open(path).map_err(fail)?;
        let bytes = file.metadata().map_err(fail)?.len();
        let blocks = usize::try_from(bytes.div_ceil(BLOCK)).unwrap_or(usize::MAX);
        if !crc32.is_empty() && blocks.checked_mul(DIGITS) != Some(crc32.len()) {
            return Err(damaged_error(path, "its length differs from that written"));
        }
        Ok(Self { path: path.to_owned(), file, bytes, crc32: crc32.to_owned() })
    }

    /// Length in bytes.
    pub(super) fn len(&self) -> u64 {
        self.bytes
    }

    /// Reads a byte range and compares the blocks that it touches with their checksums.
    pub(super) fn read(&mut self, range: Range<u64>) -> Result<Bytes> {
        if range.start > range.end || range.end > self.bytes {
            return Err(damaged_error(&self.path, "its metadata refer to bytes past its end"));
        }
        let first = range.start / BLOCK * BLOCK;
        let end = range.end.next_multiple_of(BLOCK).min(self.bytes);
        let mut content = vec![0; size(end.saturating_sub(first))];
        let read = self.file.seek(SeekFrom::Start(first)).and_then(|_| self.file.read_exact(&mut content));
        read.map_err(|cause| match cause.kind() {
            ErrorKind::UnexpectedEof => damaged_error(&self.path, "its length differs from that written"),
            _ => fs_error("read", &self.path, &cause),
        })?;
        self.compare(first, &content)?;
        let (skipped, count) = (size(range.start.saturating_sub(first)), size(range.end.saturating_sub(range.start)));
        let mut content = Bytes::from(content);
        content.advance(skipped);
        content.truncate(count);
        Ok(content)
    }

    /// Reads the ranges that a Parquet reader needs. Ranges at most one block apart are read in one call.
    pub(super) fn fetch(&mut self, mut ranges: Vec<Range<u64>>) -> Result<Fetched> {
        ranges.sort_unstable_by_key(|range| range.start);
        let mut merged: Vec<Range<u64>> = Vec::new();
        for range in ranges {
            match merged.last_mut() {
                Some(last) if range.start <= last.end.saturating_add(BLOCK) => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        let runs = merged.into_iter().map(|range| Ok((range.start, self.read(range)?))).collect::<Result<_>>()?;
        Ok(Fetched { bytes: self.bytes, runs })
    }

    /// Compares all blocks with their checksums.
    pub(super) fn verify(&mut self, cancel: &Cancel) -> Result<()> {
        /// Bytes per read: eight blocks.
        const STEP: u64 = 8 * BLOCK;
        let mut start = 0;
        while start < self.bytes && !self.crc32.is_empty() {
            cancel.check()?;
            let end = start.saturating_add(STEP).min(self.bytes);
            self.read(start..end)?;
            start = end;
        }
        Ok(())
    }

    /// Compares blocks with their checksums; `first` is the offset of the first block.
    fn compare(&self, first: u64, content: &[u8]) -> Result<()> {
        if self.crc32.is_empty() {
            return Ok(());
        }
        let skipped = size(first / BLOCK).saturating_mul(DIGITS);
        let expected = self.crc32.as_bytes().get(skipped..).unwrap_or_default().chunks(DIGITS);
        let mut start = first;
        for (block, digits) in content.chunks(size(BLOCK)).zip(expected) {
            let end = start.saturating_add(block.len() as u64);
            if hex(&crc32fast::hash(block).to_be_bytes()).as_bytes() != digits {
                return Err(damaged_error(&self.path, &format!("bytes {start} to {end} differ from those written")));
            }
            start = end;
        }
        Ok(())
    }
}

/// Verified ranges of a file, for a Parquet reader.
pub(super) struct Fetched {
    /// Length of the file in bytes.
    bytes: u64,
    /// Offset and content, sorted by offset.
    runs: Vec<(u64, Bytes)>,
}

impl Fetched {
    /// Fetched bytes from an offset on.
    fn slice_from(&self, start: u64) -> Option<Bytes> {
        let (offset, content) = self.runs.iter().rev().find(|(offset, _)| *offset <= start)?;
        let skipped = usize::try_from(start.checked_sub(*offset)?).ok()?;
        (skipped <= content.len()).then(|| content.slice(skipped..))
    }
}

impl Length for Fetched {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for Fetched {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        self.slice_from(start).map(Bytes::reader).ok_or_else(out_of_range)
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        let found = self.slice_from(start).filter(|content| length <= content.len());
        found.map(|content| content.slice(..length)).ok_or_else(out_of_range)
    }
}

fn out_of_range() -> ParquetError {
    ParquetError::EOF("a page is outside its column".to_owned())
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Error for a published file whose bytes differ from those written.
pub(super) fn damaged_error(path: &Path, why: &str) -> Error {
    let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
    Error::new(Kind::Archive, format!("`{}` is damaged ({why}); {VERIFY_ADVICE}", path.display()))
}

/// Error for a published file that is missing, or was removed with its generation.
pub(super) fn missing_error(path: &Path) -> Error {
    let is_generation = |folder: &&Path| folder.parent().is_some_and(|parent| parent.ends_with("generations"));
    let is_gone = path.ancestors().find(is_generation).is_some_and(|generation| !generation.exists());
    let path = path.display();
    let message = if is_gone {
        format!(
            "`{path}` was removed, because the mirror has published a newer state: read again, or create the frame \
             again"
        )
    } else {
        format!("`{path}` is missing; {SYNC_ADVICE}")
    };
    Error::new(Kind::Archive, message).with(|facts| facts.os_error = Some(NOT_FOUND))
}
