//! What the service holds of devices, maps and grain carts, for the walk through every row in both content types.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests expect by unwrapping")]

use headland::api::{Endpoint, Place};
use headland::client::{Arguments, Client, Delivered, Target, UploadFile};
use headland::sandbox::Sandbox;
use headland::sandbox::fields::{Account, CartTruth, account};
use headland::wire::Value;

use super::client::{id_of, of, row};
use super::maps::{ONE, zip_with};

/// Whether what a row gives depends on the clock, which no two services share.
pub(crate) fn is_of_its_time(row: &Endpoint) -> bool {
    row.group() == "field_hubs" && row.name() != "list" || row.name().contains("location")
}

/// The arguments of a row that asks for a device, a job or a map.
fn arguments(row: &'static Endpoint) -> Arguments {
    let account = account(0);
    let id = match row.group() {
        "field_computers" => account.computers[0].id.clone(),
        "field_hubs" => account.hubs[0].id.clone(),
        "job_data" => account.maps[0].job.clone(),
        _ => account.maps[0].id.clone(),
    };
    let has_id = row.parameters.iter().any(|parameter| parameter.place == Place::Path);
    let given = [("id", id.as_str())];
    of(row.full_name, if has_id { &given[..] } else { &[] })
}

/// The first page of a list, whose ids are those that the service holds.
pub(crate) async fn page(client: &Client, row: &'static Endpoint) -> Vec<Value> {
    let mut pages = client.pages(row, arguments(row), Some(100), Some(0)).unwrap();
    let records = pages.next_page().await.unwrap().unwrap();
    let Account { computers, jobs, hubs, maps, .. } = account(0);
    let of_first = |job: &&headland::sandbox::fields::Job| {
        job.detail.get("field_computer_id").and_then(Value::as_text) == Some(&computers[0].id)
    };
    let known: Option<Vec<String>> = match row.full_name {
        "field_hubs.list" | "field_hubs.reports" => Some(hubs.iter().map(|hub| hub.id.clone()).collect()),
        "field_computers.job_data" => Some(jobs.iter().filter(of_first).map(|job| job.id.clone()).collect()),
        "job_data.prescription_maps" => Some(vec![maps[0].id.clone()]),
        "prescription_maps.list" | "field_computers.prescription_maps" => {
            assert!(records.iter().any(|record| id_of(record) == maps[0].id), "{}", row.full_name);
            None
        }
        _ => None,
    };
    if let Some(known) = known {
        assert_eq!(records.iter().map(id_of).collect::<Vec<_>>(), known, "{}", row.full_name);
    }
    match row.name() {
        "locations" => assert_eq!(records.len(), 100),
        "current_locations" => assert_eq!(records.len(), 3),
        _ => {}
    }
    assert!(!records.is_empty(), "{}", row.full_name);
    records
}

/// The one record of an index.
pub(crate) async fn one(client: &Client, row: &'static Endpoint) -> Vec<Value> {
    let record = client.detail(row, &arguments(row)).await.unwrap();
    let hub = account(0).hubs[0].id.clone();
    let name = if row.full_name == "field_hubs.get" { "id" } else { "device_id" };
    assert_eq!(record.get(name).and_then(Value::as_text), Some(hub.as_str()), "{}", row.full_name);
    if name == "id" {
        assert!(record.get("report").unwrap().get("rssi_bars").is_some());
    }
    vec![record]
}

/// What every prescription map of the account says of itself.
pub(crate) fn maps() -> Vec<(String, Value)> {
    let stored = |map: &headland::sandbox::fields::Prescription| {
        let name = Value::Text(map.name.clone());
        let created = Value::Time(map.created);
        (map.id.clone(), Value::Record(vec![("device_file_name".into(), name), ("create_date".into(), created)]))
    };
    account(0).maps.iter().map(stored).collect()
}

/// What every grain cart file says of itself.
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
    match client.download(row, &of(row.full_name, &[("id", &id)]), Target::Memory).await.unwrap() {
        Delivered::Bytes(bytes) => bytes,
        Delivered::File(path) => panic!("asked for bytes, got {}", path.display()),
    }
}

/// A new grain cart file.
pub(crate) async fn upload_cart(client: &Client, upload: &'static Endpoint) {
    let content = b"GrcVersion,1.6,\r\n".to_vec();
    let file = UploadFile { name: "new.grc".to_owned(), content: content.into() };
    let created = client.upload(upload, file).await.unwrap();
    let get = "grain_carts.get";
    let detail = client.detail(row(get), &of(get, &[("id", &created.id)])).await.unwrap();
    assert_eq!(detail.get("name"), Some(&Value::Text("new.grc".to_owned())));
}

/// A map as a file.
pub(crate) async fn download(client: &Client, row: &'static Endpoint) -> Vec<u8> {
    match client.download(row, &arguments(row), Target::Memory).await.unwrap() {
        Delivered::Bytes(bytes) => bytes,
        Delivered::File(path) => panic!("asked for bytes, got {}", path.display()),
    }
}

/// A new map, and the first computer's queue with it.
pub(crate) async fn upload_and_send(client: &Client, sandbox: &Sandbox) {
    let name = format!("{}.zip", sandbox.requests().len());
    let file = UploadFile { name: name.clone(), content: zip_with(ONE).into() };
    let created = client.upload(row("prescription_maps.upload"), file).await.unwrap();
    let get = "prescription_maps.get";
    let detail = client.detail(row(get), &of(get, &[("id", &created.id)])).await.unwrap();
    assert_eq!(detail.get("device_file_name"), Some(&Value::Text(name)));
    let send = "prescription_maps.send";
    let computer = account(0).computers[0].id.clone();
    let given = of(send, &[("rx_id", &created.id), ("field_computer_id", &computer)]);
    client.act(row(send), &given).await.unwrap();
    assert_eq!(client.act(row(send), &given).await.unwrap_err().kind(), headland::error::Kind::Conflict);
}

/// The products of each job, whose ids are those that the service holds.
pub(crate) async fn products(client: &Client, row: &'static Endpoint, details: usize) -> Vec<Value> {
    let mut all = Vec::new();
    for job in account(0).jobs.iter().take(details) {
        let found = client.rows(row, &of(row.full_name, &[("id", &job.id)])).await.unwrap();
        assert_eq!(found.batch.num_rows(), found.records.len());
        let Some(Value::List(held)) = job.detail.get("products") else { panic!("{} has no products", job.id) };
        let mut ids: Vec<_> = found.records.iter().map(|record| record.get("product_id").cloned()).collect();
        ids.dedup();
        assert_eq!(ids, held.iter().map(|product| product.get("id").cloned()).collect::<Vec<_>>(), "{}", job.id);
        all.extend(found.records);
    }
    all
}
