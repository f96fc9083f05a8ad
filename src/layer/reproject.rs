//! A layer brought to WGS 84: every vertex transformed, all else as it was.

use std::sync::Arc;

use arrow_array::{ArrayRef, LargeBinaryArray, RecordBatch};
use arrow_schema::{Field, Schema};

use super::Layer;
use super::crs::{Crs, Transform};
use super::geometries_of;
use super::schema;
use super::shapes::is_place;
use super::wkb::{Cursor, points};
use crate::error::{Error, Kind, Result};

impl Layer {
    /// The same layer with coordinates in WGS 84; an error where its own system is unknown.
    pub(crate) fn into_wgs84(mut self) -> Result<Self> {
        let Some(column) = self.geometry else { return Ok(self) };
        let transform = self.known_crs()?.to_wgs84()?;
        let crs = Crs::wgs84();
        let mut fields: Vec<Arc<Field>> = self.schema.fields().iter().cloned().collect();
        if let Some(field) = fields.get_mut(column) {
            let named = schema::geometry_field(&[], Some(&crs), None);
            *field = Arc::new(named.with_name(field.name()));
        }
        let schema = Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone()));
        let mut batches = Vec::new();
        for batch in &self.batches {
            let mut columns = batch.columns().to_vec();
            if let Some(array) = columns.get_mut(column).filter(|_| !transform.is_identity()) {
                *array = transformed(batch, column, &transform)?;
            }
            let batch = RecordBatch::try_new(Arc::clone(&schema), columns)
                .map_err(|cause| Error::new(Kind::Archive, format!("the transformed column does not fit: {cause}")))?;
            batches.push(batch);
        }
        self.prj = Some(crs.wkt().to_owned());
        self.schema = schema;
        self.batches = batches;
        self.crs = Some(crs);
        Ok(self)
    }
}

fn transformed(batch: &RecordBatch, column: usize, transform: &Transform) -> Result<ArrayRef> {
    let mut all: Vec<Option<Vec<u8>>> = Vec::with_capacity(batch.num_rows());
    for (row, wkb) in geometries_of(batch, Some(column)).enumerate() {
        let moved = wkb.map(|wkb| moved(wkb, transform)).transpose();
        all.push(moved.map_err(|error| error.with(|facts| facts.record = Some(row as u64)))?);
    }
    Ok(Arc::new(LargeBinaryArray::from_iter(all)))
}

fn moved(wkb: &[u8], transform: &Transform) -> Result<Vec<u8>> {
    let mut runs = Vec::new();
    Cursor::new(wkb).runs(&mut |run, stride, at| runs.push((run, stride, at)))?;
    let (mut xs, mut ys): (Vec<f64>, Vec<f64>) = runs.iter().flat_map(|(run, stride, _)| points(run, *stride)).unzip();
    for (x, y) in xs.iter_mut().zip(&mut ys).filter(|(x, y)| !is_place(**x) || !is_place(**y)) {
        (*x, *y) = (f64::NAN, f64::NAN);
    }
    transform.apply(&mut xs, &mut ys)?;
    let mut new = wkb.to_vec();
    let mut moved = xs.into_iter().zip(ys);
    for (run, stride, at) in runs {
        let target = new.get_mut(at..at.saturating_add(run.len())).unwrap_or_default();
        for (vertex, (x, y)) in target.chunks_exact_mut(stride).zip(moved.by_ref()) {
            // What is no place stays as it is.
            if x.is_nan() {
                continue;
            }
            if let Some((place, rest)) = vertex.split_first_chunk_mut::<8>() {
                *place = x.to_le_bytes();
                if let Some(place) = rest.first_chunk_mut::<8>() {
                    *place = y.to_le_bytes();
                }
            }
        }
    }
    Ok(new)
}
