//! The rooms of headland, in the order data walks through them.
//!
//! A file imports only from rooms named earlier in this list; `tests/conventions.rs` holds that. `python` is the only
//! room that names pyo3, and the core builds and tests without it.

pub mod error;

pub mod secret;

pub mod clock;

mod part_file;

/// The table: one row for an endpoint, one shape for a record.
pub mod api;

/// The OpenAPI document, from the table.
pub mod openapi;

/// JSON, XML and multipart, straight into and out of shapes.
pub mod wire;

pub mod signing;

/// Archives of job data: zip, shapefile, dbf and their sidecars, and the text of grain carts, over anything that can be read at an offset.
pub mod archive;

/// Records into Arrow, GeoJSON, GeoParquet and pictures; coordinate systems.
pub mod layer;

/// Agronomic computation over columns: units and their conversion.
pub mod agronomy;

/// The budget of calls: exact windows, the server's headers, shared between processes.
pub mod limiter;

/// One request to one reply, and the loop that decides what to do with it.
pub mod transport;

/// What users do with the service: calls, pages, downloads, uploads, conversions.
pub mod client;

/// A whole account on one's own disk.
pub mod mirror;

/// The whole service on loopback, with fields of known truth.
pub mod sandbox;

#[cfg(feature = "python")]
mod python;
