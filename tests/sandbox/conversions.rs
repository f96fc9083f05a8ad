//! Tests that every format of every generated job has the same truth, and that every status of a conversion occurs
//! (specification 3, 4.4).

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests expect by unwrapping")]

use std::collections::BTreeSet;
use std::io::{Cursor, Read as _};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use headland::client::Target;
use headland::error::Kind;
use headland::sandbox::fields::{Coverage, Failure, Truth};
use headland::sandbox::{Options, Sandbox};
use quick_xml::Reader;
use quick_xml::events::Event;

use super::headland_client::{arguments_for, client, file, row};
use super::raw_client::{generated, get, options, start, upload, zip_of};

/// The numbers of a record with the names of their columns; a blank is omitted.
type Numbers = Vec<(Rc<str>, f64)>;

/// Compares records of a file of any format with the truth.
fn assert_true(truth: &Truth, records: &[Numbers], metre: f64) {
    let job = &truth.job_name;
    assert_eq!(records.len() as u64, truth.rows, "{job}");
    let number = |record: &Numbers, name: &str| record.iter().find(|(own, _)| **own == *name).map(|(_, value)| *value);
    for (name, _, total) in &truth.totals {
        let sum: f64 = records.iter().filter_map(|record| number(record, name)).sum();
        assert!((sum - total).abs() <= 1e-9 * total.abs().max(1.0), "{job} {name}: {sum}, not {total}");
    }
    let product = |record: &Numbers, names: &[&str]| -> f64 {
        names.iter().map(|name| number(record, name).unwrap_or(0.0)).product()
    };
    let columns: Vec<&str> = truth.total.columns.iter().map(String::as_str).collect();
    let total = truth.total.factor * records.iter().map(|record| product(record, &columns)).sum::<f64>();
    assert!((total / truth.total.value - 1.0).abs() < 1e-9, "{job}: {total} {}", truth.total.unit);
    let area = records.iter().map(|record| product(record, &["SWATHWIDTH", "DISTANCE"])).sum::<f64>() * metre * metre;
    assert!((area / truth.area - 1.0).abs() < 1e-9, "{job}: {area} m²");
}

/// The unit of lengths of the display, from its truth.
fn metre(truth: &Truth) -> f64 {
    let unit = &truth.totals.iter().find(|(name, ..)| name == "DISTANCE").unwrap().1;
    if unit == "ft" { 0.3048 } else { 1.0 }
}

/// The text of every element with its path, in document order.
fn texts(document: &str) -> Vec<(String, String)> {
    let (mut reader, mut path, mut found) = (Reader::from_str(document), Vec::new(), Vec::new());
    loop {
        match reader.read_event().unwrap() {
            Event::Start(tag) => path.push(tag.name().as_ref().to_owned()),
            Event::End(_) => drop(path.pop()),
            Event::Text(text) if !path.is_empty() => found.push((path.join("/"), text.into_inner().into_owned())),
            Event::Eof => return found,
            _ => {}
        }
    }
}

/// The records of an FMIS zip, one for each active section, read according to its `advanced.xml`.
fn of_fmis(zip: &[u8], id: &str, name: &str) -> Vec<Numbers> {
    let mut archive = zip::ZipArchive::new(Cursor::new(zip)).unwrap();
    let mut member = |file: &str| {
        let mut text = String::new();
        let layer = name.replace(' ', "_");
        archive.by_name(&format!("{layer}/{layer}_fmis/{file}")).unwrap().read_to_string(&mut text).unwrap();
        text
    };
    let job = texts(&member("jobdata.xml"));
    assert!(job.contains(&("JobData/ID".to_owned(), id.to_owned())), "{job:?}");
    let mut table = job.iter().filter(|(path, _)| path == "JobData/Tables/Table/FileName");
    let lines = member(&table.next().unwrap().1);
    let (mut leading, mut sections) = (Vec::new(), Vec::<Vec<Rc<str>>>::new());
    for (path, text) in texts(&member("advanced.xml")) {
        match path.as_str() {
            "Advanced/SegmentFormat/Column/Name" => leading.push(text),
            "Advanced/SegmentFormat/EquipmentSection/Number" => sections.push(Vec::new()),
            "Advanced/SegmentFormat/EquipmentSection/DDI/Name" => sections.last_mut().unwrap().push(text.into()),
            _ => {}
        }
    }
    assert_eq!(leading, ["ID", "TIMESTAMP", "LATITUDE", "LONGITUDE", "ELEVATION", "DISTANCE", "SPEED"]);
    let [section_name, distance_name, speed_name] = ["SECTION", "DISTANCE", "SPEED"].map(Rc::<str>::from);
    let mut records = Vec::new();
    for (line, expected) in lines.lines().zip(1..) {
        let cells: Vec<&str> = line.split('\t').collect();
        let ([id, time, latitude, _, _, distance, speed], mut rest) = cells.split_first_chunk().unwrap();
        assert_eq!(*id, i32::to_string(&expected), "no header, and numbered from 1");
        assert!(time.parse::<chrono::DateTime<chrono::Utc>>().is_ok(), "{time}");
        assert!(latitude.parse::<f64>().unwrap().abs() <= 90.0);
        for (section, names) in (1_u8..).zip(&sections) {
            let (own, others) = rest.split_at(names.len());
            rest = others;
            let cells = names.iter().zip(own).filter(|(_, cell)| !cell.is_empty());
            let mut record: Numbers = cells.map(|(name, cell)| (Rc::clone(name), cell.parse().unwrap())).collect();
            if !record.is_empty() {
                record.push((Rc::clone(&section_name), section.into()));
                record.push((Rc::clone(&distance_name), distance.parse().unwrap()));
                record.push((Rc::clone(&speed_name), speed.parse().unwrap()));
                records.push(record);
            }
        }
        assert!(rest.is_empty(), "as many cells as the layout says");
    }
    records
}

