//! Tests grain carts of every kind of service (specification 2.8 shows no shapes; 4.2): one record or none, a text as
//! file.

use headland::client::{Client, Delivered, Target};
use headland::error::{Kind, Result};
use headland::wire::Value;

use crate::support::*;

async fn get(client: &Client) -> Result<Value> {
    client.detail(row("grain_carts.get"), &arguments("grain_carts.get", &[("id", "31")])).await
}

async fn download(client: &Client) -> Result<Delivered> {
    let arguments = arguments("grain_carts.download", &[("id", "31")]);
    client.download(row("grain_carts.download"), &arguments, Target::Memory, None).await
}

#[tokio::test(start_paused = true)]
async fn detail_is_the_one_record_of_its_envelope_or_none() {
    for (body, id) in [
        (r#"{"TotalCount":1,"IsNextPage":false,"GrainCart":[{"ID":31,"Name":"a.grc"}]}"#, Some("31")),
        (r#"{"TotalCount":1,"GrainCart":{"ID":"31","Name":"a.grc"}}"#, Some("31")),
        (r#"{"ID":"31","Name":"a.grc"}"#, Some("31")),
        (r#"{"TotalCount":0,"IsNextPage":false,"GrainCart":[]}"#, None),
        (r#"{"TotalCount":0}"#, None),
    ] {
        let script = Script::new(move |_, _| Ok(ok(body)));
        let record = get(&client(&script)).await.unwrap();
        assert_eq!(record.get("id").and_then(Value::as_text), id, "{body}");
        assert_eq!(record == Value::Null, id.is_none(), "{body}");
        assert!(script.request(0).url.ends_with("/graincart/31"), "{}", script.request(0).url);
    }
    for body in ["{}", r#"{"Name":"a.grc"}"#, r#"{"GrainCart":"#, "<GrainCart/>"] {
        let script = Script::new(move |_, _| Ok(ok(body)));
        assert_eq!(get(&client(&script)).await.unwrap_err().kind(), Kind::Decode, "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn file_is_text_and_any_other_body_is_an_error() {
    let zipped = zip_of(b"loads");
    for body in
        [b"GrcVersion,1.6,\r\n".to_vec(), b"\xEF\xBB\xBFGrcVersion,1.6,".to_vec(), b",Pounds,\xFC".to_vec(), zipped]
    {
        let sent = body.clone();
        let script = Script::new(move |_, _| Ok(ok(sent.clone())));
        assert_eq!(download(&client(&script)).await.unwrap(), Delivered::Bytes(body));
        assert_eq!(query(&script.request(0), "format").as_deref(), Some("BIN"));
    }
    for (body, kind) in [
        ("<html>Please sign in</html>", Kind::Decode),
        (r#"{"TotalCount":1,"GrainCart":[]}"#, Kind::Decode),
        (r#"{"status":"INVALID_REQUEST","errorInfo":"no such file"}"#, Kind::InvalidRequest),
        ("GRC\0\0", Kind::Decode),
    ] {
        let script = Script::new(move |_, _| Ok(ok(body)));
        let error = download(&client(&script)).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{body}: {error}");
    }
    let given =
        headland::client::Arguments::new(row("grain_carts.download"), &[("id", "1".into()), ("format", "SHP".into())]);
    assert_eq!(given.unwrap_err().kind(), Kind::Value);
}
