//! What reading finds in cells and shapes, counted while it goes and told once for each kind.

use std::collections::BTreeMap;

use crate::archive::{Diagnostic, Doubt};

/// One kind of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Finding {
    BadNumber,
    IntegerWithDecimals,
    IntegerWithExponent,
    DigitsLost,
    BadDate,
    AmbiguousDate,
    DayFirst,
    BlankLogical,
    LogicalDigit,
    BadLogical,
    AfterNul,
    LeadingBlanks,
    TextRecoded,
    TextUndefined,
    Utf8DeclaredAnsi,
    TextLost,
    TextUndeclared,
    BinaryColumn,
    Memo,
    UnknownType,
    BrokenShape,
    ShortRecord,
    LongRecord,
    OpenRing,
    PartStart,
    EntangledRings,
    ShortPart,
    MissingM,
    NoDataM,
    NoDataZ,
    NoDataCoordinate,
    NoDataRing,
    MixedShapes,
    MissingZ,
}

impl From<Doubt> for Finding {
    fn from(doubt: Doubt) -> Self {
        match doubt {
            Doubt::Recoded => Self::TextRecoded,
            Doubt::Undefined => Self::TextUndefined,
            Doubt::LooksLikeUtf8 => Self::Utf8DeclaredAnsi,
            Doubt::Lost => Self::TextLost,
        }
    }
}

