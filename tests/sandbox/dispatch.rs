//! Tests the dispatch service (specification 4.6, 3, 2.8) with an independent client: only a bearer token.

#![expect(clippy::unwrap_used, reason = "tests expect by unwrapping")]

use headland::api::{self, Service};
use headland::sandbox::{Options, Sandbox};
use serde_json::{Value, json};

use super::raw_client::{Call, Reply, call, get, limited, options, start};

pub(crate) const ADDRESSES: [&str; 3] = ["/dispatch", "/legacy-dispatch", "/legacy-orders"];

const UNKNOWN_ID: &str = "00000000-0000-4000-8000-000000000000";

/// A request with the token of the first customer and without the four headers of the field data API.
pub(crate) fn bearer<'a>(sandbox: &'a Sandbox, method: &str, target: &str) -> Call<'a> {
    call(sandbox, method, target)
        .with(|call| call.without = vec!["X-SS-APIKey", "X-SS-Signature", "X-SS-AccessKey", "X-SS-TimeStamp"])
        .header("Authorization", &format!("Bearer {}", sandbox.keys().dispatch_token))
}

/// The same with a payload.
pub(crate) fn carrying<'a>(sandbox: &'a Sandbox, method: &str, target: &str, payload: &Value) -> Call<'a> {
    bearer(sandbox, method, target)
        .header("Content-Type", "application/json; charset=utf-8")
        .with(|call| call.body = payload.to_string().into_bytes())
}

pub(crate) fn send(sandbox: &Sandbox, method: &str, target: &str, payload: &Value) -> Reply {
    carrying(sandbox, method, target, payload).send()
}

pub(crate) fn with_variants(names: &[&str]) -> Sandbox {
    start(Options { variants: names.iter().map(|&name| name.to_owned()).collect(), ..options() })
}

/// The records of all pages of a list.
pub(crate) fn all(sandbox: &Sandbox, target: &str) -> Vec<Value> {
    let mut records = Vec::new();
    for page in 0.. {
        let reply = bearer(sandbox, "GET", &format!("{target}?$skip={page}")).send();
        let found = reply.json();
        let found = found.as_array().unwrap();
        if found.is_empty() {
            break;
        }
        records.extend(found.iter().cloned());
    }
    records
}

fn id(reply: &Reply) -> String {
    reply.json()["id"].as_str().unwrap().to_owned()
}

/// The equipment without work.
fn idle(sandbox: &Sandbox) -> String {
    sandbox.equipment().unwrap().pop().unwrap().0
}

/// A new field operation of this type.
fn created(sandbox: &Sandbox, kind: &str) -> String {
    id(&send(sandbox, "POST", "/dispatch/api/fieldoperations", &json!({"operation": kind})))
}

fn done() -> Value {
    json!({"startTime": "2026-05-01T06:00:00Z", "endTime": "2026-05-01T09:30:00Z"})
}

#[test]
fn field_operation_goes_from_pre_released_to_released_and_is_then_removed_4_6_3() {
    let sandbox = start(options());
    let given =
        json!({"name": "North 40", "operation": "Planting", "crew": {"size": 2}, "id": "mine", "STATUS": "Released"});
    let made = send(&sandbox, "POST", "/dispatch/api/fieldoperations", &given);
    assert_eq!((made.status, made.json()["status"].clone()), (201, json!("Pre-Released")), "a state is not taken");
    assert_eq!((&made.json()["crew"], &made.json()["name"]), (&json!({"size": 2}), &json!("North 40")), "kept");
    let operation = id(&made);
    let shape: Vec<usize> = operation.split('-').map(str::len).collect();
    assert_eq!(shape, [8, 4, 4, 4, 12], "a GUID: {operation}");
    let address = format!("/dispatch/api/fieldoperations/{operation}");
    assert_eq!(made.get("location"), Some(format!("{}{address}", sandbox.base_url()).as_str()));

    let released = bearer(&sandbox, "POST", &format!("{address}/release")).send();
    assert_eq!((released.status, released.json()["status"].clone()), (200, json!("Released")));
    let again = bearer(&sandbox, "POST", &format!("{address}/Release")).send();
    assert_eq!(again.status, 409);
    assert!(again.info().contains("Released already"), "{}", again.info());

    assert_eq!(bearer(&sandbox, "DELETE", &address).send().status, 204);
    for (method, rest) in [("DELETE", ""), ("POST", "/release")] {
        let gone = bearer(&sandbox, method, &format!("{address}{rest}")).send();
        assert_eq!((gone.status, gone.json()["status"].clone()), (404, json!("INVALID_REQUEST")));
        assert!(gone.info().contains(&operation));
    }
}

