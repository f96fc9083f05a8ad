//! Geometries as GeoJSON: coordinates transformed, rings turned as RFC 7946 wants them, shortest digits.

use super::crs::Transform;
use super::geojson::json;
use super::geometry::is_place;
use super::winding;
use super::wkb::{Cursor, Head, ordinate, points};
use crate::error::{Error, Kind, Result};

/// Collections inside collections go no deeper in any real file.
const DEPTH: usize = 8;

/// Writes geometries one after the other, with room that is used again.
pub(super) struct Pen<'a> {
    transform: Option<&'a Transform>,
    xs: Vec<f64>,
    ys: Vec<f64>,
    heights: Vec<f64>,
}

impl<'a> Pen<'a> {
    /// A pen that brings coordinates to WGS 84, or leaves them as they are.
    pub(super) fn new(transform: Option<&'a Transform>) -> Self {
        Self { transform, xs: Vec::new(), ys: Vec::new(), heights: Vec::new() }
    }

    /// Writes one geometry; `null` for one with a vertex that is no place, of which a diagnostic of the layer tells.
    pub(super) fn geometry(&mut self, text: &mut Vec<u8>, wkb: &[u8]) -> Result<()> {
        let mut is_sound = true;
        Cursor::new(wkb).runs(&mut |run, stride, _| {
            is_sound &= points(run, stride).all(|(x, y)| is_place(x) && is_place(y));
        })?;
        if !is_sound {
            text.extend_from_slice(b"null");
            return Ok(());
        }
        self.object(text, &mut Cursor::new(wkb), DEPTH)
    }

    fn object(&mut self, text: &mut Vec<u8>, cursor: &mut Cursor<'_>, depth: usize) -> Result<()> {
        let head = cursor.head()?;
        let name = match head.flat {
            1 => "Point",
            2 => "LineString",
            3 | 17 => "Polygon",
            4 => "MultiPoint",
            5 => "MultiLineString",
            6 | 16 => "MultiPolygon",
            _ => "GeometryCollection",
        };
        text.extend_from_slice(b"{\"type\":\"");
        text.extend_from_slice(name.as_bytes());
        if head.flat == 7 {
            let depth =
                depth.checked_sub(1).ok_or_else(|| Error::new(Kind::Archive, "a geometry is nested too deeply"))?;
            text.extend_from_slice(b"\",\"geometries\":[");
            for at in 0..head.count {
                if at > 0 {
                    text.push(b',');
                }
                self.object(text, cursor, depth)?;
            }
            text.extend_from_slice(b"]}");
            return Ok(());
        }
        text.extend_from_slice(b"\",\"coordinates\":");
        if matches!(head.flat, 1..=3 | 17) {
            self.coordinates(text, cursor, head)?;
        } else {
            text.push(b'[');
            for at in 0..head.count {
                if at > 0 {
                    text.push(b',');
                }
                let inner = cursor.head()?;
                self.coordinates(text, cursor, inner)?;
            }
            text.push(b']');
        }
        text.push(b'}');
        Ok(())
    }

    fn coordinates(&mut self, text: &mut Vec<u8>, cursor: &mut Cursor<'_>, head: Head) -> Result<()> {
        match head.flat {
            1 => return self.vertices(text, cursor.run(1, head.stride)?, head, None),
            2 => {
                text.push(b'[');
                self.vertices(text, cursor.run(head.count, head.stride)?, head, None)?;
            }
            3 | 17 => {
                text.push(b'[');
                for ring in 0..head.count {
                    text.extend_from_slice(if ring > 0 { b",[" } else { b"[" });
                    let count = cursor.count()?;
                    self.vertices(text, cursor.run(count, head.stride)?, head, Some(ring == 0))?;
                    text.push(b']');
                }
            }
            _ => return Err(Error::new(Kind::Archive, "a geometry is not well-formed")),
        }
        text.push(b']');
        Ok(())
    }

    /// Vertices with commas between them; a ring is turned round where RFC 7946 wants it the other way.
    fn vertices(&mut self, text: &mut Vec<u8>, run: &[u8], head: Head, is_outer: Option<bool>) -> Result<()> {
        let Self { transform, xs, ys, heights } = self;
        xs.clear();
        ys.clear();
        heights.clear();
        for (x, y) in points(run, head.stride) {
            xs.push(x);
            ys.push(y);
        }
        if head.has_z {
            heights.extend(run.chunks_exact(head.stride).map(|vertex| ordinate(vertex, 2)));
        }
        if let Some(transform) = transform {
            transform.apply(xs, ys)?;
        }
        if is_outer.is_some_and(|is_outer| winding::is_wrong(xs, ys, is_outer)) {
            xs.reverse();
            ys.reverse();
            heights.reverse();
        }
        for (at, (x, y)) in xs.iter().zip(ys.iter()).enumerate() {
            if !x.is_finite() || !y.is_finite() {
                let message = "a coordinate is not a finite number, and GeoJSON has no word for that";
                return Err(Error::new(Kind::Archive, message));
            }
            text.extend_from_slice(if at > 0 { b",[" } else { b"[" });
            json(text, x);
            text.push(b',');
            json(text, y);
            if let Some(z) = heights.get(at).filter(|z| z.is_finite()) {
                text.push(b',');
                json(text, z);
            }
            text.push(b']');
        }
        Ok(())
    }
}
