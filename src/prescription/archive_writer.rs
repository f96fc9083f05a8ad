//! Writes zones as the zip of one shapefile, always with the same bytes for the same zones.

use std::io::{Cursor, Write as _};

use dbase::{FieldName, TableWriterBuilder};
use shapefile::dbase;
use shapefile::{Point, Polygon, PolygonRing};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::lattice::{Ring, to_degrees};
use super::merge::Zone;
use headland_base::error::{Error, Kind, Result};

/// WGS 84 in the spelling that all readers know.
const PRJ: &str = "GEOGCS[\"GCS_WGS_1984\",DATUM[\"D_WGS_1984\",SPHEROID[\"WGS_1984\",6378137.0,298.257223563]],\
                   PRIMEM[\"Greenwich\",0.0],UNIT[\"Degree\",0.0174532925199433]]";

/// The date in the header of the .dbf: years since 1900, month and day.
const DATE: [u8; 3] = [100, 1, 1];

/// What is written with the zones.
#[derive(Clone, Debug)]
pub(super) struct Texts {
    /// The stem of the files.
    pub(super) name: String,
    pub(super) product: Option<String>,
    pub(super) unit: String,
}

/// A row of the .dbf.
struct Row<'a> {
    rate: f64,
    texts: &'a Texts,
}

impl dbase::WritableRecord for Row<'_> {
    fn write_using<W: std::io::Write>(
        &self,
        writer: &mut dbase::FieldWriter<'_, W>,
    ) -> std::result::Result<(), dbase::FieldError> {
        writer.write_next_field_value(&Some(self.rate))?;
        if let Some(product) = &self.texts.product {
            writer.write_next_field_value(&product.as_str())?;
        }
        writer.write_next_field_value(&self.texts.unit.as_str())
    }
}

/// Writes the zip.
pub(super) fn write(zones: &[Zone], decimals: usize, texts: &Texts) -> Result<Vec<u8>> {
    let failed = |cause: &dyn std::fmt::Display| {
        Error::new(Kind::Value, format!("the prescription cannot be written as a shapefile: {cause}"))
    };
    let [mut shp, mut shx, mut dbf] = [(); 3].map(|()| Cursor::new(Vec::new()));
    {
        let table = table(zones, decimals, texts).map_err(|cause| failed(&cause))?;
        let shapes = shapefile::ShapeWriter::with_shx(&mut shp, &mut shx);
        let mut writer = shapefile::Writer::new(shapes, table.build_with_dest(&mut dbf));
        for zone in zones {
            let row = Row { rate: zone.rate, texts };
            writer.write_shape_and_record(&to_shape(zone), &row).map_err(|cause| failed(&cause))?;
        }
    }
    let mut dbf = dbf.into_inner();
    // The writer sets the current day, which would make each file another one.
    for (byte, value) in dbf.iter_mut().skip(1).zip(DATE) {
        *byte = value;
    }
    let files = [
        ("shp", shp.into_inner()),
        ("shx", shx.into_inner()),
        ("dbf", dbf),
        ("prj", PRJ.as_bytes().to_vec()),
        ("cpg", b"UTF-8".to_vec()),
    ];
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (extension, bytes) in files {
        zip.start_file(format!("{}.{extension}", texts.name), SimpleFileOptions::default())
            .map_err(|cause| failed(&cause))?;
        zip.write_all(&bytes).map_err(|cause| failed(&cause))?;
    }
    Ok(zip.finish().map_err(|cause| failed(&cause))?.into_inner())
}

/// The columns: the rate first, because some displays use the first numeric one.
fn table(zones: &[Zone], decimals: usize, texts: &Texts) -> std::result::Result<TableWriterBuilder, &'static str> {
    let width = zones.iter().map(|zone| format!("{:.decimals$}", zone.rate).len()).max().unwrap_or(0);
    let width = u8::try_from(width.max(10)).unwrap_or(u8::MAX);
    let length = |text: &str| u8::try_from(text.len().clamp(1, 254)).unwrap_or(254);
    let mut table = TableWriterBuilder::new().add_numeric_field(
        FieldName::try_from("RATE")?,
        width,
        u8::try_from(decimals).unwrap_or(0),
    );
    if let Some(product) = &texts.product {
        table = table.add_character_field(FieldName::try_from("PRODUCT")?, length(product));
    }
    Ok(table.add_character_field(FieldName::try_from("UNIT")?, length(&texts.unit)))
}

/// A polygon of type 5, whose outer rings run clockwise and holes anticlockwise.
fn to_shape(zone: &Zone) -> Polygon {
    let points = |ring: &Ring| -> Vec<Point> {
        let mut points: Vec<Point> =
            ring.iter().rev().map(|vertex| to_degrees(*vertex)).map(|[x, y]| Point::new(x, y)).collect();
        points.extend(points.first().copied());
        points
    };
    let mut rings = Vec::new();
    for polygon in &zone.polygons {
        for (number, ring) in polygon.iter().enumerate() {
            rings.push(if number == 0 { PolygonRing::Outer(points(ring)) } else { PolygonRing::Inner(points(ring)) });
        }
    }
    Polygon::with_rings(rings)
}
