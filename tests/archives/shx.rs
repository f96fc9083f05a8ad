//! Tests indices (.shx): the rows that are read where one is missing, damaged or in another order than the records.
//!
//! A damaged index is an error, or its cost is reported; without `strict`, records are read in the order of the file.

use headland::layer::Layer;
use zip::CompressionMethod::{self, Deflated, Stored};

use crate::builder::{self, number, with_number};
use crate::support::{check, codes, found, only, read, texts};

const ROWS: usize = 6;
/// Offset of the entry of a record in the index.
const fn entry(row: usize) -> usize {
    100 + 8 * row
}

/// Records of a shape type, each of them different.
fn records(kind: i32) -> Vec<Vec<u8>> {
    let x = |row: usize| f64::from(u16::try_from(row).unwrap());
    let record = |row| {
        if kind == 1 {
            builder::point(x(row) + 0.5, 1.0)
        } else {
            builder::parts(5, &[0], &builder::square(x(row), 0.0, 0.5))
        }
    };
    (0..ROWS).map(record).collect()
}

fn zip(shp: &[u8], shx: &[u8], method: CompressionMethod) -> Vec<u8> {
    let mut files = builder::files((shp.to_vec(), shx.to_vec()), builder::ids(ROWS));
    // The .shp is the last member, so that a zip that ends inside it has all others.
    files.reverse();
    builder::zip_with(&builder::lend(&files), method)
}

fn all(own: &[String]) -> Vec<Option<String>> {
    own.iter().cloned().map(Some).collect()
}

/// A .shp, its index and the geometry of each row.
type Set = (Vec<u8>, Vec<u8>, Vec<String>);

/// One of points and one of polygons.
fn sets() -> [Set; 2] {
    [1, 5].map(|kind| {
        let (shp, shx) = builder::shp(kind, &records(kind));
        let layer = check("whole", &zip(&shp, &shx, Deflated), true, Ok((ROWS, &[]))).unwrap();
        (shp, shx, texts(&layer).into_iter().map(Option::unwrap).collect())
    })
}

/// Orders of the file: reversed, one record moved to the front or to the end, two exchanged.
const ORDERS: [[usize; ROWS]; 4] = [[5, 4, 3, 2, 1, 0], [5, 0, 1, 2, 3, 4], [0, 2, 3, 4, 5, 1], [0, 4, 2, 3, 1, 5]];

/// The same sets with their records in these orders, and the rows in the order of the file.
fn shuffled() -> Vec<(Set, [usize; ROWS])> {
    let mut found = Vec::new();
    for (kind, (_, _, own)) in [1, 5].into_iter().zip(sets()) {
        for order in ORDERS {
            let (shp, shx) = builder::shuffled(kind, &records(kind), &order);
            found.push(((shp, shx, own.clone()), order));
        }
    }
    found
}

#[test]
fn damaged_index_is_an_error_and_ignored_without_strict() {
    const DAMAGED: &[&str] = &["no-shx", "shx-damaged"];
    for (shp, shx, own) in sets() {
        for row in 0..ROWS {
            let at = entry(row);
            let other = number(&shx, entry((row + 1) % ROWS));
            let zeros = with_number(&with_number(&shx, at, 0), at + 4, 0);
            let shared = format!(
                "record {} has the same offset as record {}",
                row.max((row + 1) % ROWS),
                row.min((row + 1) % ROWS)
            );
            let table = [
                (zeros, format!("the index has no offset for record {row}, but")),
                (with_number(&shx, at, 0), format!("the index has offset 0 for record {row}, but")),
                (with_number(&shx, at, 49), format!("the index has offset 98 for record {row}, but")),
                (with_number(&shx, at, -1), format!("the index has offset -2 for record {row}, but")),
                (with_number(&shx, at, 1 << 30), format!("the index has offset 2147483648 for record {row}, but")),
                (with_number(&shx, at, other), shared),
            ];
            for (damaged, words) in table {
                let zip = zip(&shp, &damaged, Deflated);
                let error = read(&zip, true).unwrap_err();
                assert_eq!(error.facts().member.as_deref(), Some("t.shx"), "{error}");
                let record = error.facts().record.unwrap();
                assert_eq!(error.facts().offset, Some(entry(usize::try_from(record).unwrap()) as u64), "{error}");
                check(&words, &zip, true, Err(&words));
                let layer = check(&words, &zip, false, Ok((ROWS, DAMAGED))).unwrap();
                assert_eq!(texts(&layer), all(&own), "{words}");
                let note = only(&layer, "shx-damaged");
                assert_eq!(note.member.as_deref(), Some("t.shx"));
                assert!(
                    note.message.contains(&words) && note.message.contains("assigned to the wrong rows"),
                    "{}",
                    note.message
                );
            }
        }
        for none in [b"rubbish".to_vec(), shp.clone(), shx[..99].to_vec()] {
            assert!(read(&zip(&shp, &none, Deflated), true).is_err());
            let layer = check("no index", &zip(&shp, &none, Deflated), false, Ok((ROWS, DAMAGED))).unwrap();
            assert_eq!(texts(&layer), all(&own));
        }
        let layer = check("an empty index", &zip(&shp, &[], Deflated), true, Ok((ROWS, &["no-shx"]))).unwrap();
        assert_eq!(texts(&layer), all(&own));
    }
}

