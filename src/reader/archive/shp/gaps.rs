//! Checks gaps and overlaps between the records of a .shp, their numbers, and their lengths in the index.

use crate::archive::diagnostic::Diagnostic;
use crate::archive::diagnostic_code::Code;

/// How often an issue occurred, and its first record.
#[derive(Debug, Default)]
pub(super) struct Occurrences {
    count: u64,
    first: u64,
}

impl Occurrences {
    /// Adds an issue of `count` records, the first of them `record`.
    #[inline]
    pub(super) fn add(&mut self, count: u64, record: u64) {
        if self.count == 0 {
            self.first = record;
        }
        self.count = self.count.saturating_add(count);
    }

    /// Adds a diagnostic about a member if the issue occurred.
    fn report(&self, code: Code, member: &str, message: String, diagnostics: &mut Vec<Diagnostic>) {
        if self.count > 0 {
            diagnostics.push(Diagnostic::new(code, message).in_member(member).at_record(self.first));
        }
    }

    /// Reports records whose length differs between index and .shp.
    pub(super) fn report_lengths(&self, shx: &str, diagnostics: &mut Vec<Diagnostic>) {
        let message = format!(
            "record lengths in the index differ from those in the .shp, which were used ({} times, first at record \
             {}); readers that use the index lose these geometries",
            self.count, self.first
        );
        self.report(Code::RecordLengths, shx, message, diagnostics);
    }

    /// Reports records with an invalid length.
    pub(super) fn report_bad_lengths(&self, shp: &str, diagnostics: &mut Vec<Diagnostic>) {
        let message = format!("{} records with a damaged length have null geometries", self.count);
        self.report(Code::ShpDamaged, shp, message, diagnostics);
    }
}

/// Checks that records are contiguous in the order of the file.
#[derive(Debug)]
pub(super) struct GapCheck {
    end: u64,
    gaps: Occurrences,
}

impl GapCheck {
    /// A check of records from `start` on.
    pub(super) fn new(start: u64) -> Self {
        Self { end: start, gaps: Occurrences::default() }
    }

    /// The end of the last record.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Adds a record, or the end of the file, which should begin at the end of the previous record.
    pub(super) fn add(&mut self, record: u64, start: u64, end: u64) {
        if start != self.end {
            self.gaps.add(1, record);
        }
        self.end = end;
    }

    /// Adds one diagnostic if there were gaps or overlaps.
    pub(super) fn report(&self, shp: &str, diagnostics: &mut Vec<Diagnostic>) {
        let message = format!(
            "records have gaps between them or overlap ({} times): bytes belong to no record or to two",
            self.gaps.count
        );
        self.gaps.report(Code::ShpSeams, shp, message, diagnostics);
    }
}

/// Checks that the numbers of records are consecutive; the first may be any number.
#[derive(Debug, Default)]
pub(super) struct NumberCheck {
    last: Option<i32>,
    gaps: Occurrences,
}

impl NumberCheck {
    /// Adds the number of a record.
    pub(super) fn add(&mut self, record: u64, number: Option<i32>) {
        if self.last.is_some_and(|last| last.checked_add(1) != number) {
            self.gaps.add(1, record);
        }
        self.last = number;
    }

    /// Adds one diagnostic if there were gaps.
    pub(super) fn report(&self, shp: &str, diagnostics: &mut Vec<Diagnostic>) {
        let message = "the record numbers are not consecutive: records may be missing or in another order, so \
                       geometries may be assigned to the wrong rows";
        self.gaps.report(Code::RecordNumbers, shp, message.to_owned(), diagnostics);
    }
}
