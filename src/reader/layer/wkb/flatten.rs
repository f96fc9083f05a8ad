//! Flattens ISO WKB to coordinate arrays, for areas and pictures.

use super::cursor::{Cursor, GeometryHeader, MAX_DEPTH, malformed, points};
use crate::layer::shapes::is_valid_coordinate;
use headland_base::error::{Error, Kind, Result};

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
    /// Whether a vertex of a ring is not a coordinate and was left out.
    lost: bool,
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

    /// Whether a ring has a vertex that is not finite or means `no data`, so that its shape is unknown.
    pub(in crate::layer) fn has_lost_vertex(&self) -> bool {
        self.lost
    }

    /// Changes the X of each run.
    pub(in crate::layer) fn update_xs(&mut self, mut update: impl FnMut(Part, &mut [f64])) {
        let mut start = 0;
        for (part, end) in &self.parts {
            if let Some(run) = self.xs.get_mut(start..*end) {
                update(*part, run);
            }
            start = *end;
        }
    }

    /// Replaces the content with the geometry of a record.
    pub(in crate::layer) fn read(&mut self, wkb: &[u8], record: usize) -> Result<()> {
        self.xs.clear();
        self.ys.clear();
        self.parts.clear();
        self.lost = false;
        let mut cursor = Cursor::new(wkb);
        self.append_geometry(&mut cursor, 0).map_err(|_| {
            Error::new(Kind::Archive, "the geometry is not well-formed WKB").with(|facts| {
                facts.record = u64::try_from(record).ok();
                facts.offset = u64::try_from(cursor.offset()).ok();
            })
        })
    }

    fn append_geometry(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Result<()> {
        let GeometryHeader { base_type, count, stride, .. } = cursor.read_header()?;
        match base_type {
            1 => self.append_run(cursor.read_run(count, stride)?, stride, Part::Point),
            2 => self.append_run(cursor.read_run(count, stride)?, stride, Part::Line),
            3 | 17 => {
                for ring in 0..count {
                    let vertices = cursor.read_count()?;
                    let part = if ring == 0 { Part::Shell } else { Part::Hole };
                    self.append_run(cursor.read_run(vertices, stride)?, stride, part);
                }
            }
            4..=7 | 16 if depth < MAX_DEPTH => {
                for _ in 0..count {
                    self.append_geometry(cursor, depth.saturating_add(1))?;
                }
            }
            _ => return Err(malformed()),
        }
        Ok(())
    }

    fn append_run(&mut self, run: &[u8], stride: usize, part: Part) {
        for (x, y) in points(run, stride) {
            // Skips NaN, which marks an empty point, and `no data`.
            if is_valid_coordinate(x) && is_valid_coordinate(y) {
                self.xs.push(x);
                self.ys.push(y);
            } else {
                self.lost |= matches!(part, Part::Shell | Part::Hole);
            }
        }
        self.parts.push((part, self.xs.len()));
    }
}
