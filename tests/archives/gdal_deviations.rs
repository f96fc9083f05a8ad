//! Tests the cases in which the reader deviates from GDAL, each with its diagnostic.

use arrow_array::cast::AsArray;
use headland::archive::ReadOptions;
use headland::error::Kind;
use headland::layer::{self, Layer};

use crate::builder;
use crate::support::{column, only, read_members};
use crate::wkb::rewrite;

fn table(fields: &[builder::Field<'_>], records: &[&[u8]]) -> Layer {
    table_of(fields, records, &[])
}

fn table_of(fields: &[builder::Field<'_>], records: &[&[u8]], more: &[(&str, &[u8])]) -> Layer {
    let dbf = builder::dbf(fields, records, 0);
    let mut members: Vec<(&str, &[u8])> = vec![("t.dbf", &dbf)];
    members.extend(more);
    read_members(&members)
}

fn shapes(kind: i32, records: &[Vec<u8>]) -> Layer {
    let (shp, shx) = builder::shp(kind, records);
    read_members(&[("t.shp", &shp), ("t.shx", &shx)])
}

#[track_caller]
fn assert_reported(layer: &Layer, code: &str) {
    assert!(layer.diagnostics().iter().any(|note| note.code.as_str() == code), "{code}: {:?}", layer.diagnostics());
}

/// A column: its field, the .cpg, its raw cells, their values, and the expected diagnostics with their messages.
struct Cells {
    field: builder::Field<'static>,
    cpg: Option<&'static str>,
    records: &'static [&'static [u8]],
    read: &'static [&'static str],
    reported: &'static [(&'static str, &'static str)],
}

const fn cells(
    field: builder::Field<'static>,
    cpg: Option<&'static str>,
    records: &'static [&'static [u8]],
    read: &'static [&'static str],
    reported: &'static [(&'static str, &'static str)],
) -> Cells {
    Cells { field, cpg, records, read, reported }
}

/// Dates, numbers, integers, logicals, blanks and text in another encoding than the declared one.
#[rustfmt::skip]
const CELLS: &[Cells] = &[
    cells(("d", b'D', 8, 0), None, &[b" 20240229", b" 20230229", b"         ", b" 2024-1-5"],
        &["2024-02-29", "\\N", "\\N", "\\N"], &[("bad-date", "")]),
    cells(("n", b'N', 6, 2), None, &[b"   1.50", b" 12abc ", b" ******", b"       ", b"    nan"],
        &["1.5", "\\N", "\\N", "\\N", "\\N"], &[("bad-number", "(2 times, first at record 1)")]),
    cells(("n", b'N', 6, 0), None, &[b"     12", b"       ", b"    1.5", b"    1e3", b"     7 "],
        &["12.0", "\\N", "1.5", "1000.0", "7.0"], &[("integer-with-decimals", "")]),
    cells(("l", b'L', 1, 0), None, &[b" T", b" n", b"  ", b" ?", b" 1", b" 0"],
        &["true", "false", "\\N", "\\N", "true", "false"], &[("blank-logical", ""), ("logical-digit", "")]),
    cells(("c", b'C', 5, 0), None, &[b"  ab  ", b" ab   ", b"      "],
        &[" ab", "ab", "\\N"], &[("leading-blanks", "")]),
    cells(("c", b'C', 4, 0), None, &[b" xy  ", b"  ab ", b"  ab ", b" zz  ", b"  ab "],
        &["xy", " ab", " ab", "zz", " ab"], &[("leading-blanks", "(3 times, first at record 1)")]),
    cells(("d", b'D', 10, 0), None, &[b" 04/25/1989", b" 13/01/1989", b" 0000      ", b" 0         ", b" 00000000  "],
        &["1989-04-25", "\\N", "\\N", "\\N", "\\N"], &[("bad-date", "(2 times, first at record 1)")]),
    cells(("c", b'C', 4, 0), None, &[b" \xc3\xa9  ", b" \xe9   "],
        &["é", "é"], &[("text-undeclared", ""), ("text-recoded", "")]),
    cells(("c", b'C', 4, 0), Some("RUBBISH"), &[b" \xc3\xa9  ", b" \xe9   "], &["é", "é"], &[("cpg-ignored", "")]),
    cells(("c", b'C', 4, 0), Some("ISO-8859-1"), &[b" \xc3\xa9  ", b" \xe9   "], &["Ã©", "é"], &[]),
];

