//! Tests ids in JSON: integers where the specification says so, and the two variants that reverse that.

#![expect(clippy::unwrap_used, reason = "tests expect by unwrapping")]

use headland::sandbox::{Options, Sandbox};
use serde_json::Value;

use super::raw_client::{get, id_text, options, start};

/// Ids, each with the section that states its type.
type Stated = Vec<(&'static str, Value)>;

fn with(variants: &[&str]) -> Sandbox {
    start(Options { variants: variants.iter().map(|&name| name.to_owned()).collect(), ..options() })
}

fn items(sandbox: &Sandbox, path: &str, kind: &str) -> Vec<Value> {
    get(sandbox, path).send().json()[kind].as_array().unwrap().clone()
}

/// Every object in a value, itself included.
fn objects<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(fields) => {
            found.push(value);
            fields.values().for_each(|inner| objects(inner, found));
        }
        Value::Array(list) => list.iter().for_each(|inner| objects(inner, found)),
        _ => {}
    }
}

/// The ids that the specification calls integers, each with its section, then those that it calls strings.
fn ids(sandbox: &Sandbox) -> (Stated, Stated) {
    let (mut integers, mut strings) = (Stated::new(), Stated::new());
    let computers = items(sandbox, "/fieldcomputers?pageSize=50", "FieldComputer");
    let jobs = items(sandbox, "/jobdata?pageSize=0", "JobData");
    let own = format!("/fieldcomputers/{}", id_text(&computers[0]["ID"]));
    integers.extend(computers.iter().map(|item| ("2.1 FieldComputer", item["ID"].clone())));
    integers.extend(jobs.iter().map(|item| ("2.1 JobData", item["ID"].clone())));
    for (path, kind, section) in [
        ("/prescriptionmaps".to_owned(), "PrescriptionMap", "2.1 PrescriptionMap"),
        (format!("{own}/jobdata"), "JobData", "2.1 JobData"),
        (format!("{own}/prescriptionmaps"), "PrescriptionMap", "2.1 PrescriptionMap"),
    ] {
        integers.extend(items(sandbox, &path, kind).into_iter().map(|item| (section, item["ID"].clone())));
    }
    let computer = get(sandbox, &own).send().json();
    integers.push(("2.2 ID", computer["ID"].clone()));
    strings.push(("2.2 FieldHubID", computer["FieldHubID"].clone()));
    for job in &jobs {
        let detail = get(sandbox, &format!("/jobdata/{}", id_text(&job["ID"]))).send().json();
        let mut found = Vec::new();
        objects(&detail, &mut found);
        let found = found.into_iter().filter_map(|object| object.get("ID"));
        integers.extend(found.map(|id| ("2.6", id.clone())));
    }
    let hubs = items(sandbox, "/fieldhubs/all", "FieldHubDetail");
    for hub in &hubs {
        strings.extend([("2.4 ID", hub["ID"].clone()), ("2.3 DeviceId", hub["Report"]["DeviceId"].clone())]);
        integers.push(("2.4 report's ID", hub["Report"]["ID"].clone()));
    }
    strings.push(("2.4 FieldComputer", hubs[0]["FieldComputer"].clone()));
    strings.extend(items(sandbox, "/fieldhubs", "FieldHub").iter().map(|item| ("2.1 FieldHub", item["ID"].clone())));
    for place in items(sandbox, "/fieldhubs/all/currentlocation", "DeviceLocation") {
        strings.extend([("2.3 ID", place["ID"].clone()), ("2.3 DeviceId", place["DeviceId"].clone())]);
    }
    strings.push(("2.7 ID", get(sandbox, "/accesskey").send().json()["ID"].clone()));
    (integers, strings)
}

#[test]
fn ids_have_the_types_of_the_specification() {
    let (integers, strings) = ids(&with(&[]));
    assert!(integers.len() > 100 && strings.len() > 10, "{} {}", integers.len(), strings.len());
    for (section, id) in &integers {
        assert!(id.is_u64(), "{section}: {id}");
    }
    for (section, id) in &strings {
        assert!(id.is_string(), "{section}: {id}");
    }
}

#[test]
fn text_ids_are_a_variant() {
    let (integers, strings) = ids(&with(&["text-ids"]));
    for (section, id) in integers.iter().chain(&strings) {
        assert!(id.is_string(), "{section}: {id}");
    }
}

#[test]
fn numeric_ids_are_a_variant_for_string_ids_of_the_specification() {
    let (integers, strings) = ids(&with(&["numeric-ids"]));
    for (section, id) in integers.iter().chain(strings.iter().filter(|(section, _)| *section != "2.7 ID")) {
        assert!(id.is_u64(), "{section}: {id}");
    }
}
