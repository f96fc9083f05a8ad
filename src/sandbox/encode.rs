//! Encodes the content of a reply to bytes, with the active variants.

use bytes::Bytes;
use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value as Tree};

use super::encode_job::{COMMON, display_name, is_job, nested_element};
use super::encode_xml;
use super::negotiate::Accepted;
use super::reply::Content;
use super::variants::{ActiveVariants, Variant};
use headland_api::envelope::SERVICE_INDEX;
use headland_api::uploads::{GRC_EXTENSION, has_extension};
use headland_api::{Field, Index, Kind, Shape};
use headland_wire::{self as wire, Name, Value, encode_json};

/// Returns the bytes of a body and their media type. Records are encoded as `accepted`; other content is unchanged.
pub(super) fn encode(content: Content, accepted: Accepted, variants: &ActiveVariants) -> (Bytes, &'static str) {
    match content {
        Content::Text(text) => (Bytes::from(text), "text/plain; charset=utf-8"),
        Content::Payload { tree, media_type } => (Bytes::from(tree.to_string()), media_type),
        Content::Nothing => (Bytes::new(), ""),
        Content::WebPage(page) => (Bytes::from_static(page.as_bytes()), "text/html; charset=utf-8"),
        Content::File { name, bytes } => (bytes, file_type(&name, variants)),
        // `response` streams the bytes from disk.
        Content::Stored { name, .. } => (Bytes::new(), file_type(&name, variants)),
        Content::Record(shape, record) => {
            let record = apply_variants(shape, &record, variants, &mut 0);
            let text = match accepted.content {
                wire::Content::Json => record_tree(shape, &record, variants).to_string(),
                wire::Content::Xml => encode_xml::record(shape, &record, variants),
            };
            (Bytes::from(text), accepted.media_type)
        }
        Content::List { index, envelope, items } => {
            let items: Vec<Value> =
                items.iter().map(|item| apply_variants(index.item, item, variants, &mut 0)).collect();
            let text = match accepted.content {
                wire::Content::Json => list_tree(index, &envelope, &items, variants).to_string(),
                wire::Content::Xml => encode_xml::list(index, &envelope, &items, variants),
            };
            (Bytes::from(text), accepted.media_type)
        }
    }
}

/// Returns the media type of a file.
fn file_type(name: &str, variants: &ActiveVariants) -> &'static str {
    if variants.has(Variant::VagueContentType) {
        "application/octet-stream"
    } else if has_extension(name, GRC_EXTENSION) {
        "text/csv"
    } else if has_extension(name, ".xml") {
        Accepted::XML.media_type
    } else {
        "application/zip"
    }
}

fn list_tree(index: &Index, envelope: &Value, items: &[Value], variants: &ActiveVariants) -> Tree {
    let mut items: Vec<Tree> = items.iter().map(|item| record_tree(index.item, item, variants)).collect();
    let mut tree = encode_json(&SERVICE_INDEX, envelope);
    let is_bare = items.len() == 1 && variants.has(Variant::BareItem);
    if let Tree::Object(members) = &mut tree {
        let items = if is_bare { items.pop().unwrap_or_default() } else { Tree::Array(items) };
        members.insert(index.kind.to_owned(), items);
    }
    tree
}

fn record_tree(shape: &'static Shape, record: &Value, variants: &ActiveVariants) -> Tree {
    let tree = encode_json(shape, record);
    if is_job(shape) { job_tree(tree, variants) } else { tree }
}

/// Rewrites ids and times of a record according to the variants.
fn apply_variants(shape: &'static Shape, record: &Value, variants: &ActiveVariants, times: &mut usize) -> Value {
    let Value::Record(fields) = record else { return record.clone() };
    let rewrite = |(name, value): &(Name, Value)| {
        let field = shape.field(name);
        let value = match (field.map(|field| field.kind), value) {
            (Some(Kind::Id), Value::Text(id)) if field.is_some_and(|field| is_number(field, variants)) => {
                to_integer(id)
            }
            (_, Value::Time(time)) if variants.has(Variant::OddTimes) => {
                *times = times.wrapping_add(1);
                Value::Text(irregular_time(*time, *times))
            }
            (Some(Kind::Record(inner)), value) => apply_variants(inner, value, variants, times),
            (Some(Kind::Records(inner, _)), Value::List(items)) => {
                Value::List(items.iter().map(|item| apply_variants(inner, item, variants, times)).collect())
            }
            _ => value.clone(),
        };
        (name.clone(), value)
    };
    Value::Record(fields.iter().map(rewrite).collect())
}

/// Whether an id is a number in JSON. The specification defines integer ids and string ids; one variant each swaps the
/// type. XML has no types, so both are the same text there.
fn is_number(field: &Field, variants: &ActiveVariants) -> bool {
    if field.is_integer_id { !variants.has(Variant::TextIds) } else { variants.has(Variant::NumericIds) }
}

