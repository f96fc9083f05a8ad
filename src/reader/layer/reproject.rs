//! Transforms the coordinates of a layer to WGS 84 and leaves all else unchanged.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, LargeBinaryArray, RecordBatch};
use arrow_schema::{Field, Schema};

use super::Layer;
use super::crs::{Crs, Transform};
use super::schema::{self, schema_error};
use super::shapes::is_valid_coordinate;
use super::wkb::{Cursor, points};
use crate::archive::{AllocError, ReadOptions, try_reserve, try_reserve_exact};
use headland_base::error::{Error, Kind, Result};

impl Layer {
    /// Transforms the layer if the options request it.
    pub(super) fn reproject(self, options: &ReadOptions) -> Result<Self> {
        if options.to_crs.is_some() { self.into_wgs84() } else { Ok(self) }
    }

    /// Transforms the layer to WGS 84. An unknown CRS is an error.
    pub fn into_wgs84(mut self) -> Result<Self> {
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
                *array = transform_column(array, &transform)?;
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

/// Transforms all vertices of a column. The size of each geometry is unchanged.
fn transform_column(column: &ArrayRef, transform: &Transform) -> Result<ArrayRef> {
    let Some(old) = column.as_any().downcast_ref::<LargeBinaryArray>() else { return Ok(Arc::clone(column)) };
    let mut data = Vec::new();
    try_reserve_exact(&mut data, old.values().len()).map_err(AllocError::into_error)?;
    data.extend_from_slice(old.values());
    let to_index = |end: &i64| usize::try_from(*end).unwrap_or(0);
    let mut vertices = VertexBuffer::default();
    for (row, (start, end)) in old.offsets().iter().zip(old.offsets().iter().skip(1)).enumerate() {
        if old.is_valid(row)
            && let Some(wkb) = data.get_mut(to_index(start)..to_index(end))
        {
            vertices.transform(wkb, transform).map_err(|error| error.with(|facts| facts.record = Some(row as u64)))?;
        }
    }
    let new = LargeBinaryArray::try_new(old.offsets().clone(), data.into(), old.nulls().cloned());
    Ok(Arc::new(new.map_err(|cause| schema_error(&cause))?))
}

/// Reused buffers for the vertices of a geometry.
#[derive(Default)]
struct VertexBuffer {
    xs: Vec<f64>,
    ys: Vec<f64>,
    /// Offset, size and vertex size of each run, in bytes.
    runs: Vec<(usize, usize, usize)>,
}

impl VertexBuffer {
    fn transform(&mut self, wkb: &mut [u8], transform: &Transform) -> Result<()> {
        let Self { xs, ys, runs } = self;
        xs.clear();
        ys.clear();
        runs.clear();
        let (mut run_count, mut vertex_count) = (0, 0);
        Cursor::new(wkb).visit_runs(&mut |run, stride, _| {
            run_count += 1;
            vertex_count += run.len() / stride;
        })?;
        try_reserve(runs, run_count).map_err(AllocError::into_error)?;
        for ordinates in [&mut *xs, &mut *ys] {
            try_reserve(ordinates, vertex_count).map_err(AllocError::into_error)?;
        }
        Cursor::new(wkb).visit_runs(&mut |run, stride, offset| {
            runs.push((offset, run.len(), stride));
            for (x, y) in points(run, stride) {
                let is_valid = is_valid_coordinate(x) && is_valid_coordinate(y);
                xs.push(if is_valid { x } else { f64::NAN });
                ys.push(if is_valid { y } else { f64::NAN });
            }
        })?;
        transform.apply(xs, ys)?;
        let mut transform_column = xs.iter().zip(&*ys);
        for (offset, size, stride) in runs {
            let target = wkb.get_mut(*offset..offset.saturating_add(*size)).unwrap_or_default();
            for (vertex, (x, y)) in target.chunks_exact_mut(*stride).zip(transform_column.by_ref()) {
                // `no data` stays unchanged.
                if x.is_nan() {
                    continue;
                }
                if let Some((bytes, rest)) = vertex.split_first_chunk_mut::<8>() {
                    *bytes = x.to_le_bytes();
                    if let Some(bytes) = rest.first_chunk_mut::<8>() {
                        *bytes = y.to_le_bytes();
                    }
                }
            }
        }
        Ok(())
    }
}
