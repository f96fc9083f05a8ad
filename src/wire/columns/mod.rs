//! Arrow columns of records by their shapes.

mod column;
mod schema;

use arrow_array::RecordBatch;

use self::column::table_error;
use super::value::Value;
pub use column::Columns;
use headland_api::Shape;
use headland_base::error::Result;
pub use schema::{UNKNOWN_FIELDS, schema};

/// Builds one batch of records of that shape.
pub fn to_batch(shape: &'static Shape, records: &[Value]) -> Result<RecordBatch> {
    let mut columns = Columns::new(shape, records.len());
    for record in records {
        columns.push(record).map_err(|error| table_error(shape, &error))?;
    }
    columns.into_batch()
}
