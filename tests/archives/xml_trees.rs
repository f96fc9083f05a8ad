//! Tests XML documents as flat lists of events: their content, every encoding, and errors of hostile documents with
//! line and offset.

use std::fmt::Write as _;

use headland::archive::{Content, Document, Event, Limits, Source, read_document};
use headland::error::{Error, Kind};

use crate::builder;

/// A document in one line: names, `@name=value`, texts in quotes, `*` where elements and text are mixed.
fn shown(document: &Document) -> String {
    let mut out = String::new();
    for event in document.events() {
        match event {
            Event::Open(name, holds) => {
                let mark = if *holds == Content::Mixed { "*" } else { "" };
                write!(out, "<{}{mark}", document.name(*name)).unwrap();
            }
            Event::Attribute(name, value) => {
                write!(out, " @{}={}", document.name(*name), document.text(value)).unwrap();
            }
            Event::Text(text) => write!(out, " {:?}", document.text(text)).unwrap(),
            Event::Close => out.push('>'),
        }
    }
    out
}

fn read(bytes: &[u8]) -> Result<String, Error> {
    read_document(&builder::source(bytes.to_vec()), None, &Limits::default()).map(|document| shown(&document))
}

#[test]
fn names_attributes_and_texts_are_kept_verbatim() {
    for (xml, expected) in [
        ("<a/>", "<a>"),
        ("<a><b> x </b></a>", "<a<b \" x \">>"),
        ("<p:a xmlns:p='u' y=\"1 &amp; 2&#9;\n3\"/>", "<p:a @xmlns:p=u @y=1 & 2\t 3>"),
        ("<a>x<![CDATA[<&]]>&lt;&#x41;<!-- no -->y</a>", "<a \"x<&<Ay\">"),
        ("<a>one <b>two</b> three</a>", "<a* \"one \"<b \"two\"> \" three\">"),
        ("<a>\r\n<b/>\r</a>", "<a \"\\n\"<b> \"\\n\">"),
        ("<?xml version='1.0'?><!DOCTYPE a SYSTEM 'a.dtd'><?pi x?>\n<a/>\n<!-- end -->", "<a>"),
    ] {
        assert_eq!(read(xml.as_bytes()).unwrap(), expected, "{xml}");
    }
}

#[test]
fn declaration_selects_the_encoding() {
    let utf16 = |text: &str, little: bool, mark: bool| -> Vec<u8> {
        let units = text.encode_utf16();
        let bytes = |unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() };
        mark.then_some(0xFEFF).into_iter().chain(units).flat_map(bytes).collect()
    };
    let text = |label: &str| format!("<?xml version=\"1.0\" encoding=\"{label}\"?><a>Joë € \u{80}l</a>");
    let plain = |label: &str| format!("<?xml version='1.0' encoding='{label}'?><a>").into_bytes();
    let bytes = |label: &str, letters: &[u8]| [&plain(label), letters, b"</a>"].concat();
    let both = "<a \"Joë € \u{80}l\">";
    assert_eq!(read(text("UTF-8").as_bytes()).unwrap(), both.replace('\u{80}', "\\u{80}"));
    for (little, mark) in [(true, true), (true, false), (false, true), (false, false)] {
        assert_eq!(read(&utf16(&text("UTF-16"), little, mark)).unwrap(), both.replace('\u{80}', "\\u{80}"));
    }
    assert_eq!(read(&bytes("cp1252", b"\x80\xEB")).unwrap(), "<a \"€ë\">");
    assert_eq!(read(&bytes("windows-1252", b"\x80\xEB")).unwrap(), "<a \"€ë\">");
    assert_eq!(read(&bytes("ISO-8859-1", b"\x80\xEB")).unwrap(), "<a \"\\u{80}ë\">", "Latin-1 by its own name");
    assert_eq!(read(&bytes("ISO-8859-15", b"\xA4")).unwrap(), "<a \"€\">");
    assert_eq!(read(&bytes("UTF-16", "ë".as_bytes())).unwrap(), "<a \"ë\">", "a declaration that its bytes refute");
    assert_eq!(read(b"\xEF\xBB\xBF<a/>").unwrap(), "<a>");
    let error = read(&bytes("UTF-8", b"ok \xEB")).unwrap_err();
    assert_eq!(error.facts().offset, Some(plain("UTF-8").len() as u64 + 3), "{error}");
    let error = read(&bytes("klingon", b"")).unwrap_err();
    assert!(error.message().contains("klingon"), "{error}");
}

