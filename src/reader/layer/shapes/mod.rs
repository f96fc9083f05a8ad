//! Converts shapes of a .shp to ISO WKB (little endian) in the buffers of one Arrow column.
//!
//! The format is the [ESRI Shapefile Technical Description][1].
//!
//! [1]: https://www.esri.com/content/dam/esrisites/sitecore-archive/Files/Pdfs/library/whitepapers/pdfs/shapefile.pdf

mod batches;
pub(super) mod column;
mod hole_assignment;
mod multipatch;
mod ordinates;
mod pending;
mod points;
mod ring_index;
#[cfg(test)]
mod tests;
mod wkb_builder;
mod wkb_size;

use self::hole_assignment::{Ring, assemble_polygons, has_outer_hole};
pub(super) use self::ordinates::is_valid_coordinate;
use self::ordinates::{NO_DATA, are_valid_coordinates, floats, has_nan_end};
use self::wkb_builder::{Dimensions, WkbBuilder};
use crate::archive::{AllocError, Code, Record, Shape, ShapeHeader, ShapeType, Vertices, check_available, try_reserve};

impl WkbBuilder {
    /// Appends the geometry of one record.
    pub(super) fn push(
        &mut self,
        header: ShapeHeader,
        number: u64,
        record: &Record<'_>,
    ) -> std::result::Result<(), AllocError> {
        try_reserve(&mut self.ends, 1)?;
        let start = self.data.len();
        let is_value = match record {
            Record::Null => false,
            Record::Broken => {
                self.issues.add(Code::BrokenShape, number);
                false
            }
            Record::Shape(shape) | Record::Overrun(shape) | Record::Underfilled(shape) => {
                match record {
                    Record::Overrun(_) => self.issues.add(Code::ShortRecord, number),
                    Record::Underfilled(_) => self.issues.add(Code::LongRecord, number),
                    _ => {}
                }
                let (has_z, has_m) = (shape.vertices.z.is_some(), shape.vertices.m.is_some());
                if header.shape_type != Some(shape.shape_type) || has_z && !header.has_z || has_m && !self.declares_m {
                    self.issues.add(Code::MixedShapes, number);
                } else if header.has_z && !has_z {
                    self.issues.add(Code::MissingZ, number);
                }
                let is_written = self.push_shape(header, number, shape)?;
                if is_written == Some(false) {
                    self.issues.add(Code::BrokenShape, number);
                }
                is_written == Some(true)
            }
        };
        if !is_value {
            self.data.truncate(start);
            self.push_null();
        }
        self.ends.push(i64::try_from(self.data.len()).unwrap_or(i64::MAX));
        Ok(())
    }

    /// Returns `Some(true)` if the shape was appended, `None` if it is empty and `Some(false)` if it is broken.
    fn push_shape(
        &mut self,
        header: ShapeHeader,
        number: u64,
        shape: &Shape<'_>,
    ) -> std::result::Result<Option<bool>, AllocError> {
        let vertices = shape.vertices;
        let measured = vertices.m.is_some_and(|m| floats(m).any(|value| value > NO_DATA));
        let has_m = if self.declares_m { *self.has_m.get_or_insert(measured) } else { measured };
        self.needs_m |= measured && !has_m;
        let dimensions = Dimensions { z: header.has_z || vertices.z.is_some(), m: has_m };
        if !are_valid_coordinates(vertices.xy) {
            if has_nan_end(shape) {
                self.issues.add(Code::NoDataRing, number);
                return Ok(None);
            }
            self.issues.add(Code::NoDataCoordinate, number);
        }
        if has_m && !measured {
            self.issues.add(Code::MissingM, number);
        } else if has_m && vertices.m.is_some_and(|m| floats(m).any(|value| value < NO_DATA)) {
            self.issues.add(Code::NoDataM, number);
        }
        if vertices.z.is_some_and(|z| !are_valid_coordinates(z)) {
            self.issues.add(Code::NoDataZ, number);
        }
        // The pushes below need no further reservation.
        try_reserve(&mut self.data, wkb_size::encoded_size(shape, dimensions))?;
        let count = vertices.xy.len() / 16;
        Ok(match shape.shape_type {
            ShapeType::Point => {
                self.begin_geometry(1, dimensions);
                self.push_coordinates(vertices, 0, 1, dimensions);
                Some(true)
            }
            ShapeType::MultiPoint if count == 0 => None,
            ShapeType::MultiPoint => {
                self.begin_geometry(4, dimensions);
                self.push_count(count);
                for index in 0..count {
                    self.begin_member(1, dimensions);
                    self.push_coordinates(vertices, index, index + 1, dimensions);
                }
                Some(true)
            }
            ShapeType::PolyLine | ShapeType::Polygon if shape.parts.is_empty() => None,
            ShapeType::PolyLine | ShapeType::Polygon if shape.parts == [0; 4] && count > 0 => {
                self.push_single_part(vertices, shape.shape_type, count, dimensions, number);
                Some(true)
            }
            ShapeType::PolyLine | ShapeType::Polygon | ShapeType::MultiPatch => {
                try_reserve(&mut self.parts, shape.parts.len() / 4)?;
                check_available(wkb_size::scratch_size(shape))?;
                // Reuses the vector, so that no record allocates its own.
                let mut parts = std::mem::take(&mut self.parts);
                let is_written = self.read_parts(shape, count, number, &mut parts)
                    && match shape.shape_type {
                        ShapeType::PolyLine => self.push_lines(vertices, &parts, dimensions, number),
                        ShapeType::Polygon => self.push_polygons(vertices, &parts, dimensions, number),
                        _ => multipatch::write(self, shape, &parts, dimensions, number),
                    };
                self.parts = parts;
                Some(is_written)
            }
        })
    }

