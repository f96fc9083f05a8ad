//! Walks well-known binary (ISO) into flat coordinates, for areas and pictures.

use crate::error::{Error, Kind, Result};
use crate::layer::shapes::is_place;

/// Collections inside collections go no deeper in any real file.
const MAX_DEPTH: usize = 8;

/// What a run of coordinates is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::layer) enum Part {
    Point,
    Line,
    /// The outer ring of a polygon.
    Shell,
    /// A ring that cuts a hole into the shell before it.
    Hole,
}

/// The coordinates of one geometry after another, reused from record to record.
#[derive(Debug, Default)]
pub(in crate::layer) struct Flat {
    pub(in crate::layer) xs: Vec<f64>,
    pub(in crate::layer) ys: Vec<f64>,
    /// What each run is and where it ends; it begins where the one before ends.
    parts: Vec<(Part, usize)>,
}

impl Flat {
    /// Each run of coordinates.
    pub(in crate::layer) fn parts(&self) -> impl Iterator<Item = (Part, &[f64], &[f64])> {
        self.parts.iter().scan(0, |start, (part, end)| {
            let range = *start..*end;
            *start = *end;
            Some((*part, self.xs.get(range.clone()).unwrap_or(&[]), self.ys.get(range).unwrap_or(&[])))
        })
    }

    /// Takes the place of what was there with the geometry of a record.
    pub(in crate::layer) fn read(&mut self, wkb: &[u8], record: usize) -> Result<()> {
        self.xs.clear();
        self.ys.clear();
        self.parts.clear();
        let mut cursor = Cursor { bytes: wkb, at: 0 };
        self.geometry(&mut cursor, 0).ok_or_else(|| {
            Error::new(Kind::Archive, "the geometry is not well-formed WKB").with(|facts| {
                facts.record = u64::try_from(record).ok();
                facts.offset = u64::try_from(cursor.at).ok();
            })
        })
    }

    fn geometry(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Option<()> {
        let little = match cursor.byte()? {
            0 => false,
            1 => true,
            _ => return None,
        };
        let code = cursor.u32(little)?;
        let dimensions = match code / 1000 {
            0 => 2,
            1 | 2 => 3,
            3 => 4,
            _ => return None,
        };
        match code % 1000 {
            1 => self.run(cursor, little, dimensions, 1, Part::Point),
            2 => {
                let count = cursor.u32(little)?;
                self.run(cursor, little, dimensions, count, Part::Line)
            }
            3 => {
                for ring in 0..cursor.u32(little)? {
                    let count = cursor.u32(little)?;
                    self.run(cursor, little, dimensions, count, if ring == 0 { Part::Shell } else { Part::Hole })?;
                }
                Some(())
            }
            4..=7 if depth < MAX_DEPTH => {
                for _ in 0..cursor.u32(little)? {
                    self.geometry(cursor, depth.saturating_add(1))?;
                }
                Some(())
            }
            _ => None,
        }
    }

    fn run(&mut self, cursor: &mut Cursor<'_>, little: bool, dimensions: usize, count: u32, part: Part) -> Option<()> {
        let size = dimensions.checked_mul(8)?;
        let length = usize::try_from(count).ok()?.checked_mul(size)?;
        for point in cursor.take(length)?.chunks_exact(size) {
            let (x, rest) = point.split_first_chunk::<8>()?;
            let y = rest.first_chunk::<8>()?;
            let number = |bytes: &[u8; 8]| if little { f64::from_le_bytes(*bytes) } else { f64::from_be_bytes(*bytes) };
            let (x, y) = (number(x), number(y));
            // An empty point is written as NaN, and `no data` as a number that is no place.
            if is_place(x) && is_place(y) {
                self.xs.push(x);
                self.ys.push(y);
            }
        }
        self.parts.push((part, self.xs.len()));
        Some(())
    }
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(length)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn u32(&mut self, little: bool) -> Option<u32> {
        let bytes = *self.take(4)?.first_chunk::<4>()?;
        Some(if little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }
}
