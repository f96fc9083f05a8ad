//! Lists the expected outcome of each hostile input of the corpus: the table, the diagnostics, or the error.

/// Expected outcome of an input.
pub(crate) enum Expectation {
    /// A table: GDAL's reading of `whose`, or of the input itself if that is empty, but for some columns with other
    /// types and values. The codes of diagnostics are exactly these.
    Table {
        whose: &'static str,
        codes: &'static [&'static str],
        but: &'static [(&'static str, &'static str, &'static str)],
    },
    /// An `ArchiveError` with a member, a record, an offset and this message. Without `strict`, this number of rows
    /// with these codes is saved, or nothing.
    Error {
        member: Option<&'static str>,
        record: Option<u64>,
        offset: Option<u64>,
        words: &'static str,
        saved: Option<(usize, &'static [&'static str])>,
    },
    /// Several layers, each as GDAL reads it; without a selected layer, an error that names them.
    Layers(&'static [&'static str]),
}

use Expectation::Layers;

type Codes = &'static [&'static str];
type Columns = &'static [(&'static str, &'static str, &'static str)];

const fn as_gdal(codes: Codes) -> Expectation {
    Expectation::Table { whose: "", codes, but: &[] }
}

const fn like(whose: &'static str, codes: Codes) -> Expectation {
    Expectation::Table { whose, codes, but: &[] }
}

const fn but(whose: &'static str, codes: Codes, but: Columns) -> Expectation {
    Expectation::Table { whose, codes, but }
}

const fn error(
    member: Option<&'static str>,
    record: Option<u64>,
    offset: Option<u64>,
    words: &'static str,
    saved: Option<(usize, Codes)>,
) -> Expectation {
    Expectation::Error { member, record, offset, words, saved }
}

