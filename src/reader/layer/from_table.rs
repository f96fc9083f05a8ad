//! Builds a layer from the columns of a table of another library, after checks.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, LargeBinaryArray, StructArray};
use arrow_schema::{FieldRef, Schema};

use super::Layer;
use super::crs::{Crs, OwnPlane};
use super::issues::IssueCounter;
use super::pickle::type_name;
use super::schema::geometry_field;
use super::units::Unit;
use super::wkb::check_wkb;
use crate::archive::{Code, Diagnostic};
use headland_base::error::{Error, Kind, Result};

impl Layer {
    /// Builds a layer from the columns of a table. Units and provenance are metadata of the fields.
    ///
    /// `source` is the kind of table, `geometry` the index of the column of ISO WKB. `systems` is the coordinate system as
    /// code or WKT, the preferred one first. A type that layers do not have and malformed WKB are errors.
    pub fn from_table(
        source: &str,
        table: &StructArray,
        geometry: Option<usize>,
        systems: &[String],
        metadata: Vec<(String, String)>,
    ) -> Result<Self> {
        let crs = systems.iter().find_map(|text| read_crs(text));
        let prj = crs.as_ref().map(Crs::wkt).or(systems.last().map(String::as_str));
        let mut fields: Vec<FieldRef> = table.fields().to_vec();
        let (mut types, mut diagnostics) = (BTreeSet::new(), Vec::new());
        if fields.iter().any(|field| type_name(field.data_type()).is_none()) || table.null_count() > 0 {
            return Err(Error::new(Kind::Value, "a column has a type that layers do not have"));
        }
        if let Some(index) = geometry {
            let column = table.columns().get(index).and_then(|array| array.as_any().downcast_ref::<LargeBinaryArray>());
            let (Some(field), Some(column)) = (fields.get_mut(index), column) else {
                return Err(Error::new(Kind::Value, "the geometry column does not contain bytes"));
            };
            diagnostics.extend(check_geometries(column, &mut types)?);
            *field = Arc::new(geometry_field(&[], crs.as_ref(), prj).with_name(field.name()));
        }
        for field in &mut fields {
            let spelling = field.metadata().get("unit").map(|unit| Unit::spell(unit));
            if let Some(spelling) = spelling {
                let mut metadata = field.metadata().clone();
                metadata.insert("unit".to_owned(), spelling);
                *field = Arc::new(field.as_ref().clone().with_metadata(metadata));
            }
        }
        diagnostics.extend(crs.as_ref().and_then(OwnPlane::new).map(|plane| plane.diagnostic()));
        if crs.is_none() && !systems.is_empty() {
            let message = "the coordinate system of the table is not supported, so it is unknown";
            diagnostics.push(Diagnostic::new(Code::CrsUnknown, message));
        }
        let layer = Self {
            geometry,
            prj: prj.map(str::to_owned),
            crs,
            diagnostics,
            types: types.into_iter().collect(),
            ..Self::new(source, source, Arc::new(Schema::new(fields)))
        };
        let layer = if metadata.is_empty() { layer } else { layer.with_metadata(metadata) };
        let columns: Vec<ArrayRef> = table.columns().to_vec();
        layer.with_batch(columns, table.len())
    }
}

fn read_crs(text: &str) -> Option<Crs> {
    match Crs::from_code(text) {
        // The text of this code is that of layers that were transformed.
        Some(Ok(crs)) if crs.epsg() == Some(4326) => Some(Crs::wgs84()),
        Some(crs) => crs.ok(),
        None => Crs::from_wkt(text).ok(),
    }
}

/// Checks the WKB of each record, and collects the types. Lines and polygons whose coordinates are not all finite are a
/// diagnostic; a point without coordinates is an empty one.
fn check_geometries(column: &LargeBinaryArray, types: &mut BTreeSet<u32>) -> Result<Option<Diagnostic>> {
    let mut lost = IssueCounter::default();
    for (record, wkb) in column.iter().enumerate() {
        let Some(wkb) = wkb else { continue };
        let Ok((code, is_valid)) = check_wkb(wkb) else {
            let message = format!(
                "the geometry of record {record} is not little-endian ISO WKB; write it with \
                 `shapely.to_wkb(geometries, byte_order=1, flavor=\"iso\")`, or drop the column if it is no geometry"
            );
            return Err(Error::new(Kind::Value, message));
        };
        types.insert(code);
        if !is_valid && !matches!(code % 1000, 1 | 4) {
            lost.add(Code::NoDataCoordinate, u64::try_from(record).unwrap_or(u64::MAX));
        }
    }
    Ok(lost.into_diagnostic())
}
