//! The lines of a table of text, one after the other out of a window, so that no table is ever held whole.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

use crate::archive::{Member, NoRoom, Window};
use crate::error::{Argument, Error, Result};

/// How much is looked at at a time.
const WINDOW_SIZE: usize = 256 * 1024;

/// A record is some hundred cells; a line beyond this is none.
const MAX_LINE_SIZE: usize = 4 << 20;

/// What ends texts in old systems.
const END_OF_TEXT: u8 = 0x1A;

/// What stands in a line, or why it is no text.
pub(super) type Line<'a> = std::result::Result<&'a [u8], String>;

/// A table of text before its first line.
pub(super) struct LineReader<'a> {
    member: &'a Member,
    window: Window,
    units: CodeUnits,
    is_marked: bool,
}

/// Why a line cannot be taken.
pub(super) enum LineError {
    /// It is damaged.
    Damage(String),
    /// The system has no memory left for more.
    OutOfMemory(NoRoom),
}

impl From<String> for LineError {
    fn from(why: String) -> Self {
        Self::Damage(why)
    }
}

impl From<NoRoom> for LineError {
    fn from(lack: NoRoom) -> Self {
        Self::OutOfMemory(lack)
    }
}

/// What a letter of the table is made of.
#[derive(Clone, Copy)]
enum CodeUnits {
    /// Bytes, in an encoding in which a line feed is one of them.
    Bytes,
    /// Two bytes at a time, in this encoding.
    Utf16(&'static Encoding),
}

impl CodeUnits {
    /// Where the first line ends, behind its line feed; `None` where there is none.
    fn first_end(self, text: &[u8]) -> Option<usize> {
        let (index, size) = match self {
            Self::Bytes => (text.iter().position(|byte| *byte == b'\n')?, 1),
            Self::Utf16(encoding) => (text.chunks_exact(2).position(|unit| is_line_feed(encoding, unit))?, 2),
        };
        Some(index.saturating_add(1).saturating_mul(size))
    }

    /// Where the last line ends that has an end.
    fn last_end(self, text: &[u8]) -> Option<usize> {
        let (index, size) = match self {
            Self::Bytes => (text.iter().rposition(|byte| *byte == b'\n')?, 1),
            Self::Utf16(encoding) => (text.chunks_exact(2).rposition(|unit| is_line_feed(encoding, unit))?, 2),
        };
        Some(index.saturating_add(1).saturating_mul(size))
    }

    /// The line in an encoding in which a tab is a byte; an error where it is no text.
    fn decode(self, line: &[u8]) -> std::result::Result<Cow<'_, [u8]>, String> {
        let Self::Utf16(encoding) = self else { return Ok(Cow::Borrowed(line)) };
        match encoding.decode_without_bom_handling_and_without_replacement(line) {
            Some(Cow::Borrowed(text)) => Ok(Cow::Borrowed(text.as_bytes())),
            Some(Cow::Owned(text)) => Ok(Cow::Owned(text.into_bytes())),
            None => Err(format!("it is no {}, as the start of the table is", encoding.name())),
        }
    }
}

fn is_line_feed(encoding: &'static Encoding, unit: &[u8]) -> bool {
    unit == if encoding == UTF_16BE { b"\0\n" } else { b"\n\0" }
}

impl<'a> LineReader<'a> {
    /// Looks for a mark of UTF-16 at the start, or for NULs, which no other text has: without either, a table is bytes.
    pub(super) fn open(member: &'a Member) -> Result<Self> {
        let mut window = member.window(WINDOW_SIZE)?;
        let (units, mark) = match window.fill(4) {
            Ok([0xFF, 0xFE, ..]) => (CodeUnits::Utf16(UTF_16LE), 2),
            Ok([0xFE, 0xFF, ..]) => (CodeUnits::Utf16(UTF_16BE), 2),
            Ok([1..=0xFF, 0, 1..=0xFF, 0, ..]) => (CodeUnits::Utf16(UTF_16LE), 0),
            Ok([0, 1..=0xFF, 0, 1..=0xFF, ..]) => (CodeUnits::Utf16(UTF_16BE), 0),
            // Damage is met again where the first line is asked for.
            _ => (CodeUnits::Bytes, 0),
        };
        window.consume(mark);
        Ok(Self { member, window, units, is_marked: mark > 0 })
    }

    /// Whether the table itself shows that it is UTF-16; its lines are then given in UTF-8.
    pub(super) fn is_utf_16(&self) -> bool {
        matches!(self.units, CodeUnits::Utf16(_))
    }

    /// Whether it is UTF-16 that does not begin with its mark.
    pub(super) fn lacks_mark(&self) -> bool {
        self.is_utf_16() && !self.is_marked
    }

    /// Gives each line that is not blank to `take`, with its number among them, or why it is no text, and reads the member to
    /// its end. What `take` says against a line becomes an error with the record and its offset. False where the last line
    /// has no end.
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
                let content =
                    if line_offset == 0 { content.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(content) } else { content };
                // What ends texts may stand alone in the last line.
                if !content.iter().all(|byte| byte.is_ascii_whitespace() || *byte == END_OF_TEXT) {
                    let content = decoded.as_ref().map(|_| content).map_err(Clone::clone);
                    take(record, content).map_err(|line_error| match line_error {
                        LineError::Damage(why) => record_error(member, record, line_offset, &why),
                        LineError::OutOfMemory(lack) => lack.of(member.name()).with(|facts| {
                            facts.record = Some(record);
                            facts.offset = Some(line_offset);
                        }),
                    })?;
                    record = record.saturating_add(1);
                }
                // Blanks behind the last line end are no record; tabs may be what is left of one.
                has_end = is_ended || !content.iter().any(|byte| !matches!(byte, b' ' | b'\r'));
                line_offset = line_offset.saturating_add(u64::try_from(line.len()).unwrap_or(u64::MAX));
                rest = more;
            }
            window.consume(size);
            wanted = 1;
        }
    }
}

/// What a line holds, and whether that is all: a line feed follows, or the mark of the end of the text.
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
    error.hinting("; ", Argument::Strict, " reads what can be saved")
}
