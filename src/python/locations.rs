//! Validity of device locations.

use pyo3::prelude::*;

use headland_api::locations;

/// Returns whether a location with these values is a valid point on earth.
#[pyfunction]
#[pyo3(signature = (valid, has_fix, latitude, longitude))]
pub(super) fn has_position(valid: Option<bool>, has_fix: bool, latitude: Option<f64>, longitude: Option<f64>) -> bool {
    locations::has_position(valid, has_fix, latitude, longitude)
}
