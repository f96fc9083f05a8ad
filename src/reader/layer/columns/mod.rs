//! Decodes the columns of a .dbf into Arrow buffers, chunk by chunk.

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

/// The decoder of a field, chosen by type letter, width and decimals. To support another field type, add an arm here
/// and a `ColumnDecoder` in its own file.
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

/// A column type that the caller requests instead of the declared one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// 32-bit integers.
    Int32,
    /// 64-bit integers.
    Int64,
    /// 64-bit floats.
    Float64,
    /// Text.
    String,
    /// Days since 1970-01-01. Text may be in any form that shows its own order, such as `2026-09-01` or `9/13/2026`.
    Date,
    /// Booleans. In fields other than logicals, one of `T`, `Y`, `1`, `F`, `N` and `0`.
    Bool,
}

impl ColumnType {
    /// All types with their names.
    pub const ALL: [(&str, Self); 6] = [
        ("int32", Self::Int32),
        ("int64", Self::Int64),
        ("float64", Self::Float64),
        ("string", Self::String),
        ("date", Self::Date),
        ("bool", Self::Bool),
    ];

    /// Finds a type by name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, found)| *found)
    }

    /// The rules for a requested type that differs from the declared one: the issue of a cell that does not convert,
    /// and a clause for the error. None where such cells are null because the field has this type already.
    fn strict_rules(self, field: &Field) -> &'static [(Code, &'static str)] {
        match (self, field.kind) {
            (Self::Int32 | Self::Int64 | Self::Float64, b'N' | b'F')
            | (Self::Date, b'D')
            | (Self::Bool, b'L')
            | (Self::String, _) => &[],
            (Self::Int32 | Self::Int64 | Self::Float64, _) => &[(Code::BadNumber, "is not a number")],
            (Self::Date, _) => &[(Code::BadDate, "is not a date"), (Code::DateOrderUnknown, "can be two dates")],
            (Self::Bool, _) => &[(Code::BadLogical, "is not a truth value")],
        }
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

/// A column while it is decoded.
pub(super) struct Column {
    pub(super) name: String,
    field: Field,
    decoder: Box<dyn ColumnDecoder>,
    /// Whether the type is fixed before the first cell is read.
    is_fixed: bool,
    /// The issues that are errors instead of nulls, with their clauses.
    strict_rules: &'static [(Code, &'static str)],
    validity: Validity,
}

impl Column {
    /// Creates an empty column with capacity for `rows` values. Its type may widen with its cells.
    pub(super) fn new(name: String, field: Field, rows: usize) -> Self {
        let mut validity = Validity::new();
        let decoder = decoder_for(&field, rows, &mut validity.issues);
        Self { name, field, decoder, is_fixed: false, strict_rules: &[], validity }
    }

    /// Creates an empty column of a fixed type: `forced`, or the declared one. `rows` is the length of an array.
    pub(super) fn fixed(name: String, field: Field, rows: usize, forced: Option<ColumnType>) -> Self {
        let mut validity = Validity::new();
        let decoder = match forced {
            Some(forced) => forced.decoder(&field, rows),
            None => decoder_for(&field, rows, &mut validity.issues),
        };
        Self { name, field, decoder, is_fixed: true, strict_rules: &[], validity }
    }

    /// Makes cells that do not convert to the requested type an error.
    pub(super) fn with_strict_type(mut self, forced: ColumnType) -> Self {
        self.strict_rules = forced.strict_rules(&self.field);
        self
    }

    /// Decodes this field of a chunk.
    ///
    /// A fixed column returns an error at the first cell that does not fit and keeps the values before it. A free
    /// column of integers widens to floats instead.
    pub(super) fn append(&mut self, chunk: &Chunk<'_>, encoding: &Encoding) -> Result<(), AppendError> {
        let cells = Cells::new(chunk, &self.field, encoding);
        let done = self.decoder.append(&cells, 0, &mut self.validity);
        // Decoding stops at a cell error, so an issue found before that cell is reported first.
        for (issue, why) in self.strict_rules {
            if let Some(record) = self.validity.issues.first_record(*issue) {
                return Err(CellError::invalid(&cells, record, why).into());
            }
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

    /// The current Arrow type.
    pub(super) fn data_type(&self) -> DataType {
        self.decoder.data_type()
    }

    pub(super) fn issues(&self) -> &IssueCounter {
        &self.validity.issues
    }

    /// Returns the values so far as an array without copying. The column is then empty, with the same capacity unless
    /// `is_last`. Issue counts are kept.
    pub(super) fn take(&mut self, is_last: bool) -> Result<ArrayRef, ArrowError> {
        let count = self.decoder.len();
        let nulls = self.validity.take_nulls(count);
        self.decoder.take(nulls, if is_last { 0 } else { count })
    }
}
