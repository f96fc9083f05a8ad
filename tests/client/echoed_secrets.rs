//! Tests services that send our secrets back: in errors, in replies with a 2XX status, in records, in headers.

use headland::client::{Client, Target};
use headland::error::{Error, Kind};
use headland::secret::Secret;
use headland::wire::{Content, Value};

use crate::payloads::{TOKEN, dispatching};
use crate::support::*;

const SECRETS: [&str; 5] = ["ApiKeyAbC123", SECRET, "AccessKeyXyZ789", TOKEN, "legacy-token"];

/// A secret in the forms that services may write it in.
fn forms(secret: &str) -> [String; 4] {
    use base64::Engine as _;
    [
        secret.to_owned(),
        secret.to_uppercase().replace('=', "%3d").replace('/', "%2F"),
        secret.replace('/', "\\/").replace('+', "\\u002b").replace('-', "\\u002d"),
        base64::engine::general_purpose::STANDARD.encode(secret),
    ]
}

fn assert_hidden(text: &str, form: &str, from: &str) {
    let text = text.to_ascii_lowercase();
    for secret in SECRETS.iter().flat_map(|secret| [(*secret).to_owned(), forms(secret)[3].clone()]) {
        assert!(!text.contains(&secret.to_ascii_lowercase()), "{from}: `{secret}` as `{form}`: {text}");
    }
    assert!(!text.contains(&form.to_ascii_lowercase()), "{from}: `{form}`: {text}");
}

fn all_of(error: &Error) -> String {
    format!("{error} {error:?} {:?}", error.facts())
}

/// Every way to make calls, each with its outcome as text.
async fn outcomes(client: &Client) -> Vec<(&'static str, Result<String, Error>)> {
    let id = |name| arguments(name, &[("id", "31")]);
    let debug_text = |value: Result<Value, Error>| value.map(|value| format!("{value:?}"));
    let mut pages = client.pages(row("job_data.list"), arguments("job_data.list", &[]), None, None).unwrap();
    let mut batches = client.pages(row("job_data.list"), arguments("job_data.list", &[]), None, None).unwrap();
    let mut first = client.pages(row("job_data.list"), arguments("job_data.list", &[]), None, None).unwrap();
    let mut list =
        client.link_pages(row("dispatch.products.list"), arguments("dispatch.products.list", &[]), None, None).unwrap();
    let download = client.download(row("job_data.download"), &id("job_data.download"), Target::Memory, None).await;
    let send = arguments("prescription_maps.send", &[("rx_id", "11"), ("field_computer_id", "12")]);
    let variation = headland::client::Variation::default();
    let delete = "dispatch.field_operations.delete";
    vec![
        ("detail", debug_text(client.detail(row("job_data.get"), &id("job_data.get")).await)),
        ("one of", debug_text(client.detail(row("field_hubs.get"), &id("field_hubs.get")).await)),
        ("rows", client.rows(row("job_data.products"), &id("job_data.products")).await.map(|rows| format!("{rows:?}"))),
        ("pages", pages.next_page().await.map(|page| format!("{page:?}"))),
        ("batches", batches.next_batch().await.map(|page| format!("{page:?}"))),
        ("first", first.first().await.map(|record| format!("{record:?}"))),
        ("download", download.map(|file| format!("{file:?}"))),
        ("send", client.send_command(row("prescription_maps.send"), &send).await.map(|()| String::new())),
        ("listing", list.next_page().await.map(|page| format!("{page:?}"))),
        ("payload", debug_text(client.payload(row(delete), &id(delete)).await)),
        ("examine", debug_text(client.examine(row("access_key"), variation).await.unwrap().outcome)),
    ]
}

