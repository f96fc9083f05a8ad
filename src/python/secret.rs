//! A text that Python code can pass on but not print.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use headland_client::Token;

/// Hides a text from `repr`, tracebacks with local variables, and pickle.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct Secret {
    hidden: Py<PyAny>,
}

#[pymethods]
impl Secret {
    /// Accepts any object, so that a value of the wrong type is hidden too before it is refused.
    #[new]
    fn new(text: Bound<'_, PyAny>) -> Self {
        let hidden = match text.cast::<Self>() {
            Ok(secret) => secret.get().hidden.clone_ref(text.py()),
            Err(_) => text.unbind(),
        };
        Self { hidden }
    }

    /// Whether the hidden value is a callable that returns a token.
    fn is_callable(&self, py: Python<'_>) -> bool {
        self.hidden.bind(py).is_callable()
    }

    /// Returns the token of a call, hidden: the hidden value, or its result if it is callable.
    fn get_token(&self, py: Python<'_>) -> PyResult<Self> {
        let hidden = self.hidden.bind(py);
        let token = if hidden.is_callable() { hidden.call0()? } else { hidden.clone() };
        Ok(Self { hidden: token.unbind() })
    }

    /// Whether the hidden value is a coroutine or another awaitable.
    fn is_awaitable(&self, py: Python<'_>) -> PyResult<bool> {
        self.hidden.bind(py).hasattr("__await__")
    }

    /// Awaits the hidden value.
    fn __await__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.hidden.bind(py).call_method0("__await__")
    }

    /// Closes a coroutine that will not be awaited.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let hidden = self.hidden.bind(py);
        if hidden.hasattr("close")? { hidden.call_method0("close").map(drop) } else { Ok(()) }
    }

    /// Whether the hidden value is `None`.
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
    /// Returns the text, or a `TypeError` that names the argument and the actual type.
    pub(super) fn to_secret(&self, py: Python<'_>, argument: &str) -> PyResult<headland_base::secret::Secret> {
        let hidden = self.hidden.bind(py);
        if let Ok(text) = hidden.extract::<String>() {
            return Ok(headland_base::secret::Secret::new(text));
        }
        let found = hidden.get_type().qualname()?;
        Err(PyTypeError::new_err(format!("`{argument}`: expected a str, got {found}")))
    }

    /// Returns the token of one call from the argument's callable or value; `None` if there is none.
    pub(super) fn to_call_token(
        &self,
        py: Python<'_>,
        argument: &str,
    ) -> PyResult<Option<headland_base::secret::Secret>> {
        let hidden = self.hidden.bind(py);
        if hidden.is_none() {
            return Ok(None);
        }
        if let Ok(text) = hidden.extract::<String>() {
            return Ok(Some(headland_base::secret::Secret::new(text)));
        }
        let found = hidden.get_type().qualname()?;
        Err(PyTypeError::new_err(format!("`{argument}` returned {found}, expected a str")))
    }

    /// Returns the source of a service's tokens; `None` if the service is not used.
    pub(super) fn to_token_source(&self, py: Python<'_>, argument: &str) -> PyResult<Option<Token>> {
        let hidden = self.hidden.bind(py);
        if hidden.is_none() {
            return Ok(None);
        }
        if hidden.is_callable() {
            return Ok(Some(Token::PerCall));
        }
        match hidden.extract::<String>() {
            Ok(text) => Ok(Some(Token::Fixed(headland_base::secret::Secret::new(text)))),
            Err(_) => Err(PyTypeError::new_err(format!(
                "`{argument}`: expected a str or a callable that returns one, got {}",
                hidden.get_type().qualname()?
            ))),
        }
    }
}
