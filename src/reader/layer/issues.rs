//! Counts the issues found in cells and shapes, and reports each kind once.

use std::collections::BTreeMap;

use crate::archive::{Code, DecodeIssue, Diagnostic};

/// A kind of issue: code and sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Issue {
    code: Code,
    sentence: &'static str,
}

impl From<Code> for Issue {
    fn from(code: Code) -> Self {
        Self { code, sentence: code.documentation() }
    }
}

impl From<DecodeIssue> for Issue {
    fn from(doubt: DecodeIssue) -> Self {
        match doubt {
            DecodeIssue::Recoded => Self {
                code: Code::TextRecoded,
                sentence: "text declared or assumed to be UTF-8 is not valid UTF-8 and was read as Windows-1252",
            },
            DecodeIssue::Undefined => Self {
                code: Code::TextRecoded,
                sentence: "bytes undefined in Windows-1252 (0x81, 0x8D, 0x8F, 0x90, 0x9D) were read as control \
                           characters",
            },
            DecodeIssue::LooksLikeUtf8 => Code::Utf8DeclaredAnsi.into(),
            DecodeIssue::Lost => Code::TextLost.into(),
        }
    }
}

/// Whether the issue is about the column, so that it has no record and no count.
fn applies_to_column(code: Code) -> bool {
    matches!(code, Code::BinaryColumn | Code::Memo | Code::UnknownType)
}

fn with_count(message: &str, count: u64, first: u64) -> String {
    format!("{message} ({count} times, first at record {first})")
}

/// The count and first record of each kind.
#[derive(Clone, Debug, Default)]
pub(super) struct IssueCounter {
    counts: BTreeMap<Issue, (u64, u64)>,
}

impl IssueCounter {
    /// Counts one issue at a record. Out of line, since issues are rare and decoding loops must stay small.
    #[cold]
    #[inline(never)]
    pub(super) fn add(&mut self, issue: impl Into<Issue>, record: u64) {
        self.add_many(issue, record, 1);
    }

    /// Counts an issue that occurred `times` times, first at `record`.
    pub(super) fn add_many(&mut self, issue: impl Into<Issue>, record: u64, times: u64) {
        let (count, _) = self.counts.entry(issue.into()).or_insert((0, record));
        *count = count.saturating_add(times);
    }

    /// The first record with an issue of this code.
    pub(super) fn first_record(&self, code: Code) -> Option<u64> {
        self.counts.get(&code.into()).map(|(_, first)| *first)
    }

    /// Removes the issues of this code.
    pub(super) fn remove(&mut self, code: Code) {
        self.counts.remove(&code.into());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The diagnostic of issues of one kind, without a member.
    pub(super) fn into_diagnostic(self) -> Option<Diagnostic> {
        let (Issue { code, sentence }, (count, first)) = self.counts.into_iter().next()?;
        Some(Diagnostic::new(code, with_count(sentence, count, first)).at_record(first))
    }

    /// Adds one diagnostic per kind of issue.
    pub(super) fn report(&self, member: &str, column: Option<&str>, diagnostics: &mut Vec<Diagnostic>) {
        for (Issue { code, sentence }, (count, first)) in &self.counts {
            let prefix = column.map(|column| format!("column `{column}`: ")).unwrap_or_default();
            let message = format!("{prefix}{sentence}");
            let diagnostic = if applies_to_column(*code) {
                Diagnostic::new(*code, message)
            } else {
                Diagnostic::new(*code, with_count(&message, *count, *first)).at_record(*first)
            };
            diagnostics.push(diagnostic.in_member(member));
        }
    }
}
