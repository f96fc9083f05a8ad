//! Writes the cells of a column as JSON.

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use chrono::{DateTime, NaiveDate};
use serde::Serialize;

use headland_base::hex::hex;
use headland_base::times::iso;

/// Days from 0001-01-01 to 1970-01-01, where day 1 is 0001-01-01.
const EPOCH: i32 = 719_163;

/// Writes the value of a row.
pub(super) fn write_cell(text: &mut Vec<u8>, array: &ArrayRef, row: usize) {
    if array.is_null(row) {
        return write_json(text, &());
    }
    match array.data_type() {
        DataType::LargeUtf8 => write_json(text, array.as_string::<i64>().value(row)),
        DataType::Int32 => write_json(text, &array.as_primitive::<Int32Type>().value(row)),
        DataType::Int64 => write_json(text, &array.as_primitive::<Int64Type>().value(row)),
        DataType::Float64 => write_json(text, &array.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => write_json(text, &array.as_boolean().value(row)),
        DataType::Date32 => {
            let days = array.as_primitive::<Date32Type>().value(row);
            let date = NaiveDate::from_num_days_from_ce_opt(days.saturating_add(EPOCH));
            write_json(text, &date.map(|date| date.to_string()));
        }
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            let micros = array.as_primitive::<TimestampMicrosecondType>().value(row);
            let end = if zone.is_some() { "Z" } else { "" };
            let formatted = DateTime::from_timestamp_micros(micros)
                .map(|time| format!("{}{end}", iso::write(&time).trim_end_matches('Z')));
            write_json(text, &formatted);
        }
        DataType::LargeBinary => write_json(text, &hex(array.as_binary::<i64>().value(row))),
        // Types that no reader of this module produces.
        _ => write_json(text, &()),
    }
}

/// Writes a value as JSON; a float that is not finite is null.
pub(super) fn write_json(text: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    // Writing these values to memory cannot fail.
    drop(serde_json::to_writer(text, value));
}
