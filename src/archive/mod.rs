//! Archives of job data: zip, shapefile, dbf and their sidecars, grain carts, FMIS folders and XML, over anything that can be read at an offset.

#![forbid(unsafe_code)]

mod byte_order;
mod checksum;
mod code;
mod codepage;
mod contents;
mod dbf;
mod diagnostic;
mod fmis;
mod grc;
mod grc_end;
mod inflate_thread;
mod inflow;
mod kind;
mod member;
mod names;
mod options;
mod room;
mod set;
mod shp;
mod shx;
mod source;
mod spelling;
mod store;
mod text;
mod unpack;
mod window;
mod xml;
mod zip;

pub use code::{Code, Severity};
pub use dbf::{Field, Header as TableHeader};
pub use diagnostic::Diagnostic;
pub use fmis::Fmis;
pub use fmis::layout::{Layout, Quantity, Slot};
pub use grc::GrainCart;
pub use grc_end::may_be_whole_cart;
pub use member::Member;
pub use options::{Limits, ReadOptions};
pub use room::{NoRoom, ask_for, make_exact_room, make_room, with_room};
pub use set::{Set, layers, sets};
pub use shp::reader::{ShapeReader, TakeShapes};
pub use shp::{Flat, Header as ShapeHeader, Record, Shape, Vertices};
pub use shx::Index;
pub use source::Source;
pub use spelling::find_name;
pub use store::ReadAt;
pub use text::{Doubt, Encoding};
pub use window::Window;
pub use xml::element::Element;
pub use xml::tree::tree;
pub use xml::{Document, Event, Holds};
pub use zip::listed_names;
