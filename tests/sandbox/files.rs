//! Tests files, conversions and uploads (specification 4.3, 4.4).

use std::time::Duration;

use headland::sandbox::Options;
use headland::sandbox::fields::{Coverage, Failure, HarvestStyle, generate_account};

use super::raw_client::{Call, call, get, jobs, options, start, upload, zip_of};

/// The path of the newest job of seed 0 with this coverage.
fn job_with(coverage: Coverage) -> String {
    let job = generate_account(0, HarvestStyle::Ideal).jobs.into_iter().find(|job| job.coverage == coverage);
    format!("/jobdata/{}", job.map(|job| job.id).unwrap_or_default())
}

#[test]
fn conversion_returns_the_file_after_its_time() {
    let sandbox = start(options());
    let path = job_with(Coverage::Recorded);
    assert!(get(&sandbox, &path).send().json()["Status"].is_null(), "no conversion is requested yet");
    let ask = || get(&sandbox, &format!("{path}?FORMAT=shp")).send();
    let first = ask();
    assert_eq!((first.status, first.json()["status"].clone()), (200, "MORE_TIME_NEEDED".into()));
    assert_eq!((first.info().as_str(), first.get("retry-after")), ("00:00:30", Some("30")));
    sandbox.advance(Duration::from_millis(28_500));
    let second = ask();
    assert_eq!((second.info().as_str(), second.get("retry-after")), ("00:00:02", Some("2")));
    assert!(get(&sandbox, &path).send().json()["Status"].is_null());
    sandbox.advance(Duration::from_millis(1_500));
    let file = ask();
    assert_eq!((file.status, file.get("content-type")), (200, Some("application/zip")));
    assert_eq!(file.get("content-length").unwrap(), file.body.len().to_string());
    assert!(file.body.starts_with(b"PK"));
    let disposition = file.get("content-disposition").unwrap();
    assert!(disposition.starts_with("attachment; filename=\"") && disposition.ends_with(".zip\""), "{disposition}");
    let detail = get(&sandbox, &path).send().json();
    assert_eq!(detail["Status"], "CONVERSION_STATUS_SUCCESS");
}

#[test]
fn no_coverage_and_failure_are_statuses_with_200() {
    let sandbox = start(options());
    let (bare, broken) = (job_with(Coverage::None), job_with(Coverage::Unconvertible(Failure::Convert)));
    for path in [&bare, &broken] {
        assert!(get(&sandbox, &format!("{path}?format=SHP")).send().text().contains("MORE_TIME_NEEDED"));
    }
    sandbox.advance(Duration::from_secs(30));
    let reply = get(&sandbox, &format!("{bare}?format=SHP")).send();
    assert_eq!((reply.status, reply.json()["status"].clone()), (200, "NO_COVERAGE".into()));
    assert_eq!((reply.info().as_str(), reply.json()["result"].clone()), ("No coverage available.", "nil".into()));
    let reply = get(&sandbox, &format!("{broken}?format=SHP")).send();
    assert_eq!((reply.status, reply.json()["status"].clone()), (200, "CONVERSION_STATUS_FAILED_CONVERT".into()));
    assert!(!reply.info().is_empty());
    let detail = get(&sandbox, &broken).send().json();
    assert_eq!(detail["Status"], "CONVERSION_STATUS_FAILED_CONVERT");
    assert_eq!(detail["AvailableFiles"].as_array().unwrap().len(), 1, "the original is all there is");
}

#[test]
fn original_is_available_immediately_and_other_formats_are_errors() {
    let sandbox = start(options());
    let (id, name) = jobs(&sandbox, &sandbox.keys().access_key).remove(0);
    let file = get(&sandbox, &format!("/JobData/{id}?format=bin")).send();
    assert!(file.body.starts_with(b"PK"));
    assert!(file.get("content-disposition").unwrap().contains(&format!("{name}.jdp.zip")));
    for format in ["DOC", "", "RAD"] {
        let reply = get(&sandbox, &format!("/jobdata/{id}?format={format}")).send();
        assert_eq!((reply.status, reply.json()["status"].clone()), (400, "INVALID_REQUEST".into()));
        assert!(reply.info().contains("BIN, SHP, FMIS, XML"), "{}", reply.info());
    }
}

#[test]
fn uploaded_shapefile_is_available_in_both_formats() {
    let sandbox = start(options());
    let zip = zip_of("Field/North.SHP", b"not looked into");
    let created = upload(&sandbox, "C:\\jobs\\North 40 \u{e4}.jdp.zip", &zip).send();
    let uri = created.get("location").unwrap();
    assert_eq!((created.status, created.text().as_str()), (201, uri));
    let path = uri.strip_prefix(&sandbox.base_url()).unwrap();
    let detail = get(&sandbox, path).send().json();
    assert_eq!(detail["DeviceFileName"], "North 40 \u{e4}.jdp.zip");
    let original = get(&sandbox, &format!("{path}?format=BIN")).send();
    assert_eq!(original.body, zip);
    assert!(original.get("content-disposition").unwrap().ends_with("filename*=UTF-8''North%2040%20%C3%A4.jdp.zip"));
    assert!(get(&sandbox, &format!("{path}?format=SHP")).send().text().contains("MORE_TIME_NEEDED"));
    sandbox.advance(Duration::from_secs(30));
    assert_eq!(get(&sandbox, &format!("{path}?format=SHP")).send().body, zip);
}