#[test]
fn cells_are_read_as_the_table_says_and_each_repair_is_reported() {
    for Cells { field, cpg, records, read, reported } in CELLS {
        let cpg: Vec<(&str, &[u8])> = cpg.iter().map(|cpg| ("t.cpg", cpg.as_bytes())).collect();
        let layer = table_of(&[*field], records, &cpg);
        assert_eq!(column(&layer, field.0), *read, "{records:?}");
        for (code, words) in *reported {
            assert!(only(&layer, code).message.ends_with(words), "{code}: {:?}", layer.diagnostics());
        }
    }
}

#[test]
fn lost_bytes_and_recoded_bytes_have_different_diagnostics() {
    let records: [&[u8]; 3] = [b" ab  ", b" a\x81  ", b" b\xff  "];
    let layer = |cpg: &[u8]| table_of(&[("c", b'C', 4, 0)], &records, &[("t.cpg", cpg)]);
    let codes = |layer: &Layer| -> Vec<(&'static str, Option<u64>)> {
        let notes = layer.diagnostics().iter().filter(|note| note.message.contains("column `c`"));
        notes.map(|note| (note.code.as_str(), note.record)).collect()
    };
    let lost = layer(b"932");
    assert_eq!(column(&lost, "c"), ["ab", "a\u{fffd}", "b\u{fffd}"]);
    assert_eq!(codes(&lost), [("text-lost", Some(1))]);
    let kept = layer(b"UTF-8");
    assert_eq!(column(&kept, "c"), ["ab", "a\u{81}", "bÿ"]);
    assert_eq!(codes(&kept), [("text-recoded", Some(1))]);
}

#[test]
fn open_rings_are_closed_and_the_first_part_starts_at_zero() {
    let corners = [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0)];
    let layer = shapes(5, &[builder::parts(5, &[1], &corners)]);
    assert_reported(&layer, "open-ring");
    assert_reported(&layer, "part-start");
    let wkb = layer.batches()[0].column(0).as_binary::<i64>().value(0).to_vec();
    assert_eq!(wkb.len(), 1 + 4 + 4 + 4 + 5 * 16, "five corners: the first stands again at the end");
    assert_eq!(wkb[13..29], wkb[wkb.len() - 16..]);
}

#[test]
fn shapes_are_read_without_an_index_or_in_its_order() {
    let records = [builder::point(1.0, 1.0), builder::point(2.0, 2.0), builder::point(3.0, 3.0)];
    let (shp, mut shx) = builder::shp(1, &records);
    let read = |members: &[(&str, &[u8])]| {
        let layer = layer::read(&builder::source(builder::zip(members)), &ReadOptions::default()).unwrap();
        let text = layer.geojson(true).unwrap();
        let found: Vec<usize> = ["[1.0,", "[2.0,", "[3.0,"].iter().map(|x| text.find(x).unwrap()).collect();
        (layer, found)
    };
    let (layer, found) = read(&[("t.shp", &shp)]);
    assert_reported(&layer, "no-shx");
    assert!(found[0] < found[1] && found[1] < found[2]);
    let (first, last) = (shx[100..108].to_vec(), shx[116..124].to_vec());
    shx[100..108].copy_from_slice(&last);
    shx[116..124].copy_from_slice(&first);
    let (layer, found) = read(&[("t.shp", &shp), ("t.shx", &shx)]);
    assert_reported(&layer, "out-of-order");
    assert!(found[2] < found[1] && found[1] < found[0]);
}

#[test]
fn measures_of_some_points_are_kept() {
    let layer = shapes(
        11,
        &[
            builder::point_z(1.0, 2.0, 3.0, None),
            builder::point_z(1.0, 2.0, 3.0, Some(-1.7e308)),
            builder::point_z(1.0, 2.0, 3.0, Some(4.0)),
        ],
    );
    assert_reported(&layer, "missing-m");
    let geometry = layer.batches()[0].column(0).as_binary::<i64>();
    let measures: Vec<f64> =
        (0..3).map(|row| f64::from_le_bytes(geometry.value(row)[29..37].try_into().unwrap())).collect();
    assert!(measures[0].is_nan() && measures[1].is_nan());
    assert_eq!(measures[2].to_bits(), 4.0_f64.to_bits());
    assert_eq!(geometry.value(0)[1..5], 3001_u32.to_le_bytes(), "Point ZM");
}

