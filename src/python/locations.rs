//! Which locations are points on a map.

use pyo3::prelude::*;

use crate::api::locations;

/// Whether a location with these values is one on earth.
#[pyfunction]
#[pyo3(signature = (valid, has_fix, latitude, longitude))]
pub(super) fn has_position(valid: Option<bool>, has_fix: bool, latitude: Option<f64>, longitude: Option<f64>) -> bool {
    locations::has_position(valid, has_fix, latitude, longitude)
}
