//! Parser of the records of a .shp ([specification][1]): slices of the file, with each length checked first.
//!
//! [1]: https://www.esri.com/content/dam/esrisites/sitecore-archive/Files/Pdfs/library/whitepapers/pdfs/shapefile.pdf

mod access;
mod gaps;
pub(super) mod reader;

use crate::archive::endian::{i32_be, i32_le};
use crate::archive::member::Member;
use crate::archive::sniff::describe_bytes;
use headland_base::error::Result;

/// The size of the header of a .shp and of a .shx.
pub(super) const HEADER: usize = 100;
/// The size of the header of a record.
const RECORD_HEADER: usize = 8;
const BUFFER_SIZE: usize = 256 * 1024;

/// The type of a shape without its dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeType {
    /// One point.
    Point,
    /// Points.
    MultiPoint,
    /// Lines.
    PolyLine,
    /// Rings.
    Polygon,
    /// Surfaces of triangles and rings.
    MultiPatch,
}

/// The vertices of a shape, in the bytes of the file.
#[derive(Clone, Copy, Debug)]
pub struct Vertices<'a> {
    /// X and Y, 16 bytes a vertex.
    pub xy: &'a [u8],
    /// Z, 8 bytes a vertex.
    pub z: Option<&'a [u8]>,
    /// M, 8 bytes a vertex.
    pub m: Option<&'a [u8]>,
}

impl Vertices<'_> {
    /// Whether two vertices differ in X or Y.
    #[must_use]
    pub fn differ(&self, one: usize, other: usize) -> bool {
        let number = |index: usize| {
            self.xy.get(index * 8..index * 8 + 8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap_or_default()))
        };
        number(one * 2) != number(other * 2) || number(one * 2 + 1) != number(other * 2 + 1)
    }

    /// Whether two vertices differ in Z.
    #[must_use]
    pub fn differ_in_z(&self, one: usize, other: usize) -> bool {
        let z = |index: usize| self.z.and_then(|z| z.get(index * 8..index * 8 + 8));
        z(one) != z(other)
    }
}

/// One shape: its vertices, and the start of each part.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    /// The type of the shape.
    pub shape_type: ShapeType,
    /// The first vertex of each part, 4 bytes each.
    pub parts: &'a [u8],
    /// The type of each part of a `MultiPatch`, 4 bytes each.
    pub part_kinds: &'a [u8],
    /// All vertices.
    pub vertices: Vertices<'a>,
}

/// The contents of a record.
#[derive(Clone, Copy, Debug)]
pub enum Record<'a> {
    /// No shape.
    Null,
    /// A shape.
    Shape(Shape<'a>),
    /// A shape that is longer than its record declares, in bytes that belong to no other record.
    Overrun(Shape<'a>),
    /// A shape that is shorter than its record: its counts may be damaged, and vertices lost.
    Underfilled(Shape<'a>),
    /// Inconsistent contents.
    Broken,
}

/// An error if a file does not begin with the header that .shp and .shx share.
pub(super) fn check_header(what: &str, member: &Member, bytes: &[u8]) -> Result<()> {
    let fault = |offset: u64, message: String| Err(member.fault(message).with(|facts| facts.offset = Some(offset)));
    if !bytes.is_empty() && i32_be(bytes, 0) != Some(9994) {
        return fault(0, format!("not {what}, which begins with the number 9994: {}", describe_bytes(bytes)));
    }
    if bytes.len() < HEADER {
        return fault(
            member.size(),
            format!("the header is truncated: expected at least {HEADER} bytes, the file has {} bytes", member.size()),
        );
    }
    Ok(())
}

/// The header of a .shp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The type of its shapes.
    pub shape_type: Option<ShapeType>,
    /// Whether its shapes have Z.
    pub has_z: bool,
    /// The declared length in bytes.
    pub length: u64,
}

impl Header {
    pub(super) fn read(member: &Member, bytes: &[u8]) -> Result<Self> {
        check_header("a .shp", member, bytes)?;
        let code = i32_le(bytes, 32).unwrap_or(-1);
        let shape_type = shape_type(code);
        if shape_type.is_none() && code != 0 {
            return Err(member
                .fault(format!("the header declares the unknown shape type {code}"))
                .with(|facts| facts.offset = Some(32)));
        }
        let words = i32_be(bytes, 24).and_then(|words| u64::try_from(words).ok()).unwrap_or(0);
        Ok(Self { shape_type, has_z: matches!(code, 11..=18 | 31), length: words * 2 })
    }
}

fn shape_type(code: i32) -> Option<ShapeType> {
    Some(match code {
        1 | 11 | 21 => ShapeType::Point,
        3 | 13 | 23 => ShapeType::PolyLine,
        5 | 15 | 25 => ShapeType::Polygon,
        8 | 18 | 28 => ShapeType::MultiPoint,
        31 => ShapeType::MultiPatch,
        _ => return None,
    })
}

/// The shape in the first `length` bytes. It may extend to `reach` if its counts require that.
pub(super) fn parse(bytes: &[u8], length: usize, reach: usize) -> Record<'_> {
    let declared = bytes.get(..length.min(bytes.len())).unwrap_or_default();
    match parse_contents(declared) {
        Record::Broken if reach > length => {
            match parse_contents(bytes.get(..reach.min(bytes.len())).unwrap_or_default()) {
                Record::Shape(shape) | Record::Underfilled(shape) => Record::Overrun(shape),
                record => record,
            }
        }
        record => record,
    }
}

