//! Random bytes and damaged archives: the reader answers or fails, and never panics or hangs.

use headland::archive::{Options, Source};
use headland::layer;
use proptest::prelude::*;

use crate::make;
use crate::series::cases;

fn read(bytes: &[u8]) {
    for strict in [true, false] {
        if let Ok(layer) = layer::read(&make::source(bytes.to_vec()), &Options { strict, ..Options::default() }) {
            let text = layer.geojson(true).map(|text| text.len());
            assert!(text.is_err() || layer.is_empty() || text.unwrap() > 0);
        }
    }
}

fn members() -> [(&'static str, Vec<u8>); 4] {
    let square =
        [(0.0, 0.0), (0.0, 9.0), (9.0, 9.0), (9.0, 0.0), (0.0, 0.0), (1.0, 1.0), (2.0, 1.0), (2.0, 2.0), (1.0, 1.0)];
    let (shp, shx) = make::shp(5, &[make::parts(5, &[0, 5], &square), make::parts(5, &[0], &square[..5])]);
    let fields = [("N", b'N', 5, 1), ("I", b'N', 4, 0), ("D", b'D', 8, 0), ("L", b'L', 1, 0), ("C", b'C', 3, 0)];
    let dbf = make::dbf(&fields, &[b"   1.5  1220240229Tabc", b"*  2.5  1320240301F\xe9  "], 0x57);
    [("t.shp", shp), ("t.shx", shx), ("t.dbf", dbf), ("t.prj", make::WGS_84.as_bytes().to_vec())]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(400), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_no_archive(bytes in proptest::collection::vec(any::<u8>(), 0..300), zip in any::<bool>()) {
        let mut bytes = bytes;
        if zip {
            bytes.splice(0..0, *b"PK\x03\x04");
            bytes.extend(*b"PK\x05\x06\0\0\0\0\x01\0\x01\0\x2e\0\0\0\0\0\0\0\0\0");
        }
        read(&bytes);
    }

    #[test]
    fn damaged_zips_are_read_or_refused(edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4), cut in any::<Option<prop::sample::Index>>()) {
        let members = members();
        let members: Vec<(&str, &[u8])> = members.iter().map(|(name, bytes)| (*name, &**bytes)).collect();
        let mut bytes = make::zip(&members);
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        read(&bytes);
    }

    #[test]
    fn damaged_members_are_read_or_refused(which in 0..4_usize, edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4), cut in any::<Option<prop::sample::Index>>()) {
        let mut members = members();
        let bytes = &mut members[which].1;
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let members: Vec<(&str, &[u8])> = members.iter().map(|(name, bytes)| (*name, &**bytes)).collect();
        read(&make::zip(&members));
    }
}

#[test]
fn a_length_that_lies_allocates_nothing() {
    let (mut shp, shx) = make::shp(1, &[make::point(1.0, 1.0)]);
    shp[104..108].copy_from_slice(&i32::MAX.to_be_bytes());
    let zip = make::zip(&[("t.shp", &shp), ("t.shx", &shx)]);
    let error = layer::read(&make::source(zip), &Options::default()).unwrap_err();
    assert_eq!(error.facts().record, Some(0));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.shp"), &shp).unwrap();
    assert!(layer::read(&Source::Path(folder.path().join("t.shp")), &Options::default()).is_err());
}
