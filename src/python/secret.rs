//! A text that Python code can carry and nothing can print.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::client::Token;

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

    /// Whether it hides what gives a token, not a token.
    fn is_callable(&self, py: Python<'_>) -> bool {
        self.hidden.bind(py).is_callable()
    }

    /// The token that goes with a call: what it hides, or what that gives when it is called, hidden again.
    fn get_token(&self, py: Python<'_>) -> PyResult<Self> {
        let hidden = self.hidden.bind(py);
        let token = if hidden.is_callable() { hidden.call0()? } else { hidden.clone() };
        Ok(Self { hidden: token.unbind() })
    }

    /// Whether it hides a coroutine, or anything else that gives a token when it is awaited.
    fn is_awaitable(&self, py: Python<'_>) -> PyResult<bool> {
        self.hidden.bind(py).hasattr("__await__")
    }

    /// Awaits what it hides.
    fn __await__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.hidden.bind(py).call_method0("__await__")
    }

    /// Ends a coroutine that nobody will await.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let hidden = self.hidden.bind(py);
        if hidden.hasattr("close")? { hidden.call_method0("close").map(drop) } else { Ok(()) }
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
    pub(super) fn to_secret(&self, py: Python<'_>, argument: &str) -> PyResult<crate::secret::Secret> {
        let hidden = self.hidden.bind(py);
        if let Ok(text) = hidden.extract::<String>() {
            return Ok(crate::secret::Secret::new(text));
        }
        let found = hidden.get_type().qualname()?;
        Err(PyTypeError::new_err(format!("`{argument}` takes a str, not {found}")))
    }

    /// The token of one call, as the argument of that name gave it; `None` where it gave none.
    pub(super) fn to_call_token(&self, py: Python<'_>, argument: &str) -> PyResult<Option<crate::secret::Secret>> {
        let hidden = self.hidden.bind(py);
        if hidden.is_none() {
            return Ok(None);
        }
        if let Ok(text) = hidden.extract::<String>() {
            return Ok(Some(crate::secret::Secret::new(text)));
        }
        let found = hidden.get_type().qualname()?;
        Err(PyTypeError::new_err(format!("`{argument}` gave {found}, not a str")))
    }

    /// Where the tokens of a service come from; `None` where the service is not used.
    pub(super) fn to_token_source(&self, py: Python<'_>, argument: &str) -> PyResult<Option<Token>> {
        let hidden = self.hidden.bind(py);
        if hidden.is_none() {
            return Ok(None);
        }
        if hidden.is_callable() {
            return Ok(Some(Token::PerCall));
        }
        match hidden.extract::<String>() {
            Ok(text) => Ok(Some(Token::Fixed(crate::secret::Secret::new(text)))),
            Err(_) => Err(PyTypeError::new_err(format!(
                "`{argument}` takes a str or a callable that gives one, not {}",
                hidden.get_type().qualname()?
            ))),
        }
    }
}
