//! Tests messages of diagnostics: they state only what the archive proves.

use crate::builder;
use crate::support::{only, read_members};

#[test]
fn undeclared_encoding_is_not_reported_as_violated() {
    let dbf = builder::dbf(&[("C", b'C', 4, 0)], &[b" \xe9   "], 0);
    for members in [&[("t.dbf", &*dbf)][..], &[("t.dbf", &*dbf), ("t.cpg", b"UTF-8")]] {
        let layer = read_members(members);
        let message = &only(&layer, "text-recoded").message;
        assert!(message.contains("declared or assumed"), "{message}");
    }
}

#[test]
fn diagnostic_of_a_whole_column_has_no_count_and_no_record() {
    let record: &[u8] = b" 12345678         1abcd";
    let layer = read_members(&[(
        "t.dbf",
        &builder::dbf(&[("B", b'B', 8, 0), ("M", b'M', 10, 0), ("X", b'X', 4, 0)], &[record, record], 0),
    )]);
    for (code, column) in [("binary-column", "B"), ("memo", "M"), ("unknown-type", "X")] {
        let note = only(&layer, code);
        assert!(note.message.starts_with(&format!("column `{column}`: ")), "{}", note.message);
        assert!(!note.message.contains("times") && !note.message.contains("record"), "{}", note.message);
        assert_eq!(note.record, None, "{code}");
    }
}

#[test]
fn empty_prj_is_reported_and_gives_no_coordinate_system() {
    let (shp, shx) = builder::shp(1, &[builder::point(15.0, 50.0)]);
    for prj in ["", " \r\n", "\u{feff}", "\0\0\0"] {
        let layer = read_members(&[("t.shp", &shp), ("t.shx", &shx), ("t.prj", prj.as_bytes())]);
        assert!(layer.crs().is_none() && layer.crs_wkt().is_none(), "{prj:?}: {:?}", layer.crs_wkt());
        let note = only(&layer, "crs-unknown");
        assert_eq!(note.member.as_deref(), Some("t.prj"));
        assert!(note.message.contains("the .prj is empty"), "{}", note.message);
    }
}
