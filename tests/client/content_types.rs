//! Tests both content types in the client (specification 4.5): the requested, the accepted and the rejected types.

use std::io::Write;

use bytes::Bytes;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use flate2::{Compress, Compression, FlushCompress};
use headland::client::{Config, Delivered, Target};
use headland::error::Kind;
use headland::transport::LARGEST_RECORD;
use headland::wire::{Content, Value};

use crate::support::*;

const JSON: &str = r#"{"AccessKey":"k","ID":"1","IsActive":true}"#;
const XML: &str = "<?xml version=\"1.0\"?><AccessKeyDetail xmlns=\"http://schemas.example/AccessKeyDetail/2010\">\
                   <AccessKey>k</AccessKey><ID>1</ID><IsActive>true</IsActive></AccessKeyDetail>";

fn accepting(accept: Content) -> Config {
    Config { accept, ..config() }
}

async fn access_key(client: &headland::client::Client) -> headland::error::Result<Value> {
    client.detail(row("access_key"), &arguments("access_key", &[])).await
}

fn compressed(encoding: &str, bytes: &[u8]) -> Vec<u8> {
    fn fill<W: Write>(mut encoder: W, bytes: &[u8]) -> W {
        encoder.write_all(bytes).unwrap();
        encoder
    }
    let level = Compression::default();
    match encoding {
        "gzip" => fill(GzEncoder::new(Vec::new(), level), bytes).finish().unwrap(),
        "deflate, plain" => fill(DeflateEncoder::new(Vec::new(), level), bytes).finish().unwrap(),
        _ => fill(ZlibEncoder::new(Vec::new(), level), bytes).finish().unwrap(),
    }
}

/// 256 MiB of blanks that are never in memory as a whole: one compressed MiB that can be repeated.
fn bomb(encoding: &str) -> Bytes {
    let mut block = Vec::with_capacity(64 * 1024);
    let mut packer = Compress::new(Compression::default(), false);
    packer.compress_vec(&vec![b' '; 1024 * 1024], &mut block, FlushCompress::Full).unwrap();
    let head: &[u8] = match encoding {
        "gzip" => &[0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3],
        "deflate, plain" => &[],
        _ => &[0x78, 0x9C],
    };
    Bytes::from([head, &block.repeat(256)].concat())
}

