//! Whether a received file is whole: a zip by its end record and the CRC of its members, an XML file by its end tag.

use std::io::{Read, Seek};

use zip::ZipArchive;
use zip::result::ZipError;

/// Beyond so many unpacked bytes only the directory of a zip is checked: the reader has limits of its own.
const UNPACKED: u64 = 4 * 1024 * 1024 * 1024;

/// What a call asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expects {
    Zip,
    Xml,
    /// The text of a grain cart. It has no end mark, so that a cut is told by the length of the body alone.
    Grc,
}

/// Checks a zip; the text says what is wrong with it. Members that this crate cannot unpack (encrypted, or packed by
/// a rare method) are left to the reader.
pub(super) async fn check_zip<R: Read + Seek + Send>(source: R) -> Result<(), String> {
    let mut archive = match ZipArchive::new(source) {
        Ok(archive) => archive,
        Err(ZipError::UnsupportedArchive(_)) => return Ok(()),
        Err(error) => return Err(format!("the zip is damaged or cut: {error}")),
    };
    let mut unpacked = 0_u64;
    let mut buffer = vec![0_u8; 256 * 1024];
    for index in 0..archive.len() {
        // Other calls of the same thread go on between the members.
        tokio::task::yield_now().await;
        let mut member = match archive.by_index(index) {
            Ok(member) => member,
            Err(ZipError::UnsupportedArchive(_) | ZipError::InvalidPassword) => continue,
            Err(error) => return Err(format!("member {index} of the zip is damaged: {error}")),
        };
        loop {
            match member.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => unpacked = unpacked.saturating_add(u64::try_from(count).unwrap_or(u64::MAX)),
                Err(error) => return Err(format!("`{}` in the zip is damaged: {error}", member.name())),
            }
            if unpacked > UNPACKED {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The name of the root element, where `head` is the start of an XML document.
pub(super) fn xml_root(head: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head));
    let mut rest = text.trim_start();
    loop {
        rest = rest.strip_prefix('<')?;
        let end = if rest.starts_with("!--") {
            "-->"
        } else if rest.starts_with(['?', '!']) {
            ">"
        } else {
            let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/')).unwrap_or(rest.len());
            return rest.get(..end).filter(|name| !name.is_empty()).map(str::to_owned);
        };
        let (_, after) = rest.split_once(end)?;
        rest = after.trim_start();
    }
}

/// Whether `head` may be the start of a grain cart's text: no markup and no JSON, such as the service's word in its place,
/// and no binary file. The rest is the reader's: an upload that it refuses can still be downloaded.
pub(super) fn is_grc(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
    !matches!(text.first(), None | Some(b'<' | b'{' | b'[')) && !text.contains(&0)
}

/// Checks that an XML document ends with the end tag of its root; `tail` is its end.
pub(super) fn check_xml_end(root: &str, tail: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(tail);
    let text = text.trim_end();
    let closed = text.rsplit_once("</").is_some_and(|(_, end)| end.trim_end_matches('>').trim_end() == root);
    let is_empty = text.rsplit_once('<').is_some_and(|(_, last)| last.starts_with(root) && last.ends_with("/>"));
    // The root may close itself, or a comment may follow its end tag.
    let is_whole = text.ends_with('>') && (closed || is_empty || text.contains(&format!("</{root}")));
    if is_whole { Ok(()) } else { Err(format!("the XML is cut: it does not end with </{root}>")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_found_behind_prolog_and_comments() {
        for (text, root) in [
            ("<a>", Some("a")),
            ("\u{feff}<?xml version='1.0'?>\n<!-- <b> -->\n<!DOCTYPE c><x:Job id='1'>", Some("x:Job")),
            ("{}", None),
            ("<?xml", None),
            ("", None),
        ] {
            assert_eq!(xml_root(text.as_bytes()).as_deref(), root, "{text}");
        }
    }

    #[test]
    fn a_grain_cart_is_text_that_is_no_reply() {
        for text in ["GrcVersion,1.6,\r\n", "\u{feff}GrcVersion,1.6,", "\n,Pounds"] {
            assert!(is_grc(text.as_bytes()), "{text}");
        }
        for other in ["", "  ", "\u{feff}{\"status\":\"x\"}", "<SlingshotResponse/>", "[]", "GRC\0\u{1}"] {
            assert!(!is_grc(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn a_cut_document_is_told_from_a_whole_one() {
        for whole in ["<a><b/></a>", "<a x='1'/>", "<a><b/></a >\n<!-- end -->\n", "<a/>"] {
            assert!(check_xml_end("a", whole.as_bytes()).is_ok(), "{whole}");
        }
        for cut in ["<a><b>", "<a><b/>", "<a><b></b>", "<a><b></b></", "<a>text"] {
            assert!(check_xml_end("a", cut.as_bytes()).is_err(), "{cut}");
        }
    }
}
