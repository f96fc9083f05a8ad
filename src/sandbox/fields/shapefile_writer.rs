//! Writes a layer as shapefile members: `.shp`, `.shx`, `.dbf`, `.prj`, and `.cpg` if the display writes one.

use std::io::Cursor;

use chrono::{Datelike, NaiveDate};
use shapefile::record::EsriShape;

use super::attributes::{Row, Table};
use super::plane::{CoordinateSystem, Plane, Point, projection_wkt};
use headland_base::error::{Error, Kind, Result};

/// A file of an archive.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// Settings of all layers of an archive.
#[derive(Clone, Copy, Debug)]
pub(super) struct LayerWriter<'a> {
    pub(super) plane: &'a Plane,
    pub(super) system: CoordinateSystem,
    /// Date in the dbf header.
    pub(super) date: NaiveDate,
    /// Whether a `.cpg` names the encoding.
    pub(super) code_page: bool,
}

impl LayerWriter<'_> {
    fn to_shapefile_point(self, location: Point) -> shapefile::Point {
        let (x, y) = self.plane.coordinates(location, self.system);
        shapefile::Point::new(x, y)
    }

    /// Writes a layer of points.
    pub(super) fn points(
        self,
        name: &str,
        table: &Table,
        locations: impl Iterator<Item = Point>,
    ) -> Result<Vec<Member>> {
        self.layer(name, table, locations.map(|location| self.to_shapefile_point(location)))
    }

    /// Writes a layer of polygons. Each has one ring, which is open and in either direction.
    pub(super) fn polygons<R: AsRef<[Point]>>(
        self,
        name: &str,
        table: &Table,
        rings: impl Iterator<Item = R>,
    ) -> Result<Vec<Member>> {
        let shapes = rings.map(|ring| {
            let points = ring.as_ref().iter().map(|location| self.to_shapefile_point(*location)).collect();
            shapefile::Polygon::new(shapefile::PolygonRing::Outer(points))
        });
        self.layer(name, table, shapes)
    }

    fn layer<S: EsriShape>(self, name: &str, table: &Table, shapes: impl Iterator<Item = S>) -> Result<Vec<Member>> {
        let [mut shp, mut shx, mut dbf] = [(); 3].map(|()| Cursor::new(Vec::new()));
        {
            let header = table.header().map_err(|cause| failed(name, &cause))?;
            let shape_writer = shapefile::ShapeWriter::with_shx(&mut shp, &mut shx);
            let mut writer = shapefile::Writer::new(shape_writer, header.build_with_dest(&mut dbf));
            for (index, shape) in shapes.enumerate() {
                writer.write_shape_and_record(&shape, &Row { table, index }).map_err(|cause| failed(name, &cause))?;
            }
        }
        let mut dbf = dbf.into_inner();
        // The writer sets the current day and the UTF-8 code page. Displays set neither.
        let date = [self.date.year() - 1900, i32::try_from(self.date.month()).unwrap_or(1), day(self.date)];
        for (byte, value) in dbf.iter_mut().skip(1).zip(date) {
            *byte = u8::try_from(value).unwrap_or(0);
        }
        if let Some(code_page) = dbf.get_mut(29) {
            *code_page = 0;
        }
        let mut members: Vec<Member> = [("shp", shp.into_inner()), ("shx", shx.into_inner()), ("dbf", dbf)]
            .map(|(extension, bytes)| Member { name: format!("{name}.{extension}"), bytes })
            .into();
        members.push(Member { name: format!("{name}.prj"), bytes: projection_wkt(self.system).into_bytes() });
        if self.code_page {
            members.push(Member { name: format!("{name}.cpg"), bytes: b"UTF-8".to_vec() });
        }
        Ok(members)
    }
}

fn day(date: NaiveDate) -> i32 {
    i32::try_from(date.day()).unwrap_or(1)
}

fn failed(name: &str, cause: &dyn std::fmt::Display) -> Error {
    Error::new(Kind::Archive, format!("the layer `{name}` of the generated job cannot be written: {cause}"))
}
