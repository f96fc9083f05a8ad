//! The border between bytes and records: what services send becomes [`Value`]s by shape, and back.

mod derived;
mod fields;
mod json;
mod json_writer;
pub mod names;
mod place;
mod plain;
pub mod reply;
pub mod time;
pub mod value;
mod xml;
mod xml_writer;

pub use json_writer::encode as encode_json;
pub use plain::decode_plain;
pub use reply::{Content, Page, ServiceResponse, decode_detail, decode_index, decode_response};
pub use value::{Name, Value};
pub use xml_writer::{Element, encode as encode_xml};
