//! Builder of a WKB column: values, offsets, validity and issues.

use std::collections::BTreeSet;

use arrow_buffer::NullBufferBuilder;

use super::ordinates::{NO_DATA, read_ordinate};
use super::pending::PendingIssues;
use crate::archive::{Code, Vertices, with_capacity};

/// The size in bytes of a point record with its header.
pub(super) const POINT_RECORD: usize = 28;

/// The most bytes reserved before any record is read, since declared sizes may be wrong.
const MAX_INITIAL_CAPACITY: u64 = 256 << 20;

/// A column of geometries while it is built.
pub(super) struct WkbBuilder {
    pub(super) data: Vec<u8>,
    pub(super) ends: Vec<i64>,
    pub(super) nulls: NullBufferBuilder,
    /// The records that were returned in earlier arrays.
    pub(super) records_taken: u64,
    /// The parts of the current shape; the vector is reused.
    pub(super) parts: Vec<(usize, usize)>,
    pub(super) issues: PendingIssues,
    /// Whether the header allows M. If not, only the records that have M keep it.
    pub(super) declares_m: bool,
    /// Whether geometries have M if the header allows it. Decided by the first shape or earlier.
    pub(super) has_m: Option<bool>,
    /// Whether a shape has M while earlier ones were written without it.
    pub(super) needs_m: bool,
    /// The WKB type codes written.
    pub(super) types: BTreeSet<u32>,
}

/// Dimensions of a vertex in addition to X and Y.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dimensions {
    pub(super) z: bool,
    pub(super) m: bool,
}

impl Dimensions {
    pub(super) fn code(self, shape_type: u32) -> u32 {
        shape_type + if self.z { 1000 } else { 0 } + if self.m { 2000 } else { 0 }
    }
}

impl WkbBuilder {
    /// Creates an empty column with capacity for `count` shapes of `size` bytes in total. `declares_m` and `has_m` as
    /// in the fields.
    pub(super) fn new(declares_m: bool, has_m: Option<bool>, size: u64, count: Option<u64>) -> Self {
        let capacity = usize::try_from(size.min(MAX_INITIAL_CAPACITY)).unwrap_or(0);
        let max_count = capacity / POINT_RECORD;
        let count = count.and_then(|count| usize::try_from(count).ok()).map_or(max_count, |count| count.min(max_count));
        let mut ends = with_capacity(count + 1);
        ends.push(0);
        Self {
            // WKB is slightly smaller than its shapes.
            data: with_capacity(capacity),
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

    pub(super) fn len(&self) -> u64 {
        self.ends.len().saturating_sub(1) as u64
    }

    /// Marks the next geometry as null. Geometries before it without a mark are valid.
    pub(super) fn push_null(&mut self) {
        let position = self.ends.len().saturating_sub(1);
        self.nulls.append_n_non_nulls(position.saturating_sub(self.nulls.len()));
        self.nulls.append_null();
    }

    /// Appends a ring and closes it if it is open.
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

    /// Appends a ring and closes it if `is_open`.
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

    /// Writes the header of a top-level geometry and records its type.
    pub(super) fn begin_geometry(&mut self, shape_type: u32, dimensions: Dimensions) {
        self.geometry_code(shape_type, dimensions);
        self.begin_member(shape_type, dimensions);
    }

    /// The WKB code of a type, which is recorded.
    pub(super) fn geometry_code(&mut self, shape_type: u32, dimensions: Dimensions) -> u32 {
        let code = dimensions.code(shape_type);
        if self.types.last() != Some(&code) {
            self.types.insert(code);
        }
        code
    }

    /// Writes the header of a geometry inside another.
    pub(super) fn begin_member(&mut self, shape_type: u32, dimensions: Dimensions) {
        self.data.push(1);
        self.data.extend_from_slice(&dimensions.code(shape_type).to_le_bytes());
    }

    pub(super) fn push_count(&mut self, count: usize) {
        self.data.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
    }

    /// Appends the vertices from `start` to `end`. Without Z and M the bytes are copied.
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
