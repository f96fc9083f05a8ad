//! Where the records of a .shp meet, how they are counted and how long its index takes them for: what does not fit is told.

use crate::archive::diagnostic::Diagnostic;
use crate::archive::diagnostic_code::Code;

/// How often something was met, and the record where it was first.
#[derive(Debug, Default)]
pub(super) struct Occurrences {
    count: u64,
    first: u64,
}

impl Occurrences {
    /// Notes it of so many records, the first of them `record`.
    #[inline]
    pub(super) fn add(&mut self, count: u64, record: u64) {
        if self.count == 0 {
            self.first = record;
        }
        self.count = self.count.saturating_add(count);
    }

    /// One diagnostic about a member, where it was met.
    fn report(&self, code: Code, member: &str, message: String, diagnostics: &mut Vec<Diagnostic>) {
        if self.count > 0 {
            diagnostics.push(Diagnostic::new(code, message).in_member(member).at_record(self.first));
        }
    }

    /// Records that the index gives another length than they have.
    pub(super) fn report_lengths(&self, shx: &str, diagnostics: &mut Vec<Diagnostic>) {
        let message = format!(
            "the index gives records another length than they have in the .shp, which was used ({} times, first at record {}); \
             readers that trust the index lose their geometries",
            self.count, self.first
        );
        self.report(Code::RecordLengths, shx, message, diagnostics);
    }

    /// Records that have a length that no record has.
    pub(super) fn report_bad_lengths(&self, shp: &str, diagnostics: &mut Vec<Diagnostic>) {
        let message = format!("records whose length is damaged have null geometries ({} of them)", self.count);
        self.report(Code::ShpDamaged, shp, message, diagnostics);
    }
}

/// The places of records so far, in the order of the file.
#[derive(Debug)]
pub(super) struct GapCheck {
    end: u64,
    gaps: Occurrences,
}

impl GapCheck {
    /// Records that begin at `start`.
    pub(super) fn new(start: u64) -> Self {
        Self { end: start, gaps: Occurrences::default() }
    }

    /// Where the last record ends.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Takes note of a record, or of the end of the file, that may begin elsewhere than the one before it ends.
    pub(super) fn add(&mut self, record: u64, start: u64, end: u64) {
        if start != self.end {
            self.gaps.add(1, record);
        }
        self.end = end;
    }

    /// One diagnostic, where anything was odd.
    pub(super) fn report(&self, shp: &str, diagnostics: &mut Vec<Diagnostic>) {
        let message = format!(
            "its records do not lie end to end ({} times): bytes between them belong to no record or to two",
            self.gaps.count
        );
        self.gaps.report(Code::ShpSeams, shp, message, diagnostics);
    }
}

/// The numbers of records so far, which follow one another wherever the count begins.
#[derive(Debug, Default)]
pub(super) struct NumberCheck {
    last: Option<i32>,
    gaps: Occurrences,
}

impl NumberCheck {
    /// Takes note of the number of a record.
    pub(super) fn add(&mut self, record: u64, number: Option<i32>) {
        if self.last.is_some_and(|last| last.checked_add(1) != number) {
            self.gaps.add(1, record);
        }
        self.last = number;
    }

    /// One diagnostic, where anything was odd.
    pub(super) fn report(&self, shp: &str, diagnostics: &mut Vec<Diagnostic>) {
        let message = "the numbers of its records do not follow one another: records may be missing or stand in another \
                       order, so that geometries may belong to other rows";
        self.gaps.report(Code::RecordNumbers, shp, message.to_owned(), diagnostics);
    }
}
