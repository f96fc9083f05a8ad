//! Decodes text of archives to UTF-8: finds the encoding that an archive declares and reports decoding issues.

use std::borrow::Cow;

use encoding_rs::{DecoderResult, WINDOWS_1252};

use super::codepage_tables;
use super::diagnostic::Diagnostic;
use super::diagnostic_code::Code;

/// The encoding of text.
#[derive(Clone, Debug)]
pub struct Encoding {
    name: String,
    codec: Codec,
    /// Whether the archive declares Windows-1252 or ISO-8859-1, which writers of UTF-8 often do by default.
    is_declared_ansi: bool,
}

#[derive(Clone, Debug)]
enum Codec {
    Utf8,
    Latin1,
    /// The upper half of a DOS code page.
    Page(Vec<char>),
    Standard(&'static encoding_rs::Encoding),
    /// Nothing is declared: each cell is UTF-8 if valid, else Windows-1252.
    Undeclared,
}

/// An issue of decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeIssue {
    /// Not valid UTF-8; read as Windows-1252.
    Recoded,
    /// Bytes that Windows-1252 leaves undefined became control characters.
    Undefined,
    /// Declared as Windows-1252 or ISO-8859-1, but valid UTF-8 with characters beyond ASCII.
    LooksLikeUtf8,
    /// Some bytes are undefined in the encoding and were lost.
    Lost,
}

