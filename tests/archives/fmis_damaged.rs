//! Tests unusual, truncated and hostile FMIS tables: no guesses, no silent loss, bounded cost.

use std::fmt::Write as _;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_schema::{DataType, TimeUnit};
use headland::archive::{Limits, ReadOptions};
use headland::error::{Error, Kind};
use headland::layer::{self, Layer};

use crate::{alloc_counter, builder, support};

fn zipped(layout: &str, tab: &[u8]) -> Vec<u8> {
    let layout = format!("<Advanced><SegmentFormat>{layout}</SegmentFormat></Advanced>");
    builder::zip(&[
        ("advanced.xml", layout.as_bytes()),
        ("Product_1.tab", tab),
        ("jobdata.xml", b"<JobData><ID>7</ID></JobData>"),
    ])
}

fn read(layout: &str, tab: &[u8], strict: bool) -> Result<Layer, Error> {
    support::read(&zipped(layout, tab), strict)
}

/// Codes of the diagnostics but `no-position`; small layouts here have no columns of coordinates.
fn codes(layer: &Layer) -> Vec<&str> {
    support::codes(layer).into_iter().filter(|code| *code != "no-position").collect()
}

fn message<'a>(layer: &'a Layer, code: &str) -> &'a str {
    &layer.diagnostics().iter().find(|note| note.code.as_str() == code).unwrap_or_else(|| panic!("{code}")).message
}

fn columns(names: &[&str]) -> String {
    names.iter().fold(String::new(), |text, name| text + "<Column><Name>" + name + "</Name></Column>")
}

const POSITION: [&str; 4] = ["ID", "LATITUDE", "LONGITUDE", "TIMESTAMP"];

/// A table of points at `times`.
fn timed(times: &[&str], unit: &str) -> Layer {
    let layout = format!("{}<Column Name='TIMESTAMP' Unit='{unit}'/>", columns(&POSITION[..3]));
    let mut tab = String::new();
    for (at, time) in times.iter().enumerate() {
        writeln!(tab, "{at}\t45\t-98\t{time}").unwrap();
    }
    read(&layout, tab.as_bytes(), true).unwrap()
}

#[test]
fn times_are_utc_only_where_the_file_says_so() {
    let zone = |layer: &Layer| layer.schema().field_with_name("TIMESTAMP").unwrap().data_type().clone();
    let utc = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let stated = timed(&["2026-06-12T07:31:04Z", "", "2026-06-12T07:31:04+02:00"], "");
    assert_eq!((zone(&stated), codes(&stated)), (utc.clone(), vec![]));
    let by_layout = timed(&["2026-06-12T07:31:04"], "UTC");
    assert_eq!((zone(&by_layout), codes(&by_layout)), (utc, vec![]));
    let silent = timed(&["", "2026-06-12T07:31:04", "2026-06-12 07:31:04.5"], "");
    assert_eq!((zone(&silent), codes(&silent)), (DataType::Timestamp(TimeUnit::Microsecond, None), vec!["no-zone"]));
    let note = &silent.diagnostics()[0];
    assert!(note.message.contains("Layer.with_time(..., date=\"TIMESTAMP\", zone=...)"), "{}", note.message);
    assert_eq!(note.record, Some(1));
    let json = silent.geojson(false).unwrap();
    assert!(json.contains("\"2026-06-12T07:31:04\"") && json.contains("\"2026-06-12T07:31:04.500\""), "{json}");
}

#[test]
fn mixed_zoned_and_local_times_stay_unchanged() {
    let layer = timed(&["2026-06-12T07:31:04Z", "2026-06-12T07:31:04.25", "", "2026-06-12T07:31:04+02:00"], "");
    let batch = &layer.batches()[0];
    let texts = batch.column_by_name("TIMESTAMP").unwrap().as_string::<i64>();
    let texts: Vec<Option<&str>> = texts.iter().collect();
    let expected = ["2026-06-12T07:31:04Z", "2026-06-12T07:31:04.250", "", "2026-06-12T05:31:04Z"];
    assert_eq!(texts, expected.map(|text| Some(text).filter(|text| !text.is_empty())));
    assert!(message(&layer, "no-zone").contains("the column has text"), "{:?}", layer.diagnostics());
}

