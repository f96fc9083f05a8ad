//! Tests lists as Arrow columns (design, section 2): equal to the records for every shape, in both content types.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test says what it expects by unwrapping")]

#[path = "series/mod.rs"]
mod series;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use chrono::{DateTime, Utc};
use headland::api::locations::{DEVICE_LOCATION, LOCATIONS};
use headland::api::{self, Index, Kind, Returns, Shape};
use headland::wire::columns::{UNKNOWN_FIELDS, schema, to_batch};
use headland::wire::{Content, Element, Name, Value, decode_index, encode_json};
use proptest::prelude::*;
use series::cases;

/// Every kind of list, once for each shape.
fn lists() -> Vec<&'static Index> {
    let mut found: Vec<&'static Index> = Vec::new();
    for row in api::rows() {
        if let Returns::Index(index) | Returns::OneOf(index) = row.returns
            && !found.iter().any(|known| std::ptr::eq(known.item, index.item))
        {
            found.push(index);
        }
    }
    assert!(found.len() >= 6);
    found
}

/// Any record of a shape, as a service may send it; always with its own id.
fn record(shape: &'static Shape, id: usize) -> BoxedStrategy<Value> {
    let fields: Vec<BoxedStrategy<Option<(Name, Value)>>> = shape
        .fields
        .iter()
        .filter(|field| field.derived.is_none())
        .map(|field| {
            let value = match field.kind {
                Kind::Id if field.snake == "id" => {
                    let value = (Name::Borrowed("id"), Value::Text(id.to_string()));
                    return Just(Some(value)).boxed();
                }
                Kind::Id => "[a-z0-9]{1,9}".prop_map(Value::Text).boxed(),
                Kind::Text => "[ -~äß→]{0,12}x".prop_map(Value::Text).boxed(),
                Kind::Boolean => any::<bool>().prop_map(Value::Boolean).boxed(),
                Kind::Integer => any::<i64>().prop_map(Value::Integer).boxed(),
                Kind::Decimal => {
                    prop_oneof![-1e12_f64..1e12, -180.0_f64..180.0, Just(4.0)].prop_map(Value::Decimal).boxed()
                }
                Kind::Time => (-60_000_000_000_000_i64..4_000_000_000_000)
                    .prop_map(|millis| Value::Time(DateTime::<Utc>::from_timestamp_millis(millis).unwrap()))
                    .boxed(),
                Kind::Record(inner) => record(inner, id),
                Kind::Records(inner, _) => prop::collection::vec(record(inner, id), 0..3).prop_map(Value::List).boxed(),
                Kind::Integers => panic!("`{}` is not sent", field.snake),
            };
            let value = prop_oneof![9 => value, 1 => Just(Value::Null)];
            prop::option::weighted(0.9, value.prop_map(|value| (Name::Borrowed(field.snake), value))).boxed()
        })
        .collect();
    fields.prop_map(|fields| Value::Record(fields.into_iter().flatten().collect())).boxed()
}

fn records() -> impl Strategy<Value = (&'static Index, Vec<Value>)> {
    prop::sample::select(lists()).prop_flat_map(|index| {
        let records =
            (0..6_usize).prop_flat_map(move |count| (0..count).map(|id| record(index.item, id)).collect::<Vec<_>>());
        (Just(index), records)
    })
}

fn json(index: &Index, records: &[Value]) -> String {
    let records: Vec<String> = records.iter().map(|record| encode_json(index.item, record).to_string()).collect();
    let (kind, count) = (index.kind, records.len());
    format!(
        r#"{{"TotalCount":{count},"PageSize":20,"IsNextPage":true,"PageIndex":0,"TotalPages":2,"{kind}":[{}]}}"#,
        records.join(",")
    )
}

fn xml(index: &Index, records: &[Value]) -> String {
    let mut children =
        vec![Element::text("TotalCount", records.len().to_string()), Element::text("IsNextPage", "true")];
    children.extend(records.iter().map(|record| Element::from_record(index.kind, index.item, record)));
    Element::new("ServiceIndex", children).document("")
}

