//! The only folder that names pyo3.
