//! Columns of a .dbf, decoded chunk by chunk straight into Arrow buffers.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int32Array, Int64Array, LargeBinaryArray, LargeStringArray,
};
use arrow_buffer::{BooleanBufferBuilder, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};

use super::cells::{date, logical, text};
use super::findings::{Finding, Findings};
use super::number::{Cell, IntegerCell, float, integer};
use crate::archive::{Encoding, Field};

/// Some whole records of a .dbf, none of them deleted.
pub(super) struct Chunk<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) record_size: usize,
    /// The number of each record in the file, where some were deleted before or between them.
    pub(super) numbers: Option<&'a [u64]>,
    /// The number of the first one, where none were.
    pub(super) first: u64,
}

impl<'a> Chunk<'a> {
    /// The bytes of one field, record after record.
    fn cells(&self, field: &Field) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let (offset, width) = (field.offset, field.width);
        self.bytes
            .chunks_exact(self.record_size.max(1))
            .map(move |record| record.get(offset..offset + width).unwrap_or_default())
    }

    fn number(&self, row: usize) -> u64 {
        match self.numbers {
            Some(numbers) => numbers.get(row).copied().unwrap_or(self.first),
            None => self.first.saturating_add(row as u64),
        }
    }
}

/// One column while it is read.
pub(super) struct Column {
    pub(super) name: String,
    field: Field,
    values: Values,
    nulls: NullBufferBuilder,
    findings: Findings,
}

enum Values {
    /// Offsets of 64 bits: text of any size fits, and pandas takes them as they are.
    Text(Vec<i64>, Vec<u8>),
    Bytes(Vec<i64>, Vec<u8>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float(Vec<f64>),
    Date(Vec<i32>),
    Logical(BooleanBufferBuilder),
}

impl Column {
    /// An empty column for `field` with room for `rows`: the one place that decides on types.
    pub(super) fn new(name: String, field: Field, rows: usize) -> Self {
        let mut findings = Findings::default();
        let ends = || {
            let mut ends = Vec::with_capacity(rows.saturating_add(1));
            ends.push(0);
            ends
        };
        let values = match (field.kind, field.width, field.decimals) {
            (b'N', 0..=9, 0) => Values::Int32(Vec::with_capacity(rows)),
            (b'N', 10..=18, 0) => Values::Int64(Vec::with_capacity(rows)),
            (b'N' | b'F', _, _) => Values::Float(Vec::with_capacity(rows)),
            (b'D', _, _) => Values::Date(Vec::with_capacity(rows)),
            (b'L', _, _) => Values::Logical(BooleanBufferBuilder::new(rows)),
            (b'O' | b'B' | b'Y' | b'T' | b'@' | b'+' | b'I' | b'G' | b'P' | b'Q', _, _) => {
                findings.add(Finding::BinaryColumn, 0);
                Values::Bytes(ends(), Vec::new())
            }
            (b'M', _, _) => {
                findings.add(Finding::Memo, 0);
                Values::Text(ends(), Vec::new())
            }
            _ => Values::Text(ends(), Vec::new()),
        };
        Self { name, field, values, nulls: NullBufferBuilder::new(0), findings }
    }

    /// Decodes this column of a chunk: one loop for the whole type, none over types inside.
    pub(super) fn append(&mut self, chunk: &Chunk<'_>, encoding: &Encoding) {
        let field = self.field.clone();
        let cells = chunk.cells(&field);
        let (nulls, findings) = (&mut self.nulls, &mut self.findings);
        match &mut self.values {
            Values::Text(offsets, data) => {
                let mut before: Option<(&[u8], usize, bool)> = None;
                for (row, cell) in cells.enumerate() {
                    let start = data.len();
                    // Text often repeats from row to row, and then it is already decoded.
                    let is_value = match before {
                        Some((same, from, is_value)) if same == cell => {
                            data.extend_from_within(from..start);
                            is_value
                        }
                        _ => text(cell, encoding, data, |finding| findings.add(finding, chunk.number(row))),
                    };
                    before = Some((cell, start, is_value));
                    nulls.append(is_value);
                    offsets.push(i64::try_from(data.len()).unwrap_or(i64::MAX));
                }
            }
            Values::Bytes(offsets, data) => {
                for cell in cells {
                    data.extend_from_slice(cell);
                    nulls.append_non_null();
                    offsets.push(i64::try_from(data.len()).unwrap_or(i64::MAX));
                }
            }
            Values::Int32(_) | Values::Int64(_) => self.append_integers(chunk, 0),
            Values::Float(values) => {
                for (row, cell) in cells.enumerate() {
                    push(float(cell), values, nulls, || findings.add(Finding::BadNumber, chunk.number(row)));
                }
            }
            Values::Date(values) => {
                for (row, cell) in cells.enumerate() {
                    push(date(cell), values, nulls, || findings.add(Finding::BadDate, chunk.number(row)));
                }
            }
            Values::Logical(values) => {
                for (row, cell) in cells.enumerate() {
                    let found = logical(cell, |finding| findings.add(finding, chunk.number(row)));
                    values.append(found == Some(true));
                    nulls.append(found.is_some());
                }
            }
        }
    }

