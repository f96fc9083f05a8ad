//! Converts an archive to dataset rows: layers in WGS 84, with job id, layer name and record number in each row.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, LargeStringArray, RecordBatch};

use super::farm_fields::sample_positions;
use super::hilbert::Sides;
use super::row_digest;
use super::schema::{self, Columns};
use super::source_archive::SourceArchive;
use crate::ItemKind;
use headland_base::error::{Error, Kind, Result};
use headland_reader::layer::{self, Bounds, Layer, ReadOptions, Source};

/// Converted layer of an archive.
#[derive(Debug)]
pub(super) struct ConvertedLayer {
    /// In WGS 84 if its coordinate system is known and can be transformed.
    pub(super) layer: Layer,
    /// Layer name in the dataset.
    pub(super) name: String,
    pub(super) columns: Columns,
    /// Digest of the rows before the transformation.
    pub(super) digest: String,
    /// Coordinate system of the archive: EPSG code or name.
    pub(super) crs: Option<String>,
    pub(super) bounds: Option<Sides>,
    /// Longitude and latitude of some rows; empty if they are not in WGS 84.
    pub(super) positions: Vec<(f64, f64)>,
}

/// Layer names of an archive in the dataset.
pub(super) fn layer_names(source: &SourceArchive) -> Result<Vec<String>> {
    if let Some(name) = cart_layer_name(source) {
        return Ok(vec![name]);
    }
    let mut names = layer::layers(&Source::Path(source.archive.clone()), &ReadOptions::default())?;
    // Members with the same name are one layer for every reader.
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    Ok(names)
}

/// Layer name of a grain cart file, taken from the record, since stored files are named by digest. `None` for other
/// archives.
pub(super) fn cart_layer_name(source: &SourceArchive) -> Option<String> {
    let is_text = source.archive.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("grc"));
    let end = source.name.len().saturating_sub(4);
    let (name, ending) = source.name.split_at_checked(end).unwrap_or((&source.name, ""));
    let name = if ending.eq_ignore_ascii_case(".grc") { name } else { &source.name };
    (source.kind == ItemKind::Cart && is_text).then(|| name.to_owned())
}

/// Reads a layer without conversion.
pub(super) fn read_layer(source: &SourceArchive, name: &str, threads: Option<usize>) -> Result<Layer> {
    let wanted = cart_layer_name(source).is_none().then(|| name.to_owned());
    let options = ReadOptions { layer: wanted, threads, ..ReadOptions::default() };
    layer::read(&Source::Path(source.archive.clone()), &options)
}

/// Reads a layer and transforms it to WGS 84 where possible.
pub(super) fn convert_layer(source: &SourceArchive, name: &str, threads: Option<usize>) -> Result<ConvertedLayer> {
    let layer = read_layer(source, name, threads)?;
    let digest = row_digest::digest_rows(&layer);
    let crs = layer.crs().map(|crs| crs.code().unwrap_or_else(|| crs.name().to_owned()));
    // Keeps the rows unchanged, in a folder of their own, if the transformation fails or a coordinate is out of range.
    let layer = if layer.crs().is_some() { layer.clone().into_wgs84().unwrap_or(layer) } else { layer };
    let bounds = Bounds::from_geometries(layer.geometries())?.sides();
    let columns = schema::dataset_columns(&layer);
    let positions = sample_positions(&layer)?;
    Ok(ConvertedLayer { layer, name: name.to_owned(), columns, digest, crs, bounds, positions })
}

impl ConvertedLayer {
    /// Whether its geometries are in WGS 84.
    pub(super) fn is_wgs84(&self) -> bool {
        self.layer.crs().is_some_and(schema::is_wgs84)
    }

    /// Number of records.
    pub(super) fn len(&self) -> usize {
        self.layer.len()
    }

    /// Size in memory, in bytes.
    pub(super) fn memory_size(&self) -> usize {
        self.layer.batches().iter().map(RecordBatch::get_array_memory_size).sum()
    }

    /// Folder of its part in a generation.
    pub(super) fn folder(&self, source: &SourceArchive) -> String {
        format!("{}columns={}", schema::job_folder(source), self.columns.key)
    }

    /// Batches with the columns of a part.
    pub(super) fn batches(&self, job_id: &str) -> impl Iterator<Item = Result<RecordBatch>> {
        let geometry = self.layer.geometry_index();
        self.layer.batches().iter().scan(0_usize, move |first, batch| {
            let rows = batch.num_rows();
            let start = *first;
            *first = start.saturating_add(rows);
            Some(self.batch(job_id, batch, start, geometry))
        })
    }

    fn batch(&self, job_id: &str, batch: &RecordBatch, start: usize, geometry: Option<usize>) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        let repeat =
            |text: &str| Arc::new(LargeStringArray::from_iter_values(std::iter::repeat_n(text, rows))) as ArrayRef;
        let number = |row: usize| i64::try_from(row).unwrap_or(i64::MAX);
        let numbers = Int64Array::from_iter_values((start..start.saturating_add(rows)).map(number));
        let mut arrays: Vec<ArrayRef> = vec![repeat(job_id), repeat(&self.name), Arc::new(numbers)];
        let others = batch.columns().iter().enumerate().filter(|(index, _)| Some(*index) != geometry);
        arrays.extend(others.map(|(_, array)| Arc::clone(array)));
        arrays.extend(geometry.and_then(|index| batch.columns().get(index)).cloned());
        RecordBatch::try_new(Arc::clone(&self.columns.table.schema), arrays).map_err(|cause| {
            Error::new(Kind::Archive, format!("cannot add layer `{}` to the dataset: {cause}", self.name))
        })
    }
}
