//! Tests calls of the dispatch service and the legacy order service: tokens, payloads, errors, lost replies.

use std::time::Duration;

use headland::api::{self, Method, Returns, Service};
use headland::client::{Arguments, Client, Config, Token};
use headland::error::{Error, Kind};
use headland::secret::Secret;
use headland::transport::{FaultKind, Request};
use headland::wire::Value;

use crate::support::*;

pub(crate) const TOKEN: &str = "token-AbC.123_x~y";
pub(crate) const CREATE: &str = "dispatch.field_operations.create";
const DELETE: &str = "dispatch.field_operations.delete";
const BODY: &str = r#"{"name":"North 40","rate":90.10,"b":1,"a":2}"#;

pub(crate) fn dispatching() -> Config {
    let token = |text: &str| Some(Token::Fixed(Secret::new(text)));
    Config {
        dispatch_url: Some("https://dispatch.example/v2/".to_owned()),
        dispatch_token: token(TOKEN),
        legacy_orders_url: Some("https://orders.example".to_owned()),
        legacy_token: token("legacy-token"),
        ..config()
    }
}

pub(crate) async fn make(client: &Client, name: &str) -> Result<Value, Error> {
    let given: Vec<(&str, &str)> = row(name)
        .parameters
        .iter()
        .map(|parameter| (parameter.name, if parameter.name == "body" { BODY } else { "a-b 7" }))
        .collect();
    client.payload(row(name), &arguments(name, &given)).await
}

