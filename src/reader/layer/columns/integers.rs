//! Decodes columns of 32-bit and 64-bit integers.

use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type};
use arrow_array::{ArrayRef, PrimitiveArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType};

use super::decoder::{AppendError, CellError, Cells, ColumnDecoder, Validity, grow, take_values};
use super::fixed_point::Layout;
use super::floats::Floats;
use super::number::{Cell, IntegerCell, KEPT_DIGITS, has_exponent, has_many_digits, parse_integer};
use crate::archive::{AllocError, Code, try_reserve, try_reserve_exact, with_capacity};

/// An Arrow integer type.
pub(super) trait Integer: ArrowPrimitiveType + Send {
    /// Converts a value; `None` on overflow.
    fn from_i64(value: i64) -> Option<Self::Native>;
    /// The nearest float.
    fn to_f64(value: Self::Native) -> f64;
    /// Whether the value is beyond 2^53, where floats have gaps.
    fn is_large(value: Self::Native) -> bool;
    /// Whether the nearest float differs in a significant digit.
    fn loses_digits(value: Self::Native) -> bool;
}

impl Integer for Int32Type {
    fn from_i64(value: i64) -> Option<i32> {
        value.try_into().ok()
    }

    fn to_f64(value: i32) -> f64 {
        value.into()
    }

    fn is_large(_: i32) -> bool {
        false
    }

    fn loses_digits(_: i32) -> bool {
        false
    }
}

impl Integer for Int64Type {
    fn from_i64(value: i64) -> Option<i64> {
        Some(value)
    }

    #[expect(clippy::cast_precision_loss, reason = "reading the digits as a float would round in the same way")]
    fn to_f64(value: i64) -> f64 {
        value as f64
    }

    #[inline]
    fn is_large(value: i64) -> bool {
        value.unsigned_abs() > 1 << 53
    }

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the cast saturates near i64::MAX only, for which no integer column is wide enough"
    )]
    fn loses_digits(value: i64) -> bool {
        Self::is_large(value) && Self::to_f64(value) as i64 != value && has_many_digits(value.unsigned_abs())
    }
}

/// An integer column.
pub(super) struct Integers<T: Integer> {
    values: Vec<T::Native>,
    width: usize,
    layout: Option<Layout>,
    /// The number of values with more digits than a float, and the first of their records.
    long: Option<(u64, u64)>,
}

impl<T: Integer> Integers<T> {
    pub(super) fn new(width: usize, decimals: u8, rows: usize) -> Self {
        // A field that declares decimals needs the general parser, which accepts zeros as decimals.
        let layout = Layout::new(width, 0).filter(|_| decimals == 0);
        Self { values: with_capacity(rows), width, layout, long: None }
    }