#[test]
fn truncated_shp_is_an_error_and_its_records_are_saved_without_strict() {
    let (shp, _) = builder::shp(1, &[builder::point(1.0, 1.0), builder::point(2.0, 2.0)]);
    let dbf = builder::dbf(&[("n", b'N', 3, 0)], &[b"   1", b"   2"], 0);
    let read = |shp: &[u8], dbf: &[u8], strict| {
        let zip = builder::zip(&[("t.shp", shp), ("t.dbf", dbf)]);
        layer::read(&builder::source(zip), &ReadOptions { strict, ..ReadOptions::default() })
    };
    for (shp, dbf, member) in [(&shp[..shp.len() - 6], &dbf[..], "t.shp"), (&shp[..], &dbf[..dbf.len() - 4], "t.dbf")] {
        let error = read(shp, dbf, true).unwrap_err();
        assert_eq!(error.kind(), Kind::Archive);
        assert_eq!(error.facts().member.as_deref(), Some(member), "{error}");
        assert_eq!(error.facts().record, Some(1), "{error}");
        assert!(error.facts().offset.is_some(), "{error}");
        let layer = read(shp, dbf, false).unwrap();
        assert_eq!(layer.len(), 1);
        assert_reported(&layer, "row-mismatch");
    }
    let dbf = builder::dbf(&[("n", b'N', 3, 0)], &[b"   1"], 0);
    let error = read(&shp, &dbf, true).unwrap_err();
    assert!(error.message().contains("2 records and the .dbf 1"), "{error}");
}

#[test]
fn shapes_of_deleted_records_are_skipped() {
    let (shp, shx) = builder::shp(1, &[builder::point(1.0, 1.0), builder::point(2.0, 2.0), builder::point(3.0, 3.0)]);
    let dbf = builder::dbf(&[("n", b'N', 3, 0)], &[b"   1", b"*  2", b"   3"], 0);
    let zip = builder::zip(&[("t.shp", &shp), ("t.shx", &shx), ("t.dbf", &dbf)]);
    let layer = layer::read(&builder::source(zip), &ReadOptions::default()).unwrap();
    assert_reported(&layer, "deleted-rows");
    assert_eq!(column(&layer, "n"), ["1", "3"]);
    let text = layer.geojson(true).unwrap();
    assert!(text.contains("[1.0,1.0]") && text.contains("[3.0,3.0]") && !text.contains("[2.0,2.0]"), "{text}");
}

#[test]
fn invalid_coordinates_are_kept_reported_and_null_in_geojson() {
    let far = [(-1e39, 2.0), (1.0, -1e39), (f64::NAN, 2.0), (1.0, f64::INFINITY)];
    let records: Vec<Vec<u8>> = [(1.0, 2.0)].into_iter().chain(far).map(|(x, y)| builder::point(x, y)).collect();
    let layer = shapes(1, &records);
    assert_reported(&layer, "no-data-coordinate");
    let kept: Vec<Vec<u8>> = layer.geometries().map(|wkb| wkb.unwrap()[5..].to_vec()).collect();
    assert_eq!(kept, records.iter().map(|record| record[4..].to_vec()).collect::<Vec<_>>(), "byte for byte");
    let all: serde_json::Value = serde_json::from_str(&layer.geojson(true).unwrap()).unwrap();
    let geometries: Vec<bool> =
        all["features"].as_array().unwrap().iter().map(|feature| feature["geometry"].is_null()).collect();
    assert_eq!(geometries, [false, true, true, true, true]);
    assert!(shapes(1, &records[..1]).diagnostics().iter().all(|note| note.code.as_str() != "no-data-coordinate"));
}