fn header<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    request.headers.get(name).map(|value| value.to_str().unwrap())
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[tokio::test(start_paused = true)]
async fn every_payload_row_sends_the_token_and_not_the_keys_4_6() {
    let mut called = 0;
    for row in api::rows().filter(|row| matches!(row.returns, Returns::Payload)) {
        let script = Script::new(|_, _| Ok(ok(r#"{"fieldOperationId":7,"Status":"Released"}"#)));
        let client = client_of(dispatching(), &script);
        let answer = make(&client, row.full_name).await.unwrap();
        assert_eq!(answer.get("field_operation_id"), Some(&text("7")), "{}", row.full_name);
        assert_eq!(answer.get("status"), Some(&text("Released")));
        let request = script.request(0);
        let (base, token) = match row.service() {
            Service::Dispatch => ("https://dispatch.example/v2", TOKEN),
            _ => ("https://orders.example", "legacy-token"),
        };
        let path: String = row
            .path
            .split('/')
            .map(|part| if part.starts_with('{') { "a-b%207" } else { part })
            .collect::<Vec<_>>()
            .join("/");
        assert_eq!((request.method, request.url.as_str()), (row.method, format!("{base}{path}").as_str()));
        assert_eq!(header(&request, "authorization"), Some(format!("Bearer {token}").as_str()));
        assert_eq!(header(&request, "accept"), Some("application/json"));
        let changes = matches!(row.method, Method::Post | Method::Put);
        assert_eq!(header(&request, "prefer"), changes.then_some("return=representation"), "{}", row.full_name);
        let has_body = row.parameter("body").is_some();
        assert_eq!(header(&request, "content-type"), has_body.then_some("application/json"));
        assert_eq!(request.body.as_deref(), has_body.then_some(BODY.as_bytes()), "sent as it is");
        for (name, value) in &request.headers {
            assert!(!name.as_str().starts_with("x-ss"), "{name} went to {base}");
            let value = value.to_str().unwrap();
            assert!(!value.contains("ApiKeyAbC123") && !value.contains("AccessKeyXyZ789"), "{name}");
        }
        assert!(!format!("{request:?}{client:?}{:?}", dispatching()).contains(token), "the token is not printed");
        called += 1;
    }
    assert_eq!(called, 20);
}

#[tokio::test(start_paused = true)]
async fn missing_configuration_is_an_error_before_any_call() {
    let script = Script::new(|_, _| Ok(ok("{}")));
    let blank = Config {
        dispatch_url: None,
        dispatch_token: None,
        legacy_orders_url: None,
        legacy_token: None,
        ..dispatching()
    };
    for (config, name, expected) in [
        (blank.clone(), CREATE, "`dispatch_url`"),
        (Config { dispatch_token: None, ..dispatching() }, CREATE, "`dispatch_token`"),
        (blank, "legacy_orders.create_order", "`legacy_orders_url` or `legacy_dispatch_url`"),
        (Config { legacy_token: None, ..dispatching() }, "legacy_orders.create_order", "`legacy_token`"),
        (Config { dispatch_token: Some(Token::PerCall), ..dispatching() }, CREATE, "returned None for this call"),
    ] {
        let error = make(&client_of(config, &script), name).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Configuration);
        assert!(error.message().contains(expected), "{error}");
    }
    for (config, expected) in [
        (Config { dispatch_url: Some("http://dispatch.example".to_owned()), ..dispatching() }, "dispatch_url"),
        (Config { legacy_orders_url: Some("ftp://x".to_owned()), ..dispatching() }, "legacy_orders_url"),
        (Config { legacy_dispatch_url: Some("x".to_owned()), ..dispatching() }, "legacy_dispatch_url"),
        (Config { dispatch_token: Some(Token::Fixed(Secret::new("Bearer x"))), ..dispatching() }, "dispatch_token"),
        (Config { legacy_token: Some(Token::Fixed(Secret::new(""))), ..dispatching() }, "legacy_token"),
    ] {
        let clock = std::sync::Arc::new(headland::clock::SystemClock);
        let error = Client::with_parts(config, script.clone(), clock).unwrap_err();
        assert_eq!(error.kind(), Kind::Configuration);
        assert!(error.message().starts_with(expected), "{error}");
    }
    assert_eq!(script.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn own_token_of_a_call_is_sent_and_the_orders_address_has_precedence() {
    let script = Script::new(|_, _| Ok(ok("{}")));
    let config = Config { dispatch_token: Some(Token::PerCall), ..dispatching() };
    let client = client_of(config, &script).with_token(Some(Secret::new("fresh")));
    make(&client, CREATE).await.unwrap();
    assert_eq!(header(&script.request(0), "authorization"), Some("Bearer fresh"));
    let wrong = client.with_token(Some(Secret::new("two words")));
    assert_eq!(make(&wrong, CREATE).await.unwrap_err().kind(), Kind::Configuration);

    let legacy = Some("https://legacy.example/x".to_owned());
    for (orders, expected) in
        [(None, "https://legacy.example/x/api/order"), (Some("https://o.example"), "https://o.example/api/order")]
    {
        let script = Script::new(|_, _| Ok(ok("{}")));
        let orders = orders.map(str::to_owned);
        let config = Config { legacy_dispatch_url: legacy.clone(), legacy_orders_url: orders, ..dispatching() };
        make(&client_of(config, &script), "legacy_orders.update_order").await.unwrap();
        assert_eq!(script.request(0).url, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn reply_is_the_object_its_address_or_nothing() {
    let uri = "https://dispatch.example/v2/api/fieldoperations/3f2b-9";
    for (status, body, location, expected) in [
        (200, r#"{"id":7}"#, None, Some("7")),
        (201, r#"{"id":7}"#, Some(uri), Some("7")),
        (201, "", Some(uri), Some("3f2b-9")),
        (201, "", Some("/v2/api/fieldoperations/3f2b-9"), Some("3f2b-9")),
        (201, " ", Some("/api/fieldoperations/3f2b-9"), Some("3f2b-9")),
        (204, "", Some(uri), Some("3f2b-9")),
        (204, "", None, None),
        (201, "", None, None),
        (202, "null", None, None),
    ] {
        let script = Script::new(move |_, _| {
            let reply = canned(status, body);
            Ok(if let Some(location) = location { reply.with("location", location) } else { reply })
        });
        let answer = make(&client_of(dispatching(), &script), CREATE).await.unwrap();
        assert_eq!(answer.get("id").and_then(Value::as_text), expected, "{status} {body} {location:?}");
        if body.trim().is_empty() && expected.is_some() {
            assert_eq!(answer.get("uri"), Some(&text(uri)));
        }
    }
    for (body, content_type, expected) in [
        ("OK", "text/plain; charset=utf-8", Some("OK")),
        ("<html></html>", "text/html", None),
        ("{\"a\":", "text/plain", None),
    ] {
        let script = Script::new(move |_, _| Ok(ok(body).with("content-type", content_type)));
        let outcome = make(&client_of(dispatching(), &script), CREATE).await;
        assert_eq!(outcome.as_ref().ok(), expected.map(text).as_ref(), "{body}");
        if let Err(error) = outcome {
            assert_eq!(error.kind(), Kind::Decode);
            assert!(error.message().contains("the service executed it"), "{error}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn post_with_a_lost_reply_is_never_sent_twice() {
    for row in api::rows().filter(|row| matches!(row.returns, Returns::Payload) && row.method == Method::Post) {
        for lost in
            [Err(FaultKind::Timeout), Err(FaultKind::Reset), Err(FaultKind::Truncated), Ok(500), Ok(503), Ok(502)]
        {
            let script =
                Script::new(move |_, _| lost.map(|status| canned(status, "").with("retry-after", 1)).map_err(fault));
            let error = make(&client_of(dispatching(), &script), row.full_name).await.unwrap_err();
            assert_eq!((error.kind(), script.count()), (Kind::UploadOutcomeUnknown, 1), "{lost:?}: {error}");
            assert!(error.message().contains(row.full_name) && error.message().contains("not sent again"), "{error}");
            assert_eq!(error.facts().status, lost.ok());
            assert_eq!(error.facts().endpoint, Some(row.full_name));
        }
    }
    // A request that could not be built was not sent, and the next attempt would fail, too.
    let script = Script::new(|_, _| Err(fault(FaultKind::Request)));
    let error = make(&client_of(dispatching(), &script), CREATE).await.unwrap_err();
    assert_eq!((error.kind(), script.count()), (Kind::Transport, 1), "{error}");
    assert!(error.message().contains("was not sent"), "{error}");
    // A request without any effect is sent again.
    for first in [Err(FaultKind::Connect), Ok(429)] {
        let script = Script::new(move |number, _| match (number, first) {
            (0, Err(kind)) => Err(fault(kind)),
            (0, Ok(status)) => Ok(canned(status, "").with("retry-after", 7)),
            _ => Ok(ok(r#"{"id":"x"}"#)),
        });
        let start = tokio::time::Instant::now();
        make(&client_of(dispatching(), &script), CREATE).await.unwrap();
        assert_eq!(script.count(), 2);
        assert!(first.is_err() || (seconds(start) - 7.0).abs() < 0.1, "Retry-After is obeyed");
    }
}

#[tokio::test(start_paused = true)]
async fn other_methods_are_retried_and_missing_after_a_lost_delete_is_deleted() {
    for (name, method) in [
        (DELETE, Method::Delete),
        ("dispatch.field_operations.set_mix", Method::Put),
        ("dispatch.field_operations.requirements", Method::Get),
    ] {
        for first in [Err(FaultKind::Timeout), Err(FaultKind::Truncated), Ok(503), Ok(500)] {
            for second in [200, 404, 410] {
                let script = Script::new(move |number, _| match (number, first) {
                    (0, Err(kind)) => Err(fault(kind)),
                    (0, Ok(status)) => Ok(canned(status, "").with("retry-after", 1)),
                    _ => Ok(canned(second, "")),
                });
                let outcome = make(&client_of(dispatching(), &script), name).await;
                assert_eq!(script.count(), 2, "{name} {first:?}");
                assert_eq!(
                    outcome.is_ok(),
                    second == 200 || method == Method::Delete,
                    "{name} {first:?} {second}: {outcome:?}"
                );
            }
        }
    }
    // No reply was lost before, so the record never existed.
    for first in [Ok(404), Err(FaultKind::Connect)] {
        let script = Script::new(move |number, _| match (number, first) {
            (0, Err(kind)) => Err(fault(kind)),
            _ => Ok(canned(404, "")),
        });
        assert_eq!(make(&client_of(dispatching(), &script), DELETE).await.unwrap_err().kind(), Kind::NotFound);
    }
}

#[tokio::test(start_paused = true)]
async fn errors_of_every_form_have_their_kind_and_message_section_7() {
    let service_response = r#"{"status":"INVALID_REQUEST","errorInfo":"harvestedArea is missing.","result":"nil"}"#;
    let problem = r#"{"title":"Wrong","status":422,"errors":{"harvestedArea":["is missing."]}}"#;
    for (status, body, kind, expected) in [
        (400, service_response, Kind::InvalidRequest, "harvestedArea is missing."),
        (422, problem, Kind::InvalidRequest, "`harvestedArea` is missing."),
        (409, "Released already.", Kind::Conflict, "Released already."),
        (409, "", Kind::Conflict, "conflicts with another record"),
        (404, r#""No such operation.""#, Kind::NotFound, "No such operation."),
        (403, "", Kind::PermissionDenied, "the token does not permit"),
        (405, "", Kind::MethodNotAllowed, "does not accept this method"),
        (302, "", Kind::Transport, "set dispatch_url to it"),
        (200, service_response, Kind::InvalidRequest, "harvestedArea is missing."),
        (200, r#"{"status":"REFUSED","errorInfo":"No."}"#, Kind::InvalidRequest, "No."),
    ] {
        let script = Script::new(move |_, _| Ok(canned(status, body)));
        let error = make(&client_of(dispatching(), &script), CREATE).await.unwrap_err();
        assert_eq!((error.kind(), script.count()), (kind, 1), "{status} {body}");
        assert!(error.message().contains(expected), "{status} {body}: {error}");
        assert_eq!((error.facts().status, error.facts().endpoint), (Some(status), Some(CREATE)));
    }
}

#[tokio::test(start_paused = true)]
async fn rejected_token_is_an_error_without_a_clock_warning() {
    for (challenge, body, expected) in [
        (r#"Bearer error="invalid_token", error_description="The token expired""#, "", "The token expired"),
        ("Bearer", "no such token token-AbC.123_x~y", "no such token (hidden)"),
    ] {
        let script = Script::new(move |_, _| {
            let reply = canned(401, body).with("www-authenticate", challenge);
            Ok(reply.with("date", "Mon, 21 Sep 2026 18:46:40 GMT"))
        });
        let client = client_of(dispatching(), &script);
        let error = make(&client, CREATE).await.unwrap_err();
        assert_eq!((error.kind(), script.count()), (Kind::Authentication, 1));
        assert_eq!(error.facts().check.as_deref(), Some(expected));
        assert!(!format!("{error}{error:?}").contains(TOKEN), "{error}");
        assert_eq!((error.facts().clock_skew, client.take_warnings()), (None, Vec::new()));
    }
}

#[tokio::test(start_paused = true)]
async fn dispatch_calls_do_not_count_against_the_field_data_limit_section_8() {
    let script = Script::new(|_, _| Ok(ok("{}")));
    let mut config = dispatching();
    config.rate_limits = vec![headland::limiter::Window { calls: 1, period: Duration::from_secs(60) }];
    let client = client_of(config, &script);
    let start = tokio::time::Instant::now();
    for _ in 0..40 {
        make(&client, DELETE).await.unwrap();
    }
    assert!(seconds(start) < 1.0);
    assert_eq!(client.budget().remaining, 1);
}

#[test]
fn payload_must_be_a_json_object() {
    for body in ["", "[]", "7", "null", "\"x\"", "{", "{} {}", "{'a':1}"] {
        let error = Arguments::new(row(CREATE), &[("body", body.to_owned())]).unwrap_err();
        assert_eq!(error.kind(), Kind::Value, "{body}");
        assert!(error.message().contains("`body`"), "{error}");
    }
    assert_eq!(Arguments::new(row(CREATE), &[]).unwrap_err().kind(), Kind::Type);
}
