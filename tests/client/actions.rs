//! Calls that give one record or nothing: the word of a service that does not show its codes, replies that are lost.

use bytes::Bytes;
use headland::api::Method;
use headland::client::{Client, UploadFile};
use headland::error::{Error, Kind};
use headland::transport::FaultKind;
use headland::wire::Value;

use crate::parts::*;

const SAME_MAP: &str = "The prescription map is already queued for this field computer. Please wait.";
const SAME_NAME: &str = "A file with the same name is already queued for this field computer.";

async fn send(client: &Client) -> Result<(), Error> {
    let given = arguments("prescription_maps.send", &[("rx_id", "11"), ("field_computer_id", "CR 12")]);
    client.act(row("prescription_maps.send"), &given).await
}

fn word(text: &str) -> String {
    format!(r#"{{"status":"INVALID_REQUEST","errorInfo":"{text}","result":"nil"}}"#)
}

#[tokio::test(start_paused = true)]
async fn a_map_is_sent_by_put_and_gives_nothing_4_2() {
    for body in [
        "",
        "OK",
        "\"queued\"",
        "null",
        "{}",
        r#"{"status":"SUCCESS","errorInfo":""}"#,
        r#"{"status":"OK","errorInfo":"","result":"nil"}"#,
        r#"{"ServiceResponse":{"status":"OK","errorInfo":""}}"#,
        r#"{"Status":"OK","ID":5,"Extra":[1],"Other":null}"#,
        "<R><status>OK</status><errorInfo/></R>",
        "<string xmlns=\"x\">The map is queued.</string>",
        "The map is queued.",
        "`no wait, not queued.rdp` is queued for the field computer.",
    ] {
        let script = Script::new(move |_, _| Ok(ok(body)));
        send(&client(&script)).await.unwrap();
        let request = script.request(0);
        assert_eq!(
            (request.method, request.url.as_str()),
            (Method::Put, "https://api.example.com/V1/prescriptionmaps/11/fieldcomputers/CR%2012")
        );
    }
}

#[tokio::test(start_paused = true)]
async fn both_conflicts_are_told_whatever_the_code_section_7() {
    for text in [SAME_MAP, SAME_NAME] {
        for (status, body) in [
            (409, word(text)),
            (400, word(text)),
            (200, word(text)),
            (200, text.to_owned()),
            (200, format!("\"{text}\"")),
            (409, String::new()),
            (
                400,
                format!(
                    "<XResponse><status>INVALID_REQUEST</status><errorInfo>{text}</errorInfo><result/></XResponse>"
                ),
            ),
        ] {
            let sent = body.clone();
            let script = Script::new(move |_, _| Ok(canned(status, sent.clone())));
            let error = send(&client(&script)).await.unwrap_err();
            assert_eq!((error.kind(), script.count()), (Kind::Conflict, 1), "{status} {body}");
            assert_eq!(error.facts().status, Some(status));
            assert!(body.is_empty() || error.message().contains(text), "{error}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_200_that_does_not_say_that_the_map_is_queued_is_an_error_4_3() {
    let page = "<!DOCTYPE html><html><body>Sign in, OK?</body></html>";
    for (body, kind) in [
        (page, Kind::Decode),
        (r#"{"foo":1}"#, Kind::Decode),
        (r#"{"status":"OK""#, Kind::Decode),
        ("[]", Kind::Decode),
        ("<x><y/></x>", Kind::Decode),
        ("Wait until the file has been delivered.", Kind::Conflict),
        ("Name-conflict: file not queued.", Kind::Conflict),
        ("This file is in the queue; wait for delivery.", Kind::Conflict),
        ("The file was not queued.", Kind::Conflict),
        ("<string>Please wait.</string>", Kind::Conflict),
        (r#"{"status":"NAME_CONFLICT"}"#, Kind::Conflict),
        (r#"{"message":"Wait for delivery."}"#, Kind::Conflict),
        (r#"{"message":"OK","done":false}"#, Kind::InvalidRequest),
        ("The computer is unknown.", Kind::InvalidRequest),
        ("The map couldn't be sent.", Kind::InvalidRequest),
        (r#"{"status":"FAILED"}"#, Kind::InvalidRequest),
        ("false", Kind::InvalidRequest),
    ] {
        let script = Script::new(move |_, _| Ok(ok(body)));
        let error = send(&client(&script)).await.unwrap_err();
        assert_eq!((error.kind(), error.facts().status), (kind, Some(200)), "{body}: {error}");
        assert!(error.message().contains(&body[..body.len().min(40)]), "the words are quoted: {error}");
    }
    // After a reply that was lost, the map that waits in the queue is this one.
    let script = Script::new(|number, _| {
        if number == 0 { Err(fault(FaultKind::Reset)) } else { Ok(ok("This file is in the queue; wait for delivery.")) }
    });
    send(&client(&script)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn other_refusals_stay_what_they_are() {
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
async fn already_queued_after_a_lost_reply_is_success_and_another_name_is_not() {
    for lost in [FaultKind::Timeout, FaultKind::Reset, FaultKind::Cut] {
        for (text, is_done) in [(SAME_MAP, true), (SAME_NAME, false)] {
            let script =
                Script::new(move |number, _| if number == 0 { Err(fault(lost)) } else { Ok(canned(409, word(text))) });
            let outcome = send(&client(&script)).await;
            assert_eq!((outcome.is_ok(), script.count()), (is_done, 2), "{lost:?}: {outcome:?}");
        }
    }
    // A service in trouble may have queued the map; one that refused or was not reached has not.
    for (first, is_done) in [(503, true), (500, true), (429, false)] {
        let script =
            Script::new(move |number, _| Ok(if number == 0 { canned(first, "") } else { canned(200, word(SAME_MAP)) }));
        assert_eq!(send(&client(&script)).await.is_ok(), is_done, "after {first}");
    }
    let script =
        Script::new(
            |number, _| {
                if number == 0 { Err(fault(FaultKind::Connect)) } else { Ok(canned(409, word(SAME_MAP))) }
            },
        );
    assert_eq!(send(&client(&script)).await.unwrap_err().kind(), Kind::Conflict, "nothing was sent the first time");
}

#[tokio::test(start_paused = true)]
async fn one_record_of_an_index_or_nothing() {
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

/// Specification 2.3, 2.4: one record is promised; which of several was meant, nobody can tell.
#[tokio::test(start_paused = true)]
async fn more_records_than_the_one_asked_for_are_an_error_that_counts_them() {
    let item = |id: u32| format!(r#"{{"ID":{id},"Name":"hub"}}"#);
    for (total, items, says) in [
        (2, vec![item(7), item(8)], "2 came, with the ids 7, 8"),
        (2, vec![item(7), item(7)], "2 came, with the ids 7, 7"),
        (1, vec![item(7), item(8)], "2 came"),
        (3, vec![item(7)], "counts 3, of which 1 came"),
        (2, vec![], "counts 2, of which 0 came"),
        (7, (1..8).map(item).collect(), "7 came, with the ids 1, 2, 3, 4, 5, ..."),
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
async fn the_file_type_goes_with_the_file_and_rules_come_first_4_3() {
    let script = Script::new(|_, _| Ok(canned(201, "").with("location", "/V1/prescriptionmaps/5")));
    let client = client(&script);
    let upload = async |file_type: &str, name: &str| {
        let given = arguments("prescription_maps.upload", &[("file_type", file_type)]);
        let file = UploadFile { name: name.to_owned(), content: Bytes::from_static(b"content") };
        client.upload_with(row("prescription_maps.upload"), &given, file).await
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
