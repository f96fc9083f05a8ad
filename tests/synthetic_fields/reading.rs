//! Reads archives with independent readers: the `zip` and `shapefile` crates.

use std::collections::{BTreeMap, HashMap};
use std::io::{Cursor, Read};

use headland::sandbox::fields::{Job, Truth};
use shapefile::dbase;

/// The members of a zip, in its order.
pub(crate) fn members(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    (0..zip.len())
        .map(|index| {
            let mut member = zip.by_index(index).unwrap();
            let mut bytes = Vec::new();
            member.read_to_end(&mut bytes).unwrap();
            (member.name().to_owned(), bytes)
        })
        .collect()
}

/// The files of a layer by extension in lower case, in any folder of the archive.
pub(crate) fn layer_files(archive: &[u8], layer: &str) -> BTreeMap<String, Vec<u8>> {
    members(archive)
        .into_iter()
        .filter_map(|(name, bytes)| {
            let file = name.rsplit('/').next()?;
            let (stem, extension) = file.rsplit_once('.')?;
            (stem == layer).then(|| (extension.to_ascii_lowercase(), bytes))
        })
        .collect()
}

/// Results of an independent reader for a layer.
pub(crate) struct Reading {
    pub(crate) rows: u64,
    pub(crate) sums: BTreeMap<String, f64>,
    pub(crate) nulls: usize,
    /// The sum over the records of the product of the columns of the total.
    pub(crate) product: f64,
    /// The sum of width times distance.
    pub(crate) swept: f64,
    /// The area of the polygons; 0 for points.
    pub(crate) polygons: f64,
    /// The area of the bounding box of all positions, in m².
    pub(crate) extent: f64,
}

fn number(value: &dbase::FieldValue) -> Option<f64> {
    match value {
        dbase::FieldValue::Numeric(number) => *number,
        _ => None,
    }
}

pub(crate) fn read(job: &Job, truth: &Truth, archive: &[u8]) -> Reading {
    let files = layer_files(archive, &truth.layer);
    let open = |extension: &str| Cursor::new(files[extension].clone());
    let shapes = shapefile::ShapeReader::with_shx(open("shp"), open("shx")).unwrap();
    let mut reader = shapefile::Reader::new(shapes, dbase::Reader::new(open("dbf")).unwrap());
    let projected = String::from_utf8_lossy(&files["prj"]).starts_with("PROJCS");
    let mut reading =
        Reading { rows: 0, sums: BTreeMap::new(), nulls: 0, product: 0.0, swept: 0.0, polygons: 0.0, extent: 0.0 };
    let [mut west, mut south, mut east, mut north] = [f64::MAX, f64::MAX, f64::MIN, f64::MIN];
    for item in reader.iter_shapes_and_records() {
        let (shape, record) = item.unwrap();
        reading.rows += 1;
        let cells: HashMap<String, dbase::FieldValue> = record.into_iter().collect();
        for (name, cell) in &cells {
            if let Some(value) = number(cell) {
                *reading.sums.entry(name.clone()).or_default() += value;
            } else if matches!(cell, dbase::FieldValue::Numeric(None)) {
                reading.nulls += 1;
            }
        }
        let cell = |name: &str| number(&cells[name]).unwrap();
        reading.product += truth.total.columns.iter().map(|name| cell(name)).product::<f64>();
        reading.swept += cell("SWATHWIDTH") * cell("DISTANCE");
        let points = match &shape {
            shapefile::Shape::Point(point) => vec![*point],
            shapefile::Shape::Polygon(polygon) => {
                assert_eq!(polygon.rings().len(), 1, "{}", job.name);
                reading.polygons += area(polygon.rings()[0].points(), projected);
                polygon.rings()[0].points().to_vec()
            }
            other => panic!("{}: {other}", job.name),
        };
        for point in points {
            (west, south, east, north) = (west.min(point.x), south.min(point.y), east.max(point.x), north.max(point.y));
        }
    }
    let around = [(west, south), (east, south), (east, north), (west, north), (west, south)];
    reading.extent = area(&around.map(|(x, y)| shapefile::Point::new(x, y)), projected);
    reading
}

/// The area of a small ring in m²: degrees by the scale at its centre on the ellipsoid, or metres of UTM.
fn area(ring: &[shapefile::Point], projected: bool) -> f64 {
    let (x, y) = (ring[0].x, ring[0].y);
    let doubled: f64 = ring.windows(2).map(|w| (w[0].x - x) * (w[1].y - y) - (w[1].x - x) * (w[0].y - y)).sum();
    if projected {
        return doubled.abs() / 2.0;
    }
    let squeeze = 1.0 - 0.006_694_379_990_14 * y.to_radians().sin().powi(2);
    let meridian = 6_378_137.0 * (1.0 - 0.006_694_379_990_14) / squeeze.powf(1.5);
    let parallel = 6_378_137.0 / squeeze.sqrt() * y.to_radians().cos();
    doubled.abs() / 2.0 * meridian.to_radians() * parallel.to_radians()
}
