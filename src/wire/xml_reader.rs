//! Parses XML to a node: names without prefix or namespace, no entities of its own, no document types, bounded depth.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};

use super::node::Node;
use super::path::{excerpt, written};
use headland_base::error::{Error, Kind, Result};
use headland_base::names::strip_bom;

/// Deeper than any record of the specification; a deeper reply is an error.
const DEEPEST: usize = 32;

/// The name of the text that stands beside elements.
const TEXT: &str = "#text";

/// Parses a whole document: the content of its root, after which nothing may follow. The name of the root is not looked
/// at: services differ (field notes, XML). Messages call the body `what`, and the path of a fault starts with `root`.
pub(super) fn parse(body: &[u8], what: &str, root: &str) -> Result<Node<'static>> {
    let text = text_of(body, what)?;
    let mut document = Document { reader: Reader::from_str(&text), what, root, names: Vec::new(), is_empty: false };
    match document.next()? {
        Next::Child(_) => {}
        Next::Text(_) | Next::End => return Err(document.fail("there is no root element")),
    }
    let node = document.read_node()?;
    document.close().map(|()| node)
}

/// The document as text: UTF-8 where it is valid (also if the prolog declares `utf-16`), else as the prolog declares.
fn text_of<'a>(body: &'a [u8], what: &str) -> Result<Cow<'a, str>> {
    let body = strip_bom(body);
    let error = match std::str::from_utf8(body) {
        Ok(text) => return Ok(Cow::Borrowed(text)),
        Err(error) => error,
    };
    let prolog = body.split(|byte| *byte == b'>').next().unwrap_or_default();
    let prolog = String::from_utf8_lossy(prolog.get(..prolog.len().min(200)).unwrap_or_default());
    let label = prolog.split_once("encoding").and_then(|(_, rest)| rest.split(['"', '\'']).nth(1));
    let encoding = label.and_then(|label| encoding_rs::Encoding::for_label(label.as_bytes()));
    match encoding.and_then(|encoding| encoding.decode_without_bom_handling_and_without_replacement(body)) {
        Some(text) => Ok(text),
        None => Err(Error::new(Kind::Decode, format!("the reply cannot be read as {what}: {error}"))
            .with(|facts| facts.offset = u64::try_from(error.valid_up_to()).ok())),
    }
}

/// A document that is read element by element. It stands behind a start tag whenever it reads the inside.
struct Document<'a> {
    reader: Reader<&'a [u8]>,
    what: &'a str,
    root: &'a str,
    /// The names of the elements around, with that of the root.
    names: Vec<String>,
    /// Whether the element that was entered last is closed already (`<Name/>`).
    is_empty: bool,
}

/// What comes next inside an element.
enum Next<'a> {
    /// An element; whether it is nil.
    Child(bool),
    Text(Cow<'a, str>),
    End,
}

impl<'a> Document<'a> {
    /// Reads the inside of an element.
    fn read_node(&mut self) -> Result<Node<'static>> {
        let (mut text, mut members) = (String::new(), Vec::new());
        loop {
            match self.next()? {
                Next::Text(part) => text.push_str(&part),
                Next::Child(is_nil) => {
                    let name = self.names.last().cloned().unwrap_or_default();
                    let node = match self.read_node()? {
                        Node::Empty if is_nil => Node::Null,
                        _ if is_nil => return Err(self.fail(&format!("`{name}` is nil, but not empty"))),
                        node => node,
                    };
                    self.names.pop();
                    members.push((Cow::Owned(name), node));
                }
                Next::End => break,
            }
        }
        if members.is_empty() {
            return Ok(if text.is_empty() { Node::Empty } else { Node::Text(Cow::Owned(text)) });
        }
        if !text.trim().is_empty() {
            members.push((Cow::Borrowed(TEXT), Node::Text(Cow::Owned(text))));
        }
        Ok(Node::Object(members))
    }

    fn close(mut self) -> Result<()> {
        match self.reader.read_event() {
            Ok(Event::Eof) => Ok(()),
            Ok(Event::Text(text)) if text.trim().is_empty() => self.close(),
            Ok(Event::Comment(_) | Event::PI(_)) => self.close(),
            Ok(_) => Err(self.fail("unexpected content after the root element")),
            Err(error) => Err(self.fail(&error.to_string())),
        }
    }

    fn fail(&self, why: &str) -> Error {
        let names = self.names.iter().skip(1);
        let field = (names.len() > 0).then(|| written(self.root, names.map(Into::into)));
        Error::new(Kind::Decode, format!("the reply cannot be read as {}: {}", self.what, excerpt(why))).with(|facts| {
            facts.offset = Some(self.reader.buffer_position());
            facts.field = field;
        })
    }

    fn next(&mut self) -> Result<Next<'a>> {
        if std::mem::take(&mut self.is_empty) {
            return Ok(Next::End);
        }
        loop {
            let event = self.reader.read_event().map_err(|error| self.fail(&error.to_string()))?;
            let is_inside = !self.names.is_empty();
            match event {
                Event::Start(tag) => return self.enter(&tag, false),
                Event::Empty(tag) => return self.enter(&tag, true),
                Event::End(_) => return Ok(Next::End),
                Event::Text(text) if is_inside => return Ok(Next::Text(text.into_inner())),
                Event::CData(text) if is_inside => return Ok(Next::Text(text.into_inner())),
                Event::GeneralRef(reference) if is_inside => {
                    if let Some(character) =
                        reference.resolve_char_ref().map_err(|error| self.fail(&error.to_string()))?
                    {
                        return Ok(Next::Text(Cow::Owned(character.to_string())));
                    }
                    let name = reference.into_inner();
                    return match resolve_predefined_entity(&name) {
                        Some(text) => Ok(Next::Text(Cow::Borrowed(text))),
                        None => {
                            Err(self.fail(&format!("the entity `&{name};` is not one of the five predefined in XML")))
                        }
                    };
                }
                Event::DocType(_) => return Err(self.fail("document type declarations are not accepted")),
                Event::Eof => return Err(self.fail("it ends inside the root element")),
                // White space outside the root and what is not content.
                _ => {}
            }
        }
    }

    fn enter(&mut self, tag: &BytesStart<'a>, is_empty: bool) -> Result<Next<'a>> {
        self.names.push(tag.local_name().as_ref().to_owned());
        if self.names.len() > DEEPEST {
            return Err(self.fail(&format!("elements are nested more than {DEEPEST} deep")));
        }
        self.is_empty = is_empty;
        Ok(Next::Child(is_nil(tag)))
    }
}

/// Whether the element says that it holds nothing. What else is wrong with its attributes does not matter.
fn is_nil(tag: &BytesStart<'_>) -> bool {
    tag.attributes_raw().contains("nil")
        && tag.attributes().with_checks(false).flatten().any(|attribute| {
            attribute.key.local_name().as_ref() == "nil" && matches!(attribute.value.trim(), "true" | "1")
        })
}
