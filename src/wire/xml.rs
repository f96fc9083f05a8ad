//! XML into shapes: names without regard to case, prefix or namespace, no entities of its own, bounded depth.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use serde_json::{Map, Value as Tree};

use super::fields::{ITEMS, bare_uri, describe, field_of, finish, inner_field_of, put, put_inside, scalar};
use super::names;
use super::reply::{Page, ServiceResponse, page_of, response_of};
use super::value::{Name, Value};
use crate::api::envelope::SERVICE_INDEX;
use crate::api::{Field, Index, Kind, Shape};
use crate::error::{Error, Kind as ErrorKind, Result};

/// Deeper than any record of the specification; a reply that goes on is not one.
const DEEPEST: usize = 32;

/// Reads one record. The root's own name is not looked at: services differ (field notes, XML).
pub(super) fn decode_detail(body: &[u8], shape: &'static Shape) -> Result<Value> {
    let mut document = Document::open(body, shape.name)?;
    let mut fields = Vec::new();
    document.read_members(shape, None, &mut fields)?;
    document.close()?;
    Ok(finish(shape, fields))
}

/// Reads one page of a list: items are direct children of the root, each under the item kind's name.
pub(super) fn decode_index(body: &[u8], index: &'static Index) -> Result<Page> {
    let mut document = Document::open(body, index.kind)?;
    let mut fields = Vec::new();
    document.read_members(&SERVICE_INDEX, Some(index), &mut fields)?;
    document.close()?;
    page_of(Value::Record(fields), index)
}

/// Reads a `ServiceResponse`; `None` where the document is something else.
pub(super) fn decode_response(body: &[u8]) -> Option<ServiceResponse> {
    let mut document = Document::open(body, "ServiceResponse").ok()?;
    let Tree::Object(members) = document.read_tree().ok()? else { return None };
    document.close().ok()?;
    let text = |wire: &str| {
        members.iter().find(|(name, _)| names::same(name, wire)).and_then(|(_, value)| match value {
            Tree::String(text) => Some(text.clone()),
            _ => None,
        })
    };
    response_of(text, members.len())
}

/// A document that is read element by element. It stands behind a start tag whenever it reads the inside.
struct Document<'a> {
    reader: Reader<&'a [u8]>,
    /// What it should be, for messages.
    what: &'static str,
    depth: usize,
    /// Whether the element that was entered last is closed already (`<Name/>`).
    is_empty: bool,
}

