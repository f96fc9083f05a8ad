//! What was repaired or left out while reading, told to the user instead of done in silence.

use super::diagnostic_code::{Code, Severity};

/// Something that was repaired or left out while reading: a code, a sentence, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of finding.
    pub code: Code,
    /// What was found and what was done about it.
    pub message: String,
    /// The member of the archive.
    pub member: Option<String>,
    /// The record, counted from 0, where one record is the cause.
    pub record: Option<u64>,
}

impl Diagnostic {
    /// A finding about a whole source.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), member: None, record: None }
    }

    /// How much it matters, which its code decides.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// Puts findings in the order of members and records, what is about a whole source or member before the rest of it:
    /// however a source is read, they are met at other times.
    pub fn sort(diagnostics: &mut [Self]) {
        let key = |diagnostic: &Self| (diagnostic.record, diagnostic.code.as_str());
        diagnostics.sort_by(|one, other| {
            (&one.member, key(one), &one.message).cmp(&(&other.member, key(other), &other.message))
        });
    }

    /// The same finding, about one member.
    #[must_use]
    pub fn in_member(mut self, member: &str) -> Self {
        self.member = Some(member.to_owned());
        self
    }

    /// The same finding, first met at one record.
    #[must_use]
    pub fn at_record(mut self, record: u64) -> Self {
        self.record = Some(record);
        self
    }
}
