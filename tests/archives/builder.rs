//! Builds small shapefiles and archives, byte by byte, so that each can be wrong in exactly one way.

use std::io::Write;

use bytes::Bytes;
use headland::archive::Source;
use zip::write::SimpleFileOptions;

/// A field: name, type, width, decimals.
pub(crate) type Field<'a> = (&'a str, u8, u8, u8);

/// Files with their names.
pub(crate) type Files = Vec<(&'static str, Vec<u8>)>;

/// A .shp and its .shx with a .dbf and WGS 84: the files of `t`.
pub(crate) fn files((shp, shx): (Vec<u8>, Vec<u8>), dbf: Vec<u8>) -> Files {
    vec![("t.shp", shp), ("t.shx", shx), ("t.dbf", dbf), ("t.prj", WGS_84.as_bytes().to_vec())]
}

/// A .dbf with `rows` records and the column `ID`, which counts from 0.
pub(crate) fn ids(rows: usize) -> Vec<u8> {
    let records: Vec<String> = (0..rows).map(|row| format!(" {row:4}")).collect();
    dbf(&[("ID", b'N', 4, 0)], &records, 0)
}

/// A .dbf of records, each with its deletion flag and the text of its fields at full width.
pub(crate) fn dbf(fields: &[Field<'_>], records: &[impl AsRef<[u8]>], driver: u8) -> Vec<u8> {
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
    for record in records.iter().map(AsRef::as_ref) {
        assert_eq!(record.len(), size, "the record fills its width");
        bytes.extend(record);
    }
    bytes.push(0x1A);
    bytes
}

/// A .shp of records, and its .shx.
pub(crate) fn shp(kind: i32, records: &[Vec<u8>]) -> (Vec<u8>, Vec<u8>) {
    let order: Vec<usize> = (0..records.len()).collect();
    shuffled(kind, records, &order)
}

/// The same with the records in another order: `order` lists their rows in the order of the .shp.
pub(crate) fn shuffled(kind: i32, records: &[Vec<u8>], order: &[usize]) -> (Vec<u8>, Vec<u8>) {
    let (mut body, mut index) = (Vec::new(), vec![0; 8 * order.len()]);
    for (number, row) in (1_i32..).zip(order) {
        let record = &records[*row];
        let length = i32::try_from(record.len() / 2).unwrap().to_be_bytes();
        let place = i32::try_from(50 + body.len() / 2).unwrap().to_be_bytes();
        index[8 * row..8 * row + 8].copy_from_slice(&[place, length].concat());
        body.extend([number.to_be_bytes(), length].concat());
        body.extend(record);
    }
    (with_header(kind, &body), with_header(kind, &index))
}

/// The same bytes with another big-endian number at an offset, as in headers and indices.
pub(crate) fn with_number(bytes: &[u8], at: usize, number: i32) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + 4].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// The big-endian number at an offset.
pub(crate) fn number(bytes: &[u8], at: usize) -> i32 {
    i32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// A body with a header that fits it.
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

/// The record of lines (3) or rings (5); `starts` is the first vertex of each part.
pub(crate) fn parts(kind: i32, starts: &[i32], points: &[(f64, f64)]) -> Vec<u8> {
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend([0; 32]);
    bytes.extend(i32::try_from(starts.len()).unwrap().to_le_bytes());
    bytes.extend(i32::try_from(points.len()).unwrap().to_le_bytes());
    bytes.extend(starts.iter().flat_map(|start| start.to_le_bytes()));
    bytes.extend(points.iter().flat_map(|(x, y)| [*x, *y]).flat_map(f64::to_le_bytes));
    bytes
}

/// Lines, rings or multipoints with Z, M or both, according to their type; each list begins with its range.
pub(crate) fn with_ordinates(kind: i32, starts: &[i32], points: &[(f64, f64)], ordinates: &[&[f64]]) -> Vec<u8> {
    let mut bytes = if kind % 10 == 8 { multipoint(kind, points) } else { parts(kind, starts, points) };
    for values in ordinates {
        bytes.extend([0; 16]);
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }
    bytes
}

fn multipoint(kind: i32, points: &[(f64, f64)]) -> Vec<u8> {
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend([0; 32]);
    bytes.extend(i32::try_from(points.len()).unwrap().to_le_bytes());
    bytes.extend(points.iter().flat_map(|(x, y)| [*x, *y]).flat_map(f64::to_le_bytes));
    bytes
}

/// The corners of a square, clockwise from the lower left one and back to it.
pub(crate) fn square(x: f64, y: f64, size: f64) -> [(f64, f64); 5] {
    [(x, y), (x, y + size), (x + size, y + size), (x + size, y), (x, y)]
}

/// Members as borrowed slices, the form that [`zip`] takes.
pub(crate) fn lend<N: AsRef<str>, B: AsRef<[u8]>>(members: &[(N, B)]) -> Vec<(&str, &[u8])> {
    members.iter().map(|(name, bytes)| (name.as_ref(), bytes.as_ref())).collect()
}

/// A zip of deflated members.
pub(crate) fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    zip_with(members, zip::CompressionMethod::Deflated)
}

/// A zip of members.
pub(crate) fn zip_with(members: &[(&str, &[u8])], method: zip::CompressionMethod) -> Vec<u8> {
    filled(zip::ZipWriter::new(std::io::Cursor::new(Vec::new())), members, method).into_inner()
}

/// The same from a writer that cannot seek: sizes and checksums follow the data.
pub(crate) fn streamed(members: &[(&str, &[u8])], method: zip::CompressionMethod) -> Vec<u8> {
    filled(zip::ZipWriter::new_stream(Vec::new()), members, method).into_inner()
}

fn filled<W: Write + std::io::Seek>(
    mut writer: zip::ZipWriter<W>,
    members: &[(&str, &[u8])],
    method: zip::CompressionMethod,
) -> W {
    for (name, bytes) in members {
        writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap()
}

/// A stored member of a zip whose headers may contain anything: name, flags, extra field and size.
pub(crate) struct Stored<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) flags: u16,
    pub(crate) extra: Vec<u8>,
    pub(crate) content: &'a [u8],
    pub(crate) said: u32,
}

