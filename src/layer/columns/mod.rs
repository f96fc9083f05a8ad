//! Columns of a .dbf, decoded chunk by chunk straight into Arrow buffers.

mod cells;
mod dates;
mod decoder;
mod eisel_lemire;
mod fixed_point;
mod floats;
mod integers;
mod logicals;
pub(super) mod number;
mod swar;
#[cfg(test)]
mod tests;
mod texts;

use arrow_array::ArrayRef;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_schema::{ArrowError, DataType};

use self::dates::Dates;
pub(super) use self::decoder::{AppendError, CellError, Chunk};
use self::decoder::{Cells, ColumnDecoder, Validity};
use self::floats::Floats;
use self::integers::Integers;
use self::logicals::Logicals;
use self::texts::{Raw, Texts};
use crate::archive::{Code, Encoding, Field};
use crate::layer::issues::IssueCounter;

/// How the cells of a field are read, by its letter, width and decimals: THE place to add a type of field, together
/// with a `ColumnDecoder` in a file of its own.
fn decoder_for(field: &Field, rows: usize, issues: &mut IssueCounter) -> Box<dyn ColumnDecoder> {
    let (width, decimals) = (field.width, field.decimals);
    match (field.kind, width, decimals) {
        (b'N', 0..=9, 0) => Box::new(Integers::<Int32Type>::new(width, decimals, rows)),
        (b'N', 10..=18, 0) => Box::new(Integers::<Int64Type>::new(width, decimals, rows)),
        (b'N' | b'F', _, _) => Box::new(Floats::new(width, decimals, rows)),
        (b'D', _, _) => Box::new(Dates::new(rows)),
        (b'L', _, _) => Box::new(Logicals::new(rows)),
        (b'O' | b'B' | b'Y' | b'T' | b'@' | b'+' | b'I' | b'G' | b'P' | b'Q', _, _) => {
            issues.add(Code::BinaryColumn, 0);
            Box::new(Raw::new(rows))
        }
        (b'M', _, _) => {
            issues.add(Code::Memo, 0);
            Box::new(Texts::new(rows))
        }
        (kind, _, _) => {
            if kind != b'C' {
                issues.add(Code::UnknownType, 0);
            }
            Box::new(Texts::new(rows))
        }
    }
}

/// A type that a caller wants a column to have, whatever its field says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Whole numbers of 32 bits.
    Int32,
    /// Whole numbers of 64 bits.
    Int64,
    /// Floats of 64 bits.
    Float64,
    /// Text.
    String,
    /// Days; text may have them as `20260901` or `2026-09-01`.
    Date,
    /// True and false; other fields than logicals have them as one of `T`, `Y`, `1`, `F`, `N` and `0`.
    Bool,
}

impl ColumnType {
    /// Every type and its name.
    pub const ALL: [(&str, Self); 6] = [
        ("int32", Self::Int32),
        ("int64", Self::Int64),
        ("float64", Self::Float64),
        ("string", Self::String),
        ("date", Self::Date),
        ("bool", Self::Bool),
    ];

    /// The type of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, found)| *found)
    }

    /// What the cells of a field that is declared as something else must be to have this type: the finding of one that is
    /// not, and a clause about it. Of fields of this kind, such cells are null.
    fn strict_rule(self, field: &Field) -> Option<(Code, &'static str)> {
        Some(match (self, field.kind) {
            (Self::Int32 | Self::Int64 | Self::Float64, b'N' | b'F')
            | (Self::Date, b'D')
            | (Self::Bool, b'L')
            | (Self::String, _) => return None,
            (Self::Int32 | Self::Int64 | Self::Float64, _) => (Code::BadNumber, "is no number"),
            (Self::Date, _) => (Code::BadDate, "is no date"),
            (Self::Bool, _) => (Code::BadLogical, "is no truth value"),
        })
    }

    fn decoder(self, field: &Field, rows: usize) -> Box<dyn ColumnDecoder> {
        let (width, decimals) = (field.width, field.decimals);
        match self {
            Self::Int32 => Box::new(Integers::<Int32Type>::new(width, decimals, rows)),
            Self::Int64 => Box::new(Integers::<Int64Type>::new(width, decimals, rows)),
            Self::Float64 => Box::new(Floats::new(width, decimals, rows)),
            Self::String if matches!(field.kind, b'C' | b'M') => Box::new(Texts::new(rows)),
            Self::String => Box::new(Texts::trimmed(rows)),
            Self::Date if field.kind == b'D' => Box::new(Dates::new(rows)),
            Self::Date => Box::new(Dates::from_text(rows)),
            Self::Bool if field.kind == b'L' => Box::new(Logicals::new(rows)),
            Self::Bool => Box::new(Logicals::requested(rows)),
        }
    }
}