#[test]
fn times_without_a_zone_become_utc_by_the_zone_that_the_user_names() {
    let layer = timed(&["2026-06-12T07:31:04.5", ""], "");
    let times = layer.local_times("TIMESTAMP", None, None).unwrap();
    let minute = 1_781_249_464 / 60;
    assert_eq!(times.minutes(), [minute]);
    let joined = layer.with_times("WHEN", &times, &[(-18_000, -18_000)], None).unwrap();
    let when = joined.batches()[0].column_by_name("WHEN").unwrap().as_primitive::<TimestampMicrosecondType>();
    assert_eq!((when.value(0), when.is_null(1)), (1_781_249_464_500_000 + 18_000_000_000, true));
    for (time, format) in [(Some("ID"), None), (None, Some("%H"))] {
        let error = layer.local_times("TIMESTAMP", time, format).unwrap_err();
        assert!(error.kind() == Kind::Value && error.message().contains("dates with times"), "{error}");
    }
    let known = timed(&["2026-06-12T07:31:04Z"], "");
    assert!(known.local_times("TIMESTAMP", None, None).unwrap_err().message().contains("UTC"));
}

const RATE: &str = "<EquipmentSection Number='1'><DDI><Name>RATE</Name></DDI></EquipmentSection>\
    <EquipmentSection Number='2'><DDI><Name>RATE</Name></DDI></EquipmentSection>";

#[test]
fn truncated_record_is_skipped_and_a_suspect_last_cell_is_reported() {
    let layout = format!("{}{RATE}", columns(&POSITION[..3]));
    let whole = "1\t45\t-98\t10\t11.5\n2\t45\t-98\t12\t13.25\n";
    for cut in 0..whole.len() - 18 {
        let tab = &whole[..whole.len() - cut];
        let cells = tab.lines().last().unwrap().split('\t').count();
        match read(&layout, tab.as_bytes(), true) {
            Err(error) => {
                assert!(cells < 5 && error.facts().record == Some(1), "{cut}: {error}");
                let layer = read(&layout, tab.as_bytes(), false).unwrap();
                assert_eq!((layer.len(), codes(&layer)), (2, vec!["fmis-damaged"]), "{cut}");
            }
            Ok(layer) if tab.ends_with('\n') => assert!(layer.diagnostics().is_empty(), "{cut}"),
            Ok(layer) => {
                assert_eq!((cells, codes(&layer)), (5, vec!["no-line-end"]), "{cut}");
                assert_eq!(layer.diagnostics()[0].record, Some(1));
                assert!(message(&layer, "no-line-end").contains("last cell, of column `RATE`"), "{cut}");
            }
        }
    }
}

#[test]
fn end_marks_and_blanks_after_the_last_line_are_no_truncation() {
    let layout = columns(&POSITION[..3]);
    for end in ["\n", "\r\n", "\n\x1A", "\n\x1A\n", "\x1A", "\n  ", "\n\r\n \r\n", "\n\n"] {
        let tab = format!("\u{feff}1\t45\t-98\r\n2\t45\t-98{end}");
        let layer = read(&layout, tab.as_bytes(), true).unwrap();
        assert_eq!((layer.len(), codes(&layer)), (2, vec![]), "{end:?}");
    }
}

#[test]
fn without_strict_only_the_records_that_do_not_fit_are_lost() {
    let tab = "1\t45\t-98\n2\t45\n3\t45\t-98\n4\t45\t-98\t7\n5\t4\0 5\t-98\n6\t45\t-98\n";
    let layer = read(&columns(&POSITION[..3]), tab.as_bytes(), false).unwrap();
    assert_eq!((layer.len(), codes(&layer)), (3, vec!["fmis-damaged", "id-jump"]));
    let text = message(&layer, "fmis-damaged");
    assert!(text.contains("3 times, first at record 1") && text.contains("2 cells"), "{text}");
}

fn utf_16(text: &str, is_little: bool) -> Vec<u8> {
    let bytes = |unit: u16| if is_little { unit.to_le_bytes() } else { unit.to_be_bytes() };
    text.encode_utf16().flat_map(bytes).collect()
}

