//! Tests grain cart files (field notes, Grain cart files): deviations are read unchanged and reported; damage is an
//! error.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use headland::archive::{ReadOptions, Source};
use headland::error::{Error, Kind};
use headland::layer::crs::Crs;
use headland::layer::{self, Layer};
use proptest::prelude::*;

use crate::builder;
use crate::series::cases;
use crate::support::{self, codes};

const UNITS: &str =
    ",Pounds,,,Percent,Percent,Percent,Pounds/Bushel,Bushels,Bushels,,UTC Date,UTC Time,Degrees,Degrees,,,,";
const NAMES: &str = "LoadNumber,Weight,TruckID,Destination,MeasuredMoisture,MoistureCorrection,Moisture,TestWeight,\
                     WetBushels,DryBushels,Variety,LoadDate,LoadTime,Latitude,Longitude,LoadCellCAL,LocalDate,LocalTime,\
                     Comment";
pub(crate) const FIRST: &str =
    "1,30000.4,T1,Bin,15.2,0.1,15.3,56.0,535.72,535.00,HX,2026-09-21,14:00:05,45.25,-98.5,1.0,2026-09-21,09:00:05,";
pub(crate) const SECOND: &str =
    "2,12000.0,T2,,15.0,0.1,15.1,56.0,214.29,214.00,HX,2026-09-22,01:30:00,45.5,-98.75,1.0,2026-09-21,20:30:00,wet";

/// A regular file of these loads.
pub(crate) fn file(loads: &[&str]) -> String {
    with_total(42_000, loads)
}

fn with_total(total: u32, loads: &[&str]) -> String {
    let mut lines = vec![
        "GrcVersion,1.6,".to_owned(),
        "Field,\"Smith, north\",".to_owned(),
        "Farm,,".to_owned(),
        format!("TotalPounds,{total},"),
        UNITS.to_owned(),
        NAMES.to_owned(),
    ];
    lines.extend(loads.iter().map(|load| (*load).to_owned()));
    lines.join("\r\n") + "\r\n"
}

fn of(bytes: impl Into<Vec<u8>>, strict: bool) -> headland::error::Result<Layer> {
    let bytes: Vec<u8> = bytes.into();
    support::read(&bytes, strict)
}

