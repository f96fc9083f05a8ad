//! Decides from a sample whether dictionary encoding pays for a column.

use std::collections::HashSet;

use arrow_array::{Array as _, ArrayRef};
use arrow_schema::DataType::{Date32, Float64, Int32, Int64, LargeUtf8};

use crate::layer::CellBytes;

/// The sample size, enough to detect a few thousand distinct values.
const SAMPLE: usize = 2_048;

/// Whether at most three quarters of a sample are distinct.
pub(super) fn has_repeats(array: &ArrayRef) -> bool {
    if !matches!(array.data_type(), Date32 | Float64 | Int32 | Int64 | LargeUtf8) {
        return true;
    }
    let step = array.len().div_ceil(SAMPLE).max(1);
    let cells = CellBytes::new(array);
    let sample: Vec<&[u8]> = (0..array.len()).step_by(step).filter_map(|row| cells.get(row)).collect();
    let distinct = sample.iter().collect::<HashSet<_>>().len();
    distinct.saturating_mul(4) <= sample.len().saturating_mul(3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Float64Array, Int64Array, LargeStringArray};
    use std::sync::Arc;

    #[test]
    fn repeated_values_are_detected_in_every_type() {
        let rows = 0..100_000_i32;
        let floats = |each: &dyn Fn(i32) -> f64| -> ArrayRef {
            Arc::new(rows.clone().map(|row| Some(each(row))).collect::<Float64Array>())
        };
        assert!(has_repeats(&floats(&|row| f64::from(row % 1_000) / 10.0)));
        assert!(!has_repeats(&floats(&|row| f64::from(row).sqrt())));
        let texts: LargeStringArray = rows.clone().map(|row| Some(format!("2026-09-15T{row:08}"))).collect();
        assert!(!has_repeats(&(Arc::new(texts) as ArrayRef)));
        let ids: Int64Array = rows.clone().map(|row| (row % 2 == 0).then_some(i64::from(row))).collect();
        assert!(!has_repeats(&(Arc::new(ids) as ArrayRef)));
        let products: LargeStringArray = rows.map(|row| Some(if row < 500 { "Corn" } else { "Soy" })).collect();
        assert!(has_repeats(&(Arc::new(products) as ArrayRef)));
    }
}