/// The value of a cell.
fn cell(array: &dyn Array, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    match array.data_type() {
        DataType::Utf8 => Value::Text(array.as_string::<i32>().value(row).to_owned()),
        DataType::Boolean => Value::Boolean(array.as_boolean().value(row)),
        DataType::Int64 => Value::Integer(array.as_primitive::<Int64Type>().value(row)),
        DataType::Float64 => Value::Decimal(array.as_primitive::<Float64Type>().value(row)),
        DataType::Timestamp(TimeUnit::Microsecond, Some(zone)) if &**zone == "UTC" => {
            let micros = array.as_primitive::<TimestampMicrosecondType>().value(row);
            Value::Time(DateTime::from_timestamp_micros(micros).unwrap())
        }
        DataType::Struct(fields) => {
            let names = fields.iter().map(|field| Name::Owned(field.name().clone()));
            let cells = array.as_struct().columns().iter().map(|column| cell(column, row));
            Value::Record(names.zip(cells).collect())
        }
        DataType::List(_) => {
            let items = array.as_list::<i32>().value(row);
            Value::List((0..items.len()).map(|row| cell(&items, row)).collect())
        }
        other => panic!("no column has the type {other}"),
    }
}

/// The rows of a batch as records.
fn rows(batch: RecordBatch) -> Vec<Value> {
    let batch = arrow_array::StructArray::from(batch);
    (0..batch.len()).map(|row| cell(&batch, row)).collect()
}

/// The row expected for a record: every field of the shape, and the rest as JSON.
fn whole(shape: &Shape, record: &Value) -> Value {
    let Value::Record(members) = record else { return Value::Null };
    let field = |field: &api::Field| {
        let value = match (field.kind, record.get(field.snake)) {
            (_, None | Some(Value::Unknown(_))) => Value::Null,
            (Kind::Record(inner), Some(value)) => whole(inner, value),
            (Kind::Records(inner, _), Some(Value::List(items))) => {
                Value::List(items.iter().map(|item| whole(inner, item)).collect())
            }
            // Microseconds, as in Python.
            (_, Some(Value::Time(time))) => {
                Value::Time(DateTime::from_timestamp_micros(time.timestamp_micros()).unwrap())
            }
            (_, Some(value)) => value.clone(),
        };
        (Name::Borrowed(field.snake), value)
    };
    let mut fields: Vec<_> = shape.fields.iter().map(field).collect();
    let unknown: serde_json::Map<String, serde_json::Value> = members
        .iter()
        .filter_map(|(name, value)| match value {
            Value::Unknown(tree) => Some((name.to_string(), (**tree).clone())),
            _ => None,
        })
        .collect();
    let text = (!unknown.is_empty()).then(|| Value::Text(serde_json::Value::Object(unknown).to_string()));
    fields.push((Name::Borrowed(UNKNOWN_FIELDS), text.unwrap_or(Value::Null)));
    Value::Record(fields)
}

/// Reads a page to columns, and compares them with its records.
fn same(index: &'static Index, content: Content, body: &str) -> RecordBatch {
    let items = decode_index(content, body.as_bytes(), index).unwrap().items;
    let batch = to_batch(index.item, &items).unwrap();
    let expected: Vec<_> = items.iter().map(|record| whole(index.item, record)).collect();
    assert_eq!(rows(batch.clone()), expected, "{body}");
    batch
}