#[tokio::test(start_paused = true)]
async fn echoed_secret_is_masked_in_every_reply() {
    for secret in SECRETS {
        for form in forms(secret) {
            let bodies = [
                (401, format!(r#"{{"status":"INVALID_REQUEST","errorInfo":"{form} is wrong","result":"r {form}"}}"#)),
                (400, format!("the key {form} is wrong")),
                (404, format!(r#"{{"title":"No {form}","errors":{{"a":"{form}"}}}}"#)),
                (200, format!(r#"{{"status":"CONVERSION_STATUS_FAILED","errorInfo":"No {form}.","result":"{form}"}}"#)),
                (
                    200,
                    format!(
                        "<R><status>FAILED {form}</status><errorInfo>No {form}</errorInfo><result>{form}</result></R>"
                    ),
                ),
                (200, format!(r#"{{"status":"INVALID_REQUEST","errorInfo":"{form}"}}"#)),
                (200, format!(r#"{{"ID":"31","Status":"{form}","New":{{"A":["{form}"]}},"{form}":1}}"#)),
                (
                    200,
                    format!(
                        r#"{{"TotalCount":1,"Note":"{form}","JobData":[{{"ID":"31","Name":"{form}","X":"{form}"}}]}}"#
                    ),
                ),
                (200, format!(r#"{{"TotalCount":1,"JobData":[{{"ID":"31","Name":"{form}"}}]}}"#)),
                (200, format!(r#"{{"TotalCount":1,"{form}":[{{"ID":"31"}}]}}"#)),
                (200, format!(r#"{{"TotalCount":1,"IsNextPage":"is {form}"}}"#)),
                (200, format!(r#"{{"ID":"31","CreateDate":"on {form}"}}"#)),
                (200, format!("<JobDataDetail><ID>31</ID><Status>{form}</Status></JobDataDetail>")),
                (
                    200,
                    format!(
                        "<XIndex><TotalCount>1</TotalCount><JobData><ID>31</ID><Name>{form}</Name></JobData></XIndex>"
                    ),
                ),
                (200, format!(r#"[{{"id":"{form}","name":["{form}"]}}]"#)),
                (200, format!("done with {form}")),
                (200, format!("<html><body>{form}</body></html>")),
                (200, format!("{}{form}", "x".repeat(40))),
            ];
            for (status, body) in bodies {
                let (sent, header) = (body.clone(), form.clone());
                let script = Script::new(move |_, _| {
                    let header = header.replace('\\', "");
                    let location = format!("https://elsewhere.example/{header}?token={header}");
                    let canned = canned(status, sent.clone()).with("location", location);
                    Ok(canned.with("content-type", format!("application/json; key={header}")))
                });
                let mut config = dispatching();
                config.accept = if body.starts_with('<') { Content::Xml } else { Content::Json };
                let client = client_of(config, &script);
                for (name, outcome) in outcomes(&client).await {
                    // A secret that is only a part of a value of a record is not masked.
                    let is_part = ["is", "on"].iter().any(|word| body.contains(&format!("\"{word} {form}")));
                    if is_part && outcome.is_ok() {
                        continue;
                    }
                    let text = outcome.unwrap_or_else(|error| all_of(&error));
                    assert_hidden(&text, &form, &format!("{name} of {status} {body}"));
                }
                assert_hidden(&client.take_warnings().join("\n"), &form, "a warning");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_masked_value_of_a_record_is_a_warning_that_names_its_field() {
    let body = r#"{"TotalCount":2,"JobData":[{"ID":"1","Name":"North"},{"ID":"2","Name":"AccessKeyXyZ789","SubType":"x AccessKeyXyZ789"}]}"#;
    let script = Script::new(move |_, _| Ok(ok(body)));
    let client = client(&script);
    let mut pages = client.pages(row("job_data.list"), arguments("job_data.list", &[]), None, None).unwrap();
    let records = pages.next_page().await.unwrap().unwrap();
    assert_eq!(records[0].get("name").and_then(Value::as_text), Some("North"));
    assert_eq!(records[1].get("name").and_then(Value::as_text), Some("...Z789"));
    assert_eq!(records[1].get("sub_type").and_then(Value::as_text), Some("x AccessKeyXyZ789"), "a longer text stays");
    let warnings = client.take_warnings();
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("job_data.list repeats the access key in `JobData[1].Name`:"), "{warnings:?}");
}

#[tokio::test(start_paused = true)]
async fn access_key_summary_contains_only_its_name() {
    let body = r#"{"AccessKey":"AccessKeyXyZ789","FriendlyName":"ApiKeyAbC123","IsActive":true}"#;
    let script = Script::new(move |_, _| Ok(ok(body)));
    let client = client(&script);
    let summary = client.detail(row("access_key"), &arguments("access_key", &[])).await.unwrap();
    assert_eq!(summary.get("access_key").and_then(Value::as_text), Some("AccessKeyXyZ789"), "section 2.7");
    assert_eq!(summary.get("friendly_name").and_then(Value::as_text), Some("...C123"));
    assert_eq!(client.take_warnings().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn short_secrets_are_masked_only_as_whole_texts() {
    let mut config = config();
    config.access_key = Secret::new("field");
    let body = r#"{"ID":"31","DeviceFileName":"field 7","Status":"field"}"#;
    let script = Script::new(move |number, _| Ok(if number == 0 { ok(body) } else { canned(400, "no field 7") }));
    let client = client_of(config, &script);
    let given = arguments("job_data.get", &[("id", "31")]);
    let detail = client.detail(row("job_data.get"), &given).await.unwrap();
    assert_eq!(detail.get("device_file_name").and_then(Value::as_text), Some("field 7"));
    assert_eq!(detail.get("status").and_then(Value::as_text), Some("(hidden)"));
    let error = client.detail(row("job_data.get"), &given).await.unwrap_err();
    assert_eq!(error.kind(), Kind::InvalidRequest);
    assert!(error.message().contains("no field 7"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn file_name_does_not_show_a_secret() {
    let folder = tempfile::tempdir().unwrap();
    let disposition = "attachment; filename=\"ApiKeyAbC123.zip\"";
    let script = Script::new(move |_, _| Ok(ok(zip_of(b"x")).with("content-disposition", disposition)));
    let to = Target::Disk { to: folder.path().to_owned(), overwrite: false };
    client(&script)
        .download(row("job_data.download"), &arguments("job_data.download", &[("id", "31")]), to, None)
        .await
        .unwrap();
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["C123.zip"]);
}