/// Asserts that each row has its own geometry or none, and that each difference is reported.
#[track_caller]
fn assert_reported(what: &str, layer: &Layer, own: &[String]) {
    let found = texts(layer);
    let is_bearable = found.iter().zip(own).all(|(found, own)| found.as_ref().is_none_or(|found| found == own));
    assert!(is_bearable, "{what}: {found:?} {:?}", layer.diagnostics());
    assert!(found == all(own) || !layer.diagnostics().is_empty(), "{what}: {found:?} in silence");
}

#[test]
fn offset_inside_of_a_record_is_damage_of_the_index() {
    for (shp, shx, own) in sets() {
        for row in 0..ROWS {
            let place = number(&shx, entry(row));
            let far = [1, ROWS - 2].map(|other| number(&shx, entry(other)) + 3);
            for (place, length) in [place + 1, place + 3, place + 4, place - 3, far[0], far[1]]
                .into_iter()
                .flat_map(|place| [(place, None), (place, Some(5)), (place, Some(7000))])
            {
                let moved = with_number(&shx, entry(row), place);
                let damaged = length.map_or(moved.clone(), |length| with_number(&moved, entry(row) + 4, length));
                let what = format!("row {row} at word {place}, {length:?}");
                let zip = zip(&shp, &damaged, Deflated);
                check(&what, &zip, true, Err(&format!("the index has offset {} for record {row}, but", place * 2)));
                let layer = check(&what, &zip, false, Ok((ROWS, &["no-shx", "shx-damaged"]))).unwrap();
                assert_eq!(texts(&layer), all(&own), "{what}");
            }
        }
    }
}

#[test]
fn flipped_bit_of_an_index_is_never_lost_silently() {
    let whole = sets().map(|set| (set, [0, 1, 2, 3, 4, 5]));
    for ((shp, shx, own), order) in whole.into_iter().chain(shuffled()) {
        for bit in 0..ROWS * 8 * 8 {
            let mut damaged = shx.clone();
            damaged[100 + bit / 8] ^= 1 << (bit % 8);
            let what = format!("{order:?} bit {bit}");
            if let Ok(layer) = read(&zip(&shp, &damaged, Stored), true) {
                assert_reported(&what, &layer, &own);
            }
            let layer = read(&zip(&shp, &damaged, Stored), false).unwrap();
            if found(&layer, "shx-damaged").is_empty() {
                assert_reported(&what, &layer, &own);
            } else if order.is_sorted() {
                assert_eq!(texts(&layer), all(&own), "{what}");
            }
        }
    }
}

#[test]
fn records_in_another_order_follow_the_index_unless_it_is_damaged() {
    for ((shp, shx, own), order) in shuffled() {
        let what = format!("{order:?}");
        let layer = check(&what, &zip(&shp, &shx, Deflated), true, Ok((ROWS, &["out-of-order"]))).unwrap();
        assert_eq!(texts(&layer), all(&own), "{what}");
        for row in 0..ROWS {
            let zeros = with_number(&with_number(&shx, entry(row), 0), entry(row) + 4, 0);
            check(&what, &zip(&shp, &zeros, Deflated), true, Err(&format!("has no offset for record {row}")));
            let saved = read(&zip(&shp, &zeros, Deflated), false).unwrap();
            let of_file: Vec<Option<String>> = order.iter().map(|row| Some(own[*row].clone())).collect();
            assert_eq!(texts(&saved), of_file, "{what}");
            assert!(only(&saved, "shx-damaged").message.contains("geometries may be assigned to the wrong rows"));
        }
        // A record without an entry, in an index of fewer entries.
        let fewer = builder::with_header(i32::from(shp[32]), &shx[100..entry(ROWS - 1)]);
        let members = [("t.shp", &shp), ("t.shx", &fewer)];
        let layer = read(&builder::zip(&builder::lend(&members)), true).unwrap();
        assert_eq!(texts(&layer), all(&own)[..ROWS - 1], "{what}");
        assert!(codes(&layer).contains(&"shp-seams"), "{what}: {:?}", layer.diagnostics());
    }
}

