//! Tests that each kind of source, choice of columns and number of threads gives the same result, on generated sets and
//! the corpus.

use std::path::Path;

use arrow_array::RecordBatch;
use headland::archive::{ReadOptions, Source};
use headland::layer::{self, Layer};
use proptest::prelude::*;

use crate::series::cases;
use crate::{builder, corpus};

type Members = Vec<(String, Vec<u8>)>;

/// The same members as every kind of source, with its name; files are written to `folder`.
fn forms(members: &Members, folder: &Path) -> Vec<(&'static str, Source)> {
    let zipped = |method: zip::CompressionMethod, name: &dyn Fn(&str) -> String, more: &[(&str, &[u8])]| {
        let named: Vec<(String, &[u8])> = members.iter().map(|(member, bytes)| (name(member), &**bytes)).collect();
        let all = [builder::lend(&named), more.to_vec()].concat();
        builder::zip_with(&all, method)
    };
    let (deflated, stored) = (zip::CompressionMethod::Deflated, zip::CompressionMethod::Stored);
    let same = |name: &str| name.to_owned();
    let plain = zipped(deflated, &same, &[]);
    let files = folder.join("files");
    std::fs::create_dir_all(&files).unwrap();
    for (name, bytes) in members {
        std::fs::write(files.join(name), bytes).unwrap();
    }
    let zip_file = folder.join("set.zip");
    std::fs::write(&zip_file, &plain).unwrap();
    let main = members.iter().find(|(name, _)| name.to_lowercase().ends_with(".shp")).unwrap_or(&members[0]);
    let fork: (&str, &[u8]) = ("__MACOSX/a/._t.shp", b"rubbish");
    vec![
        ("bytes of a deflated zip", builder::source(plain.clone())),
        ("bytes of a stored zip", builder::source(zipped(stored, &same, &[]))),
        ("a zip in the file system", Source::Path(zip_file)),
        ("a folder", Source::Path(files.clone())),
        ("the path of one member", Source::Path(files.join(&main.0))),
        ("a zip with folders", builder::source(zipped(deflated, &|name| format!("a/b c/{name}"), &[fork]))),
        ("a zip with separators of Windows", builder::source(zipped(stored, &|name| format!("a\\{name}"), &[]))),
        ("a zip in a zip", builder::source(builder::zip(&[("inner.zip", &plain)]))),
    ]
}

/// Every way to read one source with one choice of columns, as one batch each.
fn readings<'a>(source: &'a Source, columns: Option<&'a [String]>) -> impl Iterator<Item = (&'static str, Layer)> + 'a {
    let ways = [("one thread", Some(1)), ("two threads", Some(2)), ("five threads", Some(5)), ("by default", None)];
    ways.into_iter().map(move |(way, threads)| {
        let options = ReadOptions { columns: columns.map(<[String]>::to_vec), threads, ..ReadOptions::default() };
        (way, layer::read(source, &options).unwrap())
    })
}

/// The diagnostics without the names of members, which depend on the source.
fn codes(layer: &Layer) -> Vec<(&'static str, Option<u64>)> {
    layer.diagnostics().iter().map(|note| (note.code.as_str(), note.record)).collect()
}

fn batch(layer: &Layer) -> &RecordBatch {
    assert_eq!(layer.batches().len(), 1);
    &layer.batches()[0]
}

/// The chosen columns of `whole` and the geometry, in the order of the file.
fn part(whole: &Layer, columns: &[String]) -> RecordBatch {
    let kept: Vec<usize> = (0..whole.schema().fields().len())
        .filter(|at| {
            let name = whole.schema().field(*at).name().clone();
            columns.contains(&name) || Some(&*name) == whole.geometry_column()
        })
        .collect();
    batch(whole).project(&kept).unwrap()
}

/// Every subset of few columns, or some that `chance` selects.
fn choices(names: &[String], mut chance: u64) -> Vec<Vec<String>> {
    let subset = |bits: u64| -> Vec<String> {
        names.iter().enumerate().filter(|(at, _)| bits >> (at % 64) & 1 == 1).map(|(_, name)| name.clone()).collect()
    };
    if names.len() <= 5 {
        return (0..1 << names.len()).map(subset).collect();
    }
    let mut next = || {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        chance >> 11 ^ chance << 17
    };
    (0..4).map(|_| subset(next())).chain([vec![names[names.len() - 1].clone()]]).collect()
}

