//! Shapes: the records of a .shp as slices of it, each length checked before it is believed.

use super::byte_order::{i32_be, i32_le};
use super::member::Member;
use super::note::Diagnostic;
use super::shx::Index;
use super::window::Window;
use crate::error::Result;

const HEADER: usize = 100;
const WINDOW: usize = 256 * 1024;

/// What kind of shape, whatever its dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flat {
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

/// The vertices of a shape as they stand in the file.
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
        let number = |at: usize| {
            self.xy.get(at * 8..at * 8 + 8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap_or_default()))
        };
        number(one * 2) != number(other * 2) || number(one * 2 + 1) != number(other * 2 + 1)
    }

    /// Whether two vertices differ in Z.
    #[must_use]
    pub fn differ_in_z(&self, one: usize, other: usize) -> bool {
        let z = |at: usize| self.z.and_then(|z| z.get(at * 8..at * 8 + 8));
        z(one) != z(other)
    }
}

/// One shape: its vertices and where its parts start.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    /// What kind of shape.
    pub flat: Flat,
    /// The first vertex of each part, 4 bytes each.
    pub parts: &'a [u8],
    /// What each part of a `MultiPatch` is, 4 bytes each.
    pub part_kinds: &'a [u8],
    /// All vertices.
    pub vertices: Vertices<'a>,
}

/// What a record holds.
#[derive(Clone, Copy, Debug)]
pub enum Record<'a> {
    /// No shape.
    Null,
    /// A shape.
    Shape(Shape<'a>),
    /// A shape that is longer than its record declares, in space that no other record needs.
    Beyond(Shape<'a>),
    /// Something that contradicts itself, and how.
    Broken(&'static str),
}

/// The header of a .shp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The kind of its shapes.
    pub flat: Option<Flat>,
    /// Whether they have a Z.
    pub has_z: bool,
    /// The length that it declares, in bytes.
    pub length: u64,
}

impl Header {
    fn read(member: &Member, bytes: &[u8]) -> Result<Self> {
        if bytes.len() < HEADER || i32_be(bytes, 0) != Some(9994) {
            return Err(member.fault("it is no .shp: its header is cut or has another code"));
        }
        let code = i32_le(bytes, 32).unwrap_or(-1);
        let flat = flat(code);
        if flat.is_none() && code != 0 {
            return Err(member
                .fault(format!("its header declares the unknown shape type {code}"))
                .with(|facts| facts.offset = Some(32)));
        }
        let words = i32_be(bytes, 24).and_then(|words| u64::try_from(words).ok()).unwrap_or(0);
        Ok(Self { flat, has_z: matches!(code, 11..=18 | 31), length: words * 2 })
    }
}

fn flat(code: i32) -> Option<Flat> {
    Some(match code {
        1 | 11 | 21 => Flat::Point,
        3 | 13 | 23 => Flat::PolyLine,
        5 | 15 | 25 => Flat::Polygon,
        8 | 18 | 28 => Flat::MultiPoint,
        31 => Flat::MultiPatch,
        _ => return None,
    })
}

/// Calls `each` with the number and contents of every record, in the order of rows.
///
/// Damage that hides where the next record is ends the walk with an error; without `strict` it ends it with a
/// diagnostic, and the records before it count.
pub fn records(
    member: &Member,
    index: Option<&Index>,
    strict: bool,
    notes: &mut Vec<Diagnostic>,
    mut each: impl FnMut(Header, u64, Record<'_>) -> Result<()>,
) -> Result<Header> {
    let mut window = member.window(WINDOW)?;
    let header = Header::read(member, window.fill(HEADER)?)?;
    if header.length != member.size() {
        let message = format!("its header declares {} bytes, it has {}", header.length, member.size());
        notes.push(Diagnostic::new("shp-length", message).in_member(member.name()));
    }
    let walked = match index {
        Some(index) if index.is_in_order() => follow(member, header, index, window, &mut each),
        Some(index) => jump(member, header, index, window, &mut each),
        None => walk(member, header, window, notes, &mut each),
    };
    match walked {
        Err(error) if !strict => {
            notes.push(
                Diagnostic::new("shp-damaged", format!("reading stopped here: {error}")).in_member(member.name()),
            );
            Ok(header)
        }
        walked => walked.map(|()| header),
    }
}

type Each<'a> = dyn FnMut(Header, u64, Record<'_>) -> Result<()> + 'a;

/// The length of the contents of the record whose header begins `bytes`.
fn content_length(member: &Member, bytes: &[u8], record: u64, offset: u64) -> Result<usize> {
    let fault = |message: String| {
        Err(member.fault(message).with(|facts| {
            facts.record = Some(record);
            facts.offset = Some(offset);
        }))
    };
    let Some(words) = i32_be(bytes, 4) else {
        return fault(format!("it ends inside the header of a record: {} bytes are left", bytes.len()));
    };
    let Ok(words) = u32::try_from(words) else {
        return fault(format!("the record has the negative length {words}"));
    };
    let length = u64::from(words) * 2;
    let left = member.size().saturating_sub(offset).saturating_sub(8);
    match usize::try_from(length) {
        Ok(size) if length <= left => Ok(size),
        _ => {
            fault(format!("the record has {length} bytes, but only {left} are left: the file is truncated or damaged"))
        }
    }
}

/// One pass in the order of the index, which is the order of the file.
fn follow(member: &Member, header: Header, index: &Index, mut window: Window<'_>, each: &mut Each<'_>) -> Result<()> {
    let offsets = index.offsets();
    for (record, offset) in (0_u64..).zip(offsets.iter().copied()) {
        if offset == 0 {
            each(header, record, Record::Null)?;
            continue;
        }
        skip_to(&mut window, offset)?;
        let length = content_length(member, window.fill(8)?, record, offset)?;
        // The space up to the next record is the record's too: some writers declare less than they write.
        let next = usize::try_from(record).ok().and_then(|record| offsets.get(record.saturating_add(1))).copied();
        let space =
            next.filter(|next| *next > offset).unwrap_or(member.size()).saturating_sub(offset).saturating_sub(8);
        let space = usize::try_from(space).unwrap_or(usize::MAX).min(length.saturating_add(1024));
        let reach = if next.is_some() { space.max(length) } else { length };
        let bytes = window.fill(reach.saturating_add(8))?;
        each(header, record, parse(bytes.get(8..).unwrap_or_default(), length, reach))?;
    }
    window.finish()
}

fn skip_to(window: &mut Window<'_>, offset: u64) -> Result<()> {
    while window.position() < offset {
        let gap = usize::try_from(offset - window.position()).unwrap_or(usize::MAX);
        let available = window.fill(1)?.len();
        if available == 0 {
            break;
        }
        window.consume(gap.min(available));
    }
    Ok(())
}

/// Rows in another order than the file: it is held whole, since going back in a stream means to start again.
fn jump(member: &Member, header: Header, index: &Index, window: Window<'_>, each: &mut Each<'_>) -> Result<()> {
    drop(window);
    let bytes = member.read_all(member.size())?;
    for (record, offset) in (0_u64..).zip(index.offsets().iter().copied()) {
        if offset == 0 {
            each(header, record, Record::Null)?;
            continue;
        }
        let rest = usize::try_from(offset).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
        let length = content_length(member, rest, record, offset)?;
        each(header, record, parse(rest.get(8..).unwrap_or_default(), length, length))?;
    }
    Ok(())
}

/// One record after the other, where no index says where they are.
fn walk(
    member: &Member,
    header: Header,
    mut window: Window<'_>,
    notes: &mut Vec<Diagnostic>,
    each: &mut Each<'_>,
) -> Result<()> {
    skip_to(&mut window, HEADER as u64)?;
    for record in 0_u64.. {
        let offset = window.position();
        let bytes = window.fill(8)?;
        if bytes.is_empty() {
            break;
        }
        // What follows the declared end is no record, unless the declared end lies before the first one.
        if offset >= header.length
            && header.length > HEADER as u64
            && i32_be(bytes, 0) != i32::try_from(record + 1).ok()
        {
            let message = format!("{} bytes after the declared end are left out", member.size().saturating_sub(offset));
            notes.push(Diagnostic::new("shp-trailing", message).in_member(member.name()).at(record));
            break;
        }
        let length = content_length(member, bytes, record, offset)?;
        let bytes = window.fill(length.saturating_add(8))?;
        each(header, record, parse(bytes.get(8..).unwrap_or_default(), length, length))?;
        window.consume(length.saturating_add(8));
    }
    window.finish()
}

/// The shape in the first `length` bytes, which may reach up to `reach` where its type needs that.
fn parse(bytes: &[u8], length: usize, reach: usize) -> Record<'_> {
    let declared = bytes.get(..length.min(bytes.len())).unwrap_or_default();
    match shape(declared) {
        Record::Broken(_) if reach > length => match shape(bytes.get(..reach.min(bytes.len())).unwrap_or_default()) {
            Record::Shape(shape) => Record::Beyond(shape),
            record => record,
        },
        record => record,
    }
}

