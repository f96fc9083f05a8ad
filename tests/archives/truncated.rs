//! Tests truncated zips, as from an interrupted download: the message of the error, and the rows saved without
//! `strict`.

use headland::archive::{Limits, ReadOptions};
use headland::error::Kind;
use headland::layer::{self, Layer};
use headland::sandbox::fields::{Coverage, HarvestStyle, generate_account};
use zip::CompressionMethod::{Deflated, Stored};

use crate::support::{codes, column, read, texts};
use crate::{builder, mutator};

const ROWS: usize = 40;

/// The members, the .dbf last.
fn members() -> builder::Files {
    let place = |row: usize| (10.0 + f64::from(u8::try_from(row).unwrap()), 50.0);
    let points: Vec<Vec<u8>> = (0..ROWS).map(place).map(|(x, y)| builder::point(x, y)).collect();
    let rows: Vec<String> = (0..ROWS).map(|row| format!(" {row:4}row{row:<3}")).collect();
    let dbf = builder::dbf(&[("LOAD", b'N', 4, 0), ("NAME", b'C', 6, 0)], &rows, 0);
    let mut files = builder::files(builder::shp(1, &points), dbf);
    files.swap(0, 3);
    files.swap(2, 3);
    files
}

/// Members in a zip with sizes before their data, or, if streamed, after the data.
fn zipped(members: &[(&str, Vec<u8>)], method: zip::CompressionMethod, is_streamed: bool) -> Vec<u8> {
    let write = if is_streamed { builder::streamed } else { builder::zip_with };
    write(&builder::lend(members), method)
}

/// The rows as texts: geometry and cells, as far as the layer has them.
fn rows(layer: &Layer) -> Vec<(Option<String>, Vec<String>)> {
    let geometries = if layer.geometry_column().is_some() { texts(layer) } else { vec![None; layer.len()] };
    let schema = layer.schema();
    let names = schema.fields().iter().map(|field| field.name().as_str());
    let columns: Vec<Vec<String>> =
        names.filter(|name| Some(*name) != layer.geometry_column()).map(|name| column(layer, name)).collect();
    let cells = |row: usize| columns.iter().map(|column| column[row].clone()).collect();
    geometries.into_iter().enumerate().map(|(row, geometry)| (geometry, cells(row))).collect()
}

/// Offset of the content of a member: after the last of its headers.
fn data_offset(zip: &[u8], name: &str) -> usize {
    let is_header = |at: &usize| zip[*at..].starts_with(b"PK\x03\x04") && zip[at + 30..].starts_with(name.as_bytes());
    let at = (0..zip.len()).find(is_header).unwrap();
    at + 30 + name.len() + usize::from(u16::from_le_bytes([zip[at + 28], zip[at + 29]]))
}

#[test]
fn truncation_at_any_byte_is_reported_and_the_rows_before_it_are_saved() {
    let members = members();
    let kinds = [(Stored, false), (Deflated, false), (Deflated, true)];
    for (first, (method, is_streamed)) in (30..).zip(kinds) {
        let whole = zipped(&members, method, is_streamed);
        let all = rows(&read(&whole, true).unwrap());
        assert_eq!(all.len(), ROWS);
        let (shp, dbf) = (data_offset(&whole, "t.shp"), data_offset(&whole, "t.dbf"));
        let (mut saved, mut most) = (0, 0);
        for cut in (first..whole.len()).step_by(3) {
            let error = read(&whole[..cut], true).unwrap_err();
            assert_eq!(error.kind(), Kind::Archive);
            let expected = format!("it has {cut} bytes and no end record");
            assert!(error.message().contains(&expected), "{method:?} {is_streamed} cut at {cut}: {error}");
            let last = ["t.dbf", "t.shp", "t.shx", "t.prj"].into_iter().find(|name| cut >= data_offset(&whole, name));
            assert_eq!(error.facts().member.as_deref(), last, "{method:?} {is_streamed} cut at {cut}: {error}");
            let Ok(layer) = read(&whole[..cut], false) else {
                assert!(cut < shp + 200, "{method:?} {is_streamed} cut at {cut}: nothing is saved");
                continue;
            };
            saved += 1;
            let found = rows(&layer);
            assert!(codes(&layer).contains(&"cut-archive"), "{cut}: {:?}", layer.diagnostics());
            for (row, (found, real)) in found.iter().zip(&all).enumerate() {
                assert!(found.0.is_none() || found.0 == real.0, "{method:?} {is_streamed} cut at {cut}: row {row}");
                assert!(found.1.is_empty() || found.1 == real.1, "{method:?} {is_streamed} cut at {cut}: row {row}");
            }
            if cut >= dbf + 200 {
                assert!(found.len() >= most, "{cut}: rows that a shorter archive gave");
                most = found.len();
            }
        }
        assert!(saved > 70, "{saved} archives gave rows");
        assert_eq!(most, ROWS, "all rows are saved where only the end of the archive is missing");
    }
}

