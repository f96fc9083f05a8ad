//! One column while it grows: a builder for each type of field.

use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder, TimestampMicrosecondBuilder,
};
use arrow_array::{Array, ArrayRef, ListArray, StructArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;

use super::schema::{element, fields, integer};
use super::{Columns, UTC};
use crate::api::Kind;
use crate::wire::json_flat::Cell;
use crate::wire::value::Value;

/// The values of one field so far.
pub(super) enum Column {
    Text(StringBuilder),
    Boolean(BooleanBuilder),
    Integer(Int64Builder),
    Decimal(Float64Builder),
    Time(TimestampMicrosecondBuilder),
    Integers(ListBuilder<Int64Builder>),
    Record { inner: Columns, valid: NullBufferBuilder },
    Records { inner: Columns, ends: Vec<i32>, valid: NullBufferBuilder },
}

impl Column {
    pub(super) fn new(kind: Kind, rows: usize) -> Self {
        match kind {
            Kind::Id | Kind::Text => Self::Text(StringBuilder::with_capacity(rows, rows.saturating_mul(8))),
            Kind::Boolean => Self::Boolean(BooleanBuilder::with_capacity(rows)),
            Kind::Integer => Self::Integer(Int64Builder::with_capacity(rows)),
            Kind::Decimal => Self::Decimal(Float64Builder::with_capacity(rows)),
            Kind::Time => Self::Time(TimestampMicrosecondBuilder::with_capacity(rows).with_timezone(UTC)),
            Kind::Integers => Self::Integers(ListBuilder::new(Int64Builder::new()).with_field(integer())),
            Kind::Record(shape) => {
                Self::Record { inner: Columns::new(shape, rows), valid: NullBufferBuilder::new(rows) }
            }
            Kind::Records(shape, _) => {
                Self::Records { inner: Columns::new(shape, 0), ends: vec![0], valid: NullBufferBuilder::new(rows) }
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        use arrow_array::builder::ArrayBuilder;
        match self {
            Self::Text(builder) => builder.len(),
            Self::Boolean(builder) => builder.len(),
            Self::Integer(builder) => builder.len(),
            Self::Decimal(builder) => builder.len(),
            Self::Time(builder) => builder.len(),
            Self::Integers(builder) => builder.len(),
            Self::Record { valid, .. } | Self::Records { valid, .. } => valid.len(),
        }
    }

    pub(super) fn null(&mut self) -> Result<(), ArrowError> {
        match self {
            Self::Text(builder) => builder.append_null(),
            Self::Boolean(builder) => builder.append_null(),
            Self::Integer(builder) => builder.append_null(),
            Self::Decimal(builder) => builder.append_null(),
            Self::Time(builder) => builder.append_null(),
            Self::Integers(builder) => builder.append_null(),
            Self::Record { inner, valid } => {
                inner.push(&Value::Null)?;
                valid.append_null();
            }
            Self::Records { inner, ends, valid } => {
                ends.push(end(inner)?);
                valid.append_null();
            }
        }
        Ok(())
    }

    /// Appends a value that is of this column's type; false where it is not, and then nothing is appended.
    pub(super) fn push(&mut self, value: &Value) -> Result<bool, ArrowError> {
        match (self, value) {
            (Self::Text(builder), Value::Text(text)) => builder.append_value(text),
            (Self::Boolean(builder), Value::Boolean(truth)) => builder.append_value(*truth),
            (Self::Integer(builder), Value::Integer(number)) => builder.append_value(*number),
            (Self::Decimal(builder), Value::Decimal(number)) => builder.append_value(*number),
            (Self::Time(builder), Value::Time(time)) => builder.append_value(time.timestamp_micros()),
            (Self::Integers(builder), Value::List(items)) => {
                let numbers = items.iter().map(|item| match item {
                    Value::Integer(number) => Some(*number),
                    _ => None,
                });
                builder.append_value(numbers);
            }
            (Self::Record { inner, valid }, record @ Value::Record(_)) => {
                inner.push(record)?;
                valid.append_non_null();
            }
            (Self::Records { inner, ends, valid }, Value::List(items)) => {
                for item in items {
                    inner.push(item)?;
                }
                ends.push(end(inner)?);
                valid.append_non_null();
            }
            (column, Value::Null) => column.null()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Appends a cell that is of this column's type; false where it is not, and then nothing is appended.
    pub(super) fn push_cell(&mut self, cell: Cell<'_>) -> bool {
        match (self, cell) {
            (Self::Text(builder), Cell::Text(text)) => builder.append_value(text),
            (Self::Boolean(builder), Cell::Boolean(truth)) => builder.append_value(truth),
            (Self::Integer(builder), Cell::Integer(number)) => builder.append_value(number),
            (Self::Decimal(builder), Cell::Decimal(number)) => builder.append_value(number),
            (Self::Time(builder), Cell::Time(_, time)) => builder.append_value(time.timestamp_micros()),
            // The end of the record makes it null.
            (_, Cell::Null) => {}
            _ => return false,
        }
        true
    }

    pub(super) fn finish(self) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Self::Text(mut builder) => Arc::new(builder.finish()),
            Self::Boolean(mut builder) => Arc::new(builder.finish()),
            Self::Integer(mut builder) => Arc::new(builder.finish()),
            Self::Decimal(mut builder) => Arc::new(builder.finish()),
            Self::Time(mut builder) => Arc::new(builder.finish()),
            Self::Integers(mut builder) => Arc::new(builder.finish()),
            Self::Record { inner, mut valid } => Arc::new(records(inner, &mut valid)?),
            Self::Records { inner, ends, mut valid } => {
                let field = Arc::new(element(inner.shape));
                let mut all = NullBufferBuilder::new(inner.rows);
                all.append_n_non_nulls(inner.rows);
                let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
                let items: ArrayRef = Arc::new(records(inner, &mut all)?);
                Arc::new(ListArray::try_new(field, offsets, items, valid.finish())?)
            }
        })
    }
}

/// Where the records of a list end among those of all lists.
fn end(inner: &Columns) -> Result<i32, ArrowError> {
    i32::try_from(inner.rows).map_err(|_| ArrowError::OffsetOverflowError(inner.rows))
}

fn records(inner: Columns, valid: &mut NullBufferBuilder) -> Result<StructArray, ArrowError> {
    let (shape, rows) = (inner.shape, inner.rows);
    let arrays = inner.finish()?;
    debug_assert!(arrays.iter().all(|array| array.len() == rows));
    StructArray::try_new(fields(shape), arrays, valid.finish())
}
