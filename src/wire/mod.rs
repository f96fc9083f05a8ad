//! The border between bytes and records: what services send becomes [`Value`]s by shape, and back.

pub mod columns;
mod derived;
mod fields;
mod json;
mod json_envelope;
mod json_writer;
pub mod names;
mod place;
pub mod reply;
pub mod time;
pub mod value;
mod xml;
mod xml_writer;

pub use fields::finish;
pub use json_writer::encode as encode_json;
pub use reply::{
    Content, Page, ServiceResponse, decode_detail, decode_index, decode_records, decode_response, decode_total,
};
pub use value::{Fields, Name, Value};
pub use xml_writer::{Element, encode as encode_xml};
