//! Writes geometries as GeoJSON: transformed coordinates, ring directions of RFC 7946, shortest floats.

use super::shortest_float::{FloatFormatter, ShortText};
use crate::error::{Error, Kind, Result};
use crate::layer::crs::Transform;
use crate::layer::shapes::is_valid_coordinate;
use crate::layer::winding;
use crate::layer::wkb::{Cursor, GeometryHeader, flat_point, ordinate, points};

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

/// Writes geometries with reused buffers.
pub(super) struct GeometryWriter<'a> {
    transform: Option<&'a Transform>,
    /// Whether coordinates must be longitudes and latitudes.
    is_wgs84: bool,
    xs: Vec<f64>,
    ys: Vec<f64>,
    heights: Vec<f64>,
    /// Whether the geometry has Z. If any Z is `no data`, it is written without.
    has_heights: bool,
    formatters: [FloatFormatter; 3],
    short: ShortText,
}

impl<'a> GeometryWriter<'a> {
    /// Creates a writer for these coordinates.
    pub(super) fn new(target: &'a Target) -> Self {
        let (transform, is_wgs84) = match target {
            Target::AsIs => (None, false),
            Target::Wgs84(transform) => (transform.as_ref(), true),
        };
        let formatters = [FloatFormatter::new(), FloatFormatter::new(), FloatFormatter::new()];
        Self {
            transform,
            is_wgs84,
            xs: Vec::new(),
            ys: Vec::new(),
            heights: Vec::new(),
            has_heights: false,
            formatters,
            short: ShortText::default(),
        }
    }

    /// Writes a geometry. A geometry with an invalid coordinate is `null`; a diagnostic of the layer reports it.
    pub(super) fn write_geometry(&mut self, text: &mut Vec<u8>, wkb: &[u8]) -> Result<()> {
        if let Some((x, y)) = flat_point(wkb) {
            if !is_valid_coordinate(x) || !is_valid_coordinate(y) {
                text.extend_from_slice(b"null");
                return Ok(());
            }
            if self.transform.is_none() {
                let (x, y) = self.in_range(x, y)?;
                text.extend_from_slice(b"{\"type\":\"Point\",\"coordinates\":[");
                self.write_number(text, 0, x);
                text.push(b',');
                self.write_number(text, 1, y);
                text.extend_from_slice(b"]}");
                return Ok(());
            }
        }
        let (mut is_valid, mut has_heights) = (true, Cursor::new(wkb).read_header()?.has_z);
        Cursor::new(wkb).visit_runs(&mut |run, stride, _| {
            is_valid &= points(run, stride).all(|(x, y)| is_valid_coordinate(x) && is_valid_coordinate(y));
            has_heights =
                has_heights && run.chunks_exact(stride).all(|vertex| is_valid_coordinate(ordinate(vertex, 2)));
        })?;
        self.has_heights = has_heights;
        if !is_valid {
            text.extend_from_slice(b"null");
            return Ok(());
        }
        self.write_object(text, &mut Cursor::new(wkb), MAX_DEPTH)
    }

    fn write_object(&mut self, text: &mut Vec<u8>, cursor: &mut Cursor<'_>, depth: usize) -> Result<()> {
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
        Ok(())
    }

    fn write_coordinates(&mut self, text: &mut Vec<u8>, cursor: &mut Cursor<'_>, header: GeometryHeader) -> Result<()> {
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
        &mut self,
        text: &mut Vec<u8>,
        run: &[u8],
        header: GeometryHeader,
        is_outer: Option<bool>,
    ) -> Result<()> {
        let Self { transform, xs, ys, heights, has_heights, .. } = self;
        xs.clear();
        ys.clear();
        heights.clear();
        for (x, y) in points(run, header.stride) {
            xs.push(x);
            ys.push(y);
        }
        if header.has_z && *has_heights {
            heights.extend(run.chunks_exact(header.stride).map(|vertex| ordinate(vertex, 2)));
        }
        if let Some(transform) = transform {
            // The last vertex of a ring equals the first. It is not transformed again, since the transform dominates
            // the cost.
            let last = xs.len().saturating_sub(1);
            let is_closed = last > 0 && xs.first() == xs.last() && ys.first() == ys.last();
            let count = if is_closed { last } else { xs.len() };
            transform.apply(xs.get_mut(..count).unwrap_or_default(), ys.get_mut(..count).unwrap_or_default())?;
            if is_closed {
                for ordinates in [&mut *xs, ys] {
                    if let [first, .., last] = ordinates.as_mut_slice() {
                        *last = *first;
                    }
                }
            }
        }
        if is_outer.is_some_and(|is_outer| winding::is_reversed(xs, ys, is_outer)) {
            xs.reverse();
            ys.reverse();
            heights.reverse();
        }
        let (xs, ys, heights) = (std::mem::take(xs), std::mem::take(ys), std::mem::take(heights));
        let outcome = self.write_positions(text, &xs, &ys, &heights);
        (self.xs, self.ys, self.heights) = (xs, ys, heights);
        outcome
    }

    /// Writes positions separated by commas. The last position of a ring is copied from the first.
    fn write_positions(&mut self, text: &mut Vec<u8>, xs: &[f64], ys: &[f64], heights: &[f64]) -> Result<()> {
        let bits =
            |index: usize| [xs, ys, heights].map(|ordinates| ordinates.get(index).map(|ordinate| ordinate.to_bits()));
        let last = xs.len().saturating_sub(1);
        let begin = text.len();
        let mut first = begin..begin;
        for (index, (x, y)) in xs.iter().zip(ys).enumerate() {
            if index > 0 {
                text.push(b',');
                if index == last && bits(index) == bits(0) {
                    text.extend_from_within(first);
                    break;
                }
            }
            if !x.is_finite() || !y.is_finite() {
                let message = "a coordinate is not a finite number, which GeoJSON cannot represent";
                return Err(Error::new(Kind::Archive, message));
            }
            let (x, y) = self.in_range(*x, *y)?;
            text.push(b'[');
            self.write_number(text, 0, x);
            text.push(b',');
            self.write_number(text, 1, y);
            if let Some(z) = heights.get(index) {
                text.push(b',');
                self.write_number(text, 2, *z);
            }
            text.push(b']');
            if index == 0 {
                first.end = text.len();
            }
        }
        Ok(())
    }

    /// The coordinate in the range of RFC 7946: longitude up to 180 degrees, latitude up to 90. Maps of the world have
    /// edges that are rounded beyond it, so a small excess is removed.
    fn in_range(&self, x: f64, y: f64) -> Result<(f64, f64)> {
        let (near_x, near_y) = (x.clamp(-180.0, 180.0), y.clamp(-90.0, 90.0));
        if !self.is_wgs84 {
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

    fn write_number(&mut self, text: &mut Vec<u8>, axis: usize, ordinate: f64) {
        if let Some(formatter) = self.formatters.get_mut(axis) {
            formatter.format(&mut self.short, ordinate);
            self.short.append_to(text);
        }
    }
}