#[test]
fn mix_mixes_and_target_replace_the_stored_ones_4_6() {
    let sandbox = start(options());
    let operation = id(&send(&sandbox, "POST", "/dispatch/api/fieldoperations", &json!({"Target": {"field": "old"}})));
    let address = format!("/dispatch/api/fieldoperations/{}", operation.to_uppercase());
    let (mix, target) =
        (json!({"products": [{"name": "Water", "rate": 90}]}), json!({"field": "North 40", "rate": 1.5}));
    for (name, payload) in [("mix", &mix), ("mixes", &json!({"mixes": [mix, mix]})), ("target", &target)] {
        assert_eq!(send(&sandbox, "PUT", &format!("{address}/{name}"), payload).status, 200);
    }
    let changed = send(&sandbox, "PUT", &format!("{address}/mixes"), &json!({"MIXES": []})).json();
    assert_eq!((&changed["mix"], &changed["mixes"], &changed["target"]), (&mix, &json!([]), &target));
    assert_eq!(changed["Target"], Value::Null, "one name, one field");
    assert_eq!(changed["status"], "Pre-Released");
    let bare = send(&sandbox, "PUT", &format!("{address}/mixes"), &json!([mix])).json();
    assert_eq!(bare["mixes"], json!([mix]), "the list alone");
    for wrong in [json!({"mixes": 3}), json!({}), json!(3)] {
        assert_eq!(send(&sandbox, "PUT", &format!("{address}/mixes"), &wrong).status, 400, "{wrong}");
    }
    assert_eq!(send(&sandbox, "PUT", &format!("{address}/mix"), &json!([mix])).status, 400, "no object");
    for name in ["mix", "mixes", "target"] {
        let address = format!("/dispatch/api/fieldoperations/{UNKNOWN_ID}/{name}");
        assert_eq!(send(&sandbox, "PUT", &address, &json!({"mixes": []})).status, 404);
    }
}

#[test]
fn assigned_work_is_listed_with_its_equipment_in_any_state_4_6() {
    for (variants, is_listed) in [(&[][..], true), (&["released-only"], false)] {
        let sandbox = with_variants(variants);
        let (equipment, operation) = (idle(&sandbox), created(&sandbox, "Planting"));
        let list = format!("/dispatch/api/equipment/{equipment}/operations");
        assert_eq!(all(&sandbox, &list), Vec::<Value>::new());
        let assign = format!("/dispatch/api/equipment/{equipment}/assignments");
        let made = send(&sandbox, "POST", &assign, &json!({"fieldOperationID": operation, "priority": 1}));
        assert_eq!((made.status, made.json()["priority"].clone()), (201, json!(1)));
        assert_eq!(made.json()["equipmentId"], equipment.as_str());
        let location = format!("{}{assign}/{}", sandbox.base_url(), id(&made));
        assert_eq!(made.get("location"), Some(location.as_str()));

        let listed = all(&sandbox, &list);
        assert_eq!(listed.len(), usize::from(is_listed), "{variants:?}");
        bearer(&sandbox, "POST", &format!("/dispatch/api/fieldoperations/{operation}/release")).send();
        let listed = all(&sandbox, &list);
        assert_eq!(listed.len(), 1);
        assert_eq!((&listed[0]["id"], &listed[0]["status"]), (&json!(operation), &json!("Released")));
        assert_eq!(listed[0]["assignments"][0], made.json());

        let twice = send(&sandbox, "POST", &assign, &json!({"fieldOperationId": operation}));
        assert_eq!(twice.status, 409);
        let other = &sandbox.equipment().unwrap()[0].0;
        let assign_other = format!("/dispatch/api/equipment/{other}/assignments");
        assert_eq!(send(&sandbox, "POST", &assign_other, &json!({"fieldOperationId": operation})).status, 201);
        bearer(&sandbox, "DELETE", &format!("/dispatch/api/fieldoperations/{operation}")).send();
        assert_eq!(all(&sandbox, &list), Vec::<Value>::new(), "its assignments went with it");
    }
}

