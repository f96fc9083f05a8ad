//! Tests member names in zips built byte by byte, their encodings, and wrong sizes (corpus README, g and h).

use headland::archive::ReadOptions;
use headland::error::Kind;
use headland::layer;

use crate::builder::{self, Stored};

fn content() -> Vec<u8> {
    builder::dbf(&[("n", b'N', 3, 0)], &[b"   1"], 0)
}

/// The extra field 0x7075: a version, the checksum of the plain name, and the name in UTF-8.
fn unicode_path(plain: &[u8], name: &str) -> Vec<u8> {
    let mut data = vec![1];
    data.extend(crc32fast::hash(plain).to_le_bytes());
    data.extend(name.as_bytes());
    [&0x7075_u16.to_le_bytes()[..], &u16::try_from(data.len()).unwrap().to_le_bytes(), &data].concat()
}

#[test]
fn member_name_is_read_from_every_field_that_may_hold_it() {
    let content = content();
    let utf8 = "größe.dbf".as_bytes();
    let dos = b"gr\x94\xe1e.dbf";
    let other = unicode_path(b"another.dbf", "stale.dbf");
    for (name, flags, extra) in [
        (utf8, 0x0800, Vec::new()),
        (utf8, 0, Vec::new()),
        (&dos[..], 0, Vec::new()),
        (b"gr__e.dbf", 0, unicode_path(b"gr__e.dbf", "größe.dbf")),
        // The checksum belongs to another name: the member was renamed, but the extra field was kept.
        (utf8, 0, other),
    ] {
        let zip = builder::stored(&[Stored { flags, extra, ..Stored::new(name, &content) }]);
        let layer = layer::read(&builder::source(zip), &ReadOptions::default()).unwrap();
        assert_eq!((layer.name(), layer.len()), ("größe", 1), "{name:?}");
    }
}

#[test]
fn wrong_size_is_an_error_that_names_the_member() {
    let content = content();
    for lie in [-1, 1, 1_000] {
        let said = u32::try_from(i64::try_from(content.len()).unwrap() + lie).unwrap();
        let zip = builder::stored(&[Stored { said, ..Stored::new(b"t.dbf", &content) }]);
        let error = layer::read(&builder::source(zip), &ReadOptions::default()).unwrap_err();
        assert_eq!(error.kind(), Kind::Archive);
        assert_eq!(error.facts().member.as_deref(), Some("t.dbf"), "{error}");
    }
}
