//! Tests zips whose directory is damaged or contradicts the headers of the members: the diagnostics, and the saved
//! members.

use headland::archive::{Limits, ReadOptions};
use headland::error::Kind;
use headland::layer;

use crate::builder;
use crate::support::{check, codes, column, read};

const NAMES: [&str; 4] = ["no.prj", "no.shx", "no.shp", "no.dbf"];

/// A shapefile of two points in a zip.
fn zipped() -> Vec<u8> {
    let (shp, shx) = builder::shp(1, &[builder::point(10.0, 50.0), builder::point(11.0, 50.0)]);
    let dbf = builder::dbf(&[("LOAD", b'N', 2, 0)], &[b"  1", b"  2"], 0);
    let bodies: [&[u8]; 4] = [builder::WGS_84.as_bytes(), &shx, &shp, &dbf];
    builder::zip(&NAMES.into_iter().zip(bodies).collect::<Vec<_>>())
}

/// Offsets of the entries of the directory.
fn entries(zip: &[u8]) -> Vec<usize> {
    (0..zip.len()).filter(|at| zip[*at..].starts_with(b"PK\x01\x02")).collect()
}

#[test]
fn flipped_bit_in_a_directory_name_never_loses_data_silently() {
    let whole = zipped();
    assert_eq!(read(&whole, true).unwrap().len(), 2);
    for (entry, name) in entries(&whole).into_iter().zip(NAMES) {
        for (place, bit) in (0..name.len()).flat_map(|place| (0..8).map(move |bit| (place, bit))) {
            let mut damaged = whole.clone();
            damaged[entry + 46 + place] ^= 1 << bit;
            let error = read(&damaged, true).unwrap_err();
            let opened = layer::Stream::open(
                &builder::source(damaged.clone()),
                &ReadOptions::default(),
                &layer::TypePolicy::Header,
                10,
            )
            .and_then(|mut stream| stream.next_batch());
            assert_eq!(opened.unwrap_err().to_string(), error.to_string(), "{name} {place} {bit}");
            assert_eq!(error.kind(), Kind::Archive, "{name} {place} {bit}");
            let listed = &damaged[entry + 46..entry + 46 + name.len()];
            let message = error.to_string();
            // `no.shp` differs in one bit from `no.shx`, which is then listed twice.
            let is_there_twice = NAMES.iter().any(|other| other.as_bytes() == listed);
            if is_there_twice && message.contains("two members have this name and differ: the archive is ambiguous") {
                continue;
            }
            assert!(message.contains(&format!("`{name}`")), "{name} {place} {bit}: {message}");
            if let Ok(listed) = std::str::from_utf8(listed) {
                assert!(message.contains(listed), "{name} as {listed:?}: {message}");
            }
        }
    }
}

#[test]
fn second_name_of_a_member_outside_all_layers_is_reported() {
    let (shp, shx) = builder::shp(1, &[builder::point(10.0, 50.0)]);
    for (name, is_reported) in [("read me.txt", true), ("__MACOSX/._t.prj", false)] {
        let whole = builder::zip(&[("t.shp", &shp), ("t.shx", &shx), (name, b"text")]);
        let mut damaged = whole.clone();
        damaged[entries(&whole)[2] + 46 + name.len() - 5] ^= 1;
        let layer = read(&damaged, true).unwrap();
        assert_eq!((layer.len(), codes(&layer).contains(&"unreadable-member")), (1, is_reported), "{name}");
    }
}

#[test]
fn contradictory_zip_saves_the_members_that_directory_and_headers_agree_on() {
    let mut damaged = zipped();
    let dbf = entries(&damaged)[3] + 46 + "no.db".len();
    damaged[dbf] ^= 1;
    let layer = read(&damaged, false).unwrap();
    assert_eq!((layer.len(), layer.geometry_column()), (2, Some("geometry")));
    assert_eq!(codes(&layer), ["no-dbf", "unreadable-member"]);
}