/// Compares every source and every way of reading with the first; with `subsets`, every choice of columns too.
fn check(what: &str, members: &Members, chance: u64) {
    let folder = tempfile::tempdir().unwrap();
    let forms = forms(members, folder.path());
    let whole = layer::read(&forms[0].1, &ReadOptions::default()).unwrap();
    let names: Vec<String> = whole
        .schema()
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .filter(|name| Some(&**name) != whole.geometry_column())
        .collect();
    for (form, source) in &forms {
        for (way, layer) in readings(source, None) {
            assert_eq!(batch(&layer), batch(&whole), "{what}: {form}, {way}");
            assert_eq!(codes(&layer), codes(&whole), "{what}: {form}, {way}");
        }
    }
    for (number, columns) in choices(&names, chance).into_iter().enumerate() {
        // Each choice is read from the next source in turn.
        let (form, source) = &forms[number % forms.len()];
        for (way, layer) in readings(source, Some(&columns)).take(2) {
            assert_eq!(batch(&layer).columns(), part(&whole, &columns).columns(), "{what}: {form}, {way}, {columns:?}");
            assert_eq!(layer.len(), whole.len(), "{what}: {columns:?}");
        }
    }
}

/// The cells of a generated table with a column of each type, some of them invalid.
fn members(rows: &[(u8, i32, i32)], wide: bool) -> Members {
    let mut fields = vec![
        ("NAME", b'C', 6, 0),
        ("COUNT", b'N', 6, 0),
        ("RATE", b'N', 8, 3),
        ("DAY", b'D', 8, 0),
        ("OK", b'L', 1, 0),
    ];
    let names: Vec<String> = (0..60).map(|at| format!("W{at}")).collect();
    if wide {
        fields.extend(names.iter().map(|name| (&**name, b'N', 4, 1)));
    }
    let records: Vec<Vec<u8>> = rows
        .iter()
        .map(|(odd, x, y)| {
            let mark = if odd % 7 == 1 { '*' } else { ' ' };
            let name = ["abc", "  k", "\u{fc}", ""][usize::from(odd % 4)];
            let count = if odd % 11 == 3 { "1.5".to_owned() } else { (x % 1000).to_string() };
            let rate = if odd % 13 == 5 { "12ab".to_owned() } else { format!("{:.3}", f64::from(y % 1000) / 8.0) };
            let day = ["20260901", "20230229", "        ", "00000000"][usize::from(odd % 4)];
            let ok = ["T", "?", " ", "1"][usize::from(odd / 4 % 4)];
            let blanks = 6 - name.len();
            let mut record = format!("{mark}{name}{:blanks$}{count:>6}{rate:>8}{day}{ok}", "");
            if wide {
                record.extend((0..60).map(|at| format!("{:4}", (x % 90 + at) % 99)));
            }
            record.into_bytes()
        })
        .collect();
    let shapes: Vec<Vec<u8>> = rows
        .iter()
        .map(|(odd, x, y)| match odd % 5 {
            0 => 0_i32.to_le_bytes().to_vec(),
            open => {
                let ring = builder::square(f64::from(*x), f64::from(*y), 1.0);
                builder::parts(5, &[0], &ring[..if open == 1 { 4 } else { 5 }])
            }
        })
        .collect();
    let (shp, shx) = builder::shp(5, &shapes);
    [("t.shp", shp), ("t.shx", shx), ("t.dbf", builder::dbf(&fields, &records, 0)), ("t.prj", builder::UTM_12.into())]
        .map(|(name, bytes)| (name.to_owned(), bytes))
        .to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(12), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_sets_are_equal_from_every_source(
        rows in proptest::collection::vec((any::<u8>(), -9999..9999_i32, -9999..9999_i32), 0..40),
        wide in any::<bool>(),
        chance in any::<u64>(),
    ) {
        check("generated", &members(&rows, wide), chance);
    }
}

#[test]
fn set_larger_than_a_buffer_is_equal_from_every_source() {
    let rows: Vec<(u8, i32, i32)> =
        (0..9_000_i32).map(|row| (u8::try_from(row % 251).unwrap(), row * 37 % 9999, row * 91 % 9999)).collect();
    check("large", &members(&rows, true), 7);
}

#[test]
fn every_corpus_set_is_equal_from_every_source() {
    let Some(corpus) = corpus::folder() else { return };
    let mut checked = 0;
    for (number, set) in corpus::sets(&corpus).into_iter().enumerate() {
        let rows: u64 = set.layers.iter().filter_map(|layer| layer["row_count"].as_u64()).sum();
        // `corpus.rs` reads the zips of the corpus; the largest sets would take minutes without optimisation.
        if rows > 400 || set.file.to_lowercase().ends_with(".zip") {
            continue;
        }
        let stem = set.path.file_stem().unwrap().to_string_lossy().into_owned();
        let members: Members = std::fs::read_dir(set.path.parent().unwrap())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.file_stem().is_some_and(|other| other.to_string_lossy() == stem))
            .filter(|path| {
                let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
                ["shp", "shx", "dbf", "prj", "cpg"].contains(&&*ending)
            })
            .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
            .collect();
        if members.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() > 200_000 {
            continue;
        }
        check(&set.file, &members, number as u64 + 1);
        checked += 1;
    }
    println!("{checked} sets of the corpus are the same from everywhere");
    assert!(checked > 160, "{checked}");
}
