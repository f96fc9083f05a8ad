//! Tests uploads, sentence by sentence of the specification, each with the reply of the service.

#![expect(clippy::unwrap_used, reason = "tests expect by unwrapping")]

use std::fmt::Write as _;

use headland::sandbox::Sandbox;

use super::maps::zip_with;
use super::raw_client::{Reply, call, get, options, start};

const MAPS: &str = "/prescriptionmaps";
const JOBS: &str = "/jobdata";
const CARTS: &str = "/graincart";

/// A complete shape file set.
const SET: &[&str] = &["North 40.shp", "North 40.shx", "North 40.dbf"];

/// A form of a file with its name, where there is one, and texts.
fn post(sandbox: &Sandbox, path: &str, file: Option<(&str, &[u8])>, texts: &[(&str, &str)]) -> Reply {
    let mut call = call(sandbox, "POST", path).header("Content-Type", "multipart/form-data; boundary=XX");
    let mut body = String::new();
    for (name, text) in texts {
        write!(body, "--XX\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n").unwrap();
    }
    call.body = body.into_bytes();
    if let Some((name, content)) = file {
        let head = format!("--XX\r\nContent-Disposition: form-data; name=\"FileName\"; filename=\"{name}\"\r\n\r\n");
        call.body.extend_from_slice(head.as_bytes());
        call.body.extend_from_slice(content);
        call.body.extend_from_slice(b"\r\n");
    }
    call.body.extend_from_slice(b"--XX--\r\n");
    call.send()
}

/// A sentence: its text, the path of the upload, its file name, content and type, and whether it is accepted.
type Sentence = (&'static str, &'static str, &'static str, Vec<u8>, Option<&'static str>, bool);

fn sentences() -> Vec<Sentence> {
    let zip = |members: &[&str]| zip_with(members);
    let set = || zip(SET);
    let form = "4.2: multipart/form-data with entries FileName and FileType (RX or AGX)";
    let single = "4.3: FileType RX: the body is a zip containing a single shape file set (.shp, .shx, .dbf)";
    let several = "4.3: a zip holding several shape files is unsupported";
    let agx = "4.3: AGX: the file may be simple or complex and must have the extension .rdp.zip";
    let jobs = "4.3: the body is a zip of job data from a field computer";
    let directories = "4.3: a zip with multiple directories is unsupported";
    let cart = "4.2: a GRC file's contents and name; 2.8: file with extension GRC";
    vec![
        (form, MAPS, "a.zip", set(), Some("RX"), true),
        (form, MAPS, "a.rdp.zip", set(), Some("AGX"), true),
        (form, MAPS, "a.zip", set(), None, false),
        (form, MAPS, "a.zip", set(), Some("BIN"), false),
        (single, MAPS, "a.zip", zip(&["A.SHP", "a.Shx", "A.dbf"]), Some("RX"), true),
        (single, MAPS, "a.zip", zip(&["field/a.shp", "field/a.shx", "field/a.dbf"]), Some("RX"), true),
        (single, MAPS, "a.zip", zip(&["a.shp", "a.shx", "a.dbf", "a.prj", "about.txt"]), Some("RX"), true),
        (single, MAPS, "a.zip", zip(&["a.shx", "a.dbf"]), Some("RX"), false),
        (single, MAPS, "a.zip", zip(&["a.shp", "a.dbf"]), Some("RX"), false),
        (single, MAPS, "a.zip", zip(&["a.shp", "a.shx"]), Some("RX"), false),
        (single, MAPS, "a.zip", zip(&["a.shp", "a.shx", "b.dbf"]), Some("RX"), false),
        (single, MAPS, "a.zip", zip(&["readme.txt"]), Some("RX"), false),
        (single, MAPS, "a.shp", b"no zip".to_vec(), Some("RX"), false),
        (several, MAPS, "a.zip", zip(&["a.shp", "a.shx", "a.dbf", "b.shp", "b.shx", "b.dbf"]), Some("RX"), false),
        (several, MAPS, "a.zip", zip(&["a.shp", "a.shx", "a.dbf", "b.shp"]), Some("RX"), false),
        (several, MAPS, "a.zip", zip(&["a/f.shp", "a/f.shx", "a/f.dbf", "b/f.shp"]), Some("RX"), false),
        (agx, MAPS, "a.rdp.zip", b"simple".to_vec(), Some("AGX"), true),
        (agx, MAPS, "A.RDP.ZIP", zip(&["one/a", "two/b"]), Some("agx"), true),
        (agx, MAPS, "a.zip", set(), Some("AGX"), false),
        (agx, MAPS, "a.rdp", set(), Some("AGX"), false),
        (agx, MAPS, ".rdp.zip", set(), Some("AGX"), false),
        (jobs, JOBS, "a.jdp.zip", zip(&["a.log"]), None, true),
        (jobs, JOBS, "a.jdp.zip", zip(&["job/a.log", "job/job_fmis/jobdata.xml", "job/more/b"]), None, true),
        (jobs, JOBS, "a.jdp.zip", b"no zip".to_vec(), None, false),
        (jobs, JOBS, "a.jdp.zip", zip(&[]), None, false),
        (directories, JOBS, "a.jdp.zip", zip(&["one/a.log", "two/b.log"]), None, false),
        (directories, JOBS, "a.jdp.zip", zip(&["one\\a.log", "two\\b.log"]), None, false),
        (cart, CARTS, "Corn.GRC", b"GrcVersion,1.6,\r\n".to_vec(), None, true),
        (cart, CARTS, "Corn.csv", b"GrcVersion,1.6,\r\n".to_vec(), None, false),
        (cart, CARTS, ".grc", b"GrcVersion,1.6,\r\n".to_vec(), None, false),
    ]
}

