//! Tests raw lists of the dispatch service and the legacy order service (4.7): `Location`, `$skip`, and their errors.

use std::collections::HashSet;

use headland::client::{Client, Config, Token};
use headland::error::{Error, Kind};
use headland::secret::Secret;
use headland::transport::{FaultKind, Request};
use headland::wire::Value;
use proptest::prelude::*;

use crate::payloads::dispatching;
use crate::support::*;

const LIST: &str = "dispatch.batches.active";
const BASE: &str = "https://dispatch.example/v2";

/// How a server returns its pages.
#[derive(Clone, Debug)]
struct Server {
    records: u64,
    /// Largest number of records in one page.
    limit: u64,
    has_location: bool,
    /// Whether the last page with records also has a `Location`.
    last_has_location: bool,
    has_count: bool,
    /// Template of the `Location` of a page; `{top}` and `{skip}` are filled in.
    form: &'static str,
}

const PLAIN: Server = Server {
    records: 25,
    limit: 1_000,
    has_location: true,
    last_has_location: false,
    has_count: true,
    form: "https://dispatch.example/v2/api/batches/active?$top={top}&$skip={skip}&$count=true",
};

const FORMS: [&str; 9] = [
    PLAIN.form,
    "GET https://dispatch.example/v2/api/batches/active?$top={top}&$skip={skip}&$count=true",
    "GET /v2/api/batches/active$top={top}&$skip={skip}&count=true",
    "/api/batches/active?top={top}&skip={skip}",
    "api/batches/active$top={top}&skip={skip}&$count=true",
    "https://dispatch.example:443/v2/API/batches/active&$top={top}&$skip={skip}",
    "?$skip={skip}&$top={top}",
    "GET top={top}&$skip={skip}&$count=true",
    "https://DISPATCH.example/v2/api/batches/activetop={top}&$skip={skip}&$count=true",
];

