//! Diagnostics: repairs and omissions that a reader reports instead of making them silently.

use super::diagnostic_code::{Code, Severity};

/// A repair or an omission: a code, a message and the location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of diagnostic.
    pub code: Code,
    /// What was found and what was done about it.
    pub message: String,
    /// The member of the archive.
    pub member: Option<String>,
    /// The record, counted from 0, if one record is the cause.
    pub record: Option<u64>,
}

impl Diagnostic {
    /// A diagnostic about a whole source.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), member: None, record: None }
    }

    /// A diagnostic about a whole source, with the documentation of its code as the message.
    #[must_use]
    pub fn from_code(code: Code) -> Self {
        Self::new(code, code.documentation())
    }

    /// The severity of its code.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// Sorts by member and record, diagnostics of a whole source or member first. The order of detection depends on the
    /// way of reading.
    pub fn sort(diagnostics: &mut [Self]) {
        let key = |diagnostic: &Self| (diagnostic.record, diagnostic.code.as_str());
        diagnostics.sort_unstable_by(|one, other| {
            (&one.member, key(one), &one.message).cmp(&(&other.member, key(other), &other.message))
        });
    }

    /// The same diagnostic, about one member.
    #[must_use]
    pub fn in_member(mut self, member: &str) -> Self {
        self.member = Some(member.to_owned());
        self
    }

    /// The same diagnostic, first detected at a record.
    #[must_use]
    pub fn at_record(mut self, record: u64) -> Self {
        self.record = Some(record);
        self
    }
}