fn shape(bytes: &[u8]) -> Record<'_> {
    let Some(code) = i32_le(bytes, 0) else {
        return Record::Broken("the record is too short to hold a shape type");
    };
    if code == 0 {
        return Record::Null;
    }
    let Some(flat) = flat(code) else {
        return Record::Broken("the shape type is unknown");
    };
    let shape = match flat {
        Flat::Point => point(bytes, code),
        Flat::MultiPoint => many(bytes, flat, code, 36, 40, 0),
        Flat::PolyLine | Flat::Polygon => many(bytes, flat, code, 40, 44, 4),
        Flat::MultiPatch => many(bytes, flat, code, 40, 44, 8),
    };
    shape.map_or(Record::Broken("its counts of parts and points do not fit its length"), Record::Shape)
}

fn point(bytes: &[u8], code: i32) -> Option<Shape<'_>> {
    let (z, m) = match code {
        11 => (Some(bytes.get(20..28)?), bytes.get(28..36)),
        21 => (None, bytes.get(20..28)),
        _ => (None, None),
    };
    let vertices = Vertices { xy: bytes.get(4..20)?, z, m };
    Some(Shape { flat: Flat::Point, parts: &[], part_kinds: &[], vertices })
}

/// A shape of counted vertices; `part` is how many bytes each part has before them.
fn many(bytes: &[u8], flat: Flat, code: i32, count_at: usize, start: usize, part: usize) -> Option<Shape<'_>> {
    let points = usize::try_from(i32_le(bytes, count_at)?).ok()?;
    let parts = if part == 0 { 0 } else { usize::try_from(i32_le(bytes, 36)?).ok()? };
    let mut at = start;
    let mut take = |count: usize, size: usize| {
        let end = at.checked_add(count.checked_mul(size)?)?;
        let slice = bytes.get(at..end)?;
        at = end;
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
    let m = if matches!(code, 3 | 5 | 8 | 31) { None } else { take(1, 16).and_then(|_| take(points, 8)) };
    Some(Shape { flat, parts: part_starts, part_kinds, vertices: Vertices { xy, z, m } })
}
