//! Tests synthetic fields of known truth from outside: the truth, the archives read back, the details.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test says what it expects by unwrapping"
)]

mod logged;
mod reading;

use std::collections::{BTreeMap, BTreeSet};

use headland::api::field_computers::FIELD_COMPUTER_DETAIL;
use headland::api::job_data::JOB_DATA_DETAIL;
use headland::api::{Kind as FieldKind, Shape};
use headland::error::Kind;
use headland::sandbox::fields::{Account, Coverage, HarvestStyle, Job, Truth, generate_account};
use headland::wire::Value;

use reading::{layer_files, members, read};

const LARGE: u64 = 100_000;

fn recorded(account: &Account) -> impl Iterator<Item = &Job> {
    account.jobs.iter().filter(|job| job.coverage == Coverage::Recorded)
}

fn is_large(job: &Job) -> bool {
    job.truth().unwrap().rows == LARGE
}

fn assert_near(found: f64, expected: f64, tolerance: f64, what: &str) {
    let off = (found - expected).abs() / expected.abs().max(1e-9);
    assert!(off <= tolerance, "{what}: {found} instead of {expected}, off by {off:e}");
}

fn assert_archive_is_true(job: &Job) {
    let truth = job.truth().unwrap();
    let archive = job.shapefile_zip().unwrap();
    let reading = read(job, &truth, &archive);
    let what = |part: &str| format!("{}: {part}", job.name);
    assert_eq!(reading.rows, truth.rows, "{}", job.name);
    assert_eq!(reading.sums.len(), truth.totals.len(), "{}", job.name);
    for (column, unit, sum) in &truth.totals {
        assert!(!unit.is_empty(), "{}", what(column));
        assert_near(reading.sums[column], *sum, 1e-9, &what(column));
    }
    assert!(reading.nulls > 0 && reading.nulls < usize::try_from(reading.rows).unwrap() / 10, "{}", job.name);
    assert_near(reading.product * truth.total.factor, truth.total.value, 1e-9, &what(&truth.total.label));
    let (_, unit, _) = truth.totals.iter().find(|(column, ..)| column == "DISTANCE").unwrap();
    let metre = if unit == "ft" { 0.3048 } else { 1.0 };
    assert_near(reading.swept * metre * metre, truth.area, 1e-9, &what("covered area"));
    if reading.polygons > 0.0 {
        assert_near(reading.polygons, truth.area, 1e-3, &what("area of the polygons"));
    }
    assert!((0.9..2.5).contains(&(reading.extent / truth.field_area)), "{}", what("extent of the places"));
    // Headland and corners are worked about once, so the covered area is about that of the field.
    assert!((0.85..1.02).contains(&(truth.area / truth.field_area)), "{}", what("share of the field"));
    assert!(truth.total.value > 0.0, "{}", what("total"));
    assert_table_is_tidy(job, &layer_files(&archive, &truth.layer)["dbf"]);
    assert_product_agrees(job, &truth);
}

/// Checks the .dbf byte for byte: names of ten characters, no number truncated at its column's edge.
fn assert_table_is_tidy(job: &Job, dbf: &[u8]) {
    let half = |at: usize| usize::from(u16::from_le_bytes([dbf[at], dbf[at + 1]]));
    let (header, record) = (half(8), half(10));
    assert_eq!(i32::from(dbf[1]) + 1900, job.season, "{}", job.name);
    let fields: Vec<&[u8]> = dbf[32..header - 1].chunks_exact(32).collect();
    assert!((14..=20).contains(&fields.len()), "{} has {} columns", job.name, fields.len());
    let mut names = BTreeSet::new();
    let mut kinds = BTreeSet::new();
    let mut at = 1;
    for field in fields {
        let name = field[..11].split(|byte| *byte == 0).next().unwrap();
        assert!((1..=10).contains(&name.len()) && names.insert(name), "{}", job.name);
        kinds.insert(field[11]);
        let (width, decimals) = (usize::from(field[16]), usize::from(field[17]));
        if field[11] == b'N' {
            for row in dbf[header..].chunks_exact(record) {
                let text = std::str::from_utf8(&row[at..at + width]).unwrap().trim();
                let point = text.find('.').map_or(0, |point| text.len() - point - 1);
                assert!(text.is_empty() || (point == decimals && text.parse::<f64>().is_ok()), "{}: {text}", job.name);
            }
        }
        at += width;
    }
    assert_eq!(kinds, BTreeSet::from([b'C', b'D', b'L', b'N']), "{}", job.name);
}

