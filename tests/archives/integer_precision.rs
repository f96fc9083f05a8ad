//! Tests integers with more digits than a float holds: no value changes without a diagnostic.

use arrow_schema::DataType;
use headland::archive::{Diagnostic, ReadOptions, Source};
use headland::layer::{self, ColumnType, Layer, TypePolicy};

use crate::builder;
use crate::stream::{batches, same};

/// A table of one column; each cell includes the deletion flag of its record.
fn table(kind: u8, width: u8, cells: &[&str]) -> Source {
    declared(kind, width, 0, cells)
}

/// The same for a field with declared decimals.
fn declared(kind: u8, width: u8, decimals: u8, cells: &[&str]) -> Source {
    let record = |cell: &&str| format!("{}{:>width$}", &cell[..1], &cell[1..], width = usize::from(width));
    let records: Vec<String> = cells.iter().map(record).collect();
    builder::source(builder::zip(&[("t.dbf", &builder::dbf(&[("A", kind, width, decimals)], &records, 0))]))
}

fn values(layers: &[Layer]) -> Vec<String> {
    let arrays = layers.iter().flat_map(Layer::batches).map(|batch| batch.column(0));
    arrays.flat_map(|array| (0..array.len()).map(move |row| crate::canonical_text::text(array, row))).collect()
}

/// Diagnostics of the cells: the code, the first record, and whether a count is stated.
fn codes(notes: &[Diagnostic]) -> Vec<(&'static str, Option<u64>, bool)> {
    let notes = notes.iter().filter(|note| note.code.as_str() != "no-shp");
    notes.map(|note| (note.code.as_str(), note.record, note.message.contains("(2 times"))).collect()
}

/// Reads the source whole and in batches of every size on one thread and two, and asserts equal results.
fn read(source: &Source) -> Layer {
    for threads in [1, 2] {
        for size in [1, 2, 3, 100] {
            let options = ReadOptions { threads: Some(threads), ..ReadOptions::default() };
            same(
                layer::read(source, &options),
                source,
                &options,
                size,
                &format!("{threads} threads, batches of {size}"),
            );
        }
    }
    layer::read(source, &ReadOptions::default()).unwrap()
}

#[test]
fn exponent_notation_of_an_integer_keeps_an_integer_column() {
    let source = table(b'N', 18, &[" 9007199254740993", " 1e17", "*1e3", " 123456789012345.0", " -5E+2"]);
    let layer = read(&source);
    let expected = ["9007199254740993", "100000000000000000", "123456789012345", "-500"];
    assert_eq!(layer.schema().field(0).data_type(), &DataType::Int64);
    assert_eq!(values(std::slice::from_ref(&layer)), expected);
    let found = [("integer-with-exponent", Some(1), true), ("deleted-rows", Some(2), false)];
    assert_eq!(codes(layer.diagnostics()), found);
    // The headers are enough for a stream, too.
    let (all, notes, error) = batches(&source, &ReadOptions::default(), &TypePolicy::Header, 2);
    assert!(error.is_none(), "{error:?}");
    assert_eq!((values(&all), codes(&notes)), (expected.map(str::to_owned).to_vec(), found.to_vec()));
}

#[test]
fn digits_lost_in_float_conversion_are_counted_for_any_position_of_the_fraction() {
    let long = [" 9007199254740993", "*9007199254740995", " 9007199254740994", " 7", " 1e17", " 900719925474099301"];
    for at in [0, 2, 4, 6] {
        let mut cells = long.to_vec();
        cells.insert(at, " 1.5");
        let source = table(b'N', 18, &cells);
        let layer = read(&source);
        assert_eq!(layer.schema().field(0).data_type(), &DataType::Float64);
        let found = codes(layer.diagnostics());
        let at = u64::try_from(at).unwrap();
        let first = Some(u64::from(at == 0));
        assert!(found.contains(&("integer-with-decimals", Some(at), false)), "{found:?}");
        assert!(found.contains(&("digits-lost", first, true)), "{found:?}");
        assert!(!found.iter().any(|(code, _, _)| *code == "integer-with-exponent"), "{found:?}");
        // The option named by the diagnostic keeps all digits.
        let types = TypePolicy::Named(vec![("A".to_owned(), ColumnType::String)]);
        let (all, notes, _) = batches(&source, &ReadOptions::default(), &types, 3);
        assert!(values(&all).contains(&"900719925474099301".to_owned()) && codes(&notes).len() == 1);
        let types = TypePolicy::Named(vec![("A".to_owned(), ColumnType::Float64)]);
        let (_, notes, _) = batches(&source, &ReadOptions::default(), &types, 3);
        assert!(codes(&notes).contains(&("digits-lost", first, true)), "{notes:?}");
    }
}

#[test]
fn column_too_wide_for_integers_reports_only_its_losses() {
    let cells =
        [" 1234567890123456789", " 12345678901234567890", " 10000000000000000000", " 9007199254740994", " 5", " 1e30"];
    for kind in [b'N', b'F'] {
        assert_eq!(codes(read(&table(kind, 20, &cells)).diagnostics()), [("digits-lost", Some(0), true)]);
    }
    let short = [" 999999999999999", " 1e14", " 0.5"];
    assert_eq!(codes(read(&table(b'N', 15, &short)).diagnostics()), [("integer-with-decimals", Some(2), false)]);
}

#[test]
fn integers_in_fields_with_decimals_report_lost_digits_at_any_length() {
    let cells =
        [" 1.50", " 9007199254740993.00", "*9007199254740993.00", " 9007199254740992.00", " 9007199254740993.", " 7"];
    for (kind, width, decimals) in [(b'N', 20, 2), (b'N', 24, 15), (b'F', 20, 5), (b'N', 19, 3), (b'F', 40, 2)] {
        let layer = read(&declared(kind, width, decimals, &cells));
        assert_eq!(codes(layer.diagnostics()), [("digits-lost", Some(1), true), ("deleted-rows", Some(2), false)]);
        assert_eq!(values(std::slice::from_ref(&layer))[1], "9007199254740992.0");
    }
    let many = "1234567890".repeat(5);
    let cells = [" 5", &format!(" {many}"), &format!(" -{many}.00"), &format!(" 1{}", "0".repeat(48))];
    for decimals in [0, 2] {
        let notes = read(&declared(b'N', 60, decimals, &cells));
        assert_eq!(codes(notes.diagnostics()), [("digits-lost", Some(1), true)]);
    }
}

#[test]
fn float_printed_with_all_its_digits_loses_none() {
    let floats = [1.234_567_890_123_456_7e19, -9.876_543_210_987_654e31, 1e30, 2_f64.powi(53), 1.7e40, 3.3e75];
    for (width, decimals) in [(33, 0), (33, 2), (90, 0), (90, 3)] {
        let printed = floats.map(|float| format!(" {float:.*}", usize::from(decimals)));
        let cells: Vec<&str> =
            printed.iter().map(String::as_str).filter(|cell| cell.len() <= usize::from(width)).collect();
        assert!(cells.len() >= 2);
        assert_eq!(codes(read(&declared(b'N', width, decimals, &cells)).diagnostics()), []);
    }
}

#[test]
fn rounded_fraction_is_no_loss() {
    let cells = [" 9007199254740993.25", " 0.1234567890123456789"];
    assert_eq!(codes(read(&declared(b'N', 22, 19, &cells)).diagnostics()), []);
    assert_eq!(codes(read(&declared(b'N', 22, 2, &cells)).diagnostics()), []);
}