impl Encoding {
    /// The encoding with a name or code page number; `None` if it is unknown.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let plain = name.trim_matches(|letter: char| letter.is_whitespace() || matches!(letter, '\0' | '\u{feff}'));
        let lower = plain.to_ascii_lowercase();
        let codec = if let Some(driver) = lower.strip_prefix("ldid/") {
            return Self::from_driver(driver.parse().ok()?);
        } else {
            match split_number(&lower) {
                Some(("utf", "8")) => Codec::Utf8,
                Some(("" | "iso", part)) if part.starts_with("8859") && part.contains(SEPARATORS) => {
                    match part.trim_start_matches("8859").trim_start_matches(SEPARATORS) {
                        "1" => Codec::Latin1,
                        part => standard_codec(&format!("iso-8859-{part}"))?,
                    }
                }
                Some((prefix, number)) if CODE_PAGE_PREFIXES.contains(&prefix) => {
                    number.parse().ok().and_then(codec_from_number).or_else(|| standard_codec(&lower))?
                }
                _ => standard_codec(&lower)?,
            }
        };
        Some(Self { name: plain.to_owned(), codec, is_declared_ansi: false })
    }

    /// The encoding of the language driver byte of a .dbf; `None` if the byte declares none.
    #[must_use]
    pub fn from_driver(driver: u8) -> Option<Self> {
        let number = match driver {
            0x01 | 0x09 | 0x0B | 0x0D | 0x0F | 0x11 | 0x15 | 0x18 | 0x19 | 0x1B => 437,
            0x02 | 0x0A | 0x0E | 0x10 | 0x12 | 0x14 | 0x16 | 0x1A | 0x1D | 0x25 | 0x37 => 850,
            0x03 | 0x57 | 0x58 | 0x59 => 1252,
            0x04 => 10_000,
            0x08 | 0x17 | 0x66 => 865,
            0x13 | 0x7B => 932,
            0x1C | 0x6C => 863,
            0x1F | 0x22 | 0x23 | 0x40 | 0x64 | 0x87 => 852,
            0x24 => 860,
            0x26 | 0x65 => 866,
            0x4D | 0x7A => 936,
            0x4E | 0x79 => 949,
            0x4F | 0x78 => 950,
            0x50 | 0x7C => 874,
            0x7D => 1255,
            0x7E => 1256,
            0x96 => 10_007,
            0x97 => 10_029,
            0x98 => 10_006,
            0x67 => 861,
            0x68 => 895,
            0x69 => 620,
            0x6A | 0x86 => 737,
            0x6B | 0x88 => 857,
            0xC8 => 1250,
            0xC9 => 1251,
            0xCA => 1254,
            0xCB => 1253,
            0xCC => 1257,
            _ => return None,
        };
        Some(Self { name: format!("cp{number}"), codec: codec_from_number(number)?, is_declared_ansi: false })
    }

    /// The encoding that an archive declares: its .cpg, or else the driver byte of its .dbf. An invalid .cpg is
    /// ignored.
    #[must_use]
    pub fn from_declaration(cpg: Option<(&str, &[u8])>, driver: u8, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let found = Self::from_cpg_or_driver(cpg, driver, diagnostics);
        let is_declared_ansi = match found.codec {
            Codec::Standard(encoding) => encoding == WINDOWS_1252,
            Codec::Latin1 => true,
            Codec::Utf8 | Codec::Page(_) | Codec::Undeclared => false,
        };
        Self { is_declared_ansi, ..found }
    }

    fn from_cpg_or_driver(cpg: Option<(&str, &[u8])>, driver: u8, diagnostics: &mut Vec<Diagnostic>) -> Self {
        if let Some((member, bytes)) = cpg {
            let text = String::from_utf8_lossy(bytes);
            if let Some(found) = Self::from_name(&text) {
                let prefix = split_number(&text.trim().to_ascii_lowercase()).map_or("", |found| found.0).to_owned();
                if UNCOMMON_PREFIXES.contains(&&*prefix) {
                    let message = format!("`{}` is not the name of an encoding; its number was used", found.name);
                    diagnostics.push(Diagnostic::new(Code::CpgHabit, message).in_member(member));
                }
                return found;
            }
            let start: String = text.chars().take(40).collect();
            let message = format!("unknown encoding `{}` was ignored", start.escape_debug());
            diagnostics.push(Diagnostic::new(Code::CpgIgnored, message).in_member(member));
        }
        let undeclared = || Self { name: "undeclared".to_owned(), codec: Codec::Undeclared, is_declared_ansi: false };
        Self::from_driver(driver).unwrap_or_else(undeclared)
    }

    /// Whether nothing was declared.
    #[must_use]
    pub fn is_undeclared(&self) -> bool {
        matches!(self.codec, Codec::Undeclared)
    }

    fn looks_like_utf8(&self, bytes: &[u8]) -> bool {
        self.is_declared_ansi && !bytes.is_ascii() && std::str::from_utf8(bytes).is_ok()
    }

    /// The text of `bytes`, and the issue of decoding them.
    #[must_use]
    pub fn decode<'a>(&self, bytes: &'a [u8]) -> (Cow<'a, str>, Option<DecodeIssue>) {
        match &self.codec {
            Codec::Latin1 => {
                let text = bytes.iter().map(|byte| char::from(*byte)).collect::<String>();
                (text.into(), self.looks_like_utf8(bytes).then_some(DecodeIssue::LooksLikeUtf8))
            }
            Codec::Page(page) => {
                let text = codepage_tables::decode(page, bytes);
                let is_lost = text.contains(char::REPLACEMENT_CHARACTER);
                (text.into(), is_lost.then_some(DecodeIssue::Lost))
            }
            Codec::Standard(encoding) => {
                let (text, is_lost) = encoding.decode_without_bom_handling(bytes);
                // Windows-1252 leaves five bytes undefined; the Encoding Standard maps them to control characters.
                let undefined = |byte: &u8| matches!(byte, 0x81 | 0x8D | 0x8F | 0x90 | 0x9D);
                let issue = if is_lost {
                    Some(DecodeIssue::Lost)
                } else if self.looks_like_utf8(bytes) {
                    Some(DecodeIssue::LooksLikeUtf8)
                } else if *encoding == WINDOWS_1252 && bytes.iter().any(undefined) {
                    Some(DecodeIssue::Undefined)
                } else {
                    None
                };
                (text, issue)
            }
            Codec::Utf8 | Codec::Undeclared => match std::str::from_utf8(bytes) {
                Ok(text) => (text.into(), None),
                Err(_) => (WINDOWS_1252.decode_without_bom_handling(bytes).0, Some(DecodeIssue::Recoded)),
            },
        }
    }

    /// The name of a column, and its issue as a code and a clause. Writers truncate names after eleven bytes, some
    /// after ten, possibly inside a multi-byte character, which is then left out.
    #[must_use]
    pub fn column_name(&self, bytes: &[u8]) -> (String, Option<(Code, &'static str)>) {
        let (text, issue) = self.decode(bytes);
        let Some(issue) = issue else { return (text.into_owned(), None) };
        if matches!(issue, DecodeIssue::Recoded | DecodeIssue::Lost)
            && bytes.len() >= MIN_TRUNCATED_NAME
            && let Some(whole) = self.decode_without_truncated_char(bytes)
        {
            return (whole, Some((Code::NameCut, "is truncated inside its last character, which was left out")));
        }
        let wrong = match issue {
            DecodeIssue::Recoded if self.is_undeclared() => {
                (Code::TextRecoded, "is not valid UTF-8, and no encoding is declared; it was read as Windows-1252")
            }
            DecodeIssue::Recoded => (Code::TextRecoded, "is not valid UTF-8; it was read as Windows-1252"),
            DecodeIssue::Undefined => {
                (Code::TextRecoded, "contains bytes undefined in Windows-1252; they became control characters")
            }
            DecodeIssue::LooksLikeUtf8 => (
                Code::Utf8DeclaredAnsi,
                "is declared as Windows-1252 or ISO-8859-1 but is valid UTF-8; `encoding=\"utf-8\"` reads it as UTF-8",
            ),
            DecodeIssue::Lost => {
                (Code::TextLost, "contains bytes that are invalid in its encoding; they were replaced by U+FFFD")
            }
        };
        (text.into_owned(), Some(wrong))
    }

    /// The text before a truncated last character; `None` if anything else is wrong. Without a declared encoding, an
    /// earlier character must prove UTF-8, since the last byte may be a character of another encoding.
    fn decode_without_truncated_char(&self, bytes: &[u8]) -> Option<String> {
        let encoding = match &self.codec {
            Codec::Utf8 | Codec::Undeclared => encoding_rs::UTF_8,
            Codec::Standard(encoding) => encoding,
            Codec::Latin1 | Codec::Page(_) => return None,
        };
        let mut decoder = encoding.new_decoder_without_bom_handling();
        let mut text = String::with_capacity(decoder.max_utf8_buffer_length_without_replacement(bytes.len())?);
        let (result, _) = decoder.decode_to_string_without_replacement(bytes, &mut text, false);
        let is_whole = result == DecoderResult::InputEmpty && !text.is_empty();
        (is_whole && !(self.is_undeclared() && text.is_ascii())).then_some(text)
    }
}

