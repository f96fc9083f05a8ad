//! The border between bytes and records: what services send becomes [`Value`]s by shape, and back.

mod bigint;
pub mod columns;
mod decode;
mod derived;
mod extra_fields;
mod fields;
mod json_reader;
mod json_writer;
mod masking;
mod node;
mod partial_record;
mod path;
mod record_reader;
pub mod reply;
mod untyped;
pub mod value;
mod value_limit;
mod xml_reader;
mod xml_writer;

pub use bigint::quote_big_ints;
pub use decode::{decode_detail, decode_index, decode_index_leniently, decode_response};
pub use fields::finish;
pub use json_writer::encode as encode_json;
pub use masking::{is_page, mask};
pub use path::Unreadable;
pub use reply::{Content, Page, ServiceResponse};
pub use untyped::decode_plain;
pub use value::{Name, Value};
pub use value_limit::check_values;
pub use xml_writer::Element;
