//! Decodes the bytes of an XML document by its byte order mark or declared encoding.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::archive::alloc::check_available;
use crate::archive::member::Member;
use headland_base::error::Result;

/// The declaration is within this many bytes.
const DECLARATION: usize = 256;

/// A document as text, with the information to convert positions to offsets in the file.
pub(super) struct XmlText {
    pub(super) text: String,
    unit: Unit,
    /// The size of the byte order mark.
    bom_size: usize,
}

/// The size of a character in the file.
#[derive(Clone, Copy)]
enum Unit {
    Utf8,
    Utf16,
    Byte,
    /// Variable; offsets are unknown.
    Other,
}

impl XmlText {
    /// Decodes the text of `member`; `bytes` are all its bytes.
    pub(super) fn read(member: &Member, bytes: Vec<u8>) -> Result<Self> {
        let (encoding, bom_size) = match &*bytes {
            [0xEF, 0xBB, 0xBF, ..] => (UTF_8, 3),
            [0xFF, 0xFE, ..] => (UTF_16LE, 2),
            [0xFE, 0xFF, ..] => (UTF_16BE, 2),
            [b'<', 0, ..] => (UTF_16LE, 0),
            [0, b'<', ..] => (UTF_16BE, 0),
            _ => (declared(member, &bytes)?, 0),
        };
        if encoding != UTF_8 || bom_size > 0 {
            // The decoded text is copied when it grows.
            check_available(bytes.len().saturating_mul(4)).map_err(|error| error.for_member(member.name()))?;
        }
        if encoding == UTF_8 {
            let text = String::from_utf8(bytes).map_err(|error| {
                let offset = error.utf8_error().valid_up_to();
                invalid_text_error(member, "UTF-8", u64::try_from(offset).ok())
            })?;
            let text = if bom_size == 0 { text } else { text.get(bom_size..).unwrap_or_default().to_owned() };
            return Ok(Self { text, unit: Unit::Utf8, bom_size });
        }
        let content = bytes.get(bom_size..).unwrap_or_default();
        if encoding == encoding_rs::WINDOWS_1252 && declares_latin1(&bytes) {
            let text = content.iter().map(|byte| char::from(*byte)).collect();
            return Ok(Self { text, unit: Unit::Byte, bom_size });
        }
        let text = encoding
            .decode_without_bom_handling_and_without_replacement(content)
            .ok_or_else(|| invalid_text_error(member, encoding.name(), None))?;
        let unit = match encoding {
            _ if encoding == UTF_16LE || encoding == UTF_16BE => Unit::Utf16,
            _ if encoding.is_single_byte() => Unit::Byte,
            _ => Unit::Other,
        };
        Ok(Self { text: text.into_owned(), unit, bom_size })
    }

    /// The line, counted from 1, and the offset in the file, of a position in the text.
    pub(super) fn locate(&self, position: usize) -> (usize, Option<u64>) {
        let before = self.text.get(..position).unwrap_or(&self.text);
        let line = before.bytes().filter(|byte| *byte == b'\n').count().saturating_add(1);
        let bytes = match self.unit {
            Unit::Utf8 => Some(before.len()),
            Unit::Utf16 => Some(before.encode_utf16().count().saturating_mul(2)),
            Unit::Byte => Some(before.chars().count()),
            Unit::Other => None,
        };
        (line, bytes.and_then(|bytes| u64::try_from(bytes.saturating_add(self.bom_size)).ok()))
    }
}

/// The label of the encoding in the declaration, `<?xml version="1.0" encoding="...">`.
fn label(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(bytes.get(..bytes.len().min(DECLARATION)).unwrap_or_default());
    let declaration = head.trim_start().strip_prefix("<?xml")?.split("?>").next()?;
    let value = declaration.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    Some(value.split(quote).nth(1)?.trim().to_owned())
}

/// The encoding of a document without a byte order mark: the declared one, or UTF-8. A declared UTF-16 is wrong, since
/// its bytes would show it (field notes, XML: prologs are not always true).
fn declared(member: &Member, bytes: &[u8]) -> Result<&'static Encoding> {
    let Some(label) = label(bytes) else { return Ok(UTF_8) };
    match Encoding::for_label(label.as_bytes()) {
        Some(found) if found == UTF_16LE || found == UTF_16BE => Ok(UTF_8),
        Some(found) => Ok(found),
        None => {
            let shown: String = label.chars().take(40).collect();
            Err(member.fault(format!("it declares the unknown encoding `{}`", shown.escape_debug())))
        }
    }
}

/// Whether the declaration names Latin-1 itself. The Encoding Standard maps that label to Windows-1252, XML does not.
fn declares_latin1(bytes: &[u8]) -> bool {
    label(bytes).is_some_and(|label| {
        let plain = label.to_ascii_lowercase().replace(['-', '_'], "");
        plain.contains("88591") || plain.starts_with("latin1") || plain == "l1"
    })
}

fn invalid_text_error(member: &Member, encoding: &str, offset: Option<u64>) -> headland_base::error::Error {
    member
        .fault(format!("its text is not valid {encoding}, the declared encoding, or the default if none is declared"))
        .with(|facts| facts.offset = offset)
}
