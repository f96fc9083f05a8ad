//! Tests both content types (specification 4.5): negotiation, documents, codings, and a round trip of every row in
//! each.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests expect by unwrapping")]

use std::sync::Arc;

use flate2::read::{GzDecoder, ZlibDecoder};
use headland::api::{self, Endpoint, Returns};
use headland::client::{Client, Delivered, Target, UploadFile};
use headland::sandbox::fields::{HarvestStyle, generate_account};
use headland::sandbox::{Options, Sandbox, VARIANTS};
use headland::wire::{Content, Value};

use super::headland_client::{arguments_for, client_that_accepts, file, id_of, list, small_job};
use super::raw_client::{get, options, start, upload, zip_of};
use super::stored;

const BOTH: [Content; 2] = [Content::Json, Content::Xml];

fn with_variants(names: &[&str]) -> Sandbox {
    start(Options { variants: names.iter().map(|&name| name.to_owned()).collect(), ..options() })
}

#[test]
fn accept_selects_the_type_of_records_and_errors() {
    let sandbox = start(options());
    for (accept, media_type) in [
        ("text/xml", "text/xml; charset=utf-8"),
        ("application/xml", "application/xml; charset=utf-8"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "application/xml; charset=utf-8"),
        ("application/json", "application/json"),
        ("*/*", "application/json"),
        ("text/xml;q=0.5, application/json", "application/json"),
    ] {
        let first = if media_type.contains("xml") { b'<' } else { b'{' };
        for (path, status) in [("/jobdata", 200), ("/accesskey", 200), ("/jobdata/0", 404), ("/nothing", 404)] {
            let reply = get(&sandbox, path).header("Accept", accept).send();
            assert_eq!(
                (reply.status, reply.get("content-type"), reply.body[0]),
                (status, Some(media_type), first),
                "{path}"
            );
        }
    }
    let without = get(&sandbox, "/jobdata").with(|call| call.headers.clear()).send();
    assert_eq!(without.get("content-type"), Some("application/json"), "absent: not shown, so JSON");
    let by_variant = with_variants(&["xml-default"]);
    let without = get(&by_variant, "/jobdata").with(|call| call.headers.clear()).send();
    assert_eq!(without.get("content-type"), Some("text/xml; charset=utf-8"));
    for accept in ["text/html", "application/json;q=0", "image/*"] {
        let reply = get(&sandbox, "/jobdata").header("Accept", accept).send();
        assert_eq!((reply.status, reply.get("content-type")), (406, Some("application/json")), "{accept}");
        assert!(reply.info().contains("text/xml"), "{}", reply.info());
    }
    let file = get(&sandbox, &format!("/jobdata/{}?format=BIN", small_job())).header("Accept", "image/png").send();
    assert_eq!((file.status, file.get("content-type")), (200, Some("application/zip")), "files are what they are");
}

/// The names of the root's children, without nested ones.
fn children(text: &str) -> Vec<String> {
    let (mut depth, mut names) = (0, Vec::new());
    for tag in text.split('<').skip(1) {
        let name = tag.split(['>', ' ']).next().unwrap().to_owned();
        match (tag.starts_with('/'), tag.starts_with('?')) {
            (true, _) => depth -= 1,
            (_, true) => {}
            _ => {
                if depth == 1 {
                    names.push(name);
                }
                depth += 1;
            }
        }
    }
    names
}

#[test]
fn documents_have_the_roots_and_order_of_the_field_notes() {
    let sandbox = start(options());
    let text = |path: &str| get(&sandbox, path).header("Accept", "text/xml").send().text();
    let page = text("/jobdata?pageSize=2");
    let start = "<?xml version=\"1.0\" encoding=\"utf-8\"?><ServiceIndex xmlns=\"http://schemas.example.com/ServiceIndex/2010\">";
    assert!(page.starts_with(start) && page.ends_with("</ServiceIndex>"), "{page}");
    let envelope = ["TotalCount", "PageSize", "IsPreviousPage", "IsNextPage", "PageIndex", "TotalPages"];
    assert_eq!(children(&page), [&envelope[..], &["JobData", "JobData"]].concat());
    assert_eq!(children(&text("/jobdata?page=99")), envelope, "a page past the end has no items");
    let id = small_job();
    for (path, root) in [
        ("/accesskey".to_owned(), "AccessKeyDetail"),
        (format!("/jobdata/{id}"), "JobDataDetail"),
        ("/jobdata/0".to_owned(), "ServiceResponse"),
    ] {
        let text = text(&path);
        assert!(text.contains(&format!("?><{root} xmlns=\"http://schemas.example.com/{root}/2010\"")), "{text}");
    }
    assert_eq!(children(&text("/jobdata/0")), ["status", "errorInfo"]);
    let job = text(&format!("/jobdata/{id}"));
    assert!(job.contains("<AvailableFiles><File><FileName>") && job.contains("</FileType></File>"), "{job}");
    assert!(job.contains("<Products><Product>"), "{job}");
}

