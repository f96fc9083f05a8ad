//! Measures the memory of long operations. A list needs the ids of its records and a few pages. A publication needs a few
//! row groups and an entry for each archive. An upload to the local service needs a few chunks.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test says what it expects by unwrapping")]

#[path = "client_config/mod.rs"]
mod client_config;

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use client_config::config_of;
use futures_util::stream;
use headland::agronomy::{Job, JobKind, MarketMoisture};
use headland::api;
use headland::client::{Arguments, Client, Pages};
use headland::clock::SystemClock;
use headland::layer::Cancel;
use headland::mirror::dataset::{Publication, Sizes, SourceArchive, publish_in};
use headland::mirror::{Folder, ItemKind};
use headland::sandbox::fields::{Coverage, HarvestStyle, generate_account};
use headland::sandbox::{Options, Sandbox};
use headland::signing::{SigningInput, SigningKey};
use headland::transport::{BodyStream, Reply, Request, SendFuture, Transport};

/// The system allocator with a counter of the bytes in use and their peak.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const PAGE: usize = 1_000;

/// Serves locations, newest first, whose ids are numbers or texts.
struct Locations {
    count: usize,
    /// Prefix of the number in an id.
    front: &'static str,
}

impl Transport for Locations {
    fn send(&self, request: Request) -> SendFuture<'_> {
        let page: usize = request.url.rsplit("page=").next().unwrap().parse().unwrap();
        let mut body = format!(
            r#"{{"TotalCount":{},"PageSize":{PAGE},"IsNextPage":{},"PageIndex":{page},"DeviceLocation":["#,
            self.count,
            (page + 1) * PAGE < self.count
        );
        for number in page * PAGE..self.count.min((page + 1) * PAGE) {
            let comma = if number > page * PAGE { "," } else { "" };
            let id = 9_000_000_000_000 - 64 * number;
            write!(
                body,
                r#"{comma}{{"ID":"{}{id}","DeviceId":"8140","SubType":"Field Hub","Lat":41.51,"Lon":-93.25,"Alt":250,"Speed":7,"Direction":90,"Valid":true,"GPSDateTime":"2026-09-01T12:00:00Z"}}"#,
                self.front
            )
            .unwrap();
        }
        body.push_str("]}");
        let body: BodyStream = Box::pin(stream::iter([Ok(Bytes::from(body))]));
        Box::pin(async { Ok(Reply { status: 200, headers: http::HeaderMap::new(), body }) })
    }
}

fn pages(count: usize, front: &'static str) -> Pages {
    let secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let config = config_of("https://api.example.com", ["key", secret, "customer"]);
    let client = Client::with_parts(config, Arc::new(Locations { count, front }), Arc::new(SystemClock)).unwrap();
    let row = api::row("field_hubs.locations").unwrap();
    let arguments = Arguments::new(row, &[("id", "1".to_owned())]).unwrap();
    client.pages(row, arguments, Some(u32::try_from(PAGE).unwrap()), None).unwrap()
}

/// Peak memory in bytes while `count` records are read and dropped, beyond that of reading ten pages.
fn growth(count: usize, front: &'static str, as_columns: bool) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut pages = pages(count, front);
        let (mut given, mut start) = (0, 0);
        for number in 0_usize.. {
            if number == 10 {
                start = NOW.load(Ordering::Relaxed);
                MOST.store(start, Ordering::Relaxed);
            }
            let records = if as_columns {
                pages.next_batch().await.unwrap().map(|batch| batch.num_rows())
            } else {
                pages.next_page().await.unwrap().map(|page| page.len())
            };
            let Some(records) = records else { break };
            given += records;
        }
        assert_eq!(given, count, "each record once");
        MOST.load(Ordering::Relaxed) - start
    })
}

/// Peak memory in bytes while this archive is published `jobs` times, beyond the memory before.
fn publishing(archive: &Path, jobs: u32) -> usize {
    let home = tempfile::tempdir().unwrap();
    let folder = Folder::open(&home.path().join("farm"), true).unwrap();
    let origin = |number: u32| SourceArchive {
        kind: ItemKind::Job,
        job_id: number.to_string(),
        sha256: "0".repeat(64),
        archive: archive.to_owned(),
        job_type: "Yield".to_owned(),
        start: None,
        created: None,
        display: None,
        name: String::new(),
        field: None,
        job: Job { kind: Some(JobKind::Yield), ..Job::default() },
        market_moisture: MarketMoisture::default(),
    };
    let wanted: Vec<SourceArchive> = (0..jobs).map(origin).collect();
    let sizes = Sizes { bytes: 1 << 20, ..Sizes::default() };
    let start = NOW.load(Ordering::Relaxed);
    MOST.store(start, Ordering::Relaxed);
    let published = publish_in(&folder, &wanted, &[], sizes, &Cancel::default()).unwrap();
    let Publication::Published(published) = published else { panic!("{published:?}") };
    assert!(published.rejected.is_empty() && published.rows > u64::from(jobs) * 1_000, "{published:?}");
    MOST.load(Ordering::Relaxed) - start
}

