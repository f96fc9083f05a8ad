//! Cursor over little-endian ISO WKB that returns runs of vertices without copying.

use crate::layer::shapes::is_valid_coordinate;
use headland_base::error::{Error, Kind, Result};

/// Nesting limit of collections; real files are below it.
pub(super) const MAX_DEPTH: usize = 8;

/// The header of a geometry or of a member of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::layer) struct GeometryHeader {
    /// The type without dimensions: 1 point, 2 line, 3 polygon, 4 to 6 their multiples, 7 collection, 16 TIN, 17
    /// triangle.
    pub(in crate::layer) base_type: u32,
    pub(in crate::layer) has_z: bool,
    /// The size of a vertex in bytes.
    pub(in crate::layer) stride: usize,
    /// The number of points, rings or members that follow.
    pub(in crate::layer) count: usize,
}

/// A position in WKB.
#[derive(Clone, Debug)]
pub(in crate::layer) struct Cursor<'a> {
    bytes: &'a [u8],
    offset: usize,
}

/// Receives a run of vertices, the size of a vertex in bytes, and the offset of the run.
type VertexVisitor<'a, 'f> = &'f mut dyn FnMut(&'a [u8], usize, usize);

impl<'a> Cursor<'a> {
    pub(in crate::layer) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0 }
    }

    /// The number of bytes that were read.
    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or_else(malformed)?;
        self.bytes = rest;
        self.offset = self.offset.saturating_add(count);
        Ok(taken)
    }

    /// Reads a count of rings, points or members.
    pub(in crate::layer) fn read_count(&mut self) -> Result<usize> {
        let bytes = self.take(4)?.try_into().map_err(|_| malformed())?;
        usize::try_from(u32::from_le_bytes(bytes)).map_err(|_| malformed())
    }

    pub(in crate::layer) fn read_header(&mut self) -> Result<GeometryHeader> {
        if self.take(1)? != [1] {
            return Err(malformed());
        }
        let code = self.read_count()?;
        let (base_type, dimensions) = (u32::try_from(code % 1000).unwrap_or(0), code / 1000);
        if !matches!(base_type, 1..=7 | 16 | 17) || dimensions > 3 {
            return Err(malformed());
        }
        let stride = [16, 24, 24, 32].get(dimensions).copied().unwrap_or(16);
        let count = if base_type == 1 { 1 } else { self.read_count()? };
        Ok(GeometryHeader { base_type, has_z: dimensions % 2 == 1, stride, count })
    }

    /// Reads the bytes of `count` vertices.
    pub(in crate::layer) fn read_run(&mut self, count: usize, stride: usize) -> Result<&'a [u8]> {
        self.take(count.checked_mul(stride).ok_or_else(malformed)?)
    }

    /// Calls `visit` for every run of vertices of the next geometry.
    pub(in crate::layer) fn visit_runs(&mut self, visit: VertexVisitor<'a, '_>) -> Result<()> {
        self.visit_runs_to_depth(visit, MAX_DEPTH)
    }

    fn visit_runs_to_depth(&mut self, visit: VertexVisitor<'a, '_>, depth: usize) -> Result<()> {
        let header = self.read_header()?;
        match header.base_type {
            1 | 2 => {
                let offset = self.offset;
                visit(self.read_run(header.count, header.stride)?, header.stride, offset);
            }
            3 | 17 => {
                for _ in 0..header.count {
                    let count = self.read_count()?;
                    let offset = self.offset;
                    visit(self.read_run(count, header.stride)?, header.stride, offset);
                }
            }
            _ => {
                let depth = depth.checked_sub(1).ok_or_else(malformed)?;
                for _ in 0..header.count {
                    self.visit_runs_to_depth(visit, depth)?;
                }
            }
        }
        Ok(())
    }
}

/// Checks that bytes are one well-formed geometry. Returns its type code, and whether all X and Y are coordinates; those
/// of an empty point are not.
pub(in crate::layer) fn check_wkb(wkb: &[u8]) -> Result<(u32, bool)> {
    let mut cursor = Cursor::new(wkb);
    let mut is_valid = true;
    cursor.visit_runs(&mut |run, stride, _| {
        is_valid &= points(run, stride).all(|(x, y)| is_valid_coordinate(x) && is_valid_coordinate(y));
    })?;
    let code = wkb.get(1..5).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
    Ok((code.filter(|_| cursor.bytes.is_empty()).ok_or_else(malformed)?, is_valid))
}

/// The header of a little-endian point without Z and M.
pub(in crate::layer) const POINT_HEADER: [u8; 5] = [1, 1, 0, 0, 0];

/// X and Y of a point without Z and M, the most common geometry, without a cursor.
pub(in crate::layer) fn flat_point(wkb: &[u8]) -> Option<(f64, f64)> {
    let (&POINT_HEADER, coordinates) = wkb.split_first_chunk::<5>()? else { return None };
    let (x, y) = coordinates.split_first_chunk::<8>()?;
    let y: &[u8; 8] = y.try_into().ok()?;
    Some((f64::from_le_bytes(*x), f64::from_le_bytes(*y)))
}

/// X and Y of each vertex of a run.
pub(in crate::layer) fn points(run: &[u8], stride: usize) -> impl Iterator<Item = (f64, f64)> + '_ {
    run.chunks_exact(stride).map(|vertex| (ordinate(vertex, 0), ordinate(vertex, 1)))
}

/// One ordinate of a vertex.
pub(in crate::layer) fn ordinate(vertex: &[u8], axis: usize) -> f64 {
    let bytes = vertex.get(axis * 8..axis * 8 + 8).and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(f64::NAN, f64::from_le_bytes)
}

pub(super) fn malformed() -> Error {
    Error::new(Kind::Archive, "a geometry is not well-formed")
}
