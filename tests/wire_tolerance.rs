//! Tests the limits of the decoders: every variation in the field notes is accepted, and every kind of damage is an
//! error.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

#[path = "series/mod.rs"]
mod series;

use chrono::{DateTime, Utc};
use headland::api::envelope::SERVICE_INDEX;
use headland::api::field_computers::FIELD_COMPUTER_DETAIL;
use headland::api::job_data::JOB_DATA_DETAIL;
use headland::api::{Index, Kind, Returns, Shape, row};
use headland::error::{Error, Kind as ErrorKind};
use headland::wire::{Content, Element, Name, Value, decode_detail, decode_index, encode_json};
use proptest::prelude::*;
use serde_json::{Map, Value as Tree};
use series::cases;

fn jobs() -> &'static Index {
    let Returns::Index(index) = row("job_data.list").unwrap().returns else { unreachable!() };
    index
}

/// A record of a shape with every field, generated from a seed.
fn record(shape: &'static Shape, random: &mut fastrand::Rng) -> Value {
    let value = |kind: Kind, random: &mut fastrand::Rng| match kind {
        Kind::Id => Value::Text(random.u32(1..1_000_000).to_string()),
        Kind::Text => {
            Value::Text(["", "North 40", "a < b & \"c\"", "Äcker →", " two  blanks "][random.usize(0..5)].to_owned())
        }
        Kind::Boolean => Value::Boolean(random.bool()),
        Kind::Integer => Value::Integer(random.i64(-1_000..1_000)),
        Kind::Decimal => Value::Decimal(f64::from(random.i32(-100_000..100_000)) / 8.0),
        Kind::Time => {
            Value::Time(DateTime::<Utc>::from_timestamp(random.i64(1_000_000_000..2_000_000_000), 0).unwrap())
        }
        // Derived, so it is not sent.
        Kind::Integers => Value::Null,
        Kind::Record(inner) => record(inner, random),
        Kind::Records(inner, _) => Value::List((0..random.usize(0..3)).map(|_| record(inner, random)).collect()),
    };
    let mut fields = Vec::new();
    for field in shape.fields {
        let value = if random.u8(0..10) == 0 { Value::Null } else { value(field.kind, random) };
        // A list that is null is an empty one.
        let is_null_list = matches!((field.kind, &value), (Kind::Records(..), Value::Null));
        fields.push((Name::Borrowed(field.snake), if is_null_list { Value::List(Vec::new()) } else { value }));
    }
    Value::Record(fields)
}

/// A name in the spelling of another service: other letter case, and separators where the content type allows them.
fn name(wire: &str, separators: &[&str], random: &mut fastrand::Rng) -> String {
    let mut out = String::new();
    for (index, c) in wire.chars().enumerate() {
        if index > 0 && random.u8(0..6) == 0 {
            out.push_str(separators[random.usize(0..separators.len())]);
        }
        if random.bool() { out.extend(c.to_lowercase()) } else { out.extend(c.to_uppercase()) }
    }
    out
}

/// A scalar in one of the forms that services use for it.
fn scalar(kind: Kind, text: &str, random: &mut fastrand::Rng) -> String {
    match kind {
        Kind::Time => {
            let time = DateTime::parse_from_rfc3339(text).unwrap();
            let forms = [
                "%Y-%m-%dT%H:%M:%SZ",
                "%Y-%m-%d %H:%M:%S",
                "%Y-%m-%dT%H:%M:%S.000",
                "%Y-%m-%dT%H:%M:%S.0000000Z",
                "%Y-%m-%dT%H:%M:%S+00:00",
            ];
            time.format(forms[random.usize(0..forms.len())]).to_string()
        }
        Kind::Boolean => match (text, random.u8(0..3)) {
            ("true", 0) => "1".to_owned(),
            ("false", 0) => "0".to_owned(),
            (text, 1) => text.to_uppercase(),
            _ => text.to_owned(),
        },
        Kind::Integer | Kind::Id | Kind::Decimal if random.bool() => format!(" {text} "),
        _ => text.to_owned(),
    }
}

