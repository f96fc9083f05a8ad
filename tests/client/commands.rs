//! Tests calls that return one record or nothing: error texts without documented codes, and lost replies.

use std::sync::Arc;

use bytes::Bytes;
use headland::api::Method;
use headland::client::{Client, UploadFile};
use headland::error::{Error, Kind};
use headland::transport::FaultKind;
use headland::wire::{Value, decode_response};

use crate::support::*;

const SAME_MAP: &str = "The prescription map is already queued for this field computer. Please wait.";
const SAME_NAME: &str = "A file with the same name is already queued for this field computer.";

async fn send(client: &Client) -> Result<(), Error> {
    let given = arguments("prescription_maps.send", &[("rx_id", "11"), ("field_computer_id", "CR 12")]);
    client.send_command(row("prescription_maps.send"), &given).await
}

fn word(text: &str) -> String {
    format!(r#"{{"status":"INVALID_REQUEST","errorInfo":"{text}","result":"nil"}}"#)
}

/// A service that answers a send with `replies` in turn, then always with the last, and lists the map in one state.
fn service(replies: Vec<Result<(u16, String), FaultKind>>, listed: &'static str) -> Arc<Script> {
    let mut sends = 0;
    Script::new(move |_, request| {
        if request.method == Method::Put {
            let reply = replies[sends.min(replies.len() - 1)].clone();
            sends += 1;
            return reply.map(|(status, body)| canned(status, body)).map_err(fault);
        }
        assert!(request.url.contains("/fieldcomputers/CR%2012/prescriptionmaps?"), "{}", request.url);
        let id = if request.url.contains(&format!("state={listed}")) { "11" } else { "7" };
        Ok(ok(format!(r#"{{"TotalCount":1,"IsNextPage":false,"PrescriptionMap":[{{"ID":"{id}"}}]}}"#)))
    })
}

fn states(script: &Script) -> Vec<String> {
    script.requests.lock().unwrap().iter().filter_map(|request| query(request, "state")).collect()
}

#[tokio::test(start_paused = true)]
async fn map_is_sent_by_put_and_an_empty_reply_is_success_4_2() {
    for (status, body) in [(200, ""), (200, " \r\n"), (204, ""), (201, "\u{feff}")] {
        let script = service(vec![Ok((status, body.to_owned()))], "none");
        send(&client(&script)).await.unwrap();
        let request = script.request(0);
        assert_eq!(
            (request.method, request.url.as_str(), script.count()),
            (Method::Put, "https://api.example.com/V1/prescriptionmaps/11/fieldcomputers/CR%2012", 1)
        );
    }
}

const BODIES: [&str; 14] = [
    "OK",
    "null",
    "{}",
    r#"{"status": "OK", "errorInfo": "Queued."}"#,
    r#"{"status":"QUEUED","errorInfo":"The map waits for its computer."}"#,
    "<R><status>SUCCESS</status><errorInfo>Not yet delivered.</errorInfo></R>",
    r#"{"status":"OK","errorInfo":"","result":"nil"}"#,
    r#"{"foo":1}"#,
    "[]",
    "In der Warteschlange.",
    "false",
    "This prescription map is already queued for this field computer. Please wait.",
    "<!DOCTYPE html><html><body>Sign in, OK?</body></html>",
    r#"{"status":"NO_COVERAGE"}"#,
];

#[tokio::test(start_paused = true)]
async fn reply_with_text_is_settled_by_the_lists_of_the_computer_section_3() {
    for body in BODIES {
        for (listed, asked) in [("queued", vec!["queued"]), ("validated", vec!["queued", "validated"])] {
            let script = service(vec![Ok((200, body.to_owned()))], listed);
            send(&client(&script)).await.unwrap_or_else(|error| panic!("{body}: {error}"));
            assert_eq!(states(&script), asked, "{body}");
        }
        let script = service(vec![Ok((200, body.to_owned()))], "none");
        let error = send(&client(&script)).await.unwrap_err();
        let kind = if body.starts_with("<!") { Kind::Decode } else { Kind::InvalidRequest };
        assert_eq!((error.kind(), error.facts().status), (kind, Some(200)), "{body}: {error}");
        assert_eq!(states(&script), ["queued", "validated"], "each list is read once");
        if decode_response(body.as_bytes()).is_none() {
            assert!(error.message().contains(&body[..body.len().min(40)]), "the body is quoted: {error}");
        }
    }
    let body = r#"{"status": "OK", "errorInfo": "Queued."}"#;
    let error = send(&client(&service(vec![Ok((200, body.to_owned()))], "none"))).await.unwrap_err();
    assert!(error.message().contains("OK: Queued."), "{error}");
}

#[tokio::test(start_paused = true)]
async fn unreadable_list_leaves_the_outcome_unknown() {
    let script = Script::new(|number, _| Ok(if number == 0 { ok("Queued.") } else { canned(403, "Not yours.") }));
    let error = send(&client(&script)).await.unwrap_err();
    assert_eq!(error.kind(), Kind::InvalidRequest);
    for words in ["Queued.", "Not yours.", "state `queued`"] {
        assert!(error.message().contains(words), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn rejection_is_a_conflict_or_an_invalid_request_by_its_status_section_7() {
    for text in [SAME_MAP, SAME_NAME, "Bitte warten."] {
        for (status, body, kind) in [
            (409, word(text), Kind::Conflict),
            (409, String::new(), Kind::Conflict),
            (200, word(text), Kind::Conflict),
            (202, word(text), Kind::Conflict),
            (400, word(text), Kind::InvalidRequest),
            (
                422,
                format!("<XResponse><status>INVALID_REQUEST</status><errorInfo>{text}</errorInfo></XResponse>"),
                Kind::InvalidRequest,
            ),
        ] {
            let script = service(vec![Ok((status, body.clone()))], "queued");
            let error = send(&client(&script)).await.unwrap_err();
            assert_eq!((error.kind(), script.count()), (kind, 1), "{status} {body}");
            assert_eq!(error.facts().status, Some(status));
            assert!(body.is_empty() || error.message().contains(text), "{error}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn other_rejections_keep_their_kind() {
    for (status, body, kind) in [
        (404, word("There is no field computer `9`."), Kind::NotFound),
        (400, word("The field computer is not yours."), Kind::InvalidRequest),
        (403, word("The access key does not permit it."), Kind::PermissionDenied),
        (405, word("Not allowed."), Kind::MethodNotAllowed),
    ] {
        let script = Script::new(move |_, _| Ok(canned(status, body.clone())));
        assert_eq!(send(&client(&script)).await.unwrap_err().kind(), kind, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn rejection_after_a_lost_reply_is_success_if_the_map_is_queued() {
    let refusals = [(409, word(SAME_MAP)), (200, word(SAME_MAP)), (400, word(SAME_MAP)), (409, String::new())];
    for (first, may_be_done) in [
        (Err(FaultKind::Timeout), true),
        (Err(FaultKind::Reset), true),
        (Err(FaultKind::Truncated), true),
        (Ok((503, String::new())), true),
        (Ok((500, String::new())), true),
        // Rejected or not reached: nothing was queued the first time.
        (Ok((429, String::new())), false),
        (Err(FaultKind::Connect), false),
    ] {
        for refusal in &refusals {
            for listed in ["queued", "none"] {
                let script = service(vec![first.clone(), Ok(refusal.clone())], listed);
                let outcome = send(&client(&script)).await;
                let is_done = may_be_done && listed == "queued";
                assert_eq!(outcome.is_ok(), is_done, "{first:?}, {refusal:?}, {listed}: {outcome:?}");
                assert_eq!(states(&script).len(), usize::from(may_be_done), "one look at the queue");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn index_with_one_record_is_that_record_and_an_empty_one_is_none() {
    let item = r#"{"ID":7,"DeviceId":"9","SubType":"Field Hub","Lat":45.5,"GPSDateTime":"0000-00-00T00:00:00Z"}"#;
    for (body, is_there) in [
        (format!(r#"{{"TotalCount":1,"IsNextPage":false,"DeviceLocation":[{item}]}}"#), true),
        (format!(r#"{{"TotalCount":1,"IsNextPage":false,"DeviceLocation":{item}}}"#), true),
        (r#"{"TotalCount":0,"IsNextPage":false,"DeviceLocation":[]}"#.to_owned(), false),
        (r#"{"TotalCount":0,"IsNextPage":false}"#.to_owned(), false),
    ] {
        let sent = body.clone();
        let script = Script::new(move |_, _| Ok(ok(sent.clone())));
        let row = row("field_hubs.current_location");
        let found =
            client(&script).detail(row, &arguments("field_hubs.current_location", &[("id", "9")])).await.unwrap();
        assert_eq!(found != Value::Null, is_there, "{body}");
        if is_there {
            let place = found;
            assert_eq!(place.get("lat"), Some(&Value::Decimal(45.5)));
            assert_eq!(place.get("gps_date_time"), Some(&Value::Null), "a zero date is no time (2.3)");
        }
    }
    let script = Script::new(|_, _| Ok(ok(word("no"))));
    let row = row("field_hubs.get");
    let error = client(&script).detail(row, &arguments("field_hubs.get", &[("id", "9")])).await.unwrap_err();
    assert_eq!(error.kind(), Kind::InvalidRequest);
}

/// Specification 2.3, 2.4: one record is promised; with several, the intended one is unknown.
#[tokio::test(start_paused = true)]
async fn several_records_instead_of_one_are_an_error_with_the_count() {
    let item = |id: u32| format!(r#"{{"ID":{id},"Name":"hub"}}"#);
    for (total, items, says) in [
        (2, vec![item(7), item(8)], "got 2, with the ids 7, 8"),
        (2, vec![item(7), item(7)], "got 2, with the ids 7, 7"),
        (1, vec![item(7), item(8)], "got 2"),
        (3, vec![item(7)], "got 1, and the reply counts 3"),
        (2, vec![], "got 0, and the reply counts 2"),
        (7, (1..8).map(item).collect(), "got 7, with the ids 1, 2, 3, 4, 5, ..."),
    ] {
        for (name, key) in [("field_hubs.get", "FieldHubDetail"), ("field_hubs.current_location", "DeviceLocation")] {
            let body = format!(r#"{{"TotalCount":{total},"IsNextPage":false,"{key}":[{}]}}"#, items.join(","));
            let script = Script::new(move |_, _| Ok(ok(body.clone())));
            let error = client(&script).detail(row(name), &arguments(name, &[("id", "7")])).await.unwrap_err();
            assert_eq!((error.kind(), script.count()), (Kind::Decode, 1), "{name}: {error}");
            assert!(error.message().contains(says), "{name}: {error}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn upload_sends_the_file_type_after_checking_the_rules_4_3() {
    let script = Script::new(|_, _| Ok(canned(201, "").with("location", "/V1/prescriptionmaps/5")));
    let client = client(&script);
    let upload = async |file_type: &str, name: &str| {
        let given = arguments("prescription_maps.upload", &[("file_type", file_type)]);
        let file = UploadFile { name: name.to_owned(), content: Bytes::from_static(b"content") };
        client.upload(row("prescription_maps.upload"), &given, file).await
    };
    assert_eq!(upload("agx", "map.rdp.zip").await.unwrap().id, "5");
    let body = String::from_utf8(script.request(0).body.unwrap().to_vec()).unwrap();
    assert!(body.contains("Content-Disposition: form-data; name=\"FileType\"\r\n\r\nAGX\r\n--"), "{body}");
    assert!(body.contains("name=\"FileName\"; filename=\"map.rdp.zip\""), "{body}");
    for (file_type, name) in [("AGX", "map.zip"), ("RX", "map.zip")] {
        let error = upload(file_type, name).await.unwrap_err();
        assert_eq!((error.kind(), error.facts().status), (Kind::InvalidRequest, None), "{error}");
        assert_eq!(error.facts().endpoint, Some("prescription_maps.upload"));
    }
    assert_eq!(script.count(), 1, "nothing was sent");
}

/// Ids are opaque, numbers or texts (field notes, JSON); a location is a record of its own.
#[tokio::test(start_paused = true)]
async fn record_with_another_id_is_an_error_that_names_both() {
    let index = |kind: &str, item: &str| format!(r#"{{"TotalCount":1,"IsNextPage":false,"{kind}":[{item}]}}"#);
    let hub = r#"{"ID":"5","Report":{"DeviceId":"3B"}}"#;
    for (name, body, is_it) in [
        ("job_data.get", r#"{"ID":31,"Status":"x"}"#.to_owned(), "31"),
        ("job_data.get", r#"{"ID":" 3B ","Status":"x"}"#.to_owned(), "3b"),
        ("job_data.products", r#"{"ID":31,"Products":[]}"#.to_owned(), "31"),
        ("field_computers.get", "<D><ID>31</ID><Name>x</Name></D>".to_owned(), "31"),
        ("prescription_maps.get", r#"{"ID":31,"DeviceFileName":"x"}"#.to_owned(), "31"),
        ("field_hubs.get", index("FieldHubDetail", r#"{"ID":"31"}"#), "31"),
        ("grain_carts.get", index("GrainCart", r#"{"ID":31,"Name":"x"}"#), "31"),
        ("field_hubs.get", index("FieldHubDetail", hub), "3B"),
    ] {
        let script = Script::new(move |_, _| Ok(ok(body.clone())));
        client(&script).detail(row(name), &arguments(name, &[("id", is_it)])).await.unwrap();
        let error = client(&script).detail(row(name), &arguments(name, &[("id", "032")])).await.unwrap_err();
        assert_eq!((error.kind(), error.facts().status), (Kind::Decode, Some(200)), "{name}");
        let has = |id: &str| error.message().to_ascii_lowercase().contains(&format!("`{}", id.to_ascii_lowercase()));
        assert!(
            has("032`") && (has(is_it) || has(&format!(" {is_it}")) || name == "field_hubs.get"),
            "{name}: {error}"
        );
    }
    for (name, body) in [
        ("job_data.get", r#"{"Status":"x"}"#.to_owned()),
        ("job_data.get", r#"{"ID":null,"Status":"x"}"#.to_owned()),
        ("prescription_maps.get", r#"{"DeviceFileName":"x"}"#.to_owned()),
        ("field_computers.current_location", index("DeviceLocation", r#"{"ID":"8","DeviceId":"7"}"#)),
        ("field_hubs.get", index("FieldHubDetail", "")),
    ] {
        let script = Script::new(move |_, _| {
            Ok(ok(body
                .clone()
                .replace(r#""TotalCount":1,"IsNextPage":false,"FieldHubDetail":[]"#, r#""TotalCount":0"#)))
        });
        client(&script).detail(row(name), &arguments(name, &[("id", "31")])).await.unwrap();
    }
}