fn decimal(record: &Value, name: &str) -> f64 {
    match record.get(name) {
        Some(Value::Decimal(number)) => *number,
        other => panic!("{name}: {other:?}"),
    }
}

fn list<'a>(record: &'a Value, name: &str) -> &'a [Value] {
    match record.get(name) {
        Some(Value::List(items)) => items,
        other => panic!("{name}: {other:?}"),
    }
}

/// Checks that the product in the detail has the same totals as the truth.
fn assert_product_agrees(job: &Job, truth: &Truth) {
    let [product] = list(&job.detail, "products") else { panic!("{} has not one product", job.name) };
    let hectares = truth.area / 10_000.0;
    assert_near(decimal(product, "applied_area"), truth.area, 1e-6, &job.name);
    match job.detail.get("job_type").and_then(Value::as_text).unwrap() {
        "Yield" => {
            assert_eq!((truth.total.unit.as_str(), job.sub_type.as_str()), ("kg", "Yield"));
            assert_near(decimal(product, "total_weight"), truth.total.value, 1e-6, &job.name);
            assert_near(decimal(product, "average_weight_per_area"), truth.total.value / hectares, 1e-6, &job.name);
            let bushel = decimal(product, "total_weight") / decimal(product, "total_bushels");
            assert!((10.0..28.0).contains(&bushel), "{}: {bushel} kg a bushel", job.name);
            assert!((500.0..20_000.0).contains(&(truth.total.value / hectares)), "{}", job.name);
        }
        "AsApplied" => {
            assert!(["Sprayer", "As Applied"].contains(&job.sub_type.as_str()));
            assert_near(decimal(product, "applied_volume"), truth.total.value, 1e-6, &job.name);
            let rate = decimal(product, "target_rate");
            assert!(decimal(product, "target_rate_min") <= rate && rate <= decimal(product, "target_rate_max"));
            let mixed = product.get("is_mixed").and_then(Value::as_boolean).unwrap();
            assert_eq!(mixed, job.sub_type == "Sprayer", "{}", job.name);
            assert_eq!(mixed, product.get("ingredients").is_some(), "{}", job.name);
        }
        "Planter" => {
            assert_eq!(job.sub_type, "Planter");
            let rate = decimal(product, "target_rate");
            assert!(decimal(product, "target_minimum") <= rate && rate <= decimal(product, "target_maximum"));
            assert_eq!(list(product, "applied_products").len(), 2);
            let kilograms = decimal(product, "average_weight_per_area");
            assert!((1.0..80.0).contains(&kilograms), "{}: {kilograms} kg/ha of seed", job.name);
        }
        other => panic!("{}: {other}", job.name),
    }
}

/// Checks that a record has only fields of the shape, each of the shape's type.
fn assert_shape(shape: &Shape, record: &Value) {
    let Value::Record(fields) = record else { panic!("{} is no record", shape.name) };
    for (name, value) in fields {
        let field = shape.field(name).unwrap_or_else(|| panic!("{} has no {name}", shape.name));
        let fits = match (field.kind, value) {
            (FieldKind::Records(shape, _), Value::List(items)) => {
                for item in items {
                    assert_shape(shape, item);
                }
                true
            }
            (FieldKind::Id | FieldKind::Text, Value::Text(_))
            | (FieldKind::Boolean, Value::Boolean(_))
            | (FieldKind::Integer, Value::Integer(_))
            | (FieldKind::Decimal, Value::Decimal(_))
            | (FieldKind::Time, Value::Time(_))
            | (_, Value::Null) => true,
            _ => false,
        };
        assert!(fits, "{}.{name} is {value:?}", shape.name);
    }
}

