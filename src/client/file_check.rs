//! Checks that a received file is complete: a zip by its end record and CRCs, an XML file by its end tag.

use std::io::{BufRead, Read, Seek};

use quick_xml::Reader;
use quick_xml::events::Event;
use zip::ZipArchive;
use zip::read::{ArchiveOffset, Config};
use zip::result::ZipError;

use headland_base::names::strip_bom;

/// Largest number of decompressed bytes that are checked. The rest is left to the archive reader, which has its own
/// limits.
const UNPACKED: u64 = 4 * 1024 * 1024 * 1024;

/// The format that a call requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expects {
    Zip,
    Xml,
    /// The text of a grain cart. It has no end mark, so truncation only shows by the length of the body or by a second
    /// reading.
    Grc,
}

/// Checks a zip; the error text states the damage. Members that this crate cannot read (encrypted, or a rare
/// compression method) are left to the archive reader. If the reply did not mark its end, the zip must start at the
/// start of the file: a file truncated after a nested archive ends like that archive.
pub(super) async fn check_zip<R: Read + Seek + Send>(source: R, is_framed: bool) -> Result<(), String> {
    let archive_offset = if is_framed { ArchiveOffset::Detect } else { ArchiveOffset::Known(0) };
    let mut archive = match ZipArchive::with_config(Config { archive_offset }, source) {
        Ok(archive) => archive,
        Err(ZipError::UnsupportedArchive(_)) if is_framed => return Ok(()),
        Err(error) => return Err(format!("the zip is damaged or truncated: {error}")),
    };
    let mut unpacked = 0_u64;
    let mut buffer = vec![0_u8; 256 * 1024];
    for index in 0..archive.len() {
        // Other calls of the same thread continue between the members.
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

/// The name of the root element, if `head` is the start of an XML document.
pub(super) fn xml_root(head: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(strip_bom(head));
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

/// Whether `head` may be the start of a grain cart's text: no markup, no JSON such as a `ServiceResponse`, and no
/// binary file. The archive reader checks the rest, so that an upload that it refuses can still be downloaded.
pub(super) fn is_grc(head: &[u8]) -> bool {
    let text = strip_bom(head).trim_ascii_start();
    !matches!(text.first(), None | Some(b'<' | b'{' | b'[')) && !text.contains(&0)
}

/// Checks that a document whose reply did not mark its end is complete: every element is closed.
pub(super) async fn check_whole_xml(source: impl BufRead) -> Result<(), String> {
    let cut = |cause: &dyn std::fmt::Display| format!("the XML is truncated or not well formed: {cause}");
    let mut reader = Reader::from_reader(source);
    let (mut buffer, mut depth, mut has_root) = (Vec::new(), 0_u64, false);
    for count in 1_u64.. {
        // Other calls of the same thread continue in between.
        if count % 10_000 == 0 {
            tokio::task::yield_now().await;
        }
        buffer.clear();
        match reader.read_event_into(&mut buffer).map_err(|error| cut(&error))? {
            Event::Start(_) => (depth, has_root) = (depth.saturating_add(1), true),
            Event::Empty(_) => has_root = true,
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Eof if depth > 0 || !has_root => return Err(cut(&"an element is not closed")),
            Event::Eof => break,
            _ => {}
        }
    }
    Ok(())
}

/// Checks that a document whose reply marked its end has the end tag of its root. `tail` is the end of the document.
pub(super) fn check_xml_end(root: &str, tail: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(tail);
    let mut text = text.trim_end();
    while let Some((before, _)) = text.strip_suffix("-->").and_then(|text| text.rsplit_once("<!--")) {
        text = before.trim_end();
    }
    let tag = text.strip_suffix('>').unwrap_or_default();
    let is_closed = tag.rsplit_once("</").is_some_and(|(_, name)| name.trim_end() == root);
    // An empty root element is the only element.
    let is_empty = tag.rsplit_once('<').is_some_and(|(before, last)| {
        let name = last.split(|c: char| c.is_whitespace() || c == '/').next();
        let is_alone = before.split('<').skip(1).all(|other| other.starts_with(['?', '!']));
        is_alone && name == Some(root) && last.ends_with('/')
    });
    let has_end = text.ends_with('>') && text.contains(&format!("</{root}"));
    if is_closed || is_empty || has_end {
        Ok(())
    } else {
        Err(format!("the XML is truncated: it does not end with </{root}>"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_root_after_prolog_and_comments_is_found() {
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
    fn grain_cart_is_text_without_markup_or_json() {
        for text in ["GrcVersion,1.6,\r\n", "\u{feff}GrcVersion,1.6,", "\n,Pounds"] {
            assert!(is_grc(text.as_bytes()), "{text}");
        }
        for other in ["", "  ", "\u{feff}{\"status\":\"x\"}", "<SlingshotResponse/>", "[]", "GRC\0\u{1}"] {
            assert!(!is_grc(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn xml_without_root_end_tag_is_an_error() {
        for response in ["<a><b/></a>", "<a x='1'/>", "<a><b/></a >\n<!-- end -->\n", "<a/>"] {
            assert!(check_xml_end("a", response.as_bytes()).is_ok(), "{response}");
        }
        for cut in
            ["<a><b>", "<a><b/>", "<a><ab/>", "<a><b></b>", "<a><b></b></", "<a>text", "<a><!-- </a> -->", "<a x='</a"]
        {
            assert!(check_xml_end("a", cut.as_bytes()).is_err(), "{cut}");
        }
    }

    #[tokio::test]
    async fn xml_without_marked_end_must_close_every_element() {
        let response =
            "<?xml version='1.0'?>\n<!-- b --><a x='1'><b/><a>t</a><![CDATA[</a>]]><!-- </a> --></a>\n<!-- end -->\n";
        assert_eq!(check_whole_xml(response.as_bytes()).await, Ok(()));
        assert_eq!(check_whole_xml("<a/>".as_bytes()).await, Ok(()));
        let end = response.find("</a>\n").unwrap() + 4;
        for cut in 0..end {
            assert!(check_whole_xml(&response.as_bytes()[..cut]).await.is_err(), "{}", &response[..cut]);
        }
    }
}