    /// Integers, from row `from` of the chunk; the first one with decimals turns the column into floats.
    fn append_integers(&mut self, chunk: &Chunk<'_>, from: usize) {
        let field = self.field.clone();
        let (nulls, findings) = (&mut self.nulls, &mut self.findings);
        let mut fraction = None;
        for (row, cell) in chunk.cells(&field).enumerate().skip(from) {
            let found = match integer(cell) {
                IntegerCell::Cell(found) => found,
                IntegerCell::Fraction(_) => {
                    fraction = Some(row);
                    break;
                }
            };
            let odd = || findings.add(Finding::BadNumber, chunk.number(row));
            match &mut self.values {
                Values::Int32(values) => {
                    let found = match found {
                        Cell::Value(value) => i32::try_from(value).map_or(Cell::Odd, Cell::Value),
                        Cell::Null => Cell::Null,
                        Cell::Odd => Cell::Odd,
                    };
                    push(found, values, nulls, odd);
                }
                Values::Int64(values) => push(found, values, nulls, odd),
                _ => {}
            }
        }
        let Some(row) = fraction else { return };
        self.findings.add(Finding::IntegerWithDecimals, chunk.number(row));
        #[expect(clippy::cast_precision_loss, reason = "reading the digits as a float would round in the same way")]
        let mut values: Vec<f64> = match &self.values {
            Values::Int32(values) => values.iter().map(|value| f64::from(*value)).collect(),
            Values::Int64(values) => values.iter().map(|value| *value as f64).collect(),
            _ => Vec::new(),
        };
        for (row, cell) in chunk.cells(&field).enumerate().skip(row) {
            let odd = || self.findings.add(Finding::BadNumber, chunk.number(row));
            push(float(cell), &mut values, &mut self.nulls, odd);
        }
        self.values = Values::Float(values);
    }

    /// The Arrow type that its cells turned out to have.
    pub(super) fn data_type(&self) -> DataType {
        match &self.values {
            Values::Text(..) => DataType::LargeUtf8,
            Values::Bytes(..) => DataType::LargeBinary,
            Values::Int32(_) => DataType::Int32,
            Values::Int64(_) => DataType::Int64,
            Values::Float(_) => DataType::Float64,
            Values::Date(_) => DataType::Date32,
            Values::Logical(_) => DataType::Boolean,
        }
    }

    /// What was found in its cells.
    pub(super) fn findings(&self) -> &Findings {
        &self.findings
    }

    /// The finished array; the buffers move, nothing is copied.
    pub(super) fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let nulls = self.nulls.finish();
        let offsets = |offsets: Vec<i64>| OffsetBuffer::new(ScalarBuffer::from(offsets));
        Ok(match self.values {
            Values::Text(ends, data) => Arc::new(LargeStringArray::try_new(offsets(ends), data.into(), nulls)?),
            Values::Bytes(ends, data) => Arc::new(LargeBinaryArray::try_new(offsets(ends), data.into(), nulls)?),
            Values::Int32(values) => Arc::new(Int32Array::try_new(values.into(), nulls)?),
            Values::Int64(values) => Arc::new(Int64Array::try_new(values.into(), nulls)?),
            Values::Float(values) => Arc::new(Float64Array::try_new(values.into(), nulls)?),
            Values::Date(values) => Arc::new(Date32Array::try_new(values.into(), nulls)?),
            Values::Logical(mut values) => Arc::new(BooleanArray::new(values.finish(), nulls)),
        })
    }
}

fn push<T: Default>(cell: Cell<T>, values: &mut Vec<T>, nulls: &mut NullBufferBuilder, odd: impl FnOnce()) {
    match cell {
        Cell::Value(value) => {
            values.push(value);
            nulls.append_non_null();
        }
        Cell::Null => {
            values.push(T::default());
            nulls.append_null();
        }
        Cell::Odd => {
            odd();
            values.push(T::default());
            nulls.append_null();
        }
    }
}
