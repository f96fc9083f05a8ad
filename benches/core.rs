//! What the core spends where: signing a request, decoding a page, reading an archive of points and one of polygons.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "a bench stops where its own set-up fails")]

use std::hint::black_box;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use headland::api::{Returns, row};
use headland::archive::{Options, Source};
use headland::layer;
use headland::sandbox::fields::account;
use headland::signing::{Signed, SigningKey};
use headland::wire::{Content, decode_index};

fn signing(criterion: &mut Criterion) {
    let key = SigningKey::from_base64("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=").unwrap();
    let request = Signed {
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

fn archives(criterion: &mut Criterion) {
    let account = account(0);
    let mut group = criterion.benchmark_group("read");
    for (name, wanted) in [("points", "Yield"), ("polygons", "Sprayer")] {
        let job = account.jobs.iter().find(|job| job.sub_type == wanted && job.truth().is_ok()).unwrap();
        let truth = job.truth().unwrap();
        let archive = Bytes::from(job.shapefile_zip().unwrap());
        let options = Options { layer: Some(truth.layer.clone()), ..Options::default() };
        group.throughput(Throughput::Elements(truth.rows));
        group.bench_function(format!("{} {name}", truth.rows), |bencher| {
            bencher.iter(|| layer::read(&Source::Bytes(archive.clone()), &options).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, signing, page, archives);
criterion_main!(benches);