fn read(text: &str) -> Layer {
    of(text, true).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn refused(bytes: impl Into<Vec<u8>>) -> Error {
    let error = of(bytes, true).unwrap_err();
    assert_eq!(error.kind(), Kind::Archive, "{error}");
    error
}

fn batch(layer: &Layer) -> &RecordBatch {
    &layer.batches()[0]
}

fn texts(layer: &Layer, name: &str) -> Vec<Option<String>> {
    batch(layer).column_by_name(name).unwrap().as_string::<i64>().iter().map(|cell| cell.map(str::to_owned)).collect()
}

fn floats(layer: &Layer, name: &str) -> Vec<Option<f64>> {
    batch(layer).column_by_name(name).unwrap().as_primitive::<Float64Type>().iter().collect()
}

/// The first load with another cell in one column.
fn first_with(name: &str, cell: &str) -> String {
    let at = NAMES.split(',').position(|known| known == name).unwrap();
    let mut cells: Vec<&str> = FIRST.split(',').collect();
    cells[at] = cell;
    cells.join(",")
}

#[test]
fn regular_file_is_a_table_of_loads_with_units_header_and_points() {
    let layer = read(&file(&[FIRST, SECOND]));
    assert_eq!(codes(&layer), Vec::<&str>::new(), "{:?}", layer.diagnostics());
    let numbers = batch(&layer).column_by_name("LoadNumber").unwrap();
    assert_eq!(numbers.as_primitive::<Int64Type>().values()[..], [1, 2]);
    assert_eq!(floats(&layer, "Weight"), [Some(30_000.4), Some(12_000.0)]);
    assert_eq!(texts(&layer, "LoadTime"), [Some("14:00:05".to_owned()), Some("01:30:00".to_owned())]);
    assert_eq!(texts(&layer, "Destination"), [Some("Bin".to_owned()), None]);
    assert_eq!(texts(&layer, "Comment"), [None, Some("wet".to_owned())]);
    let units = layer.units();
    let unit = |name: &str| units.iter().find(|(known, _)| known == name).map(|(_, unit)| unit.as_str());
    let expected = [
        ("Weight", Some("lb")),
        ("Moisture", Some("%")),
        ("TestWeight", Some("lb/bu")),
        ("DryBushels", Some("bu")),
        ("LoadDate", Some("UTC Date")),
        ("Longitude", Some("deg")),
        ("TruckID", None),
        ("LocalTime", None),
    ];
    assert_eq!(expected.map(|(name, _)| (name, unit(name))), expected);
    let header: Vec<(&str, &str)> = layer.metadata().iter().map(|(key, value)| (&**key, &**value)).collect();
    assert_eq!(header, [("GrcVersion", "1.6"), ("Field", "Smith, north"), ("Farm", ""), ("TotalPounds", "42000")]);
    assert!(layer.schema().metadata()["headland.metadata"].contains("\"Field\":\"Smith, north\""));
    assert_eq!(layer.crs().and_then(Crs::epsg), Some(4326));
    let points = layer.geojson(false).unwrap();
    assert!(points.contains("[-98.5,45.25]") && points.contains("[-98.75,45.5]"), "{points}");
}

#[test]
fn path_bytes_and_zip_give_equal_layers() {
    let text = file(&[FIRST, SECOND]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Corn_North_40.GRC");
    std::fs::write(&path, &text).unwrap();
    let renamed = folder.path().join("export.csv");
    std::fs::write(&renamed, &text).unwrap();
    let bytes = read(&text);
    let from = |path: &Path| layer::read(&Source::Path(path.to_owned()), &ReadOptions::default()).unwrap();
    let zipped = of(builder::zip(&[("a/Corn.grc", text.as_bytes())]), true).unwrap();
    for (layer, name) in [(from(&path), "Corn_North_40"), (from(&renamed), "export.csv"), (zipped, "Corn")] {
        assert_eq!((layer.name(), batch(&layer), layer.metadata()), (name, batch(&bytes), bytes.metadata()));
    }
    let parquet = folder.path().join("loads.parquet");
    bytes.write_parquet(&parquet, &layer::Cancel::default()).unwrap();
    assert!(std::fs::metadata(parquet).unwrap().len() > 0);
}

#[test]
fn selected_columns_keep_the_geometry() {
    let choose = |name: &str| {
        let options = ReadOptions { columns: Some(vec![name.to_owned()]), ..ReadOptions::default() };
        layer::read(&builder::source(file(&[FIRST, SECOND]).into()), &options)
    };
    let layer = choose("Weight").unwrap();
    let names: Vec<String> = layer.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["Weight", "geometry"]);
    assert!(layer.geometries().all(|point| point.is_some()));
    assert_eq!(choose("Wait").unwrap_err().kind(), Kind::Value);
}

#[test]
fn truncated_times_stay_text_and_are_reported() {
    let layer = read(&with_total(30_000, &[&first_with("LoadTime", "14:00:0")]));
    assert_eq!(texts(&layer, "LoadTime"), [Some("14:00:0".to_owned())]);
    assert_eq!(codes(&layer), ["time-cut"]);
    assert_eq!(layer.diagnostics()[0].record, Some(0));
    let whole = read(&with_total(30_000, &[&first_with("LoadTime", "9:26:45")]));
    assert_eq!(codes(&whole), Vec::<&str>::new(), "seven characters, and whole");
}

#[test]
fn empty_coordinates_are_null_points() {
    let without = FIRST.replace("45.25,-98.5,", ",,");
    let half = FIRST.replace("45.25,-98.5,", "45.25,,");
    let beyond = FIRST.replace("45.25,-98.5,", "452.5,-98.5,");
    for (load, code) in [(without, "no-position"), (half, "no-position"), (beyond, "bad-position")] {
        let layer = read(&file(&[SECOND, &load]));
        assert_eq!(layer.geometries().map(|point| point.is_some()).collect::<Vec<_>>(), [true, false], "{load}");
        assert_eq!(codes(&layer), [code]);
        assert_eq!(layer.diagnostics()[0].record, Some(1));
    }
}

#[test]
fn total_that_is_not_the_rounded_sum_is_kept_and_reported() {
    for (total, expected) in [(42_000, vec![]), (42_001, vec!["total-differs"]), (41_999, vec!["total-differs"])] {
        let layer = read(&with_total(total, &[FIRST, SECOND]));
        assert_eq!(codes(&layer), expected, "{total}");
        assert_eq!(layer.metadata()[3].1, total.to_string());
        assert_eq!(floats(&layer, "Weight"), [Some(30_000.4), Some(12_000.0)]);
    }
    let in_kilograms = with_total(1, &[FIRST]).replace(",Pounds,", ",Kilograms,");
    assert_eq!(codes(&read(&in_kilograms)), Vec::<&str>::new(), "pounds are not compared with kilograms");
}

#[test]
fn truncated_bushels_are_kept_and_reported() {
    // 30000.4 / 56 is 535.7214.., so only its first decimals distinguish truncation from rounding.
    for (cell, expected) in [("535.72", vec![]), ("535", vec!["bushels-truncated"]), ("536", vec![]), ("500", vec![])] {
        let layer = read(&with_total(30_000, &[&first_with("WetBushels", cell)]));
        assert_eq!(codes(&layer), expected, "{cell}");
        assert_eq!(floats(&layer, "WetBushels"), [cell.parse().ok()]);
    }
}

#[test]
fn moisture_in_a_comment_stays_in_the_comment() {
    let load = first_with("Moisture", "").replace("09:00:05,", "09:00:05,15.3 %");
    let layer = read(&with_total(30_000, &[&load]));
    assert_eq!(texts(&layer, "Comment"), [Some("15.3 %".to_owned())]);
    assert_eq!(floats(&layer, "Moisture"), [None]);
}

#[test]
fn dates_labelled_utc_that_may_be_local_stay_text_and_are_reported() {
    let same = FIRST.replace("14:00:05", "09:00:05");
    let date_alone = SECOND.replace("2026-09-22,01:30:00", "2026-09-21,01:30:00");
    let unchecked = FIRST.replace("2026-09-21,09:00:05", ",");
    for (load, total) in [(same, 30_000), (date_alone, 12_000), (unchecked, 30_000)] {
        let layer = read(&with_total(total, &[&load]));
        assert_eq!(codes(&layer), ["utc-doubtful"], "{load}");
        for column in ["LoadDate", "LoadTime"] {
            assert_eq!(batch(&layer).column_by_name(column).unwrap().data_type(), &DataType::LargeUtf8);
        }
    }
    let unlabelled = with_total(30_000, &[&FIRST.replace("14:00:05", "09:00:05")]).replace("UTC Date", "Date");
    assert_eq!(codes(&read(&unlabelled)), Vec::<&str>::new());
}

#[test]
fn utf_8_with_a_byte_order_mark_and_latin_1_are_read() {
    let text = with_total(30_000, &[&first_with("Destination", "Silo Süd")]);
    let with_mark = format!("\u{feff}{text}");
    let latin_1: Vec<u8> = text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect();
    let expected = [Some("Silo Süd".to_owned())];
    for (bytes, expected_codes) in
        [(text.into_bytes(), vec![]), (with_mark.into_bytes(), vec![]), (latin_1.clone(), vec!["latin-1"])]
    {
        let layer = of(bytes, true).unwrap();
        assert_eq!((texts(&layer, "Destination"), codes(&layer)), (expected.to_vec(), expected_codes));
        assert_eq!(layer.metadata()[0].0, "GrcVersion");
    }
    let options = ReadOptions { encoding: Some("cp1251".to_owned()), ..ReadOptions::default() };
    let named = layer::read(&builder::source(latin_1), &options).unwrap();
    assert_eq!(texts(&named, "Destination"), [Some("Silo Sьd".to_owned())]);
}

#[test]
fn the_header_row_is_found_by_its_names() {
    let text = file(&[FIRST, SECOND]);
    let expected = read(&text);
    let longer = text.replace("Farm,,\r\n", "Farm,,\r\n\r\nBarn,B,\r\nSomething new,1,2,\r\n");
    let shorter = text.split_once("Farm,,\r\n").unwrap().1;
    let shouted = text.replace(NAMES, &NAMES.to_uppercase());
    for other in [&longer, shorter, &shouted] {
        assert_eq!(batch(&read(other)).columns(), batch(&expected).columns(), "{other}");
    }
    assert!(read(&longer).metadata().contains(&("Something new".to_owned(), "1,2".to_owned())));
    for end in ["\n", "\r"] {
        assert_eq!(batch(&read(&text.replace("\r\n", end))).columns(), batch(&expected).columns(), "{end:?}");
    }
    let moved = read("GrcVersion,1.6,\n,Pounds,\nLoadNumber,Weight,Colour,\n7,12.5,red\n");
    assert_eq!((floats(&moved, "Weight"), texts(&moved, "Colour")), (vec![Some(12.5)], vec![Some("red".to_owned())]));
    assert!(moved.geometries().all(|point| point.is_none()));
}

#[test]
fn missing_or_contradictory_units_are_unknown() {
    let without = file(&[FIRST, SECOND]).replace(&format!("{UNITS}\r\n"), "");
    let too_many = file(&[FIRST, SECOND]).replace(UNITS, &format!("{UNITS},,Feet"));
    for (text, code) in [(without, "no-units"), (too_many, "units-ignored")] {
        let layer = read(&text);
        assert_eq!((layer.units(), codes(&layer)), (vec![], vec![code]));
    }
}

#[test]
fn quoted_cells_and_commas_at_the_end_are_read() {
    let quoted = first_with("Destination", "\"Bin 4, \"\"north\"\"\"");
    let layer = read(&file(&[&quoted, &format!("{SECOND},")]));
    assert_eq!(texts(&layer, "Destination"), [Some("Bin 4, \"north\"".to_owned()), None]);
    assert_eq!(texts(&layer, "Comment"), [None, Some("wet".to_owned())]);
    assert_eq!(codes(&layer), ["trailing-comma"]);
    let with_blank = read(&file(&[FIRST, "", &",".repeat(18), SECOND]));
    assert_eq!((with_blank.len(), codes(&with_blank)), (2, vec!["blank-row"]));
}

#[test]
fn short_long_and_badly_quoted_rows_are_errors_that_name_the_row() {
    let short = SECOND.rsplit_once(',').unwrap().0.to_owned();
    let long = format!("{SECOND},more");
    let open = SECOND.replace(",wet", ",\"wet");
    for (load, code) in [(short, "short-row"), (long, "long-row"), (open, "odd-quote")] {
        let text = file(&[FIRST, &load]);
        let error = refused(text.clone());
        let offset = u64::try_from(text.find("2,12000").unwrap()).unwrap();
        assert_eq!((error.facts().record, error.facts().offset), (Some(1), Some(offset)), "{error}");
        assert!(error.message().contains("load 1 (line 8)"), "{error}");
        let saved = of(text, false).unwrap();
        assert_eq!((saved.len(), codes(&saved)), (2, vec![code]), "{load}");
        assert_eq!(floats(&saved, "Weight"), [Some(30_000.4), Some(12_000.0)]);
    }
}

#[test]
fn non_numeric_cells_are_null_and_reported() {
    let layer = read(&with_total(30_000, &[&first_with("Moisture", "wet"), &first_with("Weight", "")]));
    assert_eq!((floats(&layer, "Moisture")[0], floats(&layer, "Weight")[1]), (None, None));
    assert_eq!(codes(&layer), ["bad-number"]);
}

#[test]
fn other_file_is_an_error_that_names_its_format() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.grc");
    let page = b"<html>Please sign in</html>".to_vec();
    for (content, words) in [
        (page, "web page"),
        (b"GrcVersion,1.6,\r\nField,North,\r\n".to_vec(), "LoadNumber and Weight"),
        (Vec::new(), "empty"),
        (b"a,b\n".repeat(100_000), "LoadNumber and Weight"),
        (vec![b','; 1 << 20], "LoadNumber and Weight"),
        (file(&[FIRST]).replace("Bin", "B\0n").into_bytes(), "NUL"),
        (file(&[FIRST]).encode_utf16().flat_map(u16::to_le_bytes).collect(), "NUL"),
        ([file(&[FIRST]).into_bytes(), vec![b'9'; 20 << 20]].concat(), "more than"),
        ([file(&[]).into_bytes(), format!("{FIRST}\r\n").repeat(100_001).into_bytes()].concat(), "100000 loads"),
        ([file(&[]).into_bytes(), vec![b','; 1 << 20], b"x".to_vec()].concat(), "256 cells"),
    ] {
        std::fs::write(&path, content).unwrap();
        let error = layer::read(&Source::Path(path.clone()), &ReadOptions::default()).unwrap_err();
        assert_eq!(error.kind(), Kind::Archive, "{words}: {error}");
        assert!(error.message().contains(words), "{words}: {}", error.message());
        assert!(error.message().len() < 500, "{error}");
    }
    let saved = of(with_total(30_000, &[&first_with("Destination", "B\0in")]), false).unwrap();
    assert_eq!((texts(&saved, "Destination"), codes(&saved)), (vec![Some("Bin".to_owned())], vec!["nul-removed"]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(400), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_text_never_panics(lines in proptest::collection::vec("[\"a-z0-9,.:\u{e9} ]{0,40}", 0..12), head in any::<bool>()) {
        let text = if head { file(&[FIRST]) } else { "GrcVersion,".to_owned() } + &lines.join("\n");
        for strict in [true, false] {
            if let Ok(layer) = of(text.clone(), strict) {
                prop_assert!(layer.geojson(true).is_ok());
            }
        }
        prop_assert!(!head || of(text, false).is_ok(), "without `strict` every row is saved");
    }

    #[test]
    fn damaged_files_are_read_or_an_error(edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in any::<Option<prop::sample::Index>>()) {
        let mut bytes = file(&[FIRST, SECOND]).into_bytes();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        for strict in [true, false] {
            if let Err(error) = of(bytes.clone(), strict) {
                prop_assert_eq!(error.kind(), Kind::Archive);
            }
        }
    }
}
