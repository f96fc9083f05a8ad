//! Tests that every kind of source gives the same layer, and the errors for other sources.

use std::io::Write;

use headland::archive::{Limits, ReadOptions, Source};
use headland::error::Kind;
use headland::layer;
use zip::write::SimpleFileOptions;

use crate::builder;

pub(crate) fn members() -> builder::Files {
    let shp = builder::shp(1, &[builder::point(10.0, 50.0), builder::point(11.0, 51.0)]);
    builder::files(shp, builder::dbf(&[("RATE", b'N', 5, 1), ("NAME", b'C', 4, 0)], &[b"   1.5one ", b"   2.5two "], 0))
}

pub(crate) fn named(prefix: &str) -> Vec<(String, Vec<u8>)> {
    members().into_iter().map(|(name, bytes)| (format!("{prefix}{name}"), bytes)).collect()
}

pub(crate) fn zipped(members: &[(String, Vec<u8>)], method: zip::CompressionMethod) -> Vec<u8> {
    builder::zip_with(&builder::lend(members), method)
}

#[test]
fn every_source_gives_equal_rows() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in members() {
        std::fs::write(folder.path().join(name.to_uppercase()), bytes).unwrap();
    }
    let deflated = zipped(&named(""), zip::CompressionMethod::Deflated);
    let zip_file = tempfile::Builder::new().suffix(".zip").tempfile().unwrap();
    std::fs::write(zip_file.path(), &deflated).unwrap();
    let mut with_forks = named("Field 1/");
    with_forks.push(("__MACOSX/Field 1/._t.shp".to_owned(), b"rubbish".to_vec()));
    let nested = builder::zip(&[("inner.zip", &deflated)]);
    let expected = layer::read(&builder::source(deflated.clone()), &ReadOptions::default()).unwrap();
    assert_eq!(expected.len(), 2);
    assert_eq!(expected.geometry_column(), Some("geometry"));
    for source in [
        Source::Path(folder.path().to_owned()),
        Source::Path(folder.path().join("T.SHP")),
        Source::Path(folder.path().join("T.DBF")),
        Source::Path(zip_file.path().to_owned()),
        builder::source(zipped(&named(""), zip::CompressionMethod::Stored)),
        builder::source(zipped(&with_forks, zip::CompressionMethod::Deflated)),
        builder::source(nested),
    ] {
        for threads in [Some(1), Some(2), None] {
            let layer = layer::read(&source, &ReadOptions { threads, ..ReadOptions::default() }).unwrap();
            assert_eq!(layer.batches(), expected.batches(), "{source:?}");
        }
    }
}