/// Converts an id to an integer if that keeps all digits.
fn to_integer(id: &str) -> Value {
    let number = id.parse::<i64>().ok().filter(|number| number.to_string() == id);
    number.map_or_else(|| Value::Text(id.to_owned()), Value::Integer)
}

fn irregular_time(time: DateTime<Utc>, turn: usize) -> String {
    match turn % 5 {
        0 => time.to_rfc3339_opts(SecondsFormat::Millis, true),
        1 => time.format("%Y-%m-%dT%H:%M:%S%.6f0Z").to_string(),
        2 => time.to_rfc3339_opts(SecondsFormat::AutoSi, false),
        3 => time.format("%Y-%m-%dT%H:%M:%S%.3f").to_string(),
        _ => time.format("%Y-%m-%d %H:%M:%S%.3f").to_string(),
    }
}

fn job_tree(tree: Tree, variants: &ActiveVariants) -> Tree {
    let Tree::Object(mut job) = tree else { return tree };
    if variants.has(Variant::BareFiles)
        && let Some(Tree::Array(files)) = job.get_mut("AvailableFiles")
    {
        for file in files {
            *file = file.get("Uri").cloned().unwrap_or_default();
        }
    }
    let job_type = job.get("JobType").and_then(Tree::as_str);
    if let Some(element) = job_type.and_then(nested_element).filter(|_| variants.has(Variant::NestedJob)) {
        let (common, own): (Map<_, _>, Map<_, _>) =
            job.into_iter().partition(|(name, _)| COMMON.contains(&name.as_str()));
        job = common;
        job.insert(element.to_owned(), Tree::Object(own));
    }
    let job = Tree::Object(job);
    if variants.has(Variant::DisplayNames) { with_display_names(job) } else { job }
}

fn with_display_names(tree: Tree) -> Tree {
    match tree {
        Tree::Object(members) => Tree::Object(
            members.into_iter().map(|(name, value)| (display_name(&name), with_display_names(value))).collect(),
        ),
        Tree::Array(items) => Tree::Array(items.into_iter().map(with_display_names).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_api::job_data::JOB_DATA_DETAIL;
    use headland_wire::decode_detail;

    fn job() -> Value {
        let time = DateTime::from_timestamp_micros(1_700_000_000_123_000).unwrap();
        let product = Value::Record(vec![
            (Name::Borrowed("id"), Value::Text("7".to_owned())),
            (Name::Borrowed("target_rate"), Value::Decimal(12.5)),
        ]);
        let file =
            Value::Record(vec![(Name::Borrowed("uri"), Value::Text("http://h/jobdata/31?format=BIN".to_owned()))]);
        Value::Record(vec![
            (Name::Borrowed("device_file_name"), Value::Text("a.jdp".to_owned())),
            (Name::Borrowed("create_date"), Value::Time(time)),
            (Name::Borrowed("update_date"), Value::Time(time)),
            (Name::Borrowed("job_type"), Value::Text("AsApplied".to_owned())),
            (Name::Borrowed("available_files"), Value::List(vec![file])),
            (Name::Borrowed("id"), Value::Text("31".to_owned())),
            (Name::Borrowed("job_name"), Value::Text("North".to_owned())),
            (Name::Borrowed("start_date"), Value::Time(time)),
            (Name::Borrowed("products"), Value::List(vec![product])),
        ])
    }

    #[test]
    fn job_with_all_variants_decodes_to_the_same_record() {
        let wild = ActiveVariants::parse(&["wild".to_owned()]).unwrap();
        let json = ["Device File Name", "\"Target Rat\"", "\"SprayerJob\":{", "\"ID\":\"31\"", "[\"http://h/jobdata"];
        let xml = ["s:device_File_Name>", "s:target_Rat>", "<s:sprayerJob>", "<s:jobDataDetail", ">http://h/jobdata"];
        for (accepted, marks) in [(Accepted::JSON, json), (Accepted::XML, xml)] {
            let (bytes, _) = encode(Content::Record(&JOB_DATA_DETAIL, job()), accepted, &wild);
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            for expected in marks {
                assert!(text.contains(expected), "{expected} in {text}");
            }
            let read = decode_detail(accepted.content, &bytes, &JOB_DATA_DETAIL).unwrap();
            for name in ["device_file_name", "create_date", "update_date", "start_date", "job_name", "products", "id"] {
                assert_eq!(read.get(name), job().get(name), "{name}");
            }
        }
    }

    #[test]
    fn job_without_variants_has_the_wire_names() {
        let (bytes, media_type) =
            encode(Content::Record(&JOB_DATA_DETAIL, job()), Accepted::JSON, &ActiveVariants::default());
        let tree: Tree = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(media_type, "application/json");
        assert_eq!((&tree["ID"], &tree["Products"][0]["ID"]), (&Tree::from(31), &Tree::from(7)));
        assert_eq!(tree["CreateDate"], "2023-11-14T22:13:20.123Z");
        assert_eq!(tree["Products"][0]["TargetRate"], 12.5);
    }
}
