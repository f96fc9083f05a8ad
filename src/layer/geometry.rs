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

/// A column of geometries while it is read.
pub(super) struct Geometries {
    data: Vec<u8>,
    ends: Vec<i64>,
    nulls: NullBufferBuilder,
    pub(super) findings: Findings,
    /// Whether the geometries written have M: decided by the first shape, or before.
    has_m: Option<bool>,
    /// Whether a later shape has an M that the ones before it were written without.
    pub(super) needs_m: bool,
    /// The types written, as codes of well-known binary.
    pub(super) types: BTreeSet<u32>,
}

impl Geometries {
    /// An empty column; `has_m` where it is known that vertices have M.
    pub(super) fn new(has_m: Option<bool>) -> Self {
        Self {
            data: Vec::new(),
            ends: vec![0],
            nulls: NullBufferBuilder::new(0),
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
            Flat::PolyLine | Flat::Polygon => {
                let Some(parts) = self.parts(shape, count, number) else { return Some(false) };
                if shape.flat == Flat::PolyLine {
                    self.lines(vertices, &parts, dimensions, number);
                } else {
                    self.polygons(vertices, &parts, dimensions, number);
                }
                Some(true)
            }
            Flat::MultiPatch => {
                let Some(parts) = self.parts(shape, count, number) else { return Some(false) };
                Some(patches::write(self, shape, &parts, dimensions, number))
            }
        }
    }

    /// Where each part begins and ends.
    fn parts(&mut self, shape: &Shape<'_>, count: usize, number: u64) -> Option<Vec<(usize, usize)>> {
        let starts = shape.parts.chunks_exact(4).map(|bytes| i32::from_le_bytes(bytes.try_into().unwrap_or_default()));
        let mut starts: Vec<usize> = starts.map(usize::try_from).collect::<Result<_, _>>().ok()?;
        if let Some(first) = starts.first_mut().filter(|first| **first != 0) {
            *first = 0;
            self.findings.add(Finding::PartStart, number);
        }
        let ends = starts.iter().skip(1).copied().chain(std::iter::once(count));
        let parts: Vec<(usize, usize)> = starts.iter().copied().zip(ends).collect();
        parts.iter().all(|(start, end)| start < end).then_some(parts)
    }

    fn lines(&mut self, vertices: Vertices<'_>, parts: &[(usize, usize)], dimensions: Dimensions, number: u64) {
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
    }

    fn polygons(&mut self, vertices: Vertices<'_>, parts: &[(usize, usize)], dimensions: Dimensions, number: u64) {
        if let [part] = parts {
            self.head(3, dimensions);
            self.count(1);
            self.ring(vertices, *part, dimensions, number);
            return;
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
        self.types.insert(dimensions.code(flat));
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
        let values = |all: Option<&[u8]>| -> Vec<f64> {
            all.and_then(|all| all.get(start * 8..end * 8)).map(|part| floats(part).collect()).unwrap_or_default()
        };
        let (z, m) = (values(vertices.z), values(vertices.m));
        for (at, xy) in xy.chunks_exact(16).enumerate() {
            self.data.extend_from_slice(xy);
            if dimensions.z {
                self.data.extend_from_slice(&z.get(at).copied().unwrap_or(0.0).to_le_bytes());
            }
            if dimensions.m {
                let value = m.get(at).copied().filter(|value| *value >= NO_DATA).unwrap_or(f64::NAN);
                self.data.extend_from_slice(&value.to_le_bytes());
            }
        }
    }

    /// The same column without the records of deleted rows.
    pub(super) fn without(self, deleted: &BTreeSet<u64>) -> Self {
        if deleted.is_empty() {
            return self;
        }
        let mut kept = Self { findings: self.findings, types: self.types, ..Self::new(self.has_m) };
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

fn floats(bytes: &[u8]) -> impl Iterator<Item = f64> + '_ {
    bytes.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap_or_default()))
}
