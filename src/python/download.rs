//! Where a file goes, and what the caller gets of it.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::client::{Delivered, Target};

/// Memory without a target, else a folder or a path.
pub(super) fn make_target(to: Option<PathBuf>, overwrite: bool) -> Target {
    to.map_or(Target::Memory, |to| Target::Disk { to, overwrite })
}

/// Bytes, or the path of the file.
pub(super) fn deliver(py: Python<'_>, delivered: Delivered) -> PyResult<Bound<'_, PyAny>> {
    match delivered {
        // A file that is too large for its copy is a `MemoryError`.
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
