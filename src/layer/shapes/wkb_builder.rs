//! A column of geometries while it is read, and the pieces of well-known binary that are appended to it.

use std::collections::BTreeSet;

use arrow_buffer::NullBufferBuilder;

use super::ordinates::{NO_DATA, read_ordinate};
use super::pending::PendingIssues;
use crate::archive::{Code, Vertices, with_room};

/// The bytes of a point and its record header.
pub(super) const POINT_RECORD: usize = 28;

/// The most bytes that room is made for before anything is read, since sizes may lie.
const MAX_INITIAL_CAPACITY: u64 = 256 << 20;

/// A column of geometries while it is read.
pub(super) struct WkbBuilder {
    pub(super) data: Vec<u8>,
    pub(super) ends: Vec<i64>,
    pub(super) nulls: NullBufferBuilder,
    /// How many records were taken away with arrays before.
    pub(super) records_taken: u64,
    /// The parts of the shape at hand, kept for the next one.
    pub(super) parts: Vec<(usize, usize)>,
    pub(super) issues: PendingIssues,
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

impl WkbBuilder {
    /// An empty column with room for `count` shapes of `size` bytes in all; `declares_m` where the header lets vertices
    /// have an M, and `has_m` where it is known whether they do.
    pub(super) fn new(declares_m: bool, has_m: Option<bool>, size: u64, count: Option<u64>) -> Self {
        let capacity = usize::try_from(size.min(MAX_INITIAL_CAPACITY)).unwrap_or(0);
        let max_count = capacity / POINT_RECORD;
        let count = count.and_then(|count| usize::try_from(count).ok()).map_or(max_count, |count| count.min(max_count));
        let mut ends = with_room(count + 1);
        ends.push(0);
        Self {
            // Well-known binary is a little smaller than the shapes it is made of.
            data: with_room(capacity),
            ends,
            nulls: NullBufferBuilder::new(0),
            records_taken: 0,
            parts: Vec::new(),
            issues: PendingIssues::default(),
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

    /// The next geometry is null; those before it that no word was said about are values.
    pub(super) fn push_null(&mut self) {
        let position = self.ends.len().saturating_sub(1);
        self.nulls.append_n_non_nulls(position.saturating_sub(self.nulls.len()));
        self.nulls.append_null();
    }

    /// A ring, closed where the file leaves it open.
    pub(super) fn push_ring(
        &mut self,
        vertices: Vertices<'_>,
        (start, end): (usize, usize),
        dimensions: Dimensions,
        number: u64,
    ) {
        let is_open = vertices.differ(start, end - 1);
        self.push_closed_ring(vertices, (start, end), is_open, dimensions, number);
    }

    /// A ring that is open where `is_open` says so.
    pub(super) fn push_closed_ring(
        &mut self,
        vertices: Vertices<'_>,
        (start, end): (usize, usize),
        is_open: bool,
        dimensions: Dimensions,
        number: u64,
    ) {
        let length = end - start + usize::from(is_open);
        if is_open {
            self.issues.add(Code::OpenRing, number);
        }
        if length < 4 {
            self.issues.add(Code::ShortPart, number);
        }
        self.push_count(length);
        self.push_coordinates(vertices, start, end, dimensions);
        if is_open {
            self.push_coordinates(vertices, start, start + 1, dimensions);
        }
    }

    /// The head of a geometry of its own.
    pub(super) fn begin_geometry(&mut self, flat: u32, dimensions: Dimensions) {
        self.geometry_code(flat, dimensions);
        self.begin_member(flat, dimensions);
    }

    /// The code of a type of geometry, which is noted.
    pub(super) fn geometry_code(&mut self, flat: u32, dimensions: Dimensions) -> u32 {
        let code = dimensions.code(flat);
        if self.types.last() != Some(&code) {
            self.types.insert(code);
        }
        code
    }

    /// The head of a geometry inside another.
    pub(super) fn begin_member(&mut self, flat: u32, dimensions: Dimensions) {
        self.data.push(1);
        self.data.extend_from_slice(&dimensions.code(flat).to_le_bytes());
    }

    pub(super) fn push_count(&mut self, count: usize) {
        self.data.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
    }

    /// The vertices from `start` to `end`; without Z and M they are copied as they stand.
    pub(super) fn push_coordinates(
        &mut self,
        vertices: Vertices<'_>,
        start: usize,
        end: usize,
        dimensions: Dimensions,
    ) {
        let xy = vertices.xy.get(start * 16..end * 16).unwrap_or_default();
        if !dimensions.z && !dimensions.m {
            self.data.extend_from_slice(xy);
            return;
        }
        for (vertex, xy) in (start..end).zip(xy.chunks_exact(16)) {
            self.data.extend_from_slice(xy);
            if dimensions.z {
                self.data.extend_from_slice(&read_ordinate(vertices.z, vertex).unwrap_or(0.0).to_le_bytes());
            }
            if dimensions.m {
                let value = read_ordinate(vertices.m, vertex).filter(|value| *value >= NO_DATA).unwrap_or(f64::NAN);
                self.data.extend_from_slice(&value.to_le_bytes());
            }
        }
    }
}
