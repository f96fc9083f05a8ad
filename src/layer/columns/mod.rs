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
use self::decoder::{Cells, Kernel, Marks};
pub(super) use self::decoder::{Chunk, Misfit, Refusal};
use self::floats::Floats;
use self::integers::Integers;
use self::logicals::Logicals;
use self::texts::{Raw, Texts};
use crate::archive::{Code, Encoding, Field};
use crate::layer::issues::Findings;

/// How the cells of a field are read, by its letter, width and decimals: THE place to add a type of field, together
/// with a `Kernel` in a file of its own.
fn kernel(field: &Field, rows: usize, findings: &mut Findings) -> Box<dyn Kernel> {
    let (width, decimals) = (field.width, field.decimals);
    match (field.kind, width, decimals) {
        (b'N', 0..=9, 0) => Box::new(Integers::<Int32Type>::new(width, decimals, rows)),
        (b'N', 10..=18, 0) => Box::new(Integers::<Int64Type>::new(width, decimals, rows)),
        (b'N' | b'F', _, _) => Box::new(Floats::new(width, decimals, rows)),
        (b'D', _, _) => Box::new(Dates::new(rows)),
        (b'L', _, _) => Box::new(Logicals::new(rows)),
        (b'O' | b'B' | b'Y' | b'T' | b'@' | b'+' | b'I' | b'G' | b'P' | b'Q', _, _) => {
            findings.add(Code::BinaryColumn, 0);
            Box::new(Raw::new(rows))
        }
        (b'M', _, _) => {
            findings.add(Code::Memo, 0);
            Box::new(Texts::new(rows))
        }
        (kind, _, _) => {
            if kind != b'C' {
                findings.add(Code::UnknownType, 0);
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
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, found)| *found)
    }

    /// What the cells of a field that is declared as something else must be to have this type: the finding of one that is
    /// not, and a clause about it. Of fields of this kind, such cells are null.
    fn demand(self, field: &Field) -> Option<(Code, &'static str)> {
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

    fn kernel(self, field: &Field, rows: usize) -> Box<dyn Kernel> {
        let (width, decimals) = (field.width, field.decimals);
        match self {
            Self::Int32 => Box::new(Integers::<Int32Type>::new(width, decimals, rows)),
            Self::Int64 => Box::new(Integers::<Int64Type>::new(width, decimals, rows)),
            Self::Float64 => Box::new(Floats::new(width, decimals, rows)),
            Self::String if matches!(field.kind, b'C' | b'M') => Box::new(Texts::new(rows)),
            Self::String => Box::new(Texts::aligned(rows)),
            Self::Date if field.kind == b'D' => Box::new(Dates::new(rows)),
            Self::Date => Box::new(Dates::of_text(rows)),
            Self::Bool if field.kind == b'L' => Box::new(Logicals::new(rows)),
            Self::Bool => Box::new(Logicals::chosen(rows)),
        }
    }
}

/// One column while it is read.
pub(super) struct Column {
    pub(super) name: String,
    field: Field,
    kernel: Box<dyn Kernel>,
    /// Whether the type stands before the first cell is seen.
    is_fixed: bool,
    /// What is an error instead of a null.
    demand: Option<(Code, &'static str)>,
    marks: Marks,
}

impl Column {
    /// An empty column for `field` with room for `rows`; its type may change with its cells.
    pub(super) fn new(name: String, field: Field, rows: usize) -> Self {
        let mut marks = Marks::new();
        let kernel = kernel(&field, rows, &mut marks.findings);
        Self { name, field, kernel, is_fixed: false, demand: None, marks }
    }

    /// An empty column whose type is decided now: `forced`, or what its field says. `rows` is how many an array has.
    pub(super) fn fixed(name: String, field: Field, rows: usize, forced: Option<ColumnType>) -> Self {
        let mut marks = Marks::new();
        let kernel = match forced {
            Some(forced) => forced.kernel(&field, rows),
            None => kernel(&field, rows, &mut marks.findings),
        };
        Self { name, field, kernel, is_fixed: true, demand: None, marks }
    }

    /// The same column, which takes no cell that says something else than its forced type.
    pub(super) fn demanding(mut self, forced: ColumnType) -> Self {
        self.demand = forced.demand(&self.field);
        self
    }

    /// Decodes this column of a chunk. Only a fixed column can meet a cell that does not fit: it then holds what
    /// stands before it, unless the cell is one of those that would be null.
    pub(super) fn append(&mut self, chunk: &Chunk<'_>, encoding: &Encoding) -> Result<(), Refusal> {
        let cells = Cells::of(chunk, &self.field, encoding);
        let done = self.kernel.append(&cells, 0, &mut self.marks);
        // The decoding stops at its own misfit, so that one which is found here stands before it.
        if let Some((finding, why)) = self.demand
            && let Some(record) = self.marks.findings.first(finding)
        {
            return Err(Misfit::odd(&cells, record, why).into());
        }
        let misfit = match done {
            Err(Refusal::Misfit(misfit)) if !self.is_fixed => misfit,
            done => return done,
        };
        let Some(wider) = self.kernel.widened(&mut self.marks)? else { return Err(misfit.into()) };
        self.marks.note(Code::IntegerWithDecimals, misfit.record);
        self.kernel = wider;
        self.kernel.append(&cells, misfit.row, &mut self.marks)
    }

    /// The Arrow type that its cells turned out to have.
    pub(super) fn data_type(&self) -> DataType {
        self.kernel.data_type()
    }

    /// What was found in its cells.
    pub(super) fn findings(&self) -> &Findings {
        &self.marks.findings
    }

    /// What was decoded so far, as an array: the buffers move, nothing is copied. The column goes on empty, with room for
    /// as many cells unless this `is_last`, and its findings go on counting.
    pub(super) fn take(&mut self, is_last: bool) -> Result<ArrayRef, ArrowError> {
        let count = self.kernel.len();
        let nulls = self.marks.take_nulls(count);
        self.kernel.take(nulls, if is_last { 0 } else { count })
    }
}