fn parse_contents(bytes: &[u8]) -> Record<'_> {
    let Some(code) = i32_le(bytes, 0) else { return Record::Broken };
    if code == 0 {
        return if bytes.len() > 4 { Record::Broken } else { Record::Null };
    }
    let Some(shape_type) = shape_type(code) else { return Record::Broken };
    let shape = match shape_type {
        ShapeType::Point => parse_point(bytes, code),
        ShapeType::MultiPoint => parse_vertices(bytes, shape_type, code, 36, 40, 0),
        ShapeType::PolyLine | ShapeType::Polygon => parse_vertices(bytes, shape_type, code, 40, 44, 4),
        ShapeType::MultiPatch => parse_vertices(bytes, shape_type, code, 40, 44, 8),
    };
    match shape {
        None => Record::Broken,
        Some((shape, used)) if used < bytes.len() => Record::Underfilled(shape),
        Some((shape, _)) => Record::Shape(shape),
    }
}

/// A point, and its size in bytes.
fn parse_point(bytes: &[u8], code: i32) -> Option<(Shape<'_>, usize)> {
    let (z, m) = match code {
        11 => (Some(bytes.get(20..28)?), bytes.get(28..36)),
        21 => (None, bytes.get(20..28)),
        _ => (None, None),
    };
    let vertices = Vertices { xy: bytes.get(4..20)?, z, m };
    let used = 20 + z.map_or(0, <[u8]>::len) + m.map_or(0, <[u8]>::len);
    Some((Shape { shape_type: ShapeType::Point, parts: &[], part_kinds: &[], vertices }, used))
}

/// A shape with counts of vertices, and its size in bytes. Each part has `part` bytes before the vertices.
fn parse_vertices(
    bytes: &[u8],
    shape_type: ShapeType,
    code: i32,
    count_offset: usize,
    start: usize,
    part: usize,
) -> Option<(Shape<'_>, usize)> {
    let points = usize::try_from(i32_le(bytes, count_offset)?).ok()?;
    let parts = if part == 0 { 0 } else { usize::try_from(i32_le(bytes, 36)?).ok()? };
    let mut offset = start;
    let mut take = |count: usize, size: usize| {
        let end = offset.checked_add(count.checked_mul(size)?)?;
        let slice = bytes.get(offset..end)?;
        offset = end;
        Some(slice)
    };
    let part_starts = take(parts, part.min(4))?;
    let part_kinds = take(parts, part.saturating_sub(4))?;
    let xy = take(points, 16)?;
    let z = if matches!(code, 13 | 15 | 18 | 31) {
        take(1, 16)?;
        Some(take(points, 8)?)
    } else {
        None
    };
    let m = if matches!(code, 3 | 5 | 8) { None } else { take(1, 16).and_then(|_| take(points, 8)) };
    let m = m.filter(|_| code != 31);
    Some((Shape { shape_type, parts: part_starts, part_kinds, vertices: Vertices { xy, z, m } }, offset))
}