#[test]
fn utf_16_table_has_the_rows_of_the_utf_8_table() {
    let layout = columns(&["ID", "LATITUDE", "LONGITUDE", "CROP"]);
    // Some letters contain bytes that equal a line feed, and the table is longer than one block.
    let line = |id: usize| format!("{id}\t45.5\t-98.25\tMais Ċ ਊ 😀 ä{}\r\n", "x".repeat(id % 7));
    let table = "\u{feff}".to_owned() + &(0..9_000).map(line).collect::<String>();
    let plain = read(&layout, table.as_bytes(), true).unwrap();
    assert_eq!((plain.len(), codes(&plain)), (9_000, vec![]));
    for is_little in [true, false] {
        let tab = utf_16(&table, is_little);
        assert!(tab.len() > 2 * 256 * 1024);
        let options = ReadOptions { encoding: Some("cp1252".to_owned()), ..ReadOptions::default() };
        let named = layer::read(&builder::source(zipped(&layout, &tab)), &options).unwrap();
        for layer in [read(&layout, &tab, true).unwrap(), named] {
            assert_eq!((layer.batches(), codes(&layer)), (plain.batches(), vec![]), "{is_little}");
        }
        // A truncated letter at the end is an error at its record, and the records before it are saved.
        let error = read(&layout, &tab[..tab.len() - 3], true).unwrap_err();
        assert!(error.message().contains("not valid UTF-16"), "{error}");
        let last = tab.len() - utf_16(&line(8_999), true).len();
        assert_eq!((error.facts().record, error.facts().offset), (Some(8_999), Some(last as u64)));
        assert_eq!(read(&layout, &tab[..tab.len() - 3], false).unwrap().len(), 8_999);
        // A lone surrogate inside the table loses only its own record.
        let (mut torn, at) = (tab.clone(), 2 + utf_16(&line(0), true).len());
        let half = 0xD800_u16;
        torn[at..at + 2].copy_from_slice(&if is_little { half.to_le_bytes() } else { half.to_be_bytes() });
        let saved = read(&layout, &torn, false).unwrap();
        assert_eq!((saved.len(), codes(&saved)), (8_999, vec!["fmis-damaged", "id-jump"]));
        assert!(message(&saved, "fmis-damaged").contains("not valid UTF-16"));
        assert_eq!(read(&layout, &torn, true).unwrap_err().facts().record, Some(1));
        // Whole letters without a line end are a record whose last cell may be truncated.
        let open = read(&layout, &tab[..tab.len() - 4], true).unwrap();
        assert_eq!((open.len(), codes(&open)), (9_000, vec!["no-line-end"]));
        // A lone surrogate is no text.
        let half = utf_16("\u{feff}1\t45\t-98\t", is_little).into_iter().chain([0xD8, 0xD8]).collect::<Vec<u8>>();
        let error = read(&layout, &half, true).unwrap_err();
        assert!(error.message().contains("not valid UTF-16"), "{error}");
    }
}

#[test]
fn utf_16_table_without_a_byte_order_mark_is_read_and_reported() {
    for is_little in [true, false] {
        let layer =
            read(&columns(&POSITION[..3]), &utf_16("1\t45.5\t-98.25\n2\t45.5\t-98.25\n", is_little), true).unwrap();
        assert_eq!((layer.len(), codes(&layer)), (2, vec!["no-byte-order-mark"]));
        let plain = read(&columns(&POSITION[..3]), b"1\t45.5\t-98.25\n2\t45.5\t-98.25\n", true).unwrap();
        assert_eq!(layer.batches(), plain.batches());
    }
}

#[test]
fn table_with_nul_bytes_that_is_not_utf_16_is_an_error() {
    let error = read(&columns(&POSITION[..3]), b"1\t45.5\t-98.25\n2\t4\x005\t-98.25\n", true).unwrap_err();
    assert!(error.message().contains("NUL"), "{error}");
}

#[test]
fn non_numeric_cell_is_null_and_reported() {
    let layout = "<Column Name='SPEED'/>";
    for cell in ["NaN", "nan", "inf", "-Infinity", "1,5", "1.5.2", "*5", "***", "0x10", "1e999", "\"1.5\"", "1 2"] {
        let layer = read(layout, format!("{cell}\n").as_bytes(), true).unwrap();
        let column = layer.batches()[0].column(0);
        assert_eq!((column.null_count(), codes(&layer)), (1, vec!["bad-number"]), "{cell}");
    }
    for (cell, value, expected) in [
        ("1e3", 1000.0, vec![]),
        ("-2.5E-1", -0.25, vec![]),
        ("+5.0e0", 5.0, vec![]),
        ("12345678901234567890", 1.234_567_890_123_456_8e19, vec!["digits-lost"]),
    ] {
        let layer = read(layout, format!(" {cell} \n").as_bytes(), true).unwrap();
        let column = layer.batches()[0].column(0).as_primitive::<Float64Type>();
        assert_eq!((column.value(0).to_bits(), codes(&layer)), (f64::to_bits(value), expected), "{cell}");
    }
}

