//! Records that stand in another order than the rows, in damaged files: no row is given the geometry of another.

use std::ops::Range;

use headland::archive::Options;
use headland::layer::{self, Layer};
use zip::CompressionMethod::{self, Deflated, Stored};

use crate::{make, stream, wkt};

const ROWS: usize = 20;
const RECORD: usize = 28;

/// How the records of a file are numbered.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Numbers {
    /// By their rows.
    OfRows,
    /// By their places.
    OfPlaces,
    Zero,
}

const NUMBERS: [Numbers; 3] = [Numbers::OfRows, Numbers::OfPlaces, Numbers::Zero];

/// A shapefile in which row `row` is the point (`row` + 0.5, 3).
#[derive(Clone)]
struct Shuffled {
    /// The rows in the order of the file.
    order: Vec<usize>,
    shp: Vec<u8>,
    shx: Vec<u8>,
    dbf: Vec<u8>,
}

impl Shuffled {
    fn new(order: Vec<usize>, numbers: Numbers) -> Self {
        let (mut body, mut index) = (Vec::new(), vec![0; order.len() * 8]);
        for (place, row) in order.iter().enumerate() {
            index[row * 8..row * 8 + 4].copy_from_slice(&i32::try_from(50 + body.len() / 2).unwrap().to_be_bytes());
            index[row * 8 + 4..row * 8 + 8].copy_from_slice(&10_i32.to_be_bytes());
            let number = match numbers {
                Numbers::OfRows => row + 1,
                Numbers::OfPlaces => place + 1,
                Numbers::Zero => 0,
            };
            body.extend(i32::try_from(number).unwrap().to_be_bytes());
            body.extend(10_i32.to_be_bytes());
            body.extend(make::point(f64::from(u16::try_from(*row).unwrap()) + 0.5, 3.0));
        }
        let cells: Vec<Vec<u8>> = (0..order.len()).map(|row| format!(" {row:4}").into_bytes()).collect();
        let cells: Vec<&[u8]> = cells.iter().map(Vec::as_slice).collect();
        let dbf = make::dbf(&[("ID", b'N', 4, 0)], &cells, 0);
        Self { order, shp: make::with_header(1, &body), shx: make::with_header(1, &index), dbf }
    }

    fn members(&self) -> [(&str, &[u8]); 4] {
        [("t.dbf", &self.dbf), ("t.shx", &self.shx), ("t.prj", make::WGS_84.as_bytes()), ("t.shp", &self.shp)]
    }

    fn zip(&self, method: CompressionMethod) -> Vec<u8> {
        make::zip_with(&self.members(), method)
    }

    /// Where a record stands in the .shp.
    fn record(&self, row: usize) -> Range<usize> {
        let place = self.order.iter().position(|other| *other == row).unwrap();
        100 + RECORD * place..100 + RECORD * (place + 1)
    }
}

/// Orders of the file: as the rows, backwards, one record moved to the front or to the end, two exchanged.
fn orders() -> [Vec<usize>; 5] {
    let rows: Vec<usize> = (0..ROWS).collect();
    let moved = |from: usize, to: usize| {
        let mut rows = rows.clone();
        let row = rows.remove(from);
        rows.insert(to, row);
        rows
    };
    let mut exchanged = rows.clone();
    exchanged.swap(4, 9);
    [rows.clone(), rows.iter().rev().copied().collect(), moved(ROWS - 1, 3), moved(3, ROWS - 1), exchanged]
}

/// What is saved of a zip, which batches give as well.
#[track_caller]
fn saved(zip: Vec<u8>) -> Layer {
    let options = Options { strict: false, ..Options::default() };
    let source = make::source(zip);
    stream::same(layer::read(&source, &options), &source, &options, 7, "batches");
    layer::read(&source, &options).unwrap()
}

fn texts(layer: &Layer) -> Vec<Option<String>> {
    layer.geometries().map(|wkb| wkb.map(wkt::text)).collect()
}

fn own(row: usize) -> String {
    format!("Point({row}.5 3)")
}

