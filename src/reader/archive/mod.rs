//! Readers of job data: zip, shapefile, .dbf and sidecars, grain carts, FMIS folders and XML, over any [`ReadAt`].

#![forbid(unsafe_code)]

mod alloc;
mod buffered_reader;
mod code_enum;
mod codepage_tables;
mod crc32;
mod dbf;
mod decompress;
mod diagnostic;
mod diagnostic_code;
mod encoding;
mod endian;
mod fmis;
mod grain_cart;
mod grain_cart_complete;
mod inflate_thread;
mod inventory;
mod layer_files;
mod limits;
mod member;
mod member_names;
mod member_reader;
mod options;
mod read_at;
mod saved_reply;
mod shp;
mod shx;
mod sniff;
mod source;
mod unicode_names;
mod xml;
mod zip;

pub use alloc::{AllocError, check_available, try_reserve, try_reserve_exact, with_capacity};
pub use buffered_reader::BufferedReader;
pub use dbf::{Field, Header as TableHeader};
pub use diagnostic::Diagnostic;
pub use diagnostic_code::{Code, Severity};
pub use encoding::{DecodeIssue, Encoding};
pub use fmis::Fmis;
pub use fmis::layout::{Layout, Quantity, Slot};
pub use grain_cart::GrainCart;
pub use grain_cart_complete::may_be_complete_cart;
pub use layer_files::{LayerFiles, layer_files, layers};
pub use limits::Limits;
pub use member::Member;
pub use options::ReadOptions;
pub use read_at::ReadAt;
pub use shp::reader::{ShapeReader, ShapeSink};
pub use shp::{Header as ShapeHeader, Record, Shape, ShapeType, Vertices};
pub use source::Source;
pub use unicode_names::find_name;
pub use xml::element::Element;
pub use xml::source_document::read_document;
pub use xml::{Content, Document, Event};
pub use zip::listed_names;
