//! Decides from a sample whether dictionary encoding pays for a column.

use std::hash::{DefaultHasher, Hash, Hasher};

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

/// The sample size, enough to detect a few thousand distinct values.
const SAMPLE: usize = 2_048;

/// Whether at most three quarters of a sample are distinct.
pub(super) fn has_repeats(array: &ArrayRef) -> bool {
    let step = array.len().div_ceil(SAMPLE).max(1);
    let rows = (0..array.len()).step_by(step).filter(|row| array.is_valid(*row));
    let mut seen: Vec<u64> = match array.data_type() {
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>();
            rows.map(|row| values.value(row).to_bits()).collect()
        }
        DataType::Int32 => {
            let values = array.as_primitive::<Int32Type>();
            rows.map(|row| u64::from(values.value(row).cast_unsigned())).collect()
        }
        DataType::Date32 => {
            let values = array.as_primitive::<Date32Type>();
            rows.map(|row| u64::from(values.value(row).cast_unsigned())).collect()
        }
        DataType::Int64 => {
            let values = array.as_primitive::<Int64Type>();
            rows.map(|row| values.value(row).cast_unsigned()).collect()
        }
        DataType::LargeUtf8 => {
            let values = array.as_string::<i64>();
            rows.map(|row| hash(values.value(row))).collect()
        }
        _ => return true,
    };
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    seen.len().saturating_mul(4) <= count.saturating_mul(3)
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
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
