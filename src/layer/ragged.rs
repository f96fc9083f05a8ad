//! Geometries of one type as coordinates and offsets, in the form that shapely makes arrays of.

use arrow_array::{Array as _, LargeBinaryArray};

use super::wkb::{Cursor, ordinate};

/// The types by their codes in well-known binary less one: the name, and how many levels of offsets there are.
const TYPES: [(&str, usize); 6] =
    [("POINT", 0), ("LINESTRING", 1), ("POLYGON", 2), ("MULTIPOINT", 1), ("MULTILINESTRING", 2), ("MULTIPOLYGON", 3)];

/// Rings have four vertices at least, the last of which is the first.
const RING: usize = 4;

/// Geometries of one type.
#[derive(Clone, Debug, PartialEq)]
pub struct Ragged {
    /// The name of the type.
    pub name: &'static str,
    /// The numbers of a vertex: 2, or 3 with Z.
    pub dimensions: usize,
    /// The numbers of all vertices.
    pub coordinates: Vec<f64>,
    /// Where parts end, from rings and lines up to geometries; each level counts what the level below holds.
    pub offsets: Vec<Vec<i64>>,
}

impl Ragged {
    /// Reads a column of well-known binary. `None` where the geometries are of several types, null, empty or measured,
    /// and where a line, a ring or a number is one that GEOS does not take as it is.
    #[must_use]
    pub fn read(column: &LargeBinaryArray) -> Option<Self> {
        if column.is_empty() || column.null_count() > 0 {
            return None;
        }
        let head = Cursor::new(column.value(0)).head().ok()?;
        let dimensions = if head.has_z { 3 } else { 2 };
        let (name, levels) = *TYPES.get(usize::try_from(head.flat).ok()?.checked_sub(1)?)?;
        let mut ragged = Self { name, dimensions, coordinates: Vec::new(), offsets: vec![vec![0]; levels] };
        ragged.coordinates.reserve_exact(column.value_data().len().checked_div(size_of::<f64>())?);
        for geometry in column {
            ragged.geometry(&mut Cursor::new(geometry?), head.flat)?;
        }
        Some(ragged)
    }

    fn geometry(&mut self, cursor: &mut Cursor<'_>, flat: u32) -> Option<()> {
        let head = cursor.head().ok().filter(|head| head.flat == flat && head.count > 0)?;
        if head.stride != self.dimensions * size_of::<f64>() || head.has_z != (self.dimensions == 3) {
            return None;
        }
        match flat {
            1 => self.vertices(cursor.run(1, head.stride).ok()?, head.stride),
            2 => {
                let run = cursor.run(head.count, head.stride).ok().filter(|_| head.count > 1)?;
                self.vertices(run, head.stride)?;
                self.end(0)
            }
            3 => {
                for _ in 0..head.count {
                    let count = cursor.count().ok().filter(|count| *count >= RING)?;
                    let ring = cursor.run(count, head.stride).ok()?;
                    let is_closed = ring.get(..16) == ring.get(ring.len() - head.stride..)?.get(..16);
                    self.vertices(ring, head.stride).filter(|()| is_closed)?;
                    self.end(0)?;
                }
                self.end(1)
            }
            _ => {
                for _ in 0..head.count {
                    self.geometry(cursor, flat.checked_sub(3)?)?;
                }
                self.end(self.offsets.len().checked_sub(1)?)
            }
        }
    }

    fn vertices(&mut self, run: &[u8], stride: usize) -> Option<()> {
        for vertex in run.chunks_exact(stride) {
            for at in 0..self.dimensions {
                self.coordinates.push(Some(ordinate(vertex, at)).filter(|number| number.is_finite())?);
            }
        }
        Some(())
    }

    /// Marks the end of a part of a level.
    fn end(&mut self, level: usize) -> Option<()> {
        let below = match level.checked_sub(1) {
            Some(below) => self.offsets.get(below)?.len().checked_sub(1)?,
            None => self.coordinates.len().checked_div(self.dimensions)?,
        };
        self.offsets.get_mut(level)?.push(i64::try_from(below).ok()?);
        Some(())
    }
}