/// Every id in an account.
fn ids(account: &Account) -> BTreeSet<String> {
    let mut ids: BTreeSet<String> = account.jobs.iter().map(|job| job.id.clone()).collect();
    assert_eq!(ids.len(), account.jobs.len(), "each job has an id of its own");
    for computer in &account.computers {
        assert!(ids.insert(computer.id.clone()));
        if let Some(Value::Text(hub)) = computer.detail.get("field_hub_id") {
            assert!(ids.insert(hub.clone()));
        }
    }
    let on_computers = account.hubs.iter().filter(|hub| hub.computer.is_some());
    assert!(on_computers.clone().count() == 2 && on_computers.clone().all(|hub| ids.contains(&hub.id)));
    for hub in account.hubs.iter().filter(|hub| hub.computer.is_none()) {
        assert!(ids.insert(hub.id.clone()));
    }
    let maps = account.maps.iter().map(|map| &map.id);
    for id in maps.chain(account.carts.iter().map(|cart| &cart.id)) {
        assert!(ids.insert(id.clone()), "{id}");
    }
    let others = ids.clone();
    for job in &account.jobs {
        for product in list(&job.detail, "products") {
            let id = product.get("id").and_then(Value::as_text).unwrap();
            assert!(!others.contains(id), "a product has the id {id} of something else");
            ids.insert(id.to_owned());
        }
    }
    ids
}

#[test]
fn an_account_has_fields_seasons_and_kinds_of_job() {
    let account = generate_account(0, HarvestStyle::Ideal);
    let of = |text: fn(&Job) -> String| account.jobs.iter().map(text).collect::<BTreeSet<_>>();
    assert_eq!(of(|job| job.field.clone()).len(), 6);
    assert_eq!(of(|job| job.season.to_string()), BTreeSet::from(["2024", "2025", "2026"].map(String::from)));
    assert_eq!(
        of(|job| job.sub_type.clone()),
        BTreeSet::from(["As Applied", "Planter", "Sprayer", "Yield"].map(String::from))
    );
    assert_eq!(of(|job| job.name.clone()).len(), account.jobs.len(), "names tell jobs apart");
    assert_eq!(recorded(&account).count(), 54);
    let truths: Vec<Truth> = recorded(&account).map(|job| job.truth().unwrap()).collect();
    let (large, modest): (Vec<&Truth>, Vec<&Truth>) = truths.iter().partition(|truth| truth.rows == LARGE);
    assert_eq!(large.len(), 1);
    assert_eq!(large[0].sub_type, "Yield");
    assert!(modest.iter().all(|truth| (1_400..6_000).contains(&truth.rows)));
    let areas: BTreeMap<&str, f64> = truths.iter().map(|truth| (truth.field.as_str(), truth.field_area)).collect();
    assert!(areas.values().all(|area| (100_000.0..=600_000.0).contains(area)), "{areas:?}");
}

#[test]
fn jobs_are_newest_first_and_ids_do_not_depend_on_time() {
    let account = generate_account(0, HarvestStyle::Ideal);
    let by_time: Vec<u64> = account.jobs.iter().map(|job| job.id.parse().unwrap()).collect();
    assert!(account.jobs.windows(2).all(|pair| pair[0].created >= pair[1].created));
    let falls = by_time.windows(2).filter(|pair| pair[0] > pair[1]).count();
    assert!((15..41).contains(&falls), "{falls} of 60 ids fall");
    for job in &account.jobs {
        let at = |name| match job.detail.get(name) {
            Some(Value::Time(time)) => *time,
            other => panic!("{name}: {other:?}"),
        };
        assert!(at("start_date") < at("end_date") && at("end_date") < job.created && job.created < job.updated);
        assert_eq!((at("create_date"), at("update_date")), (job.created, job.updated));
    }
}