/// A row for each input; its comment states the fault and the recommendation of the corpus.
#[rustfmt::skip]
pub(crate) const EXPECTATIONS: &[(&str, Expectation)] = &[
    // header says 3, 6 present: error: .dbf/.shp row mismatch (GDAL: 3 rows silently)
    ("d02_nrec_too_small", error(Some("t.dbf"), Some(3), None, "the .shp has 6 records and the .dbf 3: they do not belong together; `strict=False` reads the recoverable data", Some((3, &["dbf-more-records", "row-mismatch"])))),
    // 263 bytes of padding after the terminator, header length counts it: as GDAL
    ("d06_hlen_big_padded", as_gdal(&["blank-logical"])),
    // header length 32 too big: error: header length contradicts the field table
    ("d07_hlen_big_unpadded", error(Some("t.dbf"), None, Some(8), "the header length of 225 bytes contradicts the field table, which ends at byte 193", Some((6, &["member-lost"])))),
    // header length 0: error: header length contradicts the field table
    ("d08_hlen_zero", error(Some("t.dbf"), None, Some(8), "the header length of 0 bytes leaves no space for fields", Some((6, &["member-lost"])))),
    // header length 60000: error: header length contradicts the field table
    ("d09_hlen_past_eof", error(Some("t.dbf"), None, Some(8), "the header length of 60000 bytes exceeds the file size of 506 bytes", Some((6, &["member-lost"])))),
    // record length 1 too big (rows shift): error: record length contradicts the fields (GDAL: columns vanish or rows shift)
    ("d10_rlen_big", error(Some("t.dbf"), None, Some(10), "the .dbf header is inconsistent: records have 53 bytes, the fields need 52", Some((6, &["member-lost"])))),
    // record length 0: error: record length contradicts the fields (GDAL: columns vanish or rows shift)
    ("d12_rlen_zero", error(Some("t.dbf"), None, Some(10), "the .dbf header is inconsistent: records have 0 bytes, the fields need 52", Some((6, &["member-lost"])))),
    // record length 65535: error: record length contradicts the fields (GDAL: columns vanish or rows shift)
    ("d14_rlen_65535", error(Some("t.dbf"), None, Some(10), "the .dbf header is inconsistent: records have 65535 bytes, the fields need 52", Some((6, &["member-lost"])))),
    // dbf cut inside the field table: error
    ("d16_truncated_header", error(Some("t.dbf"), None, Some(8), "the header length of 193 bytes exceeds the file size of 100 bytes", Some((6, &["member-lost"])))),
    // rows 1,3,6 flagged *: as GDAL: deleted rows skipped in both .dbf and .shp
    ("d20_deleted", but("", &["blank-logical", "deleted-rows"], &[("OK", "bool", "false|\\N|true")])),
    // all rows deleted: as GDAL: deleted rows skipped in both .dbf and .shp
    ("d21_all_deleted", as_gdal(&["deleted-rows"])),
    // row 3 flag byte is NUL: as GDAL: only * means deleted
    ("d23_flag_nul", as_gdal(&["blank-logical", "odd-mark"])),
    // '*' fill in N: null (as GDAL); partly starred value null + diagnostic
    ("d30_num_overflow", but("", &["bad-number"], &[("V", "double", "\\N|1.5|\\N|\\N|\\N")])),
    // blank, NUL, dot, sign only: DEVIATE: null + diagnostic (GDAL: 0.0)
    ("d31_num_blank", but("", &["bad-number"], &[("V", "double", "\\N|\\N|\\N|\\N|\\N|0.0|-0.0|-0.0")])),
    // text in N: DEVIATE: text -> null + diagnostic; nan/inf -> null (GDAL: 0.0, NaN, inf)
    ("d32_num_text", but("", &["bad-number"], &[("V", "double", "\\N|\\N|\\N|\\N|\\N|\\N|0.0|\\N|\\N|\\N|\\N|\\N")])),
    // exponents in N: 1e5 accepted; 1D5 null + diagnostic (GDAL 1.0)
    ("d34_num_exp", but("", &["bad-number"], &[("V", "double", "100000.0|100000.0|-0.0015|\\N")])),
    // N(9,0): as GDAL
    ("d36_int_widths_9", as_gdal(&[])),
    // N(10,0) above int32: as GDAL
    ("d37_int_widths_10", as_gdal(&[])),
    // N(19,0) int64 max and above: DEVIATE allowed: int64 where all fit, else float64/decimal; must not overflow
    ("d39_int_widths_19", as_gdal(&["digits-lost"])),
    // N(9,0) holding decimals: DEVIATE: float64 column (GDAL truncates 1.5 to 1 and 1e3 to 1)
    ("d41_int_with_decimals", but("", &["integer-with-decimals"], &[("V", "double", "1.5|2.0|-0.25|1000.0")])),
    // N(19,11) ArcGIS double: as GDAL
    ("d43_num_19_11", as_gdal(&[])),
    // 17 significant digits: as GDAL
    ("d44_num_prec", as_gdal(&[])),
    // N(5,7) decimals exceed width: as GDAL
    ("d46_dec_gt_width", as_gdal(&[])),
    // dates: DEVIATE: invalid date -> null + diagnostic (GDAL-Arrow: 1970-01-01 or rolled over)
    ("d50_dates", but("", &["bad-date"], &[("V", "date32[day]", "2024-02-29|\\N|\\N|\\N|\\N|\\N|\\N|\\N|\\N|1900-01-01|1899-12-31|0001-01-01|\\N")])),
    // D(6): DEVIATE: invalid date -> null + diagnostic (GDAL-Arrow: 1970-01-01 or rolled over)
    ("d52_date_w6", but("", &["bad-date"], &[("V", "date32[day]", "\\N|\\N")])),
    // L(3): T/t/Y/y true, F/f/N/n false, ?/blank/NUL null; 1/0 as true/false + diagnostic (GDAL: blank, 1, X all false)
    ("d54_logical_w3", as_gdal(&[])),
    // leading/trailing blanks, NUL, tabs: trailing blanks trimmed, leading kept (GDAL trims both; note it), all blank = null
    ("d55_char_spaces", but("", &["after-nul", "leading-blanks"], &[("V", "string", "  lead|trail|a|\\N|tab\tx|nl\\nx|\\N|N/A|NULL|\"q,\"")])),
    // no 0x0D after the field table: error or diagnostic: no terminator (GDAL reads)
    ("d60_no_terminator", as_gdal(&["blank-logical", "dbf-no-terminator"])),
    // terminator 0D 00: as GDAL
    ("d63_term_0d00", as_gdal(&["blank-logical"])),
    // empty column name: name it by position; as GDAL otherwise
    ("d65_empty_name", but("", &["unnamed-column"], &[("field_1", "int32", "1|1|1|1|1|1")])),
    // names with space, %, leading digit: as GDAL
    ("d66_odd_names", as_gdal(&[])),
    // 11-byte name without NUL: 11 bytes kept (John Deere writes AppliedRate, ControlRate so)
    ("d67_name_11", as_gdal(&[])),
    // name NUL then garbage: as GDAL
    ("d68_name_nul_garbage", as_gdal(&[])),
    // name padded by blanks: as GDAL
    ("d69_name_spaces_pad", as_gdal(&[])),
    // O(8) double (dBase 7): error or binary column; GDAL gives garbage text
    ("d71_type_O", but("", &["binary-column"], &[("V", "binary", "3ff8000000000000|bff0000000000000|0000000000000000|4000000000000000|4008000000000000|4010000000000000")])),
    // B(8) double (FoxPro): error or binary column; GDAL gives garbage text
    ("d72_type_B", but("", &["binary-column"], &[("V", "binary", "000000000000f83f|000000000000f0bf|0000000000000000|0000000000000040|0000000000000840|0000000000001040")])),
    // Y(8) currency: error or binary column; GDAL gives garbage text
    ("d73_type_Y", but("", &["binary-column"], &[("V", "binary", "983a000000000000|ffffffffffffffff|0000000000000000|0200000000000000|0300000000000000|0400000000000000")])),
    // T(8) datetime: error or binary column; GDAL gives garbage text
    ("d74_type_T", but("", &["binary-column"], &[("V", "binary", "978a250080ee3600|978a250080ee3600|978a250080ee3600|978a250080ee3600|978a250080ee3600|978a250080ee3600")])),
    // @(8) timestamp: error or binary column; GDAL gives garbage text
    ("d75_type_at", but("", &["binary-column"], &[("V", "binary", "978a250080ee3600|978a250080ee3600|978a250080ee3600|978a250080ee3600|978a250080ee3600|978a250080ee3600")])),
    // M(10) without .dbt: as GDAL (text); memo pointer diagnostic
    ("d76_memo_no_dbt", but("", &["leading-blanks", "memo"], &[("V", "string", "         1|         1|         1|         1|         1|         1")])),
    // type Z: as GDAL (text); memo pointer diagnostic
    ("d77_type_unknown", as_gdal(&["unknown-type"])),
    // +(4) autoincrement: error or binary column; GDAL gives garbage text
    ("d78_type_plus", but("", &["binary-column"], &[("V", "binary", "00000000|00000001|00000002|00000003|00000004|00000005")])),
    // C(0) column: as GDAL
    ("d80_field_len0", as_gdal(&[])),
    // no columns: as GDAL
    ("d83_no_fields", as_gdal(&[])),
    // 255 columns: as GDAL
    ("d84_255_fields", as_gdal(&[])),
    // 2000 columns: as GDAL
    ("d85_2000_fields", as_gdal(&[])),
    // version byte 0x31: as GDAL
    ("d86_ver_31", as_gdal(&["blank-logical"])),
    // version byte 0x83: as GDAL
    ("d86_ver_83", as_gdal(&["blank-logical"])),
    // version byte 0xfb: as GDAL
    ("d86_ver_fb", as_gdal(&["blank-logical"])),
    // 4 dbf rows, 6 shapes: error: .dbf/.shp row mismatch (GDAL: 3 rows silently)
    ("d90_dbf_fewer", error(Some("t.dbf"), Some(4), None, "the .shp has 6 records and the .dbf 4: they do not belong together", Some((4, &["blank-logical", "row-mismatch"])))),
    // header date month 13 day 40: as GDAL
    ("d92_date_invalid", as_gdal(&["blank-logical"])),
    // file stem in UTF-8: as GDAL
    ("d95_utf8_stem", as_gdal(&["blank-logical"])),
    // stem with dots: as GDAL
    ("d97_dot_stem", as_gdal(&["blank-logical"])),
    // text 'Blé français Ñandú €' as cp1252, ldid 0x57, cpg None: DEVIATE allowed: 0x57 as cp1252 (0x80 is the euro sign); GDAL latin-1
    ("e03_cp1252_ldid57", but("", &[], &[("N", "string", "Blé français Ñandú €|ascii|\\N|Blé français Ñandú €|z|\\N")])),
    // text 'Пшеница' as cp1251, ldid 0xc9, cpg None: as GDAL
    ("e07_cp1251_ldidC9", as_gdal(&[])),
    // text 'Пшеница' as cp866, ldid 0x65, cpg None: as GDAL
    ("e08_cp866_ldid65", as_gdal(&[])),
    // text '小麦' as cp936, ldid 0x4d, cpg None: as GDAL
    ("e09_cp936_ldid4D", as_gdal(&[])),
    // text 'Blé 小麦 Пшеница' as utf-8, ldid 0x00, cpg b'UTF-8': as GDAL
    ("e11_utf8_cpg", as_gdal(&[])),
    // text 'Blé 小麦' as utf-8, ldid 0x00, cpg b'\xef\xbb\xbfUTF-8': as GDAL
    ("e15_utf8_cpg_bom", as_gdal(&[])),
    // text 'Blé 小麦' as utf-8, ldid 0x00, cpg b'utf-8': as GDAL
    ("e16_utf8_cpg_lower", as_gdal(&[])),
    // text 'Blé 小麦' as utf-8, ldid 0x00, cpg None: as GDAL
    ("e17_utf8_nocpg_ldid00", as_gdal(&["text-undeclared"])),
    // text 'Blé Ñandú' as latin1, ldid 0x00, cpg b'ISO 8859-1': as GDAL
    ("e20_latin1_cpg_iso", as_gdal(&[])),
    // text 'Blé Ñandú' as latin1, ldid 0x00, cpg b'ISO-8859-1': as GDAL
    ("e21_latin1_cpg_dash", as_gdal(&[])),
    // text 'Blé €' as cp1252, ldid 0x00, cpg b'1252': as GDAL
    ("e22_cp1252_cpg_1252", as_gdal(&[])),
    // text 'Blé €' as cp1252, ldid 0x00, cpg b'ANSI 1252': DEVIATE: fall back to cp1252/latin-1 + diagnostic; Arrow text must be valid UTF-8 (GDAL-Arrow emits invalid UTF-8)
    ("e23_cp1252_cpg_ansi", but("", &["cpg-habit"], &[("N", "string", "Blé €|ascii|\\N|Blé €|z|\\N")])),
    // text '小麥' as big5, ldid 0x00, cpg b'Big5': as GDAL
    ("e26_big5_cpg", as_gdal(&[])),
    // text 'Blé' as cp1252, ldid 0x03, cpg b'FOO-BAR': DEVIATE: fall back to cp1252/latin-1 + diagnostic; Arrow text must be valid UTF-8 (GDAL-Arrow emits invalid UTF-8)
    ("e27_cpg_garbage", but("", &["cpg-ignored"], &[("N", "string", "Blé|ascii|\\N|Blé|z|\\N")])),
    // text 'Blé Ñandú' as cp1252, ldid 0x03, cpg b'UTF-8': DEVIATE: fall back to cp1252/latin-1 + diagnostic; Arrow text must be valid UTF-8 (GDAL-Arrow emits invalid UTF-8)
    ("e30_cpg_lies_utf8", but("", &["text-recoded"], &[("N", "string", "Blé Ñandú|ascii|\\N|Blé Ñandú|z|\\N")])),
    // UTF-8 column name: as GDAL
    ("e41_name_utf8", as_gdal(&[])),
    // Latin-1 column name, no cpg: as GDAL
    ("e42_name_latin1", as_gdal(&[])),
    // good file, 6 points, 5 columns: as GDAL
    ("s01_baseline", as_gdal(&["blank-logical"])),
    // .shp cut in the middle of record 4: error: truncated .shp (strict); lenient: 3 rows + diagnostics, never 3 silent null geometries as GDAL
    ("s02_trunc_mid_record", error(Some("t.shx"), Some(4), Some(132), "the .shp is truncated, or the index belongs to another file; `strict=False` reads the recoverable data", Some((3, &["blank-logical", "no-shx", "row-mismatch", "shp-damaged", "shp-length", "shx-damaged"])))),
    // .shp cut at 60 bytes: error
    ("s03_trunc_header", error(Some("t.shx"), Some(0), Some(100), "the .shp is truncated, or the index belongs to another file; `strict=False` reads the recoverable data", Some((6, &["blank-logical", "member-lost"])))),
    // header file length doubled: as GDAL: trust .shx and real file size, not the header length; diagnostic
    ("s04_hdrlen_too_big", as_gdal(&["blank-logical", "shp-length"])),
    // header file length says 3 records: as GDAL: trust .shx and real file size, not the header length; diagnostic
    ("s05_hdrlen_too_small", as_gdal(&["blank-logical", "shp-length"])),
    // record 3 content length -10 (.shp and .shx): error naming record 3 (GDAL fails the whole layer too)
    ("s07_reclen_negative", error(Some("t.shp"), Some(2), Some(156), "the record has the negative length -10", Some((6, &["blank-logical", "shp-damaged"])))),
    // record 3 content length 4 words (too short for a point): as GDAL (type decides the size); diagnostic
    ("s09_reclen_short", as_gdal(&["blank-logical", "short-record", "shp-seams"])),
    // polygon record 2 declares 0x7fffffff points: error or null geometry + diagnostic; no allocation from the declared count (GDAL: silent null)
    ("s11_npoints_huge", as_gdal(&["blank-logical", "broken-shape"])),
    // polygon record 2 declares 0x10000000 parts: error or null geometry + diagnostic; no allocation from the declared count (GDAL: silent null)
    ("s12_nparts_huge", as_gdal(&["blank-logical", "broken-shape"])),
    // polygon record 2 declares -1 points: error or null geometry + diagnostic; no allocation from the declared count (GDAL: silent null)
    ("s13_npoints_negative", as_gdal(&["blank-logical", "broken-shape"])),
    // first part starts at 1: DEVIATE: one part whose start is not 0: read from vertex 0 (real Rx maps do this; GDAL drops a vertex and geopandas then raises)
    ("s16_part_first_nonzero", but("", &["blank-logical", "part-start"], &[("geometry", "binary", "Polygon((0 0,0 0.5,0.5 0.5,0.5 0,0 0))|Polygon((1 0,1 0.5,1.5 0.5,1.5 0,1 0))|Polygon((2 0,2 0.5,2.5 0.5,2.5 0,2 0))|Polygon((3 0,3 0.5,3.5 0.5,3.5 0,3 0))|Polygon((4 0,4 0.5,4.5 0.5,4.5 0,4 0))|Polygon((5 0,5 0.5,5.5 0.5,5.5 0,5 0))")])),
    // no .shx: DEVIATE: read by walking the .shp (GDAL needs SHAPE_RESTORE_SHX); diagnostic
    ("s20_no_shx", like("s01_baseline", &["blank-logical", "no-shx"])),
    // no .dbf: as GDAL: geometry only, zero columns; diagnostic
    ("s21_no_dbf", as_gdal(&["no-dbf"])),
    // no .prj: as GDAL, CRS null
    ("s22_no_prj", as_gdal(&["blank-logical", "no-prj"])),
    // only .shp: DEVIATE: read by walking the .shp (GDAL needs SHAPE_RESTORE_SHX); diagnostic
    ("s23_only_shp", like("s21_no_dbf", &["no-dbf", "no-prj", "no-shx"])),
    // records stored in reverse order; .shx in feature order: as GDAL: follow .shx (6 rows in .shx order)
    ("s26_records_reversed", as_gdal(&["blank-logical", "out-of-order"])),
    // .shx record 3 offset beyond EOF: null geometry for record 3 + diagnostic, or error
    ("s28_shx_offset_beyond", error(Some("t.shx"), Some(2), Some(116), "the .shp is truncated, or the index belongs to another file; `strict=False` reads the recoverable data", Some((6, &["blank-logical", "no-shx", "shx-damaged"])))),
    // record numbers from 0: as GDAL
    ("s32_recno_from_0", as_gdal(&["blank-logical"])),
    // 64 bytes after the last record, outside header length: as GDAL
    ("s34_trailing_garbage", as_gdal(&["blank-logical", "shp-length"])),
    // null shapes at rows 2 and 6: as GDAL
    ("s40_null_shapes", as_gdal(&["blank-logical"])),
    // point file with one polygon record: as GDAL
    ("s43_mixed_types", as_gdal(&["blank-logical", "mixed-shapes"])),
    // record 2 has shape type 99: null geometry + diagnostic (as GDAL)
    ("s44_unknown_type", as_gdal(&["blank-logical", "broken-shape"])),
    // header type 7: error (GDAL reads by record type)
    ("s45_hdr_type_unknown", error(Some("t.shp"), None, Some(32), "the header declares the unknown shape type 7", Some((6, &["blank-logical", "member-lost"])))),
    // record 2 x,y=-1e39 (no data): as GDAL; values < -1e38 flagged as no data
    ("s48_nodata_coord", as_gdal(&["blank-logical", "no-data-coordinate"])),
    // records 2,3 at 0,0 (lost GPS fix): as GDAL
    ("s49_zero_zero", as_gdal(&["blank-logical"])),
    // PointZ with m: as GDAL
    ("s51_pointz_m", as_gdal(&["blank-logical", "m-values"])),
    // PointZ, alternately with and without M: Point ZM, missing M = NaN; GDAL types the layer from record 1 and drops M
    ("s53_pointz_m_mixed", but("", &["blank-logical", "m-values", "missing-m"], &[("geometry", "binary", "PointZM(-93.6 41.6 300 NaN)|PointZM(-93.6 41.6 301 1)|PointZM(-93.6 41.6 302 NaN)|PointZM(-93.6 41.6 303 3)|PointZM(-93.6 41.6 304 NaN)|PointZM(-93.6 41.6 305 5)")])),
    // PolygonZ, M omitted: as GDAL
    ("s55_polygonz_no_m", as_gdal(&["blank-logical"])),
    // PolygonZ with M: as GDAL
    ("s56_polygonz_m", as_gdal(&["blank-logical", "m-values"])),
    // inner ring stored before outer: as GDAL: outer ring first, file vertex order kept
    ("s60_hole_first", as_gdal(&["blank-logical"])),
    // single ring with wrong (ccw) winding: as GDAL: outer ring first, file vertex order kept
    ("s61_outer_ccw", as_gdal(&["blank-logical"])),
    // ring not closed: DEVIATE: close the ring + diagnostic (GDAL leaves it open; geopandas raises)
    ("s65_unclosed_ring", but("", &["blank-logical", "open-ring"], &[("geometry", "binary", "Polygon((0 0,0 1,1 1,1 0,0 0))|Polygon((1 0,1 0.5,1.5 0.5,1.5 0,1 0))|Polygon((2 0,2 0.5,2.5 0.5,2.5 0,2 0))|Polygon((3 0,3 0.5,3.5 0.5,3.5 0,3 0))|Polygon((4 0,4 0.5,4.5 0.5,4.5 0,4 0))|Polygon((5 0,5 0.5,5.5 0.5,5.5 0,5 0))")])),
    // polygon with 0 parts 0 points: null/empty geometry, row kept
    ("s66_zero_parts", as_gdal(&["blank-logical"])),
    // two parts, the second empty (start==npoints): null/empty geometry, row kept
    ("s67_empty_part", as_gdal(&["blank-logical", "broken-shape"])),
    // polyline of 1 point: row kept; geometry null or degenerate + diagnostic
    ("s69_one_point_line", as_gdal(&["blank-logical", "short-part"])),
    // cw outer, ccw ring outside of it: as GDAL
    ("s71_hole_outside", as_gdal(&["blank-logical", "ring-direction"])),
    // MultiPoint: as GDAL
    ("s72_multipoint", as_gdal(&["blank-logical"])),
    // header bbox NaN: as GDAL: bbox recomputed from records
    ("s80_bbox_nan", as_gdal(&["blank-logical"])),
    // header bbox zeros: as GDAL: bbox recomputed from records
    ("s81_bbox_zero", as_gdal(&["blank-logical"])),
    // 0 records, dbf 0 rows: as GDAL
    ("s85_no_records", as_gdal(&[])),
    // 0-byte .shx: DEVIATE: read by walking the .shp (GDAL needs SHAPE_RESTORE_SHX); diagnostic
    ("s87_zero_byte_shx", like("s01_baseline", &["blank-logical", "no-shx"])),
    // .prj is an HTML page: as GDAL, CRS null
    ("s90_prj_garbage", as_gdal(&["blank-logical", "crs-unknown"])),
    // .prj UTF-16: as GDAL, CRS null
    ("s92_prj_utf16", as_gdal(&["blank-logical", "crs-unknown"])),
    // .shx is a copy of .shp: error
    ("s94_shx_is_shp", error(Some("t.shx"), Some(0), Some(100), "the .shp is truncated, or the index belongs to another file; `strict=False` reads the recoverable data", Some((6, &["blank-logical", "no-shx", "shx-damaged"])))),
    // method 0: as GDAL
    ("z02_stored", as_gdal(&["blank-logical"])),
    // method 14: read (lzma) or typed unsupported error
    ("z04_lzma", error(Some("t.shx"), None, None, "it is compressed by method 14 (lzma); only stored, deflate and deflate64 can be read: unpack it and read the folder", None)),
    // method 9 (stored blocks): read
    ("z05_deflate64", as_gdal(&["blank-logical"])),
    // method 93: read (zstd) or typed unsupported error
    ("z07_zstd", error(Some("t.shx"), None, None, "it is compressed by method 93 (zstd); only stored, deflate and deflate64 can be read: unpack it and read the folder", None)),
    // set in a/b c/ with directory entries: DEVIATE: find sets in folders (GDAL lists only the root)
    ("z10_nested", as_gdal(&["blank-logical"])),
    // two sets at the root: two layers
    ("z11_two_layers", Layers(&["harvest", "seeding"])),
    // T.shp t.SHX T.Dbf: DEVIATE: case-insensitive match
    ("z14_mixed_case", like("s01_baseline", &["blank-logical"])),
    // __MACOSX/._t.shp and .DS_Store beside the set: 1 layer; __MACOSX and ._* ignored
    ("z15_macosx", as_gdal(&["blank-logical"])),
    // ._t.shp at the root, sorted before t.shp: 1 layer
    ("z16_macosx_root", as_gdal(&["blank-logical"])),
    // UTF-8 name without bit 11: UTF-8 when valid (GDAL: cp437 text)
    ("z18_utf8_noflag", as_gdal(&["blank-logical"])),
    // cp437 name without bit 11: as GDAL
    ("z19_cp437", as_gdal(&["blank-logical"])),
    // 0x7075 extra field name, ASCII fallback name: 0x7075 name
    ("z20_unicode_extra", like("s01_baseline", &["blank-logical"])),
    // back slashes as separators: back slash as separator, never a path
    ("z21_backslash", as_gdal(&["blank-logical"])),
    // ../../evil.* names: read in memory under a safe name, or error; nothing written outside
    ("z22_slip", error(Some("../../evil.shp"), None, None, "its name points outside the archive with `..`", None)),
    // C:\evil.* names: same
    ("z24_drive", error(Some("C:\\evil.shp"), None, None, "its name begins with a drive", None)),
    // good set plus ../ entry: 1 layer, entry ignored + diagnostic
    ("z25_slip_and_good", as_gdal(&["blank-logical", "refused-name"])),
    // declared size half of the truth for t.dbf: error
    ("z32_usize_small", error(Some("t.dbf"), None, Some(253), "the member inflates to more than the 253 bytes that the central directory declares", Some((1, &["dbf-damaged", "no-prj", "row-mismatch"])))),
    // compressed size past EOF: error or diagnostic
    ("z35_csize_big", error(Some("t.dbf"), None, None, "overlap the next member or the central directory, at offset", Some((6, &["member-lost", "no-prj", "unreadable-member"])))),
    // cut at 60 %: error
    ("z38_truncated", error(Some("t.prj"), None, Some(1), "is truncated, such as by an interrupted download: it has 517 bytes and no end record; the last member is number 4, `t.prj`, at byte 480, which has only 1 bytes of its contents: download it again, or read the remaining data with `strict=False`", Some((6, &["blank-logical", "cut-archive", "sidecar-lost", "unreadable-member"])))),
    // end record missing: error
    ("z39_no_eocd", error(Some("t.prj"), None, None, "the last member is number 4, `t.prj`, at byte 480, which is complete, but the central directory is not", Some((6, &["blank-logical", "cut-archive"])))),
    // 512 bytes before the archive, offsets relative to file: as GDAL
    ("z41_prefix", as_gdal(&["blank-logical"])),
    // 512 bytes before, offsets not adjusted: as GDAL
    ("z42_prefix_unadjusted", as_gdal(&["blank-logical"])),
    // 512 bytes after the end record: as GDAL
    ("z43_suffix", as_gdal(&["blank-logical"])),
    // archive comment holds a fake end record: error, or the real directory
    ("z44_comment_eocd", error(None, None, None, "cannot be read as a zip archive: it has two valid end records, so its contents are ambiguous", None)),
    // zip64 sizes and end record, small data: as GDAL
    ("z46_zip64", as_gdal(&["blank-logical"])),
    // data descriptors without signature: as GDAL
    ("z48_dd_nosig", as_gdal(&["blank-logical"])),
    // ZipCrypto, password secret: typed encrypted error
    ("z50_zipcrypto", error(Some("t.shx"), None, None, "it is encrypted: unpack it with its password and read the folder", None)),
    // 22-byte end record: typed "no shapefile" error
    ("z52_empty_archive", error(None, None, None, "it is empty", None)),
    // 0 bytes: typed "not a zip" error
    ("z53_zero_bytes", error(None, None, None, "is not a zip archive: it is empty (0 bytes): nothing was written or received", None)),
    // HTML page named .zip: typed "not a zip", first bytes shown
    ("z54_html", error(None, None, None, "is not a zip archive: it is a web page that was saved instead of a file: `<!DOCTYPE html><html><body>Access denied</body></html>`", None)),
    // JSON error named .zip: typed "not a zip", first bytes shown
    ("z55_json_error", error(None, None, None, "is not a zip archive: it is JSON: `{\"error\":\"forbidden\",\"code\":403}`", None)),
    // gzip named .zip: typed "not a zip" (gzip)
    ("z56_gzip", error(None, None, None, "is not a zip archive: it is compressed with gzip: unpack it (`gunzip`, or Python's `gzip`) and read the result", None)),
    // 7z magic named .zip: typed "not a zip"
    ("z58_7z_magic", error(None, None, None, "is not a zip archive: it is a 7z archive: unpack it (with 7-Zip) and read the folder", None)),
    // rar magic named .zip: typed "not a zip"
    ("z59_rar_magic", error(None, None, None, "is not a zip archive: it is a RAR archive: unpack it (with `unrar` or 7-Zip) and read the folder", None)),
    // only .dbf: attribute table or typed error
    ("z62_only_dbf", as_gdal(&["blank-logical", "no-shp"])),
    // only .shp: geometry only + diagnostic
    ("z63_only_shp", like("s21_no_dbf", &["no-dbf", "no-prj", "no-shx"])),
    // only readme.txt and a .json: typed "no shapefile" error
    ("z64_no_shapefile", error(None, None, None, "in an unknown format: `readme.txt`", None)),
    // inner.zip holding the set: typed error or one level of nesting, bounded
    ("z66_nested_zip", like("s01_baseline", &["blank-logical"])),
    // NUL inside member name: reject the name
    ("z70_nul_name", error(Some("t.shp\0.txt"), None, None, "its name contains a NUL byte", Some((6, &["blank-logical", "no-shp", "refused-name"])))),
    // empty member name: 1 layer
    ("z71_empty_name", as_gdal(&["blank-logical", "refused-name"])),
    // local names differ from directory names: error: local and directory names differ
    ("z72_name_mismatch", error(Some("t.shp"), None, None, "the archive is inconsistent: its local header has the name `other.shp`", None)),
    // local header says stored, directory says deflate: error or directory wins
    ("z73_method_mismatch", error(Some("t.shx"), None, None, "the archive is inconsistent: its local header and the central directory have different compression methods", None)),
    // directory entry t.shp/: 1 layer (t2)
    ("z74_dir_named_shp", as_gdal(&["blank-logical"])),
    // end record disk number 1: typed error
    ("z75_multidisk", error(None, None, None, "cannot be read as a zip archive: it is one part of a split archive", Some((6, &["blank-logical", "directory-damaged"])))),
    // starts with PK00 marker: as GDAL
    ("z76_split_marker", as_gdal(&["blank-logical"])),
    // DOS date 0: as GDAL
    ("z77_bad_dosdate", as_gdal(&["blank-logical"])),
    // end record counts 9, 4 present: error
    ("z78_eocd_count_more", error(None, None, None, "cannot be read as a zip archive: its end record declares 9 members, but its central directory has 4", Some((6, &["blank-logical", "directory-damaged"])))),
    // end record counts 2, 4 present: error: entry count contradicts the directory (GDAL loses the dbf)
    ("z79_eocd_count_less", error(None, None, None, "cannot be read as a zip archive: its end record declares 2 members, but its central directory has 4", Some((6, &["blank-logical", "directory-damaged"])))),
    // bit 11 set, invalid UTF-8: 1 layer with replaced name, or error
    ("z80_bad_utf8_name", like("s01_baseline", &["blank-logical"])),
    // a/../t.shp: reject or normalise, never escape
    ("z81_dotdot_inside", error(Some("a/../t.shp"), None, None, "its name points outside the archive with `..`", None)),
    // ./t.shp: normalise
    ("z82_dot_slash", like("s01_baseline", &["blank-logical"])),
    // "t .shp" and "t.shp ": error or trim
    ("z84_trailing_space", error(None, None, None, "in an unknown format: `t.shp `", None)),
    // malformed extra field length: read or error, no panic
    ("z87_extra_garbage", like("s01_baseline", &["blank-logical"])),
];