#[test]
fn malformed_document_is_an_error_with_line_and_offset() {
    for (xml, line, offset, what) in [
        ("<a>\n<b></a>", 2, 7, ""),
        ("<a>\n", 1, 3, "ends inside the root"),
        ("", 1, 0, "no root"),
        ("<a/><b/>", 1, 4, "more than one root"),
        ("<a/>x", 1, 4, "outside the root"),
        ("<a>\n\n&boom;</a>", 3, 5, "boom"),
        ("<a>&#0;</a>", 1, 3, ""),
        ("<a>\n\u{1}</a>", 2, 4, "control character"),
        ("<a b='1' b='2'/>", 1, 0, "twice"),
        ("<a b=1/>", 1, 0, ""),
        ("<1/>", 1, 0, "not a valid name"),
    ] {
        // A document with another start is rejected earlier.
        let start = if xml.is_empty() { "<!-- -->" } else { "" };
        let error = read(format!("{start}{xml}").as_bytes()).unwrap_err();
        assert_eq!(error.kind(), Kind::Archive, "{xml}");
        assert!(error.message().contains(what) && error.message().contains("well-formed"), "{xml}: {error}");
        if start.is_empty() && !what.contains("ends inside") {
            assert!(error.message().contains(&format!("line {line}:")), "{xml}: {error}");
            let found = error.facts().offset.unwrap();
            assert!(found.abs_diff(offset) <= 1, "{xml}: {found} and {offset}: {error}");
        }
    }
}

#[test]
fn hostile_documents_are_errors_at_bounded_cost() {
    let start = std::time::Instant::now();
    let mut laughs = String::from("<!DOCTYPE lolz [<!ENTITY lol0 \"lol\">");
    for level in 1..20 {
        let before = level - 1;
        write!(laughs, "<!ENTITY lol{level} \"{}\">", format!("&lol{before};").repeat(10)).unwrap();
    }
    laughs.push_str("]><lolz>&lol19;</lolz>");
    assert!(read(laughs.as_bytes()).unwrap_err().message().contains("others are not expanded"));
    let external = "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>";
    assert!(read(external.as_bytes()).unwrap_err().message().contains("&x;"));
    let deep = "<a>".repeat(100_000);
    assert!(read(deep.as_bytes()).unwrap_err().message().contains("more than 256 deep"));
    let mut attributes = String::new();
    for number in 0..100_000 {
        write!(attributes, " a{number}=''").unwrap();
    }
    assert!(read(format!("<a{attributes}/>").as_bytes()).is_ok(), "attributes are compared once each");
    assert!(read("<".repeat(1 << 20).as_bytes()).is_err());
    assert!(read(format!("<a>{}</a>", "&amp;".repeat(1 << 18)).as_bytes()).is_ok());
    let zip = builder::zip(&[("a.xml", format!("<a>{}</a>", " ".repeat(8 << 20)).as_bytes())]);
    let small = Limits { bytes: 1 << 20, ..Limits::default() };
    let error = read_document(&builder::source(zip), None, &small).unwrap_err();
    assert!(error.message().contains("limit of 1048576"), "{error}");
    assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn zip_or_folder_with_one_document_equals_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("job.xml");
    std::fs::write(&path, "<a/>").unwrap();
    std::fs::write(folder.path().join("job.log"), "log").unwrap();
    let odd = folder.path().join("job.dat");
    for source in [
        Source::Path(path),
        Source::Path(folder.path().to_owned()),
        builder::source(builder::zip(&[("x/job.XML", b"<a/>"), ("x/job.log", b"log")])),
        builder::source(builder::zip(&[("in.zip", &builder::zip(&[("job.xml", b"<a/>")]))])),
    ] {
        assert_eq!(shown(&read_document(&source, None, &Limits::default()).unwrap()), "<a>", "{source:?}");
    }
    std::fs::write(&odd, "<b/>").unwrap();
    assert_eq!(
        shown(&read_document(&Source::Path(odd), None, &Limits::default()).unwrap()),
        "<b>",
        "any name is accepted"
    );
}

#[test]
fn several_documents_without_a_selection_are_an_error() {
    let zip = builder::zip(&[("x/jobdata.xml", b"<a/>"), ("x/advanced.xml", b"<b/>"), ("y/Advanced.xml", b"<c/>")]);
    let read = |member: Option<&str>| read_document(&builder::source(zip.clone()), member, &Limits::default());
    let error = read(None).unwrap_err();
    assert_eq!(error.kind(), Kind::Archive);
    assert!(
        error.message().contains("`x/jobdata.xml`, `x/advanced.xml`") && error.message().contains("`member`"),
        "{error}"
    );
    assert_eq!(shown(&read(Some("JOBDATA.xml")).unwrap()), "<a>");
    assert_eq!(shown(&read(Some("y/Advanced.xml")).unwrap()), "<c>");
    let error = read(Some("advanced.xml")).unwrap_err();
    assert!(error.message().contains("several"), "{error}");
    assert_eq!(read(Some("none.xml")).unwrap_err().kind(), Kind::Value);
    let none = read_document(&builder::source(builder::zip(&[("a.txt", b"x")])), None, &Limits::default()).unwrap_err();
    assert!(none.message().contains("no XML document"), "{none}");
    let page = read_document(&builder::source(b"<!DOCTYPE html><html></html>".to_vec()), None, &Limits::default())
        .unwrap_err();
    assert!(page.message().contains("web page"), "{page}");
}
