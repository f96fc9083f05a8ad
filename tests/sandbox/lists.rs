//! Tests lists: envelopes, pages, order, filters, addresses (specification 2.1, 4.1, 4.2).

use std::collections::BTreeSet;
use std::time::Duration;

use flate2::read::{GzDecoder, ZlibDecoder};
use headland::sandbox::Options;

use super::raw_client::{get, ids, jobs, options, start, upload, zip_of};

#[test]
fn pages_contain_every_job_once_and_newest_first() {
    let sandbox = start(options());
    let whole = get(&sandbox, "/jobdata?pageSize=0").send().json();
    let total = whole["TotalCount"].as_u64().unwrap();
    let created: Vec<String> =
        whole["JobData"].as_array().unwrap().iter().map(|job| job["CreateDate"].as_str().unwrap().to_owned()).collect();
    assert!(total > 3 && created.len() as u64 == total);
    assert!(created.is_sorted_by(|newer, older| newer >= older), "{created:?}");
    let (mut seen, mut page) = (Vec::new(), 0);
    loop {
        let reply = get(&sandbox, &format!("/jobdata?PageSize=3&PAGE={page}")).send();
        let envelope = reply.json();
        let here = ids(&reply, "JobData");
        assert_eq!(envelope["TotalCount"], total);
        assert_eq!(envelope["PageIndex"], page);
        assert_eq!(envelope["PageSize"], here.len(), "the records in this reply");
        assert_eq!(envelope["TotalPages"], total.div_ceil(3));
        assert_eq!(envelope["IsPreviousPage"], page > 0);
        seen.extend(here);
        page += 1;
        if envelope["IsNextPage"] == false {
            break;
        }
    }
    assert_eq!(page, total.div_ceil(3));
    assert_eq!(seen, jobs(&sandbox, &sandbox.keys().access_key).into_iter().map(|(id, _)| id).collect::<Vec<_>>());
    let past = get(&sandbox, "/jobdata?page=999").send().json();
    assert_eq!((past["JobData"].as_array().unwrap().len(), past["IsPreviousPage"].clone()), (0, true.into()));
}

#[test]
fn page_size_defaults_to_twenty_and_invalid_values_are_errors() {
    let sandbox = start(options());
    let total = jobs(&sandbox, &sandbox.keys().access_key).len();
    assert_eq!(ids(&get(&sandbox, "/jobdata").send(), "JobData").len(), total.min(20));
    for query in ["pageSize=-1", "pageSize=ten", "page=-1", "page=x", "date=soon", "date="] {
        let reply = get(&sandbox, &format!("/jobdata?{query}")).send();
        assert_eq!((reply.status, reply.json()["status"].clone()), (400, "INVALID_REQUEST".into()), "{query}");
    }
    assert_eq!(get(&sandbox, "/fieldcomputers?pagesize=x").send().status, 400);
}

#[test]
fn addresses_in_lists_lead_to_the_details() {
    let sandbox = start(options());
    for (list, kind) in [
        ("/jobdata?pageSize=2", "JobData"),
        ("/fieldcomputers?pageSize=1", "FieldComputer"),
        ("/fieldhubs", "FieldHub"),
    ] {
        for item in get(&sandbox, list).send().json()[kind].as_array().unwrap() {
            let path = item["Uri"].as_str().unwrap().strip_prefix(&sandbox.base_url()).expect("the sandbox's own base");
            let detail = get(&sandbox, path).send();
            assert_eq!(detail.status, 200);
            let detail = detail.json().get("FieldHubDetail").map_or_else(|| detail.json(), |items| items[0].clone());
            assert_eq!(detail["ID"], item["ID"]);
        }
    }
}

