//! Tests the pages of the dispatch service and of the legacy order service (specification 4.7), and pages that clients
//! must reject.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests expect by unwrapping")]

use headland::sandbox::Sandbox;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use super::dispatch::{all, bearer, with_variants};
use super::raw_client::{Reply, options, start};

/// Every list with its cap (section 8: it differs by endpoint).
fn lists(sandbox: &Sandbox) -> Vec<(String, usize)> {
    let (equipment, account) = (&sandbox.equipment().unwrap()[0].0, &sandbox.accounts().unwrap()[0].0);
    let mut lists = vec![
        (format!("/dispatch/api/equipment/{equipment}/operations"), 50),
        ("/dispatch/api/products".to_owned(), 100),
        ("/dispatch/api/batches/active".to_owned(), 25),
    ];
    for address in ["/legacy-dispatch", "/legacy-orders"] {
        lists.push((format!("{address}/api/workorders/operator"), 40));
        lists.push((format!("{address}/api/accounts/{account}/products"), 60));
        lists.push((format!("{address}/api/blends"), 30));
    }
    lists
}

fn get(sandbox: &Sandbox, target: &str) -> Reply {
    let reply = bearer(sandbox, "GET", target).send();
    assert_eq!(reply.status, 200, "{target}: {}", reply.text());
    reply
}

fn records(reply: &Reply) -> Vec<Value> {
    let Value::Array(records) = reply.json() else { panic!("no raw list: {}", reply.text()) };
    records
}

/// The target of a strict `Location`.
fn next(sandbox: &Sandbox, reply: &Reply) -> Option<String> {
    reply.get("location").map(|location| location.strip_prefix(&sandbox.base_url()).unwrap().to_owned())
}

#[test]
fn every_list_has_its_own_cap_and_location_pages_through_it_4_7_8() {
    let sandbox = start(options());
    for (list, cap) in lists(&sandbox) {
        for start in [list.clone(), format!("{list}?$top=100000")] {
            let (mut target, mut seen, mut sizes) = (Some(start), Vec::new(), Vec::new());
            while let Some(asked) = target {
                let reply = get(&sandbox, &asked);
                assert_eq!(reply.get("x-total-count"), None, "not asked for");
                sizes.push(records(&reply).len());
                seen.extend(records(&reply));
                target = next(&sandbox, &reply);
            }
            let last = sizes.pop().unwrap();
            assert!(
                !sizes.is_empty() && sizes.iter().all(|size| *size == cap) && last > 0 && last <= cap,
                "{list}: {sizes:?}"
            );
            assert_eq!(seen, all(&sandbox, &list), "{list}");
            let mut ids: Vec<&str> = seen.iter().map(|record| record["id"].as_str().unwrap()).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), seen.len(), "{list}: each once");
        }
    }
}

#[test]
fn location_repeats_the_parameters_and_skips_one_page_more_4_7() {
    let sandbox = start(options());
    for (list, _) in lists(&sandbox) {
        let reply = get(&sandbox, &format!("{list}?$top=7&$count=true"));
        let total = all(&sandbox, &list).len();
        assert_eq!(reply.get("x-total-count"), Some(total.to_string().as_str()), "{list}");
        assert_eq!(next(&sandbox, &reply), Some(format!("{list}?$top=7&$skip=1&$count=true")));
        let second = get(&sandbox, &next(&sandbox, &reply).unwrap());
        assert_eq!(records(&second), all(&sandbox, &list)[7..14], "the offset is in pages");
        assert_eq!(next(&sandbox, &second), Some(format!("{list}?$top=7&$skip=2&$count=true")));
        assert_eq!(
            next(&sandbox, &get(&sandbox, &list)),
            Some(format!("{list}?$skip=1")),
            "what was not sent is not added"
        );
    }
    let list = "/dispatch/api/products";
    for query in ["top=3&skip=2&count=True", "TOP=3&Skip=2&COUNT=true", "%24Top=3&%24skip=2&$Count=TRUE&x=1"] {
        let reply = get(&sandbox, &format!("{list}?{query}"));
        assert_eq!(records(&reply), all(&sandbox, list)[6..9], "{query}");
        assert_eq!(reply.get("x-total-count"), Some("170"), "{query}");
        assert!(reply.get("location").unwrap().contains("?$top=3&$skip=3&$count="), "{query}");
    }
    for query in ["$top=-1", "$top=many", "$skip=1.5", "$skip=", "$count=maybe", "$top=99999999999999999999999"] {
        let refused = bearer(&sandbox, "GET", &format!("{list}?{query}")).send();
        assert_eq!(refused.status, 400, "{query}");
        assert!(refused.info().starts_with(query.split('=').next().unwrap()), "{}", refused.info());
    }
}

