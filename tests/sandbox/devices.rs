//! Tests field computers and field hubs: their positions and reports as the service's clock advances.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests expect by unwrapping")]

use std::collections::BTreeSet;
use std::time::Duration;

use chrono::{DateTime, Datelike as _, TimeDelta, Utc};
use headland::sandbox::fields::{HarvestStyle, generate_account};
use headland::sandbox::{Options, Sandbox};
use serde_json::Value;

use super::raw_client::{get, id_text, ids, options, start};

fn items(sandbox: &Sandbox, target: &str, kind: &str) -> Vec<Value> {
    let reply = get(sandbox, target).send();
    assert_eq!(reply.status, 200, "{target}: {}", reply.text());
    reply.json()[kind].as_array().unwrap().clone()
}

fn total(sandbox: &Sandbox, target: &str) -> i64 {
    get(sandbox, target).send().json()["TotalCount"].as_i64().unwrap()
}

fn text(record: &Value, name: &str) -> String {
    record[name].as_str().unwrap_or_else(|| panic!("no text {name} in {record}")).to_owned()
}

fn record_id(record: &Value) -> i64 {
    id_text(&record["ID"]).parse().unwrap()
}

/// The ids of the computers: the current one, the legacy one, the one without a hub.
fn computers() -> [String; 3] {
    generate_account(0, HarvestStyle::Ideal)
        .computers
        .into_iter()
        .map(|computer| computer.id)
        .collect::<Vec<_>>()
        .try_into()
        .unwrap()
}

fn hubs() -> Vec<String> {
    generate_account(0, HarvestStyle::Ideal).hubs.into_iter().map(|hub| hub.id).collect()
}

#[test]
fn a_legacy_device_has_no_detail_and_the_others_have_one_4_2() {
    let sandbox = start(options());
    let [current, legacy, loaner] = computers();
    for id in [current, loaner] {
        assert_eq!(get(&sandbox, &format!("/fieldcomputers/{id}")).send().status, 200);
    }
    let reply = get(&sandbox, &format!("/fieldcomputers/{legacy}")).send();
    assert_eq!((reply.status, reply.json()["status"].clone()), (400, "INVALID_REQUEST".into()));
    assert!(reply.info().contains("not supported"), "{}", reply.info());
}

#[test]
fn a_hub_reports_every_30_seconds_and_a_computer_every_5_minutes_section_8() {
    let sandbox = start(options());
    let [_, _, loaner] = computers();
    let hub = format!("/fieldhubs/{}/locations", hubs()[2]);
    let computer = format!("/fieldcomputers/{loaner}/locations");
    let before = (total(&sandbox, &hub), total(&sandbox, &computer));
    sandbox.advance(Duration::from_secs(3_000));
    assert_eq!((total(&sandbox, &hub), total(&sandbox, &computer)), (before.0 + 100, before.1 + 10));
    for (list, seconds) in [(&hub, 30), (&computer, 300)] {
        let page = items(&sandbox, &format!("{list}?pageSize=200"), "DeviceLocation");
        let times: Vec<Option<DateTime<Utc>>> =
            page.iter().map(|record| text(record, "GPSDateTime").parse().ok()).collect();
        for pair in times.windows(2) {
            if let [Some(newer), Some(older)] = pair {
                assert_eq!(*newer - *older, TimeDelta::seconds(seconds), "{list}: in descending order");
            }
        }
        let found: Vec<i64> = page.iter().map(record_id).collect();
        assert!(found.windows(2).all(|pair| pair[0] > pair[1]), "{list}: ids rise with time");
    }
}

#[test]
fn records_do_not_depend_on_the_time_of_the_request() {
    let sandbox = start(options());
    let list = format!("/fieldhubs/{}/locations?pageSize=50", hubs()[0]);
    let before = items(&sandbox, &list, "DeviceLocation");
    sandbox.advance(Duration::from_secs(300));
    let after = items(&sandbox, &list, "DeviceLocation");
    assert_eq!(after[10..], before[..40]);
}

#[test]
fn a_computer_with_a_known_hub_returns_the_records_of_the_hub_2_3() {
    let sandbox = start(options());
    let [current, _, loaner] = computers();
    let hub = hubs()[0].clone();
    for (computer, other) in [("currentlocation", "currentlocation"), ("locations", "locations")] {
        assert_eq!(
            items(&sandbox, &format!("/fieldcomputers/{current}/{computer}"), "DeviceLocation"),
            items(&sandbox, &format!("/fieldhubs/{hub}/{other}"), "DeviceLocation")
        );
    }
    let detail = get(&sandbox, &format!("/fieldcomputers/{current}")).send().json();
    assert_eq!(text(&detail, "FieldHubID"), hub);
    let newest = &items(&sandbox, &format!("/fieldcomputers/{current}/currentlocation"), "DeviceLocation")[0];
    assert_eq!((text(newest, "SubType"), text(newest, "DeviceId")), ("Field Hub".to_owned(), hub));
    let own = &items(&sandbox, &format!("/fieldcomputers/{loaner}/currentlocation"), "DeviceLocation")[0];
    assert_eq!((text(own, "SubType"), text(own, "DeviceId")), ("Field Computer".to_owned(), loaner));
    let all = items(&sandbox, "/fieldcomputers/all/currentlocation", "DeviceLocation");
    assert_eq!((all.len(), &all[0], &all[2]), (3, newest, own));
}

