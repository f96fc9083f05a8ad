//! Records straight into Arrow columns by their shapes: the columns of a page are as long as it has records.

mod batch;
mod column;
mod schema;

use arrow_array::RecordBatch;

use self::column::broken;
use super::value::Value;
use crate::api::Shape;
use crate::error::Result;
pub use batch::{Batch, decode_batch};
pub use column::Columns;
pub use schema::{UNKNOWN_FIELDS, schema};

/// The records of that shape as one batch.
pub fn batch_of(shape: &'static Shape, records: &[Value]) -> Result<RecordBatch> {
    let mut columns = Columns::new(shape, records.len());
    for record in records {
        columns.push(record).map_err(|error| broken(shape, &error))?;
    }
    columns.into_batch()
}