/// Whether the long series runs.
fn is_long() -> bool {
    std::env::var_os("HEADLAND_SERIES").is_some()
}

/// Four times as many archives need the memory of one row group more, and the entry of each archive.
fn assert_a_publication_is_bounded() {
    let account = generate_account(7, HarvestStyle::Ideal);
    let recorded = account.jobs.iter().filter(|job| job.coverage == Coverage::Recorded);
    let job = recorded.min_by_key(|job| job.truth().unwrap().rows).unwrap();
    let home = tempfile::tempdir().unwrap();
    let archive = home.path().join("job.zip");
    std::fs::write(&archive, job.shapefile_zip().unwrap()).unwrap();
    let count = if is_long() { 60 } else { 40 };
    let (few, many) = (publishing(&archive, count), publishing(&archive, 4 * count));
    println!("{count} archives: {few} bytes, four times as many: {many}");
    let entries = usize::try_from(3 * count).unwrap() * 4_000;
    assert!(many < few + few / 4 + entries, "{few} bytes for {count} archives, {many} for four times as many");
}

/// Peak memory in bytes while a zip of this size is uploaded to the sandbox and downloaded again.
fn uploading(megabytes: usize) -> usize {
    let sandbox = Sandbox::start(Options { rate_limits: Vec::new(), ..Options::default() }).unwrap();
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a.zip");
    let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
    let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    zip.start_file("a.bin", stored).unwrap();
    let piece = vec![7; 1 << 20];
    (0..megabytes).for_each(|_| zip.write_all(&piece).unwrap());
    let length = zip.finish().unwrap().metadata().unwrap().len();
    drop(piece);

    let head = "--XX\r\nContent-Disposition: form-data; name=\"FileName\"; filename=\"a.jdp.zip\"\r\n\r\n";
    let tail = "\r\n--XX--\r\n";
    let total = length + u64::try_from(head.len() + tail.len()).unwrap();
    let more = format!("Content-Type: multipart/form-data; boundary=XX\r\nContent-Length: {total}\r\n");
    let start = NOW.load(Ordering::Relaxed);
    MOST.store(start, Ordering::Relaxed);
    let mut stream = signed_connection(&sandbox, "POST", "/jobdata", &more);
    stream.write_all(head.as_bytes()).unwrap();
    std::io::copy(&mut File::open(&path).unwrap(), &mut stream).unwrap();
    stream.write_all(tail.as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 201 "), "{reply}");
    let address = reply.rsplit(&sandbox.base_url()).next().unwrap().trim().to_owned();
    let mut stream = signed_connection(&sandbox, "GET", &format!("{address}?format=BIN"), "");
    let downloaded = std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
    assert!(downloaded > length, "{downloaded} bytes with the header of {length}");
    MOST.load(Ordering::Relaxed) - start
}

/// A connection on which the header of a signed request was sent.
fn signed_connection(sandbox: &Sandbox, method: &str, target: &str, more: &str) -> TcpStream {
    let base = sandbox.base_url();
    let host = base.strip_prefix("http://").unwrap();
    let (keys, timestamp) = (sandbox.keys(), sandbox.now().timestamp());
    let path = target.split('?').next().unwrap();
    let signed = SigningInput { method, host, path, timestamp, api_key: &keys.api_key, access_key: &keys.access_key };
    let signature = signed.signature(&SigningKey::from_base64(&keys.shared_secret).unwrap());
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!(
        "{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nX-SS-APIKey: {}\r\nX-SS-AccessKey: {}\r\n\
         X-SS-TimeStamp: {timestamp}\r\nX-SS-Signature: {signature}\r\nAccept: application/json\r\n{more}\r\n",
        keys.api_key, keys.access_key
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

/// One test, since the process is measured. Memory stays constant but for the ids while a million records are listed,
/// hundreds of archives are published, and an upload is received.
#[test]
fn memory_of_lists_and_publications_grows_only_with_the_entry_of_each_record() {
    const MB: usize = 1_000_000;
    // Pages that were prefetched but not read yet.
    const AHEAD: usize = 5 * MB;
    assert_a_publication_is_bounded();
    let uploading = uploading(48);
    println!("an upload of 48 MiB: {uploading} bytes");
    assert!(uploading < 8 * MB, "{uploading} bytes for an upload of 48 MiB");
    let (count, numbers, others) = if is_long() { (1_000_000, 64 * MB, 64 * MB) } else { (30_000, 3 * MB, 4 * MB) };
    for as_columns in [false, true] {
        for (front, most) in [("", numbers), ("6c1b2f9e-0d53-4a7e-", others)] {
            let growth = growth(count, front, as_columns);
            println!("{count} ids such as `{front}1`, columns: {as_columns}: {growth} bytes");
            assert!(growth <= most + AHEAD, "{growth} bytes for {count} records, ids such as `{front}1`");
        }
    }
}
