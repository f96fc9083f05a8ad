//! Union schema of tables with different columns, and casts of columns to it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array as _, ArrayRef, ArrowPrimitiveType, Float64Array, PrimitiveArray};
use arrow_schema::{DataType, Field, Schema};

use super::footer::{GEOMETRY, crs};
use headland_base::error::{Error, Kind, Result};

/// Metadata key of geometries that are not in WGS 84: the text of their .prj.
const PRJ: &str = "headland.prj";
/// Metadata key of a column's unit.
pub(super) const UNIT: &str = "unit";
/// Separator between several units of a column.
pub(super) const UNIT_SEPARATOR: &str = " | ";
/// Identity of WGS 84.
pub(super) const WGS84: &str = "WGS 84";

/// Largest integer up to which `f64` represents all integers exactly.
const MAX_EXACT_INTEGER: i64 = 1 << 53;

/// Union of the columns of all tables in order of first occurrence, with the geometry last.
///
/// With `columns`, only those and the geometry. Integers become wider, or floats, if another table has them so. The
/// units of a column are joined in its metadata. The table names are used in errors.
pub fn union_schemas(tables: &[(String, Schema)], columns: Option<&[String]>) -> Result<Schema> {
    let mut names: Vec<&str> = Vec::new();
    let mut known: HashMap<&str, (Field, &str)> = HashMap::new();
    let mut order: Vec<&str> = Vec::new();
    for (table, schema) in tables {
        for field in schema.fields() {
            if !names.contains(&field.name().as_str()) {
                names.push(field.name());
            }
            if columns.is_some_and(|columns| field.name() != GEOMETRY && !columns.contains(field.name())) {
                continue;
            }
            let Some((found, first)) = known.get_mut(field.name().as_str()) else {
                known.insert(field.name(), ((**field).clone().with_nullable(true), table));
                order.push(field.name());
                continue;
            };
            let Some(wide) = wider_type(found.data_type(), field.data_type()) else {
                let (one, other) = (pyarrow_name(found.data_type()), pyarrow_name(field.data_type()));
                let message = format!(
                    "column `{}` is {one} in `{first}` and {other} in `{table}`: read them separately, or name only \
                     other columns in `columns`",
                    field.name()
                );
                return Err(Error::new(Kind::Value, message));
            };
            found.set_data_type(wide);
            add_unit(found, field);
        }
    }
    if let Some(name) = columns.into_iter().flatten().find(|name| !names.contains(&name.as_str())) {
        let message = format!("there is no column `{name}`; there are: {}", names.join(", "));
        return Err(Error::new(Kind::Value, message));
    }
    order.sort_by_key(|name| *name == GEOMETRY);
    Ok(Schema::new(order.iter().filter_map(|name| known.remove(name)).map(|(field, _)| field).collect::<Vec<_>>()))
}

/// Type that holds the values of both; `None` if there is none.
fn wider_type(one: &DataType, other: &DataType) -> Option<DataType> {
    let width = |kind: &DataType| kind.primitive_width().filter(|_| kind.is_signed_integer());
    let is_number = |kind: &DataType| kind.is_signed_integer() || kind.is_floating();
    let is_text = |kind: &DataType| matches!(kind, DataType::Utf8 | DataType::LargeUtf8);
    let is_binary = |kind: &DataType| matches!(kind, DataType::Binary | DataType::LargeBinary);
    match (one, other) {
        _ if one == other => Some(one.clone()),
        (_, DataType::Null) => Some(one.clone()),
        (DataType::Null, _) => Some(other.clone()),
        _ => match (width(one), width(other)) {
            (Some(width), Some(other_width)) => Some(if width < other_width { other } else { one }.clone()),
            _ if is_number(one) && is_number(other) => Some(DataType::Float64),
            _ if is_text(one) && is_text(other) => Some(DataType::LargeUtf8),
            _ if is_binary(one) && is_binary(other) => Some(DataType::LargeBinary),
            _ => None,
        },
    }
}

