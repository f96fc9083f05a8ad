//! Shapes into well-known binary (ISO, little endian), written straight into the buffers of one Arrow column.

mod batches;
pub(super) mod column;
mod met;
mod ordinates;
mod patches;
mod points;
mod ring_search;
mod rings;
mod room;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use arrow_buffer::NullBufferBuilder;

use self::met::Met;
pub(super) use self::ordinates::is_place;
use self::ordinates::{NO_DATA, are_places, cannot_close, floats, ordinate};
use self::rings::{Ring, polygons};
use crate::archive::{Flat, NoRoom, Record, Shape, ShapeHeader, Vertices, ask_for, make_room, with_room};
use crate::layer::findings::Finding;

/// The bytes of a point and its record header.
pub(super) const POINT_RECORD: usize = 28;

/// The most bytes that room is made for before anything is read, since sizes may lie.
const MOST_ROOM: u64 = 256 << 20;

/// A column of geometries while it is read.
pub(super) struct Geometries {
    pub(super) data: Vec<u8>,
    pub(super) ends: Vec<i64>,
    pub(super) nulls: NullBufferBuilder,
    /// How many records were taken away with arrays before.
    pub(super) taken: u64,
    /// The parts of the shape at hand, kept for the next one.
    parts: Vec<(usize, usize)>,
    pub(super) findings: Met,
    /// Whether the header lets vertices have an M. Where it does not, a record that has one all the same keeps it, and
    /// the others have none.
    pub(super) declares_m: bool,
    /// Whether the geometries of a header with M have one: decided by the first shape, or before.
    pub(super) has_m: Option<bool>,
    /// Whether a later shape has an M that the ones before it were written without.
    pub(super) needs_m: bool,
    /// The types written, as codes of well-known binary.
    pub(super) types: BTreeSet<u32>,
}