    /// Appends a line, or a polygon of one ring, of all vertices.
    fn push_single_part(
        &mut self,
        vertices: Vertices<'_>,
        shape_type: ShapeType,
        count: usize,
        dimensions: Dimensions,
        number: u64,
    ) {
        let is_ring = shape_type == ShapeType::Polygon;
        let is_open = is_ring && vertices.differ(0, count - 1);
        let length = count + usize::from(is_open);
        if is_open {
            self.issues.add(Code::OpenRing, number);
        }
        if length < if is_ring { 4 } else { 2 } {
            self.issues.add(Code::ShortPart, number);
        }
        // Writes byte order, type, ring count (polygons) and vertex count as one value.
        let code = u128::from(self.geometry_code(if is_ring { 3 } else { 2 }, dimensions));
        let length = u128::from(u32::try_from(length).unwrap_or(u32::MAX));
        let (head, size) =
            if is_ring { (1 | code << 8 | 1 << 40 | length << 72, 13) } else { (1 | code << 8 | length << 40, 9) };
        let start = self.data.len();
        self.data.extend_from_slice(&head.to_le_bytes());
        self.data.truncate(start + size);
        self.push_coordinates(vertices, 0, count, dimensions);
        if is_open {
            self.push_coordinates(vertices, 0, 1, dimensions);
        }
    }

    /// Fills `parts` with start and end of each part. Returns false if they are not in order inside the shape.
    fn read_parts(&mut self, shape: &Shape<'_>, count: usize, number: u64, parts: &mut Vec<(usize, usize)>) -> bool {
        let start =
            |bytes: &[u8]| bytes.try_into().ok().and_then(|bytes| usize::try_from(i32::from_le_bytes(bytes)).ok());
        parts.clear();
        for bytes in shape.parts.chunks_exact(4) {
            let Some(mut start) = start(bytes) else { return false };
            if let Some((_, end)) = parts.last_mut() {
                *end = start;
            } else if start != 0 {
                start = 0;
                self.issues.add(Code::PartStart, number);
            }
            parts.push((start, count));
        }
        parts.iter().all(|(start, end)| start < end)
    }

    fn push_lines(
        &mut self,
        vertices: Vertices<'_>,
        parts: &[(usize, usize)],
        dimensions: Dimensions,
        number: u64,
    ) -> bool {
        let single = parts.len() == 1;
        if !single {
            self.begin_geometry(5, dimensions);
            self.push_count(parts.len());
        }
        for (start, end) in parts {
            if single {
                self.begin_geometry(2, dimensions);
            } else {
                self.begin_member(2, dimensions);
            }
            if end - start < 2 {
                self.issues.add(Code::ShortPart, number);
            }
            self.push_count(end - start);
            self.push_coordinates(vertices, *start, *end, dimensions);
        }
        true
    }

    fn push_polygons(
        &mut self,
        vertices: Vertices<'_>,
        parts: &[(usize, usize)],
        dimensions: Dimensions,
        number: u64,
    ) -> bool {
        if let [part] = parts {
            self.begin_geometry(3, dimensions);
            self.push_count(1);
            self.push_ring(vertices, *part, dimensions, number);
            return true;
        }
        let rings: Vec<Ring> = parts
            .iter()
            .map(|(start, end)| Ring::new(vertices.xy.get(start * 16..end * 16).unwrap_or_default()))
            .collect();
        let assembled = assemble_polygons(&rings, dimensions.z || dimensions.m);
        if assembled.as_ref().is_some_and(|polygons| has_outer_hole(&rings, polygons)) {
            self.issues.add(Code::RingDirection, number);
        }
        let polygons = assembled.unwrap_or_else(|| {
            self.issues.add(Code::EntangledRings, number);
            (0..rings.len()).map(|ring| vec![ring]).collect()
        });
        let single = polygons.len() == 1;
        if !single {
            self.begin_geometry(6, dimensions);
            self.push_count(polygons.len());
        }
        for polygon in polygons {
            if single {
                self.begin_geometry(3, dimensions);
            } else {
                self.begin_member(3, dimensions);
            }
            self.push_count(polygon.len());
            for part in polygon.iter().filter_map(|ring| parts.get(*ring)) {
                self.push_ring(vertices, *part, dimensions, number);
            }
        }
        true
    }
}
