//! Writes square cells as [GeoTIFF 1.1](https://docs.ogc.org/is/19-008r4/19-008r4.html), and the style for QGIS with them.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use arrow_schema::Field;
use tiff::TiffError;
use tiff::encoder::{TiffEncoder, colortype::Gray64Float};
use tiff::tags::Tag;

use super::crs::Crs;
use super::picture::text::escape;
use super::qgis_style;
use super::wkb::{Cursor, points};
use super::{Cancel, Layer};
use headland_base::error::{Error, Kind, Result};
use headland_base::part_file::Complete;

/// Largest deviation of the edges of cells from a lattice, in sides.
const TOLERANCE: f64 = 1e-3;

/// Largest number of cells of a raster, empty ones included: 2 GiB of a file that has at most 4 GiB.
const MAX_CELLS: f64 = 268_435_456.0;

/// The tag of GDAL's description of bands, which QGIS shows.
const GDAL_METADATA: u16 = 42_112;

/// Identifiers of keys, and their values.
const MODEL_TYPE: u16 = 1024;
const RASTER_TYPE: u16 = 1025;
const PROJECTED_CITATION: u16 = 3073;
/// The value of [`MODEL_TYPE`], and the key of the code.
const PROJECTED: (u16, u16) = (1, 3072);
const GEOGRAPHIC: (u16, u16) = (2, 2048);
const PIXEL_IS_AREA: u16 = 1;
const USER_DEFINED: u16 = 32_767;

/// The cells of a raster, row by row from the north.
struct Raster {
    width: u32,
    height: u32,
    /// The west and north edges, and the side of a cell.
    west: f64,
    north: f64,
    side: f64,
    /// The offset of each record of the layer.
    offsets: Vec<usize>,
}

impl Layer {
    /// Writes a column of square cells, such as those of a grid, as a `.tif` in the system of the layer, and a `.qml` with
    /// the colours of a map of the column, with `unit` in its labels. Both files appear, or neither.
    pub fn write_geotiff(&self, path: &Path, index: usize, unit: Option<&str>, cancel: &Cancel) -> Result<()> {
        let field = self.schema.field(index);
        if !field.data_type().is_numeric() {
            let message = format!("a raster holds numbers: column `{}` contains none", field.name());
            return Err(Error::new(Kind::Value, message));
        }
        let style_path = path.with_extension("qml");
        qgis_style::check_replaceable(&style_path)?;
        let raster = self.raster()?;
        let crs = self.known_crs()?;
        let mut cells = vec![f64::NAN; raster.width as usize * raster.height as usize];
        for (offset, value) in raster.offsets.iter().zip(self.numbers(index)?) {
            if let (Some(cell), Some(value)) = (cells.get_mut(*offset), value) {
                *cell = value;
            }
        }
        let image = Complete::write(path, |out| {
            raster.write(out, &cells, field, crs).map_err(|cause| match cause {
                TiffError::IoError(cause) => Error::file("write", path, &cause),
                other => Error::new(Kind::File, format!("cannot write `{}`: {other}", path.display())),
            })
        })?;
        let text = qgis_style::of_raster(&self.number_classes(index, unit)?);
        let style = Complete::write(&style_path, |out| {
            out.write_all(text.as_bytes()).map_err(|cause| Error::file("write", &style_path, &cause))
        })?;
        cancel.check()?;
        // Without the raster, a style of its own remains only if it replaced an earlier one.
        let is_new = !style_path.exists();
        style.replace_target()?;
        image.replace_target().inspect_err(|_| {
            if is_new {
                let _ = std::fs::remove_file(&style_path);
            }
        })
    }

