//! What decodes the cells of one type, a chunk at a time, and what the types share while they do.

use arrow_array::ArrayRef;
use arrow_buffer::{NullBuffer, NullBufferBuilder};
use arrow_schema::{ArrowError, DataType};

use crate::archive::{Encoding, Field, NoRoom, make_room, with_room};
use crate::layer::issues::{Issue, IssueCounter};

/// Some whole records of a .dbf, none of them deleted.
pub(in crate::layer) struct Chunk<'a> {
    pub(in crate::layer) bytes: &'a [u8],
    pub(in crate::layer) record_size: usize,
    /// The number of each record in the file, where some were deleted before or between them.
    pub(in crate::layer) numbers: Option<&'a [u64]>,
    /// The number of the first one, where none were.
    pub(in crate::layer) first: u64,
}

/// The cells of one field in a chunk.
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

    /// How many records there are.
    pub(super) fn rows(&self) -> usize {
        self.chunk.bytes.len() / self.chunk.record_size.max(1)
    }

    /// The cell of one record.
    #[inline]
    pub(super) fn cell(&self, row: usize) -> &'a [u8] {
        let start = row * self.chunk.record_size + self.offset;
        self.chunk.bytes.get(start..start + self.width).unwrap_or_default()
    }

    /// The cell of one record up to its first NUL, where readers stop, and whether they leave something out behind it.
    #[inline]
    pub(super) fn text(&self, row: usize) -> (&'a [u8], bool) {
        up_to_nul(self.cell(row))
    }

    /// From row `from` on, the `length` bytes that begin `before` each cell; they may lie in the record before it, and
    /// there may be none before the first.
    #[inline]
    pub(super) fn blocks(
        &self,
        first_row: usize,
        lead: usize,
        length: usize,
    ) -> impl Iterator<Item = Option<&'a [u8]>> {
        let (bytes, step) = (self.chunk.bytes, self.chunk.record_size);
        // A start that wraps around lies behind the last byte.
        let mut next = (first_row * step + self.offset).wrapping_sub(lead);
        std::iter::repeat_with(move || {
            let start = next;
            next = next.wrapping_add(step);
            bytes.get(start..)?.get(..length)
        })
    }

    /// The number of a record in the file.
    pub(super) fn number(&self, row: usize) -> u64 {
        match self.chunk.numbers {
            Some(numbers) => numbers.get(row).copied().unwrap_or(self.chunk.first),
            None => self.chunk.first.saturating_add(row as u64),
        }
    }
}

/// A cell up to its first NUL, and whether anything but NULs and blanks stands behind it.
#[inline]
pub(super) fn up_to_nul(cell: &[u8]) -> (&[u8], bool) {
    let Some(end) = cell.iter().position(|byte| *byte == 0) else { return (cell, false) };
    let (text, rest) = cell.split_at(end);
    (text, rest.iter().any(|byte| !matches!(byte, 0 | b' ')))
}

/// A cell that the type of its column cannot hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::layer) struct CellError {
    /// The row in the chunk.
    pub(in crate::layer) row: usize,
    /// The number of the record in the file.
    pub(in crate::layer) record: u64,
    /// What does not fit and why, as a clause.
    pub(in crate::layer) reason: String,
    /// Whether it is only here that such a cell is not null.
    pub(in crate::layer) is_invalid: bool,
}

impl CellError {
    pub(super) fn new(cells: &Cells<'_>, row: usize, why: &str) -> Self {
        let cell = String::from_utf8_lossy(cells.cell(row).trim_ascii()).escape_debug().to_string();
        Self { row, record: cells.number(row), reason: format!("`{cell}` {why}"), is_invalid: false }
    }

    /// The same for the cell of a record that would be null otherwise.
    #[cold]
    pub(super) fn invalid(cells: &Cells<'_>, record: u64, why: &str) -> Self {
        let row = (0..cells.rows()).find(|row| cells.number(*row) == record);
        Self { is_invalid: true, ..Self::new(cells, row.unwrap_or_default(), why) }
    }
}

/// Why a column takes no more cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::layer) enum AppendError {
    /// Its type cannot hold one.
    Cell(CellError),
    /// The system has no memory left for more.
    OutOfMemory(NoRoom),
}

impl From<CellError> for AppendError {
    fn from(cell_error: CellError) -> Self {
        Self::Cell(cell_error)
    }
}

impl From<NoRoom> for AppendError {
    fn from(lack: NoRoom) -> Self {
        Self::OutOfMemory(lack)
    }
}

/// What a column keeps beside its values: which are null, and what was found.
pub(super) struct Validity {
    nulls: NullBufferBuilder,
    pub(super) issues: IssueCounter,
}

impl Validity {
    pub(super) fn new() -> Self {
        Self { nulls: NullBufferBuilder::new(0), issues: IssueCounter::default() }
    }

    /// The value at `position` of the column is null; those before it that no word was said about are values.
    pub(super) fn set_null(&mut self, position: usize) {
        self.nulls.append_n_non_nulls(position.saturating_sub(self.nulls.len()));
        self.nulls.append_null();
    }

    pub(super) fn add_issue(&mut self, issue: impl Into<Issue>, record: u64) {
        self.issues.add(issue, record);
    }

    /// The nulls of the first `count` values, which are all there are; the findings stay.
    pub(super) fn take_nulls(&mut self, count: usize) -> Option<NullBuffer> {
        let mut nulls = std::mem::replace(&mut self.nulls, NullBufferBuilder::new(0));
        nulls.append_n_non_nulls(count.saturating_sub(nulls.len()));
        nulls.finish()
    }
}

/// The values of one column while it is read: one implementation a type, each in a file of its own.
pub(super) trait ColumnDecoder: Send {
    /// Adds the cells from row `from` on: one loop for the whole chunk, which asks no cell what the type answers.
    ///
    /// At a cell that the type cannot hold it stops, and holds what stands before it. Room is made for all of them at
    /// once, or refused.
    fn append(&mut self, cells: &Cells<'_>, first_row: usize, validity: &mut Validity) -> Result<(), AppendError>;

    /// The Arrow type.
    fn data_type(&self) -> DataType;

    /// How many values there are.
    fn len(&self) -> usize;

    /// The values so far, and room for as many as `capacity` in their place. The buffers move, nothing is copied.
    fn take(&mut self, nulls: Option<NullBuffer>, capacity: usize) -> Result<ArrayRef, ArrowError>;

    /// The same values in a type that holds more, for a column whose type follows its cells; what that makes of them is
    /// marked.
    fn widen(&mut self, _: &mut Validity) -> Result<Option<Box<dyn ColumnDecoder>>, NoRoom> {
        Ok(None)
    }
}

/// Makes room for `count` values at the end of a column, to be filled in.
pub(super) fn grow<T: Copy + Default>(values: &mut Vec<T>, count: usize) -> Result<&mut [T], NoRoom> {
    let start = values.len();
    make_room(values, count)?;
    values.resize(start + count, T::default());
    Ok(values.get_mut(start..).unwrap_or_default())
}

/// The vector; one with room for `capacity` values takes its place.
pub(super) fn take_values<T>(values: &mut Vec<T>, capacity: usize) -> Vec<T> {
    std::mem::replace(values, with_room(capacity))
}