/// Names are kept unchanged but for folders; quotes are escaped ([RFC 7578, section
/// 4.2](https://www.rfc-editor.org/rfc/rfc7578#section-4.2)).
#[test]
fn upload_keeps_its_name() {
    let sandbox = start(options());
    for (sent, kept) in
        [("a\\\"b.zip", "a\"b.zip"), (" lead.zip", " lead.zip"), ("50%22.zip", "50%22.zip"), ("x/y.zip", "y.zip")]
    {
        let created = upload(&sandbox, sent, &zip_of("a.shp", b"x")).send();
        let path = created.get("location").unwrap().strip_prefix(&sandbox.base_url()).unwrap().to_owned();
        assert_eq!(get(&sandbox, &path).send().json()["DeviceFileName"], kept);
    }
}

#[test]
fn upload_without_shapefile_fails_to_convert_with_a_reason() {
    let sandbox = start(Options { conversion_time: Duration::ZERO, ..options() });
    let created = upload(&sandbox, "a.jdp.zip", &zip_of("a.bin", b"x")).send();
    let path = created.get("location").unwrap().strip_prefix(&sandbox.base_url()).unwrap().to_owned();
    let reply = get(&sandbox, &format!("{path}?format=SHP")).send();
    assert_eq!(reply.json()["status"], "CONVERSION_STATUS_INVALID_JOB_DATA_FILE");
    assert!(reply.info().contains("no shape file"), "{}", reply.info());
}

#[test]
fn invalid_upload_is_an_error_and_leaves_no_job() {
    let sandbox = start(options());
    let before = jobs(&sandbox, &sandbox.keys().access_key).len();
    let refused = |call: Call<'_>, says: &str| {
        let reply = call.send();
        assert_eq!((reply.status, reply.json()["status"].clone()), (400, "INVALID_REQUEST".into()));
        assert!(reply.info().contains(says), "{}", reply.info());
    };
    refused(call(&sandbox, "POST", "/jobdata"), "multipart/form-data");
    refused(upload(&sandbox, "", b"x"), "no file name");
    refused(upload(&sandbox, "  ", b"x"), "no file name");
    refused(upload(&sandbox, "a.jdp.zip", b""), "empty");
    refused(upload(&sandbox, "a.jdp.zip", b"hello world"), "not a zip");
    refused(upload(&sandbox, "a.jdp.zip", b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), "holds no file");
    let other_part = upload(&sandbox, "a.jdp.zip", b"x").with(|call| {
        call.body = b"--XX\r\nContent-Disposition: form-data; name=\"File\"\r\n\r\nx\r\n--XX--\r\n".to_vec();
    });
    refused(other_part, "FileName");
    refused(upload(&sandbox, "a.jdp.zip", b"x").with(|call| call.body.truncate(100)), "cannot be read");
    assert_eq!(jobs(&sandbox, &sandbox.keys().access_key).len(), before);
}

#[test]
fn large_uploads_are_accepted_up_to_the_limit() {
    let sandbox = start(options());
    let mut noise = vec![0_u8; 9_000_000];
    fastrand::Rng::with_seed(1).fill(&mut noise);
    let large = zip_of("job.bin", &noise);
    assert!(large.len() >= noise.len(), "noise stays as large as it is");
    let created = upload(&sandbox, "large.jdp.zip", &large).send();
    let path = created.get("location").unwrap().strip_prefix(&sandbox.base_url()).unwrap().to_owned();
    assert_eq!(get(&sandbox, &format!("{path}?format=BIN")).send().body, large);
    let announced = upload(&sandbox, "larger.jdp.zip", b"").with(|call| call.body.clear());
    let refused = announced.header("Content-Length", "536870913").send();
    assert_eq!(refused.status, 413);
    assert!(refused.info().contains("536870912 bytes"));
}

#[test]
fn more_time_has_its_variants() {
    let variants = vec!["more-time-202".to_owned(), "no-retry-after".to_owned()];
    let sandbox = start(Options { variants, ..options() });
    let (id, _) = jobs(&sandbox, &sandbox.keys().access_key).remove(0);
    let reply = get(&sandbox, &format!("/jobdata/{id}?format=SHP")).send();
    assert_eq!((reply.status, reply.get("retry-after"), reply.info().as_str()), (202, None, "00:00:30"));
}
