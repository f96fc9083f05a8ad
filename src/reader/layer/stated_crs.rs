//! Coordinate systems that the caller states, and points from columns of coordinates.

use std::sync::Arc;

use arrow_array::{ArrayRef, LargeBinaryArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{FieldRef, Schema};

use super::Layer;
use super::crs::Crs;
use super::schema::geometry_field;
use headland_base::error::{Error, Kind, Result};

/// Type of a point in well-known binary.
const POINT: u32 = 1;

impl Layer {
    /// The layer in a coordinate system that the caller states. An error if the layer states another one.
    pub fn with_stated_crs(mut self, crs: &Crs) -> Result<Self> {
        let Some(index) = self.geometry else { return Ok(self) };
        if let Some(own) = &self.crs {
            if own.wkt() == crs.wkt() || own.epsg().is_some_and(|code| crs.epsg() == Some(code)) {
                return Ok(self);
            }
            let message = format!("layer `{}` states another coordinate system than `crs`; omit `crs`", self.name());
            return Err(Error::for_argument("crs", message));
        }
        let mut fields: Vec<FieldRef> = self.schema.fields().to_vec();
        if let Some(field) = fields.get_mut(index) {
            *field = Arc::new(geometry_field(&[], Some(crs), None).with_name(field.name()));
        }
        let schema = Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone()));
        let batches = self.batches.iter().map(|batch| table(&schema, batch.columns().to_vec(), batch.num_rows()));
        self.batches = batches.collect::<Result<Vec<_>>>()?;
        (self.schema, self.prj, self.crs) = (schema, Some(crs.wkt().to_owned()), Some(crs.clone()));
        Ok(self)
    }

    /// The layer with a column of points behind the others. A row without both coordinates has no point.
    pub fn with_points(mut self, x: &[f64], y: &[f64], crs: &Crs) -> Result<Self> {
        let mut fields: Vec<FieldRef> = self.schema.fields().to_vec();
        let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
        self.geometry = Some(fields.len());
        fields.push(Arc::new(geometry_field(&names, Some(crs), None)));
        let schema = Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone()));
        let mut points = x.iter().zip(y).map(|(x, y)| (x.is_finite() && y.is_finite()).then(|| point(*x, *y)));
        let batches = self.batches.iter().map(|batch| {
            let wkb: LargeBinaryArray = points.by_ref().take(batch.num_rows()).collect();
            let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
            columns.push(Arc::new(wkb));
            table(&schema, columns, batch.num_rows())
        });
        self.batches = batches.collect::<Result<Vec<_>>>()?;
        (self.schema, self.prj, self.crs) = (schema, Some(crs.wkt().to_owned()), Some(crs.clone()));
        self.types = vec![POINT];
        Ok(self)
    }
}

fn point(x: f64, y: f64) -> Vec<u8> {
    let mut wkb = Vec::with_capacity(21);
    wkb.push(1);
    wkb.extend_from_slice(&POINT.to_le_bytes());
    wkb.extend_from_slice(&x.to_le_bytes());
    wkb.extend_from_slice(&y.to_le_bytes());
    wkb
}

fn table(schema: &Arc<Schema>, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
        .map_err(|cause| Error::new(Kind::Value, format!("the columns do not form a table: {cause}")))
}
