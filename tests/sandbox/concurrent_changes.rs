//! Tests paging through locations while devices report: each record present throughout is returned exactly once.

#![expect(clippy::unwrap_used, reason = "tests expect by unwrapping")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use headland::sandbox::Sandbox;
use headland::sandbox::fields::{HarvestStyle, generate_account};
use headland::wire;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::headland_client::{arguments_for, client, id_of, row};
use super::raw_client::{generated, get, id_text, options, start, upload, zip_of};

/// How a list is read: its row, the device, the page size, and the seconds that pass before each page.
#[derive(Debug)]
struct Reading {
    row: &'static str,
    id: String,
    page_size: u32,
    pauses: Vec<u64>,
}

fn readings() -> impl Strategy<Value = Reading> {
    let account = generate_account(0, HarvestStyle::Ideal);
    let computer = account.computers[2].id.clone();
    let hub = account.hubs[2].id.clone();
    let lists = prop_oneof![
        (Just(("field_computers.locations", computer)), 40_u32..300, 0_u64..3_000),
        (Just(("field_hubs.locations", hub)), 700_u32..=1_000, 0_u64..2_000),
    ];
    (lists, prop::collection::vec(0_u64..100, 1..8)).prop_map(|(((row, id), page_size, longest), shares)| Reading {
        row,
        id,
        page_size,
        pauses: shares.into_iter().map(|share| longest * share / 100).collect(),
    })
}

fn ids_now(sandbox: &Sandbox, reading: &Reading) -> BTreeSet<String> {
    let group = if reading.row.starts_with("field_hubs") { "fieldhubs" } else { "fieldcomputers" };
    let reply = get(sandbox, &format!("/{group}/{}/locations?pageSize=0", reading.id)).send().json();
    let records = reply["DeviceLocation"].as_array().unwrap();
    records.iter().map(|record| id_text(&record["ID"])).collect()
}

async fn read(sandbox: &Arc<Sandbox>, reading: &Reading) -> Vec<String> {
    let client = client(sandbox, &[]);
    let given = arguments_for(reading.row, &[("id", &reading.id)]);
    let mut pages = client.pages(row(reading.row), given, Some(reading.page_size), None).unwrap();
    let mut found = Vec::new();
    let mut pauses = reading.pauses.iter().cycle();
    while let Some(page) = pages.next_page().await.unwrap() {
        found.extend(page.iter().map(id_of));
        sandbox.advance(Duration::from_secs(*pauses.next().unwrap()));
    }
    found
}

#[test]
fn record_present_throughout_is_returned_exactly_once_4_2() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut runner = TestRunner::new(Config::with_cases(crate::series::cases(16)));
    let outcome = runner.run(&readings(), |reading| {
        // Devices report as the clock advances, so one service for all cases would collect gigabytes of locations.
        let sandbox = Arc::new(start(options()));
        let before = ids_now(&sandbox, &reading);
        let found = runtime.block_on(read(&sandbox, &reading));
        let distinct: BTreeSet<String> = found.iter().cloned().collect();
        prop_assert_eq!(distinct.len(), found.len(), "no record comes twice");
        let missing = before.difference(&distinct).count();
        prop_assert_eq!(missing, 0, "of {} records", before.len());
        prop_assert!(distinct.is_subset(&ids_now(&sandbox, &reading)), "nothing is made up");
        Ok(())
    });
    outcome.unwrap();
}

#[tokio::test]
async fn jobs_added_during_paging_hide_no_other_and_none_is_returned_twice_4_2() {
    let sandbox = Arc::new(start(options()));
    let client = client(&sandbox, &[]);
    let before: BTreeSet<String> = generated().jobs.iter().map(|job| job.id.clone()).collect();
    for page_size in [1, 7, 20] {
        let mut pages =
            client.pages(row("job_data.list"), arguments_for("job_data.list", &[]), Some(page_size), None).unwrap();
        let (mut found, mut number) = (Vec::new(), 0);
        while let Some(page) = pages.next_page().await.unwrap() {
            found.extend(page.iter().map(id_of));
            number += 1;
            if number % 3 == 1 {
                let name = format!("{page_size}-{number}.jdp.zip");
                assert_eq!(upload(&sandbox, &name, &zip_of("a.shp", b"x")).send().status, 201);
            }
        }
        let distinct: BTreeSet<String> = found.iter().cloned().collect();
        assert_eq!(distinct.len(), found.len(), "no job comes twice");
        assert!(
            before.is_subset(&distinct),
            "pages of {page_size}: {} are missing",
            before.difference(&distinct).count()
        );
    }
}

#[tokio::test]
async fn map_state_is_followed_from_the_upload_to_the_computer_4_3() {
    let sandbox = Arc::new(start(options()));
    let client = client(&sandbox, &[]);
    let computer = generate_account(0, HarvestStyle::Ideal).computers.swap_remove(1).id;
    let file = headland::client::UploadFile {
        name: "rx.zip".to_owned(),
        content: super::maps::zip_with(super::maps::ONE).into(),
    };
    let created = client
        .upload(row("prescription_maps.upload"), &arguments_for("prescription_maps.upload", &[]), file)
        .await
        .unwrap();
    let given = arguments_for("prescription_maps.send", &[("rx_id", &created.id), ("field_computer_id", &computer)]);
    for kind in ["lost-reply", "reset", "truncated", "unavailable"] {
        sandbox.add_fault("prescription_maps.send", kind, 1).unwrap();
        client.send_command(row("prescription_maps.send"), &given).await.unwrap();
        sandbox.advance(Duration::from_secs(1_800));
    }
    let state = async |state: &str| {
        let name = "field_computers.prescription_maps";
        let mut pages =
            client.pages(row(name), arguments_for(name, &[("id", &computer), ("state", state)]), None, None).unwrap();
        let page = pages.next_page().await.unwrap().unwrap();
        page.iter().filter(|item| id_of(item) == created.id).count()
    };
    assert_eq!((state("queued").await, state("VALIDATED").await), (0, 1), "delivered four times, there once");
    let detail = client
        .detail(row("prescription_maps.get"), &arguments_for("prescription_maps.get", &[("id", &created.id)]))
        .await;
    assert_eq!(detail.unwrap().get("status").and_then(wire::Value::as_text), Some("SENT_TO_DEVICE"));
}