#[test]
fn zips_of_every_writer_give_equal_rows_or_an_error() {
    let plain = zipped(&named(""), zip::CompressionMethod::Deflated);
    let expected = layer::read(&builder::source(plain.clone()), &ReadOptions::default()).unwrap();
    let made = |comment: &str, large: bool| {
        let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, bytes) in members() {
            writer.start_file(name, SimpleFileOptions::default().large_file(large)).unwrap();
            writer.write_all(&bytes).unwrap();
        }
        writer.set_comment(comment).unwrap();
        writer.finish().unwrap().into_inner()
    };
    let inner = |name: &str, bytes: &[u8]| builder::zip(&[(name, bytes), ("readme.txt", b"as portals send it")]);
    for (what, zip) in [
        ("a comment", made("made by a portal, PK and all", false)),
        ("a comment of the most bytes", made(&"x".repeat(65_535), false)),
        ("zip64 sizes", made("", true)),
        ("leading bytes", [b"MZ a program that unpacks", &plain[..]].concat()),
        ("a marker of several parts, of which there is one", [b"PK00", &plain[..]].concat()),
        ("a zip in a zip", inner("a/inner.ZIP", &made("inner", false))),
    ] {
        let layer = layer::read(&builder::source(zip), &ReadOptions::default())
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(layer.batches(), expected.batches(), "{what}");
        assert!(layer.diagnostics().is_empty(), "{what}: {:?}", layer.diagnostics());
    }
    let two = builder::zip(&[("north.zip", &plain), ("south.zip", &plain)]);
    let names = headland::archive::layers(&builder::source(two), &ReadOptions::default()).unwrap();
    assert_eq!(names, ["north.zip/t", "south.zip/t"]);
    let said = |zip: Vec<u8>| layer::read(&builder::source(zip), &ReadOptions::default()).unwrap_err().to_string();
    let deep = said(inner("a.zip", &inner("b.zip", &plain)));
    assert!(deep.contains("Limits(nesting=...)") && deep.contains("`a.zip/b.zip`"), "{deep}");
    // The last of several parts has the end record; the first begins with a marker.
    let mut last = plain.clone();
    let end = last.len() - 22;
    last[end + 4] = 1;
    assert!(said(last).contains("zip -s 0"));
    let first = said([b"PK\x07\x08", &plain[..150]].concat());
    assert!(first.contains("first part of a split archive") && first.contains("zip -s 0"), "{first}");
    // A nested archive that is no zip or is truncated is named.
    let page = said(inner("a.zip", b"<html>Log in</html>"));
    assert!(page.contains("`a.zip`") && page.contains("not zip files"), "{page}");
    let cut = said(inner("a.zip", &plain[..plain.len() - 30]));
    assert!(cut.contains("`a.zip` is truncated"), "{cut}");
}

#[test]
fn selected_columns_keep_their_order_and_the_geometry() {
    let zip = zipped(&named(""), zip::CompressionMethod::Deflated);
    let read = |columns: &[&str]| {
        let columns = Some(columns.iter().map(|name| (*name).to_owned()).collect());
        layer::read(&builder::source(zip.clone()), &ReadOptions { columns, ..ReadOptions::default() })
    };
    let names = |columns: &[&str]| -> Vec<String> {
        read(columns).unwrap().schema().fields().iter().map(|field| field.name().clone()).collect()
    };
    assert_eq!(names(&["NAME", "RATE"]), ["RATE", "NAME", "geometry"]);
    assert_eq!(names(&["NAME"]), ["NAME", "geometry"]);
    assert_eq!(names(&[]), ["geometry"]);
    let error = read(&["YIELD"]).unwrap_err();
    assert_eq!(error.kind(), Kind::Value);
    assert!(error.message().contains("RATE, NAME"), "{error}");
}

#[cfg(unix)]
#[test]
fn device_is_an_error_that_names_it_and_is_never_read() {
    let source = Source::Path("/dev/null".into());
    let tree = headland::archive::read_document(&source, None, &Limits::default()).unwrap_err();
    for error in [tree, layer::read(&source, &ReadOptions::default()).unwrap_err()] {
        assert_eq!(error.kind(), Kind::Archive);
        assert!(
            error.message().contains("`/dev/null` is a device") && error.message().contains("regular file"),
            "{error}"
        );
    }
}

#[test]
fn office_document_is_an_error_that_names_the_format() {
    for (part, words) in [
        ("xl/workbook.xml", "Excel workbook (.xlsx), which `pandas.read_excel`"),
        ("word/document.xml", "Word document"),
        ("ppt/presentation.xml", "PowerPoint presentation"),
        ("visio/document.xml", "Office document"),
    ] {
        let zip = builder::zip(&[("[Content_Types].xml", b"<Types/>"), ("_rels/.rels", b"<R/>"), (part, b"<w/>")]);
        let message = layer::read(&builder::source(zip), &ReadOptions::default()).unwrap_err().message().into_owned();
        assert!(message.contains(words) && !message.contains("hl.read_tree"), "{message}");
    }
}