#[test]
fn details_conform_to_the_table() {
    let account = generate_account(0, HarvestStyle::Ideal);
    let types: BTreeSet<&str> = account
        .computers
        .iter()
        .map(|computer| {
            assert_shape(&FIELD_COMPUTER_DETAIL, &computer.detail);
            assert_eq!(computer.detail.get("id").and_then(Value::as_text), Some(computer.id.as_str()));
            computer.detail.get("device_type").and_then(Value::as_text).unwrap()
        })
        .collect();
    assert_eq!(types.len(), 3);
    assert_eq!(account.computers.iter().filter(|it| it.detail.get("field_hub_id") == Some(&Value::Null)).count(), 1);
    for job in &account.jobs {
        assert_shape(&JOB_DATA_DETAIL, &job.detail);
        assert_eq!(job.detail.get("id").and_then(Value::as_text), Some(job.id.as_str()));
        let computer = job.detail.get("field_computer_id").and_then(Value::as_text).unwrap();
        assert!(account.computers.iter().any(|it| it.id == computer), "{}", job.name);
        assert!(job.detail.get("status").is_none() && job.detail.get("available_files").is_none());
    }
}

#[test]
fn account_depends_only_on_the_seed() {
    let (first, again, other) = (
        generate_account(7, HarvestStyle::Ideal),
        generate_account(7, HarvestStyle::Ideal),
        generate_account(8, HarvestStyle::Ideal),
    );
    for (one, two) in first.jobs.iter().zip(&again.jobs) {
        assert_eq!((&one.id, &one.name, one.created), (&two.id, &two.name, two.created));
        assert_eq!(one.detail, two.detail);
    }
    let modest = |account: &Account| recorded(account).find(|job| job.sub_type == "Planter").unwrap().clone();
    let (one, two, three) = (modest(&first), modest(&again), modest(&other));
    assert_eq!(one.shapefile_zip().unwrap(), two.shapefile_zip().unwrap());
    assert_eq!(one.display_zip().unwrap(), two.display_zip().unwrap());
    assert_eq!(one.truth().unwrap(), two.truth().unwrap());
    assert_ne!(one.shapefile_zip().unwrap(), three.shapefile_zip().unwrap());
}

/// The digest of the zips, recorded when the generator was written. It detects a machine that computes other bytes, and
/// changes only with an intended change of the generator.
#[test]
fn bytes_of_a_seed_never_change() {
    let account = generate_account(0, HarvestStyle::Ideal);
    let mut checksum = crc32fast::Hasher::new();
    for job in recorded(&account).filter(|job| !is_large(job)).step_by(6) {
        for (name, bytes) in members(&job.shapefile_zip().unwrap()) {
            checksum.update(name.as_bytes());
            checksum.update(&bytes);
        }
    }
    assert_eq!(format!("{:08x}", checksum.finalize()), "b1901d27");
}

#[test]
fn accounts_of_different_seeds_share_no_id() {
    let mut all = BTreeSet::new();
    for seed in [0, 1, 2, 41, 147, 160, 569, 8_191, 8_192, u64::MAX] {
        let ids = ids(&generate_account(seed, HarvestStyle::Ideal));
        assert!(ids.is_disjoint(&all), "seed {seed}");
        all.extend(ids);
    }
}

#[test]
fn every_small_archive_agrees_with_its_truth() {
    let account = generate_account(0, HarvestStyle::Ideal);
    for job in recorded(&account).filter(|job| !is_large(job)) {
        assert_archive_is_true(job);
    }
}

#[test]
fn large_archive_agrees_with_its_truth() {
    let account = generate_account(0, HarvestStyle::Ideal);
    let job = recorded(&account).find(|job| is_large(job)).unwrap();
    assert_archive_is_true(job);
}