#[test]
fn ring_that_cannot_be_closed_is_null_and_one_with_an_inner_no_data_vertex_is_kept() {
    let square = [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.0, 0.0)];
    let nan = f64::NAN;
    let ends: [&[(usize, (f64, f64))]; 4] =
        [&[(4, (nan, nan))], &[(0, (nan, 0.0)), (4, (nan, 0.0))], &[(0, (0.0, nan))], &[(4, (0.0, nan))]];
    let dents = [nan, f64::INFINITY, f64::NEG_INFINITY, -1e39].map(|odd| vec![(2, (odd, 1.0))]);
    let far: [&[(usize, (f64, f64))]; 2] =
        [&[(0, (-1e39, 0.0)), (4, (-1e39, 0.0))], &[(0, (f64::INFINITY, 0.0)), (4, (f64::INFINITY, 0.0))]];
    let dented = |bad: &[(usize, (f64, f64))]| {
        let mut square = square;
        for (at, place) in bad {
            square[*at] = *place;
        }
        square
    };
    let hole = [(0.2, 0.2), (0.8, 0.2), (0.8, 0.8), (0.2, 0.2)];
    for bad in ends {
        let inner: Vec<(f64, f64)> = hole.iter().chain(&dented(bad)).copied().collect();
        let outer: Vec<(f64, f64)> = dented(bad).iter().chain(&hole).copied().collect();
        let records = [
            builder::parts(5, &[0], &square),
            builder::parts(5, &[0], &dented(bad)),
            builder::parts(5, &[0, 4], &inner),
            builder::parts(5, &[0, 5], &outer),
            builder::parts(5, &[0], &square),
        ];
        let layer = shapes(5, &records);
        let nulls: Vec<bool> = layer.geometries().map(|wkb| wkb.is_none()).collect();
        assert_eq!(nulls, [false, true, true, true, false], "{bad:?}");
        let note = layer.diagnostics().iter().find(|note| note.code.as_str() == "no-data-ring").unwrap();
        assert_eq!(note.record, Some(1));
        assert!(note.message.contains("null geometries (3 times, first at record 1)"), "{}", note.message);
        assert!(
            layer.diagnostics().iter().all(|note| !["open-ring", "no-data-coordinate"].contains(&note.code.as_str()))
        );
    }
    for bad in dents.iter().map(Vec::as_slice).chain(far) {
        let layer = shapes(5, &[builder::parts(5, &[0], &dented(bad))]);
        assert!(layer.geometries().all(|wkb| wkb.is_some()), "{bad:?}");
        assert_reported(&layer, "no-data-coordinate");
    }
}

#[test]
fn lower_case_column_types_are_read_as_upper_case_and_reported() {
    let layer = table(&[("a", b'C', 2, 0), ("n", b'n', 3, 1), ("d", b'd', 8, 0)], &[b" ab1.520240229"]);
    assert_eq!((&*column(&layer, "n")[0], &*column(&layer, "d")[0]), ("1.5", "2024-02-29"));
    assert_reported(&layer, "lower-case-type");
    let note = layer.diagnostics().iter().find(|note| note.code.as_str() == "lower-case-type").unwrap();
    assert!(note.message.contains("of 2 fields") && note.message.contains("`n` of field 2"), "{}", note.message);
    assert!(
        table(&[("a", b'C', 2, 0)], &[b" ab"]).diagnostics().iter().all(|note| note.code.as_str() != "lower-case-type")
    );
}

/// A record of lines (13, 23), rings (15, 25) or points (18, 28) with these measures.
fn measured(kind: i32, points: &[(f64, f64)], measures: &[f64]) -> Vec<u8> {
    let heights = vec![2.0; points.len()];
    let ordinates = [&heights[..], measures];
    builder::with_ordinates(kind, &[0], points, if kind < 20 { &ordinates } else { &ordinates[1..] })
}

#[test]
fn lines_rings_and_points_with_and_without_measures_share_a_layer() {
    let corners = [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.0, 0.0)];
    let none = [-1.7e308; 4];
    for kind in [13, 23, 15, 25, 18, 28] {
        let mixed = [5.0, -2e38, -1e38, 7.0];
        let layer = shapes(kind, &[measured(kind, &corners, &none), measured(kind, &corners, &mixed)]);
        assert_reported(&layer, "missing-m");
        assert_reported(&layer, "no-data-m");
        let (flat, z) = (kind % 10, if kind < 20 { 1000 } else { 0 });
        let flat = match flat {
            3 => 2,
            5 => 3,
            _ => 4,
        };
        let found: Vec<Vec<f64>> = layer
            .geometries()
            .map(|wkb| {
                let wkb = wkb.unwrap();
                assert_eq!(u32::from_le_bytes(wkb[1..5].try_into().unwrap()), flat + z + 2000, "{kind}");
                let mut found = Vec::new();
                rewrite(wkb, |code| code, &mut |_, vertices| {
                    found.extend(vertices.iter().map(|vertex| f64::from_bits(*vertex.last().unwrap())));
                    vertices
                });
                found
            })
            .collect();
        assert!(found[0].iter().all(|m| m.is_nan()), "{kind}: {found:?}");
        // Values below -1e38 mean no measure; -1e38 itself is a measure.
        assert!(found[1][1].is_nan(), "{kind}: {found:?}");
        assert_eq!([found[1][0], found[1][2], found[1][3]].map(f64::to_bits), [5.0, -1e38, 7.0].map(f64::to_bits));
        let layer = shapes(kind, &[measured(kind, &corners, &none)]);
        let code = u32::from_le_bytes(layer.geometries().next().unwrap().unwrap()[1..5].try_into().unwrap());
        assert_eq!(code, flat + z, "a layer in which nothing is measured has no M");
    }
}