impl Finding {
    /// Its stable name, and a sentence about it.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::BadNumber => ("bad-number", "cells that are no number were read as null"),
            Self::IntegerWithDecimals => (
                "integer-with-decimals",
                "the column is declared without decimals but has some, or a number too large for its type: it was read as \
                 float64",
            ),
            Self::IntegerWithExponent => {
                ("integer-with-exponent", "whole numbers with an exponent, such as 1e17, were read as integers")
            }
            Self::DigitsLost => (
                "digits-lost",
                "whole numbers have more digits than float64 holds and were rounded; of a .dbf, hl.open(types={...: \"string\"}) \
                 reads all digits",
            ),
            Self::BadDate => ("bad-date", "cells that are no date were read as null"),
            Self::AmbiguousDate => (
                "ambiguous-date",
                "dates such as 01/02/2024 were read month first, as January 2; where they are day first, read the column \
                 as text with hl.open(types={...: \"string\"}) and take the dates from that",
            ),
            Self::DayFirst => (
                "day-first-date",
                "dates such as 31/01/2024 can only be day first and are null; dates of this column with a day of 12 or less \
                 were read month first, which is likely wrong: read the column as text with hl.open(types={...: \"string\"}) \
                 and take the dates from that",
            ),
            Self::BlankLogical => ("blank-logical", "blank logicals were read as null"),
            Self::LogicalDigit => ("logical-digit", "logicals written as 1 and 0 were read as true and false"),
            Self::BadLogical => ("bad-logical", "cells that are no logical were read as null"),
            Self::AfterNul => ("after-nul", "what follows a NUL in a cell was left out"),
            Self::LeadingBlanks => ("leading-blanks", "leading blanks of text were kept"),
            Self::TextRecoded => {
                ("text-recoded", "text that is not valid UTF-8, which is declared or assumed, was read as Windows-1252")
            }
            Self::TextUndefined => (
                "text-recoded",
                "bytes that Windows-1252 leaves undefined (0x81, 0x8D, 0x8F, 0x90, 0x9D) were read as control characters",
            ),
            Self::Utf8DeclaredAnsi => (
                "utf8-declared-ansi",
                "text that the archive declares as Windows-1252 or ISO-8859-1 is valid UTF-8 with letters beyond ASCII; \
                 `encoding=\"utf-8\"` reads it as such",
            ),
            Self::TextLost => (
                "text-lost",
                "bytes that stand for nothing in the encoding of the text were lost, and U+FFFD stands in their place; \
                 encoding=... reads it in another",
            ),
            Self::TextUndeclared => ("text-undeclared", "text without a declared encoding was read as UTF-8"),
            Self::BinaryColumn => ("binary-column", "the column has a binary type and was read as bytes"),
            Self::Memo => ("memo", "the column points into a memo file; the pointers were read as text"),
            Self::UnknownType => ("unknown-type", "the column has a type that is not known and was read as text"),
            Self::BrokenShape => ("broken-shape", "records that contradict themselves were read as null geometries"),
            Self::ShortRecord => {
                ("short-record", "records declare fewer bytes than their shapes need; the shapes decided")
            }
            Self::LongRecord => {
                ("long-record", "records are longer than their shapes need; what their counts leave out is lost")
            }
            Self::OpenRing => ("open-ring", "rings that were open were closed"),
            Self::PartStart => ("part-start", "a first part that did not start at vertex 0 was read from there"),
            Self::EntangledRings => (
                "entangled-rings",
                "which rings are holes of which would take too long to tell; each was read as a polygon of its own",
            ),
            Self::ShortPart => ("short-part", "parts have too few vertices for a line or a ring"),
            Self::MissingM => ("missing-m", "vertices without M in a layer that has M were given NaN"),
            Self::NoDataM => ("no-data-m", "M values that mean `no data` were read as NaN"),
            Self::NoDataZ => (
                "no-data-z",
                "Z values that mean `no data` or are no finite numbers were kept; GeoJSON has their geometries without Z",
            ),
            Self::NoDataCoordinate => (
                "no-data-coordinate",
                "coordinates that mean `no data` or are no finite numbers were kept; GeoJSON has null geometries for them, and areas \
                 and lengths that geopandas takes of them mean nothing",
            ),
            Self::NoDataRing => (
                "no-data-ring",
                "polygons with a ring that begins or ends in a vertex that is no number cannot be closed and were read as null \
                 geometries",
            ),
            Self::MixedShapes => (
                "mixed-shapes",
                "records of another shape type than the header declares were kept, with the Z and M that they have",
            ),
            Self::MissingZ => ("missing-z", "records without Z in a layer that declares it were read with a Z of 0"),
        }
    }

    /// Whether it is about the column whatever its cells, so that no record and no count belongs to it.
    fn is_of_column(self) -> bool {
        matches!(self, Self::BinaryColumn | Self::Memo | Self::UnknownType)
    }
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
    pub(super) fn add(&mut self, finding: Finding, record: u64) {
        self.add_many(finding, record, 1);
    }

    /// Counts a finding that was met so many times, at this record first.
    pub(super) fn add_many(&mut self, finding: Finding, record: u64, times: u64) {
        let (count, _) = self.met.entry(finding).or_insert((0, record));
        *count = count.saturating_add(times);
    }

    /// The record where a kind was met first.
    pub(super) fn first(&self, finding: Finding) -> Option<u64> {
        self.met.get(&finding).map(|(_, first)| *first)
    }

    /// Takes back what was said of a kind.
    pub(super) fn forget(&mut self, finding: Finding) {
        self.met.remove(&finding);
    }

    /// Whether nothing was met.
    pub(super) fn is_empty(&self) -> bool {
        self.met.is_empty()
    }

    /// One diagnostic for each kind, about a member and, where there is one, a column.
    pub(super) fn tell(&self, member: &str, column: Option<&str>, notes: &mut Vec<Diagnostic>) {
        for (finding, (count, first)) in &self.met {
            let (code, sentence) = finding.words();
            let place = column.map(|column| format!("column `{column}`: ")).unwrap_or_default();
            let note = if finding.is_of_column() {
                Diagnostic::new(code, format!("{place}{sentence}"))
            } else {
                Diagnostic::new(code, format!("{place}{sentence} ({count} times, first at record {first})")).at(*first)
            };
            notes.push(note.in_member(member));
        }
    }
}
