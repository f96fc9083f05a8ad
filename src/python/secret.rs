//! A text that Python code can carry and nothing can print.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// Hides a text from `repr`, tracebacks with local variables, and pickle.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct Secret {
    hidden: Py<PyAny>,
}

#[pymethods]
impl Secret {
    /// Takes anything, so that a value of the wrong type is out of sight too before it is refused.
    #[new]
    fn new(text: Bound<'_, PyAny>) -> Self {
        let hidden = match text.cast::<Self>() {
            Ok(secret) => secret.get().hidden.clone_ref(text.py()),
            Err(_) => text.unbind(),
        };
        Self { hidden }
    }

    /// Whether there is nothing to hide.
    fn is_none(&self, py: Python<'_>) -> bool {
        self.hidden.is_none(py)
    }

    #[expect(clippy::unused_self, reason = "Python asks an instance")]
    fn __repr__(&self) -> &'static str {
        "Secret(hidden)"
    }

    #[expect(clippy::unused_self, reason = "Python asks an instance")]
    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("a secret cannot be pickled"))
    }
}

impl Secret {
    /// The text, or a `TypeError` that names the argument and the type that was given instead.
    pub(super) fn text(&self, py: Python<'_>, argument: &str) -> PyResult<crate::secret::Secret> {
        let hidden = self.hidden.bind(py);
        if let Ok(text) = hidden.extract::<String>() {
            return Ok(crate::secret::Secret::new(text));
        }
        let found = hidden.get_type().qualname()?;
        Err(PyTypeError::new_err(format!("`{argument}` takes a str, not {found}")))
    }
}
