//! Tests downloads: polling, checks, target files, and bodies that are never saved.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use headland::client::{Client, Delivered, Target};
use headland::error::Kind;
use headland::transport::FaultKind;

use crate::support::*;

const MORE_TIME: &str = r#"{"status":"MORE_TIME_NEEDED","errorInfo":"00:00:30","result":"nil"}"#;

async fn download(client: &Client, format: &str, target: Target) -> headland::error::Result<Delivered> {
    let arguments = arguments("job_data.download", &[("id", "31"), ("format", format)]);
    client.download(row("job_data.download"), &arguments, target, None).await
}

fn to(path: &Path) -> Target {
    Target::Disk { to: path.to_owned(), overwrite: false }
}

fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[tokio::test(start_paused = true)]
async fn download_polls_at_the_interval_of_the_service() {
    for (reply, pause) in [(200, (None, 30.0)), (202, (Some(7), 7.0)), (404, (Some(9), 9.0)), (503, (None, 30.0))] {
        let start = tokio::time::Instant::now();
        let script = Script::new(move |number, request| {
            assert_eq!(request.headers["accept-encoding"], "identity");
            let more_time = canned(reply, MORE_TIME);
            Ok(match (number, pause.0) {
                (0 | 1, Some(seconds)) => more_time.with("retry-after", seconds),
                (0 | 1, None) => more_time,
                _ => ok(zip_of(b"points")),
            })
        });
        let delivered = download(&client(&script), "SHP", Target::Memory).await.unwrap();
        assert_eq!(delivered, Delivered::Bytes(zip_of(b"points")));
        assert!((seconds(start) - 2.0 * pause.1).abs() < 0.01, "{} s", seconds(start));
    }
}

#[tokio::test(start_paused = true)]
async fn wait_beyond_the_deadline_is_not_started() {
    let start = tokio::time::Instant::now();
    let script = Script::new(|_, _| Ok(ok(MORE_TIME).with("retry-after", 400)));
    let error = download(&client(&script), "SHP", Target::Memory).await.unwrap_err();
    assert_eq!((error.kind(), error.facts().retry_after), (Kind::NotReady, Some(Duration::from_secs(400))));
    assert!((seconds(start) - 400.0).abs() < 0.1, "one wait fitted: {}", seconds(start));
}

#[tokio::test(start_paused = true)]
async fn status_body_is_never_saved_as_a_file() {
    let folder = tempfile::tempdir().unwrap();
    for (body, kind, word) in [
        (
            r#"{"status":"NO_COVERAGE","errorInfo":"No coverage available.","result":"nil"}"#,
            Kind::NoCoverage,
            "No coverage",
        ),
        (
            r#"{"status":"CONVERSION_STATUS_FAILED","errorInfo":"The utility failed.","result":"t"}"#,
            Kind::ConversionFailed,
            "utility",
        ),
        (
            r#"{"status":"INVALID_REQUEST","errorInfo":"Bad format.","result":"nil"}"#,
            Kind::InvalidRequest,
            "Bad format",
        ),
        (
            "<XResponse><status>NO_COVERAGE</status><errorInfo>None.</errorInfo><result>nil</result></XResponse>",
            Kind::NoCoverage,
            "None.",
        ),
        ("<!DOCTYPE html><html><body>Please log in</body></html>", Kind::Decode, "a web page"),
        (r#"{"ID":31}"#, Kind::Decode, "nothing was saved"),
        ("", Kind::Decode, "empty"),
        ("just text", Kind::Decode, "just text"),
    ] {
        for format in ["SHP", "XML"] {
            let script = Script::new(move |_, _| Ok(ok(body)));
            let error = download(&client(&script), format, to(folder.path())).await.unwrap_err();
            assert_eq!((error.kind(), script.count()), (kind, 1), "{format} {body}: {error}");
            assert!(error.message().contains(word), "{error}");
            assert_eq!(error.facts().endpoint, Some("job_data.download"));
        }
    }
    assert!(files(folder.path()).is_empty());
}

#[tokio::test(start_paused = true)]
async fn folder_target_uses_the_sanitised_name_and_path_target_its_own() {
    let folder = tempfile::tempdir().unwrap();
    for (disposition, target, name) in [
        (Some("attachment; filename=\"../../job 31.zip\""), folder.path().to_owned(), "job 31.zip"),
        (Some("attachment; filename*=UTF-8''f%C3%A4ld.zip"), folder.path().to_owned(), "fäld.zip"),
        (None, folder.path().to_owned(), "31.shp.zip"),
        (Some("attachment; filename=\"x.zip\""), folder.path().join("mine.zip"), "mine.zip"),
    ] {
        let script = Script::new(move |_, _| {
            let reply = ok(zip_of(b"points"));
            Ok(match disposition {
                Some(text) => reply.with("content-disposition", text),
                None => reply,
            })
        });
        let delivered = download(&client(&script), "SHP", to(&target)).await.unwrap();
        assert_eq!(delivered, Delivered::File(folder.path().join(name)));
        assert_eq!(fs::read(folder.path().join(name)).unwrap(), zip_of(b"points"));
    }
    assert_eq!(files(folder.path()).len(), 4, "no part is left");
}

#[tokio::test(start_paused = true)]
async fn existing_file_is_not_overwritten_by_default() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("31.shp.zip");
    fs::write(&path, b"old").unwrap();
    let script = Script::new(|_, _| Ok(ok(zip_of(b"points"))));
    let client = client(&script);
    let error = download(&client, "SHP", to(&path)).await.unwrap_err();
    assert_eq!((error.kind(), error.facts().os_error, script.count()), (Kind::File, Some(17), 0), "no call is spent");
    assert_eq!(download(&client, "SHP", to(folder.path())).await.unwrap_err().facts().os_error, Some(17));
    assert_eq!(fs::read(&path).unwrap(), b"old");
    let overwrite = Target::Disk { to: path.clone(), overwrite: true };
    download(&client, "SHP", overwrite).await.unwrap();
    assert_eq!(fs::read(&path).unwrap(), zip_of(b"points"));
    let missing = download(&client, "SHP", to(&folder.path().join("no/such/file.zip"))).await.unwrap_err();
    assert!(missing.message().contains("no folder"), "{missing}");
    assert_eq!(files(folder.path()), ["31.shp.zip"]);
}