/// What comes next inside an element.
enum Next<'a> {
    Child(BytesStart<'a>),
    Text(Cow<'a, str>),
    End,
}

impl<'a> Document<'a> {
    fn open(body: &'a [u8], what: &'static str) -> Result<Self> {
        let mut document = Self { reader: Reader::from_reader(body), what, depth: 0, is_empty: false };
        match document.next()? {
            Next::Child(_) => Ok(document),
            Next::Text(_) | Next::End => Err(document.fail("there is no root element")),
        }
    }

    fn close(mut self) -> Result<()> {
        match self.reader.read_event() {
            Ok(Event::Eof) => Ok(()),
            Ok(Event::Text(text)) if text.trim().is_empty() => self.close(),
            Ok(Event::Comment(_) | Event::PI(_)) => self.close(),
            Ok(_) => Err(self.fail("something follows the root element")),
            Err(error) => Err(self.fail(&error.to_string())),
        }
    }

    fn fail(&self, why: &str) -> Error {
        Error::new(ErrorKind::Decode, format!("the reply cannot be read as {}: {why}", self.what))
            .with(|facts| facts.offset = Some(self.reader.buffer_position()))
    }

    fn next(&mut self) -> Result<Next<'a>> {
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
                        None => Err(self.fail(&format!("the entity `&{name};` is not one of the five of XML"))),
                    };
                }
                Event::DocType(_) => return Err(self.fail("a document type declaration is refused")),
                Event::Eof => return Err(self.fail("it ends before its root element does")),
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

    /// Reads the children of the element as fields of `shape`, and as `items` where it is the envelope of a list.
    fn read_members(
        &mut self,
        shape: &'static Shape,
        items: Option<&'static Index>,
        fields: &mut Vec<(Name, Value)>,
    ) -> Result<()> {
        let mut listed = Vec::new();
        loop {
            let tag = match self.next()? {
                Next::Child(tag) => tag,
                Next::Text(text) if text.trim().is_empty() => continue,
                Next::Text(text) => return Err(self.fail(&format!("`{}` holds the text `{text}`", shape.name))),
                Next::End => break,
            };
            let wire = local(&tag);
            if let Some(index) = items.filter(|index| names::same(&wire, index.kind)) {
                listed.push(self.read_record(index.item)?);
            } else if let Some((outer, inner)) = inner_field_of(shape, &wire, fields) {
                let value = self.read_field(inner)?;
                put_inside(fields, outer, inner, value);
            } else if let Some(field) = field_of(shape, &wire, fields.len()) {
                let value = self.read_field(field)?;
                put(fields, Name::Borrowed(field.snake), value);
            } else if shape.hoists.iter().any(|name| names::same(&wire, name)) {
                self.read_members(shape, items, fields)?;
            } else {
                let tree = self.read_tree()?;
                put(fields, Name::Owned(names::snake(&wire)), Value::Unknown(Box::new(tree)));
            }
        }
        if items.is_some() && !listed.is_empty() {
            fields.push((Name::Borrowed(ITEMS), Value::List(listed)));
        }
        Ok(())
    }

    fn read_record(&mut self, shape: &'static Shape) -> Result<Value> {
        let mut fields = Vec::with_capacity(shape.fields.len());
        self.read_members(shape, None, &mut fields)?;
        Ok(finish(shape, fields))
    }

    fn read_field(&mut self, field: &'static Field) -> Result<Value> {
        match field.kind {
            Kind::Record(shape) => self.read_record(shape),
            Kind::Records(shape, element) => self.read_records(shape, element),
            kind => {
                let text = self.read_text(field.wire)?;
                if text.is_empty() {
                    return Ok(Value::Null);
                }
                scalar(kind, &text)
                    .ok_or_else(|| self.fail(&format!("`{}` should be {}, found `{text}`", field.wire, describe(kind))))
            }
        }
    }

    /// Reads `<Products><Product>...</Product></Products>`; an item may be a bare address.
    fn read_records(&mut self, shape: &'static Shape, element: &str) -> Result<Value> {
        let mut records = Vec::new();
        loop {
            match self.next()? {
                Next::End => return Ok(Value::List(records)),
                Next::Text(text) if text.trim().is_empty() => {}
                Next::Text(text) => match bare_uri(shape, text.trim()) {
                    Some(record) => records.push(record),
                    None => return Err(self.fail(&format!("`{text}` is not {}", shape.name))),
                },
                Next::Child(tag) => {
                    let wire = local(&tag);
                    if !names::same(&wire, element) && !names::same(&wire, shape.name) {
                        return Err(self.fail(&format!("`{wire}` stands where `{element}` should")));
                    }
                    let is_bare = shape.field("uri").is_some() && !self.is_empty;
                    records.push(if is_bare { self.read_item(shape)? } else { self.read_record(shape)? });
                }
            }
        }
    }

    /// Reads an item that is either a record or a bare address: its first content decides.
    fn read_item(&mut self, shape: &'static Shape) -> Result<Value> {
        let mut ahead =
            Self { reader: self.reader.clone(), what: self.what, depth: self.depth, is_empty: self.is_empty };
        let text = loop {
            match ahead.next()? {
                Next::Text(text) if text.trim().is_empty() => {}
                Next::Text(_) => break true,
                Next::Child(_) | Next::End => break false,
            }
        };
        if !text {
            return self.read_record(shape);
        }
        let uri = self.read_text(shape.name)?;
        bare_uri(shape, uri.trim()).ok_or_else(|| self.fail(&format!("`{uri}` is not {}", shape.name)))
    }

    fn read_text(&mut self, wire: &str) -> Result<String> {
        let mut text = String::new();
        loop {
            match self.next()? {
                Next::Text(part) => text.push_str(&part),
                Next::End => return Ok(text),
                Next::Child(tag) => {
                    return Err(self.fail(&format!("`{wire}` holds `{}` where a value should be", local(&tag))));
                }
            }
        }
    }

    /// Reads an element that the table does not know: text, or an object whose repeated names become arrays.
    fn read_tree(&mut self) -> Result<Tree> {
        let mut text = String::new();
        let mut members = Map::new();
        loop {
            match self.next()? {
                Next::Text(part) => text.push_str(&part),
                Next::Child(tag) => {
                    let name = local(&tag);
                    let value = self.read_tree()?;
                    match members.get_mut(name.as_ref()) {
                        None => {
                            members.insert(name.into_owned(), value);
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

/// The name of an element without its prefix.
fn local<'a>(tag: &BytesStart<'a>) -> Cow<'a, str> {
    Cow::Owned(tag.local_name().as_ref().to_owned())
}
