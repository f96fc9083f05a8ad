//! Builds small valid sets, and damages them with a seeded mutator as transfers, disks and attackers do.

#![expect(clippy::cast_precision_loss, reason = "rows and vertices are few")]

use std::fmt::Write as _;

use fastrand::Rng;

use crate::builder::{self, Files};

const FIELDS: [builder::Field<'_>; 6] = [
    ("YIELD", b'N', 7, 2),
    ("LOAD", b'N', 4, 0),
    ("DATE", b'D', 8, 0),
    ("OK", b'L', 1, 0),
    ("CROP", b'C', 6, 0),
    ("ControlRate", b'F', 9, 3),
];

/// Records for [`FIELDS`], with text in some encoding.
fn dbf(rows: usize, words: [&[u8]; 3], driver: u8, deleted: &[usize]) -> Vec<u8> {
    let records: Vec<Vec<u8>> = (0..rows)
        .map(|row| {
            let mark = if deleted.contains(&row) { '*' } else { ' ' };
            let date = if row % 4 == 3 { "        ".to_owned() } else { format!("202609{:02}", row + 1) };
            let start = format!("{mark}{:7.2}{:4}{date}{}", 180.25 + row as f64, 7 * row + 1, ["T", "F", "?"][row % 3]);
            let rate = format!("{:9.3}", row as f64 * 1.5);
            let mut word = words[row % 3].to_vec();
            word.resize(6, b' ');
            [start.into_bytes(), word, rate.into_bytes()].concat()
        })
        .collect();
    builder::dbf(&FIELDS, &records, driver)
}

/// Rings with heights from 0 upwards and measures from 100 upwards.
fn with_heights_and_measures(starts: &[i32], points: &[(f64, f64)]) -> Vec<u8> {
    let from = |first: f64| -> Vec<f64> { (0..points.len()).map(|at| first + at as f64).collect() };
    builder::with_ordinates(15, starts, points, &[&from(0.0), &from(100.0)])
}

fn set(kind: i32, shapes: &[Vec<u8>], dbf: Vec<u8>, cpg: Option<&str>) -> Files {
    let mut files = builder::files(builder::shp(kind, shapes), dbf);
    files.extend(cpg.map(|cpg| ("t.cpg", cpg.as_bytes().to_vec())));
    files
}

/// Points, polygons with holes and islands, lines, Z and M, text of several code pages, dates, deleted rows, null
/// shapes.
pub(crate) fn sets() -> Vec<(&'static str, Files)> {
    let place = |row: usize| (-93.65 + row as f64 / 1e4, 41.6 + row as f64 / 2e4);
    let points: Vec<Vec<u8>> = (0..9).map(place).map(|(x, y)| builder::point(x, y)).collect();
    let square = builder::square;
    let hole = |x: f64, y: f64, size: f64| {
        let mut corners = square(x, y, size);
        corners.reverse();
        corners
    };
    let rings = |row: usize| {
        let x = 20.0 * row as f64;
        let mut points = square(x, 0.0, 10.0).to_vec();
        points.extend(hole(x + 1.0, 1.0, 3.0));
        points.extend(square(x, 12.0, 5.0));
        (vec![0, 5, 10], points)
    };
    let polygons: Vec<Vec<u8>> = (0..5)
        .map(rings)
        .enumerate()
        .map(
            |(row, (starts, points))| {
                if row % 2 == 0 { builder::parts(5, &starts, &points) } else { builder::parts(5, &[0], &points[..5]) }
            },
        )
        .collect();
    let heights: Vec<Vec<u8>> = (0..6)
        .map(place)
        .zip(0_u8..)
        .map(|((x, y), row)| builder::point_z(x, y, f64::from(row), Some(f64::from(row) * 2.0)))
        .collect();
    let bare: Vec<Vec<u8>> = (0..6).map(place).map(|(x, y)| builder::point_z(x, y, 250.0 + x, None)).collect();
    let measured: Vec<Vec<u8>> =
        (0..4).map(rings).map(|(starts, points)| with_heights_and_measures(&starts, &points)).collect();
    let mut lines: Vec<Vec<u8>> = (0..5).map(rings).map(|(_, points)| builder::parts(3, &[0, 7], &points)).collect();
    lines[2] = 0_i32.to_le_bytes().to_vec();
    let plain: [&[u8]; 3] = [b"Corn", b"Soja", b""];
    vec![
        ("points", set(1, &points, dbf(9, [b"Bl\xe9", b"Corn", b"\x80 5"], 0x57, &[]), None)),
        ("polygons", set(5, &polygons, dbf(5, ["Blé".as_bytes(), b"Corn", "小麦".as_bytes()], 0, &[]), Some("UTF-8"))),
        ("heights and measures", set(11, &heights, dbf(6, plain, 3, &[1, 4]), None)),
        ("heights", set(11, &bare, dbf(6, plain, 0, &[]), None)),
        ("measured polygons", set(15, &measured, dbf(4, [b"\x8e\x81", b"x", b"y"], 0x02, &[]), Some("850"))),
        ("lines", set(3, &lines, dbf(5, plain, 0x57, &[2]), None)),
        ("a table", vec![("t.dbf", dbf(7, plain, 0x57, &[3]))]),
        ("shapes", set(1, &points, Vec::new(), None).into_iter().filter(|(name, _)| !name.ends_with("dbf")).collect()),
        ("bare shapes", set(5, &polygons, Vec::new(), None).into_iter().take(1).collect()),
    ]
}

