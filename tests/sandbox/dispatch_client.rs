//! Tests headland's client at the dispatch service and the legacy order service (specification 4.6, 4.7): it reads the
//! same as an independent client under every variant.

#![expect(clippy::unwrap_used, reason = "tests expect by unwrapping")]

use std::sync::Arc;

use headland::api::{self, Returns, Service};
use headland::client::Client;
use headland::error::{Error, Kind};
use headland::sandbox::{Options, Sandbox};
use headland::wire::Value;

use super::dispatch::all;
use super::headland_client::{arguments_for, client, row};
use super::raw_client::{options, start};

const UNKNOWN_ID: &str = "00000000-0000-4000-8000-000000000000";

fn shared(variants: &[&str]) -> Arc<Sandbox> {
    Arc::new(start(Options { variants: variants.iter().map(|&name| name.to_owned()).collect(), ..options() }))
}

/// The ids in the paths of lists.
fn given(sandbox: &Sandbox, name: &str) -> Vec<(&'static str, String)> {
    match name {
        "dispatch.equipment.operations" => vec![("id", sandbox.equipment().unwrap().remove(0).0)],
        "legacy_orders.products" => vec![("account_id", sandbox.accounts().unwrap().remove(0).0)],
        _ => Vec::new(),
    }
}

async fn listed(client: &Client, name: &str, given: &[(&str, String)], page_size: u32) -> Result<Vec<String>, Error> {
    let given: Vec<(&str, &str)> = given.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut list = client.link_pages(row(name), arguments_for(name, &given), Some(page_size), None)?;
    let mut ids = Vec::new();
    while let Some(page) = list.next_page().await? {
        ids.extend(page.iter().map(|item| item.get("id").and_then(Value::as_text).unwrap().to_owned()));
    }
    Ok(ids)
}

async fn call(client: &Client, name: &str, given: &[(&str, &str)]) -> Result<Value, Error> {
    client.payload(row(name), &arguments_for(name, given)).await
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_text).unwrap()
}

#[tokio::test]
async fn every_list_is_read_completely_under_every_variant_4_7() {
    let habits: [&[&str]; 6] = [
        &[],
        &["location-get", "location-no-question"],
        &["location-no-dollar", "location-last"],
        &["no-total-count"],
        &["location-get", "location-no-question", "location-no-dollar", "location-last", "no-total-count"],
        &["wild"],
    ];
    for variants in habits {
        let sandbox = shared(variants);
        let client = client(&sandbox, &[]);
        for row in api::rows().filter(|row| matches!(row.returns, Returns::Listing(_))) {
            let given = given(&sandbox, row.full_name);
            let root = if row.service() == Service::Dispatch { "/dispatch" } else { "/legacy-orders" };
            let path = given.iter().fold(row.path.to_owned(), |path, (_, id)| {
                let (front, rest) = path.split_once('{').unwrap();
                format!("{front}{id}{}", rest.split_once('}').unwrap().1)
            });
            let target = format!("{root}{path}");
            let stored = tokio::task::spawn_blocking({
                let sandbox = Arc::clone(&sandbox);
                move || all(&sandbox, &target)
            });
            let stored: Vec<String> =
                stored.await.unwrap().iter().map(|record| record["id"].as_str().unwrap().to_owned()).collect();
            assert!(stored.len() > 30, "{}", row.full_name);
            for page_size in [7, 1_000] {
                let read = listed(&client, row.full_name, &given, page_size).await.unwrap();
                assert_eq!(read, stored, "{} under {variants:?}, {page_size}", row.full_name);
            }
        }
    }
}

#[tokio::test]
async fn work_is_created_released_completed_and_deleted_4_6_3() {
    let sandbox = shared(&["wild"]);
    let client = client(&sandbox, &[]);
    let made =
        call(&client, "dispatch.field_operations.create", &[("body", r#"{"operation":"Planting"}"#)]).await.unwrap();
    let id = text(&made, "id");
    assert_eq!(text(&made, "status"), "Pre-Released");
    let released = call(&client, "dispatch.field_operations.release", &[("id", id)]).await.unwrap();
    assert_eq!(text(&released, "status"), "Released");
    let again = call(&client, "dispatch.field_operations.release", &[("id", id)]).await.unwrap_err();
    assert_eq!((again.kind(), again.facts().status), (Kind::Conflict, Some(409)));
    let lacking = call(&client, "dispatch.field_operations.complete", &[("id", id), ("body", "{}")]).await.unwrap_err();
    assert_eq!(lacking.kind(), Kind::InvalidRequest);
    assert!(lacking.message().contains("startTime") && lacking.message().contains("endTime"), "{lacking}");
    let done = r#"{"startTime":"2026-05-01T06:00:00Z","endTime":"2026-05-01T09:30:00Z"}"#;
    let completion = call(&client, "dispatch.field_operations.complete", &[("id", id), ("body", done)]).await.unwrap();
    let known = [("id", id), ("completion_id", text(&completion, "id"))];
    assert_eq!(call(&client, "dispatch.field_operations.delete_completion", &known).await.unwrap(), Value::Null);
    assert_eq!(call(&client, "dispatch.field_operations.delete", &[("id", id)]).await.unwrap(), Value::Null);
    let gone = call(&client, "dispatch.field_operations.delete", &[("id", id)]).await.unwrap_err();
    assert_eq!(gone.kind(), Kind::NotFound);
    assert!(gone.message().contains(id), "{gone}");
}

#[tokio::test]
async fn delete_with_a_lost_reply_succeeds_and_post_is_not_sent_again() {
    let sandbox = shared(&[]);
    let client = client(&sandbox, &[]);
    let made = call(&client, "dispatch.field_operations.create", &[("body", "{}")]).await.unwrap();
    for kind in ["truncated", "reset", "500", "503", "429"] {
        sandbox.add_fault("dispatch.field_operations.set_target", kind, 2).unwrap();
        let given = [("id", text(&made, "id")), ("body", r#"{"a":1}"#)];
        call(&client, "dispatch.field_operations.set_target", &given).await.unwrap();
    }
    sandbox.add_fault("dispatch.field_operations.delete", "503", 1).unwrap();
    assert_eq!(
        call(&client, "dispatch.field_operations.delete", &[("id", text(&made, "id"))]).await.unwrap(),
        Value::Null
    );
    let never = call(&client, "dispatch.field_operations.delete", &[("id", UNKNOWN_ID)]).await.unwrap_err();
    assert_eq!(never.kind(), Kind::NotFound);
    for kind in ["reset", "500", "503"] {
        let posts = || sandbox.requests().iter().filter(|request| request.method == "POST").count();
        let before = posts();
        sandbox.add_fault("legacy_orders.create_order", kind, 1).unwrap();
        let unknown = call(&client, "legacy_orders.create_order", &[("body", "{}")]).await.unwrap_err();
        assert_eq!((unknown.kind(), posts()), (Kind::UploadOutcomeUnknown, before + 1), "{kind}");
    }
}

#[tokio::test]
async fn foreign_or_looping_locations_are_errors_4_7() {
    for (kind, expected) in
        [("foreign-location", "not requested"), ("looping-location", "circles"), ("repeated-page", "circles")]
    {
        let sandbox = shared(&[]);
        sandbox.add_fault("legacy_orders.blends", kind, 1).unwrap();
        let error = listed(&client(&sandbox, &[]), "legacy_orders.blends", &[], 10).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Decode);
        assert!(error.message().contains(expected), "{kind}: {error}");
        assert!(sandbox.requests().len() <= 2, "{kind}");
    }
}