#[test]
fn both_codings_compress_both_content_types() {
    let sandbox = start(options());
    for accept in ["application/json", "text/xml"] {
        let plain = get(&sandbox, "/jobdata").header("Accept", accept).send();
        assert_eq!(plain.get("content-encoding"), None);
        for encoding in ["gzip", "deflate"] {
            let reply = get(&sandbox, "/jobdata").header("Accept", accept).header("Accept-Encoding", encoding).send();
            assert_eq!(reply.get("content-encoding"), Some(encoding), "{accept}");
            let mut body = Vec::new();
            if encoding == "gzip" {
                std::io::copy(&mut GzDecoder::new(&reply.body[..]), &mut body).unwrap();
            } else {
                std::io::copy(&mut ZlibDecoder::new(&reply.body[..]), &mut body).unwrap();
            }
            assert_eq!(body, plain.body, "{accept} {encoding}");
        }
    }
}

#[test]
fn variants_change_documents_according_to_their_names() {
    let id = small_job();
    let text = |names: &[&str], path: &str| get(&with_variants(names), path).header("Accept", "text/xml").send().text();
    let page = text(&["xml-prefix"], "/jobdata?pageSize=1");
    assert!(page.contains("<s:ServiceIndex xmlns:s=\"") && page.contains("<s:JobData><s:ID>"), "{page}");
    let page = text(&["xml-vendor"], "/jobdata");
    assert!(page.contains("<SlingshotIndex xmlns=\"http://schemas.vendor.example/SlingshotIndex/2010\">"), "{page}");
    assert!(text(&["xml-vendor"], "/jobdata/0").contains("<SlingshotResponse "));
    assert!(text(&["xml-camel"], "/jobdata").contains("<totalCount>"));
    assert!(text(&["xml-plain-prolog"], "/jobdata").starts_with("<?xml version=\"1.0\"?>"));
    assert!(text(&["xml-no-prolog"], "/jobdata").starts_with("<ServiceIndex"));
    let job = format!("/jobdata/{id}");
    assert!(
        text(&["xml-repeated"], &job).contains("<File><FileName>")
            && !text(&["xml-repeated"], &job).contains("<AvailableFiles")
    );
    assert!(text(&["display-names"], &job).contains("<Device_File_Name>"));
    assert!(text(&["nested-job"], &job).contains("<SprayerJob><JobName>"), "{}", text(&["nested-job"], &job));
    assert!(text(&["bare-files"], &job).contains("<AvailableFiles><File>http://"));
    assert!(text(&["bare-item"], &job).contains("<Products><ID>"), "{}", text(&["bare-item"], &job));
}

/// Asserts that a record equals the stored one, as far as the test knows it.
fn assert_holds(stored: &Value, found: &Value) {
    let (stored, found) = (settled(stored), settled(found));
    let Value::Record(fields) = &stored else { panic!("no record: {stored:?}") };
    assert!(!fields.is_empty());
    for (name, value) in fields.iter().filter(|(name, _)| name != "status") {
        assert_eq!(found.get(name), Some(value), "{name}");
    }
}

/// The stored details of a row, each with its id.
fn stored_details(name: &str, sandbox: &Sandbox) -> Vec<(String, Value)> {
    let account = generate_account(0, HarvestStyle::Ideal);
    match name {
        "access_key" => {
            let key = Value::Text(sandbox.keys().access_key.clone());
            let stored = vec![("access_key".into(), key), ("is_active".into(), Value::Boolean(true))];
            vec![(String::new(), Value::Record(stored))]
        }
        "job_data.get" => account.jobs.iter().map(|job| (job.id.clone(), job.detail.clone())).collect(),
        "field_computers.get" => {
            let mut computers = account.computers;
            // The service returns no detail of a legacy device.
            computers.retain(|computer| !computer.is_legacy);
            computers.into_iter().map(|computer| (computer.id, computer.detail)).collect()
        }
        "grain_carts.get" => stored::carts(sandbox),
        "prescription_maps.get" => stored::maps(),
        name => panic!("say what the service holds of {name}"),
    }
}

