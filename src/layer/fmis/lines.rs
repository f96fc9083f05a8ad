//! The lines of a table of text, one after the other out of a window, so that no table is ever held whole.

use crate::archive::Member;
use crate::error::{Error, Result};

/// How much is looked at at a time.
const WINDOW: usize = 256 * 1024;

/// A record is some hundred cells; a line beyond this is none.
const LONGEST: usize = 4 << 20;

/// What ends texts in old systems.
const END: u8 = 0x1A;

/// Gives each line that is not blank to `take`, with its number among them, and reads the member to its end. What `take`
/// says against a line becomes an error with the record and its offset. False where the last line has no end.
pub(super) fn each(
    member: &Member,
    mut take: impl FnMut(u64, &[u8]) -> std::result::Result<(), String>,
) -> Result<bool> {
    let mut window = member.window(WINDOW)?;
    let mut record = 0_u64;
    let mut has_end = true;
    let mut want = 1_usize;
    loop {
        let offset = window.position();
        let bytes: &[u8] = window.fill(want)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map(|end| end.saturating_add(1));
        let is_end = bytes.len() < want;
        let Some(size) = whole.or_else(|| is_end.then_some(bytes.len())) else {
            if bytes.len() > LONGEST {
                return Err(fault(member, record, offset, &format!("it is longer than {LONGEST} bytes")));
            }
            want = bytes.len().saturating_mul(2).saturating_add(1);
            continue;
        };
        if size == 0 {
            window.finish()?;
            return Ok(has_end);
        }
        let mut start = 0_usize;
        for line in bytes.get(..size).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
            let (content, is_ended) = ended(line);
            let is_mark = offset == 0 && start == 0;
            let content = if is_mark { content.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(content) } else { content };
            // What ends texts may stand alone in the last line.
            if !content.iter().all(|byte| byte.is_ascii_whitespace() || *byte == END) {
                let at = offset.saturating_add(u64::try_from(start).unwrap_or(u64::MAX));
                take(record, content).map_err(|why| fault(member, record, at, &why))?;
                record = record.saturating_add(1);
            }
            // Blanks behind the last line end are no record; tabs may be what is left of one.
            has_end = is_ended || !content.iter().any(|byte| !matches!(byte, b' ' | b'\r'));
            start = start.saturating_add(line.len());
        }
        window.consume(size);
        want = 1;
    }
}

/// What a line holds, and whether that is all: a line feed follows, or the mark of the end of the text.
fn ended(line: &[u8]) -> (&[u8], bool) {
    match line {
        [content @ .., b'\r', b'\n'] | [content @ .., b'\n' | END] => (content, true),
        content => (content.strip_suffix(b"\r").unwrap_or(content), false),
    }
}

fn fault(member: &Member, record: u64, offset: u64, why: &str) -> Error {
    let message = format!("a record cannot be read: {why}; `strict=False` reads what can be saved");
    Error::archive(member.name(), message).with(|facts| {
        facts.record = Some(record);
        facts.offset = Some(offset);
    })
}