#[test]
fn digits_lost_through_a_fraction_in_another_cell_are_counted() {
    let layout = "<Column Name='SPEED'/>";
    for table in ["9007199254740993\n7\n9007199254740995\n0.5\n", "0.5\n9007199254740993\n9007199254740995\n"] {
        let layer = read(layout, table.as_bytes(), true).unwrap();
        let first = table.lines().position(|line| line == "9007199254740993").map(|line| line as u64);
        let note = layer.diagnostics().iter().find(|note| note.code.as_str() == "digits-lost").unwrap();
        assert!(note.message.starts_with("column `SPEED`: ") && note.message.contains("(2 times"), "{note:?}");
        assert_eq!(note.record, first);
    }
    assert_eq!(codes(&read(layout, b"9007199254740993\n7\n", true).unwrap()), Vec::<&str>::new());
}

#[test]
fn long_numbers_of_undeclared_columns_keep_every_digit() {
    let layout = "<Column Name='SERIAL'/>";
    let of = |tab: &str| read(layout, tab.as_bytes(), true).unwrap().batches()[0].column(0).clone();
    let texts = of("12345678901234567890\n5\n");
    assert_eq!(texts.as_string::<i64>().value(0), "12345678901234567890");
    let texts = of("9007199254740993\n0.5\n");
    assert_eq!(texts.as_string::<i64>().value(0), "9007199254740993", "a float would end in 2");
    assert_eq!(of("9007199254740993\n5\n").as_primitive::<Int64Type>().value(0), 9_007_199_254_740_993);
    assert_eq!(of("123.45678901234567\n5\n").data_type(), &DataType::Float64);
}

#[test]
fn sections_out_of_order_with_gaps_or_of_one_number_keep_their_rows() {
    let section = |number: &str, name: &str| {
        format!("<EquipmentSection Number='{number}'><DDI><Name>{name}</Name></DDI></EquipmentSection>")
    };
    let layout = format!("{}{}<Column Name='ID'/>{}", section("9", "A"), section("2", "A"), section("9", "A"));
    let layer = read(&layout, b"1\t2\t7\t3\n", true).unwrap();
    let batch = &layer.batches()[0];
    let column = |name: &str| batch.column_by_name(name).unwrap().as_primitive::<Int64Type>().values().to_vec();
    assert_eq!((column("SECTION"), column("A"), column("ID")), (vec![9, 2, 9], vec![1, 2, 3], vec![7, 7, 7]));
    assert_eq!(codes(&layer), ["section-number"]);
    assert!(message(&layer, "section-number").contains("has the number 9 of an earlier section"));
    let twice = "<Column Name='ID'/><EquipmentSection Number='1'><DDI><Name>A</Name></DDI><DDI><Name>A</Name></DDI></EquipmentSection>";
    let layer = read(twice, b"7\t1\t2\n", true).unwrap();
    let names: Vec<String> = layer.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(
        (names, codes(&layer)),
        (["ID", "SECTION", "A", "A_2"].map(str::to_owned).to_vec(), vec!["renamed-column"])
    );
}

#[test]
fn ambiguous_layouts_are_an_error() {
    let of = |numbers: [u8; 2]| {
        let format = |number: u8, name: &str| {
            format!("<SegmentFormat Product='{number}'><Column Name='{name}'/></SegmentFormat>")
        };
        let layout = format!("<Advanced>{}{}</Advanced>", format(numbers[0], "A"), format(numbers[1], "B"));
        let zip = builder::zip(&[("advanced.xml", layout.as_bytes()), ("Product_1.tab", b"5\n")]);
        layer::read(&builder::source(zip), &ReadOptions::default())
    };
    assert_eq!(of([2, 1]).unwrap().schema().field(0).name(), "B");
    for numbers in [[1, 1], [2, 3]] {
        let error = of(numbers).unwrap_err();
        assert!(error.message().contains("not exactly one matches"), "{error}");
    }
}

#[test]
fn swapped_coordinates_have_no_geometry_and_are_reported() {
    let layer = read(&columns(&POSITION[..3]), b"1\t-98.25\t45.5\n2\t45.5\t-98.25\n", true).unwrap();
    assert_eq!((codes(&layer), layer.geometries().flatten().count()), (vec!["bad-position"], 1));
    assert!(message(&layer, "bad-position").contains("columns may be swapped"));
}