#[test]
fn other_format_is_an_error_that_names_it() {
    let said = |bytes: &[u8]| {
        let error = layer::read(&builder::source(bytes.to_vec()), &ReadOptions::default()).unwrap_err();
        assert_eq!(error.kind(), Kind::Archive);
        let lenient =
            layer::read(&builder::source(bytes.to_vec()), &ReadOptions { strict: false, ..ReadOptions::default() });
        assert!(lenient.is_err(), "nothing is saved of what is no archive");
        error.message().into_owned()
    };
    let mut tar = vec![b'x'; 512];
    tar[257..262].copy_from_slice(b"ustar");
    let mut package = b"SQLite format 3\0".to_vec();
    package.resize(100, 0);
    package[68..72].copy_from_slice(b"GPKG");
    let (shp, _) = builder::shp(1, &[builder::point(1.0, 1.0)]);
    let utf16: Vec<u8> = "\u{feff}<a/>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let long = format!(r#"{{"status":"INVALID_REQUEST","errorInfo":"{}"}}"#, "no job ".repeat(200));
    for (bytes, words) in [
        (&b"<!DOCTYPE html><html><body>Access denied</body></html>"[..], &["web page", "Access denied"][..]),
        (
            b"<html><form><input type=\"password\"></form></html>",
            &["web page that requires a login", "download the file"],
        ),
        (b"", &["empty"]),
        (
            br#"{"status":"MORE_TIME_NEEDED","errorInfo":"00:01:00","result":"nil"}"#,
            &["reply of the service", "MORE_TIME_NEEDED"],
        ),
        (
            br#"{"status":"NO_COVERAGE","errorInfo":"No coverage available","result":"nil"}"#,
            &["`No coverage available`"],
        ),
        (
            b"<ServiceResponse><status>NO_COVERAGE</status><errorInfo>None</errorInfo></ServiceResponse>",
            &["reply of the service"],
        ),
        (long.as_bytes(), &["INVALID_REQUEST", "no job no job", "..."]),
        (b"<?xml version=\"1.0\"?><a/>", &["XML", "hl.read_tree"]),
        (&utf16, &["XML", "hl.read_tree"]),
        (b"<?xml version=\"1.0\"?><kml/>", &["geopandas.read_file"]),
        (b"PK\x03\x04 cut", &["interrupted download"]),
        (b"\x1f\x8b\x08", &["gzip", "unpack"]),
        (b"7z\xBC\xAF\x27\x1C", &["7z", "unpack"]),
        (b"Rar!\x1a\x07", &["RAR", "unpack"]),
        (&tar, &["tar archive", "unpack"]),
        (&package, &["GeoPackage", "geopandas.read_file"]),
        (b"PAR1\x15\x04", &["Parquet", "geopandas.read_parquet"]),
        (br#"{"type":"FeatureCollection","features":[]}"#, &["GeoJSON", "geopandas.read_file"]),
        (b"Longitude,Latitude,Yield\n1,2,3\n", &["CSV", "pandas.read_csv", "Longitude"]),
        (&shp, &[".shp", "path"]),
        (&members()[2].1, &[".dbf", "path"]),
        (b"\x07\x08\x09", &["begins with `\\x07"]),
    ] {
        let said = said(bytes);
        for word in words {
            assert!(said.contains(word), "`{word}` in: {said}");
        }
        assert!(said.len() < 500, "{said}");
    }
    for secret in [
        &br#"{"access_key":"AKIA","secret_key":"c2VjcmV0"}"#[..],
        br#"{"status":"INVALID_REQUEST","errorInfo":"see https://files.example/job?sig=c2VjcmV0c2VjcmV0"}"#,
        b"token,c2VjcmV0\nmore,c2VjcmV0\n",
    ] {
        assert!(!said(secret).contains("c2Vj"), "{}", said(secret));
    }
    let error = layer::read(&Source::Path("/nowhere/job.zip".into()), &ReadOptions::default()).unwrap_err();
    assert_eq!(error.kind(), Kind::File);
}

#[test]
fn folder_without_data_is_an_error_that_lists_its_content() {
    let folder = tempfile::tempdir().unwrap();
    let holding = |name: &str, files: &[&str]| {
        let path = folder.path().join(name);
        std::fs::create_dir(&path).unwrap();
        for file in files {
            std::fs::write(path.join(file), b"x").unwrap();
        }
        let error = layer::read(&Source::Path(path), &ReadOptions::default()).unwrap_err();
        assert_eq!(error.kind(), Kind::Archive);
        error.message().into_owned()
    };
    for (name, files, words) in [
        ("none", &[][..], &["is a folder", "it is empty"][..]),
        ("t.shp", &[], &["t.shp` is a folder"]),
        ("farm.gdb", &["a00000001.gdbtable", "timestamps"], &["file geodatabase", "geopandas.read_file"]),
        ("mixed", &["a.csv", "b.gpkg", "c.tif"], &["`a.csv`", "pandas.read_csv", "`b.gpkg`", "`c.tif`", "rasterio"]),
    ] {
        let said = holding(name, files);
        for word in words {
            assert!(said.contains(word), "`{word}` in: {said}");
        }
        assert!(!said.contains("client.job_data"), "{said}");
    }
}

#[test]
fn limits_apply_before_anything_is_inflated() {
    let zeros = vec![0; 80 << 20];
    let zip = builder::zip(&[("t.dbf", &zeros)]);
    let error = layer::read(&builder::source(zip.clone()), &ReadOptions::default()).unwrap_err();
    assert!(error.message().contains("more than 100 times"), "{error}");
    assert!(error.message().contains("raise Limits(ratio=...)"), "{error}");
    let raised = Limits { ratio: 2_000, ..Limits::default() };
    let error = layer::read(&builder::source(zip.clone()), &ReadOptions { limits: raised, ..ReadOptions::default() })
        .unwrap_err();
    assert!(error.message().contains("header length"), "it was read, and is no table: {error}");
    let mut options = ReadOptions::default();
    options.limits.bytes = 1 << 20;
    let error = layer::read(&builder::source(zip.clone()), &options).unwrap_err();
    assert!(error.message().contains("limit of 1048576") && error.message().contains("Limits(bytes=...)"), "{error}");
    options.limits.members = 0;
    let error = layer::read(&builder::source(zip), &options).unwrap_err();
    assert!(error.message().contains("limit of 0"), "{error}");
}

#[test]
fn a_small_table_may_be_all_blanks() {
    let record = [b' '; 255];
    let dbf = builder::dbf(&[("c", b'C', 254, 0)], &vec![&record[..]; 4_000], 0);
    let zip = builder::zip(&[("t.dbf", &dbf)]);
    assert!(dbf.len() / zip.len() > 200, "a ratio that no large table may have");
    assert_eq!(layer::read(&builder::source(zip), &ReadOptions::default()).unwrap().len(), 4_000);
}

#[test]
fn flipped_bit_in_a_member_fails_its_checksum() {
    let mut zip = zipped(&named(""), zip::CompressionMethod::Stored);
    let at = zip.windows(4).position(|bytes| bytes == b"one ").unwrap();
    zip[at] ^= 1;
    let error = layer::read(&builder::source(zip), &ReadOptions::default()).unwrap_err();
    assert_eq!(error.facts().member.as_deref(), Some("t.dbf"));
    assert!(error.message().contains("checksum"), "{error}");
}

#[test]
fn units_come_from_the_sidecar_or_the_caller() {
    let mut members = named("");
    let json = br#"{"DataAttributes":[{"Name":"RATE","Unit":"lb1ac-1"}]}"#;
    members.push(("t-Deere-Metadata.json".to_owned(), json.to_vec()));
    let layer =
        layer::read(&builder::source(zipped(&members, zip::CompressionMethod::Deflated)), &ReadOptions::default())
            .unwrap();
    assert_eq!(layer.units(), [("RATE".to_owned(), "lb/ac".to_owned())]);
    let layer = layer.with_units(&[("RATE".to_owned(), "kg/ha".to_owned()), ("NONE".to_owned(), "m".to_owned())]);
    assert_eq!(layer.units(), [("RATE".to_owned(), "kg/ha".to_owned())]);
    assert_eq!(layer.batches()[0].schema(), layer.schema());
    assert_eq!(layer.with_source("job 31").source(), "job 31");
}

#[test]
fn overlapping_members_are_an_error() {
    let mut zip = zipped(&named(""), zip::CompressionMethod::Stored);
    let size = members()[2].1.len();
    let longer = u32::try_from(size + 40).unwrap().to_le_bytes();
    let starts = |signature: &[u8], zip: &[u8]| -> usize {
        let of_dbf = |at: usize| zip[at..at + 60].windows(5).any(|name| name == b"t.dbf");
        (0..zip.len() - 60).find(|at| zip[*at..].starts_with(signature) && of_dbf(*at)).unwrap()
    };
    for (signature, at) in [(b"PK\x03\x04", 18), (b"PK\x01\x02", 20)] {
        let start = starts(signature, &zip) + at;
        zip[start..start + 4].copy_from_slice(&longer);
        zip[start + 4..start + 8].copy_from_slice(&longer);
    }
    let error = layer::read(&builder::source(zip), &ReadOptions::default()).unwrap_err();
    assert_eq!(error.facts().member.as_deref(), Some("t.dbf"));
    assert!(error.message().contains("overlap"), "{error}");
}

#[test]
fn name_that_leaves_the_archive_is_skipped_or_an_error_if_needed() {
    let mut members = named("");
    members.push(("../../evil.shp".to_owned(), b"rubbish".to_vec()));
    let layer =
        layer::read(&builder::source(zipped(&members, zip::CompressionMethod::Deflated)), &ReadOptions::default())
            .unwrap();
    assert_eq!(layer.len(), 2);
    let note = &layer.diagnostics()[0];
    assert_eq!((note.code.as_str(), note.member.as_deref()), ("refused-name", Some("../../evil.shp")));
    let mut members = named("");
    members[0].0 = "../t.shp".to_owned();
    let zip = zipped(&members, zip::CompressionMethod::Deflated);
    let error = layer::read(&builder::source(zip.clone()), &ReadOptions::default()).unwrap_err();
    assert_eq!(error.facts().member.as_deref(), Some("../t.shp"));
    let layer = layer::read(&builder::source(zip), &ReadOptions { strict: false, ..ReadOptions::default() }).unwrap();
    assert_eq!((layer.len(), layer.geometry_column()), (2, None));
}

#[test]
fn a_symbolic_link_in_a_zip_is_no_data() {
    let linked = |links: &[&str], but: &str| {
        let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, bytes) in members().iter().filter(|(name, _)| *name != but) {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(bytes).unwrap();
        }
        for link in links {
            writer.add_symlink(*link, "/etc/passwd", SimpleFileOptions::default()).unwrap();
        }
        builder::source(writer.finish().unwrap().into_inner())
    };
    let lenient = ReadOptions { strict: false, ..ReadOptions::default() };
    let beside = linked(&["link.shp", "link.dbf"], "");
    assert_eq!(headland::archive::layers(&beside, &ReadOptions::default()).unwrap(), ["t"]);
    for options in [&ReadOptions::default(), &lenient] {
        let layer = layer::read(&beside, options).unwrap();
        let reported: Vec<_> =
            layer.diagnostics().iter().map(|note| (note.code.as_str(), note.member.as_deref())).collect();
        assert_eq!(reported, [("refused-link", Some("link.dbf")), ("refused-link", Some("link.shp"))]);
        assert_eq!(layer.len(), 2);
    }
    // If the layer needs the link, rows without their columns are a wrong result.
    let needed = linked(&["t.dbf"], "t.dbf");
    let error = layer::read(&needed, &ReadOptions::default()).unwrap_err();
    assert_eq!(error.facts().member.as_deref(), Some("t.dbf"));
    assert!(error.message().contains("symbolic link"), "{error}");
    assert_eq!(layer::read(&needed, &lenient).unwrap().len(), 2);
}
