//! Lists the files that readers disagree about: which reader is right, and how this reader may differ.

/// Decision about one file.
pub(crate) struct Decision {
    /// Permitted differences from GDAL's reading, each deviation verbatim; empty where both must be equal.
    pub(crate) allows: &'static [&'static str],
    /// Which reader is right, and the reason.
    pub(crate) words: &'static str,
}

pub(crate) fn decision(file: &str) -> Option<Decision> {
    DECISIONS.iter().find(|(ending, ..)| file.ends_with(ending)).map(|(_, allows, words)| Decision { allows, words })
}

const DECISIONS: &[(&str, &[&str], &str)] = &[
    (
        "TestShapefiles/Issues/009/tmpA6A6/Rx/PPPP29_0.shp",
        &["geometry part-start: 50 shapes"],
        "The only part of each ring starts at vertex 1, and vertex 0 is its last one: the ring is whole from vertex 0. GDAL reads on from vertex 1 and leaves it open.",
    ),
    (
        "misc/unicody.shp",
        &["column `text` declared: 1 cells"],
        "Driver byte 0x57 is the code page of Windows, 1252 as every table of driver bytes but GDAL's has it; Latin-1 gives control characters in place of letters.",
    ),
    (
        "test/data/codepage.shp",
        &["column `field` declared: 1 cells"],
        "Its .cpg says `ANSI 1250`, which gives Czech names; GDAL does not know the name and hands out bytes that are no UTF-8.",
    ),
    (
        "test/data/htmlcpg.shp",
        &[],
        "Its .cpg is a web page: rubbish is ignored, as GDAL does; pyshp takes it for a name and fails.",
    ),
    (
        "go-shapefile/testdata/water_main_dist.dbf",
        &[],
        "GDAL is right: a date column of 23 bytes holds dates such as 04/25/1989; the Rust crate expects eight digits.",
    ),
    (
        "autotest/ogr/data/shp/water_main_dist.dbf",
        &[],
        "GDAL is right: a date column of 23 bytes holds dates such as 04/25/1989; the Rust crate expects eight digits.",
    ),
    (
        "fixtures/cp1251.dbf",
        &[],
        "GDAL is right: the driver byte 0xC9 is code page 1251; pyshp stumbles over bytes after the end of the field table.",
    ),
    (
        "fixtures/dbase_30.dbf",
        &[
            "column `COPYRIGHT` text-recoded: 1 cells",
            "column `CREDIT` text-recoded: 1 cells",
            "column `DESCRIP` text-recoded: 2 cells",
            "column `FLAGDATE` binary-column: 34 cells",
            "column `GPARENT` leading-blanks: 34 cells",
            "column `UPDATED` binary-column: 34 cells",
            "column `ZSORTER` leading-blanks: 34 cells",
            "column `ZSORTERX` leading-blanks: 33 cells",
        ],
        "A Visual FoxPro table. GDAL cuts the bytes of times at their first NUL, and iconv drops bytes of memo pointers; all bytes are kept, as bytes where the type is binary.",
    ),
    (
        "fixtures/dbase_31.dbf",
        &[
            "column `PRODUCTID` binary-column: 77 cells",
            "column `SUPPLIERID` binary-column: 77 cells",
            "column `CATEGORYID` binary-column: 77 cells",
            "column `UNITPRICE` binary-column: 77 cells",
            "column `UNITSINSTO` binary-column: 77 cells",
            "column `UNITSONORD` binary-column: 77 cells",
            "column `REORDERLEV` binary-column: 77 cells",
        ],
        "A Visual FoxPro table with binary integers and currencies, which GDAL takes for text and cuts at their first NUL: all bytes are kept as bytes.",
    ),
    (
        "fixtures/dbase_32.dbf",
        &[],
        "A type unknown to other readers (`V`, text of varying length) is read as text, as GDAL does.",
    ),
    (
        "fixtures/dbase_83_missing_memo.dbf",
        &["column `DESC` leading-blanks: 67 cells"],
        "The memo file is missing, so its column holds block numbers; as text they keep their leading blanks.",
    ),
    (
        "fixtures/mazovia.dbf",
        &["column `A2` declared: 1 cells"],
        "Driver byte 0x69 is Mazovia, which iconv does not know, so that GDAL hands out the bytes, which are no UTF-8; we read the letters of Mazovia.",
    ),
    (
        "TN.RailTransportNetwork.RailwayLink.shp",
        &[],
        "GDAL is right: a logical of two bytes holds `F ` and `? `, and its first letter counts; pyshp compares both bytes and finds nothing but nulls.",
    ),
    (
        "TN.RoadTransportNetwork.RoadLink.shp",
        &[],
        "GDAL is right: a logical of two bytes holds `F ` and `? `, and its first letter counts; pyshp compares both bytes and finds nothing but nulls.",
    ),
    (
        "files/invalid_value.dbf",
        &["column `BIRTHDATE` bad-date: 1 cells"],
        "`NotAYear` is no date, so it is null: GDAL's 1970-01-01 is invented. The deleted record is no row.",
    ),
    (
        "files/people.dbf",
        &[],
        "Two rows: the third record is deleted. GDAL counts it and does not give it, and neither do we.",
    ),
    (
        "cases/memotest.dbf",
        &[],
        "Two rows and a deleted record; the memo pointers of four bytes are read as text, as GDAL does.",
    ),
    (
        "cases/no_memofile.dbf",
        &[],
        "Two rows and a deleted record; the memo pointers of four bytes are read as text, as GDAL does.",
    ),
    (
        "tab_with_dbf_with_delete_column.dbf",
        &[],
        "The records are longer than the fields need and fill the file, so the rest of each is no column: GDAL is right.",
    ),
    (
        "shp/buggymultiline.shp",
        &[],
        "GDAL is right: the record declares fewer bytes than its shape needs, and the bytes are there.",
    ),
    (
        "shp/buggymultipoint.shp",
        &[],
        "GDAL is right: the record declares fewer bytes than its shape needs, and the bytes are there.",
    ),
    ("shp/emptymultipoint.shp", &[], "No points make no geometry: null, as GDAL has it."),
    (
        "autotest/ogr/data/shp/multipatch.shp",
        &[],
        "The field table lacks its end mark and the header length stands in for it: GDAL is right, pyshp gives up.",
    ),
    (
        "data/cp850.dbf",
        &["column `TEXT` text-recoded: 1 cells"],
        "The driver byte says 1252, where 0x81 stands for nothing: iconv drops the byte, we keep it as U+0081 and say so. The name of the file suggests code page 850, but nothing in it does.",
    ),
];
