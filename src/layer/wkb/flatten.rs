//! Flattens ISO WKB to coordinate arrays, for areas and pictures.

use crate::error::{Error, Kind, Result};
use crate::layer::shapes::is_valid_coordinate;

/// Nesting limit of collections; real files are below it.
const MAX_DEPTH: usize = 8;

/// Kind of a run of coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::layer) enum Part {
    Point,
    Line,
    Shell,
    /// A hole of the preceding shell.
    Hole,
}

/// The coordinates of one geometry. The buffers are reused for each record.
#[derive(Debug, Default)]
pub(in crate::layer) struct FlatCoordinates {
    pub(in crate::layer) xs: Vec<f64>,
    pub(in crate::layer) ys: Vec<f64>,
    /// The kind and end of each run; a run starts at the end of the previous one.
    parts: Vec<(Part, usize)>,
}

impl FlatCoordinates {
    /// Each run with its coordinates.
    pub(in crate::layer) fn parts(&self) -> impl Iterator<Item = (Part, &[f64], &[f64])> {
        self.parts.iter().scan(0, |start, (part, end)| {
            let range = *start..*end;
            *start = *end;
            Some((*part, self.xs.get(range.clone()).unwrap_or(&[]), self.ys.get(range).unwrap_or(&[])))
        })
    }

    /// Replaces the content with the geometry of a record.
    pub(in crate::layer) fn read(&mut self, wkb: &[u8], record: usize) -> Result<()> {
        self.xs.clear();
        self.ys.clear();
        self.parts.clear();
        let mut cursor = ByteCursor { bytes: wkb, offset: 0 };
        self.append_geometry(&mut cursor, 0).ok_or_else(|| {
            Error::new(Kind::Archive, "the geometry is not well-formed WKB").with(|facts| {
                facts.record = u64::try_from(record).ok();
                facts.offset = u64::try_from(cursor.offset).ok();
            })
        })
    }

    fn append_geometry(&mut self, cursor: &mut ByteCursor<'_>, depth: usize) -> Option<()> {
        let is_little_endian = match cursor.read_byte()? {
            0 => false,
            1 => true,
            _ => return None,
        };
        let code = cursor.read_u32(is_little_endian)?;
        let dimensions = match code / 1000 {
            0 => 2,
            1 | 2 => 3,
            3 => 4,
            _ => return None,
        };
        match code % 1000 {
            1 => self.append_run(cursor, is_little_endian, dimensions, 1, Part::Point),
            2 => {
                let count = cursor.read_u32(is_little_endian)?;
                self.append_run(cursor, is_little_endian, dimensions, count, Part::Line)
            }
            3 => {
                for ring in 0..cursor.read_u32(is_little_endian)? {
                    let count = cursor.read_u32(is_little_endian)?;
                    self.append_run(
                        cursor,
                        is_little_endian,
                        dimensions,
                        count,
                        if ring == 0 { Part::Shell } else { Part::Hole },
                    )?;
                }
                Some(())
            }
            4..=7 if depth < MAX_DEPTH => {
                for _ in 0..cursor.read_u32(is_little_endian)? {
                    self.append_geometry(cursor, depth.saturating_add(1))?;
                }
                Some(())
            }
            _ => None,
        }
    }

    fn append_run(
        &mut self,
        cursor: &mut ByteCursor<'_>,
        is_little_endian: bool,
        dimensions: usize,
        count: u32,
        part: Part,
    ) -> Option<()> {
        let size = dimensions.checked_mul(8)?;
        let length = usize::try_from(count).ok()?.checked_mul(size)?;
        for point in cursor.take(length)?.chunks_exact(size) {
            let (x, rest) = point.split_first_chunk::<8>()?;
            let y = rest.first_chunk::<8>()?;
            let number = |bytes: &[u8; 8]| {
                if is_little_endian { f64::from_le_bytes(*bytes) } else { f64::from_be_bytes(*bytes) }
            };
            let (x, y) = (number(x), number(y));
            // Skips NaN, which marks an empty point, and `no data`.
            if is_valid_coordinate(x) && is_valid_coordinate(y) {
                self.xs.push(x);
                self.ys.push(y);
            }
        }
        self.parts.push((part, self.xs.len()));
        Some(())
    }
}

struct ByteCursor<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> ByteCursor<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.offset.checked_add(length)?;
        let taken = self.bytes.get(self.offset..end)?;
        self.offset = end;
        Some(taken)
    }

    fn read_byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn read_u32(&mut self, is_little_endian: bool) -> Option<u32> {
        let bytes = *self.take(4)?.first_chunk::<4>()?;
        Some(if is_little_endian { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }
}
