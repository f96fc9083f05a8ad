//! Archives of job data: zip, shapefile, dbf and their sidecars, and the text of grain carts, over anything that can be read at an offset.

mod byte_order;
mod codepage;
mod dbf;
mod grc;
mod kind;
mod member;
mod names;
mod note;
mod options;
mod set;
mod shp;
mod shx;
mod source;
mod store;
mod text;
mod window;
mod zip;
mod zip_directory;

pub use dbf::{Field, Header as TableHeader};
pub use grc::GrainCart;
pub use member::Member;
pub use note::Diagnostic;
pub use options::{Limits, Options};
pub use set::{Set, layers, sets};
pub use shp::{Flat, Header as ShapeHeader, Record, Shape, Vertices, records};
pub use shx::Index;
pub use source::Source;
pub use store::ReadAt;
pub use text::Encoding;
pub use window::Window;
pub use zip::listed_names;