#[test]
fn job_fields_with_colliding_numbered_names_are_all_kept() {
    let mut members = zipped("<Column Name='ID'/>", b"1\n");
    members.clear();
    let zip = builder::zip(&[
        ("advanced.xml", b"<A><SegmentFormat><Column Name='ID'/></SegmentFormat></A>"),
        ("Product_1.tab", b"1\n"),
        ("jobdata.xml", b"<J><N>a</N><N>b</N><N_2>c</N_2><N>d</N></J>"),
    ]);
    let layer = layer::read(&builder::source(zip), &ReadOptions::default()).unwrap();
    let expected = [("N", "a"), ("N_3", "b"), ("N_2", "c"), ("N_4", "d")];
    assert_eq!(layer.metadata(), expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
}

/// Reads a costly input within the limits of time and memory for every input.
#[track_caller]
fn bounded(what: &str, layout: &str, tab: &[u8]) -> Result<Layer, Error> {
    let honest = layout.len() + tab.len();
    let zip = zipped(layout, tab);
    let options = ReadOptions { threads: Some(1), ..ReadOptions::default() };
    let ((result, peak), took) =
        alloc_counter::time(|| alloc_counter::peak(|| layer::read(&builder::source(zip), &options)));
    println!("{what}: {took:?}, {peak} bytes for {honest}");
    assert!(took < alloc_counter::LONGEST, "{what} took {took:?}");
    assert!(peak <= (64 << 20) + 4 * honest, "{what}: {peak} bytes for {honest}");
    result
}

/// Sections of one quantity each.
fn sections(count: usize) -> String {
    (0..count).fold(String::new(), |mut text, at| {
        write!(text, "<EquipmentSection Number='{at}'><DDI Name='A'/></EquipmentSection>").unwrap();
        text
    })
}

#[test]
fn hostile_tables_and_layouts_have_bounded_cost() {
    let blank = bounded("a million blanks", &columns(&POSITION), &b" ".repeat(1_000_000)).unwrap();
    assert_eq!((blank.len(), codes(&blank)), (0, vec!["no-records"]));
    let blank = bounded("a million blank lines", &columns(&POSITION), &b" \n".repeat(1_000_000)).unwrap();
    assert_eq!(blank.len(), 0);
    let cell =
        bounded("a cell of blanks", &columns(&POSITION), &[&b" ".repeat(1_000_000)[..], b"1\t45\t-98\t\n"].concat());
    assert_eq!(cell.unwrap().len(), 1);
    // One long cell of the step, repeated for each of its sections.
    let layout = format!("<Column Name='TEXT'/>{}", sections(8_000));
    let line = format!("{}{}\n", "x".repeat(100_000), "\t1".repeat(8_000));
    let error = bounded("a long cell in many rows", &layout, line.repeat(3).as_bytes()).unwrap_err();
    assert!(error.message().contains("raise Limits(ratio=...)") && error.facts().record.is_some(), "{error}");
    let layout = format!("{}{}", "<Column Name='SPEED'/>".repeat(8_000), sections(8_000));
    let line = format!("1{}\n", "\t1".repeat(15_999));
    let error = bounded("many cells in many rows", &layout, line.repeat(3).as_bytes()).unwrap_err();
    assert!(error.message().contains("rows of"), "{error}");
    let empty = "<EquipmentSection/>".repeat(8_000);
    let quantities = (0..8_000).fold(String::new(), |mut text, at| {
        write!(text, "<DDI Name='q{at}'/>").unwrap();
        text
    });
    let layout = format!("{empty}<EquipmentSection>{quantities}</EquipmentSection>");
    let error = bounded("sections times quantities", &layout, b"").unwrap_err();
    assert!(error.message().contains("sections times"), "{error}");
    let error = bounded("sections of nothing", &"<EquipmentSection/>".repeat(200_000), b"").unwrap_err();
    assert!(error.message().contains("more than"), "{error}");
    let error = bounded("elements of nothing", &"<a/>".repeat(2_000_000), b"").unwrap_err();
    assert!(error.message().contains("elements"), "{error}");
    let same = "<Column Name='A'/>".repeat(16_000);
    let layer = bounded("one name", &same, format!("1{}\n", "\t1".repeat(15_999)).as_bytes()).unwrap();
    assert_eq!((layer.len(), layer.schema().fields().len()), (1, 16_000));
}

#[test]
fn raised_limit_allows_the_rows() {
    let layout = format!("<Column Name='TEXT'/>{}", sections(2_000));
    let line = format!("{}{}\n", "x".repeat(20_000), "\t1".repeat(2_000));
    let zip = zipped(&layout, line.repeat(2).as_bytes());
    let with = |ratio: u64| {
        let limits = Limits { ratio, ..Limits::default() };
        layer::read(&builder::source(zip.clone()), &ReadOptions { limits, ..ReadOptions::default() })
    };
    assert_eq!(with(100).unwrap_err().kind(), Kind::Archive);
    assert_eq!(with(10_000).unwrap().len(), 4_000);
}
