//! What reading finds in cells and shapes, counted while it goes and told once for each kind.

use std::collections::BTreeMap;

use crate::archive::{Code, Diagnostic, Doubt};

/// One kind of finding: its code, and the sentence about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Finding {
    code: Code,
    sentence: &'static str,
}

impl From<Code> for Finding {
    fn from(code: Code) -> Self {
        Self { code, sentence: code.documentation() }
    }
}

impl From<Doubt> for Finding {
    fn from(doubt: Doubt) -> Self {
        match doubt {
            Doubt::Recoded => Self {
                code: Code::TextRecoded,
                sentence: "text that is not valid UTF-8, which is declared or assumed, was read as Windows-1252",
            },
            Doubt::Undefined => Self {
                code: Code::TextRecoded,
                sentence: "bytes that Windows-1252 leaves undefined (0x81, 0x8D, 0x8F, 0x90, 0x9D) were read as control \
                           characters",
            },
            Doubt::LooksLikeUtf8 => Code::Utf8DeclaredAnsi.into(),
            Doubt::Lost => Code::TextLost.into(),
        }
    }
}

/// Whether it is about the column whatever its cells, so that no record and no count belongs to it.
fn is_of_column(code: Code) -> bool {
    matches!(code, Code::BinaryColumn | Code::Memo | Code::UnknownType)
}

/// How often each kind was met, and where first.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    met: BTreeMap<Finding, (u64, u64)>,
}

impl Findings {
    /// Counts one finding at a record of the file. Findings are rare, and the loops that make them are kept short.
    #[cold]
    #[inline(never)]
    pub(super) fn add(&mut self, finding: impl Into<Finding>, record: u64) {
        self.add_many(finding, record, 1);
    }

    /// Counts a finding that was met so many times, at this record first.
    pub(super) fn add_many(&mut self, finding: impl Into<Finding>, record: u64, times: u64) {
        let (count, _) = self.met.entry(finding.into()).or_insert((0, record));
        *count = count.saturating_add(times);
    }

    /// The record where a kind was met first.
    pub(super) fn first(&self, code: Code) -> Option<u64> {
        self.met.get(&code.into()).map(|(_, first)| *first)
    }

    /// Takes back what was said of a kind.
    pub(super) fn forget(&mut self, code: Code) {
        self.met.remove(&code.into());
    }

    /// Whether nothing was met.
    pub(super) fn is_empty(&self) -> bool {
        self.met.is_empty()
    }

    /// One diagnostic for each kind, about a member and, where there is one, a column.
    pub(super) fn tell(&self, member: &str, column: Option<&str>, notes: &mut Vec<Diagnostic>) {
        for (Finding { code, sentence }, (count, first)) in &self.met {
            let place = column.map(|column| format!("column `{column}`: ")).unwrap_or_default();
            let message = format!("{place}{sentence}");
            let note = if is_of_column(*code) {
                Diagnostic::new(*code, message)
            } else {
                Diagnostic::new(*code, format!("{message} ({count} times, first at record {first})")).at(*first)
            };
            notes.push(note.in_member(member));
        }
    }
}
