//! XML into shapes: names without regard to case, prefix or namespace.

use std::borrow::Cow;

use quick_xml::events::BytesStart;
use serde_json::Value as Tree;

use super::fields::{
    ITEMS, bare_uri, describe, duplicate_field, field_of, finish, inner_field_of, list_of, put_inside, scalar, void,
    void_inside,
};
use super::names;
use super::path::{FieldPath, Step, Unreadable};
use super::reply::{ServiceResponse, response_from, strip_bom};
use super::value::{Name, Value};
use super::xml_document::{Document, Next, is_nil};
use super::xml_record::RecordBuilder;
use crate::api::{Field, Index, Kind, Shape};
use crate::error::{Error, Kind as ErrorKind, Result};

/// Reads a whole document as a record of `shape`, and `items` where it is the envelope of a list: each item is a direct
/// child of the root, under the item kind's name. Nothing may follow the root. Its own name is not looked at: services
/// differ (field notes, XML). Gives the values that `trace` excuses, too.
pub(super) fn decode(
    body: &[u8],
    shape: &'static Shape,
    items: Option<&'static Index>,
    what: &'static str,
    trace: FieldPath,
) -> Result<(Value, Vec<Unreadable>)> {
    let text = text_of(body, what)?;
    let mut document = Document { trace, ..Document::open(&text, what)? };
    let mut fields = Vec::with_capacity(shape.fields.len());
    match document.read_members(shape, items, &mut fields) {
        Ok(()) => document.close().map(|unreadable| (finish(shape, fields), unreadable)),
        Err(error) => Err(error.with(|facts| facts.field = document.trace.path(shape.name))),
    }
}

/// Reads a `ServiceResponse`; `None` where the document is something else.
pub(super) fn decode_response(body: &[u8]) -> Option<ServiceResponse> {
    let text = text_of(body, "ServiceResponse").ok()?;
    let mut document = Document::open(&text, "ServiceResponse").ok()?;
    let Tree::Object(members) = document.read_tree().ok()? else { return None };
    document.close().ok()?;
    let text = |wire: &str| {
        members.iter().find(|(name, _)| names::same(name, wire)).and_then(|(_, value)| match value {
            Tree::String(text) => Some(text.clone()),
            _ => None,
        })
    };
    response_from(text, members.len())
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
        None => Err(Error::new(ErrorKind::Decode, format!("the reply cannot be read as {what}: {error}"))
            .with(|facts| facts.offset = u64::try_from(error.valid_up_to()).ok())),
    }
}

impl<'a> Document<'a> {
    /// The failure of a field that has two values, unless such values are null.
    fn differs(&self, field: &Field) -> Result<()> {
        if self.trace.excuse(field.wire, &duplicate_field(field)) {
            return Ok(());
        }
        self.trace.field(field.wire);
        Err(self.fail(&duplicate_field(field)))
    }

    /// Reads the children of the element as fields of `shape`, and as `items` where it is the envelope of a list.
    fn read_members(
        &mut self,
        shape: &'static Shape,
        items: Option<&'static Index>,
        fields: &mut Vec<(Name, Value)>,
    ) -> Result<()> {
        let mut members = RecordBuilder::new(shape, items, fields);
        self.read_rest(&mut members)?;
        let RecordBuilder { fields, listed, .. } = members;
        if items.is_some() && !listed.is_empty() {
            fields.push((Name::Borrowed(ITEMS), Value::List(listed)));
        }
        Ok(())
    }

    fn read_member(&mut self, tag: &BytesStart<'a>, members: &mut RecordBuilder<'_>) -> Result<()> {
        let shape = members.shape;
        let name = tag.local_name();
        let wire: &str = name.as_ref();
        if let Some(index) = members.items.filter(|index| names::same(wire, index.kind)) {
            self.trace.enter(|| Step::Field(index.kind.to_owned()));
            self.trace.enter(|| Step::Item(members.listed.len()));
            let record = self.read_record(index.item).inspect_err(|_| {
                self.trace.item(members.listed.len());
                self.trace.field(index.kind);
            })?;
            self.trace.leave();
            self.trace.leave();
            members.listed.push(record);
        } else if let Some((outer, inner)) = inner_field_of(shape, wire, members.fields) {
            let value = if is_nil(tag) { self.read_nil(inner) } else { self.read_field(inner) };
            let value = value.inspect_err(|_| self.trace.field(inner.wire))?;
            if !put_inside(members.fields, outer, inner, value) {
                self.differs(inner)?;
                void_inside(members.fields, outer, inner);
            }
        } else if let Some(field) = field_of(shape, wire, members.fields.len()) {
            let value = if is_nil(tag) { self.read_nil(field) } else { self.read_field(field) };
            let value = value.inspect_err(|_| self.trace.field(field.wire))?;
            if !members.put(field, value) {
                self.differs(field)?;
                void(members.fields, field);
            }
        } else if let Some((field, Kind::Records(inner, _))) = list_of(shape, wire).map(|field| (field, field.kind)) {
            let record = self.read_item(inner).inspect_err(|_| {
                self.trace.item(members.length(field));
                self.trace.field(field.wire);
            })?;
            if !members.put(field, Value::List(vec![record])) {
                self.differs(field)?;
            }
        } else if shape.hoists.iter().any(|name| names::same(wire, name)) {
            let (lists, before) = members.enter();
            self.read_rest(members)?;
            members.leave(lists, before);
        } else {
            let tree = self.read_tree().inspect_err(|_| self.trace.field(wire))?;
            members.put_unknown(wire, tree);
        }
        Ok(())
    }

