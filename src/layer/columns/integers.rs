//! Columns of whole numbers, of 32 or 64 bits.

use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type};
use arrow_array::{ArrayRef, PrimitiveArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType};

use super::decoder::{Cells, Kernel, Marks, Misfit, Refusal, grown, taken};
use super::fixed_point::Layout;
use super::floats::Floats;
use super::number::{Cell, IntegerCell, KEPT_DIGITS, has_exponent, has_many_digits, integer};
use crate::archive::{Code, NoRoom, make_exact_room, make_room, with_room};

/// A type of whole numbers.
pub(super) trait Whole: ArrowPrimitiveType + Send {
    /// The value of this type; `None` where it does not fit.
    fn fitted(value: i64) -> Option<Self::Native>;
    /// The float nearest to it.
    fn float(value: Self::Native) -> f64;
    /// Whether it is beyond those that floats hold without a gap.
    fn is_large(value: Self::Native) -> bool;
    /// Whether that float has lost digits.
    fn loses_digits(value: Self::Native) -> bool;
}

impl Whole for Int32Type {
    fn fitted(value: i64) -> Option<i32> {
        value.try_into().ok()
    }

    fn float(value: i32) -> f64 {
        value.into()
    }

    fn is_large(_: i32) -> bool {
        false
    }

    fn loses_digits(_: i32) -> bool {
        false
    }
}

impl Whole for Int64Type {
    fn fitted(value: i64) -> Option<i64> {
        Some(value)
    }

    #[expect(clippy::cast_precision_loss, reason = "reading the digits as a float would round in the same way")]
    fn float(value: i64) -> f64 {
        value as f64
    }

    #[inline]
    fn is_large(value: i64) -> bool {
        value.unsigned_abs() > 1 << 53
    }

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "only the last of all, for which no integer column has room, is taken for a float by that"
    )]
    fn loses_digits(value: i64) -> bool {
        Self::is_large(value) && Self::float(value) as i64 != value && has_many_digits(value.unsigned_abs())
    }
}

/// The whole numbers of a column.
pub(super) struct Integers<T: Whole> {
    values: Vec<T::Native>,
    width: usize,
    layout: Option<Layout>,
    /// How many values have more digits than a float, and the record of the first.
    long: Option<(u64, u64)>,
}

impl<T: Whole> Integers<T> {
    pub(super) fn new(width: usize, decimals: u8, rows: usize) -> Self {
        // Decimals are for the general parser: as long as they are zeros, it takes them.
        let layout = Layout::of(width, 0).filter(|_| decimals == 0);
        Self { values: with_room(rows), width, layout, long: None }
    }

    /// Counts the values from `start` on, which are of the rows from `from` on, that have more digits than a float: when a
    /// later cell makes floats of them, nobody knows any more of which records they were.
    #[inline(never)]
    fn count_long(&mut self, cells: &Cells<'_>, from: usize, start: usize) {
        let values = self.values.get(start..).unwrap_or_default();
        // Most columns have no large number, which is found out for many values at a time.
        if self.width <= KEPT_DIGITS || !values.iter().fold(false, |any, value| any | T::is_large(*value)) {
            return;
        }
        for (row, value) in (from..).zip(values) {
            if T::loses_digits(*value) {
                self.long.get_or_insert((0, cells.number(row))).0 += 1;
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn general(&mut self, cells: &Cells<'_>, from: usize, marks: &mut Marks) -> Result<(), Refusal> {
        make_room(&mut self.values, cells.rows().saturating_sub(from))?;
        for row in from..cells.rows() {
            let value = irregular::<T>(cells, row, self.values.len(), marks)?;
            self.values.push(value);
        }
        Ok(())
    }

    fn regular<const WHOLE: usize>(
        &mut self,
        layout: &Layout,
        cells: &Cells<'_>,
        from: usize,
        marks: &mut Marks,
    ) -> Result<(), Refusal> {
        let (layout, start) = (*layout, self.values.len());
        let values = grown(&mut self.values, cells.rows().saturating_sub(from))?;
        let blocks = cells.blocks(from, layout.before, layout.length);
        let mut stopped = None;
        for (row, (value, block)) in (from..).zip(values.iter_mut().zip(blocks)) {
            let found = block.and_then(|block| layout.parts::<WHOLE, 0>(block)).and_then(|(whole, _, is_negative)| {
                let found = i64::try_from(whole).ok()?;
                T::fitted(if is_negative { -found } else { found })
            });
            *value = match found {
                Some(found) => found,
                None => match irregular::<T>(cells, row, start + row - from, marks) {
                    Ok(found) => found,
                    Err(misfit) => {
                        stopped = Some(misfit);
                        break;
                    }
                },
            };
        }
        stopped.map_or(Ok(()), |misfit| {
            self.values.truncate(start + misfit.row - from);
            Err(misfit.into())
        })
    }
}

/// A cell that is not written as its column is declared.
#[cold]
fn irregular<T: Whole>(cells: &Cells<'_>, row: usize, position: usize, marks: &mut Marks) -> Result<T::Native, Misfit> {
    let (cell, has_more) = cells.text(row);
    let found = match integer(cell) {
        IntegerCell::Cell(Cell::Value(value)) => {
            let fitted = T::fitted(value).ok_or_else(|| Misfit::new(cells, row, "does not fit into its type"))?;
            if has_exponent(cell) {
                marks.note(Code::IntegerWithExponent, cells.number(row));
            }
            Some(fitted)
        }
        IntegerCell::Fraction(_) => return Err(Misfit::new(cells, row, "is no whole number within its type")),
        IntegerCell::Cell(Cell::Null) => None,
        IntegerCell::Cell(Cell::Odd) => {
            marks.note(Code::BadNumber, cells.number(row));
            None
        }
    };
    if has_more {
        marks.note(Code::AfterNul, cells.number(row));
    }
    if found.is_none() {
        marks.null(position);
    }
    Ok(found.unwrap_or_default())
}

impl<T: Whole> Kernel for Integers<T> {
    fn append(&mut self, cells: &Cells<'_>, from: usize, marks: &mut Marks) -> Result<(), Refusal> {
        let start = self.values.len();
        let done = match self.layout {
            None => self.general(cells, from, marks),
            Some(layout) if layout.whole_words == 1 => self.regular::<1>(&layout, cells, from, marks),
            Some(layout) if layout.whole_words == 2 => self.regular::<2>(&layout, cells, from, marks),
            Some(layout) => self.regular::<3>(&layout, cells, from, marks),
        };
        self.count_long(cells, from, start);
        done
    }

    fn data_type(&self) -> DataType {
        T::DATA_TYPE
    }

    fn len(&self) -> usize {
        self.values.len()
    }

    fn take(&mut self, nulls: Option<NullBuffer>, room: usize) -> Result<ArrayRef, ArrowError> {
        Ok(Arc::new(PrimitiveArray::<T>::try_new(taken(&mut self.values, room).into(), nulls)?))
    }

    fn widened(&mut self, marks: &mut Marks) -> Result<Option<Box<dyn Kernel>>, NoRoom> {
        marks.findings.forget(Code::IntegerWithExponent);
        if let Some((count, first)) = self.long.take() {
            marks.findings.add_many(Code::DigitsLost, first, count);
        }
        let mut values = with_room(self.values.capacity());
        make_exact_room(&mut values, self.values.len())?;
        values.extend(self.values.iter().map(|value| T::float(*value)));
        Ok(Some(Box::new(Floats::after(values, self.width))))
    }
}
