//! Tests uploads: sent once, and found in the list when the reply is lost.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, SecondsFormat};
use headland::api::Method;
use headland::client::{Client, Created, UploadFile};
use headland::error::Kind;
use headland::transport::{Fault, FaultKind};

use crate::support::*;

async fn upload(client: &Client) -> headland::error::Result<Created> {
    let file = UploadFile { name: "job.jdp.zip".to_owned(), content: zip_of(b"points").into() };
    client.upload(row("job_data.upload"), &arguments("job_data.upload", &[]), file).await
}

fn item(id: u32, name: &str, after_start: i64) -> String {
    let date = DateTime::from_timestamp(START + after_start, 0).unwrap().to_rfc3339_opts(SecondsFormat::Secs, true);
    format!(r#"{{"ID":{id},"Name":"{name}","Uri":"https://api.example.com/V1/jobdata/{id}","CreateDate":"{date}"}}"#)
}

fn list(items: &[String]) -> Canned {
    list_at(0, items)
}

/// A list whose `Date` is this many seconds after the start.
fn list_at(after_start: i64, items: &[String]) -> Canned {
    ok(format!(r#"{{"TotalCount":{},"IsNextPage":false,"JobData":[{}]}}"#, items.len(), items.join(",")))
        .with("date", DateTime::from_timestamp(START + after_start, 0).unwrap().to_rfc2822())
}

/// Answers the first POST with `first`, later ones with `later`, and lists with `listed`.
fn second_post(
    first: &'static str,
    later: fn() -> Result<Canned, Fault>,
    listed: impl Fn() -> Canned + Send + 'static,
) -> Arc<Script> {
    let mut posts = 0;
    Script::new(move |_, request| {
        if request.method == Method::Get {
            return Ok(listed());
        }
        posts += 1;
        if posts == 1 { Ok(canned(201, "").with("location", first)) } else { later() }
    })
}

#[tokio::test(start_paused = true)]
async fn file_is_sent_as_a_form_and_the_address_is_found_in_any_reply() {
    let uri = "https://prod.example.org/V1/JobData/77";
    for reply in [
        canned(201, "").with("location", uri),
        canned(201, "").with("location", "/V1/jobdata/77"),
        canned(201, format!("\"{}\"", uri.replace('/', "\\/"))),
        canned(201, format!(r#"{{"status":"CREATED","errorInfo":"","result":"{uri}"}}"#)),
        canned(201, format!("<XResponse><result>{uri}</result></XResponse>")),
        canned(201, uri),
    ] {
        let mut reply = Some(reply);
        let script = Script::new(move |_, _| Ok(reply.take().unwrap()));
        let created = upload(&client(&script)).await.unwrap();
        assert_eq!((created.id.as_str(), script.count()), ("77", 1));
        assert!(created.uri.starts_with("https://"), "{created:?}");
        let request = script.request(0);
        assert_eq!((request.method, request.url.as_str()), (Method::Post, "https://api.example.com/V1/jobdata"));
        let boundary = request.headers["content-type"].to_str().unwrap().split_once("boundary=").unwrap().1.to_owned();
        let mut body = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"FileName\"; filename=\"job.jdp.zip\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        )
        .into_bytes();
        body.extend_from_slice(&zip_of(b"points"));
        body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
        assert_eq!(request.body.unwrap(), body);
    }
}

#[tokio::test(start_paused = true)]
async fn lost_reply_is_settled_by_the_one_new_record_of_that_name() {
    for lost in [FaultKind::Timeout, FaultKind::Reset, FaultKind::Truncated] {
        let script = Script::new(move |_, request| {
            if request.method == Method::Post {
                return Err(fault(lost));
            }
            Ok(list(&[item(9, "other.zip", 1), item(8, "JOB.jdp.zip", 1), item(3, "job.jdp.zip", -86_400)]))
        });
        let created = upload(&client(&script)).await.unwrap();
        assert_eq!(created, Created { id: "8".to_owned(), uri: "https://api.example.com/V1/jobdata/8".to_owned() });
        let posts = script.requests.lock().unwrap().iter().filter(|request| request.method == Method::Post).count();
        assert_eq!(posts, 1, "it is never sent again");
    }
    // The same holds for a 201 without an address, for a 503, which may follow a stored file, and for a service that
    // needs more time.
    let more_time = r#"{"status":"MORE_TIME_NEEDED","errorInfo":"00:00:30","result":"nil"}"#;
    for (status, body) in [(201, ""), (503, ""), (202, more_time), (503, more_time)] {
        let script = Script::new(move |_, request| {
            Ok(if request.method == Method::Post { canned(status, body) } else { list(&[item(8, "job.jdp.zip", 1)]) })
        });
        assert_eq!(upload(&client(&script)).await.unwrap().id, "8", "{status}, {body}");
    }
}

#[tokio::test(start_paused = true)]
async fn unknown_outcome_is_an_error_with_the_candidates() {
    for (items, candidates) in [
        (vec![], vec![]),
        (vec![item(8, "job.jdp.zip", 1), item(7, "job.jdp.zip", 0)], vec!["8", "7"]),
        (vec![r#"{"ID":6,"Name":"job.jdp.zip"}"#.to_owned()], vec!["6"]),
    ] {
        let script =
            Script::new(
                move |_, request| {
                    if request.method == Method::Post { Err(fault(FaultKind::Reset)) } else { Ok(list(&items)) }
                },
            );
        let error = upload(&client(&script)).await.unwrap_err();
        assert_eq!(
            (error.kind(), &error.facts().candidates[..]),
            (Kind::UploadOutcomeUnknown, &candidates.into_iter().map(str::to_owned).collect::<Vec<_>>()[..])
        );
        assert!(error.message().contains("not sent again"), "{error}");
    }
    let script = Script::new(|_, request| {
        Ok(if request.method == Method::Post { canned(503, "Resources exhausted. Try again.") } else { list(&[]) })
    });
    let error = upload(&client(&script)).await.unwrap_err();
    assert_eq!(error.kind(), Kind::ServiceUnavailable, "the service has said that it did not take it");
    assert!(error.message().contains("not sent again"), "{error}");
    let script = Script::new(|_, _| Err(fault(FaultKind::Reset)));
    let error = upload(&client(&script)).await.unwrap_err();
    assert_eq!(error.kind(), Kind::UploadOutcomeUnknown);
    assert!(error.message().contains("The lookup failed"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn upload_without_effect_is_sent_again() {
    let script = Script::new(|number, _| match number {
        0 => Err(fault(FaultKind::Connect)),
        1 => Ok(canned(429, "").with("retry-after", 3)),
        _ => Ok(canned(201, "").with("location", "/V1/jobdata/5")),
    });
    assert_eq!(upload(&client(&script)).await.unwrap().id, "5");
    assert_eq!(script.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn rejected_upload_and_empty_file_are_errors() {
    let script =
        Script::new(|_, _| Ok(canned(400, r#"{"status":"INVALID_REQUEST","errorInfo":"Not a zip","result":"nil"}"#)));
    let client = client(&script);
    let error = upload(&client).await.unwrap_err();
    assert_eq!(error.kind(), Kind::InvalidRequest);
    assert!(error.message().contains("Not a zip"), "{error}");
    let zip = zip_of(b"points");
    for (name, content, kind) in [
        ("a.zip", &b""[..], Kind::Value),
        ("", &zip, Kind::Value),
        ("..", &zip, Kind::Value),
        (" lead.zip", &zip, Kind::Value),
        ("folder/a.zip", &zip, Kind::Value),
        ("a.zip", b"hello world", Kind::InvalidRequest),
    ] {
        let file = UploadFile { name: name.to_owned(), content: Bytes::copy_from_slice(content) };
        assert_eq!(
            client.upload(row("job_data.upload"), &arguments("job_data.upload", &[]), file).await.unwrap_err().kind(),
            kind,
            "{name}"
        );
    }
    assert_eq!(script.count(), 1);
}

/// Design, section 4: exactly one *new* id of that name settles a lost reply.
#[tokio::test(start_paused = true)]
async fn older_record_of_that_name_is_never_mistaken_for_a_lost_upload() {
    for (later, kind) in [
        ((|| Ok(canned(503, ""))) as fn() -> Result<Canned, Fault>, Kind::ServiceUnavailable),
        (|| Ok(canned(500, "")), Kind::ServiceUnavailable),
        (|| Ok(canned(202, "")), Kind::UploadOutcomeUnknown),
        (|| Err(fault(FaultKind::Reset)), Kind::UploadOutcomeUnknown),
    ] {
        // Immediately after the first upload, whose id this client remembers.
        let script = second_post("/V1/jobdata/8", later, || list(&[item(8, "job.jdp.zip", 0)]));
        let client = client(&script);
        assert_eq!(upload(&client).await.unwrap().id, "8");
        let error = upload(&client).await.unwrap_err();
        assert_eq!((error.kind(), error.facts().candidates.len()), (kind, 0), "{error}");
        // And with a record that another client made a few seconds before, by the service's clock.
        let script = second_post("/V1/jobdata/9", later, || {
            list_at(3_600 + 10, &[item(8, "job.jdp.zip", 3_600 - 5), item(9, "job.jdp.zip", 3_600 - 9)])
        });
        let client = client_of(config(), &script);
        assert_eq!(upload(&client).await.unwrap().id, "9");
        assert_eq!(upload(&client).await.unwrap_err().kind(), kind, "the service's clock is an hour ahead of ours");
    }
}

#[tokio::test(start_paused = true)]
async fn clock_of_the_service_decides_whether_a_record_is_new() {
    // The service is 100 s behind; the reply is lost after 30 s, and the record was made after 20 s of them.
    let script = Script::slow(Duration::from_secs(30), |_, request| {
        if request.method == Method::Post {
            return Err(fault(FaultKind::Reset));
        }
        Ok(list_at(60 - 100, &[item(8, "job.jdp.zip", 20 - 100), item(7, "job.jdp.zip", -10 - 100)]))
    });
    assert_eq!(upload(&client(&script)).await.unwrap().id, "8");
    // Without `Date` the age of the record is unknown.
    let script = Script::new(|_, request| {
        if request.method == Method::Post {
            return Err(fault(FaultKind::Reset));
        }
        Ok(Canned { headers: Vec::new(), ..list(&[item(8, "job.jdp.zip", 1)]) })
    });
    let error = upload(&client(&script)).await.unwrap_err();
    assert_eq!((error.kind(), &error.facts().candidates[..]), (Kind::UploadOutcomeUnknown, &["8".to_owned()][..]));
}

#[tokio::test(start_paused = true)]
async fn record_of_another_upload_of_this_client_settles_nothing() {
    let script = Script::slow(Duration::from_secs(1), |_, request| {
        if request.method == Method::Post {
            return Err(fault(FaultKind::Reset));
        }
        Ok(list_at(1, &[item(8, "job.jdp.zip", 1)]))
    });
    let client = client(&script);
    let (first, second) = tokio::join!(upload(&client), upload(&client));
    for outcome in [first, second] {
        assert_eq!(outcome.unwrap_err().kind(), Kind::UploadOutcomeUnknown);
    }
}

#[tokio::test(start_paused = true)]
async fn failed_upload_does_not_block_the_next() {
    let mut looks = 0;
    let script = Script::new(move |_, request| {
        if request.method == Method::Post {
            return Err(fault(FaultKind::Reset));
        }
        looks += 1;
        // The first upload was not stored; the second was, when its list was read.
        Ok(if looks <= 3 { list_at(8, &[]) } else { list_at(8, &[item(8, "job.jdp.zip", 8)]) })
    });
    let client = client(&script);
    assert_eq!(upload(&client).await.unwrap_err().kind(), Kind::UploadOutcomeUnknown);
    assert_eq!(upload(&client).await.unwrap().id, "8");
}
