//! A layer brought to WGS 84: every vertex transformed, all else as it was.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, LargeBinaryArray, RecordBatch};
use arrow_schema::{Field, Schema};

use super::Layer;
use super::crs::{Crs, Transform};
use super::schema::{self, broken};
use super::shapes::is_place;
use super::wkb::{Cursor, points};
use crate::archive::{NoRoom, ReadOptions, make_exact_room, make_room};
use crate::error::{Error, Kind, Result};

impl Layer {
    /// The same layer in the coordinate system that the options ask for.
    pub(super) fn in_system_of(self, options: &ReadOptions) -> Result<Self> {
        if options.to_crs.is_some() { self.into_wgs84() } else { Ok(self) }
    }

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
                *array = transformed(array, &transform)?;
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

/// The column with its vertices moved, which leaves each geometry as long as it was.
fn transformed(column: &ArrayRef, transform: &Transform) -> Result<ArrayRef> {
    let Some(old) = column.as_any().downcast_ref::<LargeBinaryArray>() else { return Ok(Arc::clone(column)) };
    let mut data = Vec::new();
    make_exact_room(&mut data, old.values().len()).map_err(NoRoom::error)?;
    data.extend_from_slice(old.values());
    let place = |end: &i64| usize::try_from(*end).unwrap_or(0);
    let mut vertices = Vertices::default();
    for (row, (start, end)) in old.offsets().iter().zip(old.offsets().iter().skip(1)).enumerate() {
        if old.is_valid(row)
            && let Some(wkb) = data.get_mut(place(start)..place(end))
        {
            vertices.moved(wkb, transform).map_err(|error| error.with(|facts| facts.record = Some(row as u64)))?;
        }
    }
    let new = LargeBinaryArray::try_new(old.offsets().clone(), data.into(), old.nulls().cloned());
    Ok(Arc::new(new.map_err(|cause| broken(&cause))?))
}

/// The vertices of one geometry after another, used again and again.
#[derive(Default)]
struct Vertices {
    xs: Vec<f64>,
    ys: Vec<f64>,
    /// Each run of them: where it begins, its bytes, and those of one vertex.
    runs: Vec<(usize, usize, usize)>,
}

impl Vertices {
    fn moved(&mut self, wkb: &mut [u8], transform: &Transform) -> Result<()> {
        let Self { xs, ys, runs } = self;
        xs.clear();
        ys.clear();
        runs.clear();
        let (mut of_runs, mut of_vertices) = (0, 0);
        Cursor::new(wkb).runs(&mut |run, stride, _| {
            of_runs += 1;
            of_vertices += run.len() / stride;
        })?;
        make_room(runs, of_runs).map_err(NoRoom::error)?;
        for ordinates in [&mut *xs, &mut *ys] {
            make_room(ordinates, of_vertices).map_err(NoRoom::error)?;
        }
        Cursor::new(wkb).runs(&mut |run, stride, at| {
            runs.push((at, run.len(), stride));
            for (x, y) in points(run, stride) {
                let is_place = is_place(x) && is_place(y);
                xs.push(if is_place { x } else { f64::NAN });
                ys.push(if is_place { y } else { f64::NAN });
            }
        })?;
        transform.apply(xs, ys)?;
        let mut moved = xs.iter().zip(&*ys);
        for (at, size, stride) in runs {
            let target = wkb.get_mut(*at..at.saturating_add(*size)).unwrap_or_default();
            for (vertex, (x, y)) in target.chunks_exact_mut(*stride).zip(moved.by_ref()) {
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
        Ok(())
    }
}