/// Type name in pyarrow, which users of data frames know.
fn pyarrow_name(kind: &DataType) -> String {
    match kind {
        DataType::Float64 => "double".to_owned(),
        DataType::Float32 => "float".to_owned(),
        DataType::Boolean => "bool".to_owned(),
        DataType::Utf8 => "string".to_owned(),
        DataType::LargeUtf8 => "large_string".to_owned(),
        DataType::LargeBinary => "large_binary".to_owned(),
        DataType::Date32 => "date32[day]".to_owned(),
        other => other.to_string().to_lowercase(),
    }
}

/// Collects the distinct units of a column.
fn add_unit(field: &mut Field, other: &Field) {
    let Some(unit) = other.metadata().get(UNIT).filter(|_| field.name() != GEOMETRY) else { return };
    let known = field.metadata().get(UNIT).map(String::as_str).unwrap_or_default();
    let mut units: Vec<&str> = known.split(UNIT_SEPARATOR).filter(|unit| !unit.is_empty()).collect();
    if !units.contains(&unit.as_str()) {
        units.push(unit);
    }
    let units = units.join(UNIT_SEPARATOR);
    field.metadata_mut().insert(UNIT.to_owned(), units);
}

/// Units of the columns that have one.
pub(super) fn column_units(schema: &Schema) -> Vec<(String, String)> {
    let unit = |field: &Arc<Field>| {
        let unit = field.metadata().get(UNIT).filter(|unit| !unit.is_empty())?;
        Some((field.name().clone(), unit.clone()))
    };
    schema.fields().iter().filter_map(unit).collect()
}

/// Identity of the coordinate system of the geometry column; `None` without geometries. The spellings of WGS 84 by
/// different programs map to one text.
#[must_use]
pub fn crs_identity(schema: &Schema) -> Option<String> {
    let field = schema.field_with_name(GEOMETRY).ok()?;
    let crs = crs(field).unwrap_or_default();
    let epsg = crs.get("id").filter(|id| **id == serde_json::json!({ "authority": "EPSG", "code": 4326 }));
    if epsg.is_some() || crs == "OGC:CRS84" {
        return Some(WGS84.to_owned());
    }
    let prj = field.metadata().get(PRJ).map(String::as_str).unwrap_or_default();
    Some(format!("{crs}{prj}"))
}

/// Casts a column of a file to its type in the union.
pub(super) fn cast_column(array: &ArrayRef, field: &Field, path: &Path) -> Result<ArrayRef> {
    let unfit = |why: &str| {
        let (name, kind, path) = (field.name(), pyarrow_name(field.data_type()), path.display());
        let message = format!("column `{name}` of `{path}` does not fit {kind}: {why}; read the other columns alone");
        Error::new(Kind::Value, message)
    };
    let floats = |array: Option<Float64Array>| {
        array.map(|array| Arc::new(array) as ArrayRef).ok_or_else(|| unfit("a whole number has more than 53 bits"))
    };
    match (array.data_type(), field.data_type()) {
        (found, wanted) if found == wanted => Ok(Arc::clone(array)),
        (DataType::Int32, DataType::Int64) => {
            let wide: PrimitiveArray<Int64Type> = array.as_primitive::<Int32Type>().unary(i64::from);
            Ok(Arc::new(wide))
        }
        (DataType::Int32, DataType::Float64) => floats(to_floats(array.as_primitive::<Int32Type>())),
        (DataType::Int64, DataType::Float64) => floats(to_floats(array.as_primitive::<Int64Type>())),
        (found, _) => Err(unfit(&format!("it is {}", pyarrow_name(found)))),
    }
}

/// Integers as floats; `None` if one is not exactly representable.
fn to_floats<T: ArrowPrimitiveType<Native: Into<i64>>>(array: &PrimitiveArray<T>) -> Option<Float64Array> {
    let is_exact = |value: T::Native| (-MAX_EXACT_INTEGER..=MAX_EXACT_INTEGER).contains(&value.into());
    #[expect(clippy::cast_precision_loss, reason = "every number is within the range of exact ones")]
    let floats = || array.unary::<_, Float64Type>(|value| value.into() as f64);
    array.iter().flatten().all(is_exact).then(floats)
}