/// The same record in JSON, with the variations of another service.
fn varied_json(shape: &'static Shape, tree: Tree, random: &mut fastrand::Rng) -> Tree {
    let Tree::Object(members) = tree else { return tree };
    let mut members: Vec<(String, Tree)> = members.into_iter().collect();
    random.shuffle(&mut members);
    let mut out = Map::new();
    for (wire, tree) in members {
        let field = shape.fields.iter().find(|field| field.wire == wire).unwrap();
        let tree = match (field.kind, tree) {
            (Kind::Records(inner, element), Tree::Array(items)) => {
                let mut items: Vec<Tree> = items.into_iter().map(|item| varied_json(inner, item, random)).collect();
                match (items.len(), random.u8(0..3)) {
                    (0, 0) => Tree::Null,
                    (0, 1) => Tree::Object(Map::new()),
                    (1, 0) => items.pop().unwrap(),
                    (_, 1) => Tree::Object(Map::from_iter([(name(element, &[" ", "_"], random), Tree::Array(items))])),
                    _ => Tree::Array(items),
                }
            }
            (Kind::Id, Tree::String(id)) if random.bool() => Tree::from(id.parse::<i64>().unwrap()),
            (kind @ (Kind::Time | Kind::Boolean | Kind::Integer | Kind::Decimal), tree) if !tree.is_null() => {
                let text = tree.as_str().map_or_else(|| tree.to_string(), str::to_owned);
                if random.bool() || matches!(kind, Kind::Time) {
                    Tree::String(scalar(kind, &text, random))
                } else {
                    tree
                }
            }
            (_, tree) => tree,
        };
        out.insert(name(&wire, &[" ", "_"], random), tree);
    }
    Tree::Object(out)
}

/// The same record in XML, with the variations of another service.
fn varied_xml(shape: &'static Shape, element: &mut Element, prefix: &str, random: &mut fastrand::Rng) {
    random.shuffle(&mut element.children);
    let mut children = Vec::new();
    for mut child in std::mem::take(&mut element.children) {
        let field = shape.fields.iter().find(|field| field.wire == child.name).unwrap();
        match field.kind {
            Kind::Records(inner, _) => {
                for item in &mut child.children {
                    varied_xml(inner, item, prefix, random);
                }
                match (child.children.len(), random.u8(0..3)) {
                    (0, _) | (_, 0) => {}
                    (1, 1) => child.children = child.children.remove(0).children,
                    _ => {
                        children.append(&mut child.children);
                        continue;
                    }
                }
            }
            kind if child.attributes.is_empty() => child.text = scalar(kind, &child.text, random),
            _ => {}
        }
        child.name = name(&child.name, &["_"], random);
        children.push(child);
    }
    for child in &mut children {
        if !child.name.contains(':') {
            child.name = format!("{prefix}{}", child.name);
        }
    }
    element.children = children;
}

/// The record with sorted fields, also in nested records.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Record(fields) => {
            let mut fields: Vec<_> = fields.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            fields.sort_by(|one, other| one.0.cmp(&other.0));
            Value::Record(fields)
        }
        Value::List(items) => Value::List(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(96)))]

    #[test]
    fn variations_do_not_change_a_record_in_json(seed: u64) {
        let random = &mut fastrand::Rng::with_seed(seed);
        let expected = record(&JOB_DATA_DETAIL, random);
        let tree = varied_json(&JOB_DATA_DETAIL, encode_json(&JOB_DATA_DETAIL, &expected), random);
        let found = decode_detail(Content::Json, tree.to_string().as_bytes(), &JOB_DATA_DETAIL);
        prop_assert_eq!(sorted(&found.map_err(|error| TestCaseError::fail(format!("{error}: {tree}")))?), sorted(&expected));
    }

    #[test]
    fn variations_do_not_change_a_record_in_xml(seed: u64) {
        let random = &mut fastrand::Rng::with_seed(seed);
        let expected = record(&JOB_DATA_DETAIL, random);
        let prefix = if random.bool() { "x:" } else { "" };
        let mut root = Element::from_record("Anything", &JOB_DATA_DETAIL, &expected);
        varied_xml(&JOB_DATA_DETAIL, &mut root, prefix, random);
        root.attributes.push(("xmlns:x".to_owned(), "http://schemas.example/2010".to_owned()));
        let text = root.document(["", "<?xml version=\"1.0\"?>\n<!-- a note -->", "\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-16\"?>"][random.usize(0..3)]);
        let found = decode_detail(Content::Xml, text.as_bytes(), &JOB_DATA_DETAIL);
        prop_assert_eq!(sorted(&found.map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?), sorted(&expected));
    }

    #[test]
    fn reply_truncated_at_any_byte_is_an_error(seed: u64, cut in 0.0_f64..1.0) {
        let detail = record(&FIELD_COMPUTER_DETAIL, &mut fastrand::Rng::with_seed(seed));
        let json = encode_json(&FIELD_COMPUTER_DETAIL, &detail).to_string();
        let xml = Element::from_record("Computer", &FIELD_COMPUTER_DETAIL, &detail).document("");
        for (content, body) in [(Content::Json, json), (Content::Xml, xml)] {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a short text")]
            let end = (body.len() as f64 * cut) as usize;
            let error = decode_detail(content, &body.as_bytes()[..end], &FIELD_COMPUTER_DETAIL).unwrap_err();
            prop_assert_eq!(error.kind(), ErrorKind::Decode);
        }
    }
}

