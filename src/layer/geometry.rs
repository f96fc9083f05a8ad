//! Shapes into well-known binary (ISO, little endian), written straight into the buffers of one Arrow column.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::{ArrayRef, LargeBinaryArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;

use super::findings::{Finding, Findings};
use super::patches;
use super::rings::{Ring, polygons};
use crate::archive::{Flat, Record, Shape, ShapeHeader, Vertices};

/// Below this, an M means that there is none.
const NO_DATA: f64 = -1e38;

/// Whether an X or Y is a place: `no data` is written as less than -1e38, and nothing is as far away as that.
pub(super) fn is_place(ordinate: f64) -> bool {
    ordinate.abs() <= -NO_DATA
}

/// The bytes of a point and its record header.
const POINT_RECORD: usize = 28;
/// The most that room is made for before anything is read, since sizes may lie.
const MOST_ROOM: u64 = 64 << 20;

/// A column of geometries while it is read.
pub(super) struct Geometries {
    data: Vec<u8>,
    ends: Vec<i64>,
    nulls: NullBufferBuilder,
    /// The parts of the shape at hand, kept for the next one.
    parts: Vec<(usize, usize)>,
    pub(super) findings: Findings,
    /// Whether the geometries written have M: decided by the first shape, or before.
    has_m: Option<bool>,
    /// Whether a later shape has an M that the ones before it were written without.
    pub(super) needs_m: bool,
    /// The types written, as codes of well-known binary.
    pub(super) types: BTreeSet<u32>,
}

impl Geometries {
    /// An empty column with room for shapes of `size` bytes; `has_m` where it is known that vertices have M.
    pub(super) fn new(has_m: Option<bool>, size: u64) -> Self {
        let room = usize::try_from(size.min(MOST_ROOM)).unwrap_or(0);
        let mut ends = Vec::with_capacity(room / POINT_RECORD + 1);
        ends.push(0);
        Self {
            // Well-known binary is a little smaller than the shapes it is made of.
            data: Vec::with_capacity(room),
            ends,
            nulls: NullBufferBuilder::new(0),
            parts: Vec::new(),
            findings: Findings::default(),
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
    pub(super) fn push(&mut self, header: ShapeHeader, number: u64, record: &Record<'_>) {
        let start = self.data.len();
        let is_value = match record {
            Record::Null => false,
            Record::Broken(_) => {
                self.findings.add(Finding::BrokenShape, number);
                false
            }
            Record::Shape(shape) | Record::Beyond(shape) => {
                if matches!(record, Record::Beyond(_)) {
                    self.findings.add(Finding::ShortRecord, number);
                }
                if header.flat != Some(shape.flat) {
                    self.findings.add(Finding::MixedShapes, number);
                }
                let written = self.write(header, number, shape);
                if written == Some(false) {
                    self.findings.add(Finding::BrokenShape, number);
                }
                written == Some(true)
            }
        };
        if !is_value {
            self.data.truncate(start);
        }
        self.nulls.append(is_value);
        self.ends.push(i64::try_from(self.data.len()).unwrap_or(i64::MAX));
    }

    /// `Some(true)` where it was written, `None` where there is nothing to write, `Some(false)` where it is broken.
    fn write(&mut self, header: ShapeHeader, number: u64, shape: &Shape<'_>) -> Option<bool> {
        let vertices = shape.vertices;
        let measured = vertices.m.is_some_and(|m| floats(m).any(|value| value > NO_DATA));
        let has_m = *self.has_m.get_or_insert(measured);
        self.needs_m |= measured && !has_m;
        let dimensions = Dimensions { z: header.has_z, m: has_m };
        if has_m && !measured {
            self.findings.add(Finding::MissingM, number);
        } else if has_m && vertices.m.is_some_and(|m| floats(m).any(|value| value < NO_DATA)) {
            self.findings.add(Finding::NoDataM, number);
        }
        if !floats(vertices.xy).all(is_place) {
            self.findings.add(Finding::NoDataCoordinate, number);
        }
        let count = vertices.xy.len() / 16;
        match shape.flat {
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
            Flat::PolyLine | Flat::Polygon | Flat::MultiPatch => {
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
        let polygons = polygons(&rings, dimensions.z || dimensions.m);
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
        let code = dimensions.code(flat);
        if self.types.last() != Some(&code) {
            self.types.insert(code);
        }
        self.subhead(flat, dimensions);
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

    /// The same column without the records of deleted rows.
    pub(super) fn without(self, deleted: &BTreeSet<u64>) -> Self {
        if deleted.is_empty() {
            return self;
        }
        let mut kept =
            Self { findings: self.findings, types: self.types, ..Self::new(self.has_m, self.data.len() as u64) };
        for (number, span) in (0_u64..).zip(self.ends.windows(2)) {
            if deleted.contains(&number) {
                continue;
            }
            let range = match span {
                [start, end] => usize::try_from(*start).unwrap_or(0)..usize::try_from(*end).unwrap_or(0),
                _ => 0..0,
            };
            kept.nulls.append(!range.is_empty());
            kept.data.extend_from_slice(self.data.get(range).unwrap_or_default());
            kept.ends.push(i64::try_from(kept.data.len()).unwrap_or(i64::MAX));
        }
        kept
    }

    /// The finished array; the buffers move, nothing is copied.
    pub(super) fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.ends));
        Ok(Arc::new(LargeBinaryArray::try_new(offsets, self.data.into(), self.nulls.finish())?))
    }
}

/// What a vertex has beside X and Y.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dimensions {
    z: bool,
    m: bool,
}

impl Dimensions {
    fn code(self, flat: u32) -> u32 {
        flat + if self.z { 1000 } else { 0 } + if self.m { 2000 } else { 0 }
    }
}

/// The Z or M of one vertex.
fn ordinate(all: Option<&[u8]>, vertex: usize) -> Option<f64> {
    let bytes = all?.get(vertex * 8..vertex * 8 + 8)?;
    bytes.try_into().ok().map(f64::from_le_bytes)
}

fn floats(bytes: &[u8]) -> impl Iterator<Item = f64> + '_ {
    bytes.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap_or_default()))
}
