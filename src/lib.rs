//! The modules of headland, in the order of the data flow.
//!
//! A file imports only from modules earlier in this list; `tests/conventions.rs` checks that. Only `python` uses pyo3,
//! and the core builds and is tested without it.

mod error_numbers;

pub mod error;

pub mod secret;

pub mod clock;

mod hex;

mod part_file;

mod times;

/// The endpoint table: one row per endpoint, one shape per record.
pub mod api;

/// The OpenAPI document, generated from the table.
pub mod openapi;

/// JSON, XML and multipart, decoded into shapes and encoded from them.
pub mod wire;

pub mod signing;

/// Readers of job data: zip, shapefile, .dbf and sidecars, grain carts, FMIS folders and XML.
pub mod archive;

/// Records to Arrow, GeoJSON, GeoParquet and maps; coordinate systems.
pub mod layer;

/// Agronomic computation over columns: units and their conversion.
pub mod agronomy;

/// Prescriptions: zones and rates as displays accept them, and checks of such files.
pub mod prescription;

/// Rate limits: exact windows, headers of the server, and a budget shared between processes.
pub mod limiter;

/// Requests and replies, and the attempt loop with its retries.
pub mod transport;

/// The client: calls, pages, downloads, uploads, conversions.
pub mod client;

/// A local copy of an account.
pub mod mirror;

/// A local service with synthetic fields.
pub mod sandbox;

#[cfg(feature = "python")]
mod python;