impl Server {
    fn answer(&self, request: &Request) -> Canned {
        let number = |name: &str| query(request, name).map(|text| text.parse::<u64>().unwrap());
        let top = number("$top").unwrap().min(self.limit);
        let skip = number("$skip").unwrap();
        let start = skip.saturating_mul(top).min(self.records);
        let end = start.saturating_add(top).min(self.records);
        let items: Vec<String> = (start..end).map(|id| format!(r#"{{"ID":{id},"batchName":"b{id}"}}"#)).collect();
        let mut reply = ok(format!("[{}]", items.join(",")));
        if self.has_count {
            reply = reply.with("x-total-count", self.records);
        }
        let is_last = end == self.records;
        if self.has_location && (!is_last || self.last_has_location) {
            let location = self.form.replace("{top}", &top.to_string()).replace("{skip}", &(skip + 1).to_string());
            reply = reply.with("Location", location);
        }
        reply
    }

    fn serve(self) -> std::sync::Arc<Script> {
        Script::new(move |_, request| Ok(self.answer(request)))
    }
}

async fn read_with(client: &Client, page_size: Option<u32>, page: Option<u64>) -> Result<Vec<String>, Error> {
    let mut list = client.link_pages(row(LIST), arguments(LIST, &[]), page_size, page)?;
    let mut ids = Vec::new();
    while let Some(page) = list.next_page().await? {
        ids.extend(page.iter().map(|item| item.get("id").and_then(Value::as_text).unwrap().to_owned()));
    }
    assert_eq!(list.next_page().await.unwrap(), None, "the end stays the end");
    Ok(ids)
}

async fn read(client: &Client, page_size: u32) -> Result<Vec<String>, Error> {
    read_with(client, Some(page_size), None).await
}

fn ids(range: std::ops::Range<u64>) -> Vec<String> {
    range.map(|id| id.to_string()).collect()
}

#[tokio::test(start_paused = true)]
async fn first_request_states_its_paging_and_location_is_followed_verbatim_4_7() {
    let script = PLAIN.serve();
    assert_eq!(read(&client_of(dispatching(), &script), 10).await.unwrap(), ids(0..25));
    let urls: Vec<String> = (0..script.count()).map(|index| script.request(index).url).collect();
    let url = |skip: u32| format!("{BASE}/api/batches/active?$top=10&$skip={skip}&$count=true");
    assert_eq!(urls, [url(0), url(1), url(2)]);
    for index in 0..script.count() {
        let request = script.request(index);
        assert_eq!(request.headers.get("authorization").unwrap().to_str().unwrap(), "Bearer token-AbC.123_x~y");
        assert!(request.headers.keys().all(|name| !name.as_str().starts_with("x-ss")));
    }
    let script = PLAIN.serve();
    let client = client_of(dispatching(), &script);
    let mut list = client.link_pages(row(LIST), arguments(LIST, &[]), None, None).unwrap();
    assert_eq!(script.count(), 0, "lazy");
    assert_eq!(list.total().await.unwrap(), Some(25));
    assert_eq!(list.next_page().await.unwrap().unwrap().len(), 25);
    assert_eq!(script.count(), 1, "the first page is read once");
    assert!(script.request(0).url.contains("$top=1000&"), "the client's page size");
}

#[tokio::test(start_paused = true)]
async fn single_page_makes_one_request() {
    let script = PLAIN.serve();
    let client = client_of(dispatching(), &script);
    assert_eq!(read_with(&client, Some(10), Some(1)).await.unwrap(), ids(10..20));
    assert_eq!(read_with(&client, Some(10), Some(7)).await.unwrap(), ids(0..0));
    assert_eq!(script.count(), 2);
    assert_eq!(query(&script.request(0), "$skip").as_deref(), Some("1"));
}

#[tokio::test(start_paused = true)]
async fn list_without_a_count_has_none_and_one_without_records_is_empty() {
    let script = Server { has_count: false, ..PLAIN }.serve();
    let client = client_of(dispatching(), &script);
    let mut list = client.link_pages(row(LIST), arguments(LIST, &[]), None, None).unwrap();
    assert_eq!(list.total().await.unwrap(), None);
    for (status, body) in [(200, "[]"), (204, ""), (200, "")] {
        let script = Script::new(move |_, _| Ok(canned(status, body).with("Location", "?$top=9&$skip=1")));
        assert_eq!(read(&client_of(dispatching(), &script), 10).await.unwrap(), ids(0..0));
        assert_eq!(script.count(), 1, "an empty page is the end, regardless of its Location");
    }
}

#[tokio::test(start_paused = true)]
async fn foreign_address_is_an_error_and_never_contacted() {
    for location in [
        "https://evil.example/v2/api/batches/active?$top=10&$skip=1",
        "GET https://evil.example/v2/api/batches/active?$skip=1",
        "http://dispatch.example/v2/api/batches/active?$skip=1",
        "https://dispatch.example:444/v2/api/batches/active?$skip=1",
        "https://dispatch.example/v20/api/batches/active?$skip=1",
        "https://dispatch.example/other?$skip=1",
        "https://dispatch.example/v2/../other?$skip=1",
        "//evil.example/v2/api/batches/active?$skip=1",
        "https://user@dispatch.example/v2/api/batches/active?$skip=1",
    ] {
        let script = Script::new(move |_, request| Ok(PLAIN.answer(request).replacing("Location", location)));
        let error = read(&client_of(dispatching(), &script), 10).await.unwrap_err();
        assert_eq!((error.kind(), script.count()), (Kind::Decode, 1), "{location}");
        assert!(error.message().contains("was not requested"), "{error}");
        assert!(error.message().contains("dispatch_url"), "{error}");
        assert_eq!(error.facts().endpoint, Some(LIST));
    }
}

#[tokio::test(start_paused = true)]
async fn paging_loops_are_errors() {
    // A page that names itself, or one that was read before.
    for target in [0, 1] {
        let script = Script::new(move |number, request| {
            let skip = if number >= 1 { target } else { 1 };
            let location = format!("/api/batches/active?$top=10&$skip={skip}&$count=true");
            Ok(PLAIN.answer(request).replacing("Location", location))
        });
        let error = read(&client_of(dispatching(), &script), 10).await.unwrap_err();
        assert_eq!((error.kind(), script.count()), (Kind::Decode, 2), "{error}");
        assert!(error.message().contains("circles"), "{error}");
    }
    // Other addresses with the same records, endlessly.
    for has_id in [true, false] {
        let script = Script::new(move |number, _| {
            let records = if has_id { r#"[{"id":1},{"id":2}]"# } else { r#"[{"name":"a"},{"name":"a"}]"# };
            Ok(ok(records).with("Location", format!("?$top=2&$skip={}", number + 1)))
        });
        let client = client_of(dispatching(), &script);
        let mut list = client.link_pages(row(LIST), arguments(LIST, &[]), Some(2), None).unwrap();
        assert_eq!(list.next_page().await.unwrap().unwrap().len(), 2, "records without an id may well be equal");
        let error = list.next_page().await.unwrap_err();
        assert_eq!(error.kind(), Kind::Decode);
        assert!(error.message().contains("only records of earlier pages"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn fewer_records_than_promised_are_an_error() {
    let script = Script::new(|_, _| Ok(ok("[]").with("x-total-count", 3)));
    let error = read(&client_of(dispatching(), &script), 10).await.unwrap_err();
    assert!(error.kind() == Kind::Decode && error.message().contains("reports 3 batches"), "{error}");
    // A list that shrank during the read promised as many records as it returned.
    let script = Script::new(|number, request| Ok(PLAIN.answer(request).replacing("x-total-count", 40 - number)));
    assert_eq!(read(&client_of(dispatching(), &script), 10).await.unwrap(), ids(0..25));
}

#[tokio::test(start_paused = true)]
async fn other_body_than_a_list_is_an_error() {
    for (body, content_type) in [
        (r#"{"items":[]}"#, "application/json"),
        ("<html></html>", "text/html"),
        ("[{\"id\":1},", "application/json"),
        ("OK", "text/plain"),
    ] {
        let script = Script::new(move |_, _| Ok(ok(body).with("content-type", content_type)));
        let error = read(&client_of(dispatching(), &script), 10).await.unwrap_err();
        assert_eq!((error.kind(), error.facts().status), (Kind::Decode, Some(200)), "{body}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn page_is_requested_again_when_its_reply_is_lost() {
    let script = Script::new(|number, request| match number {
        1 => Err(fault(FaultKind::Reset)),
        3 => Ok(canned(429, "").with("retry-after", 5)),
        _ => Ok(PLAIN.answer(request)),
    });
    assert_eq!(read(&client_of(dispatching(), &script), 10).await.unwrap(), ids(0..25));
    assert_eq!(script.count(), 5);
}

#[tokio::test(start_paused = true)]
async fn invalid_arguments_are_errors_before_any_call() {
    let script = PLAIN.serve();
    let client = client_of(dispatching(), &script);
    for size in [0, 1_001] {
        let error = client.link_pages(row(LIST), arguments(LIST, &[]), Some(size), None).unwrap_err();
        assert_eq!(error.kind(), Kind::Value, "{size}");
    }
    let untold = client_of(Config { dispatch_url: None, ..dispatching() }, &script);
    let error = untold.link_pages(row(LIST), arguments(LIST, &[]), None, None).unwrap_err();
    assert_eq!(error.kind(), Kind::Configuration);
    let tokenless = client_of(Config { dispatch_token: None, ..dispatching() }, &script);
    let error = tokenless.link_pages(row(LIST), arguments(LIST, &[]), None, None).unwrap_err();
    assert!(error.message().contains("`dispatch_token`"), "{error}");
    assert!(client.link_pages(row("job_data.list"), arguments("job_data.list", &[]), None, None).is_err());
    assert_eq!(script.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn each_page_may_have_its_own_token() {
    let script = PLAIN.serve();
    let client = client_of(Config { dispatch_token: Some(Token::PerCall), ..dispatching() }, &script);
    let mut list = client.link_pages(row(LIST), arguments(LIST, &[]), Some(10), None).unwrap();
    for number in 0..3 {
        list.set_token(Some(Secret::new(format!("token-{number}"))));
        list.next_page().await.unwrap();
        let sent = script.request(number).headers.get("authorization").unwrap().to_str().unwrap().to_owned();
        assert_eq!(sent, format!("Bearer token-{number}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.min(2_000)))]

    /// For any page limit, last page and form of `Location`, each record is returned once.
    #[test]
    fn every_record_is_returned_once_for_any_server_4_7(
        records in 0_u64..60,
        limit in 1_u64..70,
        page_size in 1_u32..40,
        habits in any::<[bool; 3]>(),
        form in 0..FORMS.len(),
    ) {
        let [has_location, last_has_location, has_count] = habits;
        let limited = limit < u64::from(page_size);
        // If a server shortens pages and states neither the next page nor a count, the client cannot detect the end.
        prop_assume!(has_location || has_count || !limited);
        let server = Server { records, limit, has_location, last_has_location, has_count, form: FORMS[form] };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let script = server.serve();
        let found = runtime.block_on(read(&client_of(dispatching(), &script), page_size)).unwrap();
        prop_assert_eq!(&found, &ids(0..records));
        let urls: HashSet<String> = (0..script.count()).map(|index| script.request(index).url).collect();
        prop_assert!(urls.iter().all(|url| url.starts_with(BASE)));
    }
}