/// The fewest bytes of a name that may be truncated.
const MIN_TRUNCATED_NAME: usize = 10;

/// Separators between the prefix and the number of a name.
const SEPARATORS: [char; 3] = ['-', '_', ' '];

/// Prefixes of a code page number.
const CODE_PAGE_PREFIXES: [&str; 13] =
    ["", "ansi", "cp", "x-cp", "windows", "win", "ms", "ibm", "oem", "dos", "iso", "code page", "codepage"];

/// Prefixes that other readers do not know, so that their text differs.
const UNCOMMON_PREFIXES: [&str; 7] = ["ansi", "win", "ms", "oem", "dos", "code page", "codepage"];

/// Names that iconv knows in addition to those of the Encoding Standard, without separators.
const ICONV_NAMES: [(&str, &str); 10] = [
    ("big5", "big5"),
    ("cp950", "big5"),
    ("euccn", "gbk"),
    ("eucjp", "euc-jp"),
    ("euckr", "euc-kr"),
    ("uhc", "euc-kr"),
    ("koi8r", "koi8-r"),
    ("koi8u", "koi8-u"),
    ("mac", "macintosh"),
    ("maccyrillic", "x-mac-cyrillic"),
];

/// The prefix and the number of a name such as `ansi 1252`; `None` for other forms.
fn split_number(name: &str) -> Option<(&str, &str)> {
    let (prefix, number) = name.split_at(name.find(|letter: char| letter.is_ascii_digit())?);
    let is_number = |letter: char| letter.is_ascii_digit() || SEPARATORS.contains(&letter);
    number.chars().all(is_number).then(|| (prefix.trim_end_matches(SEPARATORS), number))
}

fn standard_codec(label: &str) -> Option<Codec> {
    let found = encoding_rs::Encoding::for_label(label.as_bytes()).or_else(|| {
        // Some writers use names of iconv.
        let plain: String = label.chars().filter(|letter| !SEPARATORS.contains(letter)).collect();
        let (_, label) = ICONV_NAMES.iter().find(|(name, _)| *name == plain)?;
        encoding_rs::Encoding::for_label(label.as_bytes())
    })?;
    // The text of a .dbf is always compatible with ASCII.
    (found.is_ascii_compatible() && found != encoding_rs::UTF_8).then_some(Codec::Standard(found))
}