fn error(content: Content, body: &str) -> Error {
    let error = decode_detail(content, body.as_bytes(), &JOB_DATA_DETAIL).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode, "{body}");
    error
}

#[test]
fn unreadable_value_is_an_error_with_its_path() {
    let product = |area: &str| format!(r#"{{"AppliedArea": {area}}}"#);
    let cases = [
        (
            format!(r#"{{"Products": [{}, {}, {}]}}"#, product("1"), product("2"), product("\"wide\"")),
            "Products[2].AppliedArea",
        ),
        (format!(r#"{{"YieldJob": {{"Products": {}}}}}"#, product("[]")), "Products[0].AppliedArea"),
        (
            r#"{"Products": {"Product": [{"Ingredients": [{"ID": 1}, {"ID": true}]}]}}"#.to_owned(),
            "Products[0].Ingredients[1].ID",
        ),
        (r#"{"CreateDate": "yesterday"}"#.to_owned(), "CreateDate"),
        (r#"{"CreateDate": "9999-12-31T23:59:59-14:00"}"#.to_owned(), "CreateDate"),
        (r#"{"Extra": [1, 2"#.to_owned(), "Extra"),
        (r#"{"ID": 1, "JobName": "a", "id": 2}"#.to_owned(), "ID"),
        (r#"{"Products": [{"ID": 1, "Id": 2}]}"#.to_owned(), "Products[0].ID"),
    ];
    for (body, path) in cases {
        let error = error(Content::Json, &body);
        assert_eq!(error.facts().field.as_deref(), Some(&*format!("JobDataDetail.{path}")), "{body}: {error}");
    }
    let area = |area: &str| format!("<Product><AppliedArea>{area}</AppliedArea></Product>");
    let cases = [
        (format!("<Products>{}{}{}</Products>", area("1"), area("2"), area("wide")), "Products[2].AppliedArea"),
        (format!("<YieldJob>{}{}</YieldJob>", area("1"), area("<a/>")), "Products[1].AppliedArea"),
        ("<Products><ID>1</ID><AppliedArea>x</AppliedArea></Products>".to_owned(), "Products[0].AppliedArea"),
        ("<CreateDate>yesterday</CreateDate>".to_owned(), "CreateDate"),
        ("<CreateDate>9999-12-31T23:59:59-14:00</CreateDate>".to_owned(), "CreateDate"),
        ("<ID>1</ID><id>2</id>".to_owned(), "ID"),
        ("<StartDate xmlns:i=\"x\" i:nil=\"true\">2020-01-01</StartDate>".to_owned(), "StartDate"),
    ];
    for (inside, path) in cases {
        let error = error(Content::Xml, &format!("<D>{inside}</D>"));
        assert_eq!(error.facts().field.as_deref(), Some(&*format!("JobDataDetail.{path}")), "{inside}: {error}");
    }
    let page = br#"{"TotalCount": 2, "JobData": [{"ID": 1}, {"ID": 2, "CreateDate": 7}]}"#;
    let error = decode_index(Content::Json, page, jobs()).unwrap_err();
    assert_eq!(error.facts().field.as_deref(), Some("ServiceIndex.JobData[1].CreateDate"));
    let page = br#"{"TotalCount": 2, "totalCount": 3, "JobData": []}"#;
    let error = decode_index(Content::Json, page, jobs()).unwrap_err();
    assert_eq!(error.facts().field.as_deref(), Some("ServiceIndex.TotalCount"));
    let page = b"<X><TotalCount>2</TotalCount><JobData/><JobData><CreateDate>7</CreateDate></JobData></X>";
    let error = decode_index(Content::Xml, page, jobs()).unwrap_err();
    assert_eq!(error.facts().field.as_deref(), Some("ServiceIndex.JobData[1].CreateDate"));
    assert!(error.to_string().contains("ServiceIndex.JobData[1].CreateDate"), "the message has it too: {error}");
}

#[test]
fn reply_of_another_kind_is_not_mistaken_for_an_empty_one() {
    for (content, body) in [
        (Content::Json, "{}"),
        (Content::Json, r#"{"error": "x"}"#),
        (Content::Json, r#"{"TotalCount": 1, "FieldComputer": [{"ID": 1}]}"#),
        (Content::Xml, "<D/>"),
        (Content::Xml, "<error><code>7</code></error>"),
    ] {
        assert!(error(content, body).message().contains("none of its fields"), "{body}");
    }
    for (content, body) in [
        (Content::Json, r#"{"TotalCount": 1, "IsNextPage": false, "FieldHub": [{"ID": 1}]}"#),
        (Content::Xml, "<X><TotalCount>1</TotalCount><FieldHub><ID>1</ID></FieldHub></X>"),
        (Content::Xml, "<X><ID>31</ID></X>"),
        (Content::Json, r#"{"ID": 31}"#),
    ] {
        let error = decode_index(content, body.as_bytes(), jobs()).unwrap_err();
        assert!(error.message().contains("not a ServiceIndex of JobData"), "{error}");
    }
    let page = b"<X><TotalCount>41</TotalCount><PageIndex>0</PageIndex><TotalPages>3</TotalPages><JobData/></X>";
    assert!(decode_index(Content::Xml, page, jobs()).unwrap().is_next_page, "derived only from the number of pages");
    assert_eq!(SERVICE_INDEX.fields.len(), 6);
}

#[test]
fn entities_depth_and_encodings_are_bounded() {
    let bomb = "<!DOCTYPE D [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]><D><JobName>&b;</JobName></D>";
    assert!(error(Content::Xml, bomb).message().contains("document type"));
    assert!(error(Content::Xml, "<D><JobName>&unknown;</JobName></D>").message().contains("entity"));
    assert!(error(Content::Xml, "<D><JobName>&#x110000;</JobName></D>").message().contains("JobDataDetail"));
    let deep = format!("<D><ID>1</ID>{}{}</D>", "<A>".repeat(100_000), "</A>".repeat(100_000));
    assert!(error(Content::Xml, &deep).message().contains("deep"));
    for key in ["Extra", "Products"] {
        for (open, close) in [("[", "]"), ("{\"Ingredients\":", "}")] {
            let deep = format!("{{\"{key}\":{}1{}}}", open.repeat(100_000), close.repeat(100_000));
            error(Content::Json, &deep);
        }
    }
    // Time that grows with the square of the attributes would exceed the test timeout.
    let attributes = (0..300_000).map(|number| format!(" nil{number}=\"\"")).collect::<Vec<_>>().concat();
    let wide = format!("<D><ID{attributes}>1</ID></D>");
    assert_eq!(
        decode_detail(Content::Xml, wide.as_bytes(), &JOB_DATA_DETAIL).unwrap().get("id"),
        Some(&Value::Text("1".to_owned()))
    );
    // Quotes in messages are short.
    let long = "x".repeat(1_000_000);
    for (content, body) in [
        (Content::Json, format!("{{\"CreateDate\": \"{long}\"}}")),
        (Content::Json, format!("\"{long}\"")),
        (Content::Json, format!("{{\"{long}\": [")),
        (Content::Xml, format!("<D><CreateDate>{long}</CreateDate></D>")),
        (Content::Xml, format!("<D><Products><{long}/></Products></D>")),
        (Content::Xml, format!("<D>{long}</D>")),
    ] {
        assert!(error(content, &body).to_string().len() < 1_000);
    }
    let latin = b"<?xml version='1.0' encoding='iso-8859-1'?><D><JobName>\xC4cker</JobName></D>";
    let job = decode_detail(Content::Xml, latin, &JOB_DATA_DETAIL).unwrap();
    assert_eq!(job.get("job_name").and_then(Value::as_text), Some("Äcker"));
    let undeclared = b"<D><JobName>\xC4cker</JobName></D>";
    assert_eq!(decode_detail(Content::Xml, undeclared, &JOB_DATA_DETAIL).unwrap_err().facts().offset, Some(12));
    decode_detail(Content::Json, b"{\"JobName\": \"\xC4cker\"}", &JOB_DATA_DETAIL).unwrap_err();
}

#[test]
fn null_empty_text_and_missing_are_distinguished_in_both_content_types() {
    let json = br#"{"ID": 31, "JobName": null, "FileName": "", "EndDate": "", "StartDate": "0000-00-00T00:00:00Z", "New": "kept"}"#;
    let xml = b"<D xmlns:i='http://www.w3.org/2001/XMLSchema-instance'><ID>31</ID><JobName i:nil='true'/><FileName/><EndDate></EndDate>\
        <StartDate>0000-00-00T00:00:00Z</StartDate><New>kept</New></D>";
    let json = decode_detail(Content::Json, json, &JOB_DATA_DETAIL).unwrap();
    assert_eq!(json, decode_detail(Content::Xml, xml, &JOB_DATA_DETAIL).unwrap());
    assert_eq!(json.get("job_name"), Some(&Value::Null));
    assert_eq!(json.get("file_name"), Some(&Value::Text(String::new())));
    assert_eq!((json.get("end_date"), json.get("start_date")), (Some(&Value::Null), Some(&Value::Null)));
    assert_eq!(json.get("new"), Some(&Value::Unknown(Box::new("kept".into()))));
    assert_eq!(json.get("status"), None);
}

fn job(content: Content, body: &str) -> Value {
    decode_detail(content, body.as_bytes(), &JOB_DATA_DETAIL).unwrap_or_else(|error| panic!("{body}: {error}"))
}

fn unknown(record: &Value, name: &str) -> Tree {
    match record.get(name) {
        Some(Value::Unknown(tree)) => (**tree).clone(),
        other => panic!("{name} is {other:?} in {record:?}"),
    }
}

#[test]
fn repeated_fields_are_not_lost() {
    // Repeated elements are a list as in JSON, even if one is empty, and also inside the element of the kind of job.
    let json = r#"{"ID": "1", "Tag": ["A", null, "A"], "One": "1"}"#;
    let tags = "<Tag>A</Tag><Tag/><Tag>A</Tag><One>1</One>";
    for xml in [format!("<D><ID>1</ID>{tags}</D>"), format!("<D><ID>1</ID><YieldJob>{tags}</YieldJob></D>")] {
        assert_eq!(sorted(&job(Content::Xml, &xml)), sorted(&job(Content::Json, json)), "{xml}");
    }
    // Names that become equal are distinguished, and do not replace those of the table.
    let record =
        job(Content::Json, r#"{"FooBar": 1, "foo_bar": 2, "Foo Bar": 3, "Job.Name": 4, "ID": 1, "JobName": "a"}"#);
    for (name, value) in [("foo_bar", 1), ("foo_bar_2", 2), ("Foo Bar", 3), ("Job.Name", 4)] {
        assert_eq!(unknown(&record, name), Tree::from(value));
    }
    assert_eq!(record.get("job_name").and_then(Value::as_text), Some("a"));
    let record = job(Content::Xml, "<D><ID>1</ID><FooBar>1</FooBar><fooBar>2</fooBar></D>");
    assert_eq!((unknown(&record, "foo_bar"), unknown(&record, "fooBar")), ("1".into(), "2".into()));
    // A known field may occur twice if both values are equal or one is empty. It may also be in the element of the kind
    // of job, which repeats fields of the job (field notes, Values).
    for body in [
        r#"{"ID": 1, "id": "1", "New": 1}"#,
        r#"{"ID": null, "id": "1", "New": 1}"#,
        r#"{"ID": 1, "id": null, "New": 1}"#,
        r#"{"ID": 1, "New": 1, "YieldJob": {"ID": 2, "New": 1}}"#,
    ] {
        let record = job(Content::Json, body);
        assert_eq!((record.get("id").and_then(Value::as_text), unknown(&record, "new")), (Some("1"), Tree::from(1)));
    }
}

#[test]
fn whole_numbers_beyond_64_bits_keep_all_their_digits() {
    let big = "123456789012345678901";
    let record = job(Content::Json, &format!(r#"{{"ID": {big}, "JobName": {big}, "New": {{"a": [-{big}]}}}}"#));
    assert_eq!(record.get("id").and_then(Value::as_text), Some(big));
    assert_eq!(record.get("job_name").and_then(Value::as_text), Some(big));
    assert_eq!(unknown(&record, "new")["a"][0], format!("-{big}"));
    let page = format!(r#"{{"TotalCount": 1, "JobData": [{{"ID": {big}}}]}}"#);
    let page = decode_index(Content::Json, page.as_bytes(), jobs()).unwrap();
    assert_eq!(page.items[0].get("id").and_then(Value::as_text), Some(big));
}
