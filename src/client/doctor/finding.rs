//! One result of the doctor's steps.

/// What one step found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The step.
    pub name: &'static str,
    /// Whether calls get past it.
    pub is_ok: bool,
    /// What the step saw.
    pub seen: String,
    /// What to do about it.
    pub next_step: Option<String>,
}
