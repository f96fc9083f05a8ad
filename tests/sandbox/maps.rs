//! Tests prescription maps at the service: uploaded by the rules, queued, delivered when the computer polls.

#![expect(clippy::unwrap_used, reason = "tests expect by unwrapping")]

use std::io::{Cursor, Read as _};
use std::time::Duration;

use headland::archive::Source;
use headland::layer;
use headland::sandbox::fields::{HarvestStyle, generate_account};
use headland::sandbox::{Options, Sandbox};

use super::raw_client::{Reply, call, get, ids, options, start};

/// A zip with these members, each of one byte.
pub(crate) fn zip_with(members: &[&str]) -> Vec<u8> {
    use std::io::Write as _;
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for member in members {
        zip.start_file(*member, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(b"x").unwrap();
    }
    zip.finish().unwrap().into_inner()
}

pub(crate) const ONE: &[&str] = &["a.shp", "a.shx", "a.dbf"];

fn upload(sandbox: &Sandbox, name: &str, kind: Option<&str>, content: &[u8]) -> Reply {
    let mut call = call(sandbox, "POST", "/prescriptionmaps");
    call.headers.push(("Content-Type".to_owned(), "multipart/form-data; boundary=XX".to_owned()));
    let mut body =
        format!("--XX\r\nContent-Disposition: form-data; name=\"FileName\"; filename=\"{name}\"\r\n\r\n").into_bytes();
    body.extend_from_slice(content);
    if let Some(kind) = kind {
        body.extend_from_slice(
            format!("\r\n--XX\r\nContent-Disposition: form-data; name=\"filetype\"\r\n\r\n{kind}").as_bytes(),
        );
    }
    body.extend_from_slice(b"\r\n--XX--\r\n");
    call.body = body;
    call.send()
}

fn uploaded(sandbox: &Sandbox, name: &str) -> String {
    let reply = upload(sandbox, name, Some("RX"), &zip_with(ONE));
    assert_eq!(reply.status, 201, "{}", reply.text());
    reply.get("location").unwrap().rsplit('/').next().unwrap().to_owned()
}

fn put(sandbox: &Sandbox, map: &str, computer: &str) -> Reply {
    call(sandbox, "PUT", &format!("/PrescriptionMaps/{map}/FieldComputers/{computer}")).send()
}

fn sent(sandbox: &Sandbox, computer: &str, query: &str) -> Vec<String> {
    ids(
        &get(sandbox, &format!("/fieldcomputers/{computer}/prescriptionmaps?pageSize=0{query}")).send(),
        "PrescriptionMap",
    )
}

fn computer(place: usize) -> String {
    generate_account(0, HarvestStyle::Ideal).computers.swap_remove(place).id.replace(' ', "%20").replace('+', "%2B")
}

#[test]
fn new_map_is_listed_first_and_described_2_5_and_4_2() {
    let sandbox = start(options());
    let before = ids(&get(&sandbox, "/prescriptionmaps?pageSize=0").send(), "PrescriptionMap");
    assert_eq!(before.len(), generate_account(0, HarvestStyle::Ideal).maps.len());
    let id = uploaded(&sandbox, "North 40.zip");
    let after = ids(&get(&sandbox, "/prescriptionmaps?pageSize=0").send(), "PrescriptionMap");
    assert_eq!((&after[0], &after[1..]), (&id, &before[..]));
    let item = get(&sandbox, "/prescriptionmaps?pageSize=1").send().json()["PrescriptionMap"][0].clone();
    assert_eq!((item["Name"].as_str(), item["SubType"].as_str()), (Some("North 40.zip"), Some("Prescription Map")));
    let detail = get(&sandbox, &format!("/prescriptionmaps/{id}")).send().json();
    assert_eq!((&detail["DeviceFileName"], &detail["JobType"]), (&"North 40.zip".into(), &"PrescriptionMap".into()));
    assert!(detail["Status"].is_null(), "not delivered yet");
    let created = detail["CreateDate"].as_str().unwrap();
    assert_eq!((created.len(), created.find('.')), ("2026-09-01T00:00:00.000Z".len(), Some(19)), "{created}");
    for file in detail["AvailableFiles"].as_array().unwrap() {
        let path = file["Uri"].as_str().unwrap().strip_prefix(&sandbox.base_url()).unwrap();
        assert_eq!(get(&sandbox, path).send().body, zip_with(ONE), "{path}");
    }
}

#[test]
fn map_is_queued_until_the_computer_polls_section_3() {
    let sandbox = start(options());
    let computer = computer(0);
    let id = uploaded(&sandbox, "rx.zip");
    let before = sent(&sandbox, &computer, "");
    assert!(!before.is_empty() && !before.contains(&id), "generated maps were delivered long ago");
    assert_eq!(put(&sandbox, &id, &computer).status, 200);
    assert_eq!(sent(&sandbox, &computer, "&state=queued"), std::slice::from_ref(&id));
    assert_eq!(sent(&sandbox, &computer, ""), before, "queued maps are listed with state=queued alone");
    // The timetable of the first computer: at 0, 5, 30 and 35 minutes past the hour.
    let mut minutes = 0;
    while sent(&sandbox, &computer, "&STATE=Queued") == std::slice::from_ref(&id) {
        sandbox.advance(Duration::from_secs(60));
        minutes += 1;
        assert!(minutes <= 30, "a computer is online in every half hour");
    }
    let minute = sandbox.now().format("%M").to_string();
    assert!(["00", "05", "30", "35"].contains(&minute.as_str()), "delivered at minute {minute}");
    let after = sent(&sandbox, &computer, "&state=validated");
    assert_eq!((&after[0], &after[1..]), (&id, &before[..]));
    let detail = get(&sandbox, &format!("/prescriptionmaps/{id}")).send().json();
    assert_eq!(detail["Status"], "SENT_TO_DEVICE");
    assert!(detail["UpdateDate"].as_str() > detail["CreateDate"].as_str());
    assert_eq!(put(&sandbox, &id, &computer).status, 200, "it may be sent again");
    assert_eq!(get(&sandbox, &format!("/fieldcomputers/{computer}/prescriptionmaps?state=lost")).send().status, 400);
}

#[test]
fn both_conflicts_leave_the_file_unqueued_4_3_and_7() {
    for (variants, status) in [(Vec::new(), 409), (vec!["conflict-200".to_owned()], 200)] {
        let sandbox = start(Options { variants, ..options() });
        let (computer, other) = (computer(0), computer(2));
        let (first, twin) = (uploaded(&sandbox, "rx.zip"), uploaded(&sandbox, "RX.zip"));
        assert_eq!(put(&sandbox, &first, &computer).status, 200);
        let same = put(&sandbox, &first, &computer);
        assert_eq!((same.status, same.json()["status"].clone()), (status, "INVALID_REQUEST".into()));
        assert!(same.info().contains("wait"), "{}", same.info());
        let name = put(&sandbox, &twin, &computer);
        assert_eq!(name.status, status);
        assert!(name.info().contains("same name"), "{}", name.info());
        assert_eq!(sent(&sandbox, &computer, "&state=queued"), [first]);
        assert_eq!(put(&sandbox, &twin, &other).status, 200, "another computer is another queue");
    }
}

#[test]
fn legacy_device_has_one_file_of_a_name_4_3() {
    let sandbox = start(options());
    let deliver = || sandbox.advance(Duration::from_secs(1_800));
    for (place, kept) in [(1, 1), (0, 2)] {
        let computer = computer(place);
        let (first, second) = (uploaded(&sandbox, "field.zip"), uploaded(&sandbox, "Field.ZIP"));
        let before = sent(&sandbox, &computer, "").len();
        assert_eq!(put(&sandbox, &first, &computer).status, 200);
        assert_eq!(put(&sandbox, &second, &computer).status, 409, "only the first file transfers");
        deliver();
        assert_eq!(put(&sandbox, &second, &computer).status, 200);
        deliver();
        let after = sent(&sandbox, &computer, "");
        assert_eq!(after.len() - before, kept, "computer {place}: an existing name is overwritten on a legacy device");
        assert_eq!(after[0], second);
    }
}

#[test]
fn sending_an_unknown_map_is_404_and_allowed_methods_are_named_7() {
    let sandbox = start(options());
    let id = uploaded(&sandbox, "rx.zip");
    assert_eq!(put(&sandbox, "1", &computer(0)).status, 404);
    assert_eq!(put(&sandbox, &id, "1").status, 404);
    let path = format!("/prescriptionmaps/{id}/fieldcomputers/{}", computer(0));
    let other = sandbox.keys().other_access_key.clone();
    assert_eq!(call(&sandbox, "PUT", &path).by_customer(&other).send().status, 404);
    assert_eq!(get(&sandbox, &format!("/prescriptionmaps/{id}")).by_customer(&other).send().status, 404);
    let wrong = get(&sandbox, &path).send();
    assert_eq!((wrong.status, wrong.get("allow")), (405, Some("PUT")));
}

#[test]
fn agx_and_rad_cannot_be_downloaded_4_2() {
    let sandbox = start(options());
    let id = &generate_account(0, HarvestStyle::Ideal).maps[0].id;
    for (format, word) in [("AgX", "not supported"), ("rad", "cannot be downloaded"), ("pdf", "one of bin, shp")] {
        let reply = get(&sandbox, &format!("/prescriptionmaps/{id}?format={format}")).send();
        assert_eq!((reply.status, reply.json()["status"].clone()), (400, "INVALID_REQUEST".into()), "{format}");
        assert!(reply.info().contains(word), "{format}: {}", reply.info());
    }
}

#[test]
fn generated_map_has_the_target_rates_of_its_job() {
    let sandbox = start(options());
    let account = generate_account(0, HarvestStyle::Ideal);
    assert!(account.maps.len() >= 12);
    for map in account.maps.iter().take(4) {
        let used = get(&sandbox, &format!("/jobdata/{}/prescriptionmaps", map.job)).send();
        assert_eq!(ids(&used, "PrescriptionMap"), std::slice::from_ref(&map.id));
        let computer = map.computer.replace(' ', "%20").replace('+', "%2B");
        assert!(sent(&sandbox, &computer, "").contains(&map.id));
        let zip = get(&sandbox, &format!("/prescriptionmaps/{}?format=shp", map.id)).send().body;
        let read = layer::read(&Source::Bytes(zip.into()), &layer::ReadOptions::default()).unwrap();
        assert!(read.len() > 20);
        let job = account.jobs.iter().find(|job| job.id == map.job).unwrap();
        let products = job.detail.get("products").unwrap();
        let headland::wire::Value::List(products) = products else { unreachable!() };
        let target = |one: &str, other: &str| match products[0].get(one).or_else(|| products[0].get(other)) {
            Some(headland::wire::Value::Decimal(value)) => *value,
            found => unreachable!("{found:?}"),
        };
        let bin = get(&sandbox, &format!("/prescriptionmaps/{}?format=BIN", map.id)).send().body;
        let mut archive = zip::ZipArchive::new(Cursor::new(bin)).unwrap();
        let mut grid = Vec::new();
        archive.by_index(0).unwrap().read_to_end(&mut grid).unwrap();
        assert_eq!(
            (&grid[..6], (grid.len() - 8) / 24),
            (&b"RXGRID"[..], read.len()),
            "both files have the same squares"
        );
        let scale = if job.sub_type == "Planter" { 1.0 } else { 100.0 };
        let targets = || grid[8..].chunks(24).map(|row| i64::from_le_bytes(row[16..].try_into().unwrap()));
        let [lowest, highest] =
            [targets().min(), targets().max()].map(|found| f64::from(i32::try_from(found.unwrap()).unwrap()) / scale);
        assert!(lowest <= target("target_minimum", "target_rate_min"), "{}", map.name);
        assert!(highest >= target("target_maximum", "target_rate_max"), "{}", map.name);
    }
    let harvest = account.jobs.iter().find(|job| job.sub_type == "Yield").unwrap();
    assert!(
        ids(&get(&sandbox, &format!("/jobdata/{}/prescriptionmaps", harvest.id)).send(), "PrescriptionMap").is_empty()
    );
    assert_eq!(get(&sandbox, "/jobdata/1/prescriptionmaps").send().status, 404);
}
