//! Compares devices, maps and grain carts with the stored ones, for the test of every row in both content types.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests expect by unwrapping")]

use std::sync::LazyLock;

use headland::api::{Endpoint, Place, Returns};
use headland::client::{Arguments, Client, Delivered, Target, UploadFile};
use headland::sandbox::Sandbox;
use headland::sandbox::fields::{Account, CartFormat, CartTruth, HarvestStyle, Hub, generate_account};
use headland::wire::Value;

use super::headland_client::{arguments_for, id_of, row};
use super::maps::{ONE, zip_with};

/// The customer's account, generated once.
static ACCOUNT: LazyLock<Account> = LazyLock::new(|| generate_account(0, HarvestStyle::Ideal));

/// Whether the result of a row depends on the clock, which no two services share.
pub(crate) fn is_of_its_time(row: &Endpoint) -> bool {
    row.group() == "field_hubs" && row.name() != "list" || row.name().contains("location")
}

/// The arguments of a row that needs a device, a job or a map.
fn arguments(row: &'static Endpoint) -> Arguments {
    let account = &*ACCOUNT;
    let id = match row.group() {
        "field_computers" => account.computers[0].id.clone(),
        "field_hubs" => account.hubs[0].id.clone(),
        "job_data" => account.maps[0].job.clone(),
        _ => account.maps[0].id.clone(),
    };
    let has_id = row.parameters.iter().any(|parameter| parameter.place == Place::Path);
    let given = [("id", id.as_str())];
    arguments_for(row.full_name, if has_id { &given[..] } else { &[] })
}

/// The first page of a list, whose ids are the stored ones.
pub(crate) async fn page(client: &Client, row: &'static Endpoint) -> Vec<Value> {
    let mut pages = client.pages(row, arguments(row), Some(100), Some(0)).unwrap();
    let records = pages.next_page().await.unwrap().unwrap();
    let Account { computers, jobs, hubs, maps, .. } = &*ACCOUNT;
    let of_first = |job: &&headland::sandbox::fields::Job| {
        job.detail.get("field_computer_id").and_then(Value::as_text) == Some(&computers[0].id)
    };
    let found: Vec<_> = records.iter().map(id_and_name).collect();
    let of_map = (maps[0].id.clone(), maps[0].name.clone());
    let known: Option<Vec<(String, String)>> = match row.full_name {
        "field_hubs.list" | "field_hubs.reports" => {
            Some(hubs.iter().map(|hub| (hub.id.clone(), hub.name.to_owned())).collect())
        }
        "field_computers.job_data" => {
            Some(jobs.iter().filter(of_first).map(|job| (job.id.clone(), job.name.clone())).collect())
        }
        "job_data.prescription_maps" => Some(vec![of_map]),
        "prescription_maps.list" | "field_computers.prescription_maps" => {
            assert!(found.contains(&of_map), "{}: {found:?}", row.full_name);
            None
        }
        _ => None,
    };
    if let Some(known) = known {
        assert_eq!(found, known, "{}", row.full_name);
    }
    match row.name() {
        "locations" => assert_eq!(records.len(), 100),
        "current_locations" => assert_eq!(records.len(), 3),
        "reports" => records.iter().zip(hubs).for_each(|(record, hub)| is_hub(record, hub)),
        _ => {}
    }
    if row.name().contains("location") {
        records.iter().for_each(is_on_its_track);
    }
    assert!(!records.is_empty(), "{}", row.full_name);
    records
}

fn id_and_name(record: &Value) -> (String, String) {
    (id_of(record), record.get("name").and_then(Value::as_text).unwrap_or_default().to_owned())
}

/// Asserts that a hub has the stored fields, and a report of its position.
fn is_hub(record: &Value, hub: &Hub) {
    let text = |name: &str| record.get(name).and_then(Value::as_text);
    assert_eq!((text("name"), text("model")), (Some(hub.name), Some(hub.model)));
    assert_eq!(text("field_computer"), hub.computer.as_deref());
    let report = record.get("report").unwrap();
    assert_eq!(report.get("device_id").and_then(Value::as_text), Some(hub.id.as_str()));
    is_on_its_track(report);
}

