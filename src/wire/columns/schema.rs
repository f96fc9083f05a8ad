//! The Arrow schema of a shape: types, units, documentation, and one column for extra fields.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field as ArrowField, Fields, Schema, SchemaRef, TimeUnit};

use headland_api::{Field, Kind, Shape};

/// The time zone of every time.
pub(super) const UTC: &str = "UTC";

/// The last column: the extra fields of a record as the text of a JSON object with snake-case names, or null. One column
/// per extra field would make the schema depend on the page, and a stream declares its schema before the first page.
pub const UNKNOWN_FIELDS: &str = "unknown_fields";

const UNKNOWN_FIELDS_DOC: &str =
    "Fields that the service sent beyond those of the specification, as the text of a JSON object.";

/// The schema of records of that shape: a column per field, then [`UNKNOWN_FIELDS`]. `unit` and `documentation` are field
/// metadata.
#[must_use]
pub fn schema(shape: &Shape) -> SchemaRef {
    Arc::new(Schema::new(fields(shape)))
}

pub(super) fn fields(shape: &Shape) -> Fields {
    let unknown = ArrowField::new(UNKNOWN_FIELDS, DataType::Utf8, true)
        .with_metadata(HashMap::from([("documentation".to_owned(), UNKNOWN_FIELDS_DOC.to_owned())]));
    shape.fields.iter().map(field).chain([unknown]).collect()
}

/// The item field of a list of records.
pub(super) fn element(shape: &Shape) -> ArrowField {
    ArrowField::new("item", DataType::Struct(fields(shape)), true)
}

fn field(field: &Field) -> ArrowField {
    let kind = match field.kind {
        Kind::Id | Kind::Text => DataType::Utf8,
        Kind::Boolean => DataType::Boolean,
        Kind::Integer => DataType::Int64,
        Kind::Decimal => DataType::Float64,
        Kind::Time => DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into())),
        Kind::Integers => DataType::List(Arc::new(integer())),
        Kind::Record(shape) => DataType::Struct(fields(shape)),
        Kind::Records(shape, _) => DataType::List(Arc::new(element(shape))),
    };
    let unit = field.unit.map(|unit| ("unit".to_owned(), unit.to_owned()));
    let documentation = ("documentation".to_owned(), field.doc.to_owned());
    ArrowField::new(field.snake, kind, true).with_metadata([documentation].into_iter().chain(unit).collect())
}

/// The item field of a list of integers.
pub(super) fn integer() -> ArrowField {
    ArrowField::new("item", DataType::Int64, true)
}
