//! The products of a job as rows of one table: one row per ingredient and applied product, or one for a product without
//! either.

use arrow_array::RecordBatch;

use super::arguments::Arguments;
use super::record;
use super::setup::Client;
use headland_api::{Endpoint, Returns, Shape};
use headland_base::error::{Error, Kind, Result};
use headland_wire::columns::to_batch;
use headland_wire::{Name, Value, finish};

/// The lists in a product, and the prefix of the names of their fields.
const PARTS: [(&str, &str); 2] = [("ingredients", "ingredient_"), ("applied_products", "applied_product_")];

/// The rows of a table, as records and as Arrow columns.
#[derive(Debug)]
pub struct Rows {
    /// The rows; each has every field of the shape.
    pub records: Vec<Value>,
    /// The rows as columns.
    pub batch: RecordBatch,
}

/// Reads the detail of a record and returns its parts as rows.
pub(super) async fn rows(client: &Client, row: &'static Endpoint, arguments: &Arguments) -> Result<Rows> {
    let Returns::Table { row: shape, .. } = row.returns else {
        return Err(Error::new(Kind::Type, format!("{} returns no table", row.full_name)));
    };
    let detail = record::detail(client, row, arguments).await?;
    let records = flatten(&detail, shape);
    let batch = to_batch(shape, &records)?;
    Ok(Rows { records, batch })
}

/// The products in a job's detail as rows of the shape [`PRODUCT_ROW`](headland_api::products::PRODUCT_ROW).
#[must_use]
pub fn flatten(detail: &Value, shape: &'static Shape) -> Vec<Value> {
    let mut rows = Vec::new();
    for product in list(detail, "products") {
        let mut base: Vec<(Name, Value)> = shape
            .fields
            .iter()
            .filter(|field| field.derived.is_none())
            .map(|field| (Name::Borrowed(field.snake), Value::Null))
            .collect();
        for (name, source) in [("job_id", "id"), ("job_type", "job_type")] {
            set(&mut base, name.to_owned(), detail.get(source).cloned().unwrap_or(Value::Null));
        }
        for (name, value) in members(product) {
            if name == "id" {
                set(&mut base, "product_id".to_owned(), value.clone());
            } else if PARTS.iter().all(|(part, _)| part != name) {
                set(&mut base, name.to_string(), value.clone());
            }
        }
        let before = rows.len();
        for (part, prefix) in PARTS {
            for item in list(product, part) {
                let mut row = base.clone();
                for (name, value) in members(item) {
                    set(&mut row, format!("{prefix}{name}"), value.clone());
                }
                rows.push(finish(shape, row));
            }
        }
        if rows.len() == before {
            rows.push(finish(shape, base));
        }
    }
    rows
}

fn list<'a>(record: &'a Value, name: &str) -> &'a [Value] {
    match record.get(name) {
        Some(Value::List(items)) => items,
        _ => &[],
    }
}

fn members(record: &Value) -> &[(Name, Value)] {
    match record {
        Value::Record(members) => members,
        _ => &[],
    }
}

/// Sets a field of a row. A field that is not in the shape is appended.
fn set(row: &mut Vec<(Name, Value)>, name: String, value: Value) {
    match row.iter_mut().find(|(known, _)| *known == name) {
        Some((_, known)) => *known = value,
        None => row.push((Name::Owned(name), value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_api::Kind as FieldKind;
    use headland_api::products::{APPLIED_PRODUCT, INGREDIENT, PRODUCT, PRODUCT_ROW};
    use headland_wire::{Content, decode_detail};

    #[test]
    fn product_fields_all_have_a_column() {
        let fields = |shape: &'static Shape, prefix: &'static str| {
            shape.fields.iter().map(move |field| (format!("{prefix}{}", field.snake), field))
        };
        let parts = fields(&INGREDIENT, "ingredient_").chain(fields(&APPLIED_PRODUCT, "applied_product_"));
        for (name, field) in fields(&PRODUCT, "").chain(parts) {
            let name = if name == "id" { "product_id".to_owned() } else { name };
            if matches!(field.kind, FieldKind::Records(..)) {
                assert!(PARTS.iter().any(|(part, _)| *part == name), "{name}");
                continue;
            }
            let column = PRODUCT_ROW.field(&name).unwrap_or_else(|| panic!("no column {name}"));
            assert_eq!(std::mem::discriminant(&column.kind), std::mem::discriminant(&field.kind), "{name}");
            assert_eq!(column.unit, field.unit, "{name}");
        }
    }

    #[test]
    fn product_has_one_row_per_part_or_one_without_parts() {
        let detail = br#"{"ID":7,"JobType":"AsApplied","Products":[
            {"ID":1,"ProductName":"mix","AppliedArea":2.5,"IsMixed":true,"Dye":"red","Ingredients":[
                {"ID":11,"Name":"a","Dose":3},{"ID":12,"Name":"b"}],"AppliedProducts":[{"ID":0,"Row":"1,2, 3"}]},
            {"ID":2,"ProductName":"water","IsMixed":false,"Ingredients":[]},
            {"ID":3,"AppliedProducts":{"ID":1,"Variety":"x","Row":"left"}}]}"#;
        let detail = decode_detail(Content::Json, detail, &headland_api::job_data::JOB_DATA_DETAIL).unwrap();
        let rows = flatten(&detail, &PRODUCT_ROW);
        let column = |name: &str| rows.iter().map(|row| row.get(name).cloned()).collect::<Vec<_>>();
        let texts = |name: &str| -> Vec<Option<String>> {
            column(name).iter().map(|value| value.as_ref().and_then(Value::as_text).map(str::to_owned)).collect()
        };
        let some = |texts: [&str; 5]| texts.map(|text| (!text.is_empty()).then(|| text.to_owned())).to_vec();
        assert_eq!(texts("job_id"), some(["7"; 5]));
        assert_eq!(texts("product_id"), some(["1", "1", "1", "2", "3"]));
        assert_eq!(texts("product_name"), some(["mix", "mix", "mix", "water", ""]));
        assert_eq!(texts("ingredient_id"), some(["11", "12", "", "", ""]));
        assert_eq!(texts("applied_product_id"), some(["", "", "0", "", "1"]));
        assert_eq!(texts("applied_product_row"), some(["", "", "1,2, 3", "", "left"]));
        let numbers = Value::List([1, 2, 3].map(Value::Integer).to_vec());
        assert_eq!(column("applied_product_rows")[2..], [Some(numbers), Some(Value::Null), Some(Value::Null)]);
        assert!(matches!(rows[0].get("dye"), Some(Value::Unknown(_))), "unknown fields are kept");
        assert!(matches!(rows[0].get("ingredient_dose"), Some(Value::Unknown(_))));
        for row in &rows {
            assert!(PRODUCT_ROW.fields.iter().all(|field| row.get(field.snake).is_some()), "{row:?}");
        }
    }
}