/// The text of a grain cart file.
pub(crate) fn cart() -> Vec<u8> {
    let mut text = "GrcVersion,1.6,\r\nField,North,\r\nTotalPounds,42000,\r\n,Pounds,,Percent,UTC Date,UTC Time\r\n\
                    LoadNumber,Weight,TruckID,Moisture,LoadDate,LoadTime\r\n"
        .to_owned();
    for (load, weight) in [(1, 30_000), (2, 12_000)] {
        write!(text, "{load},{weight}.0,T{load},15.{load},2026-09-21,14:00:0{load}\r\n").unwrap();
    }
    text.into_bytes()
}

/// The offsets of lengths, counts, offsets and types in a file, each with its width and byte order.
fn fields(name: &str, bytes: &[u8]) -> Vec<(usize, usize, bool)> {
    let mut found = Vec::new();
    match name.rsplit('.').next() {
        Some("shp") => {
            found.extend([(0, 4, true), (24, 4, true), (28, 4, false), (32, 4, false)]);
            let mut at = 100;
            while let Some(words) = bytes.get(at + 4..at + 8) {
                found.extend([(at, 4, true), (at + 4, 4, true), (at + 8, 4, false)]);
                found.extend([(at + 44, 4, false), (at + 48, 4, false), (at + 52, 4, false), (at + 56, 4, false)]);
                at += 8 + 2 * usize::try_from(u32::from_be_bytes(words.try_into().unwrap())).unwrap();
            }
        }
        Some("shx") => {
            found.extend([(0, 4, true), (24, 4, true), (32, 4, false)]);
            found.extend((100..bytes.len()).step_by(4).map(|at| (at, 4, true)));
        }
        Some("dbf") => {
            found.extend([(0, 1, false), (4, 4, false), (8, 2, false), (10, 2, false), (29, 1, false)]);
            for at in (32..).step_by(32).take_while(|at| bytes.get(*at).is_some_and(|first| *first != 0x0D)) {
                found.extend([(at, 1, false), (at + 11, 1, false), (at + 16, 1, false), (at + 17, 1, false)]);
            }
        }
        Some("zip") => {
            for at in 0..bytes.len() {
                let places: &[(usize, usize)] = match bytes.get(at..at + 4) {
                    Some(b"PK\x03\x04") => &[(4, 2), (6, 2), (8, 2), (14, 4), (18, 4), (22, 4), (26, 2), (28, 2)],
                    Some(b"PK\x01\x02") => &[
                        (4, 2),
                        (8, 2),
                        (10, 2),
                        (16, 4),
                        (20, 4),
                        (24, 4),
                        (28, 2),
                        (30, 2),
                        (32, 2),
                        (38, 4),
                        (42, 4),
                    ],
                    Some(b"PK\x05\x06") => &[(4, 2), (8, 2), (10, 2), (12, 4), (16, 4), (20, 2)],
                    _ => &[],
                };
                found.extend(places.iter().map(|(place, width)| (at + place, *width, false)));
            }
        }
        _ => {}
    }
    found.retain(|(at, width, _)| at + width <= bytes.len());
    found
}

/// Damages the bytes of one file in one way, and describes the damage.
pub(crate) fn damage(name: &str, bytes: &mut Vec<u8>, rng: &mut Rng) -> String {
    let fields = fields(name, bytes);
    let size = bytes.len();
    if size == 0 {
        bytes.push(rng.u8(..));
        return "a byte in an empty file".to_owned();
    }
    // Half of the damage affects the first bytes, which contain headers.
    let at = if rng.bool() { rng.usize(..size) } else { rng.usize(..size.min(240)) };
    let length = rng.usize(1..=32).min(size - at);
    match rng.u8(..12) {
        0..=2 => {
            let bit = rng.u8(..8);
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of byte {at} flipped")
        }
        3 => {
            bytes[at] = rng.u8(..);
            format!("byte {at} set to {:#04x}", bytes[at])
        }
        4 => {
            bytes.truncate(at);
            format!("cut at {at}")
        }
        5 => {
            bytes.drain(at..at + length);
            format!("{length} bytes at {at} removed")
        }
        6 => {
            let more: Vec<u8> = (0..length).map(|_| rng.u8(..)).collect();
            bytes.splice(at..at, more);
            format!("{length} bytes inserted at {at}")
        }
        7 => {
            let from = rng.usize(..=size - length);
            bytes.copy_within(from..from + length, at);
            format!("{length} bytes from {from} copied to {at}")
        }
        8 => {
            let fill = *rng.choice(&[0, b' ', 0xFF]).unwrap();
            bytes[at..at + length].fill(fill);
            format!("{length} bytes at {at} set to {fill:#04x}")
        }
        _ => {
            if let Some((at, width, is_big)) = rng.choice(&fields) {
                return edit(bytes, *at, *width, *is_big, rng);
            }
            bytes.push(rng.u8(..));
            "a byte added at the end".to_owned()
        }
    }
}

/// Replaces a length, a count, an offset or a type by another number.
fn edit(bytes: &mut [u8], at: usize, width: usize, is_big: bool, rng: &mut Rng) -> String {
    let mut number = [0_u8; 8];
    for (place, byte) in bytes[at..at + width].iter().enumerate() {
        number[if is_big { width - 1 - place } else { place }] = *byte;
    }
    let old = u64::from_le_bytes(number);
    let small = rng.u64(1..40);
    let new = match rng.u8(..9) {
        0 => 0,
        1 => u64::MAX,
        2 => old.wrapping_add(1),
        3 => old.wrapping_sub(1),
        4 => old.wrapping_add(small),
        5 => old.wrapping_sub(small),
        6 => old.wrapping_mul(2),
        7 => old / 2,
        _ => rng.u64(..),
    };
    let new = new.to_le_bytes();
    for place in 0..width {
        bytes[at + place] = new[if is_big { width - 1 - place } else { place }];
    }
    format!("the number {old} at {at} set to {:?}", &bytes[at..at + width])
}
