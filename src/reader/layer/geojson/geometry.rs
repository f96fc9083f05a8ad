//! Writes geometries as GeoJSON: transformed coordinates, ring directions and antimeridian cuts of RFC 7946.

use std::cell::Cell;

use super::properties::write_json;
use crate::layer::antimeridian::{self, Rings, Vertex};
use crate::layer::crs::Transform;
use crate::layer::shapes::is_valid_coordinate;
use crate::layer::winding;
use crate::layer::wkb::{Cursor, GeometryHeader, ordinate, points};
use headland_base::error::{Error, Kind, Result};

/// Nesting limit of collections; real files are below it.
const MAX_DEPTH: usize = 8;

/// Degrees by which a rounded coordinate may exceed the range, about 11 m.
const MAX_EXCESS: f64 = 1e-4;

/// Coordinates to write.
pub(super) enum Target {
    AsIs,
    /// Longitude and latitude on WGS 84. `None` if they are already.
    Wgs84(Option<Transform>),
}

/// Writes a geometry. A geometry with an invalid coordinate is `null`; a diagnostic of the layer reports it.
pub(super) fn write_geometry(text: &mut Vec<u8>, wkb: &[u8], target: &Target) -> Result<()> {
    let (mut is_valid, mut has_heights) = (true, Cursor::new(wkb).read_header()?.has_z);
    Cursor::new(wkb).visit_runs(&mut |run, stride, _| {
        is_valid &= points(run, stride).all(|(x, y)| is_valid_coordinate(x) && is_valid_coordinate(y));
        has_heights = has_heights && run.chunks_exact(stride).all(|vertex| is_valid_coordinate(ordinate(vertex, 2)));
    })?;
    if !is_valid {
        text.extend_from_slice(b"null");
        return Ok(());
    }
    GeometryWriter { target, has_heights, crosses: Cell::new(false) }.write_object(
        text,
        &mut Cursor::new(wkb),
        MAX_DEPTH,
    )
}

/// Writes a geometry with these coordinates.
struct GeometryWriter<'a> {
    target: &'a Target,
    /// Whether to write Z. If any Z is `no data`, the geometry is written without.
    has_heights: bool,
    /// Whether a side of the current geometry crosses the antimeridian.
    crosses: Cell<bool>,
}

