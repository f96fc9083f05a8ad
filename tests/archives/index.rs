//! Indices (.shx) that contradict a .shp which is in order: what the .shp says is read, and what is lost is told.

use headland::archive::{Diagnostic, Options};
use headland::layer::{self, Layer};

use crate::{make, stream, wkt};

const ROWS: usize = 6;

/// A .shp of points or of polygons with its index, and the geometry of each row.
fn sets() -> [(Vec<u8>, Vec<u8>, Vec<String>); 2] {
    let x = |row: usize| f64::from(u16::try_from(row).unwrap());
    let square = |row| [(x(row), 0.0), (x(row), 1.0), (x(row) + 0.5, 1.0), (x(row) + 0.5, 0.0), (x(row), 0.0)];
    let points: Vec<Vec<u8>> = (0..ROWS).map(|row| make::point(x(row) + 0.5, 1.0)).collect();
    let polygons: Vec<Vec<u8>> = (0..ROWS).map(|row| make::parts(5, &[0], &square(row))).collect();
    [(1, points), (5, polygons)].map(|(kind, records)| {
        let (shp, shx) = make::shp(kind, &records);
        let own = texts(&read(&shp, &shx, true));
        let own: Vec<String> = own.into_iter().map(Option::unwrap).collect();
        assert_eq!(own.len(), ROWS);
        (shp, shx, own)
    })
}

/// The layer, which batches give as well, in the same words.
#[track_caller]
fn read(shp: &[u8], shx: &[u8], strict: bool) -> Layer {
    let cells: Vec<Vec<u8>> = (0..ROWS).map(|row| format!(" {row:4}").into_bytes()).collect();
    let cells: Vec<&[u8]> = cells.iter().map(Vec::as_slice).collect();
    let dbf = make::dbf(&[("ID", b'N', 4, 0)], &cells, 0);
    let prj = make::WGS_84.as_bytes();
    let source = make::source(make::zip(&[("t.shp", shp), ("t.shx", shx), ("t.dbf", &dbf), ("t.prj", prj)]));
    let options = Options { strict, ..Options::default() };
    stream::same(layer::read(&source, &options), &source, &options, 2, "batches");
    layer::read(&source, &options).unwrap()
}

fn texts(layer: &Layer) -> Vec<Option<String>> {
    layer.geometries().map(|wkb| wkb.map(wkt::text)).collect()
}

fn word(bytes: &[u8], at: usize) -> i32 {
    i32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// The same with another number at a place.
fn with(bytes: &[u8], at: usize, number: i32) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + 4].copy_from_slice(&number.to_be_bytes());
    bytes
}

fn found<'a>(layer: &'a Layer, code: &str) -> Vec<&'a Diagnostic> {
    layer.diagnostics().iter().filter(|note| note.code.as_str() == code).collect()
}

#[test]
fn an_entry_that_names_no_record_of_a_shp_in_order_costs_nothing_and_is_told() {
    for (shp, shx, own) in sets() {
        for row in 0..ROWS {
            let entry = 100 + 8 * row;
            let place = word(&shx, entry);
            let far = [1, ROWS - 2].map(|other| word(&shx, 100 + 8 * other) + 3);
            let none = with(&shx, entry, 0);
            let places = [0, place + 1, place + 4, place - 3, far[0], far[1]];
            let damaged = places.into_iter().filter(|place| *place == 0 || *place > 50);
            let damaged = damaged.map(|place| with(&shx, entry, place)).chain([with(&none, entry + 4, 0)]);
            for (shx, strict) in damaged.flat_map(|shx| [(shx.clone(), true), (shx, false)]) {
                let layer = read(&shp, &shx, strict);
                let what = format!("row {row} at word {}: {:?}", word(&shx, entry), layer.diagnostics());
                assert_eq!(texts(&layer), own.iter().cloned().map(Some).collect::<Vec<_>>(), "{what}");
                let [told] = layer.diagnostics() else { panic!("one diagnostic and no other: {what}") };
                assert_eq!((told.code.as_str(), told.record), ("shx-damaged", Some(row as u64)), "{what}");
                assert_eq!(told.member.as_deref(), Some("t.shx"), "{what}");
                let words = format!("the entry of record {row} (at byte {entry} of the index) names no place");
                assert!(told.message.starts_with(&words) && told.message.contains("(1 such entries)"), "{what}");
            }
        }
        let two = with(&with(&shx, 116, 0), 124, 0);
        let layer = read(&shp, &two, true);
        assert_eq!(texts(&layer), own.iter().cloned().map(Some).collect::<Vec<_>>());
        assert!(found(&layer, "shx-damaged")[0].message.contains("(2 such entries)"), "{:?}", layer.diagnostics());
    }
}

