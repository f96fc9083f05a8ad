//! Records straight into Arrow columns by their shapes: the columns of a page are as long as it has records.

mod batch;
mod column;
mod schema;

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::ArrowError;
use serde_json::{Map, Value as Tree};

use self::column::Column;
use super::json_flat::Cell;
use super::time;
use super::value::{Name, Value};
use crate::api::{Field, Shape};
use crate::error::{Error, Kind as ErrorKind, Result};
pub use batch::{Batch, decode_batch};
pub use schema::{UNKNOWN_FIELDS, schema};

/// The time zone of every time.
const UTC: &str = "UTC";

/// The columns of records while they grow.
pub struct Columns {
    shape: &'static Shape,
    values: Vec<Column>,
    unknown: StringBuilder,
    rows: usize,
}

impl Columns {
    /// Columns for records of that shape, with room for `rows` of them.
    #[must_use]
    pub fn new(shape: &'static Shape, rows: usize) -> Self {
        let values = shape.fields.iter().map(|field| Column::new(field.kind, rows)).collect();
        Self { shape, values, unknown: StringBuilder::new(), rows: 0 }
    }

    /// Appends a record; what the shape does not name, or names with another type, goes into the last column.
    pub fn push(&mut self, record: &Value) -> std::result::Result<(), ArrowError> {
        let mut unknown = Map::new();
        let members: &[(Name, Value)] = match record {
            Value::Record(members) => members,
            _ => &[],
        };
        let mut position = 0_usize;
        for (name, value) in members {
            let is_named = |field: &&Field| field.snake == name;
            // Members mostly come in the order of the shape.
            let found = match self.shape.fields.get(position).filter(is_named) {
                Some(_) => Some(position),
                None => self.shape.fields.iter().position(|field| is_named(&field)),
            };
            let column = found.and_then(|at| self.values.get_mut(at)).filter(|column| column.len() == self.rows);
            let is_taken = match column {
                Some(column) => column.push(value)?,
                None => false,
            };
            if !is_taken {
                unknown.insert(name.to_string(), tree(value));
            }
            position = found.map_or(position, |at| at.saturating_add(1));
        }
        self.end(unknown)
    }

    /// Appends one cell of the record that has begun; false where the column has another type or has its cell already.
    pub(super) fn push_cell(&mut self, at: usize, cell: Cell<'_>) -> bool {
        let rows = self.rows;
        self.values.get_mut(at).filter(|column| column.len() == rows).is_some_and(|column| column.push_cell(cell))
    }

    /// Ends a record: fields that did not come are null.
    fn end(&mut self, unknown: Map<String, Tree>) -> std::result::Result<(), ArrowError> {
        let rows = self.rows;
        for column in self.values.iter_mut().filter(|column| column.len() == rows) {
            column.null()?;
        }
        if unknown.is_empty() {
            self.unknown.append_null();
        } else {
            self.unknown.append_value(Tree::Object(unknown).to_string());
        }
        self.rows = rows.saturating_add(1);
        Ok(())
    }

    fn finish(mut self) -> std::result::Result<Vec<ArrayRef>, ArrowError> {
        let mut arrays = self.values.into_iter().map(Column::finish).collect::<std::result::Result<Vec<_>, _>>()?;
        arrays.push(Arc::new(self.unknown.finish()));
        Ok(arrays)
    }

    /// The records as one batch.
    pub fn into_batch(self) -> Result<RecordBatch> {
        let (shape, rows) = (self.shape, self.rows);
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        self.finish()
            .and_then(|arrays| RecordBatch::try_new_with_options(schema(shape), arrays, &options))
            .map_err(|error| broken(shape, &error))
    }
}

/// The records of that shape as one batch.
pub fn batch_of(shape: &'static Shape, records: &[Value]) -> Result<RecordBatch> {
    let mut columns = Columns::new(shape, records.len());
    for record in records {
        columns.push(record).map_err(|error| broken(shape, &error))?;
    }
    columns.into_batch()
}

fn broken(shape: &Shape, cause: &ArrowError) -> Error {
    Error::new(ErrorKind::Decode, format!("the records of {} do not form a table: {cause}", shape.name))
}

/// A value as JSON, for the column of what the shape does not name.
fn tree(value: &Value) -> Tree {
    match value {
        Value::Null => Tree::Null,
        Value::Boolean(truth) => Tree::from(*truth),
        Value::Integer(number) => Tree::from(*number),
        Value::Decimal(number) => Tree::from(*number),
        Value::Text(text) => Tree::from(text.as_str()),
        Value::Time(at) => Tree::from(time::write(at)),
        Value::List(items) => items.iter().map(tree).collect(),
        Value::Record(members) => {
            Tree::Object(members.iter().map(|(name, value)| (name.to_string(), tree(value))).collect())
        }
        Value::Unknown(tree) => (**tree).clone(),
    }
}