    fn read_record(&mut self, shape: &'static Shape) -> Result<Value> {
        let mut fields = Vec::with_capacity(shape.fields.len());
        self.read_members(shape, None, &mut fields)?;
        Ok(finish(shape, fields))
    }

    /// Reads an element that says it holds nothing (`xsi:nil="true"`).
    fn read_nil(&mut self, field: &'static Field) -> Result<Value> {
        match (self.read_tree()?, field.kind) {
            (Tree::Null, Kind::Records(..)) => Ok(Value::List(Vec::new())),
            (Tree::Null, _) => Ok(Value::Null),
            _ => self.refuse(field, &format!("`{}` is nil, but not empty", field.wire)),
        }
    }

    /// An empty element is an empty text where a text is expected, as `""` is in JSON, and null elsewhere.
    fn read_field(&mut self, field: &'static Field) -> Result<Value> {
        match field.kind {
            Kind::Record(shape) => {
                self.trace.enter(|| Step::Field(field.wire.to_owned()));
                let record = self.read_record(shape)?;
                self.trace.leave();
                Ok(record)
            }
            Kind::Records(shape, element) => self.read_records(shape, element),
            kind => {
                let found = if self.trace.is_lenient() {
                    // An element inside the value is read over.
                    match self.read_tree()? {
                        Tree::Null => Some(String::new()),
                        Tree::String(text) => Some(text),
                        _ => None,
                    }
                } else {
                    Some(self.read_text(field.wire)?)
                };
                let what = || format!("`{}` is invalid: expected {}, got ", field.wire, describe(kind));
                match found {
                    None => self.refuse(field, &format!("{}elements", what())),
                    Some(text) => match scalar(kind, &text) {
                        Some(value) => Ok(value),
                        None => self.refuse(field, &format!("{}`{text}`", what())),
                    },
                }
            }
        }
    }

    /// An error, or null where values that cannot be read are null.
    fn refuse(&self, field: &Field, why: &str) -> Result<Value> {
        if self.trace.excuse(field.wire, why) { Ok(Value::Null) } else { Err(self.fail(why)) }
    }

    /// Reads `<Products><Product>...</Product></Products>`; an item may be a bare address, and a single one may stand
    /// there without its own element.
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
                    let name = tag.local_name();
                    let wire: &str = name.as_ref();
                    if names::same(wire, element) || names::same(wire, shape.name) {
                        let record = self.read_item(shape).inspect_err(|_| self.trace.item(records.len()))?;
                        records.push(record);
                    } else if records.is_empty()
                        && (field_of(shape, wire, 0).or_else(|| list_of(shape, wire)).is_some())
                    {
                        let record = self.read_bare(&tag, shape).inspect_err(|_| self.trace.item(0))?;
                        return Ok(Value::List(vec![record]));
                    } else {
                        return Err(self.fail(&format!("expected `{element}`, got `{wire}`")));
                    }
                }
            }
        }
    }

    /// Reads the rest of an element as one record, whose first field is `tag`.
    fn read_bare(&mut self, tag: &BytesStart<'a>, shape: &'static Shape) -> Result<Value> {
        let mut fields = Vec::with_capacity(shape.fields.len());
        let mut members = RecordBuilder::new(shape, None, &mut fields);
        self.read_member(tag, &mut members)?;
        self.read_rest(&mut members)?;
        Ok(finish(shape, fields))
    }

    /// Reads the children that are left in the element.
    fn read_rest(&mut self, members: &mut RecordBuilder) -> Result<()> {
        loop {
            match self.next()? {
                Next::Child(tag) => self.read_member(&tag, members)?,
                Next::Text(text) if text.trim().is_empty() => {}
                Next::Text(text) => {
                    return Err(self.fail(&format!("`{}` contains unexpected text: `{text}`", members.shape.name)));
                }
                Next::End => return Ok(()),
            }
        }
    }

    /// Reads an item that is either a record or a bare address: its first content decides.
    fn read_item(&mut self, shape: &'static Shape) -> Result<Value> {
        if shape.field("uri").is_none() || self.is_empty {
            return self.read_record(shape);
        }
        let (reader, trace) = (self.reader.clone(), FieldPath::default());
        let mut ahead = Self { reader, what: self.what, depth: self.depth, is_empty: false, trace };
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
}