/// Variations of JSON by services beyond the table (field notes, Values): a text and its replacement.
const VARIATIONS: &[(&str, &str)] = &[
    ("\"ID\":", "\"id\":"),
    ("\"ID\":", "\"Device_Id \":\"x\",\"ID\":"),
    ("\"ID\":", "\"ID\":null,\"ID\":"),
    ("\"ID\":", "\"ID\":\"first\",\"ID\":"),
    ("\"ID\":", "\"Number\":"),
    ("{\"ID\":", "{\"Extra\":{\"deep\":[1,null]},\"extra-Time\":\"2026-09-01\",\"ID\":"),
    (":true", ":\"1\""),
    (":false", ":0"),
    ("Z\"", "\""),
    ("Z\"", "1234Z\""),
    ("\"ID\":\"0\"", "\"ID\":0"),
    ("\"ID\":\"1\"", "\"ID\":18446744073709551615"),
    ("\"ID\":\"1\"", "\"ID\":\" 1 \""),
    ("\"ID\":\"1\"", "\"ID\":\"\""),
    ("\"Alt\":", "\"Alt\":12.0,\"Alt\":"),
    ("\"Lat\":", "\"Lat\":-3,\"Lat\":"),
    ("\"GPSDateTime\":\"", "\"GPSDateTime\":\"0000-00-00T00:00:00Z\",\"Extra\":\""),
    ("\"TotalPages\":2", "\"TotalPages\":2,\"Links\":[]"),
    ("PageIndex", "page index"),
    ("[{", "{"),
    (":[", ": [ "),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(256)))]

    #[test]
    fn columns_equal_the_records((index, records) in records()) {
        same(index, Content::Json, &json(index, &records));
        same(index, Content::Xml, &xml(index, &records));
    }

    #[test]
    fn variations_of_services_do_not_change_the_columns(
        (index, records) in records(), habits in prop::collection::vec(prop::sample::select(VARIATIONS), 0..3),
    ) {
        let body = habits.iter().fold(json(index, &records), |body, (text, other)| body.replace(text, other));
        if decode_index(Content::Json, body.as_bytes(), index).is_ok() {
            same(index, Content::Json, &body);
        }
    }
}

#[test]
fn every_column_has_its_unit_and_description() {
    for index in lists() {
        let schema = schema(index.item);
        assert_eq!(schema.fields().len(), index.item.fields.len() + 1);
        for (field, column) in index.item.fields.iter().zip(schema.fields()) {
            assert_eq!((column.name().as_str(), column.is_nullable()), (field.snake, true));
            assert_eq!(column.metadata().get("unit").map(String::as_str), field.unit, "{}", field.snake);
            assert_eq!(column.metadata()["documentation"], field.doc);
        }
        assert_eq!(schema.fields().last().unwrap().name(), UNKNOWN_FIELDS);
    }
}

#[test]
fn an_empty_list_has_all_columns_and_no_row() {
    for index in lists() {
        for (content, body) in [(Content::Json, json(index, &[])), (Content::Xml, xml(index, &[]))] {
            let batch = same(index, content, &body);
            assert_eq!((batch.num_rows(), batch.schema()), (0, schema(index.item)));
        }
    }
}

#[test]
fn location_is_split_into_its_columns_2_3() {
    let body = r#"{"TotalCount":2,"IsNextPage":false,"DeviceLocation":[
        {"ID":"9","DeviceId":8140,"SubType":"Field Hub","Lat":41.5,"Lon":-93.25,"Alt":250,"Speed":7,"Direction":90,
         "Valid":true,"GPSDateTime":"2026-09-01T12:00:00Z"},
        {"ID":"8","DeviceId":8140,"Lat":0,"Lon":0.0,"Valid":false,"GPSDateTime":"0001-01-01T00:00:00Z","Hdop":1.5}]}"#;
    let batch = same(&LOCATIONS, Content::Json, body);
    let rows = rows(batch);
    let time = Value::Time("2026-09-01T12:00:00Z".parse().unwrap());
    assert_eq!(
        (rows[0].get("gps_date_time"), rows[0].get("device_id")),
        (Some(&time), Some(&Value::Text("8140".to_owned())))
    );
    assert_eq!((rows[1].get("gps_date_time"), rows[1].get("lat")), (Some(&Value::Null), Some(&Value::Decimal(0.0))));
    assert_eq!(rows[1].get(UNKNOWN_FIELDS), Some(&Value::Text(r#"{"hdop":1.5}"#.to_owned())));
    assert_eq!(rows[0].get(UNKNOWN_FIELDS), Some(&Value::Null));
    assert!(std::ptr::eq(LOCATIONS.item, &raw const DEVICE_LOCATION));
}
