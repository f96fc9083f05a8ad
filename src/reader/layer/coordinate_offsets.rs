//! Converts WKB geometries of one type to coordinates and offsets for `shapely.from_ragged_array`.

use arrow_array::{Array as _, LargeBinaryArray};

use super::wkb::{Cursor, ordinate};

/// Type names and levels of offsets, by WKB type code minus one.
const TYPES: [(&str, usize); 6] =
    [("POINT", 0), ("LINESTRING", 1), ("POLYGON", 2), ("MULTIPOINT", 1), ("MULTILINESTRING", 2), ("MULTIPOLYGON", 3)];

/// A closed ring has at least four vertices.
const MIN_RING_VERTICES: usize = 4;

/// Geometries of one type.
#[derive(Clone, Debug, PartialEq)]
pub struct Ragged {
    /// The name of the type.
    pub name: &'static str,
    /// The ordinates per vertex: 2, or 3 with Z.
    pub dimensions: usize,
    /// The ordinates of all vertices.
    pub coordinates: Vec<f64>,
    /// Part ends, from rings and lines up to geometries. Each level counts items of the level below.
    pub offsets: Vec<Vec<i64>>,
}

impl Ragged {
    /// Reads a WKB column. `None` for mixed types, nulls, empty geometries or M, and for lines, rings or ordinates that
    /// GEOS rejects or changes.
    #[must_use]
    pub fn read(column: &LargeBinaryArray) -> Option<Self> {
        if column.is_empty() || column.null_count() > 0 {
            return None;
        }
        let header = Cursor::new(column.value(0)).read_header().ok()?;
        let dimensions = if header.has_z { 3 } else { 2 };
        let (name, levels) = *TYPES.get(usize::try_from(header.base_type).ok()?.checked_sub(1)?)?;
        let mut ragged = Self { name, dimensions, coordinates: Vec::new(), offsets: vec![vec![0]; levels] };
        ragged.coordinates.reserve_exact(column.value_data().len().checked_div(size_of::<f64>())?);
        for geometry in column {
            ragged.append_geometry(&mut Cursor::new(geometry?), header.base_type)?;
        }
        Some(ragged)
    }

    fn append_geometry(&mut self, cursor: &mut Cursor<'_>, base_type: u32) -> Option<()> {
        let header = cursor.read_header().ok().filter(|header| header.base_type == base_type && header.count > 0)?;
        if header.stride != self.dimensions * size_of::<f64>() || header.has_z != (self.dimensions == 3) {
            return None;
        }
        match base_type {
            1 => self.append_vertices(cursor.read_run(1, header.stride).ok()?, header.stride),
            2 => {
                let run = cursor.read_run(header.count, header.stride).ok().filter(|_| header.count > 1)?;
                self.append_vertices(run, header.stride)?;
                self.end_part(0)
            }
            3 => {
                for _ in 0..header.count {
                    let count = cursor.read_count().ok().filter(|count| *count >= MIN_RING_VERTICES)?;
                    let ring = cursor.read_run(count, header.stride).ok()?;
                    let is_closed = ring.get(..16) == ring.get(ring.len() - header.stride..)?.get(..16);
                    self.append_vertices(ring, header.stride).filter(|()| is_closed)?;
                    self.end_part(0)?;
                }
                self.end_part(1)
            }
            _ => {
                for _ in 0..header.count {
                    self.append_geometry(cursor, base_type.checked_sub(3)?)?;
                }
                self.end_part(self.offsets.len().checked_sub(1)?)
            }
        }
    }

    fn append_vertices(&mut self, run: &[u8], stride: usize) -> Option<()> {
        for vertex in run.chunks_exact(stride) {
            for axis in 0..self.dimensions {
                self.coordinates.push(Some(ordinate(vertex, axis)).filter(|number| number.is_finite())?);
            }
        }
        Some(())
    }

    /// Marks the end of a part on a level.
    fn end_part(&mut self, level: usize) -> Option<()> {
        let below = match level.checked_sub(1) {
            Some(below) => self.offsets.get(below)?.len().checked_sub(1)?,
            None => self.coordinates.len().checked_div(self.dimensions)?,
        };
        self.offsets.get_mut(level)?.push(i64::try_from(below).ok()?);
        Some(())
    }
}
