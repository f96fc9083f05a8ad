//! Tests grain carts (specification 2.8, 4.2; field notes, Grain cart files): list, detail, file, upload, two
//! customers.

use headland::archive::{ReadOptions as Reading, Source};
use headland::layer;
use headland::sandbox::Options;

use super::raw_client::{Call, call, get, ids, options, start, upload};
use headland::sandbox::Sandbox;

/// An upload of one file to the carts.
fn upload_cart<'a>(sandbox: &'a Sandbox, name: &str, content: &[u8]) -> Call<'a> {
    let jobs = upload(sandbox, name, content);
    call(sandbox, "POST", "/graincart")
        .with(|cart| (cart.headers, cart.body) = (jobs.headers.clone(), jobs.body.clone()))
}

#[test]
fn list_and_detail_are_envelopes_and_a_file_has_several_growing_ids() {
    let sandbox = start(options());
    let page = get(&sandbox, "/GrainCart?pageSize=1000").send().json();
    let carts = page["GrainCart"].as_array().unwrap();
    assert_eq!(page["TotalCount"], carts.len());
    assert!(carts.len() > 20, "more than one page of the default size");
    assert_eq!(ids(&get(&sandbox, "/graincart").send(), "GrainCart").len(), 20);
    let truth = sandbox.cart_truth();
    assert_eq!(truth.len(), carts.len());
    let mut newest: std::collections::HashMap<&str, (u64, u64)> = std::collections::HashMap::new();
    for (cart, truth) in carts.iter().zip(&truth) {
        let id: u64 = cart["ID"].as_str().unwrap().parse().unwrap();
        assert_eq!((cart["ID"].as_str(), cart["Name"].as_str()), (Some(&*truth.id), Some(&*truth.name)));
        let known = newest.entry(&truth.name).or_default();
        assert!(id > known.0 && truth.loads >= known.1, "{} grows under higher ids", truth.name);
        *known = (id, truth.loads);
        let detail = get(&sandbox, &format!("/graincart/{id}")).send().json();
        assert_eq!((&detail["TotalCount"], &detail["GrainCart"]), (&1.into(), &serde_json::json!([cart])));
    }
    assert!(newest.len() < truth.len() / 2);
    let last: Vec<u64> = truth.iter().filter(|cart| cart.is_newest).map(|cart| cart.id.parse().unwrap()).collect();
    let mut expected: Vec<u64> = newest.values().map(|(id, _)| *id).collect();
    expected.sort_unstable();
    assert_eq!(last, expected);
}

#[test]
fn files_add_up_to_their_truth_under_every_variant() {
    for variants in [&[][..], &["odd-grc"], &["odd-grc", "latin1-grc"], &["bom-grc"], &["wild"]] {
        let names = variants.iter().map(|name| (*name).to_owned()).collect();
        let sandbox = start(Options { variants: names, ..options() });
        for truth in sandbox.cart_truth().into_iter().rev().take(14) {
            let reply = get(&sandbox, &format!("/graincart/{}?format=bin", truth.id)).send();
            assert_eq!(reply.status, 200);
            assert!(reply.get("content-disposition").unwrap().contains(&truth.name));
            let layer = layer::read(&Source::Bytes(reply.body.into()), &Reading::default()).unwrap();
            let weights = layer.batches()[0].column_by_name("Weight").unwrap().clone();
            let weights = arrow_array::cast::AsArray::as_primitive::<arrow_array::types::Float64Type>(&weights);
            let sum: f64 = weights.iter().flatten().sum();
            assert!((sum - truth.total_pounds).abs() < 1e-6, "{sum} of {truth:?}");
            assert_eq!(layer.len() as u64, truth.loads);
            let codes: Vec<_> = layer.diagnostics().iter().map(|note| note.code.as_str()).collect();
            let is_odd = variants.contains(&"odd-grc") || variants.contains(&"wild");
            assert_eq!(codes.contains(&"utc-doubtful") && codes.contains(&"total-differs"), is_odd, "{codes:?}");
            // With both encodings enabled, they alternate.
            let is_latin_1 = variants.contains(&"latin1-grc")
                || (variants.contains(&"wild") && truth.id.parse::<u64>().unwrap() % 2 == 1);
            assert_eq!(codes.contains(&"latin-1"), is_latin_1, "{variants:?}: {codes:?}");
            assert!(is_odd || codes.is_empty(), "{codes:?}");
        }
    }
}

#[test]
fn newest_files_contain_the_harvest_of_their_jobs() {
    let sandbox = start(options());
    let harvests = sandbox.truth().unwrap();
    for cart in sandbox.cart_truth().into_iter().filter(|cart| cart.is_newest) {
        let kilograms = cart.total_pounds * 0.453_592_37;
        let is_of = |job: &&headland::sandbox::fields::Truth| {
            job.sub_type == "Yield" && job.field == cart.field && (job.total.value - kilograms).abs() < 0.1
        };
        assert!(harvests.iter().any(|job| is_of(&job)), "{cart:?}");
    }
}

#[test]
fn upload_gets_a_higher_id_and_is_visible_only_to_its_customer() {
    let sandbox = start(options());
    let before = ids(&get(&sandbox, "/graincart?pageSize=0").send(), "GrainCart");
    let content = b"GrcVersion,1.6,\r\nwhatever a device writes\r\n";
    let created = upload_cart(&sandbox, "Corn_x.GRC", content).send();
    assert_eq!(created.status, 201);
    let uri = created.get("location").unwrap().to_owned();
    let id = uri.rsplit('/').next().unwrap();
    assert!(uri.ends_with(&format!("/graincart/{id}")), "{uri}");
    let number = |id: &str| id.parse::<u64>().unwrap();
    assert!(before.iter().all(|other| number(other) < number(id)));
    assert_eq!(get(&sandbox, &format!("/graincart/{id}?format=BIN")).send().body, content);
    let other = sandbox.keys().other_access_key.clone();
    let theirs = ids(&get(&sandbox, "/graincart?pageSize=0").by_customer(&other).send(), "GrainCart");
    assert!(!theirs.is_empty() && theirs.iter().all(|their| *their != id && !before.contains(their)));
    for target in
        [format!("/graincart/{id}"), format!("/graincart/{id}?format=BIN"), format!("/graincart/{}", before[0])]
    {
        assert_eq!(get(&sandbox, &target).by_customer(&other).send().status, 404, "{target}");
    }
}

#[test]
fn unspecified_requests_are_errors() {
    let sandbox = start(options());
    let id = sandbox.cart_truth()[0].id.clone();
    assert_eq!(get(&sandbox, &format!("/graincart/{id}?format=SHP")).send().status, 400);
    assert_eq!(upload_cart(&sandbox, "a.jdp.zip", b"PK").send().status, 400);
    assert_eq!(call(&sandbox, "DELETE", "/graincart").send().status, 405);
    for unknown in ["0", "x", "99999999999999999999999", "-1"] {
        assert_eq!(get(&sandbox, &format!("/graincart/{unknown}")).send().status, 404, "{unknown}");
    }
    assert_eq!(get(&sandbox, &format!("/graincart/{id}?page=1")).send().json()["GrainCart"], serde_json::json!([]));
}