/// Asserts that a record of a position is on the track of its device. The record's id contains the time, as half
/// minutes since 1970 times 64, and the device's number. Devices are 1,770 seconds apart on their tracks.
fn is_on_its_track(record: &Value) {
    let Account { computers, hubs, .. } = &*ACCOUNT;
    let device = record.get("device_id").and_then(Value::as_text).unwrap();
    let of_hub = hubs.iter().find(|hub| hub.id == device).map(|hub| &hub.track);
    let of_computer = || computers.iter().find(|computer| computer.id == device).map(|computer| &computer.track);
    let id: i64 = id_of(record).parse().unwrap();
    let at = id / 64 * 30;
    let place = of_hub.or_else(of_computer).unwrap().state_at(at + id % 64 * 1_770);
    for (name, expected) in [("lat", place.lat), ("lon", place.lon)] {
        assert!(
            matches!(record.get(name), Some(Value::Decimal(found)) if (found - expected).abs() < 1e-6),
            "{record:?}"
        );
    }
    assert_eq!(record.get("alt"), Some(&Value::Integer(place.alt)));
    assert_eq!(record.get("direction"), Some(&Value::Integer(place.direction)));
    if record.get("valid") == Some(&Value::Boolean(true)) {
        assert_eq!(record.get("speed"), Some(&Value::Integer(place.speed)));
        assert!(matches!(record.get("gps_date_time"), Some(Value::Time(time)) if time.timestamp() == at), "{record:?}");
    } else {
        assert_eq!(record.get("gps_date_time"), Some(&Value::Null), "2.3: a zero date is no time");
    }
}

/// The file of a job, checked against its truth.
pub(crate) fn of_job(id: &str, format: &str, found: Vec<u8>) -> Vec<u8> {
    let job = ACCOUNT.jobs.iter().find(|job| job.id == id).unwrap();
    let stored = if format == "BIN" { job.display_zip() } else { job.shapefile_zip() };
    assert!(stored.unwrap() == found, "{format} of job {id}");
    found
}

/// The one record of an index.
pub(crate) async fn one(client: &Client, row: &'static Endpoint) -> Vec<Value> {
    let record = client.detail(row, &arguments(row)).await.unwrap();
    let hub = &ACCOUNT.hubs[0];
    let name = if row.full_name == "field_hubs.get" { "id" } else { "device_id" };
    assert_eq!(record.get(name).and_then(Value::as_text), Some(hub.id.as_str()), "{}", row.full_name);
    if name == "id" {
        is_hub(&record, hub);
        assert_eq!(record.get("make").and_then(Value::as_text), Some(hub.make));
        assert!(record.get("report").unwrap().get("rssi_bars").is_some());
    } else {
        is_on_its_track(&record);
    }
    vec![record]
}

/// The stored fields of every prescription map of the account.
pub(crate) fn maps() -> Vec<(String, Value)> {
    let stored = |map: &headland::sandbox::fields::Prescription| {
        let name = Value::Text(map.name.clone());
        let created = Value::Time(map.created);
        (map.id.clone(), Value::Record(vec![("device_file_name".into(), name), ("create_date".into(), created)]))
    };
    ACCOUNT.maps.iter().map(stored).collect()
}

/// The stored fields of every grain cart file.
pub(crate) fn carts(sandbox: &Sandbox) -> Vec<(String, Value)> {
    let record = |cart: &CartTruth| {
        let text = |text: &String| Value::Text(text.clone());
        Value::Record(vec![("id".into(), text(&cart.id)), ("name".into(), text(&cart.name))])
    };
    sandbox.cart_truth().iter().map(|cart| (cart.id.clone(), record(cart))).collect()
}

