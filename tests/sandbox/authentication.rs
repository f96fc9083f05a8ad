//! Tests authentication, and the replies to rejected requests (specification 5.2, 5.3).

use super::raw_client::{call, get, ids, jobs, options, start, upload, zip_of};

#[test]
fn signed_request_succeeds_in_any_letter_case_and_with_or_without_the_port() {
    let sandbox = start(options());
    for path in ["/accesskey", "/AccessKey", "/ACCESSKEY?x=1"] {
        let reply = get(&sandbox, path).send();
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        assert_eq!(reply.json()["AccessKey"], sandbox.keys().access_key.as_str());
        assert_eq!(reply.json()["IsActive"], true);
        assert_eq!(reply.get("content-type"), Some("application/json"));
    }
    let without_port = get(&sandbox, "/JobData").with(|call| call.signed_host = Some("127.0.0.1".to_owned()));
    assert_eq!(without_port.send().status, 200);
    let elsewhere = get(&sandbox, "/JobData").with(|call| call.signed_host = Some("example.com".to_owned()));
    assert_eq!(elsewhere.send().status, 401);
    // Signed as written: an escaped path is not decoded first.
    assert_eq!(get(&sandbox, "/%6Aobdata").send().status, 404);
}

#[test]
fn body_of_a_401_names_the_first_failed_check() {
    let sandbox = start(options());
    let failing = |change: &dyn Fn(&mut super::raw_client::Call<'_>)| {
        let reply = get(&sandbox, "/jobdata").with(|call| change(call)).send();
        assert_eq!(reply.status, 401);
        assert_eq!(reply.json()["status"], "INVALID_REQUEST");
        assert!(reply.get("date").is_some());
        reply.info()
    };
    let wrong_secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    assert!(failing(&|call| call.api_key = "unknown".to_owned()).starts_with("API key check failed"));
    assert!(failing(&|call| call.secret = wrong_secret.to_owned()).starts_with("signature check failed"));
    assert!(failing(&|call| call.late = -500).contains("request older than 120 seconds"));
    assert!(failing(&|call| call.access_key = "none".to_owned()).starts_with("access key check failed"));
    // Where several checks fail, the first in the order of the specification is named.
    assert!(
        failing(&|call| {
            call.secret = wrong_secret.to_owned();
            call.late = -500;
        })
        .starts_with("signature")
    );
    assert!(
        failing(&|call| {
            call.api_key = "x".to_owned();
            call.late = -500;
        })
        .starts_with("API key")
    );
    assert!(
        failing(&|call| {
            call.access_key = "x".to_owned();
            call.late = -500;
        })
        .starts_with("timestamp")
    );
    for header in ["X-SS-APIKey", "X-SS-Signature", "X-SS-AccessKey", "X-SS-TimeStamp"] {
        assert_eq!(failing(&|call| call.without = vec![header]), format!("missing header {header}"));
    }
}

#[test]
fn time_stamp_is_valid_for_120_seconds_both_ways() {
    let sandbox = start(options());
    for (late, status) in [(-119, 200), (-120, 200), (-121, 401), (119, 200), (120, 200), (121, 401)] {
        assert_eq!(get(&sandbox, "/accesskey").with(|call| call.late = late).send().status, status, "{late} s");
    }
}

#[test]
fn revoked_key_is_reported_only_by_its_summary() {
    let sandbox = start(options());
    let revoked = sandbox.keys().revoked_access_key.clone();
    let summary = get(&sandbox, "/accesskey").by_customer(&revoked).send();
    assert_eq!((summary.status, summary.json()["IsActive"].clone()), (200, false.into()));
    for path in ["/jobdata", "/fieldcomputers", "/nothing"] {
        let reply = get(&sandbox, path).by_customer(&revoked).send();
        assert_eq!(reply.status, 401, "{path}");
        assert!(reply.info().contains("revoked"));
    }
    assert_eq!(upload(&sandbox, "a.jdp.zip", b"PK").by_customer(&revoked).send().status, 401);
}

#[test]
fn two_customers_never_see_each_other() {
    let sandbox = start(options());
    let (first, second) = (sandbox.keys().access_key.clone(), sandbox.keys().other_access_key.clone());
    for key in [&first, &second] {
        let created = upload(&sandbox, "own.jdp.zip", &zip_of("a.shp", b"x")).by_customer(key).send();
        assert_eq!(created.status, 201);
    }
    let computers = |key: &str| ids(&get(&sandbox, "/fieldcomputers").by_customer(key).send(), "FieldComputer");
    for (owner, other) in [(&first, &second), (&second, &first)] {
        assert!(!jobs(&sandbox, owner).is_empty() && !computers(owner).is_empty());
        for (id, _) in jobs(&sandbox, owner) {
            for query in ["", "?format=BIN", "?format=SHP"] {
                let reply = get(&sandbox, &format!("/jobdata/{id}{query}")).by_customer(other).send();
                assert_eq!((reply.status, reply.json()["status"].clone()), (404, "INVALID_REQUEST".into()));
            }
        }
        for id in computers(owner) {
            // The detail of a legacy device is also rejected for its owner, but not as missing.
            assert_ne!(get(&sandbox, &format!("/fieldcomputers/{id}")).by_customer(owner).send().status, 404);
            assert_eq!(get(&sandbox, &format!("/fieldcomputers/{id}")).by_customer(other).send().status, 404);
        }
    }
}

#[test]
fn unknown_path_is_404_and_unsupported_method_405() {
    let sandbox = start(options());
    for path in ["/nothing", "/jobdata/999999999999", "/fieldcomputers/0", "/jobdata/31/products", "/jobdata/"] {
        let reply = get(&sandbox, path).send();
        assert_eq!((reply.status, reply.json()["status"].clone()), (404, "INVALID_REQUEST".into()), "{path}");
    }
    for (method, path, allow) in [
        ("DELETE", "/jobdata", "GET, POST"),
        ("PUT", "/JobData/31", "GET"),
        ("POST", "/accesskey", "GET"),
        ("PATCH", "/fieldcomputers", "GET"),
    ] {
        let reply = call(&sandbox, method, path).send();
        assert_eq!((reply.status, reply.get("allow")), (405, Some(allow)), "{method} {path}");
    }
}