#[test]
fn each_sentence_decides_which_uploads_are_accepted() {
    let sandbox = start(options());
    for (sentence, path, name, content, kind, is_taken) in sentences() {
        let texts: Vec<_> = kind.iter().map(|kind| ("FileType", *kind)).collect();
        let reply = post(&sandbox, path, Some((name, &content)), &texts);
        let said = format!("{sentence}: {path} `{name}` {kind:?}: {}", reply.text());
        if is_taken {
            // 4.2: 201 Created with the URI of the new record; 4.4: the original is returned.
            assert_eq!(reply.status, 201, "{said}");
            let address = reply.get("location").unwrap().strip_prefix(&sandbox.base_url()).unwrap().to_owned();
            assert_eq!(get(&sandbox, &address).send().status, 200, "{said}");
            assert_eq!(get(&sandbox, &format!("{address}?format=BIN")).send().body, content, "{said}");
        } else {
            // 7: 4XX with a ServiceResponse, status INVALID_REQUEST and errorInfo text.
            assert_eq!((reply.status, reply.json()["status"].as_str()), (400, Some("INVALID_REQUEST")), "{said}");
            assert!(reply.info().ends_with('.') && reply.info().contains(' '), "{said}");
        }
    }
}

#[test]
fn form_entry_with_content_and_file_name_is_required() {
    let sandbox = start(options());
    let zip = zip_with(SET);
    for path in [MAPS, JOBS, CARTS] {
        for file in [None, Some(("", &zip[..])), Some(("a.rdp.zip", &b""[..])), Some(("a.grc", b""))] {
            let reply = post(&sandbox, path, file, &[("FileType", "RX")]);
            assert_eq!(reply.status, 400, "{path} {file:?}: {}", reply.text());
        }
        let bare =
            call(&sandbox, "POST", path).header("Content-Type", "application/zip").with(|call| call.body = zip.clone());
        assert_eq!(bare.send().status, 400, "{path}: no form");
    }
}

#[test]
fn header_of_a_form_part_has_bounds() {
    let sandbox = start(options());
    for (length, status) in [(1_000, 201), (200_000, 400)] {
        let name = format!("a.jdp.zip\"; more=\"{}", "x".repeat(length));
        let reply = post(&sandbox, JOBS, Some((&name, &zip_with(SET))), &[]);
        assert_eq!(reply.status, status, "{length}: {}", reply.text());
    }
}

#[test]
fn rejected_upload_leaves_no_file_and_no_record() {
    let data = tempfile::tempdir().unwrap();
    let sandbox = start(headland::sandbox::Options { data: Some(data.path().to_owned()), ..options() });
    let total = |path: &str| get(&sandbox, path).send().json()["TotalCount"].clone();
    let before = [MAPS, JOBS, CARTS].map(total);
    for (_, path, name, content, kind, is_taken) in sentences() {
        if !is_taken {
            let texts: Vec<_> = kind.iter().map(|kind| ("FileType", *kind)).collect();
            post(&sandbox, path, Some((name, &content)), &texts);
        }
    }
    assert_eq!([MAPS, JOBS, CARTS].map(total), before);
    assert_eq!(std::fs::read_dir(data.path().join("uploads")).unwrap().count(), 0);
}
