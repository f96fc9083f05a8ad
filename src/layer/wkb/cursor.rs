//! Well-known binary (ISO) as runs of vertices, read in place: what the writers of this room walk over.

use crate::error::{Error, Kind, Result};

/// Collections inside collections go no deeper in any real file.
const DEPTH: usize = 8;

/// One geometry, or one inside another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::layer) struct Head {
    /// 1 point, 2 line, 3 polygon, 4 to 6 the multiples, 7 a collection, 16 a surface of triangles, 17 a triangle.
    pub(in crate::layer) flat: u32,
    pub(in crate::layer) has_z: bool,
    /// The bytes of one vertex.
    pub(in crate::layer) stride: usize,
    /// How many points, rings or geometries follow.
    pub(in crate::layer) count: usize,
}

/// A place inside well-known binary.
#[derive(Clone, Debug)]
pub(in crate::layer) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// What is called with each run of vertices: its bytes, the bytes of one vertex, and where the run begins.
type EachRun<'a, 'f> = &'f mut dyn FnMut(&'a [u8], usize, usize);

impl<'a> Cursor<'a> {
    pub(in crate::layer) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or_else(cut)?;
        self.bytes = rest;
        self.at = self.at.saturating_add(count);
        Ok(taken)
    }

    /// A count of rings, points or geometries.
    pub(in crate::layer) fn count(&mut self) -> Result<usize> {
        let bytes = self.take(4)?.try_into().map_err(|_| cut())?;
        usize::try_from(u32::from_le_bytes(bytes)).map_err(|_| cut())
    }

    /// The head of the next geometry.
    pub(in crate::layer) fn head(&mut self) -> Result<Head> {
        if self.take(1)? != [1] {
            return Err(cut());
        }
        let code = self.count()?;
        let (flat, dimensions) = (u32::try_from(code % 1000).unwrap_or(0), code / 1000);
        if !matches!(flat, 1..=7 | 16 | 17) || dimensions > 3 {
            return Err(cut());
        }
        let stride = [16, 24, 24, 32].get(dimensions).copied().unwrap_or(16);
        let count = if flat == 1 { 1 } else { self.count()? };
        Ok(Head { flat, has_z: dimensions % 2 == 1, stride, count })
    }

    /// The bytes of a run of vertices.
    pub(in crate::layer) fn run(&mut self, count: usize, stride: usize) -> Result<&'a [u8]> {
        self.take(count.checked_mul(stride).ok_or_else(cut)?)
    }

    /// Calls `each` with every run of vertices of the next geometry.
    pub(in crate::layer) fn runs(&mut self, each: EachRun<'a, '_>) -> Result<()> {
        self.runs_at(each, DEPTH)
    }

    fn runs_at(&mut self, each: EachRun<'a, '_>, depth: usize) -> Result<()> {
        let head = self.head()?;
        match head.flat {
            1 | 2 => {
                let at = self.at;
                each(self.run(head.count, head.stride)?, head.stride, at);
            }
            3 | 17 => {
                for _ in 0..head.count {
                    let count = self.count()?;
                    let at = self.at;
                    each(self.run(count, head.stride)?, head.stride, at);
                }
            }
            _ => {
                let depth = depth.checked_sub(1).ok_or_else(cut)?;
                for _ in 0..head.count {
                    self.runs_at(each, depth)?;
                }
            }
        }
        Ok(())
    }
}

/// X and Y of a point that has neither Z nor M: most records of machines are such points, and need no walk.
pub(in crate::layer) fn flat_point(wkb: &[u8]) -> Option<(f64, f64)> {
    let ([1, 1, 0, 0, 0], place) = wkb.split_first_chunk::<5>()? else { return None };
    let (x, y) = place.split_first_chunk::<8>()?;
    let y: &[u8; 8] = y.try_into().ok()?;
    Some((f64::from_le_bytes(*x), f64::from_le_bytes(*y)))
}

/// X and Y of each vertex of a run.
pub(in crate::layer) fn points(run: &[u8], stride: usize) -> impl Iterator<Item = (f64, f64)> + '_ {
    run.chunks_exact(stride).map(|vertex| (ordinate(vertex, 0), ordinate(vertex, 1)))
}

/// One number of a vertex.
pub(in crate::layer) fn ordinate(vertex: &[u8], at: usize) -> f64 {
    let bytes = vertex.get(at * 8..at * 8 + 8).and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(f64::NAN, f64::from_le_bytes)
}

fn cut() -> Error {
    Error::new(Kind::Archive, "a geometry is not well-formed")
}