#[test]
fn a_hub_detail_is_an_index_with_one_item_and_its_report_2_4() {
    let sandbox = start(options());
    let of_computers = computers();
    let listed = ids(&get(&sandbox, "/fieldhubs").send(), "FieldHub");
    assert_eq!(listed, hubs());
    for (place, id) in listed.iter().enumerate() {
        let reply = get(&sandbox, &format!("/fieldhubs/{id}")).send();
        assert_eq!((reply.status, reply.json()["TotalCount"].clone()), (200, 1.into()));
        let detail = reply.json()["FieldHubDetail"][0].clone();
        assert_eq!(text(&detail, "ID"), *id);
        assert!(!text(&detail, "Make").is_empty());
        match detail.get("FieldComputer") {
            Some(computer) => assert_eq!(computer.as_str(), of_computers.get(place).map(String::as_str)),
            None => assert_eq!(place, 2, "the hub of no computer"),
        }
        let report = &detail["Report"];
        let newest = items(&sandbox, &format!("/fieldhubs/{id}/currentlocation"), "DeviceLocation").remove(0);
        for (name, value) in newest.as_object().unwrap() {
            let (of_report, of_location) = match name.as_str() {
                // 2.4 calls the one an integer, 2.3 the other a string.
                "ID" => (id_text(&report[name]).into(), value.clone()),
                _ => (report[name].clone(), value.clone()),
            };
            assert_eq!(of_report, of_location, "{name} of the report is that of the location");
        }
    }
    let all = items(&sandbox, "/fieldhubs/all", "FieldHubDetail");
    assert!(all.len() == 3 && all.iter().all(|hub| hub.get("Make").is_none() && hub["Report"]["ID"].is_u64()));
    assert_eq!(items(&sandbox, "/fieldhubs/all/currentlocation", "DeviceLocation").len(), 3);
}

#[test]
fn every_state_of_a_hub_occurs_2_4_and_6() {
    let sandbox = start(options());
    let path = format!("/fieldhubs/{}", hubs()[0]);
    let (mut events, mut roams, mut odometer) = (BTreeSet::new(), BTreeSet::new(), 0);
    let (mut lost, mut bars) = (0, BTreeSet::new());
    // Four cycles of two hours; the step has no common divisor with the pattern of a cycle.
    for _ in 0..4 * 240 {
        let detail = items(&sandbox, &path, "FieldHubDetail").remove(0);
        let report = &detail["Report"];
        events.insert(text(report, "Event"));
        roams.insert(text(report, "Roam"));
        let strength = report["RSSI"].as_f64().unwrap();
        assert!((-103.0..=-85.0).contains(&strength), "RSSI {strength}");
        bars.insert(headland::api::events::BARS.iter().find(|(least, _)| strength >= *least).unwrap().1);
        let number = |name: &str| report[name].as_f64().unwrap();
        for (name, least, most) in [
            ("Lat", -90.0, 90.0),
            ("Lon", -180.0, 180.0),
            ("Speed", 0.0, 255.0),
            ("Direction", 0.0, 360.0),
            ("GPSSat", 0.0, 255.0),
            ("AnalogInput1", 0.0, 15.0),
            ("BatteryVoltage", 0.0, 30.0),
            ("Odometer", 0.0, 4_294_967_295.0),
        ] {
            assert!((least..=most).contains(&number(name)), "{name}: {}", number(name));
        }
        let moved = report["Odometer"].as_i64().unwrap();
        assert!(moved >= odometer, "an odometer does not run back");
        odometer = moved;
        let is_zero = text(report, "GPSDateTime").starts_with("0000-00-00");
        assert_eq!((report["Valid"] == false, report["GPSFix"] == false), (is_zero, is_zero));
        lost += i32::from(is_zero);
        sandbox.advance(Duration::from_secs(30));
    }
    let expected: BTreeSet<String> =
        ["1", "2", "3", "4", "5", "16", "17", "30", "31"].map(str::to_owned).into_iter().collect();
    assert_eq!(events, expected);
    assert!(roams.contains("") && roams.contains("00") && roams.len() == 3, "{roams:?}");
    assert_eq!(bars, BTreeSet::from([1, 2, 3, 4, 5]));
    assert!(lost > 0, "fixes are lost now and then");
}