#[test]
fn an_entry_whose_place_and_length_are_both_wrong_is_told_of_the_index_and_not_of_the_shp() {
    for (shp, shx, own) in sets() {
        for row in 0..ROWS {
            let entry = 100 + 8 * row;
            let place = word(&shx, entry);
            for (place, length) in [(place + 1, 5), (place + 3, 7000), (place - 3, 9)] {
                if place < 50 {
                    continue;
                }
                let damaged = with(&with(&shx, entry, place), entry + 4, length);
                for strict in [true, false] {
                    let layer = read(&shp, &damaged, strict);
                    let what = format!("row {row} at word {place}: {:?}", layer.diagnostics());
                    assert_eq!(texts(&layer), own.iter().cloned().map(Some).collect::<Vec<_>>(), "{what}");
                    let told: Vec<_> =
                        layer.diagnostics().iter().map(|note| (note.code.as_str(), note.record)).collect();
                    let row = Some(row as u64);
                    assert_eq!(told, [("record-lengths", row), ("shx-damaged", row)], "{what}");
                }
            }
        }
    }
}

/// Where something that is no record stands around each record, places and lengths bear no neighbour out.
#[test]
fn records_with_padding_around_them_are_read_where_the_index_has_them() {
    for (shp, shx, own) in sets() {
        let (mut body, mut index) = (Vec::new(), Vec::new());
        for row in 0..ROWS {
            let start = usize::try_from(word(&shx, 100 + 8 * row)).unwrap() * 2;
            let length = word(&shx, 104 + 8 * row);
            body.extend(vec![0; 2 * (row + 1)]);
            index.extend(i32::try_from(50 + body.len() / 2).unwrap().to_be_bytes());
            index.extend(length.to_be_bytes());
            body.extend(&shp[start..start + 8 + usize::try_from(length).unwrap() * 2]);
        }
        body.extend([0; 6]);
        let kind = i32::from_le_bytes(shp[32..36].try_into().unwrap());
        let (shp, shx) = (make::with_header(kind, &body), make::with_header(kind, &index));
        for strict in [true, false] {
            let layer = read(&shp, &shx, strict);
            assert_eq!(texts(&layer), own.iter().cloned().map(Some).collect::<Vec<_>>());
            let codes: Vec<&str> = layer.diagnostics().iter().map(|note| note.code.as_str()).collect();
            assert_eq!(codes, ["shp-seams"]);
        }
    }
}

#[test]
fn a_geometry_that_an_index_gives_no_place_is_told_to_be_gone_where_the_shp_is_in_no_order() {
    for (shp, shx, own) in sets() {
        // Without numbers, a record between two others may be the remains of another row.
        let mut unnumbered = shp.clone();
        for row in 0..ROWS {
            let place = usize::try_from(word(&shx, 100 + 8 * row)).unwrap() * 2;
            unnumbered[place..place + 4].fill(0);
        }
        for (row, strict) in (0..ROWS).flat_map(|row| [(row, true), (row, false)]) {
            let entry = 100 + 8 * row;
            let none = with(&shx, entry, 0);
            for shx in [with(&none, entry + 4, 0), none] {
                let layer = read(&unnumbered, &shx, strict);
                let mut left: Vec<_> = own.iter().cloned().map(Some).collect();
                left[row] = None;
                assert_eq!(texts(&layer), left, "{row}");
                let notes = found(&layer, "shx-damaged");
                assert_eq!(notes.len(), 1, "{row}: {:?}", layer.diagnostics());
                assert_eq!((notes[0].record, notes[0].member.as_deref()), (Some(row as u64), Some("t.shx")));
                assert!(notes[0].message.contains("its geometry is null (1 such entries)"), "{}", notes[0].message);
            }
        }
    }
}