#[test]
fn upload_is_listed_first_and_date_selects_by_creation() {
    let sandbox = start(options());
    let before = jobs(&sandbox, &sandbox.keys().access_key);
    sandbox.advance(Duration::from_secs(60));
    let since = sandbox.now().format("%Y-%m-%d%%20%H:%M:%S").to_string();
    let mut names = Vec::new();
    for turn in 0..3 {
        sandbox.advance(Duration::from_secs(1));
        names.insert(0, format!("job {turn}.jdp.zip"));
        assert_eq!(upload(&sandbox, &names[0], &zip_of("a.shp", b"x")).send().status, 201);
    }
    let after = jobs(&sandbox, &sandbox.keys().access_key);
    assert_eq!(after.iter().take(3).map(|(_, name)| name).collect::<Vec<_>>(), names.iter().collect::<Vec<_>>());
    assert_eq!(after[3..], before[..]);
    for job in get(&sandbox, "/jobdata").send().json()["JobData"].as_array().unwrap() {
        let created = job["CreateDate"].as_str().unwrap();
        assert_eq!((created.len(), created.find('.')), ("2026-09-01T00:00:00Z".len(), None), "{created}");
    }
    let new_ids: Vec<u64> = after[..3].iter().map(|(id, _)| id.parse().unwrap()).collect();
    assert_eq!(new_ids.iter().collect::<BTreeSet<_>>().len(), 3);
    let selected = get(&sandbox, &format!("/jobdata?date={since}")).send();
    assert_eq!(ids(&selected, "JobData").len(), 3);
    assert_eq!(selected.json()["TotalCount"], 3);
    let newest = sandbox.now().to_rfc3339_opts(chrono::SecondsFormat::Micros, true);
    let selected = get(&sandbox, &format!("/jobdata?date={newest}")).send();
    assert_eq!((ids(&selected, "JobData").len(), selected.json()["TotalCount"].clone()), (1, 1.into()), "{newest}");
    let later = (sandbox.now() + chrono::TimeDelta::seconds(1)).to_rfc3339();
    assert_eq!(get(&sandbox, &format!("/jobdata?date={later}")).send().json()["TotalCount"], 0, "a bare + in {later}");
}

#[test]
fn long_replies_are_compressed_on_request() {
    let sandbox = start(options());
    let plain = get(&sandbox, "/jobdata").send();
    assert_eq!(plain.get("content-encoding"), None);
    let unzip = |encoding: &str| {
        let reply = get(&sandbox, "/jobdata").header("Accept-Encoding", encoding).send();
        let mut body = Vec::new();
        match reply.get("content-encoding").unwrap() {
            "gzip" => std::io::copy(&mut GzDecoder::new(&reply.body[..]), &mut body),
            _ => std::io::copy(&mut ZlibDecoder::new(&reply.body[..]), &mut body),
        }
        .unwrap();
        assert!(reply.body.len() < body.len());
        body
    };
    assert_eq!(unzip("gzip, deflate"), plain.body);
    assert_eq!(unzip("gzip;q=0, deflate"), plain.body);
    let short = get(&sandbox, "/accesskey").header("Accept-Encoding", "gzip").send();
    assert_eq!(short.get("content-encoding"), None);
}

#[test]
fn variants_change_lists_according_to_their_names() {
    let wild = Options { variants: vec!["wild".to_owned()], ..options() };
    let sandbox = start(wild);
    let page = get(&sandbox, "/jobdata?pageSize=500").send().json();
    assert_eq!(page["PageSize"], 500, "the size asked for");
    let first = &page["JobData"][0];
    assert!(first["ID"].is_string(), "text-ids");
    assert!(first["Uri"].as_str().unwrap().starts_with("https://Fields.Example.com/JobData/"));
    assert!(get(&sandbox, "/jobdata?pageSize=1").send().json()["JobData"].is_object(), "one item comes bare");
    let unknown = Options { variants: vec!["tame".to_owned()], ..options() };
    let error = headland::sandbox::Sandbox::start(unknown).unwrap_err();
    assert!(error.message().contains("page-size-asked"), "{error}");
}