#[test]
fn date_of_a_hub_goes_to_the_end_of_its_calendar_month_4_2() {
    let sandbox = start(options());
    // To noon of the 3rd of the second month after, so that a whole month is in the log.
    let start_of = |time: DateTime<Utc>, months: u32| {
        let month = time.month0() + months;
        let year = time.year() + i32::try_from(month / 12).unwrap();
        chrono::NaiveDate::from_ymd_opt(year, month % 12 + 1, 1).unwrap().and_hms_opt(0, 0, 0).unwrap().and_utc()
    };
    let (next, after) = (start_of(sandbox.now(), 1), start_of(sandbox.now(), 2));
    let then = after + TimeDelta::hours(60) + TimeDelta::seconds(1);
    sandbox.advance((then - sandbox.now()).to_std().unwrap());
    let path = format!("/fieldhubs/{}/locations", hubs()[0]);
    let count = |date: DateTime<Utc>| total(&sandbox, &format!("{path}?date={}", date.format("%Y-%m-%dT%H:%M:%SZ")));
    assert_eq!(count(next), (after - next).num_seconds() / 30, "a whole month and nothing of the next");
    assert_eq!(count(after - TimeDelta::seconds(30)), 1, "its last report");
    assert_eq!(count(after - TimeDelta::seconds(1)), 0, "the first of the next month is not in it");
    assert_eq!(count(after), 60 * 120 + 1, "until now, both ends included");
    // The month ends in UTC: at 22:00 -02:00 on its last day, it is already the next month.
    assert_eq!(
        total(&sandbox, &format!("{path}?date={}", (after - TimeDelta::hours(2)).format("%Y-%m-%dT%H:%M:%S-02:00"))),
        60 * 120 + 1
    );
    let newest = items(&sandbox, &format!("{path}?date={}&pageSize=1", next.format("%Y-%m-%d")), "DeviceLocation");
    let time = text(&newest[0], "GPSDateTime");
    assert!(time.starts_with("0000") || time < after.to_rfc3339(), "{time}");
    assert_eq!(get(&sandbox, &format!("{path}?date=soon")).send().status, 400);
}

#[test]
fn locations_of_all_computers_are_not_implemented_by_the_service_4_2() {
    let sandbox = start(options());
    let reply = get(&sandbox, "/fieldcomputers/all/locations").send();
    assert_eq!((reply.status, reply.json()["status"].clone()), (501, "INVALID_REQUEST".into()));
    assert!(reply.info().contains("not implemented"));
}

#[test]
fn minid_is_the_minimum_id_of_the_jobs_of_a_computer_4_2() {
    let sandbox = start(options());
    let [current, ..] = computers();
    let path = format!("/fieldcomputers/{current}/jobdata?pageSize=0");
    let all = items(&sandbox, &path, "JobData");
    let numbers: BTreeSet<i64> = all.iter().map(record_id).collect();
    assert!(numbers.len() > 5 && all.iter().all(|job| job.get("CreateDate").is_none() && job["SubType"].is_string()));
    let middle = *numbers.iter().nth(numbers.len() / 2).unwrap();
    let some: BTreeSet<i64> =
        items(&sandbox, &format!("{path}&MinID={middle}"), "JobData").iter().map(record_id).collect();
    assert_eq!(some, numbers.range(middle..).copied().collect());
    assert_eq!(total(&sandbox, &format!("{path}&minid={}", i64::MAX)), 0);
    assert_eq!(get(&sandbox, &format!("{path}&minid=first")).send().status, 400);
}

#[test]
fn devices_of_another_customer_are_404_5_3() {
    let sandbox = start(options());
    let other = sandbox.keys().other_access_key.clone();
    let [current, ..] = computers();
    let hub = hubs()[0].clone();
    for path in [
        format!("/fieldhubs/{hub}"),
        format!("/fieldhubs/{hub}/currentlocation"),
        format!("/fieldhubs/{hub}/locations"),
        format!("/fieldcomputers/{current}/currentlocation"),
        format!("/fieldcomputers/{current}/locations"),
        format!("/fieldcomputers/{current}/jobdata"),
        format!("/fieldcomputers/{current}/prescriptionmaps"),
    ] {
        assert_eq!(get(&sandbox, &path).by_customer(&other).send().status, 404, "{path}");
        assert_eq!(get(&sandbox, &path).send().status, 200, "{path}");
    }
    let own = ids(&get(&sandbox, "/fieldhubs").by_customer(&other).send(), "FieldHub");
    assert!(own.len() == 3 && own.iter().all(|id| !hubs().contains(id)));
}

#[test]
fn start_of_the_log_stays_that_of_the_first_run() {
    let folder = tempfile::tempdir().unwrap();
    let kept = || Options { data: Some(folder.path().to_owned()), ..options() };
    let path = format!("/fieldhubs/{}/locations", hubs()[0]);
    let oldest = |sandbox: &Sandbox| {
        let last = total(sandbox, &path) - 1;
        items(sandbox, &format!("{path}?pageSize=1&page={last}"), "DeviceLocation").remove(0)
    };
    let first = oldest(&start(kept()));
    let again = start(kept());
    again.advance(Duration::from_secs(86_400));
    assert_eq!(oldest(&again), first);
}