/// The records of the XML file.
fn of_xml(document: &str, id: &str) -> Vec<Numbers> {
    let detail = texts(document.split_once("<Records>").unwrap().0);
    assert!(detail.contains(&("ParsedJobData/JobDataDetail/ID".to_owned(), id.to_owned())), "{detail:?}");
    let mut columns: BTreeSet<Rc<str>> = ["TimeStamp", "Latitude", "Longitude"].map(Rc::from).into();
    let described = detail.into_iter().filter(|(path, _)| path == "ParsedJobData/Columns/Column/Name");
    columns.extend(described.map(|(_, name)| Rc::from(name)));
    let (mut reader, mut records) = (Reader::from_str(document), Vec::new());
    loop {
        match reader.read_event().unwrap() {
            Event::Empty(tag) if tag.name().as_ref() == "Record" => {
                let mut record = Numbers::new();
                for attribute in tag.attributes() {
                    let attribute = attribute.unwrap();
                    let name = columns.get(attribute.key.as_ref()).expect("every column is described");
                    if let Ok(number) = attribute.value.parse() {
                        record.push((Rc::clone(name), number));
                    }
                }
                records.push(record);
            }
            Event::Eof => return records,
            _ => {}
        }
    }
}

/// Downloads a format of every generated job with the client, and checks its records.
async fn assert_format_is_true(format: &str, read: impl Fn(&[u8], &Truth) -> Vec<Numbers>) {
    let sandbox = Arc::new(start(options()));
    let client = client(&sandbox, &[]);
    let truths = sandbox.truth().unwrap();
    assert_eq!(truths.len(), 54);
    for truth in &truths {
        let bytes = file(&client, &truth.job_id, format).await;
        assert_true(truth, &read(&bytes, truth), metre(truth));
    }
}

#[tokio::test]
async fn fmis_zip_of_every_job_adds_up_to_its_truth_4_4() {
    assert_format_is_true("FMIS", |bytes, truth| of_fmis(bytes, &truth.job_id, &truth.job_name)).await;
}

#[tokio::test]
async fn xml_of_every_job_adds_up_to_its_truth_4_4() {
    assert_format_is_true("XML", |bytes, truth| of_xml(std::str::from_utf8(bytes).unwrap(), &truth.job_id)).await;
}

#[test]
fn every_format_is_its_own_conversion_and_is_offered_by_name_4_4() {
    let sandbox = start(options());
    let job = generated().jobs.iter().find(|job| job.coverage == Coverage::Recorded).unwrap();
    let detail = get(&sandbox, &format!("/jobdata/{}", job.id)).send().json();
    let files = detail["AvailableFiles"].as_array().unwrap().clone();
    assert_eq!(
        files.iter().map(|file| file["FileType"].as_str().unwrap()).collect::<Vec<_>>(),
        ["bin", "shp", "fmis", "xml"]
    );
    for (file, (media_type, starts)) in files.iter().skip(1).zip([
        ("application/zip", "PK"),
        ("application/zip", "PK"),
        ("text/xml; charset=utf-8", "<?xml"),
    ]) {
        let path = file["Uri"].as_str().unwrap().strip_prefix(&sandbox.base_url()).unwrap();
        assert_eq!(get(&sandbox, path).send().json()["status"], "MORE_TIME_NEEDED", "{path}");
        sandbox.advance(Duration::from_secs(30));
        let reply = get(&sandbox, path).send();
        assert_eq!((reply.status, reply.get("content-type")), (200, Some(media_type)));
        assert!(reply.body.starts_with(starts.as_bytes()));
        let name = file["FileName"].as_str().unwrap();
        assert!(reply.get("content-disposition").unwrap().contains(name), "{name}");
    }
}

