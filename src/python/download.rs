//! Targets and results of downloads.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use headland_client::{Delivered, Target};

/// Returns the target: a folder or a path, or memory if `to` is `None`.
pub(super) fn make_target(to: Option<PathBuf>, overwrite: bool) -> Target {
    to.map_or(Target::Memory, |to| Target::Disk { to, overwrite })
}

/// Returns the bytes, or the path of the file.
pub(super) fn deliver(py: Python<'_>, delivered: Delivered) -> PyResult<Bound<'_, PyAny>> {
    match delivered {
        // A file too large for the copy is a `MemoryError`.
        Delivered::Bytes(content) => {
            let fill = |copy: &mut [u8]| {
                copy.copy_from_slice(&content);
                Ok(())
            };
            PyBytes::new_with(py, content.len(), fill).map(Bound::into_any)
        }
        Delivered::File(path) => path.into_pyobject(py).map(Bound::into_any),
    }
}