/// The rows without a geometry; the others have their own.
#[track_caller]
fn nulls(layer: &Layer, what: &str) -> Vec<usize> {
    let mut nulls = Vec::new();
    for (row, found) in texts(layer).into_iter().enumerate() {
        if found.is_none() {
            nulls.push(row);
        } else {
            assert_eq!(found, Some(own(row)), "{what}: row {row} has another geometry; {:?}", layer.diagnostics());
        }
    }
    nulls
}

#[track_caller]
fn told<'a>(layer: &'a Layer, code: &str, what: &str) -> &'a str {
    let note = layer.diagnostics().iter().find(|note| note.code.as_str() == code);
    &note.unwrap_or_else(|| panic!("{what}: no {code} in {:?}", layer.diagnostics())).message
}

#[test]
fn a_shp_that_is_cut_keeps_the_records_in_reach_with_their_rows() {
    for (order, numbers) in orders().into_iter().flat_map(|order| NUMBERS.map(|numbers| (order.clone(), numbers))) {
        let whole = Shuffled::new(order, numbers);
        let is_in_order = whole.order.is_sorted();
        for cut in (101..whole.shp.len()).step_by(13) {
            let what = format!("{:?} {numbers:?} cut at {cut}", whole.order);
            let loose = Shuffled { shp: whole.shp[..cut].to_vec(), ..whole.clone() };
            let zip = whole.zip(Stored);
            let start = zip.windows(100).position(|bytes| *bytes == whole.shp[..100]).unwrap();
            for bytes in [loose.zip(Deflated), zip[..start + cut].to_vec()] {
                let layer = saved(bytes);
                let nulls = nulls(&layer, &what);
                let there = (0..ROWS).filter(|row| whole.record(*row).end <= cut).count();
                assert_eq!(layer.len() - nulls.len(), there, "{what}: {:?}", layer.diagnostics());
                assert!(!is_in_order || nulls.is_empty(), "{what}: rows before the cut, and no others");
                if let Some(first) = nulls.first() {
                    let at = |note: &&headland::archive::Diagnostic| note.record == Some(*first as u64);
                    let note = layer.diagnostics().iter().find(at).unwrap();
                    assert!(["shx-damaged", "shp-damaged"].contains(&note.code.as_str()), "{what}: {note:?}");
                    assert!(note.message.contains(&format!("({} of them)", nulls.len())), "{what}: {note:?}");
                }
            }
        }
    }
}

#[test]
fn one_bit_of_an_index_costs_one_geometry_at_most() {
    for order in orders() {
        let whole = Shuffled::new(order, Numbers::OfPlaces);
        let zip = whole.zip(Stored);
        let start = zip.windows(100).position(|bytes| *bytes == whole.shx[..100]).unwrap();
        for bit in (0..ROWS * 8 * 8).step_by(3) {
            let mut bytes = zip.clone();
            bytes[start + 100 + bit / 8] ^= 1 << (bit % 8);
            let layer = saved(bytes);
            let what = format!("{:?} bit {bit}", whole.order);
            let nulls = nulls(&layer, &what);
            assert_eq!(layer.len(), ROWS, "{what}");
            let row = bit / 64;
            let is_bearable = nulls.is_empty() || nulls == [row];
            assert!(is_bearable, "{what}: {nulls:?} {:?}", layer.diagnostics());
            assert!(!whole.order.is_sorted() || nulls.is_empty() || row == ROWS - 1, "{what}: {nulls:?}");
            told(&layer, "shx-damaged", &what);
        }
    }
}

#[test]
fn an_entry_that_names_the_place_of_another_record_gives_no_row_its_geometry() {
    for order in orders() {
        let whole = Shuffled::new(order, Numbers::OfRows);
        for (row, other) in [(3, 0), (0, 3), (ROWS - 1, 5), (5, ROWS - 1), (7, 8)] {
            let what = format!("{:?}: {row} at the place of {other}", whole.order);
            let mut damaged = whole.clone();
            damaged.shx.copy_within(100 + 8 * other..104 + 8 * other, 100 + 8 * row);
            let error = layer::read(&make::source(damaged.zip(Deflated)), &Options::default()).unwrap_err();
            assert_eq!(error.facts().record, Some(row.max(other) as u64), "{what}: {error}");
            let layer = saved(damaged.zip(Deflated));
            let nulls = nulls(&layer, &what);
            assert!(nulls.iter().all(|null| [row, other].contains(null)), "{what}: {nulls:?}");
            assert_eq!(layer.len(), ROWS, "{what}");
            told(&layer, "shx-damaged", &what);
        }
    }
}

