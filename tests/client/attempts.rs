//! Counts the requests that a call sends after each outcome, for each class of row: a record, a file, an upload.

use std::sync::Arc;

use headland::client::{PollResult, Target, UploadFile};
use headland::error::{Error, Kind};
use headland::transport::{Fault, FaultKind};

use crate::support::*;

const KEY: &str = r#"{"AccessKey":"k","ID":"1","IsActive":true}"#;
const MORE_TIME: &str = r#"{"status":"MORE_TIME_NEEDED","errorInfo":"00:00:30","result":"nil"}"#;

/// One more than the number of retries for failures that waiting rarely cures.
const FAILURES: usize = 5;

/// The requests of a call that succeeds after the failures.
const ALL: usize = FAILURES + 1;

type Outcome = fn() -> Result<Canned, Fault>;

fn wrong_time() -> Canned {
    canned(401, "TimeStamp check failed").with("date", "Mon, 21 Sep 2026 15:00:00 GMT")
}

/// Each outcome, and the number of requests when the first five end with it: for a record, a file, an upload.
const OUTCOMES: [(&str, Outcome, [usize; 3]); 16] = [
    ("200, more time", || Ok(canned(200, MORE_TIME)), [ALL, 1, 1]),
    ("503, more time", || Ok(canned(503, MORE_TIME)), [ALL, 1, 1]),
    ("429", || Ok(canned(429, "")), [ALL, ALL, ALL]),
    ("408", || Ok(canned(408, "")), [ALL, ALL, 1]),
    ("502", || Ok(canned(502, "")), [ALL, ALL, 1]),
    ("503", || Ok(canned(503, "")), [ALL, ALL, 1]),
    ("500", || Ok(canned(500, "")), [4, 4, 1]),
    ("501", || Ok(canned(501, "")), [4, 4, 1]),
    // A call corrects the clock only once.
    ("401, of the time", || Ok(wrong_time()), [2, 2, 2]),
    ("400", || Ok(canned(400, "")), [1, 1, 1]),
    ("not connected", || Err(fault(FaultKind::Connect)), [4, 4, 4]),
    ("no such name", || Err(fault(FaultKind::Name)), [4, 4, 4]),
    ("not built", || Err(fault(FaultKind::Request)), [1, 1, 1]),
    ("not trusted", || Err(fault(FaultKind::Tls)), [1, 1, 1]),
    ("lost", || Err(fault(FaultKind::Reset)), [4, 4, 1]),
    ("cut", || Err(fault(FaultKind::Truncated)), [4, 4, 1]),
];

/// Ends the first requests of a call with `outcome`, and later ones with success; lists are empty.
fn failing_script(outcome: Outcome, success: fn() -> Canned, is_list: fn(&str) -> bool) -> Arc<Script> {
    let mut met = 0;
    Script::new(move |_, request| {
        if is_list(&request.url) && request.method == headland::api::Method::Get {
            return Ok(ok(r#"{"TotalCount":0,"IsNextPage":false,"JobData":[]}"#));
        }
        met += 1;
        if met <= FAILURES { outcome() } else { Ok(success()) }
    })
}

fn sent(script: &Script, method: headland::api::Method) -> usize {
    script.requests.lock().unwrap().iter().filter(|request| request.method == method).count()
}

#[tokio::test(start_paused = true)]
async fn every_outcome_is_retried_as_often_as_the_row_class_allows() {
    use headland::api::Method::{Get, Post};
    for (name, outcome, [record, file, once]) in OUTCOMES {
        let script = failing_script(outcome, || ok(KEY), |_| false);
        let answer = client(&script).detail(row("access_key"), &arguments("access_key", &[])).await;
        assert_eq!((sent(&script, Get), answer.is_ok()), (record, record == ALL), "a record after {name}");

        for of_file in ["job_data.download", "job_data.request", "job_data.read"] {
            let script = failing_script(outcome, || ok(zip_of(b"points")), |_| false);
            let folder = tempfile::tempdir().unwrap();
            let given = arguments(of_file, &[("id", "1"), ("format", "SHP")]);
            let answer = client(&script).poll_file(row(of_file), &given, folder.path(), 0).await;
            let has_come = matches!(answer, Ok(PollResult::File(_)));
            assert_eq!((sent(&script, Get), has_come), (file, file == ALL), "{of_file} after {name}");
            let kind = answer.as_ref().err().map(Error::kind);
            assert_ne!(kind, Some(Kind::UploadOutcomeUnknown), "{of_file} after {name}");
            // The caller waits for a file that is not ready.
            assert_eq!(
                matches!(answer, Ok(PollResult::MoreTime { .. })),
                name.contains("more time"),
                "{of_file} after {name}"
            );
        }

        let script = failing_script(
            outcome,
            || canned(201, "").with("location", "/V1/jobdata/5"),
            |url| url.contains("jobdata"),
        );
        let content = zip_of(b"points").into();
        let upload = UploadFile { name: "job.jdp.zip".to_owned(), content };
        let answer = client(&script).upload(row("job_data.upload"), &arguments("job_data.upload", &[]), upload).await;
        assert_eq!((sent(&script, Post), answer.is_ok()), (once, once == ALL), "an upload after {name}");
        // Only an upload that may have arrived is searched in the list.
        let may_have_arrived = once == 1 && !["400", "not built", "not trusted"].contains(&name);
        assert_eq!(sent(&script, Get) > 0, may_have_arrived, "an upload after {name}");
    }
}

#[tokio::test(start_paused = true)]
async fn clock_correction_uses_up_no_retry() {
    for name in ["access_key", "job_data.download", "job_data.upload"] {
        let body = if name == "job_data.download" { zip_of(b"points") } else { KEY.into() };
        let script = Script::new(move |number, _| match number {
            0 => Ok(wrong_time()),
            1..4 => Err(fault(FaultKind::Connect)),
            _ => Ok(ok(body.clone()).with("location", "/V1/jobdata/5")),
        });
        let client = client(&script);
        match name {
            "access_key" => drop(client.detail(row(name), &arguments(name, &[])).await.unwrap()),
            "job_data.upload" => {
                let upload = UploadFile { name: "job.jdp.zip".to_owned(), content: zip_of(b"points").into() };
                client.upload(row(name), &arguments(name, &[]), upload).await.unwrap();
            }
            _ => {
                let job = arguments(name, &[("id", "1")]);
                drop(client.download(row(name), &job, Target::Memory, None).await.unwrap());
            }
        }
        assert_eq!(script.count(), 5, "{name}");
    }
}