impl GeometryWriter<'_> {
    fn write_object(&self, text: &mut Vec<u8>, cursor: &mut Cursor<'_>, depth: usize) -> Result<()> {
        let (start, begin) = (text.len(), cursor.clone());
        let header = cursor.read_header()?;
        let name = match header.base_type {
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
        if header.base_type == 7 {
            let depth =
                depth.checked_sub(1).ok_or_else(|| Error::new(Kind::Archive, "a geometry is nested too deeply"))?;
            text.extend_from_slice(b"\",\"geometries\":[");
            for index in 0..header.count {
                if index > 0 {
                    text.push(b',');
                }
                self.write_object(text, cursor, depth)?;
            }
            text.extend_from_slice(b"]}");
            return Ok(());
        }
        text.extend_from_slice(b"\",\"coordinates\":");
        if matches!(header.base_type, 1..=3 | 17) {
            self.write_coordinates(text, cursor, header)?;
        } else {
            text.push(b'[');
            for index in 0..header.count {
                if index > 0 {
                    text.push(b',');
                }
                let inner = cursor.read_header()?;
                self.write_coordinates(text, cursor, inner)?;
            }
            text.push(b']');
        }
        text.push(b'}');
        // RFC 7946, section 3.1.9: geometries that cross the antimeridian should be cut. They are rare, so each is
        // written once before this is known.
        if self.crosses.take() {
            text.truncate(start);
            self.write_cut(text, begin)?;
        }
        Ok(())
    }

    /// Writes lines or polygons whose sides cross the antimeridian.
    fn write_cut(&self, text: &mut Vec<u8>, mut cursor: Cursor<'_>) -> Result<()> {
        let header = cursor.clone().read_header()?;
        let is_single = matches!(header.base_type, 2 | 3 | 17);
        let count = if is_single { 1 } else { cursor.read_header()?.count };
        let (mut lines, mut polygons): (Vec<Vec<Vertex>>, Vec<Rings>) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let inner = cursor.read_header()?;
            if inner.base_type == 2 {
                lines.extend(antimeridian::cut_line(&self.read_vertices(&mut cursor, inner, inner.count)?));
                continue;
            }
            let mut rings = Rings::new();
            for _ in 0..inner.count {
                let count = cursor.read_count()?;
                rings.push(self.read_vertices(&mut cursor, inner, count)?);
            }
            polygons.extend(antimeridian::cut_polygon(rings));
        }
        let (shape, parts) = if polygons.is_empty() {
            ("LineString", lines.iter().map(|line| self.json(line)).collect::<Result<Vec<_>>>()?)
        } else {
            let polygon = |rings: &Rings| rings.iter().map(|ring| self.json(ring)).collect::<Result<Vec<_>>>();
            let parts = polygons.iter().map(|rings| Ok(format!("[{}]", polygon(rings)?.join(","))));
            ("Polygon", parts.collect::<Result<Vec<_>>>()?)
        };
        let is_whole = is_single && parts.len() == 1;
        let (prefix, parts) = if is_whole { ("", parts.concat()) } else { ("Multi", format!("[{}]", parts.join(","))) };
        text.extend_from_slice(format!("{{\"type\":\"{prefix}{shape}\",\"coordinates\":{parts}}}").as_bytes());
        Ok(())
    }

    /// Reads vertices as longitude, latitude and height.
    fn read_vertices(&self, cursor: &mut Cursor<'_>, header: GeometryHeader, count: usize) -> Result<Vec<Vertex>> {
        let run = cursor.read_run(count, header.stride)?;
        let (mut xs, mut ys): (Vec<f64>, Vec<f64>) = points(run, header.stride).unzip();
        if let Target::Wgs84(Some(transform)) = self.target {
            transform.apply(&mut xs, &mut ys)?;
        }
        let heights =
            run.chunks_exact(header.stride).map(|vertex| if header.has_z { ordinate(vertex, 2) } else { 0.0 });
        Ok(xs.into_iter().zip(ys).zip(heights).map(|((x, y), z)| [x, y, z]).collect())
    }

    /// The positions of a line or a ring.
    fn json(&self, vertices: &[Vertex]) -> Result<String> {
        let mut text = vec![b'['];
        for (index, [x, y, z]) in vertices.iter().enumerate() {
            self.write_position(&mut text, index, (*x, *y), self.has_heights.then_some(*z))?;
        }
        text.push(b']');
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn write_coordinates(&self, text: &mut Vec<u8>, cursor: &mut Cursor<'_>, header: GeometryHeader) -> Result<()> {
        match header.base_type {
            1 => return self.write_vertices(text, cursor.read_run(1, header.stride)?, header, None),
            2 => {
                text.push(b'[');
                self.write_vertices(text, cursor.read_run(header.count, header.stride)?, header, None)?;
            }
            3 | 17 => {
                text.push(b'[');
                for ring in 0..header.count {
                    text.extend_from_slice(if ring > 0 { b",[" } else { b"[" });
                    let count = cursor.read_count()?;
                    self.write_vertices(text, cursor.read_run(count, header.stride)?, header, Some(ring == 0))?;
                    text.push(b']');
                }
            }
            _ => return Err(Error::new(Kind::Archive, "a geometry is not well-formed")),
        }
        text.push(b']');
        Ok(())
    }

    /// Writes vertices separated by commas. A ring is reversed if RFC 7946 requires it.
    fn write_vertices(
        &self,
        text: &mut Vec<u8>,
        run: &[u8],
        header: GeometryHeader,
        is_outer: Option<bool>,
    ) -> Result<()> {
        let (mut xs, mut ys): (Vec<f64>, Vec<f64>) = points(run, header.stride).unzip();
        let has_heights = header.has_z && self.has_heights;
        let vertices = run.chunks_exact(header.stride).filter(|_| has_heights);
        let mut heights: Vec<f64> = vertices.map(|vertex| ordinate(vertex, 2)).collect();
        if let Target::Wgs84(Some(transform)) = self.target {
            transform.apply(&mut xs, &mut ys)?;
        }
        if matches!(self.target, Target::Wgs84(_)) {
            let is_long = |pair: &[f64]| matches!(pair, [from, to] if (to - from).abs() > 180.0);
            self.crosses.set(self.crosses.get() || xs.windows(2).any(is_long));
        }
        if is_outer.is_some_and(|is_outer| winding::is_reversed(&xs, &ys, is_outer)) {
            xs.reverse();
            ys.reverse();
            heights.reverse();
        }
        for (index, (x, y)) in xs.iter().zip(&ys).enumerate() {
            self.write_position(text, index, (*x, *y), heights.get(index).copied())?;
        }
        Ok(())
    }

    /// Writes a position, after a comma unless it is the first.
    fn write_position(&self, text: &mut Vec<u8>, index: usize, (x, y): (f64, f64), height: Option<f64>) -> Result<()> {
        if !x.is_finite() || !y.is_finite() {
            let message = "a coordinate is not a finite number, which GeoJSON cannot represent";
            return Err(Error::new(Kind::Archive, message));
        }
        if index > 0 {
            text.push(b',');
        }
        let (x, y) = self.in_range(x, y)?;
        match height {
            Some(z) => write_json(text, &[x, y, z]),
            None => write_json(text, &[x, y]),
        }
        Ok(())
    }

    /// The coordinate in the range of RFC 7946: longitude up to 180 degrees, latitude up to 90. Maps of the world have
    /// edges that are rounded beyond it, so a small excess is removed.
    fn in_range(&self, x: f64, y: f64) -> Result<(f64, f64)> {
        let (near_x, near_y) = (x.clamp(-180.0, 180.0), y.clamp(-90.0, 90.0));
        if matches!(self.target, Target::AsIs) {
            return Ok((x, y));
        }
        if (near_x - x).abs() <= MAX_EXCESS && (near_y - y).abs() <= MAX_EXCESS {
            return Ok((near_x, near_y));
        }
        let message = format!(
            "the coordinate ({x}, {y}) is not a longitude and latitude in degrees, as GeoJSON requires: the coordinate \
             system of the layer may be wrong; write the coordinates unchanged (`as-is`), or leave the record out"
        );
        Err(Error::new(Kind::Archive, message))
    }
}