#[test]
fn damage_of_a_shuffled_shp_costs_the_records_that_it_meets() {
    for order in orders() {
        let whole = Shuffled::new(order, Numbers::OfRows);
        let zip = whole.zip(Stored);
        let start = zip.windows(100).position(|bytes| *bytes == whole.shp[..100]).unwrap();
        for byte in (100..whole.shp.len()).step_by(3) {
            let mut bytes = zip.clone();
            bytes[start + byte] ^= 4;
            let layer = saved(bytes);
            let what = format!("{:?} byte {byte}", whole.order);
            told(&layer, "shp-damaged", &what);
            let found = texts(&layer);
            assert!(whole.order.is_sorted() || found.len() == ROWS, "{what}");
            for (row, found) in found.into_iter().enumerate() {
                let is_met = whole.record(row).contains(&byte);
                assert!(is_met || found == Some(own(row)), "{what}: row {row} is {found:?}; {:?}", layer.diagnostics());
            }
        }
    }
}

#[test]
fn what_can_be_unpacked_of_a_shuffled_shp_is_kept() {
    let mut order: Vec<usize> = (0..2000).collect();
    order.swap(10, 1999);
    let whole = Shuffled::new(order, Numbers::OfRows);
    let bytes = whole.zip(Deflated);
    let data = bytes.windows(5).position(|name| name == b"t.shp").unwrap() + 5;
    let end = bytes.windows(5).rposition(|name| name == b"t.shp").unwrap();
    let mut broken = bytes.clone();
    broken[data + (end - data) * 3 / 4] ^= 0xFF;
    let layer = saved(broken);
    told(&layer, "shp-damaged", "deflated");
    let found = texts(&layer);
    assert_eq!(found.len(), 2000);
    let wrong = (0..2000).filter(|row| whole.record(*row).end < whole.shp.len() / 2 && found[*row] != Some(own(*row)));
    assert_eq!(wrong.count(), 0, "records before the fault: {:?}", layer.diagnostics());
}

#[test]
fn records_in_order_are_read_whatever_their_numbers_are() {
    for numbers in NUMBERS {
        let whole = Shuffled::new((0..ROWS).collect(), numbers);
        for shx in [Vec::new(), b"rubbish".to_vec()] {
            let layer = saved(Shuffled { shx, ..whole.clone() }.zip(Deflated));
            assert_eq!((layer.len(), nulls(&layer, "in order")), (ROWS, vec![]), "{numbers:?}");
        }
    }
}

#[test]
fn rows_that_may_have_the_geometries_of_others_are_told() {
    let whole = Shuffled::new((0..ROWS).rev().collect(), Numbers::OfPlaces);
    for shx in [b"rubbish".to_vec(), whole.shp.clone(), make::with_header(1, &[0; 8 * ROWS][..])[..99].to_vec()] {
        let layer = saved(Shuffled { shx, ..whole.clone() }.zip(Deflated));
        let message = told(&layer, "shx-damaged", "an index that is none");
        assert!(message.contains("geometries may belong to other rows"), "{message}");
    }
    let whole = Shuffled::new((0..ROWS).rev().collect(), Numbers::OfRows);
    for cut in [whole.shp.len(), whole.shp.len() - 5, 100 + 3 * RECORD + 2] {
        let shp = whole.shp[..cut].to_vec();
        let layer = saved(Shuffled { shp, shx: Vec::new(), ..whole.clone() }.zip(Deflated));
        let message = told(&layer, "record-numbers", "no index");
        assert!(message.contains("geometries may belong to other rows"), "{cut}: {message}");
    }
}