#[test]
fn unreadable_table_is_an_error_and_its_shapes_are_saved_without_strict() {
    let (shp, shx) = builder::shp(1, &[builder::point(1.0, 1.0)]);
    let mut dbf = builder::dbf(&[("n", b'N', 3, 0)], &[b"   1"], 0);
    dbf[8..10].copy_from_slice(&9_u16.to_le_bytes());
    let zip = builder::zip(&[("t.shp", &shp), ("t.shx", &shx), ("t.dbf", &dbf)]);
    let error = layer::read(&builder::source(zip.clone()), &ReadOptions::default()).unwrap_err();
    assert_eq!(error.facts().member.as_deref(), Some("t.dbf"), "{error}");
    let layer = layer::read(&builder::source(zip), &ReadOptions { strict: false, ..ReadOptions::default() }).unwrap();
    assert_eq!(layer.len(), 1);
    assert_reported(&layer, "member-lost");
}

#[test]
fn ambiguous_dates_are_counted_and_day_first_columns_are_reported() {
    let fields = [("US", b'D', 10, 0), ("EU", b'D', 10, 0)];
    let rows: [&[u8]; 4] =
        [b" 01/02/202401/02/2024", b" 02/02/202402/02/2024", b" 12/31/202431/12/2024", b" 03/04/202400/04/2024"];
    let layer = table(&fields, &rows);
    assert_eq!(column(&layer, "US"), ["2024-01-02", "2024-02-02", "2024-12-31", "2024-03-04"]);
    assert_eq!(column(&layer, "EU"), ["2024-01-02", "2024-02-02", "\\N", "\\N"]);
    let said = |code: &str, column: &str| -> Vec<&str> {
        let about = format!("column `{column}`: ");
        let notes = layer.diagnostics().iter().filter(|note| note.code.as_str() == code);
        notes.filter_map(|note| note.message.strip_prefix(&about)).collect()
    };
    let [us] = said("ambiguous-date", "US")[..] else { panic!("{:?}", layer.diagnostics()) };
    assert!(us.contains("month first") && us.ends_with("(2 times, first at record 0)"), "{us}");
    assert!(us.contains("types={...: \"string\"}"), "{us}");
    assert!(said("day-first-date", "US").is_empty() && said("bad-date", "US").is_empty());
    let [eu] = said("day-first-date", "EU")[..] else { panic!("{:?}", layer.diagnostics()) };
    assert!(eu.contains("likely wrong") && eu.ends_with("(1 times, first at record 2)"), "{eu}");
    assert!(said("ambiguous-date", "EU")[0].ends_with("(1 times, first at record 0)"));
    assert!(said("bad-date", "EU")[0].ends_with("(2 times, first at record 2)"));
    // A text column whose requested type is a date must show the order in each text.
    let dbf = builder::dbf(&[("WHEN", b'C', 10, 0)], &[b" 31/12/2024", b" 2024-02-01"], 0);
    let types = layer::TypePolicy::Named(vec![("WHEN".to_owned(), layer::ColumnType::Date)]);
    let source = builder::source(builder::zip(&[("t.dbf", &dbf)]));
    let mut stream = layer::Stream::open(&source, &ReadOptions::default(), &types, 10).unwrap();
    assert_eq!(column(&stream.next_batch().unwrap().unwrap(), "WHEN"), ["2024-12-31", "2024-02-01"]);
}