#[tokio::test(start_paused = true)]
async fn received_type_is_decoded_regardless_of_the_requested_one() {
    for (accept, media_type) in [(Content::Json, "application/json"), (Content::Xml, "text/xml")] {
        for (body, declared) in
            [(JSON, "text/xml"), (XML, "application/json"), (JSON, "text/html"), (XML, "text/plain")]
        {
            let script = Script::new(move |_, _| Ok(ok(body).with("content-type", declared)));
            let client = client_of(accepting(accept), &script);
            let key = access_key(&client).await.unwrap();
            assert_eq!(key.get("is_active"), Some(&Value::Boolean(true)));
            assert_eq!(script.request(0).headers["accept"], media_type);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn other_content_type_is_an_error_that_names_it() {
    for (body, declared, words) in [
        ("<!DOCTYPE html><html><body>Sign in</body></html>", "text/html", "a web page"),
        ("<?xml version=\"1.0\"?><html xmlns=\"http://www.w3.org/1999/xhtml\"/>", "text/xml", "a web page"),
        ("<AccessKeyDetail><ID>1</ID></AccessKeyDetail>", "text/html", "text/html"),
        ("", "text/xml", "an empty reply"),
        ("[1]", "application/json", "application/json: `[1]`"),
        ("OK", "text/plain", "text/plain: `OK`"),
    ] {
        let script = Script::new(move |_, _| Ok(ok(body).with("content-type", declared)));
        let error = access_key(&client_of(accepting(Content::Xml), &script)).await.unwrap_err();
        assert_eq!((error.kind(), error.facts().status), (Kind::Decode, Some(200)));
        assert!(error.message().contains("expected text/xml") && error.message().contains(words), "{error}");
        assert_eq!(error.facts().endpoint, Some("access_key"));
    }
}

#[tokio::test(start_paused = true)]
async fn both_codings_of_both_content_types_are_decoded() {
    for body in [JSON, XML] {
        for encoding in ["gzip", "deflate", "deflate, plain"] {
            for size in [1, 7, 10_000] {
                let script = Script::new(move |_, _| {
                    let mut canned = ok("").with("content-encoding", encoding.split(',').next().unwrap());
                    let bytes = compressed(encoding, body.as_bytes());
                    canned.chunks = bytes.chunks(size).map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
                    Ok(canned)
                });
                let key = access_key(&client(&script)).await.unwrap();
                assert_eq!(key.get("access_key").and_then(Value::as_text), Some("k"), "{encoding} by {size}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn endless_reply_is_an_error_at_the_limit() {
    for (open, more) in [("{\"ID\": \"", "a"), ("<D><ID>", "a")] {
        let script = Script::new(move |_, _| {
            let piece = Bytes::from(more.repeat(1024 * 1024));
            let mut canned = ok(open);
            canned.chunks.extend((0..=LARGEST_RECORD / piece.len()).map(|_| Ok(piece.clone())));
            // The rest never arrives: the client must have stopped by then.
            canned.hangs = true;
            Ok(canned)
        });
        let error = access_key(&client(&script)).await.unwrap_err();
        assert_eq!((error.kind(), script.count()), (Kind::Decode, 1));
        assert!(error.message().contains(&LARGEST_RECORD.to_string()), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn compression_bomb_is_an_error_before_it_is_inflated() {
    for encoding in ["gzip", "deflate", "deflate, plain"] {
        let bytes = bomb(encoding);
        assert!(bytes.len() < 4 * 1024 * 1024, "{}", bytes.len());
        let script = Script::new(move |_, _| {
            let mut canned = ok("").with("content-encoding", encoding.split(',').next().unwrap());
            canned.chunks = vec![Ok(bytes.clone())];
            Ok(canned)
        });
        let before = peak();
        let error = access_key(&client(&script)).await.unwrap_err();
        assert_eq!((error.kind(), script.count()), (Kind::Decode, 1));
        if let (Some(before), Some(after)) = (before, peak()) {
            assert!(after < before + 128 * 1024, "{encoding}: from {before} to {after} KiB");
        }
    }
}

/// Peak memory of this process in KiB, where the system reports it.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().trim_end_matches(" kB").parse().ok()
}

#[tokio::test(start_paused = true)]
async fn damage_is_an_error_with_its_path_and_never_data() {
    let job = "<JobDataDetail><ID>31</ID><Products><Product><AppliedArea>1</AppliedArea></Product>\
               <Product><AppliedArea>wide</AppliedArea></Product></Products></JobDataDetail>";
    let script = Script::new(move |_, _| Ok(ok(job)));
    let client = client_of(accepting(Content::Xml), &script);
    let error = client.detail(row("job_data.get"), &arguments("job_data.get", &[("id", "31")])).await.unwrap_err();
    assert_eq!(error.facts().field.as_deref(), Some("JobDataDetail.Products[1].AppliedArea"));
    for cut in [JSON, XML] {
        let script = Script::new(move |_, _| Ok(ok(&cut.as_bytes()[..cut.len() - 3])));
        let error = access_key(&client_of(accepting(Content::Xml), &script)).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Decode, "{cut}");
    }
}

#[tokio::test(start_paused = true)]
async fn xml_status_instead_of_a_file_is_understood() {
    const WORD: &str = "<SlingshotResponse xmlns=\"x\"><status>MORE_TIME_NEEDED</status><errorInfo>00:00:30</errorInfo>\
                        <result>nil</result></SlingshotResponse>";
    let file = zip_of(b"points");
    let whole = file.clone();
    let script = Script::new(move |number, _| Ok(if number == 0 { ok(WORD) } else { ok(file.clone()) }));
    let client = client_of(accepting(Content::Xml), &script);
    let start = tokio::time::Instant::now();
    let given = arguments("job_data.download", &[("id", "1")]);
    let delivered = client.download(row("job_data.download"), &given, Target::Memory, None).await.unwrap();
    assert_eq!((delivered, seconds(start)), (Delivered::Bytes(whole), 30.0));
    let refused = Script::new(|_, _| {
        Ok(canned(
            404,
            "<s:ServiceResponse xmlns:s='x'><s:status>INVALID_REQUEST</s:status><s:errorInfo>No job.</s:errorInfo></s:ServiceResponse>",
        ))
    });
    let error = access_key(&client_of(accepting(Content::Xml), &refused)).await.unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound);
    assert!(error.message().contains("No job."), "{error}");
}