#[tokio::test(start_paused = true)]
async fn truncated_or_damaged_file_is_requested_again_and_never_kept() {
    let folder = tempfile::tempdir().unwrap();
    let whole = zip_of(&[7; 5_000]);
    let mut flipped = whole.clone();
    let middle = flipped.len() / 3;
    flipped[middle] ^= 0x55;
    let cut = whole[..whole.len() / 2].to_vec();
    let xml = b"<?xml version=\"1.0\"?><RadData><Job/></RadData>".to_vec();
    for (format, whole, broken) in [
        ("SHP", whole.clone(), vec![Ok(Bytes::from(cut.clone()))]),
        ("SHP", whole.clone(), vec![Ok(Bytes::from(flipped))]),
        ("SHP", whole.clone(), vec![Ok(Bytes::from(cut)), Err(fault(FaultKind::Truncated))]),
        ("XML", xml.clone(), vec![Ok(Bytes::from(xml[..30].to_vec()))]),
    ] {
        for target in [Target::Memory, to(&folder.path().join("file"))] {
            let expected = match &target {
                Target::Memory => Delivered::Bytes(whole.clone()),
                Target::Disk { to, .. } => Delivered::File(to.clone()),
            };
            let (good, bad) = (whole.clone(), broken.clone());
            let script = Script::new(move |number, _| {
                Ok(if number == 0 { Canned { chunks: bad.clone(), ..ok("") } } else { ok(good.clone()) })
            });
            assert_eq!(download(&client(&script), format, target).await.unwrap(), expected);
            assert_eq!(script.count(), 2);
            let _ = fs::remove_file(folder.path().join("file"));
            let bad = broken.clone();
            let script = Script::new(move |_, _| Ok(Canned { chunks: bad.clone(), ..ok("") }));
            let error = download(&client(&script), format, to(&folder.path().join("file"))).await.unwrap_err();
            assert_eq!((error.kind(), script.count()), (Kind::Transport, 4), "{error}");
            assert!(files(folder.path()).is_empty());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn cancelled_download_leaves_no_part_file() {
    let folder = tempfile::tempdir().unwrap();
    let start: Vec<u8> = (0..4_000_u32).map(|number| (number.wrapping_mul(number) % 251) as u8).collect();
    let start = [b"PK".to_vec(), start].concat();
    let script =
        Script::new(move |_, _| Ok(Canned { chunks: vec![Ok(Bytes::from(start.clone()))], hangs: true, ..ok("") }));
    let client = client(&script);
    let path = folder.path().join("31.zip");
    let mut work = Box::pin(download(&client, "SHP", to(&path)));
    assert!(tokio::time::timeout(Duration::from_millis(200), &mut work).await.is_err());
    assert_eq!(files(folder.path()).len(), 1, "it had begun");
    drop(work);
    assert!(files(folder.path()).is_empty(), "{:?}", files(folder.path()));
}

#[tokio::test(start_paused = true)]
async fn conversion_is_requested_and_downloaded_once() {
    let folder = tempfile::tempdir().unwrap();
    let script = Script::new(|number, _| {
        Ok(if number < 2 {
            ok(MORE_TIME)
        } else {
            ok(zip_of(b"points")).with("content-disposition", "attachment; filename=\"job.zip\"")
        })
    });
    let client = client(&script);
    let given = arguments("job_data.request", &[("id", "31")]);
    let mut conversion = client.conversion(row("job_data.request"), given).unwrap();
    assert_eq!((script.count(), conversion.id().as_str()), (0, "job_data.request/31/SHP"));
    assert!(!conversion.ready().await.unwrap());
    assert!(!conversion.ready().await.unwrap());
    assert_eq!(script.count(), 1, "the stated wait is not over, so no request is sent");
    let error = conversion.wait(Some(Duration::from_secs(10))).await.unwrap_err();
    assert_eq!((error.kind(), error.facts().status), (Kind::NotReady, None));
    conversion.wait(None).await.unwrap();
    assert_eq!(script.count(), 3);
    assert!(conversion.ready().await.unwrap());
    assert_eq!(conversion.result(Target::Memory).await.unwrap(), Delivered::Bytes(zip_of(b"points")));
    let kept = conversion.result(to(folder.path())).await.unwrap();
    assert_eq!(kept, Delivered::File(folder.path().join("job.zip")));
    assert_eq!(script.count(), 3, "found once, fetched once");

    let mut resumed = client.resume("job_data.request/31/SHP").unwrap();
    assert_eq!(resumed.result(Target::Memory).await.unwrap(), Delivered::Bytes(zip_of(b"points")));
    for id in ["", "job_data.request", "job_data.request/31", "job_data.list/1/2", "job_data.request/31/SHP/x"] {
        assert!(client.resume(id).is_err(), "{id}");
    }
}

#[tokio::test(start_paused = true)]
async fn zero_timeout_polls_once() {
    let script = Script::slow(Duration::from_millis(40), |_, _| Ok(ok(MORE_TIME)));
    let client = client(&script);
    let mut conversion =
        client.conversion(row("job_data.request"), arguments("job_data.request", &[("id", "31")])).unwrap();
    let error = conversion.wait(Some(Duration::ZERO)).await.unwrap_err();
    assert_eq!((error.kind(), script.count()), (Kind::NotReady, 1));
    assert_eq!(error.facts().retry_after, Some(Duration::from_secs(30)));
}

#[tokio::test(start_paused = true)]
async fn result_of_a_conversion_waits_until_it_is_ready() {
    let start = tokio::time::Instant::now();
    let script = Script::new(|number, _| Ok(if number < 2 { ok(MORE_TIME) } else { ok(zip_of(b"x")) }));
    let client = client(&script);
    let given = arguments("job_data.request", &[("id", "31"), ("format", "BIN")]);
    let mut conversion = client.conversion(row("job_data.request"), given).unwrap();
    assert_eq!(conversion.result(Target::Memory).await.unwrap(), Delivered::Bytes(zip_of(b"x")));
    assert!((seconds(start) - 60.0).abs() < 0.1);
}

#[tokio::test(start_paused = true)]
async fn zero_wait_of_the_service_does_not_poll_without_pause() {
    let script = Script::new(|number, _| {
        Ok(if number < 5 {
            ok(r#"{"status":"MORE_TIME_NEEDED","errorInfo":"00:00:00","result":"nil"}"#)
        } else {
            ok(zip_of(b"x"))
        })
    });
    let start = tokio::time::Instant::now();
    download(&client(&script), "SHP", Target::Memory).await.unwrap();
    assert!((seconds(start) - 31.0).abs() < 0.1, "1 + 2 + 4 + 8 + 16 s: {}", seconds(start));
}

#[tokio::test(start_paused = true)]
async fn invalid_target_path_is_an_error_before_any_call() {
    let folder = tempfile::tempdir().unwrap();
    let script = Script::new(|_, _| Ok(ok(zip_of(b"points"))));
    let client = client(&script);
    let at = |name: &str| folder.path().join(name);
    for (path, kind, words) in [
        (PathBuf::new(), Kind::Value, "is empty"),
        (at("a\0b.zip"), Kind::Value, "NUL"),
        (at(&"n".repeat(256)), Kind::Value, "255 bytes"),
        (at("missing/"), Kind::File, "no folder"),
        (at("missing/a.zip"), Kind::File, "no folder"),
    ] {
        let error = download(&client, "SHP", to(&path)).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(words), "{error}");
    }
    download(&client, "SHP", to(&at(&"n".repeat(255)))).await.unwrap();
    assert_eq!((script.count(), files(folder.path()).len()), (1, 1));
}

#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn only_regular_files_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    fs::write(&kept, "mine").unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&kept, &link).unwrap();
    // Never a device of the machine: if the check were missing, the test would replace it.
    let socket = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let script =
        Script::new(|_, _| Ok(ok(zip_of(b"points")).with("content-disposition", "attachment; filename=\"link\"")));
    let client = client(&script);
    for (path, calls) in [(socket, 0), (link.clone(), 0), (folder.path().to_owned(), 1)] {
        let error = download(&client, "SHP", Target::Disk { to: path, overwrite: true }).await.unwrap_err();
        assert_eq!((error.kind(), script.count()), (Kind::File, calls), "{error}");
        assert!(error.message().contains("only a regular file can be replaced"), "{error}");
    }
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&kept).unwrap(), "mine");
    assert_eq!(files(folder.path()), ["kept", "link", "socket"]);
}
