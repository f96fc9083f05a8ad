//! Names in zips, packed by hand: which bytes they may be in, and sizes that lie (corpus README, g and h).

use headland::archive::Options;
use headland::error::Kind;
use headland::layer;

use crate::make;

/// One stored member: its name, the flags, an extra field, and what its headers say of its size.
struct Packed<'a> {
    name: &'a [u8],
    flags: u16,
    extra: Vec<u8>,
    content: &'a [u8],
    said: u32,
}

fn pack(members: &[Packed<'_>]) -> Vec<u8> {
    let (mut zip, mut directory) = (Vec::new(), Vec::new());
    for member in members {
        let at = u32::try_from(zip.len()).unwrap();
        let short = |bytes: &[u8]| u16::try_from(bytes.len()).unwrap().to_le_bytes();
        let mut common = member.flags.to_le_bytes().to_vec();
        common.extend([0; 6]);
        common.extend(crc32fast::hash(member.content).to_le_bytes());
        common.extend(u32::try_from(member.content.len()).unwrap().to_le_bytes());
        common.extend(member.said.to_le_bytes());
        common.extend([short(member.name), short(&member.extra)].concat());
        zip.extend(*b"PK\x03\x04\x14\0");
        zip.extend(&common);
        zip.extend(member.name);
        zip.extend(&member.extra);
        zip.extend(member.content);
        directory.extend(*b"PK\x01\x02\x14\0\x14\0");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(member.name);
        directory.extend(&member.extra);
    }
    let count = u16::try_from(members.len()).unwrap().to_le_bytes();
    let start = u32::try_from(zip.len()).unwrap().to_le_bytes();
    let size = u32::try_from(directory.len()).unwrap().to_le_bytes();
    zip.extend(directory);
    zip.extend(*b"PK\x05\x06\0\0\0\0");
    zip.extend([&count[..], &count, &size, &start, &[0, 0]].concat());
    zip
}

fn content() -> Vec<u8> {
    make::dbf(&[("n", b'N', 3, 0)], &[b"   1"], 0)
}

/// The extra field 0x7075: a version, the checksum of the plain name, and the name in UTF-8.
fn unicode_path(plain: &[u8], name: &str) -> Vec<u8> {
    let mut data = vec![1];
    data.extend(crc32fast::hash(plain).to_le_bytes());
    data.extend(name.as_bytes());
    [&0x7075_u16.to_le_bytes()[..], &u16::try_from(data.len()).unwrap().to_le_bytes(), &data].concat()
}

#[test]
fn names_are_read_in_whatever_way_a_zip_says_them() {
    let content = content();
    let said = u32::try_from(content.len()).unwrap();
    let utf8 = "größe.dbf".as_bytes();
    let dos = b"gr\x94\xe1e.dbf";
    let other = unicode_path(b"another.dbf", "stale.dbf");
    for (name, flags, extra) in [
        (utf8, 0x0800, Vec::new()),
        (utf8, 0, Vec::new()),
        (&dos[..], 0, Vec::new()),
        (b"gr__e.dbf", 0, unicode_path(b"gr__e.dbf", "größe.dbf")),
        // The checksum is another name's: somebody renamed the member and left the extra field.
        (utf8, 0, other),
    ] {
        let zip = pack(&[Packed { name, flags, extra, content: &content, said }]);
        let layer = layer::read(&make::source(zip), &Options::default()).unwrap();
        assert_eq!((layer.name(), layer.len()), ("größe", 1), "{name:?}");
    }
}

#[test]
fn a_size_that_lies_is_an_error_that_names_the_member() {
    let content = content();
    for lie in [-1, 1, 1_000] {
        let said = u32::try_from(i64::try_from(content.len()).unwrap() + lie).unwrap();
        let zip = pack(&[Packed { name: b"t.dbf", flags: 0, extra: Vec::new(), content: &content, said }]);
        let error = layer::read(&make::source(zip), &Options::default()).unwrap_err();
        assert_eq!(error.kind(), Kind::Archive);
        assert_eq!(error.facts().member.as_deref(), Some("t.dbf"), "{error}");
    }
}