#[test]
fn assigning_an_unknown_operation_is_an_error_4_6() {
    let sandbox = start(options());
    let (equipment, operation) = (idle(&sandbox), created(&sandbox, "Planting"));
    for (equipment, payload, status) in [
        (UNKNOWN_ID, json!({"fieldOperationId": operation}), 404),
        (&equipment, json!({"fieldOperationId": UNKNOWN_ID}), 404),
        (&equipment, json!({}), 400),
        (&equipment, json!({"fieldOperationId": ["x"]}), 400),
    ] {
        let refused = send(&sandbox, "POST", &format!("/dispatch/api/equipment/{equipment}/assignments"), &payload);
        assert_eq!(refused.status, status, "{payload}");
    }
    assert_eq!(bearer(&sandbox, "GET", &format!("/dispatch/api/equipment/{UNKNOWN_ID}/operations")).send().status, 404);
    assert_eq!(all(&sandbox, &format!("/dispatch/api/equipment/{equipment}/operations")).len(), 0);
}

#[test]
fn default_requirements_apply_until_an_operation_type_has_its_own_4_6() {
    let sandbox = start(options());
    let address_of = |kind: &str| format!("/dispatch/api/fieldoperations/completions/requirements/{kind}");
    let default = bearer(&sandbox, "GET", &address_of("Planting")).send().json();
    assert_eq!((&default["isDefault"], &default["operation"]), (&json!(true), &json!("Planting")));
    let required: Vec<&Value> = default["requirements"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["required"] == true)
        .map(|one| &one["name"])
        .collect();
    assert_eq!(required, ["startTime", "endTime"]);

    let mine = json!({"note": "x", "requirements": [
        {"name": "Seed lot", "required": true, "hint": "on the bag"}, {"name": "area", "type": "NUMBER"}]});
    let set = send(&sandbox, "PUT", &address_of("planting"), &mine);
    assert_eq!(set.status, 200);
    let found = bearer(&sandbox, "GET", &address_of("Planting")).send().json();
    assert_eq!((found["isDefault"].clone(), found["note"].clone()), (json!(false), json!("x")));
    assert_eq!(
        found["requirements"],
        json!([
        {"name": "Seed lot", "type": null, "required": true, "custom": true, "hint": "on the bag"},
        {"name": "area", "type": "number", "required": false, "custom": false}])
    );
    assert_eq!(bearer(&sandbox, "GET", &address_of("Spraying")).send().json()["isDefault"], true, "another type");

    for (payload, expected) in [
        (json!({}), "requirements must be a list"),
        (json!({"requirements": [3]}), "requirements[0] must be an object"),
        (json!({"requirements": [{"required": true}]}), "requirements[0] has no name"),
        (json!({"requirements": [{"name": "a"}, {"name": "b", "type": "colour"}]}), "requirements[1] has the type"),
        (json!({"requirements": [{"name": "a", "required": "yes"}]}), "true or false"),
        (json!({"requirements": [{"name": "a"}, {"name": "A"}]}), "twice"),
        (json!({"requirements": vec![json!({"name": "a"}); 201]}), "at most 200"),
    ] {
        let refused = send(&sandbox, "PUT", &address_of("Planting"), &payload);
        assert_eq!(refused.status, 400, "{payload}");
        assert!(refused.info().contains(expected), "{}", refused.info());
    }
    assert_eq!(bearer(&sandbox, "GET", &address_of("PLANTING")).send().json(), found, "nothing changed");
}

