//! Reads the lines of a text table through a buffer of bounded size.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

use crate::archive::{AllocError, BufferedReader, Member};
use headland_base::error::{Argument, Error, Result};
use headland_base::names;

/// The buffer size in bytes.
const WINDOW_SIZE: usize = 256 * 1024;

/// The size limit of a line in bytes. A record has some hundred cells.
const MAX_LINE_SIZE: usize = 4 << 20;

/// The end-of-text mark of DOS.
const END_OF_TEXT: u8 = 0x1A;

/// The content of a line, or the reason why it is no text.
pub(super) type Line<'a> = std::result::Result<&'a [u8], String>;

/// A text table before its first line.
pub(super) struct LineReader<'a> {
    member: &'a Member,
    window: BufferedReader,
    units: CodeUnits,
    is_marked: bool,
}

/// Reason why a line is rejected.
pub(super) enum LineError {
    Damage(String),
    OutOfMemory(AllocError),
}

impl From<String> for LineError {
    fn from(why: String) -> Self {
        Self::Damage(why)
    }
}

impl From<AllocError> for LineError {
    fn from(lack: AllocError) -> Self {
        Self::OutOfMemory(lack)
    }
}

/// Code units of the table.
#[derive(Clone, Copy)]
enum CodeUnits {
    /// Bytes, in an encoding in which a line feed is one byte.
    Bytes,
    /// UTF-16 in this byte order.
    Utf16(&'static Encoding),
}

impl CodeUnits {
    /// The end of the first line, after its line feed; `None` without one.
    fn first_end(self, text: &[u8]) -> Option<usize> {
        let (index, size) = match self {
            Self::Bytes => (text.iter().position(|byte| *byte == b'\n')?, 1),
            Self::Utf16(encoding) => (text.chunks_exact(2).position(|unit| is_line_feed(encoding, unit))?, 2),
        };
        Some(index.saturating_add(1).saturating_mul(size))
    }

    /// The end of the last complete line; `None` without one.
    fn last_end(self, text: &[u8]) -> Option<usize> {
        let (index, size) = match self {
            Self::Bytes => (text.iter().rposition(|byte| *byte == b'\n')?, 1),
            Self::Utf16(encoding) => (text.chunks_exact(2).rposition(|unit| is_line_feed(encoding, unit))?, 2),
        };
        Some(index.saturating_add(1).saturating_mul(size))
    }

    /// Decodes UTF-16 to UTF-8. An error if the line is not valid UTF-16.
    fn decode(self, line: &[u8]) -> std::result::Result<Cow<'_, [u8]>, String> {
        let Self::Utf16(encoding) = self else { return Ok(Cow::Borrowed(line)) };
        match encoding.decode_without_bom_handling_and_without_replacement(line) {
            Some(Cow::Borrowed(text)) => Ok(Cow::Borrowed(text.as_bytes())),
            Some(Cow::Owned(text)) => Ok(Cow::Owned(text.into_bytes())),
            None => Err(format!("it is not valid {}, the encoding of the start of the table", encoding.name())),
        }
    }
}

fn is_line_feed(encoding: &'static Encoding, unit: &[u8]) -> bool {
    unit == if encoding == UTF_16BE { b"\0\n" } else { b"\n\0" }
}

impl<'a> LineReader<'a> {
    /// Detects UTF-16 by its byte order mark or by NULs, which other encodings do not have. Otherwise the table is
    /// bytes.
    pub(super) fn open(member: &'a Member) -> Result<Self> {
        let mut window = member.open(WINDOW_SIZE)?;
        let (units, mark) = match window.fill(4) {
            Ok([0xFF, 0xFE, ..]) => (CodeUnits::Utf16(UTF_16LE), 2),
            Ok([0xFE, 0xFF, ..]) => (CodeUnits::Utf16(UTF_16BE), 2),
            Ok([1..=0xFF, 0, 1..=0xFF, 0, ..]) => (CodeUnits::Utf16(UTF_16LE), 0),
            Ok([0, 1..=0xFF, 0, 1..=0xFF, ..]) => (CodeUnits::Utf16(UTF_16BE), 0),
            // The first read reports damage.
            _ => (CodeUnits::Bytes, 0),
        };
        window.consume(mark);
        Ok(Self { member, window, units, is_marked: mark > 0 })
    }

