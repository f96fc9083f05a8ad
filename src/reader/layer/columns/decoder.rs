//! Trait of the column decoders, and the cells, errors and validity they share.

use arrow_array::ArrayRef;
use arrow_buffer::{NullBuffer, NullBufferBuilder};
use arrow_schema::{ArrowError, DataType};

use crate::archive::{AllocError, Encoding, Field, try_reserve, with_capacity};
use crate::layer::issues::{Issue, IssueCounter};

/// Whole records of a .dbf without the deleted ones.
pub(in crate::layer) struct Chunk<'a> {
    pub(in crate::layer) bytes: &'a [u8],
    pub(in crate::layer) record_size: usize,
    /// The number of each record in the file, if some were deleted before or between them.
    pub(in crate::layer) numbers: Option<&'a [u64]>,
    /// The number of the first record, if none were deleted.
    pub(in crate::layer) first: u64,
}

#[derive(Clone, Copy)]
pub(super) struct Cells<'a> {
    pub(super) chunk: &'a Chunk<'a>,
    pub(super) encoding: &'a Encoding,
    pub(super) offset: usize,
    pub(super) width: usize,
}

impl<'a> Cells<'a> {
    pub(super) fn new(chunk: &'a Chunk<'a>, field: &Field, encoding: &'a Encoding) -> Self {
        Self { chunk, encoding, offset: field.offset, width: field.width }
    }

    pub(super) fn rows(&self) -> usize {
        self.chunk.bytes.len() / self.chunk.record_size.max(1)
    }

    /// The bytes of a cell.
    #[inline]
    pub(super) fn cell(&self, row: usize) -> &'a [u8] {
        let start = row * self.chunk.record_size + self.offset;
        self.chunk.bytes.get(start..start + self.width).unwrap_or_default()
    }

    /// The cell up to its first NUL, and whether text follows the NUL. Other readers stop there too.
    #[inline]
    pub(super) fn text(&self, row: usize) -> (&'a [u8], bool) {
        up_to_nul(self.cell(row))
    }

    /// From row `first_row`, the `length` bytes that start `lead` bytes before each cell. A block may reach into the
    /// previous record; the first may be `None`.
    #[inline]
    pub(super) fn blocks(
        &self,
        first_row: usize,
        lead: usize,
        length: usize,
    ) -> impl Iterator<Item = Option<&'a [u8]>> {
        let (bytes, step) = (self.chunk.bytes, self.chunk.record_size);
        // A start that wraps around is beyond the last byte, so the slice is `None`.
        let mut next = (first_row * step + self.offset).wrapping_sub(lead);
        std::iter::repeat_with(move || {
            let start = next;
            next = next.wrapping_add(step);
            bytes.get(start..)?.get(..length)
        })
    }

    /// The number of the record in the file.
    pub(super) fn number(&self, row: usize) -> u64 {
        match self.chunk.numbers {
            Some(numbers) => numbers.get(row).copied().unwrap_or(self.chunk.first),
            None => self.chunk.first.saturating_add(row as u64),
        }
    }
}

/// The cell up to its first NUL, and whether anything but NULs and blanks follows.
#[inline]
pub(super) fn up_to_nul(cell: &[u8]) -> (&[u8], bool) {
    let Some(end) = cell.iter().position(|byte| *byte == 0) else { return (cell, false) };
    let (text, rest) = cell.split_at(end);
    (text, rest.iter().any(|byte| !matches!(byte, 0 | b' ')))
}

/// A cell that does not fit the column type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::layer) struct CellError {
    pub(in crate::layer) row: usize,
    /// The record number in the file.
    pub(in crate::layer) record: u64,
    /// The cell and the cause, as a clause.
    pub(in crate::layer) reason: String,
    /// Whether the text is invalid for the type. Such cells are null without `strict`.
    pub(in crate::layer) is_invalid: bool,
}

impl CellError {
    pub(super) fn new(cells: &Cells<'_>, row: usize, why: &str) -> Self {
        let cell = String::from_utf8_lossy(cells.cell(row).trim_ascii()).escape_debug().to_string();
        Self { row, record: cells.number(row), reason: format!("`{cell}` {why}"), is_invalid: false }
    }

    /// An error for a cell with invalid text, found by its record number.
    #[cold]
    pub(super) fn invalid(cells: &Cells<'_>, record: u64, why: &str) -> Self {
        let row = (0..cells.rows()).find(|row| cells.number(*row) == record);
        Self { is_invalid: true, ..Self::new(cells, row.unwrap_or_default(), why) }
    }
}

/// Reason why a column cannot append a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::layer) enum AppendError {
    Cell(CellError),
    OutOfMemory(AllocError),
}

impl From<CellError> for AppendError {
    fn from(cell_error: CellError) -> Self {
        Self::Cell(cell_error)
    }
}

impl From<AllocError> for AppendError {
    fn from(lack: AllocError) -> Self {
        Self::OutOfMemory(lack)
    }
}

/// Validity bitmap and issue counts of a column.
pub(super) struct Validity {
    nulls: NullBufferBuilder,
    pub(super) issues: IssueCounter,
}

impl Validity {
    pub(super) fn new() -> Self {
        Self { nulls: NullBufferBuilder::new(0), issues: IssueCounter::default() }
    }

    /// Marks the value at `position` as null. Values before it without a mark are valid.
    pub(super) fn set_null(&mut self, position: usize) {
        self.nulls.append_n_non_nulls(position.saturating_sub(self.nulls.len()));
        self.nulls.append_null();
    }

    pub(super) fn add_issue(&mut self, issue: impl Into<Issue>, record: u64) {
        self.issues.add(issue, record);
    }

    /// Returns the validity bitmap of all `count` values and resets it. Issue counts are kept.
    pub(super) fn take_nulls(&mut self, count: usize) -> Option<NullBuffer> {
        let mut nulls = std::mem::replace(&mut self.nulls, NullBufferBuilder::new(0));
        nulls.append_n_non_nulls(count.saturating_sub(nulls.len()));
        nulls.finish()
    }
}

/// Decodes the cells of one field type. Each implementation has its own file.
pub(super) trait ColumnDecoder: Send {
    /// Appends the cells from `first_row` in one loop without a branch per cell for what the type decides.
    ///
    /// Stops at a cell that does not fit and keeps the values before it. Memory for all cells is reserved first, or the
    /// call fails.
    fn append(&mut self, cells: &Cells<'_>, first_row: usize, validity: &mut Validity) -> Result<(), AppendError>;

    fn data_type(&self) -> DataType;

    fn len(&self) -> usize;

    /// Returns the values so far without copying and leaves capacity for `capacity` values.
    fn take(&mut self, nulls: Option<NullBuffer>, capacity: usize) -> Result<ArrayRef, ArrowError>;

    /// Converts the values to a wider type, for a column whose type follows its cells. Lost digits are counted as
    /// issues.
    fn widen(&mut self, _: &mut Validity) -> Result<Option<Box<dyn ColumnDecoder>>, AllocError> {
        Ok(None)
    }
}

/// Extends a column by `count` default values and returns them to be filled.
pub(super) fn grow<T: Copy + Default>(values: &mut Vec<T>, count: usize) -> Result<&mut [T], AllocError> {
    let start = values.len();
    try_reserve(values, count)?;
    values.resize(start + count, T::default());
    Ok(values.get_mut(start..).unwrap_or_default())
}

/// Returns the vector and leaves one with capacity for `capacity` values.
pub(super) fn take_values<T>(values: &mut Vec<T>, capacity: usize) -> Vec<T> {
    std::mem::replace(values, with_capacity(capacity))
}
