//! The endpoint table for Python: names and kinds of rows, and the `OpenAPI` document.

use pyo3::prelude::*;

use headland_api::locations::DEVICE_LOCATION;
use headland_api::openapi::{Addresses, document};
use headland_api::{self as api, Endpoint, Returns, Service};
use headland_base::error::{Error, Kind, Result};

/// Returns the row with this full name.
pub(super) fn row(name: &str) -> Result<&'static Endpoint> {
    api::row(name).ok_or_else(|| Error::new(Kind::Value, format!("there is no call `{name}`")))
}

/// Returns the kind of result of a row that reads.
pub(super) fn result_kind(row: &Endpoint) -> &'static str {
    match row.returns {
        Returns::Index(index) if std::ptr::eq(index.item, &raw const DEVICE_LOCATION) => "locations",
        Returns::Index(_) => "list",
        Returns::File => "file",
        _ => "record",
    }
}

/// Returns the full name of every row that has a client method.
#[pyfunction]
pub(super) fn rows() -> Vec<&'static str> {
    api::rows().filter(|row| row.is_implemented()).map(|row| row.full_name).collect()
}

/// Returns the `OpenAPI` document of the interface as one line of JSON.
#[pyfunction]
pub(super) fn openapi() -> String {
    document(&Addresses::default()).to_string()
}

/// Returns the name of the client argument with the token of a row's service.
pub(super) fn token_argument(row: &Endpoint) -> &'static str {
    if row.service() == Service::Dispatch { "dispatch_token" } else { "legacy_token" }
}