    /// Whether the table is UTF-16. Its lines are then UTF-8.
    pub(super) fn is_utf_16(&self) -> bool {
        matches!(self.units, CodeUnits::Utf16(_))
    }

    /// Whether the table is UTF-16 without a byte order mark.
    pub(super) fn lacks_mark(&self) -> bool {
        self.is_utf_16() && !self.is_marked
    }

    /// Calls `take` with the number and content of each nonblank line and reads the member to its end.
    ///
    /// An error of `take` gets the record and its offset. Returns false if the last line has no end.
    pub(super) fn for_each(
        self,
        mut take: impl FnMut(u64, Line<'_>) -> std::result::Result<(), LineError>,
    ) -> Result<bool> {
        let Self { member, mut window, units, .. } = self;
        let mut record = 0_u64;
        let mut has_end = true;
        let mut wanted = 1_usize;
        loop {
            let offset = window.position();
            let bytes: &[u8] = window.fill(wanted)?;
            let is_end = bytes.len() < wanted;
            let Some(size) = units.last_end(bytes).or_else(|| is_end.then_some(bytes.len())) else {
                if bytes.len() > MAX_LINE_SIZE {
                    return Err(record_error(
                        member,
                        record,
                        offset,
                        &format!("it is longer than {MAX_LINE_SIZE} bytes"),
                    ));
                }
                wanted = bytes.len().saturating_mul(2).saturating_add(1);
                continue;
            };
            if size == 0 {
                window.finish()?;
                return Ok(has_end);
            }
            let mut rest = bytes.get(..size).unwrap_or_default();
            let mut line_offset = offset;
            while !rest.is_empty() {
                let (line, more) = rest.split_at(units.first_end(rest).unwrap_or(rest.len()));
                let decoded = units.decode(line);
                let (content, is_ended) = strip_line_end(decoded.as_deref().unwrap_or(line));
                let content = if line_offset == 0 { names::strip_bom(content) } else { content };
                // The last line may hold the end-of-text mark only.
                if !content.iter().all(|byte| byte.is_ascii_whitespace() || *byte == END_OF_TEXT) {
                    let content = decoded.as_ref().map(|_| content).map_err(Clone::clone);
                    take(record, content).map_err(|line_error| match line_error {
                        LineError::Damage(why) => record_error(member, record, line_offset, &why),
                        LineError::OutOfMemory(lack) => lack.for_member(member.name()).with(|facts| {
                            facts.record = Some(record);
                            facts.offset = Some(line_offset);
                        }),
                    })?;
                    record = record.saturating_add(1);
                }
                // Blanks after the last line end are no record. Tabs may be the rest of one.
                has_end = is_ended || !content.iter().any(|byte| !matches!(byte, b' ' | b'\r'));
                line_offset = line_offset.saturating_add(u64::try_from(line.len()).unwrap_or(u64::MAX));
                rest = more;
            }
            window.consume(size);
            wanted = 1;
        }
    }
}

/// The content of a line, and whether a line feed or end-of-text mark follows.
fn strip_line_end(line: &[u8]) -> (&[u8], bool) {
    match line {
        [content @ .., b'\r', b'\n'] | [content @ .., b'\n' | END_OF_TEXT] => (content, true),
        content => (content.strip_suffix(b"\r").unwrap_or(content), false),
    }
}

fn record_error(member: &Member, record: u64, offset: u64, why: &str) -> Error {
    let error = Error::archive(member.name(), format!("a record cannot be read: {why}")).with(|facts| {
        facts.record = Some(record);
        facts.offset = Some(offset);
    });
    error.with_hint("; ", Argument::Strict, " reads the recoverable data")
}
