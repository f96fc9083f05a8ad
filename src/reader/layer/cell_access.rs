//! Access to the cells of a column of any type that layers have: all in one array, numbers as floats, and bytes.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use arrow_select::concat::concat;

use super::Layer;

impl Layer {
    /// The cells of all batches at the index of a column; `None` without a batch or a column.
    #[must_use]
    pub fn all_cells(&self, index: usize) -> Option<ArrayRef> {
        let arrays: Vec<&dyn Array> =
            self.batches.iter().filter_map(|batch| Some(&**batch.columns().get(index)?)).collect();
        concat(&arrays).ok()
    }
}

/// The numbers of a column as floats, without a copy if they are; `None` for other types.
#[must_use]
pub fn floats(array: &dyn Array) -> Option<Float64Array> {
    #[expect(clippy::cast_precision_loss, reason = "measured integers are far below 2^53")]
    Some(match array.data_type() {
        DataType::Float64 => array.as_primitive::<Float64Type>().clone(),
        DataType::Int32 => array.as_primitive::<Int32Type>().unary(f64::from),
        DataType::Int64 => array.as_primitive::<Int64Type>().unary(|value| value as f64),
        _ => return None,
    })
}

/// The bytes of the cells of a column.
pub struct CellBytes(ArrayData);

impl CellBytes {
    /// Shares the memory of the column.
    #[must_use]
    pub fn new(array: &dyn Array) -> Self {
        Self(array.to_data())
    }

    /// A number in the order of its bytes in memory, a logical as 0 or 1, a text or bytes; `None` for null.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        let data = &self.0;
        if data.is_null(row) {
            return None;
        }
        match (data.buffers(), data.data_type().primitive_width()) {
            ([offsets, values], _) => {
                let offset = |row: usize| usize::try_from(*offsets.typed_data::<i64>().get(row)?).ok();
                values.get(offset(row)?..offset(row.checked_add(1)?)?)
            }
            ([numbers], Some(width)) => numbers.chunks_exact(width).nth(row),
            ([bits], None) => {
                let bit = data.offset().checked_add(row)?;
                Some(if bits.get(bit / 8)? >> (bit % 8) & 1 == 1 { &[1] } else { &[0] })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{BooleanArray, Int32Array, Int64Array, LargeStringArray};

    use super::*;

    #[test]
    fn bytes_are_those_of_each_cell_also_of_slices() {
        let flags: ArrayRef = Arc::new((0..20).map(|row| (row != 9).then_some(row % 3 == 0)).collect::<BooleanArray>());
        let numbers: ArrayRef = Arc::new((0..20).map(|row| (row != 9).then_some(row - 4)).collect::<Int32Array>());
        let texts = (0..20).map(|row| (row != 9).then(|| "x".repeat(row)));
        let texts: ArrayRef = Arc::new(texts.collect::<LargeStringArray>());
        for first in [0, 5, 9] {
            let [flags, numbers, texts] =
                [&flags, &numbers, &texts].map(|array| CellBytes::new(&array.slice(first, 11)));
            for row in 0..11 {
                let number = first + row;
                let is_valid = number != 9;
                assert_eq!(flags.get(row), is_valid.then_some(&[u8::from(number % 3 == 0)][..]));
                let bytes = (i32::try_from(number).unwrap() - 4).to_ne_bytes();
                assert_eq!(numbers.get(row), is_valid.then_some(&bytes[..]));
                assert_eq!(texts.get(row), is_valid.then_some("x".repeat(number).as_bytes()));
            }
        }
    }

    #[test]
    fn integers_are_floats_and_nulls_stay() {
        let integers = Int64Array::from(vec![Some(-7), None, Some(1 << 53)]);
        let expected = [Some(-7.0), None, Some(9_007_199_254_740_992.0)];
        assert_eq!(floats(&integers).unwrap().iter().collect::<Vec<_>>(), expected);
        assert!(floats(&BooleanArray::from(vec![true])).is_none());
    }
}
