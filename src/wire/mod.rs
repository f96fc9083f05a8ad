//! The border between bytes and records: what services send becomes [`Value`]s by shape, and back.

pub mod columns;
mod decode;
mod derived;
mod digits;
mod fields;
mod json;
mod json_envelope;
mod json_flat;
mod json_record;
mod json_writer;
mod masking;
pub mod names;
mod place;
mod plain;
pub mod reply;
pub mod time;
mod unknown;
pub mod value;
mod values;
mod xml;
mod xml_document;
mod xml_members;
mod xml_writer;

pub use decode::{decode_detail, decode_flat, decode_index, decode_index_leniently, decode_response, decode_total};
pub(crate) use digits::quoted;
pub use fields::finish;
pub use json_flat::{Cell, Sink};
pub use json_writer::encode as encode_json;
pub use masking::{Masked, is_page, mask};
pub use place::Unreadable;
pub use plain::decode_plain;
pub use reply::{Content, Page, ServiceResponse};
pub use value::{Name, Value};
pub use values::check_values;
pub use xml_writer::{Element, encode as encode_xml};
