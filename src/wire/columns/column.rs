//! Builders of Arrow columns: one per field of a shape, nested for records inside records.

use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder, TimestampMicrosecondBuilder,
};
use arrow_array::{Array, ArrayRef, ListArray, RecordBatch, RecordBatchOptions, StructArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;
use serde_json::{Map, Value as Tree};

use super::schema::{UTC, element, fields, integer, schema};
use crate::value::{Name, Value};
use headland_api::{Field, Kind, Shape};
use headland_base::error::{Error, Kind as ErrorKind};

/// Builds the columns of records.
pub struct Columns {
    shape: &'static Shape,
    values: Vec<Column>,
    unknown: StringBuilder,
    rows: usize,
}

impl Columns {
    /// Creates columns for records of that shape with capacity for `rows`.
    #[must_use]
    pub fn new(shape: &'static Shape, rows: usize) -> Self {
        let values = shape.fields.iter().map(|field| Column::new(field.kind, rows)).collect();
        Self { shape, values, unknown: StringBuilder::new(), rows: 0 }
    }

    /// Appends a record. Fields that the shape does not have, or has with another type, are added to the last column.
    pub fn push(&mut self, record: &Value) -> Result<(), ArrowError> {
        let mut unknown = Map::new();
        let members: &[(Name, Value)] = match record {
            Value::Record(members) => members,
            _ => &[],
        };
        let mut position = 0_usize;
        for (name, value) in members {
            let is_named = |field: &&Field| field.snake == name;
            // Members mostly have the order of the shape.
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
                unknown.insert(name.to_string(), value.to_json());
            }
            position = found.map_or(position, |at| at.saturating_add(1));
        }
        self.end(unknown)
    }

    /// Ends a record. Missing fields become null.
    fn end(&mut self, unknown: Map<String, Tree>) -> Result<(), ArrowError> {
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

    fn finish(mut self) -> Result<Vec<ArrayRef>, ArrowError> {
        let mut arrays = self.values.into_iter().map(Column::finish).collect::<Result<Vec<_>, _>>()?;
        arrays.push(Arc::new(self.unknown.finish()));
        Ok(arrays)
    }

    /// Builds one batch of all records.
    pub fn into_batch(self) -> headland_base::error::Result<RecordBatch> {
        let (shape, rows) = (self.shape, self.rows);
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        self.finish()
            .and_then(|arrays| RecordBatch::try_new_with_options(schema(shape), arrays, &options))
            .map_err(|error| table_error(shape, &error))
    }
}

/// Builds the values of one field.
enum Column {
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
    fn new(kind: Kind, rows: usize) -> Self {
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

    fn len(&self) -> usize {
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

    fn null(&mut self) -> Result<(), ArrowError> {
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

    /// Appends a value. False: it is of another type, and nothing was appended.
    fn push(&mut self, value: &Value) -> Result<bool, ArrowError> {
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

    fn finish(self) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Self::Text(mut builder) => Arc::new(builder.finish()),
            Self::Boolean(mut builder) => Arc::new(builder.finish()),
            Self::Integer(mut builder) => Arc::new(builder.finish()),
            Self::Decimal(mut builder) => Arc::new(builder.finish()),
            Self::Time(mut builder) => Arc::new(builder.finish()),
            Self::Integers(mut builder) => Arc::new(builder.finish()),
            Self::Record { inner, mut valid } => Arc::new(struct_array(inner, &mut valid)?),
            Self::Records { inner, ends, mut valid } => {
                let field = Arc::new(element(inner.shape));
                let mut all = NullBufferBuilder::new(inner.rows);
                all.append_n_non_nulls(inner.rows);
                let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
                let items: ArrayRef = Arc::new(struct_array(inner, &mut all)?);
                Arc::new(ListArray::try_new(field, offsets, items, valid.finish())?)
            }
        })
    }
}

/// The end offset of a list among the records of all lists.
fn end(inner: &Columns) -> Result<i32, ArrowError> {
    i32::try_from(inner.rows).map_err(|_| ArrowError::OffsetOverflowError(inner.rows))
}

fn struct_array(inner: Columns, valid: &mut NullBufferBuilder) -> Result<StructArray, ArrowError> {
    let (shape, rows) = (inner.shape, inner.rows);
    let arrays = inner.finish()?;
    debug_assert!(arrays.iter().all(|array| array.len() == rows));
    StructArray::try_new(fields(shape), arrays, valid.finish())
}

pub(super) fn table_error(shape: &Shape, cause: &ArrowError) -> Error {
    Error::new(ErrorKind::Decode, format!("the records of {} do not form a table: {cause}", shape.name))
}