#[test]
fn truncated_shp_is_an_error_and_keeps_the_records_before_the_cut() {
    for (shp, shx, own) in sets() {
        for cut in (101..shp.len()).step_by(13) {
            let whole = zip(&shp, &shx, Stored);
            let start = whole.windows(100).position(|bytes| *bytes == shp[..100]).unwrap();
            for bytes in [zip(&shp[..cut], &shx, Deflated), whole[..start + cut].to_vec()] {
                assert!(read(&bytes, true).is_err(), "cut at {cut}");
                let layer = read(&bytes, false).unwrap();
                let size = (shp.len() - 100) / ROWS;
                assert_eq!(texts(&layer), all(&own)[..(cut - 100) / size], "cut at {cut}: {:?}", layer.diagnostics());
                assert!(!layer.diagnostics().is_empty(), "cut at {cut}");
            }
        }
    }
    // In another order: truncation inside the last record, and before all of it.
    for ((shp, shx, own), order) in shuffled() {
        let (what, size) = (format!("{order:?}"), (shp.len() - 100) / ROWS);
        let cut = zip(&shp[..shp.len() - 5], &shx, Deflated);
        check(&what, &cut, true, Err("the file is truncated or damaged"));
        let layer = read(&cut, false).unwrap();
        let mut rows = all(&own);
        rows[order[ROWS - 1]] = None;
        assert_eq!(texts(&layer), rows, "{what}");
        assert!(
            only(&layer, "shp-damaged").message.contains("1 records with a damaged length"),
            "{:?}",
            layer.diagnostics()
        );
        let cut = zip(&shp[..shp.len() - size], &shx, Deflated);
        check(&what, &cut, true, Err("the .shp is truncated, or the index belongs to another file"));
        assert!(only(&read(&cut, false).unwrap(), "shx-damaged").message.contains("assigned to the wrong rows"));
    }
}

#[test]
fn damaged_byte_of_a_shp_loses_only_its_own_record() {
    for (shp, shx, own) in sets() {
        let size = (shp.len() - 100) / ROWS;
        let whole = zip(&shp, &shx, Stored);
        let start = whole.windows(100).position(|bytes| *bytes == shp[..100]).unwrap();
        for byte in (100..shp.len()).step_by(3) {
            let mut bytes = whole.clone();
            bytes[start + byte] ^= 4;
            assert!(read(&bytes, true).is_err(), "byte {byte}");
            let layer = read(&bytes, false).unwrap();
            assert!(!found(&layer, "shp-damaged").is_empty(), "byte {byte}: {:?}", layer.diagnostics());
            for (row, found) in texts(&layer).into_iter().enumerate() {
                let is_met = row == (byte - 100) / size;
                assert!(is_met || found.as_ref() == Some(&own[row]), "byte {byte}: row {row} is {found:?}");
            }
        }
    }
    // In another order, the .shp is read completely or not at all.
    for ((shp, shx, _), order) in shuffled() {
        let mut bytes = zip(&shp, &shx, Stored);
        let at = bytes.windows(100).position(|bytes| *bytes == shp[..100]).unwrap() + shp.len() - 1;
        bytes[at] ^= 4;
        let layer = read(&bytes, false).unwrap();
        assert_eq!((layer.len(), layer.geometry_column()), (ROWS, None), "{order:?}");
        assert!(codes(&layer).contains(&"member-lost"), "{:?}", layer.diagnostics());
    }
}