#[test]
fn skipped_name_without_a_stem_is_named_if_the_layer_may_need_it() {
    let mut damaged = zipped();
    for at in (0..damaged.len()).filter(|at| damaged[*at..].starts_with(b"no.dbf")).collect::<Vec<_>>() {
        damaged[at..at + 6].copy_from_slice(b"//.dbf");
    }
    let error = read(&damaged, true).unwrap_err();
    assert_eq!(error.facts().member.as_deref(), Some("//.dbf"), "{error}");
    assert!(
        error.message().contains("layer `no` needs a member that was rejected: its name is an absolute path"),
        "{error}"
    );
    assert!(codes(&read(&damaged, false).unwrap()).contains(&"no-dbf"));
}

/// The zip with a change at its end.
fn damaged(whole: &[u8], harm: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let mut damaged = whole.to_vec();
    harm(&mut damaged);
    damaged
}

#[test]
fn complete_members_are_saved_if_any_byte_of_the_directory_is_missing() {
    let whole = zipped();
    let all = read(&whole, true).unwrap();
    let (start, end) = (entries(&whole)[0], whole.len() - 22);
    for at in start..end {
        let damaged = damaged(&whole, |zip| {
            zip.remove(at);
        });
        let what = format!("without byte {at}");
        check(&what, &damaged, true, Err("`strict=False` finds the members by their local headers"));
        let saved = check(&what, &damaged, false, Ok((2, &["directory-damaged"]))).unwrap();
        assert_eq!(saved.batches(), all.batches(), "{at}");
        let note = &saved.diagnostics()[0];
        assert!(note.message.contains("4 members were found by their local headers"), "{}", note.message);
    }
}

#[test]
fn complete_members_are_saved_if_an_entry_or_the_end_record_is_wrong() {
    let whole = zipped();
    let all = read(&whole, true).unwrap();
    let (second, end) = (entries(&whole)[1], whole.len() - 22);
    let table: [(Vec<u8>, &str); 4] = [
        (damaged(&whole, |zip| zip[second] = 0), "does not begin with its signature"),
        (damaged(&whole, |zip| zip[end + 10] = 5), "declares 5 members, but its central directory has 4"),
        (damaged(&whole, |zip| zip[end + 10] = 2), "declares 2 members, but its central directory has 4"),
        (damaged(&whole, |zip| zip[end + 12] += 1), "its central directory is not at the offset in its end record"),
    ];
    for (damaged, words) in table {
        check(words, &damaged, true, Err(words));
        let saved = check(words, &damaged, false, Ok((2, &["directory-damaged"]))).unwrap();
        assert_eq!(saved.batches(), all.batches(), "{words}");
        assert!(saved.diagnostics()[0].message.contains(words), "{}", saved.diagnostics()[0].message);
    }
}

#[test]
fn damaged_directory_lifts_no_limit() {
    let whole = zipped();
    let end = whole.len() - 22;
    let miscounted = damaged(&whole, |zip| zip[end + 10] = 5);
    for (limits, words) in [
        (Limits { members: 3, ..Limits::default() }, "raise Limits(members=...)"),
        (Limits { name: 5, ..Limits::default() }, "raise Limits(name=...)"),
    ] {
        let options = ReadOptions { strict: false, limits, ..ReadOptions::default() };
        let error = layer::read(&builder::source(miscounted.clone()), &options).unwrap_err();
        assert!(error.message().contains(words), "{error}");
    }
}

#[test]
fn joined_archives_are_an_error_with_the_offset_and_members_of_the_first_are_saved() {
    let front = builder::zip(&[("a.dbf", &builder::dbf(&[("LOAD", b'N', 2, 0)], &[b"  7"], 0))]);
    let last = zipped();
    for (gap, before) in [(&b""[..], front.clone()), (b"xx", front.clone()), (b"", [&front[..], &front[..]].concat())] {
        let before = [&before[..], gap].concat();
        let joined = [&before[..], &last[..]].concat();
        let words = format!("its end record belongs to an archive that starts at byte {}", before.len());
        check("joined", &joined, true, Err(&words));
        let saved = check("joined", &joined, false, Ok((1, &["directory-damaged", "no-shp"]))).unwrap();
        assert_eq!(column(&saved, "LOAD"), ["7"]);
        assert!(saved.diagnostics()[0].message.contains(&words), "{}", saved.diagnostics()[0].message);
    }
}