/// One call of a row, or of a detail row one for each of `details` records; returns the result in a comparable form.
async fn call(client: &Client, row: &'static Endpoint, sandbox: &Sandbox, details: usize) -> Vec<Value> {
    let name = row.full_name;
    let bytes = |bytes: Vec<u8>| vec![Value::Text(format!("{} bytes", bytes.len())), Value::Text(format!("{bytes:?}"))];
    match row.returns {
        Returns::Index(_) if !matches!(name, "job_data.list" | "field_computers.list" | "grain_carts.list") => {
            stored::page(client, row).await
        }
        Returns::OneOf(_) if name != "grain_carts.get" => stored::one(client, row).await,
        Returns::File | Returns::Layer if row.group() == "prescription_maps" => {
            bytes(stored::download(client, row).await)
        }
        Returns::Created | Returns::Nothing if row.group() == "prescription_maps" => {
            stored::upload_and_send(client, sandbox).await;
            Vec::new()
        }
        Returns::Nothing => panic!("say what {name} does"),
        Returns::Table { .. } => stored::products(client, row, details).await,
        // The client has no method for it.
        Returns::NotImplemented => Vec::new(),
        Returns::Index(_) => {
            let records = list(client, name).await;
            let account = generate_account(0, HarvestStyle::Ideal);
            match name {
                "job_data.list" => {
                    assert!(records.len() >= account.jobs.len());
                    for job in &account.jobs {
                        let record = records.iter().find(|record| id_of(record) == job.id).unwrap();
                        assert_eq!(record.get("name").and_then(Value::as_text), Some(job.name.as_str()));
                        assert_eq!(record.get("sub_type").and_then(Value::as_text), Some(job.sub_type.as_str()));
                        assert!(
                            matches!(record.get("create_date"), Some(Value::Time(time)) if time.timestamp() == job.created.timestamp())
                        );
                        assert!(
                            matches!(record.get("update_date"), Some(Value::Time(time)) if time.timestamp() == job.updated.timestamp())
                        );
                    }
                }
                "field_computers.list" => {
                    let ids: Vec<_> = account.computers.iter().map(|computer| computer.id.clone()).collect();
                    assert_eq!(records.iter().map(id_of).collect::<Vec<_>>(), ids);
                }
                "grain_carts.list" => {
                    let held: Vec<_> = sandbox.cart_truth().into_iter().map(|cart| cart.id).collect();
                    assert_eq!(records.iter().map(id_of).collect::<Vec<_>>(), held);
                }
                name => panic!("say what the service holds of {name}"),
            }
            records
        }
        Returns::Detail(_) | Returns::OneOf(_) => {
            let stored = stored_details(name, sandbox);
            let mut records = Vec::new();
            for (id, stored) in stored.into_iter().take(details) {
                let given = if id.is_empty() { arguments_for(name, &[]) } else { arguments_for(name, &[("id", &id)]) };
                let found = client.detail(row, &given).await.unwrap();
                assert_holds(&stored, &found);
                records.push(found);
            }
            records
        }
        Returns::File | Returns::Layer if row.group() == "grain_carts" => {
            bytes(stored::download_cart(client, row, sandbox).await)
        }
        Returns::Created if row.group() == "grain_carts" => {
            stored::upload_cart(client, row).await;
            Vec::new()
        }
        Returns::File => bytes(stored::of_job(&small_job(), "BIN", file(client, &small_job(), "BIN").await)),
        Returns::Conversion | Returns::Layer => {
            let mut conversion = client.conversion(row, arguments_for(name, &[("id", &small_job())])).unwrap();
            match conversion.result(Target::Memory).await.unwrap() {
                Delivered::Bytes(found) => bytes(stored::of_job(&small_job(), "SHP", found)),
                Delivered::File(path) => panic!("asked for bytes, got {}", path.display()),
            }
        }
        Returns::Created => {
            let content = zip_of("a.shp", b"x");
            let file = UploadFile { name: "new.jdp.zip".to_owned(), content: content.clone().into() };
            let created = client.upload(row, &arguments_for(row.full_name, &[]), file).await.unwrap();
            let get = super::headland_client::row("job_data.get");
            let detail = client.detail(get, &arguments_for("job_data.get", &[("id", &created.id)])).await.unwrap();
            assert_eq!(detail.get("device_file_name"), Some(&Value::Text("new.jdp.zip".to_owned())));
            assert_eq!(self::file(client, &created.id, "BIN").await, content);
            Vec::new()
        }
        Returns::Payload | Returns::Listing(_) => panic!("{name} has no second content type"),
    }
}

