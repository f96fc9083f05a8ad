//! Small shapefiles, byte by byte, so that each can be wrong in exactly one way.

use std::io::Write;

use bytes::Bytes;
use headland::archive::Source;
use zip::write::SimpleFileOptions;

/// A field: name, type, width, decimals.
pub(crate) type Field<'a> = (&'a str, u8, u8, u8);

/// A .dbf of records, each with its mark and the text of its fields at full width.
pub(crate) fn dbf(fields: &[Field<'_>], records: &[&[u8]], driver: u8) -> Vec<u8> {
    let size: usize = 1 + fields.iter().map(|field| usize::from(field.2)).sum::<usize>();
    let mut bytes = vec![3, 126, 1, 1];
    bytes.extend(u32::try_from(records.len()).unwrap().to_le_bytes());
    bytes.extend(u16::try_from(33 + 32 * fields.len()).unwrap().to_le_bytes());
    bytes.extend(u16::try_from(size).unwrap().to_le_bytes());
    bytes.extend([0; 17]);
    bytes.extend([driver, 0, 0]);
    for (name, kind, width, decimals) in fields {
        let mut field = [0; 32];
        field[..name.len()].copy_from_slice(name.as_bytes());
        (field[11], field[16], field[17]) = (*kind, *width, *decimals);
        bytes.extend(field);
    }
    bytes.push(0x0D);
    for record in records {
        assert_eq!(record.len(), size, "the record fills its width");
        bytes.extend(*record);
    }
    bytes.push(0x1A);
    bytes
}

/// A .shp of records and its .shx.
pub(crate) fn shp(kind: i32, records: &[Vec<u8>]) -> (Vec<u8>, Vec<u8>) {
    let (mut body, mut index) = (Vec::new(), Vec::new());
    for (number, record) in (1_i32..).zip(records) {
        let words = i32::try_from(record.len() / 2).unwrap();
        index.extend(i32::try_from(50 + body.len() / 2).unwrap().to_be_bytes());
        index.extend(words.to_be_bytes());
        body.extend(number.to_be_bytes());
        body.extend(words.to_be_bytes());
        body.extend(record);
    }
    (with_header(kind, &body), with_header(kind, &index))
}

/// The body behind a header that fits it.
pub(crate) fn with_header(kind: i32, body: &[u8]) -> Vec<u8> {
    let mut bytes = 9994_i32.to_be_bytes().to_vec();
    bytes.extend([0; 20]);
    bytes.extend(i32::try_from(50 + body.len() / 2).unwrap().to_be_bytes());
    bytes.extend(1000_i32.to_le_bytes());
    bytes.extend(kind.to_le_bytes());
    bytes.extend([0; 64]);
    bytes.extend(body);
    bytes
}

/// The record of a point.
pub(crate) fn point(x: f64, y: f64) -> Vec<u8> {
    [&1_i32.to_le_bytes()[..], &x.to_le_bytes(), &y.to_le_bytes()].concat()
}

/// The record of a point with Z, and M where it is given.
pub(crate) fn point_z(x: f64, y: f64, z: f64, m: Option<f64>) -> Vec<u8> {
    let mut bytes = 11_i32.to_le_bytes().to_vec();
    for value in [Some(x), Some(y), Some(z), m].into_iter().flatten() {
        bytes.extend(value.to_le_bytes());
    }
    bytes
}

/// The record of lines (3) or rings (5), with where each part starts.
pub(crate) fn parts(kind: i32, starts: &[i32], points: &[(f64, f64)]) -> Vec<u8> {
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend([0; 32]);
    bytes.extend(i32::try_from(starts.len()).unwrap().to_le_bytes());
    bytes.extend(i32::try_from(points.len()).unwrap().to_le_bytes());
    bytes.extend(starts.iter().flat_map(|start| start.to_le_bytes()));
    bytes.extend(points.iter().flat_map(|(x, y)| [*x, *y]).flat_map(f64::to_le_bytes));
    bytes
}

/// A zip of deflated members.
pub(crate) fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    zip_with(members, zip::CompressionMethod::Deflated)
}

/// A zip of members.
pub(crate) fn zip_with(members: &[(&str, &[u8])], method: zip::CompressionMethod) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Bytes as a source.
pub(crate) fn source(bytes: Vec<u8>) -> Source {
    Source::Bytes(Bytes::from(bytes))
}

/// WGS 84 as a .prj says it.
pub(crate) const WGS_84: &str = r#"GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]"#;

/// UTM zone 12 north, without a code.
pub(crate) const UTM_12: &str = r#"PROJCS["WGS_1984_UTM_Zone_12N",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",-111.0],PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]"#;