#[test]
fn numbers_of_records_matter_only_without_an_index() {
    for (shp, shx, own) in sets() {
        let size = (shp.len() - 100) / ROWS;
        let mut unnumbered = shp.clone();
        for row in 0..ROWS {
            unnumbered[100 + size * row..104 + size * row].fill(0);
        }
        check("numbers of zero", &zip(&unnumbered, &shx, Deflated), true, Ok((ROWS, &[])));
        let layer =
            check("no index", &zip(&unnumbered, &[], Deflated), true, Ok((ROWS, &["no-shx", "record-numbers"])));
        assert_eq!(texts(&layer.unwrap()), all(&own));
        // Record numbers that follow the rows, which are reversed.
        let mut backwards = builder::shuffled(i32::from(shp[32]), &records(i32::from(shp[32])), &ORDERS[0]).0;
        for (place, row) in ORDERS[0].iter().enumerate() {
            backwards[100 + size * place..104 + size * place]
                .copy_from_slice(&i32::try_from(row + 1).unwrap().to_be_bytes());
        }
        for cut in [backwards.len(), backwards.len() - 5, 100 + 3 * size + 2] {
            let layer = read(&zip(&backwards[..cut], &[], Deflated), false).unwrap();
            let note = only(&layer, "record-numbers");
            assert!(note.message.contains("geometries may be assigned to the wrong rows"), "{cut}: {}", note.message);
        }
    }
}

/// Where each record is surrounded by other bytes, offsets and lengths confirm no neighbour.
#[test]
fn records_with_padding_around_them_are_read_where_the_index_has_them() {
    for (shp, shx, own) in sets() {
        let (mut body, mut index) = (Vec::new(), Vec::new());
        for row in 0..ROWS {
            let start = usize::try_from(number(&shx, entry(row))).unwrap() * 2;
            let length = number(&shx, entry(row) + 4);
            body.extend(vec![0; 2 * (row + 1)]);
            index.extend(i32::try_from(50 + body.len() / 2).unwrap().to_be_bytes());
            index.extend(length.to_be_bytes());
            body.extend(&shp[start..start + 8 + usize::try_from(length).unwrap() * 2]);
        }
        body.extend([0; 6]);
        let kind = i32::from(shp[32]);
        let (shp, shx) = (builder::with_header(kind, &body), builder::with_header(kind, &index));
        for strict in [true, false] {
            let layer = check("padding", &zip(&shp, &shx, Deflated), strict, Ok((ROWS, &["shp-seams"]))).unwrap();
            assert_eq!(texts(&layer), all(&own));
        }
    }
}

#[test]
fn entry_of_zeros_is_a_row_without_a_shape_where_the_others_fill_the_shp() {
    for kind in [1, 5] {
        let few = records(kind)[..ROWS - 1].to_vec();
        let backwards: Vec<usize> = (0..ROWS - 1).rev().collect();
        let sets =
            [(builder::shp(kind, &few), &[][..]), (builder::shuffled(kind, &few, &backwards), &["out-of-order"][..])];
        for ((shp, shx), codes) in sets {
            for row in 0..ROWS {
                let mut index = shx[100..].to_vec();
                index.splice(8 * row..8 * row, [0; 8]);
                let zip = zip(&shp, &builder::with_header(kind, &index), Deflated);
                let layer = check("an entry of zeros", &zip, true, Ok((ROWS, codes))).unwrap();
                let nulls: Vec<bool> = texts(&layer).iter().map(Option::is_none).collect();
                assert_eq!(nulls, (0..ROWS).map(|other| other == row).collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn lengths_that_contradict_the_shp_are_reported_once_and_cost_nothing() {
    for (shp, shx, own) in sets() {
        let every = (0..ROWS).fold(shx.clone(), |shx, row| with_number(&shx, entry(row) + 4, 17));
        let one = with_number(&shx, entry(3) + 4, 7);
        let last = with_number(&shx, entry(ROWS - 1) + 4, 1 << 20);
        // In another order, the first row is exchanged with the last.
        let mut exchanged = shx.clone();
        exchanged.copy_within(100..108, 140);
        exchanged[100..108].copy_from_slice(&shx[140..148]);
        let jumped = with_number(&exchanged, entry(2) + 4, 9);
        let table = [(every, ROWS, 0), (one, 1, 3), (last, 1, ROWS - 1), (jumped, 1, 2), (exchanged, 0, 0)];
        for (shx, count, first) in table {
            let layer = read(&zip(&shp, &shx, Deflated), true).unwrap();
            let mut texts = texts(&layer);
            if !found(&layer, "out-of-order").is_empty() {
                texts.swap(0, ROWS - 1);
            }
            assert_eq!(texts, all(&own));
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
