//! The border between bytes and records: what services send becomes [`Value`]s by shape, and back.

pub mod json;
pub mod names;
pub mod reply;
pub mod time;
pub mod value;

pub use reply::{Content, Page, ServiceResponse, decode_detail, decode_index, decode_response};
pub use value::{Name, Value};