#[test]
fn archives_are_packed_in_all_variants_of_displays() {
    let account = generate_account(0, HarvestStyle::Ideal);
    let mut ways = BTreeMap::<&str, usize>::new();
    for job in recorded(&account).filter(|job| !is_large(job)) {
        let truth = job.truth().unwrap();
        let archive = job.shapefile_zip().unwrap();
        let names: Vec<String> = members(&archive).into_iter().map(|(name, _)| name).collect();
        let any = |test: fn(&str) -> bool| names.iter().any(|name| test(name));
        let way = if any(|name| name.starts_with("__MACOSX/._")) {
            "Macintosh"
        } else if any(|name| name.contains('/')) {
            "folder"
        } else if any(|name| name.rsplit('.').next() == Some("SHP")) {
            "upper case"
        } else if any(|name| name.ends_with("_boundary.shp")) {
            "second layer"
        } else if any(|name| name.rsplit('.').next() == Some("cpg")) {
            "code page"
        } else {
            "flat"
        };
        *ways.entry(way).or_default() += 1;
        let main = layer_files(&archive, &truth.layer);
        let projected = main["prj"].starts_with(b"PROJCS[\"WGS_1984_UTM_Zone_");
        assert_eq!(projected, job.season == 2025, "{}", job.name);
    }
    assert_eq!(ways.len(), 6, "{ways:?}");
    assert!(ways["flat"] > 30, "{ways:?}");
    for way in ["Macintosh", "folder", "upper case", "second layer"] {
        assert_eq!(ways[way], 1, "{ways:?}");
    }
}

#[test]
fn job_that_cannot_be_converted_has_a_reason() {
    let account = generate_account(0, HarvestStyle::Ideal);
    let mut reasons = BTreeSet::new();
    for job in &account.jobs {
        let kind = match job.coverage {
            Coverage::Unconvertible(_) => Kind::ConversionFailed,
            Coverage::None => Kind::NoCoverage,
            Coverage::Recorded => continue,
        };
        assert!(reasons.insert(format!("{:?}", job.coverage)), "one job of each reason");
        assert_eq!(job.shapefile_zip().unwrap_err().kind(), kind);
        assert_eq!(job.fmis_zip().unwrap_err().kind(), kind);
        assert_eq!(job.parsed_xml().unwrap_err().kind(), kind);
        assert_eq!(job.truth().unwrap_err().kind(), kind);
        assert!(list(&job.detail, "products").is_empty());
        let names: Vec<String> = members(&job.display_zip().unwrap()).into_iter().map(|(name, _)| name).collect();
        assert!(names.iter().any(|name| name.ends_with("/manifest.txt")), "{names:?}");
        assert!(!names.iter().any(|name| name.to_ascii_lowercase().contains(".shp")), "{names:?}");
    }
    assert_eq!(reasons.len(), 7);
}

#[test]
fn archives_of_two_displays_state_their_units_and_the_legacy_one_states_none() {
    let account = generate_account(0, HarvestStyle::Ideal);
    let mut silent = 0;
    for job in recorded(&account).filter(|job| !is_large(job)).step_by(3) {
        let stated = members(&job.shapefile_zip().unwrap())
            .into_iter()
            .find(|(name, _)| name.to_lowercase().ends_with("-deere-metadata.json") && !name.contains("__MACOSX"));
        let Some((_, bytes)) = stated else {
            silent += 1;
            continue;
        };
        let document: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let attributes = document["DataAttributes"].as_array().unwrap();
        let truth = job.truth().unwrap();
        for (name, unit, _) in truth.totals.iter().filter(|(_, unit, _)| unit != "1") {
            let attribute = attributes.iter().find(|attribute| attribute["Name"] == **name);
            assert_eq!(attribute.unwrap()["Unit"], **unit, "{} {name}", job.name);
        }
    }
    assert!(silent > 0 && silent < 18, "{silent} archives state no units");
}
