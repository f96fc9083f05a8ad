//! Tests the legacy order service (specification 4.6) at both of its addresses, with one state.

use serde_json::{Value, json};

use super::dispatch::{all, bearer, send};
use super::raw_client::{options, start};

/// Each address, and the other one, which must have the same state.
const BOTH: [(&str, &str); 2] = [("/legacy-dispatch", "/legacy-orders"), ("/legacy-orders", "/legacy-dispatch")];

const UNKNOWN_ID: &str = "00000000-0000-4000-8000-000000000000";

fn done(order: &str) -> Value {
    json!({"orderId": order, "startTime": "2026-05-01T06:00:00Z", "endTime": "2026-05-01T09:30:00Z"})
}

#[test]
fn order_is_created_changed_and_deleted_at_either_address_4_6() {
    let sandbox = start(options());
    for (one, other) in BOTH {
        let orders = || all(&sandbox, &format!("{other}/api/workorders/operator"));
        let before = orders();
        let made = send(&sandbox, "POST", &format!("{one}/api/order"), &json!({"name": "North 40", "crew": [2]}));
        assert_eq!(made.status, 201);
        let order = made.json()["id"].as_str().unwrap().to_owned();
        let path = format!("/api/order/{order}");
        assert_eq!(made.get("location"), Some(format!("{}{one}{path}", sandbox.base_url()).as_str()));
        assert_eq!(
            made.json(),
            json!({"id": order, "operator": "operator-1", "completion": null, "name": "North 40", "crew": [2]})
        );
        assert_eq!(orders().last(), Some(&made.json()), "at the other address, with nothing to release");
        let changed = send(&sandbox, "PUT", &format!("{one}/api/order"), &json!({"ID": order, "name": "South 40"}));
        assert_eq!(changed.status, 200);
        assert_eq!(
            orders().last(),
            Some(&json!({"id": order, "operator": "operator-1", "completion": null, "name": "South 40"}))
        );
        assert_eq!(bearer(&sandbox, "DELETE", &format!("{other}{path}")).send().status, 204);
        assert_eq!(bearer(&sandbox, "DELETE", &format!("{one}{path}")).send().status, 404);
        assert_eq!(send(&sandbox, "PUT", &format!("{one}/api/order"), &json!({"id": order})).status, 404);
        assert_eq!(orders(), before);
    }
}

#[test]
fn orders_belong_to_an_operator_and_can_be_reassigned_4_6() {
    let sandbox = start(options());
    for (one, other) in BOTH {
        let orders = || all(&sandbox, &format!("{other}/api/workorders/operator"));
        let before = orders();
        assert!(before.iter().all(|order| order["operator"] == "operator-1"));
        let ids: Vec<&Value> = before.iter().take(3).map(|order| &order["id"]).collect();
        let reassign = |payload: &Value| send(&sandbox, "POST", &format!("{one}/api/workorders/reassign"), payload);
        assert_eq!(reassign(&json!({"orderId": ids[0], "operator": "operator-2"})).status, 200);
        assert_eq!(reassign(&json!({"orderIds": ids[1..], "user": "operator-2"})).status, 200);
        assert_eq!(orders(), before[3..]);
        assert_eq!(reassign(&json!({"orderIds": ids, "operator": "Operator-1"})).status, 200);
        assert_eq!(orders(), before);
        for (payload, status) in [
            (json!({"operator": "operator-2"}), 400),
            (json!({"orderId": ids[0]}), 400),
            (json!({"orderId": ids[0], "operator": "unknown"}), 400),
            (json!({"orderIds": "x", "operator": "operator-2"}), 400),
            (json!({"orderIds": [ids[0], UNKNOWN_ID], "operator": "operator-2"}), 404),
        ] {
            assert_eq!(reassign(&payload).status, status, "{payload}");
        }
        assert_eq!(orders(), before, "all or none");
        let theirs = send(&sandbox, "POST", &format!("{one}/api/order"), &json!({"operator": "operator-2"}));
        assert_eq!(theirs.status, 201);
        assert_eq!(orders(), before, "another operator's");
        assert_eq!(send(&sandbox, "POST", &format!("{one}/api/order"), &json!({"operator": "unknown"})).status, 400);
    }
}

#[test]
fn order_is_completed_once_according_to_the_requirements_4_6() {
    let sandbox = start(options());
    for (one, other) in BOTH {
        let orders = || all(&sandbox, &format!("{other}/api/workorders/operator"));
        let requirements = bearer(&sandbox, "GET", &format!("{one}/api/completion/requirements")).send().json();
        let names: Vec<&Value> =
            requirements["requirements"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
        assert!(names.contains(&&json!("endTime")), "{requirements}");
        let order = orders()[0]["id"].as_str().unwrap().to_owned();
        let completion = format!("{one}/api/completion");
        let own = format!("/api/workorder/{order}/completion");

        let refused = send(&sandbox, "POST", &completion, &json!({"orderId": order}));
        assert_eq!((refused.status, refused.info().contains("startTime, endTime")), (400, true));
        assert_eq!(send(&sandbox, "PUT", &completion, &done(&order)).status, 404, "there is none to change");
        let made = send(&sandbox, "POST", &completion, &done(&order));
        assert_eq!((made.status, made.json()), (201, done(&order)));
        assert_eq!(made.get("location"), Some(format!("{}{one}{own}", sandbox.base_url()).as_str()));
        assert_eq!(orders()[0]["completion"], done(&order));
        assert_eq!(send(&sandbox, "POST", &completion, &done(&order)).status, 409);
        let mut changed = done(&order);
        changed["notes"] = json!("wet");
        assert_eq!(send(&sandbox, "PUT", &completion, &changed).json(), changed);
        assert_eq!(send(&sandbox, "PUT", &completion, &json!({"orderId": order})).status, 400);
        assert_eq!(orders()[0]["completion"], changed);
        assert_eq!(bearer(&sandbox, "DELETE", &format!("{other}{own}")).send().status, 204);
        assert_eq!(bearer(&sandbox, "DELETE", &format!("{one}{own}")).send().status, 404);
        assert_eq!(orders()[0]["completion"], Value::Null);
        for (method, payload, status) in
            [("POST", done(UNKNOWN_ID), 404), ("PUT", done(UNKNOWN_ID), 404), ("POST", json!({}), 400)]
        {
            assert_eq!(send(&sandbox, method, &completion, &payload).status, status, "{method} {payload}");
        }
    }
}

#[test]
fn products_are_those_of_an_account_and_blends_of_all_4_6() {
    let sandbox = start(options());
    let accounts = sandbox.accounts().unwrap();
    assert_eq!(accounts.len(), 2);
    let every = all(&sandbox, "/dispatch/api/products");
    for (one, _) in BOTH {
        let products_of = |account: &str| all(&sandbox, &format!("{one}/api/accounts/{account}/products"));
        let (first, second) = (products_of(&accounts[0].0), products_of(&accounts[1].0));
        assert!(first.iter().all(|product| product["accountId"] == accounts[0].0.as_str()));
        assert!(!second.is_empty());
        assert_eq!([first, second].concat(), every);
        let unknown = bearer(&sandbox, "GET", &format!("{one}/api/accounts/{UNKNOWN_ID}/products")).send();
        assert_eq!((unknown.status, unknown.info().contains(UNKNOWN_ID)), (404, true));
        assert_eq!(bearer(&sandbox, "GET", &format!("{one}/api/accounts//products")).send().status, 404);
        assert!(all(&sandbox, &format!("{one}/api/blends")).len() > 30);
    }
}
