//! Tests lists with values that cannot be read: an error, or null with a warning that names the path.

use headland::client::{OnError, Pages};
use headland::error::{Error, Kind};
use headland::wire::Value;

use crate::support::*;

const JOBS: &str = r#"{"TotalCount":3,"IsNextPage":false,"JobData":[
    {"ID":"1","Name":"North","CreateDate":"2026-09-01T12:00:00Z","UpdateDate":"soon"},
    {"ID":"2","Name":{"a":1},"CreateDate":[7],"New":{"x":[1]}},
    {"ID":"3","Name":"South","Name":"West","CreateDate":true}]}"#;

const JOBS_XML: &str = "<XIndex><TotalCount>3</TotalCount><IsNextPage>false</IsNextPage>\
    <JobData><ID>1</ID><Name>North</Name><CreateDate>2026-09-01T12:00:00Z</CreateDate><UpdateDate>soon</UpdateDate></JobData>\
    <JobData><ID>2</ID><Name><a>1</a></Name><CreateDate><b/>7</CreateDate><New><x>1</x></New></JobData>\
    <JobData><ID>3</ID><Name>South</Name><Name>West</Name><CreateDate>true</CreateDate></JobData></XIndex>";

const PATHS: [&str; 5] = [
    "`ServiceIndex.JobData[0].UpdateDate` (`UpdateDate` is invalid: expected an ISO 8601 time, got `soon`)",
    "`ServiceIndex.JobData[1].Name`",
    "`ServiceIndex.JobData[1].CreateDate`",
    "`ServiceIndex.JobData[2].Name` (`Name` occurs twice, with different values)",
    "`ServiceIndex.JobData[2].CreateDate`",
];

fn pages(body: &'static str, name: &str, on_error: OnError) -> (headland::client::Client, Pages) {
    let script = Script::new(move |_, _| Ok(ok(body)));
    let client = client(&script);
    let given: &[(&str, &str)] = if row(name).parameter("id").is_some() { &[("id", "7")] } else { &[] };
    let pages = client.pages(row(name), arguments(name, given), None, None).unwrap().on_error(on_error);
    (client, pages)
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_value_is_an_error_that_names_its_path() {
    for body in [JOBS, JOBS_XML] {
        let (client, mut pages) = pages(body, "job_data.list", OnError::Raise);
        let error: Error = pages.next_page().await.unwrap_err();
        assert_eq!(error.kind(), Kind::Decode);
        assert_eq!(error.facts().field.as_deref(), Some("ServiceIndex.JobData[0].UpdateDate"));
        assert!(client.take_warnings().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_value_is_null_with_a_warning_of_its_path() {
    for body in [JOBS, JOBS_XML] {
        let (client, mut pages) = pages(body, "job_data.list", OnError::Null);
        assert_eq!(pages.total().await.unwrap(), Some(3));
        let records = pages.next_page().await.unwrap().unwrap();
        assert!(pages.next_page().await.unwrap().is_none());
        let ids: Vec<_> = records.iter().filter_map(|record| record.get("id").and_then(Value::as_text)).collect();
        assert_eq!(ids, ["1", "2", "3"], "every record is kept");
        assert_eq!(records[0].get("name").and_then(Value::as_text), Some("North"));
        assert!(matches!(records[0].get("create_date"), Some(Value::Time(_))), "what can be read is read");
        for (at, field) in [(0, "update_date"), (1, "name"), (1, "create_date"), (2, "name"), (2, "create_date")] {
            assert_eq!(records[at].get(field), Some(&Value::Null), "{at} {field}: {body}");
        }
        assert!(matches!(records[1].get("new"), Some(Value::Unknown(_))), "unknown fields stay");
        let warnings = client.take_warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].starts_with("job_data.list, page 0: "), "{warnings:?}");
        for path in PATHS {
            assert!(warnings[0].contains(path), "{path}: {warnings:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn columns_have_nulls_where_values_cannot_be_read() {
    for body in [JOBS, JOBS_XML] {
        let (client, mut pages) = pages(body, "job_data.list", OnError::Null);
        let batch = pages.next_batch().await.unwrap().unwrap();
        assert_eq!(batch.num_rows(), 3);
        let nulls = |name: &str| batch.column_by_name(name).unwrap().null_count();
        assert_eq!((nulls("id"), nulls("name"), nulls("create_date"), nulls("update_date")), (0, 2, 2, 3));
        assert_eq!(client.take_warnings().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn values_of_a_record_inside_a_record_have_their_path() {
    let nested = r#"{"TotalCount":1,"FieldHubDetail":[{"ID":"7","Report":{"ID":"9","Lat":"north","Speed":{}}}]}"#;
    let one = r#"{"TotalCount":1,"FieldHubDetail":{"ID":"7","Report":"none"}}"#;
    let flat = "<I><TotalCount>1</TotalCount><FieldHubDetail><ID>7</ID><Lat>north</Lat></FieldHubDetail></I>";
    for (body, paths) in [
        (nested, vec!["FieldHubDetail[0].Report.Lat", "FieldHubDetail[0].Report.Speed"]),
        (one, vec!["FieldHubDetail[0].Report"]),
        (flat, vec!["FieldHubDetail[0].Lat"]),
    ] {
        let (client, mut pages) = pages(body, "field_hubs.reports", OnError::Null);
        let record = pages.first().await.unwrap().unwrap();
        assert_eq!(record.get("id").and_then(Value::as_text), Some("7"));
        let warnings = client.take_warnings().join("\n");
        for path in paths {
            assert!(warnings.contains(&format!("`ServiceIndex.{path}`")), "{path}: {warnings}");
        }
    }
}

/// The fields that select and identify records are never guessed.
#[tokio::test(start_paused = true)]
async fn envelopes_and_damaged_replies_stay_errors() {
    for body in [
        r#"{"TotalCount":"many","JobData":[{"ID":"1"}]}"#,
        r#"{"TotalCount":1,"IsNextPage":"perhaps","JobData":[{"ID":"1"}]}"#,
        r#"{"TotalCount":1,"JobData":[7]}"#,
        r#"{"TotalCount":1,"JobData":[{"ID":"1","CreateDate":"soon""#,
        r#"{"TotalCount":1,"Jobs":[{"ID":"1","CreateDate":"soon"}]}"#,
        "<I><TotalCount>many</TotalCount><JobData><ID>1</ID></JobData></I>",
        "<I><TotalCount>1</TotalCount><JobData><ID>1</ID><CreateDate>soon</CreateDate>",
    ] {
        let (client, mut pages) = pages(body, "job_data.list", OnError::Null);
        assert_eq!(pages.next_page().await.unwrap_err().kind(), Kind::Decode, "{body}");
        assert!(client.take_warnings().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn warning_names_the_first_of_many_values() {
    let items: Vec<String> = (0..40).map(|id| format!(r#"{{"ID":"{id}","CreateDate":"soon"}}"#)).collect();
    let body: &'static str = format!(r#"{{"TotalCount":40,"JobData":[{}]}}"#, items.join(",")).leak();
    let (client, mut pages) = pages(body, "job_data.list", OnError::Null);
    assert_eq!(pages.next_page().await.unwrap().unwrap().len(), 40);
    let warnings = client.take_warnings();
    assert!(warnings[0].contains("JobData[9].CreateDate") && warnings[0].ends_with("and 30 more on this page"));
}