    /// Counts the new values, from `start` and `first_row`, with more digits than a float. If the column widens later,
    /// their record numbers are no longer known.
    #[inline(never)]
    fn count_long(&mut self, cells: &Cells<'_>, first_row: usize, start: usize) {
        let values = self.values.get(start..).unwrap_or_default();
        // Most columns have no large number, so check a whole chunk first.
        if self.width <= KEPT_DIGITS || !values.iter().fold(false, |any, value| any | T::is_large(*value)) {
            return;
        }
        for (row, value) in (first_row..).zip(values) {
            if T::loses_digits(*value) {
                self.long.get_or_insert((0, cells.number(row))).0 += 1;
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn decode_all(&mut self, cells: &Cells<'_>, first_row: usize, validity: &mut Validity) -> Result<(), AppendError> {
        try_reserve(&mut self.values, cells.rows().saturating_sub(first_row))?;
        for row in first_row..cells.rows() {
            let value = decode_irregular::<T>(cells, row, self.values.len(), validity)?;
            self.values.push(value);
        }
        Ok(())
    }

    fn decode_fixed<const WHOLE: usize>(
        &mut self,
        layout: &Layout,
        cells: &Cells<'_>,
        first_row: usize,
        validity: &mut Validity,
    ) -> Result<(), AppendError> {
        let (layout, start) = (*layout, self.values.len());
        let values = grow(&mut self.values, cells.rows().saturating_sub(first_row))?;
        let blocks = cells.blocks(first_row, layout.lead, layout.length);
        let mut stopped = None;
        for (row, (value, block)) in (first_row..).zip(values.iter_mut().zip(blocks)) {
            let found =
                block.and_then(|block| layout.split_digits::<WHOLE, 0>(block)).and_then(|(whole, _, is_negative)| {
                    let found = i64::try_from(whole).ok()?;
                    T::from_i64(if is_negative { -found } else { found })
                });
            *value = match found {
                Some(found) => found,
                None => match decode_irregular::<T>(cells, row, start + row - first_row, validity) {
                    Ok(found) => found,
                    Err(cell_error) => {
                        stopped = Some(cell_error);
                        break;
                    }
                },
            };
        }
        stopped.map_or(Ok(()), |cell_error| {
            self.values.truncate(start + cell_error.row - first_row);
            Err(cell_error.into())
        })
    }
}

/// Decodes a cell that does not match the declared layout.
#[cold]
fn decode_irregular<T: Integer>(
    cells: &Cells<'_>,
    row: usize,
    position: usize,
    validity: &mut Validity,
) -> Result<T::Native, CellError> {
    let (cell, has_more) = cells.text(row);
    let found = match parse_integer(cell) {
        IntegerCell::Cell(Cell::Value(value)) => {
            let value = T::from_i64(value).ok_or_else(|| CellError::new(cells, row, "is out of range for its type"))?;
            if has_exponent(cell) {
                validity.add_issue(Code::IntegerWithExponent, cells.number(row));
            }
            Some(value)
        }
        IntegerCell::Fraction(_) => {
            return Err(CellError::new(cells, row, "is not a whole number in the range of its type"));
        }
        IntegerCell::Cell(Cell::Null) => None,
        IntegerCell::Cell(Cell::Invalid) => {
            validity.add_issue(Code::BadNumber, cells.number(row));
            None
        }
    };
    if has_more {
        validity.add_issue(Code::AfterNul, cells.number(row));
    }
    if found.is_none() {
        validity.set_null(position);
    }
    Ok(found.unwrap_or_default())
}

impl<T: Integer> ColumnDecoder for Integers<T> {
    fn append(&mut self, cells: &Cells<'_>, first_row: usize, validity: &mut Validity) -> Result<(), AppendError> {
        let start = self.values.len();
        let done = match self.layout {
            None => self.decode_all(cells, first_row, validity),
            Some(layout) if layout.whole_words == 1 => self.decode_fixed::<1>(&layout, cells, first_row, validity),
            Some(layout) if layout.whole_words == 2 => self.decode_fixed::<2>(&layout, cells, first_row, validity),
            Some(layout) => self.decode_fixed::<3>(&layout, cells, first_row, validity),
        };
        self.count_long(cells, first_row, start);
        done
    }

    fn data_type(&self) -> DataType {
        T::DATA_TYPE
    }

    fn len(&self) -> usize {
        self.values.len()
    }

    fn take(&mut self, nulls: Option<NullBuffer>, capacity: usize) -> Result<ArrayRef, ArrowError> {
        Ok(Arc::new(PrimitiveArray::<T>::try_new(take_values(&mut self.values, capacity).into(), nulls)?))
    }

    fn widen(&mut self, validity: &mut Validity) -> Result<Option<Box<dyn ColumnDecoder>>, AllocError> {
        validity.issues.remove(Code::IntegerWithExponent);
        if let Some((count, first)) = self.long.take() {
            validity.issues.add_many(Code::DigitsLost, first, count);
        }
        let mut values = with_capacity(self.values.capacity());
        try_reserve_exact(&mut values, self.values.len())?;
        values.extend(self.values.iter().map(|value| T::to_f64(*value)));
        Ok(Some(Box::new(Floats::from_values(values, self.width))))
    }
}