#[test]
fn concatenated_pages_are_the_list_4_7() {
    let sandbox = start(options());
    let lists: Vec<(Vec<Value>, String, u64)> =
        lists(&sandbox).into_iter().map(|(list, cap)| (all(&sandbox, &list), list, cap as u64)).collect();
    let sizes = prop_oneof![1_u64..40, 90_u64..200, Just(u64::MAX)];
    let skips = prop_oneof![0_u64..8, Just(u64::MAX)];
    let mut runner = TestRunner::new(Config { cases: 40, failure_persistence: None, ..Config::default() });
    let run = runner.run(&(0..lists.len(), sizes, skips), |(which, top, skip)| {
        let (whole, list, cap) = &lists[which];
        let size = usize::try_from(top.min(*cap)).unwrap();
        let first = usize::try_from(skip).unwrap_or(usize::MAX).saturating_mul(size).min(whole.len());
        let mut target = Some(format!("{list}?$top={top}&$skip={skip}"));
        let mut seen = Vec::new();
        while let Some(asked) = target {
            let reply = get(&sandbox, &asked);
            prop_assert!(records(&reply).len() <= size);
            seen.extend(records(&reply));
            target = next(&sandbox, &reply);
        }
        prop_assert_eq!(&seen[..], &whole[first..]);
        Ok(())
    });
    run.unwrap();
    let none = get(&sandbox, "/dispatch/api/products?$top=0&$count=true");
    assert_eq!((none.text().as_str(), none.get("x-total-count"), none.get("location")), ("[]", Some("170"), None));
}

#[test]
fn variants_change_page_headers_according_to_their_names_4_7() {
    let list = "/dispatch/api/batches/active";
    let asked = format!("{list}?$top=40&$skip=1&$count=true");
    let location = |names: &[&str]| {
        let sandbox = with_variants(names);
        get(&sandbox, &asked).get("location").unwrap().replace(&sandbox.base_url(), "")
    };
    for (names, expected) in [
        (&["location-get"][..], format!("GET {list}?$top=40&$skip=2&$count=true")),
        (&["location-no-question"], format!("{list}$top=40&$skip=2&$count=true")),
        (&["location-no-dollar"], format!("{list}?top=40&skip=2&count=true")),
        (&["location-no-dollar", "location-no-question"], format!("{list}$top=40&skip=2&count=true")),
        (&["wild"], format!("GET {list}$top=40&skip=2&count=true")),
    ] {
        assert_eq!(location(names), expected, "{names:?}");
    }
    let ending = format!("{list}?$skip=2&$count=true");
    let plain = start(options());
    assert_eq!(get(&plain, &ending).get("location"), None);
    let eager = with_variants(&["location-last", "no-total-count"]);
    let reply = get(&eager, &ending);
    assert_eq!(reply.get("x-total-count"), None, "though it was asked for");
    assert_eq!(records(&reply).len(), 10);
    let after = get(&eager, &next(&eager, &reply).unwrap());
    assert_eq!((after.text().as_str(), after.get("location")), ("[]", None), "the empty list ends it");
}

#[test]
fn paging_faults_occur_as_requested_4_7() {
    let sandbox = start(options());
    let list = "/dispatch/api/products?$top=10";
    sandbox.add_fault("dispatch.products.list", "foreign_location", 1).unwrap();
    sandbox.add_fault("legacy_orders.blends", "looping-location", 1).unwrap();
    let foreign = get(&sandbox, list);
    assert_eq!(foreign.get("location"), Some("http://elsewhere.example/dispatch/api/products?$top=10&$skip=1"));
    assert_eq!(get(&sandbox, list).get("location"), Some(format!("{}{list}&$skip=1", sandbox.base_url()).as_str()));
    let looping = get(&sandbox, "/legacy-orders/api/blends?$skip=1");
    assert_eq!(next(&sandbox, &looping).as_deref(), Some("/legacy-orders/api/blends?$skip=1"));

    sandbox.add_fault("*", "repeated-page", 1).unwrap();
    let first = get(&sandbox, list);
    assert_eq!(bearer(&sandbox, "GET", "/dispatch/api/nothing").send().status, 404, "it waits for a later page");
    let second = get(&sandbox, &format!("{list}&$skip=1"));
    assert_eq!(records(&second), records(&first));
    assert_eq!(next(&sandbox, &second), Some(format!("{list}&$skip=2")), "as if nothing were wrong");
    assert_ne!(records(&get(&sandbox, &format!("{list}&$skip=1"))), records(&first));
}

#[test]
fn other_faults_and_the_request_log_work_for_dispatch_7() {
    let sandbox = start(options());
    let list = "/dispatch/api/products";
    for (kind, status) in
        [("401", 401), ("403", 403), ("429", 429), ("503", 503), ("500", 500), ("202", 202), ("302", 302)]
    {
        sandbox.add_fault("dispatch.products.list", kind, 1).unwrap();
        assert_eq!(bearer(&sandbox, "GET", "/dispatch/api/batches/active").send().status, 200, "another row");
        let reply = bearer(&sandbox, "GET", list).send();
        assert_eq!(reply.status, status);
        if status == 401 {
            assert_eq!(reply.info(), "bearer token check failed: the token has expired");
        }
        assert_eq!(bearer(&sandbox, "GET", list).send().status, 200);
    }
    for kind in ["reset", "lost-reply"] {
        sandbox.add_fault("dispatch.products.list", kind, 1).unwrap();
        assert!(bearer(&sandbox, "GET", list).try_send().is_none(), "{kind}");
    }
    sandbox.add_fault("dispatch.products.list", "truncated", 1).unwrap();
    let cut = bearer(&sandbox, "GET", list).send();
    assert!(cut.body.len() < cut.get("content-length").unwrap().parse().unwrap());
    get(&sandbox, &format!("{list}?$top=1"));
    let logged = sandbox.requests().pop().unwrap();
    assert_eq!((logged.path.as_str(), logged.query.as_str(), logged.status), (list, "$top=1", 200));
}