#[test]
fn completions_are_checked_modified_and_deleted_4_6() {
    let sandbox = start(options());
    let operation = created(&sandbox, "Planting");
    let address = format!("/dispatch/api/fieldoperations/{operation}/completions");
    let refused = send(&sandbox, "POST", &address, &json!({"startTime": " ", "notes": 3}));
    assert_eq!(refused.status, 400);
    assert_eq!(
        refused.info(),
        "The completion lacks required fields: startTime, endTime. The completion has invalid fields: notes must be a \
         text."
    );
    let made = send(&sandbox, "POST", &address, &done());
    assert_eq!((made.status, &made.json()["endTime"]), (201, &done()["endTime"]));
    let own = format!("{address}/{}", id(&made));
    assert_eq!(made.get("location"), Some(format!("{}{own}", sandbox.base_url()).as_str()));

    let requirements = "/dispatch/api/fieldoperations/completions/requirements/PLANTING";
    send(
        &sandbox,
        "PUT",
        requirements,
        &json!({"requirements": [{"name": "Seed lot", "required": true, "type": "text"}]}),
    );
    let refused = send(&sandbox, "PUT", &own, &done());
    assert_eq!((refused.status, refused.info().contains("Seed lot")), (400, true));
    assert_eq!(send(&sandbox, "PUT", &own, &json!({"seed LOT": 4})).status, 400, "no text");
    let modified = send(&sandbox, "PUT", &own, &json!({"seed LOT": "A-12", "depth": [1, 2]}));
    assert_eq!(modified.status, 200);
    assert_eq!(modified.json(), json!({"id": id(&made), "seed LOT": "A-12", "depth": [1, 2]}), "replaced");

    let equipment = idle(&sandbox);
    let assigned = json!({"fieldOperationId": operation});
    send(&sandbox, "POST", &format!("/dispatch/api/equipment/{equipment}/assignments"), &assigned);
    let list = format!("/dispatch/api/equipment/{equipment}/operations");
    assert_eq!(all(&sandbox, &list)[0]["completions"], json!([modified.json()]));
    assert_eq!(bearer(&sandbox, "DELETE", &own).send().status, 204);
    assert_eq!(all(&sandbox, &list)[0]["completions"], json!([]));
    for (method, path) in [
        ("DELETE", own.clone()),
        ("PUT", own),
        ("PUT", format!("/dispatch/api/fieldoperations/{UNKNOWN_ID}/completions/{UNKNOWN_ID}")),
        ("POST", format!("/dispatch/api/fieldoperations/{UNKNOWN_ID}/completions")),
    ] {
        let payload = json!({"Seed lot": "B"});
        let reply = if method == "DELETE" {
            bearer(&sandbox, method, &path).send()
        } else {
            send(&sandbox, method, &path, &payload)
        };
        assert_eq!(reply.status, 404, "{method} {path}");
    }
}

#[test]
fn every_row_has_only_its_own_address_and_method_4_6() {
    let sandbox = start(options());
    for row in api::rows().filter(|row| row.service() != Service::FieldData) {
        let path = row.path.replace(['{', '}'], "");
        let method = row.method.as_str();
        let at = |address: &str, method: &str| {
            let reply = send(&sandbox, method, &format!("{address}{}", path.to_uppercase()), &json!({}));
            (reply.status, reply.get("allow").map(str::to_owned), reply.text())
        };
        for (address, serves) in
            ADDRESSES.into_iter().zip([Service::Dispatch, Service::LegacyOrders, Service::LegacyOrders])
        {
            let (status, allow, text) = at(address, method);
            let is_known = !text.contains("There is nothing at");
            assert_eq!(is_known, row.service() == serves, "{method} {address}{path}: {status} {text}");
            if is_known {
                assert!(![405, 501].contains(&status), "{method} {address}{path}: {status}");
                let (status, allowed, _) = at(address, "PATCH");
                assert_eq!((status, allow), (405, None));
                assert!(allowed.unwrap().contains(method), "{path}");
            } else {
                assert_eq!(status, 404);
            }
        }
        let signed = get(&sandbox, &path).send();
        assert_eq!(signed.status, 404, "the field data API does not know {path}");
    }
    for path in ["/dispatch", "/dispatch/", "/dispatch/api", "/dispatch/api/products/", "/DISPATCH/api//products"] {
        assert_eq!(bearer(&sandbox, "GET", path).send().status, 404, "{path}");
    }
    assert_eq!(bearer(&sandbox, "GET", "/Dispatch/API/Products").send().status, 200, "any letter case");
}