#[tokio::test]
async fn every_row_returns_the_stored_values_in_both_content_types() {
    let sandbox = Arc::new(start(options()));
    for row in api::rows().filter(|row| row.service() == api::Service::FieldData) {
        let [json, xml] = BOTH.map(|content| client_that_accepts(content, &sandbox, &[]));
        let (json, xml) = (call(&json, row, &sandbox, usize::MAX).await, call(&xml, row, &sandbox, usize::MAX).await);
        assert_eq!(json, xml, "{}", row.full_name);
    }
}

/// The records without addresses, whose form is a variant, and without values of the clock, with sorted fields.
fn settled(value: &Value) -> Value {
    match value {
        Value::Record(fields) => {
            let is_address = |name: &str| matches!(name, "uri" | "available_files" | "last_report_date");
            let mut fields: Vec<_> = fields
                .iter()
                .filter(|(name, _)| !is_address(name))
                .map(|(name, value)| (name.clone(), settled(value)))
                .collect();
            fields.sort_by(|one, other| one.0.cmp(&other.0));
            Value::Record(fields)
        }
        Value::List(items) => Value::List(items.iter().map(settled).collect()),
        other => other.clone(),
    }
}

/// Number of details that covers each kind of job.
const DETAILS: usize = 20;

#[tokio::test]
async fn variants_change_no_value_in_either_content_type() {
    let plain = Arc::new(start(options()));
    let client = client_that_accepts(Content::Json, &plain, &[]);
    let rows: Vec<_> = api::rows()
        .filter(|row| matches!(row.returns, Returns::Index(_) | Returns::Detail(_) | Returns::OneOf(_)))
        .filter(|row| !stored::is_of_its_time(row))
        .collect();
    let mut expected = Vec::new();
    for row in &rows {
        let records = call(&client, row, &plain, DETAILS).await;
        expected.push(records.iter().map(settled).collect::<Vec<_>>());
    }
    // All of them, and all but those that override another one. Tank mixes change values.
    let masks = |name: &str| matches!(name, "xml-no-prolog" | "xml-repeated" | "tank-mixes");
    let rest: Vec<&str> = VARIANTS.iter().map(|row| row.name).filter(|name| !masks(name)).collect();
    for names in [&["wild"][..], &rest] {
        let sandbox = Arc::new(with_variants(names));
        for content in BOTH {
            let client = client_that_accepts(content, &sandbox, &[]);
            for (row, expected) in rows.iter().zip(&expected) {
                let records = call(&client, row, &sandbox, DETAILS).await;
                let records: Vec<_> = records.iter().map(settled).collect();
                assert_eq!(&records, expected, "{names:?}, {content:?}: {}", row.full_name);
            }
        }
    }
}

#[tokio::test]
async fn empty_values_and_unusual_names_round_trip_in_both() {
    let sandbox = Arc::new(start(options()));
    assert_eq!(upload(&sandbox, "Ä & <b>']]>\t.jdp.zip", &zip_of("a.shp", b"x")).send().status, 201);
    let mut found = Vec::new();
    for content in BOTH {
        let records = list(&client_that_accepts(content, &sandbox, &[]), "job_data.list").await;
        assert_eq!(records[0].get("sub_type"), Some(&Value::Null), "{content:?}");
        let name = records[0].get("name").and_then(Value::as_text).unwrap();
        assert!(name.starts_with("Ä & <b>']]>"), "{name} in {content:?}");
        found.push(records);
    }
    assert_eq!(found[0], found[1]);
}
