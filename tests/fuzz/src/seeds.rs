//! Generates small valid inputs for each target.

use crate::{WGS_84, zipped};

fn head(kind: i32, body: &[u8]) -> Vec<u8> {
    let mut bytes = 9994_i32.to_be_bytes().to_vec();
    bytes.extend([0; 20]);
    bytes.extend((50 + body.len() as i32 / 2).to_be_bytes());
    bytes.extend(1000_i32.to_le_bytes());
    bytes.extend(kind.to_le_bytes());
    bytes.extend([0; 64]);
    bytes.extend(body);
    bytes
}

fn shp(kind: i32, records: &[Vec<u8>]) -> (Vec<u8>, Vec<u8>) {
    let (mut body, mut index) = (Vec::new(), Vec::new());
    for (number, record) in (1_i32..).zip(records) {
        let words = record.len() as i32 / 2;
        index.extend((50 + body.len() as i32 / 2).to_be_bytes());
        index.extend(words.to_be_bytes());
        body.extend(number.to_be_bytes());
        body.extend(words.to_be_bytes());
        body.extend(record);
    }
    (head(kind, &body), head(kind, &index))
}

fn point(kind: i32, ordinates: &[f64]) -> Vec<u8> {
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend(ordinates.iter().flat_map(|ordinate| ordinate.to_le_bytes()));
    bytes
}

fn parts(kind: i32, starts: &[i32], points: &[(f64, f64)]) -> Vec<u8> {
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend([0; 32]);
    bytes.extend((starts.len() as i32).to_le_bytes());
    bytes.extend((points.len() as i32).to_le_bytes());
    bytes.extend(starts.iter().flat_map(|start| start.to_le_bytes()));
    bytes.extend(points.iter().flat_map(|(x, y)| [x.to_le_bytes(), y.to_le_bytes()].concat()));
    bytes
}

fn dbf() -> Vec<u8> {
    let fields: [(&[u8], u8, u8, u8); 5] = [
        (b"RATE", b'N', 6, 2),
        (b"PASS", b'N', 3, 0),
        (b"DAY", b'D', 8, 0),
        (b"OK", b'L', 1, 0),
        (b"CROP", b'C', 4, 0),
    ];
    let mut bytes = vec![3, 126, 1, 1, 3, 0, 0, 0, 33 + 32 * 5, 0, 23, 0];
    bytes.extend([0; 17]);
    bytes.extend([0x57, 0, 0]);
    for (name, kind, width, decimals) in fields {
        let mut field = [0; 32];
        field[..name.len()].copy_from_slice(name);
        (field[11], field[16], field[17]) = (kind, width, decimals);
        bytes.extend(field);
    }
    bytes.push(0x0D);
    for record in [&b"   1.50  120260901TCorn"[..], b"*  2.50   20260902FBl\xe9 ", b"            00000000?    "] {
        bytes.extend(&record[..23]);
    }
    bytes.push(0x1A);
    bytes
}

fn product() -> Vec<u8> {
    b"<?xml version=\"1.0\"?><AdvancedMetadata><Columns><Column><Name>Rate</Name><Unit>kg/ha</Unit></Column></Columns></AdvancedMetadata>".to_vec()
}

/// The seeds of each target by its name.
#[must_use]
pub fn seeds() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let ring = [(0.0, 0.0), (0.0, 9.0), (9.0, 9.0), (9.0, 0.0), (0.0, 0.0)];
    let hole = [(1.0, 1.0), (3.0, 1.0), (3.0, 3.0), (1.0, 1.0)];
    let polygon = parts(5, &[0, 5], &[&ring[..], &hole].concat());
    let sets = [
        shp(1, &[point(1, &[1.0, 2.0]), point(1, &[3.0, 4.0])]),
        shp(11, &[point(11, &[1.0, 2.0, 3.0, 4.0]), point(11, &[1.0, 2.0, 3.0])]),
        shp(5, &[polygon.clone(), 0_i32.to_le_bytes().to_vec(), parts(5, &[0], &ring)]),
        shp(3, &[parts(3, &[0, 2], &ring)]),
    ];
    let zips = sets.iter().map(|(shp, shx)| {
        zipped(&[("t.shp", shp), ("t.shx", shx), ("t.dbf", &dbf()), ("t.prj", WGS_84), ("t.cpg", b"UTF-8")])
    });
    // Also the first part of each zip, as from an interrupted download.
    let zips = zips.flat_map(|whole| [whole[..whole.len() * 2 / 3].to_vec(), whole]);
    let cart = b"GrcVersion,1.6,\r\nTotalPounds,42000,\r\n,Pounds,,UTC Date,UTC Time\r\nLoadNumber,Weight,TruckID,LoadDate,LoadTime\r\n1,30000.0,T1,2026-09-21,14:00:01\r\n";
    let pair = |one: &[u8], two: &[u8]| [one, b"\xFF\xFE", two].concat();
    let table = b"Longitude\tLatitude\tRate\n-98.5\t45.25\t180.5\n-98.4\t45.25\t181.5\n";
    vec![
        ("zip", zips.collect()),
        ("shp", sets.iter().flat_map(|(shp, shx)| [pair(shp, shx), shp.clone()]).collect()),
        ("dbf", vec![dbf()]),
        (
            "prj_cpg",
            vec![pair(WGS_84, b"UTF-8"), pair(WGS_84, b"ANSI 1252"), pair(b"PROJCS[\"x\",", b"\xEF\xBB\xBF88591")],
        ),
        ("grc", vec![cart.to_vec()]),
        ("fmis", vec![pair(&product(), table), pair(b"<JobData/>", b"")]),
    ]
}
