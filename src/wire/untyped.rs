//! Decodes JSON without a shape, as the dispatch service sends it (specification 2.8). Every member is kept.
//!
//! Names become `snake_case` at every depth and ids become texts. Times stay texts, because only a shape declares them.
//! Integers beyond 64 bits are texts with all their digits.

use serde_json::Value as Tree;

use super::extra_fields::UniqueNames;
use super::json_reader;
use super::node::Node;
use super::value::{Name, Value};
use super::value_limit::check_values;
use headland_base::error::Result;
use headland_base::names;

/// Decodes a body. Nothing may follow the value, and `serde_json` limits the nesting to 127 levels.
pub fn decode_plain(body: &[u8]) -> Result<Value> {
    check_values(body)?;
    json_reader::parse(body, "JSON", "JSON", None, |node| Ok(value(node, false)))
}

fn value(node: Node<'_>, is_id: bool) -> Value {
    match node {
        Node::Null | Node::Empty | Node::Read => Value::Null,
        Node::Boolean(truth) => Value::Boolean(truth),
        Node::Number(number) if is_id => Value::Text(number.to_string()),
        Node::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::Integer(whole),
            // An integer above the range of `i64`.
            (None, _) if number.is_u64() => Value::Unknown(Box::new(Tree::Number(number))),
            (None, Some(decimal)) => Value::Decimal(decimal),
            (None, None) => Value::Unknown(Box::new(Tree::Number(number))),
        },
        Node::Text(text) => Value::Text(text.into_owned()),
        Node::List(items) => Value::List(items.into_iter().map(|item| value(item, is_id)).collect()),
        Node::Object(members) => {
            let mut unique = UniqueNames::default();
            // Names that collide, or become empty, keep their spelling.
            let mut fields: Vec<(Name, Value)> = Vec::with_capacity(members.len());
            for (wire, member) in members {
                // Names that collide, or become empty, keep their spelling.
                let name = unique.unique_name(&wire, |_| false);
                fields.push((Name::Owned(name), value(member, is_id_name(&names::snake(&wire)))));
            }
            Value::Record(fields)
        }
    }
}

fn is_id_name(snake: &str) -> bool {
    matches!(snake, "id" | "ids") || snake.ends_with("_id") || snake.ends_with("_ids")
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_base::error::Kind;

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn names_are_snake_case_at_every_depth_and_ids_are_texts() {
        let read = decode_plain(
            br#"{"fieldOperationId":7,"ID":"a-b","equipmentIds":[1,"2"],"target":{"RateUnit":"kg","rate":90.1,"big":18446744073709551615},
                "Seed lot":null,"seedLot":1,"":2,"done":true,"count":-3}"#,
        )
        .unwrap();
        assert_eq!(read.get("field_operation_id"), Some(&text("7")));
        assert_eq!(read.get("id"), Some(&text("a-b")));
        assert_eq!(read.get("equipment_ids"), Some(&Value::List(vec![text("1"), text("2")])));
        let target = read.get("target").unwrap();
        assert_eq!(target.get("rate_unit"), Some(&text("kg")));
        assert_eq!(target.get("rate"), Some(&Value::Decimal(90.1)));
        assert!(matches!(target.get("big"), Some(Value::Unknown(_))));
        assert_eq!(read.get("seed_lot"), Some(&Value::Null));
        assert_eq!(read.get("seedLot"), Some(&Value::Integer(1)), "both values of a collision are kept");
        assert_eq!(read.get(""), Some(&Value::Integer(2)));
        assert_eq!((read.get("done"), read.get("count")), (Some(&Value::Boolean(true)), Some(&Value::Integer(-3))));
    }

    #[test]
    fn colliding_names_keep_their_values() {
        let read = decode_plain(br#"{"fooBar":1,"foo_bar":2,"FooBar":3,"foo_bar_2":4,"foo.bar":5}"#).unwrap();
        let Value::Record(fields) = read else { panic!("an object") };
        let names: Vec<_> = fields.iter().map(|(name, value)| (name.as_ref(), value.clone())).collect();
        let expected = ["foo_bar", "foo_bar_2", "FooBar", "foo_bar_2_2", "foo.bar"];
        assert_eq!(names, expected.into_iter().zip((1..).map(Value::Integer)).collect::<Vec<_>>());
    }

    #[test]
    fn integers_beyond_64_bits_keep_their_digits() {
        let read = decode_plain(br#"{"lot":{"id":123456789012345678901,"count":-1000000000000000000000000000000}}"#);
        let lot = read.unwrap().get("lot").cloned().unwrap();
        assert_eq!(lot.get("id"), Some(&text("123456789012345678901")));
        assert_eq!(lot.get("count"), Some(&text("-1000000000000000000000000000000")));
    }

    #[test]
    fn truncated_or_too_deep_body_is_an_error() {
        for body in ["", "{", "[1,", "{\"a\":1} x", "OK", &"[".repeat(100_000)] {
            let error = decode_plain(body.as_bytes()).unwrap_err();
            assert_eq!(error.kind(), Kind::Decode);
            assert!(error.message().len() < 400);
        }
    }
}