    fn raster(&self) -> Result<Raster> {
        let mut squares = Vec::with_capacity(self.len());
        for (row, wkb) in self.geometries().enumerate() {
            squares.push(wkb.and_then(square).ok_or_else(|| no_cells(&format!("row {row} is no square")))?);
        }
        let Some([_, _, side]) = squares.first().copied() else {
            return Err(no_cells("the layer has no geometry"));
        };
        let bound = |start: [f64; 2], choose: fn(f64, f64) -> f64| {
            squares.iter().fold(start, |[x, y], [to_x, to_y, _]| [choose(x, *to_x), choose(y, *to_y)])
        };
        let [west, south] = bound([f64::INFINITY; 2], f64::min);
        let [east, north] = bound([west, south], f64::max);
        let [columns, lines] = [east - west, north - south].map(|length| (length / side).round() + 1.0);
        if columns * lines > MAX_CELLS {
            return Err(no_cells(&format!("a raster of them has {columns} x {lines} cells, more than {MAX_CELLS}")));
        }
        let mut taken = HashSet::with_capacity(squares.len());
        let mut offsets = Vec::with_capacity(squares.len());
        for (row, [x, y, own]) in squares.into_iter().enumerate() {
            let place = [(x - west) / side, (y - south) / side];
            if (own / side - 1.0).abs() > TOLERANCE || place.iter().any(|at| (at - at.round()).abs() > TOLERANCE) {
                return Err(no_cells(&format!("row {row} is off the lattice of the first one")));
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most MAX_CELLS")]
            let offset = ((lines - 1.0 - place[1].round()) * columns + place[0].round()) as usize;
            if !taken.insert(offset) {
                let message = "several rows have one cell, such as those of crops or of `by`; make the grid of one of them, \
                               or with `by=[]`";
                return Err(no_cells(message));
            }
            offsets.push(offset);
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most MAX_CELLS")]
        let [width, height] = [columns, lines].map(|count| count as u32);
        Ok(Raster { width, height, west, north: south + lines * side, side, offsets })
    }
}

fn no_cells(reason: &str) -> Error {
    let message =
        format!("only square cells, such as those of `headland.grid` without `plots`, form a raster: {reason}");
    Error::new(Kind::Value, message)
}

/// West, south and side of a square with sides along the axes.
fn square(wkb: &[u8]) -> Option<[f64; 3]> {
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    let mut corners = Vec::with_capacity(5);
    let visit = &mut |run: &[u8], stride, _| corners.extend(points(run, stride));
    Cursor::new(wkb).visit_runs(visit).ok()?;
    for (x, y) in &corners {
        low = [low[0].min(*x), low[1].min(*y)];
        high = [high[0].max(*x), high[1].max(*y)];
    }
    let side = high[0] - low[0];
    let is_edge = |value: f64, low: f64, high: f64| (value - low).min(high - value) <= TOLERANCE * side;
    let is_square = corners.len() == 5
        && side > 0.0
        && (high[1] - low[1] - side).abs() <= TOLERANCE * side
        && corners.iter().all(|(x, y)| is_edge(*x, low[0], high[0]) && is_edge(*y, low[1], high[1]));
    is_square.then_some([low[0], low[1], side])
}

impl Raster {
    fn write(
        &self,
        out: &mut BufWriter<&File>,
        cells: &[f64],
        field: &Field,
        crs: &Crs,
    ) -> std::result::Result<(), TiffError> {
        let mut file = TiffEncoder::new(out)?;
        let mut image = file.new_image::<Gray64Float>(self.width, self.height)?;
        let tags = image.encoder();
        tags.write_tag(Tag::ModelPixelScaleTag, &[self.side, self.side, 0.0][..])?;
        tags.write_tag(Tag::ModelTiepointTag, &[0.0, 0.0, 0.0, self.west, self.north, 0.0][..])?;
        let (keys, texts) = geo_keys(crs);
        tags.write_tag(Tag::GeoKeyDirectoryTag, &keys[..])?;
        if !texts.is_empty() {
            tags.write_tag(Tag::GeoAsciiParamsTag, &*texts)?;
        }
        tags.write_tag(Tag::GdalNodata, "nan")?;
        tags.write_tag(Tag::Unknown(GDAL_METADATA), &*band_metadata(field))?;
        image.write_data(cells)
    }
}

/// The directory of keys, and the texts that it refers to.
fn geo_keys(crs: &Crs) -> (Vec<u16>, String) {
    let mut model_type = USER_DEFINED;
    let mut texts = String::new();
    let last = if let Some(code) = crs.epsg().and_then(|code| u16::try_from(code).ok()) {
        let (model, key) = if crs.wkt().starts_with("GEOG") { GEOGRAPHIC } else { PROJECTED };
        model_type = model;
        [key, 0, 1, code]
    } else {
        // GDAL reads a system without a code from this citation of a user-defined model. Texts are ASCII, and `|` ends one.
        let wkt = crs.wkt().replace(|letter: char| !letter.is_ascii() || letter == '|', "_");
        texts = format!("ESRI PE String = {wkt}|");
        let length = u16::try_from(texts.len()).unwrap_or(0);
        [PROJECTED_CITATION, Tag::GeoAsciiParamsTag.to_u16(), length, 0]
    };
    let keys = [[1, 1, 1, 3], [MODEL_TYPE, 0, 1, model_type], [RASTER_TYPE, 0, 1, PIXEL_IS_AREA], last];
    (keys.into_iter().flatten().collect(), texts)
}

/// Name and unit of the band, as GDAL writes them: escaped once more than XML asks.
fn band_metadata(field: &Field) -> String {
    let unit = field.metadata().get("unit").map(String::as_str).unwrap_or_default();
    let name = if unit.is_empty() { field.name().clone() } else { format!("{} ({unit})", field.name()) };
    let item = |name: &str, role: &str, text: &str| {
        format!("<Item name=\"{name}\" sample=\"0\" role=\"{role}\">{}</Item>", escape(&escape(text)))
    };
    let items = item("DESCRIPTION", "description", &name) + &item("UNITTYPE", "unittype", unit);
    // The tag is ASCII.
    let ascii = |letter: char| if letter.is_ascii() { letter.to_string() } else { format!("&#{};", u32::from(letter)) };
    format!("<GDALMetadata>{}</GDALMetadata>", items.chars().map(ascii).collect::<String>())
}