#[test]
fn an_entry_of_zeros_between_records_that_meet_is_no_damage() {
    let points: Vec<Vec<u8>> = (0..ROWS - 1).map(|_| make::point(1.0, 1.0)).collect();
    let (shp, shx) = make::shp(1, &points);
    for row in 0..ROWS {
        let mut index = shx[100..].to_vec();
        index.splice(8 * row..8 * row, [0; 8]);
        let layer = read(&shp, &make::with_header(1, &index), true);
        assert!(layer.diagnostics().is_empty(), "{row}: {:?}", layer.diagnostics());
        let nulls: Vec<bool> = texts(&layer).iter().map(Option::is_none).collect();
        assert_eq!(nulls, (0..ROWS).map(|other| other == row).collect::<Vec<_>>());
    }
}

/// In another order than the rows, it is what all entries leave of the .shp that tells a lost record from a row without one.
#[test]
fn a_record_that_no_entry_names_is_told_in_another_order_than_the_rows_too() {
    for (shp, shx, own) in sets() {
        let mut exchanged = shx.clone();
        exchanged.copy_within(100..108, 140);
        exchanged[100..108].copy_from_slice(&shx[140..148]);
        let mut rows: Vec<_> = own.iter().cloned().map(Some).collect();
        rows.swap(0, ROWS - 1);
        for (row, strict) in (0..ROWS).flat_map(|row| [(row, true), (row, false)]) {
            let entry = 100 + 8 * row;
            let layer = read(&shp, &with(&with(&exchanged, entry, 0), entry + 4, 0), strict);
            let mut left = rows.clone();
            left[row] = None;
            let what = format!("row {row}: {:?}", layer.diagnostics());
            assert_eq!(texts(&layer), left, "{what}");
            let notes = found(&layer, "shx-damaged");
            assert_eq!(notes.len(), 1, "{what}");
            assert_eq!(notes[0].record, Some(row as u64), "{what}");
            assert!(notes[0].message.contains("its geometry is null (1 such entries)"), "{what}");
        }
        // A row without a shape, of which the .shp has nothing.
        let entry = 100 + 8 * (ROWS - 1);
        let end = usize::try_from(word(&shx, entry)).unwrap() * 2;
        let mut index = shx[100..entry].to_vec();
        index.splice(16..16, [0; 8]);
        let (first, last) = (index[..8].to_vec(), index[40..].to_vec());
        index[..8].copy_from_slice(&last);
        index[40..].copy_from_slice(&first);
        let kind = i32::from_le_bytes(shp[32..36].try_into().unwrap());
        let layer = read(&make::with_header(kind, &shp[100..end]), &make::with_header(kind, &index), true);
        let codes: Vec<&str> = layer.diagnostics().iter().map(|note| note.code.as_str()).collect();
        assert_eq!(codes, ["out-of-order"]);
        assert_eq!(texts(&layer).iter().filter(|text| text.is_none()).count(), 1);
    }
}

#[test]
fn lengths_that_contradict_the_shp_are_told_once_and_cost_nothing() {
    for (shp, shx, own) in sets() {
        let all = (0..ROWS).fold(shx.clone(), |shx, row| with(&shx, 104 + 8 * row, 17));
        let one = with(&shx, 104 + 8 * 3, 7);
        let last = with(&shx, 104 + 8 * (ROWS - 1), 1 << 20);
        // In another order, the first row is exchanged with the last.
        let mut exchanged = shx.clone();
        exchanged.copy_within(100..108, 140);
        exchanged[100..108].copy_from_slice(&shx[140..148]);
        let jumped = with(&exchanged, 104 + 8 * 2, 9);
        for (shx, count, first) in [(all, ROWS, 0), (one, 1, 3), (last, 1, ROWS - 1), (jumped, 1, 2), (exchanged, 0, 0)]
        {
            let layer = read(&shp, &shx, true);
            let mut texts: Vec<_> = texts(&layer).into_iter().map(Option::unwrap).collect();
            if !found(&layer, "out-of-order").is_empty() {
                texts.swap(0, ROWS - 1);
            }
            assert_eq!(texts, own);
            let notes = found(&layer, "record-lengths");
            assert_eq!(notes.len(), usize::from(count > 0), "{:?}", layer.diagnostics());
            for note in notes {
                assert_eq!((note.record, note.member.as_deref()), (Some(first as u64), Some("t.shx")));
                assert!(
                    note.message.contains(&format!("({count} times, first at record {first})")),
                    "{}",
                    note.message
                );
            }
        }
    }
}