/// The first grain cart file.
pub(crate) async fn download_cart(client: &Client, row: &'static Endpoint, sandbox: &Sandbox) -> Vec<u8> {
    let id = sandbox.cart_truth().remove(0).id;
    match client.download(row, &arguments_for(row.full_name, &[("id", &id)]), Target::Memory, None).await.unwrap() {
        Delivered::Bytes(bytes) => {
            let stored = ACCOUNT.carts.iter().find(|cart| cart.id == id).unwrap();
            assert!(stored.content(CartFormat::default()) == bytes, "{}", row.full_name);
            bytes
        }
        Delivered::File(path) => panic!("asked for bytes, got {}", path.display()),
    }
}

/// A new grain cart file.
pub(crate) async fn upload_cart(client: &Client, upload: &'static Endpoint) {
    let content = b"GrcVersion,1.6,\r\n".to_vec();
    let file = UploadFile { name: "new.grc".to_owned(), content: content.into() };
    let created = client.upload(upload, &arguments_for(upload.full_name, &[]), file).await.unwrap();
    let get = "grain_carts.get";
    let detail = client.detail(row(get), &arguments_for(get, &[("id", &created.id)])).await.unwrap();
    assert_eq!(detail.get("name"), Some(&Value::Text("new.grc".to_owned())));
}

/// A map as a file, and as the shapefile that is read into a layer.
pub(crate) async fn download(client: &Client, row: &'static Endpoint) -> Vec<u8> {
    match client.download(row, &arguments(row), Target::Memory, None).await.unwrap() {
        Delivered::Bytes(bytes) => {
            let map = &ACCOUNT.maps[0];
            let is_layer = matches!(row.returns, Returns::Layer);
            let stored = if is_layer { map.shapefile_zip() } else { map.display_zip() };
            assert!(stored.unwrap() == bytes, "{}", row.full_name);
            bytes
        }
        Delivered::File(path) => panic!("asked for bytes, got {}", path.display()),
    }
}

/// A new map in the queue of the first computer.
pub(crate) async fn upload_and_send(client: &Client, sandbox: &Sandbox) {
    let name = format!("{}.zip", sandbox.requests().len());
    let file = UploadFile { name: name.clone(), content: zip_with(ONE).into() };
    let created = client
        .upload(row("prescription_maps.upload"), &arguments_for("prescription_maps.upload", &[]), file)
        .await
        .unwrap();
    let get = "prescription_maps.get";
    let detail = client.detail(row(get), &arguments_for(get, &[("id", &created.id)])).await.unwrap();
    assert_eq!(detail.get("device_file_name"), Some(&Value::Text(name)));
    let send = "prescription_maps.send";
    let computer = ACCOUNT.computers[0].id.clone();
    let given = arguments_for(send, &[("rx_id", &created.id), ("field_computer_id", &computer)]);
    client.send_command(row(send), &given).await.unwrap();
    assert_eq!(client.send_command(row(send), &given).await.unwrap_err().kind(), headland::error::Kind::Conflict);
}

/// The products of each job, whose ids are the stored ones.
pub(crate) async fn products(client: &Client, row: &'static Endpoint, details: usize) -> Vec<Value> {
    let mut all = Vec::new();
    for job in generate_account(0, HarvestStyle::Ideal).jobs.iter().take(details) {
        let found = client.rows(row, &arguments_for(row.full_name, &[("id", &job.id)])).await.unwrap();
        assert_eq!(found.batch.num_rows(), found.records.len());
        let Some(Value::List(held)) = job.detail.get("products") else { panic!("{} has no products", job.id) };
        let mut ids: Vec<_> = found.records.iter().map(|record| record.get("product_id").cloned()).collect();
        ids.dedup();
        assert_eq!(ids, held.iter().map(|product| product.get("id").cloned()).collect::<Vec<_>>(), "{}", job.id);
        all.extend(found.records);
    }
    all
}
