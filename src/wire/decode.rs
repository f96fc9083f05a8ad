//! Reads the replies of specification 2.1 from either content type.

use std::cell::RefCell;

use super::json_reader::{self, List};
use super::node::Node;
use super::path::Unreadable;
use super::record_reader::RecordReader;
use super::reply::{Content, Page, STATUS, ServiceResponse, check_detail, response_from, to_page};
use super::value::Value;
use super::xml_reader;
use crate::value_limit::check_values;
use headland_api::envelope::SERVICE_INDEX;
use headland_api::{Index, Shape};
use headland_base::error::Result;
use headland_base::names;

/// Reads one record.
pub fn decode_detail(content: Content, body: &[u8], shape: &'static Shape) -> Result<Value> {
    let record = parse(content, body, shape.name, shape.name, None, |node| {
        RecordReader::new(content, shape.name, shape.name, false).read(node, shape, None)
    });
    check_detail(record?.0, shape)
}

/// Reads one page of a list.
pub fn decode_index(content: Content, body: &[u8], index: &'static Index) -> Result<Page> {
    read_page(content, body, index, false).map(|(page, _)| page)
}

/// Reads one page of a list, in whose records values that cannot be read are null; gives those, too.
pub fn decode_index_leniently(content: Content, body: &[u8], index: &'static Index) -> Result<(Page, Vec<Unreadable>)> {
    read_page(content, body, index, true)
}

fn read_page(
    content: Content,
    body: &[u8],
    index: &'static Index,
    is_lenient: bool,
) -> Result<(Page, Vec<Unreadable>)> {
    let reader = RefCell::new(RecordReader::new(content, index.kind, SERVICE_INDEX.name, is_lenient));
    let list = List { kind: index.kind, read_item: &|node| reader.borrow_mut().read_item(node, index) };
    let (envelope, unreadable) = parse(content, body, index.kind, SERVICE_INDEX.name, Some(list), |node| {
        reader.borrow_mut().read(node, &SERVICE_INDEX, Some(index))
    })?;
    Ok((to_page(envelope, index)?, unreadable))
}

/// Reads a `ServiceResponse` of any content type: services answer file requests with one, too.
/// `None` where the body is something else.
#[must_use]
pub fn decode_response(body: &[u8]) -> Option<ServiceResponse> {
    check_values(body).ok()?;
    let (content, what) = (Content::from_body(body)?, "a ServiceResponse");
    parse(content, body, what, what, None, |node| Ok(service_response(content, node))).ok().flatten()
}

fn service_response(content: Content, node: Node<'_>) -> Option<ServiceResponse> {
    let Node::Object(mut members) = node else { return None };
    // A service may wrap the object in the name of the root element of XML.
    if let (Content::Json, [(_, Node::Object(inner))]) = (content, &mut *members) {
        members = std::mem::take(inner);
    }
    let text = |wire: &str| {
        let (_, value) = members.iter().find(|(name, _)| names::same(name, wire))?;
        match value {
            Node::Null | Node::Empty => None,
            Node::Text(text) => Some(text.to_string()),
            // A record that happens to have a field of that name.
            Node::List(_) | Node::Object(_) if wire == STATUS => None,
            other => Some(other.clone().into_tree().to_string()),
        }
    };
    response_from(text, members.len())
}

fn parse<T>(
    content: Content,
    body: &[u8],
    what: &str,
    root: &str,
    list: Option<List<'_>>,
    read: impl FnOnce(Node<'_>) -> Result<T>,
) -> Result<T> {
    match content {
        Content::Json => json_reader::parse(body, what, root, list, read),
        Content::Xml => read(xml_reader::parse(body, what, root)?),
    }
}