#[test]
fn layers_of_a_truncated_zip_are_the_readable_ones() {
    let mut two = members();
    two.push(("legend.dbf", builder::dbf(&[("CODE", b'N', 2, 0)], &[b"  7"], 0)));
    let whole = zipped(&two, Deflated, false);
    let source = builder::source(whole[..whole.len() - 30].to_vec());
    let layers = |strict| layer::layers(&source, &ReadOptions { strict, ..ReadOptions::default() });
    let error = layers(true).unwrap_err();
    assert!(error.kind() == Kind::Archive && error.message().contains("no end record"), "{error}");
    let names = layers(false).unwrap();
    assert_eq!(names, ["t", "legend"]);
    for (name, rows) in names.into_iter().zip([ROWS, 1]) {
        let options = ReadOptions { layer: Some(name), strict: false, ..ReadOptions::default() };
        assert_eq!(layer::read(&source, &options).unwrap().len(), rows);
    }
}

#[test]
fn rows_before_the_truncation_are_those_of_both_members_and_each_loss_is_reported() {
    let whole = zipped(&members(), Stored, false);
    let cut = data_offset(&whole, "t.dbf") + 97 + 11 * 7 + 5;
    let layer = read(&whole[..cut], false).unwrap();
    assert_eq!(layer.len(), 7);
    assert_eq!(codes(&layer), ["cut-archive", "cut-member", "dbf-damaged", "row-mismatch"]);
    let cut_member = layer.diagnostics().iter().find(|note| note.code.as_str() == "cut-member").unwrap();
    assert_eq!(cut_member.member.as_deref(), Some("t.dbf"));
    assert!(cut_member.message.contains("its first 179 bytes"), "{cut_member:?}");
    let error = read(&whole[..cut], true).unwrap_err();
    assert_eq!(error.facts().offset, Some(179));
    for word in ["number 4, `t.dbf`", "which has only 179 bytes of its contents", "strict=False"] {
        assert!(error.message().contains(word), "{error}");
    }
    // A truncated sidecar could state something else: `ISO-8859-15` becomes `ISO-8859-1`.
    let whole = zipped(&[members(), vec![("t.cpg", b"ISO-8859-15".to_vec())]].concat(), Deflated, true);
    let layer = read(&whole[..data_offset(&whole, "t.cpg") + 10], false).unwrap();
    assert_eq!(layer.len(), ROWS);
    assert!(codes(&layer).contains(&"unreadable-member") && codes(&layer).contains(&"sidecar-lost"));
}

#[test]
fn archive_inside_a_truncated_one_is_not_mistaken_for_it() {
    let inner = zipped(&members(), Deflated, false);
    let outer = [members(), vec![("inner.zip", inner), ("z.txt", vec![b'z'; 900])]].concat();
    let whole = zipped(&outer, Stored, false);
    for cut in [data_offset(&whole, "z.txt") - 35, data_offset(&whole, "z.txt") + 100] {
        let error = read(&whole[..cut], true).unwrap_err();
        assert!(error.message().contains("is truncated"), "{error}");
        assert_eq!(read(&whole[..cut], false).unwrap().len(), ROWS);
    }
    // An unreadable member does not affect the others.
    let inner = zipped(&members(), Deflated, false);
    let mut locked = zipped(&[("a.zip", inner.clone()), ("b.zip", inner)], Stored, false);
    for at in (0..locked.len() - 9)
        .filter(|at| locked[*at..].starts_with(b"PK") && locked[*at..].len() > 60)
        .collect::<Vec<_>>()
    {
        let (flags, name) = if locked[at + 2] == 1 { (8, 46) } else { (6, 30) };
        if locked[at + name..].starts_with(b"b.zip") {
            locked[at + flags] |= 1;
        }
    }
    assert!(read(&locked, true).unwrap_err().message().contains("encrypted"));
    let layer = read(&locked, false).unwrap();
    assert_eq!((layer.len(), codes(&layer).contains(&"unreadable-member")), (ROWS, true));
    // A truncated archive inside a truncated one.
    let whole = zipped(&[("inner.zip", zipped(&members(), Deflated, true))], Deflated, true);
    let layer = read(&whole[..whole.len() - 250], false).unwrap();
    assert!(!layer.is_empty() && codes(&layer).iter().filter(|code| **code == "cut-archive").count() == 2);
}

/// A zip without its directory, and with a few bytes of it.
fn without_directory(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut whole = zipped(members, Deflated, true);
    let at = whole.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    whole.truncate(at + 10);
    whole
}