#[test]
fn bearer_token_is_required_and_sufficient_5_6() {
    let sandbox = start(options());
    let with = |value: &str| bearer(&sandbox, "GET", "/dispatch/api/products").header("Authorization", value).send();
    let token = sandbox.keys().dispatch_token.clone();
    assert_eq!(with(&format!("bearer  {token}")).status, 200);
    for value in
        ["", "Bearer", "Bearer x", &token, &format!("Basic {token}"), &format!("Bearer {}", token.to_lowercase())]
    {
        let refused = with(value);
        assert_eq!((refused.status, refused.get("www-authenticate")), (401, Some("Bearer")), "{value}");
        assert!(refused.info().starts_with("bearer token check failed"), "{}", refused.info());
    }
    let signed = get(&sandbox, "/dispatch/api/products").send();
    assert_eq!(signed.status, 401, "a signature is no token");
    assert_eq!(bearer(&sandbox, "GET", "/jobdata").send().status, 401, "a token is no signature");
    for address in ADDRESSES {
        assert_eq!(get(&sandbox, &format!("{address}/nothing")).send().status, 401, "the token comes first");
    }
}

#[test]
fn two_customers_never_see_each_other_in_dispatch_5_3() {
    let sandbox = start(options());
    let other = format!("Bearer {}", sandbox.keys().other_dispatch_token);
    let operation = created(&sandbox, "Planting");
    let (equipment, account) = (idle(&sandbox), sandbox.accounts().unwrap()[0].0.clone());
    let product = |call: Call<'_>| call.send().json()[0]["id"].clone();
    assert_ne!(
        product(bearer(&sandbox, "GET", "/dispatch/api/products")),
        product(bearer(&sandbox, "GET", "/dispatch/api/products").header("Authorization", &other))
    );
    send(
        &sandbox,
        "PUT",
        "/dispatch/api/fieldoperations/completions/requirements/Planting",
        &json!({"requirements": []}),
    );
    for (method, path) in [
        ("GET", format!("/dispatch/api/equipment/{equipment}/operations")),
        ("POST", format!("/dispatch/api/equipment/{equipment}/assignments")),
        ("POST", format!("/dispatch/api/fieldoperations/{operation}/release")),
        ("PUT", format!("/dispatch/api/fieldoperations/{operation}/mix")),
        ("POST", format!("/dispatch/api/fieldoperations/{operation}/completions")),
        ("DELETE", format!("/dispatch/api/fieldoperations/{operation}")),
        ("GET", format!("/legacy-orders/api/accounts/{account}/products")),
    ] {
        let reply = carrying(&sandbox, method, &path, &json!({})).header("Authorization", &other).send();
        assert_eq!(reply.status, 404, "{method} {path}");
    }
    let requirements = "/dispatch/api/fieldoperations/completions/requirements/Planting";
    let theirs = bearer(&sandbox, "GET", requirements).header("Authorization", &other).send();
    assert_eq!(theirs.json()["isDefault"], true);
}

#[test]
fn dispatch_calls_do_not_count_against_the_field_data_limit_8() {
    let sandbox = limited(&[(2, 60)], false);
    for _ in 0..4 {
        // Even with the four headers, which a client may always send.
        let token = format!("Bearer {}", sandbox.keys().dispatch_token);
        let reply = get(&sandbox, "/dispatch/api/products?$top=1").header("Authorization", &token).send();
        assert_eq!((reply.status, reply.get("x-ratelimit-limit")), (200, None));
    }
    assert_eq!(get(&sandbox, "/accesskey").send().get("x-ratelimit-remaining"), Some("1"));
}