impl<'a> Stored<'a> {
    /// A member with correct headers.
    pub(crate) fn new(name: &'a [u8], content: &'a [u8]) -> Self {
        Self { name, flags: 0, extra: Vec::new(), content, said: u32::try_from(content.len()).unwrap() }
    }

    /// Fields that the local header and the directory entry share.
    fn common(&self) -> Vec<u8> {
        let short = |bytes: &[u8]| u16::try_from(bytes.len()).unwrap().to_le_bytes();
        let mut common = self.flags.to_le_bytes().to_vec();
        common.extend([0; 6]);
        common.extend(crc32fast::hash(self.content).to_le_bytes());
        common.extend(u32::try_from(self.content.len()).unwrap().to_le_bytes());
        common.extend(self.said.to_le_bytes());
        common.extend([short(self.name), short(&self.extra)].concat());
        common
    }

    /// The local header and the content.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        [&b"PK\x03\x04\x14\0"[..], &self.common(), self.name, &self.extra, self.content].concat()
    }

    fn entry(&self, at: u32) -> Vec<u8> {
        let head = [&b"PK\x01\x02\x14\0\x14\0"[..], &self.common(), &[0; 10]].concat();
        [&head[..], &at.to_le_bytes(), self.name, &self.extra].concat()
    }
}

/// A zip of such members.
pub(crate) fn stored(members: &[Stored<'_>]) -> Vec<u8> {
    let mut zip = Vec::new();
    let mut entries = Vec::new();
    for member in members {
        entries.push((u32::try_from(zip.len()).unwrap(), member));
        zip.extend(member.bytes());
    }
    with_directory(zip, &entries)
}

/// Bytes followed by a directory of members and the offsets that it states.
pub(crate) fn with_directory(mut zip: Vec<u8>, entries: &[(u32, &Stored<'_>)]) -> Vec<u8> {
    let start = u32::try_from(zip.len()).unwrap();
    zip.extend(entries.iter().flat_map(|(at, member)| member.entry(*at)));
    let size = u32::try_from(zip.len()).unwrap() - start;
    let count = u16::try_from(entries.len()).unwrap().to_le_bytes();
    zip.extend(b"PK\x05\x06\0\0\0\0");
    zip.extend([&count[..], &count, &size.to_le_bytes(), &start.to_le_bytes(), &[0, 0]].concat());
    zip
}

/// Bytes as a source.
pub(crate) fn source(bytes: Vec<u8>) -> Source {
    Source::Bytes(Bytes::from(bytes))
}

/// WGS 84 as WKT, as in a .prj.
pub(crate) const WGS_84: &str = r#"GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]"#;

/// UTM zone 12 north as WKT without an EPSG code.
pub(crate) const UTM_12: &str = r#"PROJCS["WGS_1984_UTM_Zone_12N",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",-111.0],PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]"#;