impl Geometries {
    /// An empty column with room for `count` shapes of `size` bytes in all; `declares_m` where the header lets vertices
    /// have an M, and `has_m` where it is known whether they do.
    pub(super) fn new(declares_m: bool, has_m: Option<bool>, size: u64, count: Option<u64>) -> Self {
        let room = usize::try_from(size.min(MOST_ROOM)).unwrap_or(0);
        let most = room / POINT_RECORD;
        let count = count.and_then(|count| usize::try_from(count).ok()).map_or(most, |count| count.min(most));
        let mut ends = with_room(count + 1);
        ends.push(0);
        Self {
            // Well-known binary is a little smaller than the shapes it is made of.
            data: with_room(room),
            ends,
            nulls: NullBufferBuilder::new(0),
            taken: 0,
            parts: Vec::new(),
            findings: Met::default(),
            declares_m,
            has_m,
            needs_m: false,
            types: BTreeSet::new(),
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> u64 {
        self.ends.len().saturating_sub(1) as u64
    }

    /// Adds the geometry of one record.
    pub(super) fn push(
        &mut self,
        header: ShapeHeader,
        number: u64,
        record: &Record<'_>,
    ) -> std::result::Result<(), NoRoom> {
        make_room(&mut self.ends, 1)?;
        let start = self.data.len();
        let is_value = match record {
            Record::Null => false,
            Record::Broken(_) => {
                self.findings.add(Finding::BrokenShape, number);
                false
            }
            Record::Shape(shape) | Record::Beyond(shape) | Record::Within(shape) => {
                match record {
                    Record::Beyond(_) => self.findings.add(Finding::ShortRecord, number),
                    Record::Within(_) => self.findings.add(Finding::LongRecord, number),
                    _ => {}
                }
                let (has_z, has_m) = (shape.vertices.z.is_some(), shape.vertices.m.is_some());
                if header.flat != Some(shape.flat) || has_z && !header.has_z || has_m && !self.declares_m {
                    self.findings.add(Finding::MixedShapes, number);
                } else if header.has_z && !has_z {
                    self.findings.add(Finding::MissingZ, number);
                }
                let written = self.write(header, number, shape)?;
                if written == Some(false) {
                    self.findings.add(Finding::BrokenShape, number);
                }
                written == Some(true)
            }
        };
        if !is_value {
            self.data.truncate(start);
            self.null();
        }
        self.ends.push(i64::try_from(self.data.len()).unwrap_or(i64::MAX));
        Ok(())
    }

    /// The next geometry is null; those before it that no word was said about are values.
    pub(super) fn null(&mut self) {
        let position = self.ends.len().saturating_sub(1);
        self.nulls.append_n_non_nulls(position.saturating_sub(self.nulls.len()));
        self.nulls.append_null();
    }

    /// `Some(true)` where it was written, `None` where there is nothing to write, `Some(false)` where it is broken.
    fn write(
        &mut self,
        header: ShapeHeader,
        number: u64,
        shape: &Shape<'_>,
    ) -> std::result::Result<Option<bool>, NoRoom> {
        let vertices = shape.vertices;
        let measured = vertices.m.is_some_and(|m| floats(m).any(|value| value > NO_DATA));
        let has_m = if self.declares_m { *self.has_m.get_or_insert(measured) } else { measured };
        self.needs_m |= measured && !has_m;
        let dimensions = Dimensions { z: header.has_z || vertices.z.is_some(), m: has_m };
        if !are_places(vertices.xy) {
            if cannot_close(shape) {
                self.findings.add(Finding::NoDataRing, number);
                return Ok(None);
            }
            self.findings.add(Finding::NoDataCoordinate, number);
        }
        if has_m && !measured {
            self.findings.add(Finding::MissingM, number);
        } else if has_m && vertices.m.is_some_and(|m| floats(m).any(|value| value < NO_DATA)) {
            self.findings.add(Finding::NoDataM, number);
        }
        if vertices.z.is_some_and(|z| !are_places(z)) {
            self.findings.add(Finding::NoDataZ, number);
        }
        // From here on all is written into room that is there.
        make_room(&mut self.data, room::written(shape, dimensions))?;
        let count = vertices.xy.len() / 16;
        Ok(match shape.flat {
            Flat::Point => {
                self.head(1, dimensions);
                self.coordinates(vertices, 0, 1, dimensions);
                Some(true)
            }
            Flat::MultiPoint if count == 0 => None,
            Flat::MultiPoint => {
                self.head(4, dimensions);
                self.count(count);
                for at in 0..count {
                    self.subhead(1, dimensions);
                    self.coordinates(vertices, at, at + 1, dimensions);
                }
                Some(true)
            }
            Flat::PolyLine | Flat::Polygon if shape.parts.is_empty() => None,
            Flat::PolyLine | Flat::Polygon if shape.parts == [0; 4] && count > 0 => {
                self.one_part(vertices, shape.flat, count, dimensions, number);
                Some(true)
            }
            Flat::PolyLine | Flat::Polygon | Flat::MultiPatch => {
                make_room(&mut self.parts, shape.parts.len() / 4)?;
                ask_for(room::on_the_way(shape))?;
                // Taken out and put back, so that no record allocates its own.
                let mut parts = std::mem::take(&mut self.parts);
                let written = self.parts(shape, count, number, &mut parts)
                    && match shape.flat {
                        Flat::PolyLine => self.lines(vertices, &parts, dimensions, number),
                        Flat::Polygon => self.polygons(vertices, &parts, dimensions, number),
                        _ => patches::write(self, shape, &parts, dimensions, number),
                    };
                self.parts = parts;
                Some(written)
            }
        })
    }

    /// A line, or a polygon of one ring, of all vertices.
    fn one_part(&mut self, vertices: Vertices<'_>, flat: Flat, count: usize, dimensions: Dimensions, number: u64) {
        let is_ring = flat == Flat::Polygon;
        let is_open = is_ring && vertices.differ(0, count - 1);
        let length = count + usize::from(is_open);
        if is_open {
            self.findings.add(Finding::OpenRing, number);
        }
        if length < if is_ring { 4 } else { 2 } {
            self.findings.add(Finding::ShortPart, number);
        }
        // Byte order, type, for a polygon the count of rings, and that of vertices, at one go.
        let code = u128::from(self.code(if is_ring { 3 } else { 2 }, dimensions));
        let length = u128::from(u32::try_from(length).unwrap_or(u32::MAX));
        let (head, size) =
            if is_ring { (1 | code << 8 | 1 << 40 | length << 72, 13) } else { (1 | code << 8 | length << 40, 9) };
        let start = self.data.len();
        self.data.extend_from_slice(&head.to_le_bytes());
        self.data.truncate(start + size);
        self.coordinates(vertices, 0, count, dimensions);
        if is_open {
            self.coordinates(vertices, 0, 1, dimensions);
        }
    }

    /// Fills `parts` with where each part begins and ends; whether they follow one another inside the shape.
    fn parts(&mut self, shape: &Shape<'_>, count: usize, number: u64, parts: &mut Vec<(usize, usize)>) -> bool {
        let start =
            |bytes: &[u8]| bytes.try_into().ok().and_then(|bytes| usize::try_from(i32::from_le_bytes(bytes)).ok());
        parts.clear();
        for bytes in shape.parts.chunks_exact(4) {
            let Some(mut start) = start(bytes) else { return false };
            if let Some((_, end)) = parts.last_mut() {
                *end = start;
            } else if start != 0 {
                start = 0;
                self.findings.add(Finding::PartStart, number);
            }
            parts.push((start, count));
        }
        parts.iter().all(|(start, end)| start < end)
    }

    fn lines(&mut self, vertices: Vertices<'_>, parts: &[(usize, usize)], dimensions: Dimensions, number: u64) -> bool {
        let single = parts.len() == 1;
        if !single {
            self.head(5, dimensions);
            self.count(parts.len());
        }
        for (start, end) in parts {
            if single {
                self.head(2, dimensions);
            } else {
                self.subhead(2, dimensions);
            }
            if end - start < 2 {
                self.findings.add(Finding::ShortPart, number);
            }
            self.count(end - start);
            self.coordinates(vertices, *start, *end, dimensions);
        }
        true
    }

    fn polygons(
        &mut self,
        vertices: Vertices<'_>,
        parts: &[(usize, usize)],
        dimensions: Dimensions,
        number: u64,
    ) -> bool {
        if let [part] = parts {
            self.head(3, dimensions);
            self.count(1);
            self.ring(vertices, *part, dimensions, number);
            return true;
        }
        let rings: Vec<Ring> = parts
            .iter()
            .map(|(start, end)| Ring::new(vertices.xy.get(start * 16..end * 16).unwrap_or_default()))
            .collect();
        let polygons = polygons(&rings, dimensions.z || dimensions.m).unwrap_or_else(|| {
            self.findings.add(Finding::EntangledRings, number);
            (0..rings.len()).map(|ring| vec![ring]).collect()
        });
        let single = polygons.len() == 1;
        if !single {
            self.head(6, dimensions);
            self.count(polygons.len());
        }
        for polygon in polygons {
            if single {
                self.head(3, dimensions);
            } else {
                self.subhead(3, dimensions);
            }
            self.count(polygon.len());
            for part in polygon.iter().filter_map(|ring| parts.get(*ring)) {
                self.ring(vertices, *part, dimensions, number);
            }
        }
        true
    }

    /// A ring, closed where the file leaves it open.
    fn ring(&mut self, vertices: Vertices<'_>, (start, end): (usize, usize), dimensions: Dimensions, number: u64) {
        let is_open = vertices.differ(start, end - 1);
        self.closed_ring(vertices, (start, end), is_open, dimensions, number);
    }

    /// A ring that is open where `is_open` says so.
    pub(super) fn closed_ring(
        &mut self,
        vertices: Vertices<'_>,
        (start, end): (usize, usize),
        is_open: bool,
        dimensions: Dimensions,
        number: u64,
    ) {
        let length = end - start + usize::from(is_open);
        if is_open {
            self.findings.add(Finding::OpenRing, number);
        }
        if length < 4 {
            self.findings.add(Finding::ShortPart, number);
        }
        self.count(length);
        self.coordinates(vertices, start, end, dimensions);
        if is_open {
            self.coordinates(vertices, start, start + 1, dimensions);
        }
    }

    /// The head of a geometry of its own.
    pub(super) fn head(&mut self, flat: u32, dimensions: Dimensions) {
        self.code(flat, dimensions);
        self.subhead(flat, dimensions);
    }

    /// The code of a type of geometry, which is noted.
    fn code(&mut self, flat: u32, dimensions: Dimensions) -> u32 {
        let code = dimensions.code(flat);
        if self.types.last() != Some(&code) {
            self.types.insert(code);
        }
        code
    }

    /// The head of a geometry inside another.
    pub(super) fn subhead(&mut self, flat: u32, dimensions: Dimensions) {
        self.data.push(1);
        self.data.extend_from_slice(&dimensions.code(flat).to_le_bytes());
    }

    pub(super) fn count(&mut self, count: usize) {
        self.data.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
    }

    /// The vertices from `start` to `end`; without Z and M they are copied as they stand.
    pub(super) fn coordinates(&mut self, vertices: Vertices<'_>, start: usize, end: usize, dimensions: Dimensions) {
        let xy = vertices.xy.get(start * 16..end * 16).unwrap_or_default();
        if !dimensions.z && !dimensions.m {
            self.data.extend_from_slice(xy);
            return;
        }
        for (vertex, xy) in (start..end).zip(xy.chunks_exact(16)) {
            self.data.extend_from_slice(xy);
            if dimensions.z {
                self.data.extend_from_slice(&ordinate(vertices.z, vertex).unwrap_or(0.0).to_le_bytes());
            }
            if dimensions.m {
                let value = ordinate(vertices.m, vertex).filter(|value| *value >= NO_DATA).unwrap_or(f64::NAN);
                self.data.extend_from_slice(&value.to_le_bytes());
            }
        }
    }
}

/// What a vertex has beside X and Y.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dimensions {
    pub(super) z: bool,
    pub(super) m: bool,
}

impl Dimensions {
    pub(super) fn code(self, flat: u32) -> u32 {
        flat + if self.z { 1000 } else { 0 } + if self.m { 2000 } else { 0 }
    }
}