/// The id of the generated job with this failure.
fn status_of(sandbox: &Sandbox, id: &str) -> serde_json::Value {
    get(sandbox, &format!("/jobdata/{id}")).send().json()["Status"].clone()
}

#[tokio::test]
async fn all_seven_statuses_occur_with_their_reasons_and_the_client_distinguishes_them_section_3() {
    let sandbox = Arc::new(start(options()));
    let client = client(&sandbox, &[]);
    let mut seen = BTreeSet::from(["CONVERSION_STATUS_SUCCESS".to_owned()]);
    for job in &generated().jobs {
        let Coverage::Unconvertible(failure) = job.coverage else { continue };
        let id = &job.id;
        for format in ["SHP", "FMIS", "XML"] {
            let given = arguments_for("job_data.download", &[("id", id.as_str()), ("format", format)]);
            let error = client.download(row("job_data.download"), &given, Target::Memory, None).await.unwrap_err();
            assert_eq!(error.kind(), Kind::ConversionFailed, "{failure:?} {format}: {error}");
            assert!(error.message().contains(failure.why()), "{failure:?}: {error}");
            assert!(error.message().contains(failure.status()), "{failure:?}: {error}");
            assert_eq!(error.facts().status, Some(200));
        }
        let reply = get(&sandbox, &format!("/jobdata/{id}?format=SHP")).send();
        assert_eq!((reply.status, reply.json()["status"].as_str()), (200, Some(failure.status())));
        assert_eq!(status_of(&sandbox, id), failure.status(), "the detail agrees");
        let detail = get(&sandbox, &format!("/jobdata/{id}")).send().json();
        let originals = usize::from(failure != Failure::FileNotFound);
        assert_eq!(detail["AvailableFiles"].as_array().unwrap().len(), originals, "{failure:?}");
        let original = get(&sandbox, &format!("/jobdata/{id}?format=BIN")).send();
        assert_eq!(original.body.starts_with(b"PK"), originals == 1, "{failure:?}");
        seen.insert(failure.status().to_owned());
    }
    let fine = generated().jobs.iter().find(|job| job.coverage == Coverage::Recorded).unwrap().id.clone();
    file(&client, &fine, "SHP").await;
    assert_eq!(status_of(&sandbox, &fine), "CONVERSION_STATUS_SUCCESS");
    assert_eq!(seen.len(), 7);
    let bare = generated().jobs.iter().find(|job| job.coverage == Coverage::None).unwrap().id.clone();
    for format in ["SHP", "FMIS", "XML"] {
        let given = arguments_for("job_data.download", &[("id", &bare), ("format", format)]);
        let error = client.download(row("job_data.download"), &given, Target::Memory, None).await.unwrap_err();
        assert_eq!((error.kind(), error.message().contains("No coverage available.")), (Kind::NoCoverage, true));
    }
}

#[tokio::test]
async fn conversion_handle_requests_fmis_and_xml_4_4() {
    let sandbox = Arc::new(start(Options { variants: vec!["wild".to_owned()], ..options() }));
    let client = client(&sandbox, &[]);
    let id = super::headland_client::small_job();
    for (format, starts) in [("FMIS", "PK"), ("XML", "<?xml")] {
        let given = arguments_for("job_data.request", &[("id", &id), ("format", format)]);
        let mut handle = client.conversion(row("job_data.request"), given).unwrap();
        assert!(!handle.ready().await.unwrap(), "{format} takes its time");
        match handle.result(Target::Memory).await.unwrap() {
            headland::client::Delivered::Bytes(bytes) => assert!(bytes.starts_with(starts.as_bytes())),
            headland::client::Delivered::File(path) => panic!("asked for bytes, got {}", path.display()),
        }
    }
}

#[test]
fn upload_offers_only_its_shapefile_4_4() {
    let sandbox = start(Options { conversion_time: Duration::ZERO, ..options() });
    let created = upload(&sandbox, "a.jdp.zip", &zip_of("a.shp", b"x")).send();
    let path = created.get("location").unwrap().strip_prefix(&sandbox.base_url()).unwrap().to_owned();
    for format in ["FMIS", "XML"] {
        let reply = get(&sandbox, &format!("{path}?format={format}")).send();
        assert_eq!((reply.status, reply.json()["status"].as_str()), (200, Some("CONVERSION_STATUS_FAILED_CONVERT")));
        assert!(reply.info().contains(format), "{}", reply.info());
    }
    let files = get(&sandbox, &path).send().json()["AvailableFiles"].as_array().unwrap().len();
    assert_eq!(files, 2);
    assert!(get(&sandbox, &format!("{path}?format=SHP")).send().body.starts_with(b"PK"));
}
