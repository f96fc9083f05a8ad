//! A document of XML, element by element: no entities of its own, no document types, bounded depth.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use serde_json::{Map, Value as Tree};

use super::path::{FieldPath, Unreadable, excerpt};
use crate::error::{Error, Kind as ErrorKind, Result};

/// Deeper than any record of the specification; a deeper reply is an error.
const DEEPEST: usize = 32;

/// A document that is read element by element. It stands behind a start tag whenever it reads the inside.
pub(super) struct Document<'a> {
    pub(super) reader: Reader<&'a [u8]>,
    /// What it should be, for messages.
    pub(super) what: &'static str,
    pub(super) depth: usize,
    /// Whether the element that was entered last is closed already (`<Name/>`).
    pub(super) is_empty: bool,
    pub(super) trace: FieldPath,
}

/// What comes next inside an element.
pub(super) enum Next<'a> {
    Child(BytesStart<'a>),
    Text(Cow<'a, str>),
    End,
}

impl<'a> Document<'a> {
    pub(super) fn open(text: &'a str, what: &'static str) -> Result<Self> {
        let reader = Reader::from_str(text);
        let mut document = Self { reader, what, depth: 0, is_empty: false, trace: FieldPath::default() };
        match document.next()? {
            Next::Child(_) => Ok(document),
            Next::Text(_) | Next::End => Err(document.fail("there is no root element")),
        }
    }

    /// Ends the reading, and gives the values that could not be read.
    pub(super) fn close(mut self) -> Result<Vec<Unreadable>> {
        match self.reader.read_event() {
            Ok(Event::Eof) => Ok(self.trace.into_unreadable()),
            Ok(Event::Text(text)) if text.trim().is_empty() => self.close(),
            Ok(Event::Comment(_) | Event::PI(_)) => self.close(),
            Ok(_) => Err(self.fail("unexpected content after the root element")),
            Err(error) => Err(self.fail(&error.to_string())),
        }
    }

    pub(super) fn fail(&self, why: &str) -> Error {
        Error::new(ErrorKind::Decode, format!("the reply cannot be read as {}: {}", self.what, excerpt(why)))
            .with(|facts| facts.offset = Some(self.reader.buffer_position()))
    }

    pub(super) fn next(&mut self) -> Result<Next<'a>> {
        if std::mem::take(&mut self.is_empty) {
            self.depth = self.depth.saturating_sub(1);
            return Ok(Next::End);
        }
        loop {
            let event = self.reader.read_event().map_err(|error| self.fail(&error.to_string()))?;
            match event {
                Event::Start(tag) => return self.enter(tag, false),
                Event::Empty(tag) => return self.enter(tag, true),
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(Next::End);
                }
                Event::Text(text) if self.depth > 0 => return Ok(Next::Text(text.into_inner())),
                Event::CData(text) if self.depth > 0 => return Ok(Next::Text(text.into_inner())),
                Event::GeneralRef(reference) if self.depth > 0 => {
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

    fn enter(&mut self, tag: BytesStart<'a>, is_empty: bool) -> Result<Next<'a>> {
        self.depth = self.depth.saturating_add(1);
        if self.depth > DEEPEST {
            return Err(self.fail(&format!("elements are nested more than {DEEPEST} deep")));
        }
        self.is_empty = is_empty;
        Ok(Next::Child(tag))
    }

    pub(super) fn read_text(&mut self, wire: &str) -> Result<String> {
        let mut text = String::new();
        loop {
            match self.next()? {
                Next::Text(part) => text.push_str(&part),
                Next::End => return Ok(text),
                Next::Child(tag) => {
                    let name = tag.local_name();
                    return Err(self.fail(&format!("`{wire}` contains `{}` instead of a value", name.as_ref())));
                }
            }
        }
    }

    /// Reads an element that the table does not know: text, or an object whose repeated names become arrays.
    pub(super) fn read_tree(&mut self) -> Result<Tree> {
        let mut text = String::new();
        let mut members = Map::new();
        loop {
            match self.next()? {
                Next::Text(part) => text.push_str(&part),
                Next::Child(tag) => {
                    let name = tag.local_name();
                    let name: &str = name.as_ref();
                    let value = self.read_tree()?;
                    match members.get_mut(name) {
                        None => {
                            members.insert(name.to_owned(), value);
                        }
                        Some(Tree::Array(values)) => values.push(value),
                        Some(first) => *first = Tree::Array(vec![first.take(), value]),
                    }
                }
                Next::End if members.is_empty() && text.is_empty() => return Ok(Tree::Null),
                Next::End if members.is_empty() => return Ok(Tree::String(text)),
                Next::End => return Ok(Tree::Object(members)),
            }
        }
    }
}

/// Whether the element says that it holds nothing. What else is wrong with its attributes does not matter.
pub(super) fn is_nil(tag: &BytesStart<'_>) -> bool {
    tag.attributes_raw().contains("nil")
        && tag.attributes().with_checks(false).flatten().any(|attribute| {
            attribute.key.local_name().as_ref() == "nil" && matches!(attribute.value.trim(), "true" | "1")
        })
}
