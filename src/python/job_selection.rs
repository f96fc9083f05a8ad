//! Bindings of the selection of jobs by types and names.

use pyo3::prelude::*;

use super::errors;
use headland_agronomy::{self as agronomy, Match};

/// Types of jobs that a caller asks for.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct JobTypes(agronomy::JobTypes);

#[pymethods]
impl JobTypes {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "arguments from Python are owned")]
    fn new(py: Python<'_>, words: Vec<String>) -> PyResult<Self> {
        agronomy::JobTypes::new(&words).map(Self).map_err(|error| errors::raise(py, &error))
    }

    /// Whether the label of a job in a list is of the types; `None` if the detail decides.
    #[pyo3(signature = (label))]
    fn match_label(&self, label: Option<&str>) -> Option<bool> {
        match self.0.match_label(label) {
            Match::Yes => Some(true),
            Match::No => Some(false),
            Match::Maybe => None,
        }
    }

    /// Whether the type in the detail of a job is one of the types.
    #[pyo3(signature = (job_type))]
    fn includes_detail(&self, job_type: Option<&str>) -> bool {
        self.0.includes_detail(job_type)
    }

    /// Fails if a word is neither a known type nor a label of the list.
    #[expect(clippy::needless_pass_by_value, reason = "arguments from Python are owned")]
    fn check(&self, py: Python<'_>, listed: Vec<String>) -> PyResult<()> {
        self.0.check(&listed).map_err(|error| errors::raise(py, &error))
    }
}

/// Pattern for names of jobs.
#[pyclass(frozen, module = "headland._core")]
pub(super) struct NamePattern(agronomy::NamePattern);

#[pymethods]
impl NamePattern {
    #[new]
    fn new(text: &str) -> Self {
        Self(agronomy::NamePattern::new(text))
    }

    fn matches(&self, name: &str) -> bool {
        self.0.matches(name)
    }
}