#[test]
fn truncated_zip_obeys_all_other_rules() {
    let with = |name: &'static str, bytes: Vec<u8>| without_directory(&[members(), vec![(name, bytes)]].concat());
    let traversal = read(&with("../../evil.shp", b"rubbish".to_vec()), false).unwrap();
    assert_eq!((traversal.len(), codes(&traversal).contains(&"refused-name")), (ROWS, true));
    // Two members of one name that differ: neither is read.
    let mut twin = with("u.dbf", members()[3].1[..300].to_vec());
    let at = data_offset(&twin, "u.dbf") - 5;
    twin[at] = b't';
    let twins = read(&twin, false).unwrap();
    assert!(
        codes(&twins).contains(&"duplicate-member") && codes(&twins).contains(&"member-lost"),
        "{:?}",
        codes(&twins)
    );
    assert_eq!(twins.schema().fields().len(), 1);
    // An encrypted member.
    let mut locked = without_directory(&members());
    let at = data_offset(&locked, "t.dbf") - 5 - 30;
    locked[at + 6] |= 1;
    let locked = read(&locked, false).unwrap();
    assert!(locked.diagnostics().iter().any(|note| note.message.contains("encrypted")), "{:?}", locked.diagnostics());
    // A wrong checksum after the data: the rows are saved, and it is reported.
    let mut lying = without_directory(&members());
    let at = lying.windows(4).rposition(|four| four == b"PK\x07\x08").unwrap();
    lying[at + 4] ^= 1;
    let lying = read(&lying, false).unwrap();
    assert!(lying.diagnostics().iter().any(|note| note.message.contains("checksum")), "{:?}", lying.diagnostics());
    let limited = |limits: Limits, bytes: Vec<u8>| {
        let options = ReadOptions { strict: false, limits, ..ReadOptions::default() };
        layer::read(&builder::source(bytes), &options).unwrap_err()
    };
    let error = limited(Limits { members: 3, ..Limits::default() }, without_directory(&members()));
    assert!(error.message().contains("raise Limits(members=...)"), "{error}");
    let error = limited(Limits { name: 4, ..Limits::default() }, without_directory(&members()));
    assert!(error.message().contains("raise Limits(name=...)"), "{error}");
    let error = limited(Limits { bytes: 100, ..Limits::default() }, without_directory(&members()));
    assert!(error.message().contains("raise Limits(bytes=...)"), "{error}");
    let bursting = without_directory(&[("t.dbf", vec![0; 80 << 20])]);
    let error = limited(Limits::default(), bursting);
    assert!(error.message().contains("raise Limits(ratio=...)"), "{error}");
}

#[test]
fn wrong_header_loses_only_its_member() {
    let zip = without_directory(&members());
    let mut lying = zip.clone();
    // The sizes after the data of the index are wrong.
    let end = data_offset(&zip, "t.shp") - 5 - 30;
    lying[end - 4] ^= 0xFF;
    let layer = read(&lying, false);
    assert!(layer.is_err(), "nothing behind such a member can be found: {layer:?}");
    let whole = zipped(&members(), Deflated, false);
    let cut = data_offset(&whole, "t.dbf") + 150;
    let mut lying = whole[..cut].to_vec();
    // The last member declares fewer bytes than it has.
    let header = data_offset(&whole, "t.dbf") - 5 - 30;
    lying[header + 18..header + 22].copy_from_slice(&60_u32.to_le_bytes());
    let layer = read(&lying, false).unwrap();
    assert!(codes(&layer).contains(&"cut-archive") && layer.geometry_column().is_some());
}

#[test]
fn grain_cart_loads_and_fmis_steps_before_the_truncation_are_saved() {
    let cart = mutator::cart();
    let whole = zipped(&[("t.grc", cart)], Stored, false);
    let at = whole.windows(4).rposition(|four| four == b"\r\n2,").unwrap();
    let layer = read(&whole[..at + 6], false).unwrap();
    assert!(!layer.is_empty() && codes(&layer).contains(&"cut-member"), "{:?}", layer.diagnostics());
    assert!(read(&whole[..at + 6], true).is_err());
    let job = generate_account(0, HarvestStyle::Ideal)
        .jobs
        .into_iter()
        .find(|job| job.coverage == Coverage::Recorded)
        .unwrap();
    let whole = job.fmis_zip().unwrap();
    let cut = read(&whole[..whole.len() * 2 / 3], false).unwrap();
    assert!(!cut.is_empty() && cut.len() < read(&whole, true).unwrap().len(), "{} rows", cut.len());
    assert!(codes(&cut).contains(&"cut-member"), "{:?}", cut.diagnostics());
}
