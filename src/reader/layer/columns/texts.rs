//! Decodes columns of text, and of binary fields, which are kept as bytes.

use std::sync::Arc;

use arrow_array::{ArrayRef, LargeBinaryArray, LargeStringArray};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};

use super::cells::append_text;
use super::decoder::{AppendError, Cells, ColumnDecoder, Validity, grow};
use super::swar::{BLANKS, not_plain, word};
use crate::archive::{AllocError, try_reserve, with_capacity};

/// Variable-length values. Offsets have 64 bits, so that text of any size fits and pandas needs no copy.
struct Heap {
    ends: Vec<i64>,
    data: Vec<u8>,
    /// The expected number of values, from which the buffer size is estimated.
    expected: usize,
}

impl Heap {
    fn new(expected: usize) -> Self {
        let mut ends = with_capacity(expected.saturating_add(1));
        ends.push(0);
        Self { ends, data: Vec::new(), expected }
    }

    fn len(&self) -> usize {
        self.ends.len().saturating_sub(1)
    }

    /// Reserves memory for `count` cells of `width`. Once values are known, reserves for all expected ones at their
    /// mean length, so that the buffer need not grow again.
    fn reserve_cells(&mut self, count: usize, width: usize) -> Result<(), AllocError> {
        let needed = count.saturating_mul(width);
        if self.data.capacity() - self.data.len() >= needed {
            return Ok(());
        }
        let known = self.len();
        let left = self.expected.saturating_sub(known) as u128;
        let rest = match known {
            0 => 0,
            known => usize::try_from(self.data.len() as u128 * left / known as u128).unwrap_or(0),
        };
        let for_all = self.data.try_reserve_exact(needed.saturating_add(rest));
        for_all.or_else(|_| try_reserve(&mut self.data, needed))
    }

    #[inline]
    fn end_value(&mut self) {
        self.ends.push(i64::try_from(self.data.len()).unwrap_or(i64::MAX));
    }

    fn take_buffers(&mut self, capacity: usize) -> (OffsetBuffer<i64>, Vec<u8>) {
        let Self { ends, data, .. } = std::mem::replace(self, Self::new(capacity));
        (OffsetBuffer::new(ScalarBuffer::from(ends)), data)
    }
}

/// A column of text.
pub(super) struct Texts {
    heap: Heap,
    /// Whether leading blanks are dropped, as for numbers read as text.
    is_trimmed: bool,
}

impl Texts {
    pub(super) fn new(rows: usize) -> Self {
        Self { heap: Heap::new(rows), is_trimmed: false }
    }

    /// Text of a field that is declared as another type.
    pub(super) fn trimmed(rows: usize) -> Self {
        Self { heap: Heap::new(rows), is_trimmed: true }
    }
}

/// Bytes of one copy.
const BLOCK: usize = 32;

/// The most bytes of UTF-8 per byte of a recoded cell.
const RECODED: usize = 3;

/// The length without trailing blanks.
#[inline]
fn trimmed_length(cell: &[u8]) -> usize {
    let mut rest = cell;
    while let Some((front, eight)) = rest.split_last_chunk::<8>() {
        let unusual = u64::from_le_bytes(*eight) ^ BLANKS;
        if unusual != 0 {
            return rest.len() - (unusual.leading_zeros() / 8) as usize;
        }
        rest = front;
    }
    rest.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1)
}

/// Whether the first `length` bytes are ASCII without NUL. The bytes after them are blank.
#[inline]
fn is_plain(cell: &[u8], length: usize) -> bool {
    let mut unusual = 0;
    let mut offset = 0;
    while offset < length {
        match word(cell, offset) {
            Some(word) => unusual |= not_plain(word),
            None => {
                return unusual == 0
                    && cell.get(offset..length).is_some_and(|rest| rest.is_ascii() && !rest.contains(&0));
            }
        }
        offset += 8;
    }
    unusual == 0
}

/// Appends the first `length` bytes of a cell. Short cells are copied as a fixed-size block, which is faster than an
/// exact copy.
#[inline]
fn append_short(data: &mut Vec<u8>, cell: &[u8], length: usize) {
    match cell.first_chunk::<BLOCK>() {
        Some(block) if length <= BLOCK => {
            let end = data.len() + length;
            data.extend_from_slice(block);
            data.truncate(end);
        }
        _ => data.extend_from_slice(cell.get(..length).unwrap_or_default()),
    }
}

impl ColumnDecoder for Texts {
    fn append(&mut self, cells: &Cells<'_>, first_row: usize, validity: &mut Validity) -> Result<(), AppendError> {
        let count = cells.rows().saturating_sub(first_row);
        // A block may be longer than its text.
        let width = cells.width.max(BLOCK);
        self.heap.reserve_cells(count + RECODED, width)?;
        let Heap { ends, data, .. } = &mut self.heap;
        let first = ends.len() - 1;
        let ends = grow(ends, count)?;
        // The previous cell, and the length that was copied from it unchanged.
        let mut previous: (&[u8], usize) = (&[], 0);
        for (row, (end, cell)) in (first_row..).zip(ends.iter_mut().zip(cells.blocks(first_row, 0, cells.width))) {
            let cell = cell.unwrap_or_default();
            if previous.1 > 0 && previous.0 == cell {
                append_short(data, cell, previous.1);
            } else {
                let length = trimmed_length(cell);
                if length > 0 && cell.first() != Some(&b' ') && is_plain(cell, length) {
                    append_short(data, cell, length);
                    previous = (cell, length);
                } else {
                    let cell = if self.is_trimmed { cell.trim_ascii_start() } else { cell };
                    try_reserve(data, (count + first_row - row + RECODED) * width)?;
                    let record = cells.number(row);
                    if !append_text(cell, cells.encoding, data, |issue| validity.add_issue(issue, record)) {
                        validity.set_null(first + row - first_row);
                    }
                }
            }
            *end = i64::try_from(data.len()).unwrap_or(i64::MAX);
        }
        Ok(())
    }

    fn data_type(&self) -> DataType {
        DataType::LargeUtf8
    }

    fn len(&self) -> usize {
        self.heap.len()
    }

    fn take(&mut self, nulls: Option<NullBuffer>, capacity: usize) -> Result<ArrayRef, ArrowError> {
        let (offsets, data) = self.heap.take_buffers(capacity);
        Ok(Arc::new(LargeStringArray::try_new(offsets, data.into(), nulls)?))
    }
}

/// A column of undecoded cells.
pub(super) struct Raw {
    heap: Heap,
}

impl Raw {
    pub(super) fn new(rows: usize) -> Self {
        Self { heap: Heap::new(rows) }
    }
}

impl ColumnDecoder for Raw {
    fn append(&mut self, cells: &Cells<'_>, first_row: usize, _: &mut Validity) -> Result<(), AppendError> {
        self.heap.reserve_cells(cells.rows(), cells.width)?;
        try_reserve(&mut self.heap.ends, cells.rows())?;
        for row in first_row..cells.rows() {
            self.heap.data.extend_from_slice(cells.cell(row));
            self.heap.end_value();
        }
        Ok(())
    }

    fn data_type(&self) -> DataType {
        DataType::LargeBinary
    }

    fn len(&self) -> usize {
        self.heap.len()
    }

    fn take(&mut self, nulls: Option<NullBuffer>, capacity: usize) -> Result<ArrayRef, ArrowError> {
        let (offsets, data) = self.heap.take_buffers(capacity);
        Ok(Arc::new(LargeBinaryArray::try_new(offsets, data.into(), nulls)?))
    }
}
