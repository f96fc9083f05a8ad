//! Measures the core: signing a request, decoding a page, inflating archives and reading them.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    reason = "a bench stops where its own set-up fails"
)]

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::Instant;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use headland::api::{Returns, row};
use headland::archive::{self, LayerFiles, ReadOptions, Source};
use headland::layer;
use headland::sandbox::fields::{HarvestStyle, generate_account};
use headland::signing::{SigningInput, SigningKey};
use headland::wire::{Content, decode_index};

/// The allocator of the extension, so that the times are those of its users.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn signing(criterion: &mut Criterion) {
    let key = SigningKey::from_base64("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=").unwrap();
    let request = SigningInput {
        method: "GET",
        host: "host.example.com",
        path: "/jobdata/11",
        timestamp: 1_234_567_890,
        api_key: "ApiKeyAbC123",
        access_key: "AccessKeyXyZ789",
    };
    criterion.bench_function("sign", |bencher| bencher.iter(|| black_box(request).signature(&key)));
}

fn page(criterion: &mut Criterion) {
    let Returns::Index(index) = row("job_data.list").unwrap().returns else { panic!("a list") };
    let item = |id: u32| {
        format!(
            r#"{{"ID":{id},"Name":"Job {id}","Uri":"https://host.example.com/jobdata/{id}","SubType":"Yield","CreateDate":"2026-09-01T12:00:00.000Z","UpdateDate":"2026-09-01T12:30:00.000Z"}}"#
        )
    };
    let items: Vec<String> = (0..1_000).map(item).collect();
    let body = format!(r#"{{"TotalCount":1000,"IsNextPage":false,"JobData":[{}]}}"#, items.join(","));
    let mut group = criterion.benchmark_group("decode");
    group.throughput(Throughput::Bytes(body.len() as u64));
    group.bench_function("page of 1,000 jobs", |bencher| {
        bencher.iter(|| decode_index(Content::Json, black_box(body.as_bytes()), index).unwrap());
    });
    group.finish();
}

/// Name of the zip in `HEADLAND_ARCHIVE`.
const GIVEN_ARCHIVE: &str = "the archive";

/// Target: largest ratio of the CPU times of reading that zip and of inflating it.
const LARGEST_RATIO: f64 = 1.7;

/// The archives: a job of points and one of polygons, and the zip that `HEADLAND_ARCHIVE` names.
fn sources() -> Vec<(String, Source)> {
    let account = generate_account(0, HarvestStyle::Ideal);
    let mut sources = Vec::new();
    for (name, wanted) in [("points", "Yield"), ("polygons", "Sprayer")] {
        let job = account.jobs.iter().find(|job| job.sub_type == wanted && job.truth().is_ok()).unwrap();
        let archive = Bytes::from(job.shapefile_zip().unwrap());
        sources.push((format!("{} {name}", job.truth().unwrap().rows), Source::Bytes(archive)));
    }
    if let Some(path) = std::env::var_os("HEADLAND_ARCHIVE") {
        sources.push((GIVEN_ARCHIVE.to_owned(), Source::Bytes(Bytes::from(std::fs::read(path).unwrap()))));
    }
    sources
}

/// Inflates the members that reading needs, with checksums, and discards the bytes.
fn inflate(source: &Source) {
    let (sets, _) = archive::layer_files(source, &ReadOptions::default()).unwrap();
    let set = LayerFiles::choose(sets, None, source).unwrap();
    for member in [&set.shp, &set.shx, &set.dbf].into_iter().flatten() {
        let mut window = member.open(256 * 1024).unwrap();
        loop {
            let count = black_box(window.fill(1).unwrap()).len();
            if count == 0 {
                break;
            }
            window.consume(count);
        }
        window.finish().unwrap();
    }
}

fn read(source: &Source) {
    let options = ReadOptions { threads: Some(1), ..ReadOptions::default() };
    black_box(layer::read(source, &options).unwrap());
}

fn archives(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("archive");
    for (name, source) in sources() {
        group.bench_function(format!("inflate {name}"), |bencher| bencher.iter(|| inflate(&source)));
        group.bench_function(format!("read {name}"), |bencher| bencher.iter(|| read(&source)));
    }
    group.finish();
    for (name, source) in sources() {
        let ratio = ratio(&source);
        println!("archive: reading {name} takes {ratio:.2} times the CPU time of inflating alone");
        if name == GIVEN_ARCHIVE && ratio > LARGEST_RATIO {
            println!("MISS  it may take at most {LARGEST_RATIO} times");
            std::process::exit(1);
        }
    }
}

/// Ratio of the times of reading and inflating: the median of rounds that alternate both.
fn ratio(source: &Source) -> f64 {
    let round = |work: fn(&Source)| {
        let start = cpu_time();
        let mut times = 0_u32;
        while times == 0 || cpu_time() - start < 0.05 {
            work(source);
            times += 1;
        }
        (cpu_time() - start) / f64::from(times)
    };
    let mut ratios: Vec<f64> = (0..15).map(|_| round(read) / round(inflate)).collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

/// CPU time of this thread in seconds, as Linux reports it; on other systems the elapsed time.
fn cpu_time() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = stat.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| START.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

criterion_group!(benches, signing, page, archives);
criterion_main!(benches);