fn codec_from_number(number: u32) -> Option<Codec> {
    let label = match number {
        65_001 => return Some(Codec::Utf8),
        28_591 | 88_591 => return Some(Codec::Latin1),
        28_592..=28_606 => &*format!("iso-8859-{}", number - 28_590),
        88_592..=88_599 => &*format!("iso-8859-{}", number - 88_590),
        885_910..=885_916 => &*format!("iso-8859-{}", number - 885_900),
        1250..=1258 => &*format!("windows-{number}"),
        874 => "windows-874",
        866 => "ibm866",
        932 => "shift_jis",
        936 => "gbk",
        949 => "euc-kr",
        950 => "big5",
        54_936 => "gb18030",
        10_000 => "macintosh",
        10_007 => "x-mac-cyrillic",
        20_866 => "koi8-r",
        _ => return codepage_tables::find_page(number).map(|page| Codec::Page(page.chars().collect())),
    };
    standard_codec(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(name: &str, bytes: &[u8]) -> String {
        Encoding::from_name(name).unwrap_or_else(|| panic!("{name} is known")).decode(bytes).0.into_owned()
    }

    #[test]
    fn encoding_names_in_many_forms_are_known() {
        for name in ["UTF-8", "utf8", "65001", "\u{feff}UTF-8\r\n"] {
            assert_eq!(decode(name, "é".as_bytes()), "é", "{name}");
        }
        for name in ["ANSI 1252", "1252", "CP1252", "windows-1252", "LDID/87"] {
            assert_eq!(decode(name, b"\x80"), "€", "{name}");
        }
        for name in ["ISO-8859-1", "ISO 8859-1", "8859-1", "88591"] {
            assert_eq!(decode(name, b"\xe9\x80"), "é\u{80}", "{name}");
        }
        assert_eq!(decode("936", b"\xc4\xe3"), "你");
        assert_eq!(decode("Big5", b"\xa7\x41"), "你");
        assert_eq!(decode("437", b"\x81"), "ü");
    }

    #[test]
    fn text_around_a_number_is_no_encoding_name() {
        for name in ["zz", "10000-01-01", "1252-01-01", "x1252", "1252 or so", "8859", "my 8859-1", "utf-8-1", "", "7"]
        {
            assert!(Encoding::from_name(name).is_none(), "{name}");
        }
    }

    #[test]
    fn unknown_name_in_a_cpg_is_reported_and_the_driver_byte_decides() {
        let mut diagnostics = Vec::new();
        let found = Encoding::from_declaration(Some(("t.cpg", b"FOO-BAR")), 0xC9, &mut diagnostics);
        assert_eq!(found.decode(b"\xcf").0, "П");
        assert_eq!(diagnostics.len(), 1);
        assert_eq!(diagnostics[0].code, Code::CpgIgnored);
    }

    #[test]
    fn name_truncated_inside_a_letter_loses_only_that_letter() {
        let name = |label: &str, bytes: &[u8]| Encoding::from_name(label).unwrap().column_name(bytes);
        let truncated = Some(Code::NameCut);
        for (label, bytes, expected, code) in [
            ("UTF-8", "Feldgrößé".as_bytes(), "Feldgrößé", None),
            ("UTF-8", b"abcdefghij\xC3", "abcdefghij", truncated),
            ("UTF-8", b"abcdefghi\xE6", "abcdefghi", truncated),
            ("UTF-8", b"\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E\xE3\x83", "日本語", truncated),
            ("UTF-8", b"gr\xC3", "grÃ", Some(Code::TextRecoded)),
            ("UTF-8", b"abcde\xE9ghij\xC3", "abcdeéghijÃ", Some(Code::TextRecoded)),
            ("932", b"AB\x93\xfa\x96{\x8c\xea\x83e\x83", "AB日本語テ", truncated),
            ("1252", b"abcdefghij\xC3", "abcdefghijÃ", None),
        ] {
            let (found, what) = name(label, bytes);
            assert_eq!((&*found, what.map(|(code, _)| code)), (expected, code), "{label}: {bytes:?}");
        }
        let unknown = Encoding::from_declaration(None, 0, &mut Vec::new());
        assert_eq!(unknown.column_name("Größe:Maß".as_bytes().get(..11).unwrap()).0, "Größe:Ma");
        assert_eq!(unknown.column_name(b"Propri\xE9t\xE9"), ("Propriété".to_owned(), unknown.column_name(b"\xE9").1));
        assert!(unknown.column_name(b"\xE9").1.is_some_and(|(_, what)| what.contains("no encoding is declared")));
        assert_eq!(unknown.column_name(b"abcdefghi\xE9").0, "abcdefghié", "nothing shows that it is UTF-8");
    }

    #[test]
    fn text_wrongly_declared_as_utf_8_is_recoded() {
        assert_eq!(Encoding::from_name("UTF-8").unwrap().decode(b"\xe9"), ("é".into(), Some(DecodeIssue::Recoded)));
    }

    #[test]
    fn lost_bytes_are_distinguished_from_recoded_bytes() {
        for (name, bytes, expected, issue) in [
            ("1252", &b"a\x81b"[..], "a\u{81}b", Some(DecodeIssue::Undefined)),
            ("UTF-8", b"a\x81b", "a\u{81}b", Some(DecodeIssue::Recoded)),
            ("857", b"a\xd5b", "a\u{fffd}b", Some(DecodeIssue::Lost)),
            ("932", b"a\x81", "a\u{fffd}", Some(DecodeIssue::Lost)),
            ("1253", b"a\xd2", "a\u{fffd}", Some(DecodeIssue::Lost)),
            ("gb18030", b"\x84\x31\xa4\x37", "\u{fffd}", None),
            ("8859-1", b"a\x81", "a\u{81}", None),
        ] {
            let decoded = Encoding::from_name(name).unwrap().decode(bytes);
            assert_eq!(decoded, (expected.into(), issue), "{name}: {bytes:?}");
        }
        let (name, wrong) = Encoding::from_name("932").unwrap().column_name(b"a\xa0b");
        assert_eq!((&*name, wrong.map(|(code, _)| code)), ("a\u{fffd}b", Some(Code::TextLost)));
    }
}