/// One column while it is read.
pub(super) struct Column {
    pub(super) name: String,
    field: Field,
    decoder: Box<dyn ColumnDecoder>,
    /// Whether the type stands before the first cell is seen.
    is_fixed: bool,
    /// What is an error instead of a null.
    strict_rule: Option<(Code, &'static str)>,
    validity: Validity,
}

impl Column {
    /// An empty column for `field` with room for `rows`; its type may change with its cells.
    pub(super) fn new(name: String, field: Field, rows: usize) -> Self {
        let mut validity = Validity::new();
        let decoder = decoder_for(&field, rows, &mut validity.issues);
        Self { name, field, decoder, is_fixed: false, strict_rule: None, validity }
    }

    /// An empty column whose type is decided now: `forced`, or what its field says. `rows` is how many an array has.
    pub(super) fn fixed(name: String, field: Field, rows: usize, forced: Option<ColumnType>) -> Self {
        let mut validity = Validity::new();
        let decoder = match forced {
            Some(forced) => forced.decoder(&field, rows),
            None => decoder_for(&field, rows, &mut validity.issues),
        };
        Self { name, field, decoder, is_fixed: true, strict_rule: None, validity }
    }

    /// The same column, which takes no cell that says something else than its forced type.
    pub(super) fn with_strict_type(mut self, forced: ColumnType) -> Self {
        self.strict_rule = forced.strict_rule(&self.field);
        self
    }

    /// Decodes this column of a chunk. Only a fixed column can meet a cell that does not fit: it then holds what
    /// stands before it, unless the cell is one of those that would be null.
    pub(super) fn append(&mut self, chunk: &Chunk<'_>, encoding: &Encoding) -> Result<(), AppendError> {
        let cells = Cells::new(chunk, &self.field, encoding);
        let done = self.decoder.append(&cells, 0, &mut self.validity);
        // The decoding stops at its own misfit, so that one which is found here stands before it.
        if let Some((issue, why)) = self.strict_rule
            && let Some(record) = self.validity.issues.first_record(issue)
        {
            return Err(CellError::invalid(&cells, record, why).into());
        }
        let cell_error = match done {
            Err(AppendError::Cell(cell_error)) if !self.is_fixed => cell_error,
            done => return done,
        };
        let Some(wider) = self.decoder.widen(&mut self.validity)? else { return Err(cell_error.into()) };
        self.validity.add_issue(Code::IntegerWithDecimals, cell_error.record);
        self.decoder = wider;
        self.decoder.append(&cells, cell_error.row, &mut self.validity)
    }

    /// The Arrow type that its cells turned out to have.
    pub(super) fn data_type(&self) -> DataType {
        self.decoder.data_type()
    }

    /// What was found in its cells.
    pub(super) fn issues(&self) -> &IssueCounter {
        &self.validity.issues
    }

    /// What was decoded so far, as an array: the buffers move, nothing is copied. The column goes on empty, with room for
    /// as many cells unless this `is_last`, and its findings go on counting.
    pub(super) fn take(&mut self, is_last: bool) -> Result<ArrayRef, ArrowError> {
        let count = self.decoder.len();
        let nulls = self.validity.take_nulls(count);
        self.decoder.take(nulls, if is_last { 0 } else { count })
    }
}
