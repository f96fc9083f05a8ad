//! Reads the replies of specification 2.1 from either content type.

use super::json_flat::{self, Sink};
use super::path::{FieldPath, Unreadable};
use super::reply::{Content, Page, ServiceResponse, check_detail, to_page};
use super::value::Value;
use super::{json_envelope, json_record, xml};
use crate::api::envelope::SERVICE_INDEX;
use crate::api::{Index, Shape};
use crate::error::Result;

/// Reads one record.
pub fn decode_detail(content: Content, body: &[u8], shape: &'static Shape) -> Result<Value> {
    let decode = decoder(content);
    check_detail(decode(body, shape, None, shape.name, FieldPath::default())?.0, shape)
}

/// Reads one page of a list.
pub fn decode_index(content: Content, body: &[u8], index: &'static Index) -> Result<Page> {
    let decode = decoder(content);
    to_page(decode(body, &SERVICE_INDEX, Some(index), index.kind, FieldPath::default())?.0, index)
}

/// Reads one page of a list, in whose records values that cannot be read are null; gives those, too.
pub fn decode_index_leniently(content: Content, body: &[u8], index: &'static Index) -> Result<(Page, Vec<Unreadable>)> {
    let decode = decoder(content);
    let (envelope, unreadable) = decode(body, &SERVICE_INDEX, Some(index), index.kind, FieldPath::lenient())?;
    Ok((to_page(envelope, index)?, unreadable))
}

/// Reads a body as a record of a shape, or as the envelope of a list.
type Decoder =
    fn(&[u8], &'static Shape, Option<&'static Index>, &'static str, FieldPath) -> Result<(Value, Vec<Unreadable>)>;

fn decoder(content: Content) -> Decoder {
    match content {
        Content::Json => json_record::decode,
        Content::Xml => xml::decode,
    }
}

/// Reads one page of a list of flat records cell by cell; `None` where it has to be read record by record.
pub fn decode_flat(content: Content, body: &[u8], index: &'static Index, sink: &mut dyn Sink) -> Option<Page<()>> {
    match content {
        Content::Json => json_flat::decode(body, index, sink),
        Content::Xml => None,
    }
}

/// The total count of a list, without its records where that can be; `None` where it is not there.
pub fn decode_total(content: Content, body: &[u8], index: &'static Index) -> Result<Option<u64>> {
    match (content, json_envelope::total_of(body)) {
        (Content::Json, Some(total)) => Ok(u64::try_from(total).ok()),
        _ => decode_index(content, body, index).map(|page| page.total_count),
    }
}

/// Reads a `ServiceResponse` of any content type: services answer file requests with one, too.
/// `None` where the body is something else.
#[must_use]
pub fn decode_response(body: &[u8]) -> Option<ServiceResponse> {
    match Content::from_body(body)? {
        Content::Json => json_envelope::decode_response(body),
        Content::Xml => xml::decode_response(body),
    }
}
