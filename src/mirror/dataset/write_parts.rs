//! Writes the parts of a generation, each with its canonical rows.

use std::iter::Peekable;
use std::path::Path;
use std::vec::IntoIter;

use super::canonical;
use super::canonical_writer::{CanonicalFiles, CanonicalWriter};
use super::catalog_layer_tables::LayerTables;
use super::convert::{self, ConvertedLayer};
use super::farm_fields::{FieldNames, stated_field};
use super::manifest::Part;
use super::part_writer::{ChecksummedFile, RowGroupWriter};
use super::publication_plan::{PendingLayer, Sizes};
use super::row_origin::CanonicalOrigin;
use super::source_archive::{PublishError, SourceArchive};
use super::{boundaries, hilbert};
use crate::Disk;
use headland_base::error::{Error, Kind, Result};
use headland_reader::layer::Cancel;

/// Writer of the parts of one generation.
pub(super) struct PartsWriter<'a> {
    pub(super) disk: &'a Disk,
    /// Folder of the generation, and its number.
    pub(super) target: &'a Path,
    pub(super) number: u64,
    pub(super) sizes: Sizes,
    pub(super) wanted: &'a [SourceArchive],
    pub(super) fields: &'a FieldNames,
    pub(super) cancel: &'a Cancel,
    /// Catalog tables with rows of the written layers.
    pub(super) tables: LayerTables,
    /// Parts written so far.
    pub(super) parts: Vec<Part>,
}

type PendingLayers = Peekable<IntoIter<PendingLayer>>;

impl PartsWriter<'_> {
    /// Writes the parts of one folder.
    pub(super) fn write(&mut self, folder: &str, pending: Vec<PendingLayer>) -> std::result::Result<(), PublishError> {
        let mut pending = sort_along_curve(pending, self.wanted).into_iter().peekable();
        let mut number = 0_usize;
        while let Some(first) = pending.next() {
            let part = self.write_part(folder, number, first, &mut pending)?;
            self.parts.push(part);
            number = number.saturating_add(1);
        }
        Ok(())
    }

    /// Writes the next part of a folder.
    fn write_part(
        &mut self,
        folder: &str,
        number: usize,
        first: PendingLayer,
        pending: &mut PendingLayers,
    ) -> std::result::Result<Part, PublishError> {
        let name = format!("part-{:06}-{number:02}.parquet", self.number);
        // Canonical rows of all folders are in one.
        let canonical_name = format!("part-{:06}-{:03}.parquet", self.number, self.parts.len());
        let (disk, target, cancel) = (self.disk, self.target, self.cancel);
        let (source, layer) = read_layer(first, folder, self.wanted)?;
        let mut out = ChecksummedFile::begin(disk, &target.join(folder), &name)?;
        let mut canonical_files = CanonicalFiles::default();
        let mut groups = RowGroupWriter::begin(&mut out, layer.columns.table.clone(), cancel);
        let mut canonical = CanonicalWriter::new(&mut canonical_files, disk, target, &canonical_name, cancel);
        let filled = self.fill((&mut groups, &mut canonical), folder, (source, layer), pending);
        let (rows, bbox) = (groups.rows, groups.bounds);
        let finished = filled.and_then(|()| Ok((groups.finish()?, canonical.finish()?)));
        let ((row_groups, origins), counts) = finished.map_err(|error| match error {
            PublishError::Failed(error) => {
                let error = ChecksummedFile::take_error(&mut out, error);
                PublishError::Failed(canonical_files.take_error(error))
            }
            rejected @ PublishError::Rejected(..) => rejected,
        })?;
        let file = ChecksummedFile::keep(out, &target.join(folder).join(&name))?;
        let canonical = canonical_files.keep(target, &canonical_name, counts)?;
        let path = format!("{folder}/{name}");
        let (bytes, sha256, crc32) = (file.bytes, file.sha256, file.crc32);
        Ok(Part { path, rows, bytes, sha256, crc32, row_groups, bbox, origins, canonical })
    }

    /// Adds layers to a part until it is full.
    fn fill(
        &mut self,
        (groups, canonical): (&mut RowGroupWriter<'_>, &mut CanonicalWriter<'_>),
        folder: &str,
        first: (&SourceArchive, ConvertedLayer),
        pending: &mut PendingLayers,
    ) -> std::result::Result<(), PublishError> {
        let sizes = self.sizes;
        let (mut source, mut layer) = first;
        loop {
            let origin = self.add_canonical(canonical, source, &layer)?;
            self.tables.add_units(source, &layer)?;
            groups.add(source, &layer, origin)?;
            drop(layer);
            let fits = |next: &PendingLayer| {
                groups.rows.saturating_add(next.rows) <= sizes.rows && groups.bytes() < sizes.bytes
            };
            let Some(next) = pending.next_if(fits) else { return Ok(()) };
            (source, layer) = read_layer(next, folder, self.wanted)?;
        }
    }

    /// Adds the canonical rows of a layer, if it has any, and its rows of the catalog.
    fn add_canonical(
        &mut self,
        writer: &mut CanonicalWriter<'_>,
        source: &SourceArchive,
        layer: &ConvertedLayer,
    ) -> Result<Option<CanonicalOrigin>> {
        let harmonized = match canonical::harmonized_layer(source, layer) {
            None => return Ok(None),
            Some(Err(reason)) => {
                self.tables.add_refused(source, &layer.name, &reason)?;
                return Ok(None);
            }
            Some(Ok(harmonized)) => harmonized,
        };
        let stated_field = stated_field(&layer.layer);
        let found = self.fields.name(source, stated_field.as_deref(), &layer.positions)?;
        let field = found.as_ref().map(|found| &*found.name);
        if let Some((kind, rows)) = canonical::rows(source, layer, &harmonized, field)? {
            writer.add(kind, rows, layer)?;
        }
        self.tables.add_harmonized(source, &layer.name, &harmonized, found.as_ref())?;
        Ok(Some(CanonicalOrigin { job: source.job_digest(), stated_field, field: found }))
    }
}

/// Sorts the layers of a folder along the curve, and at one position by job and layer, so that the order is
/// deterministic.
fn sort_along_curve(pending: Vec<PendingLayer>, wanted: &[SourceArchive]) -> Vec<PendingLayer> {
    let boxes: Vec<_> = pending.iter().map(|layer| layer.bounds).collect();
    let mut positioned: Vec<(u64, PendingLayer)> = hilbert::hilbert_order(&boxes).into_iter().zip(pending).collect();
    let id = |layer: &PendingLayer| {
        wanted.get(layer.archive_index).map(|source| (source.kind.as_str(), source.job_id.clone()))
    };
    positioned.sort_by_cached_key(|(position, layer)| (*position, id(layer), layer.name.clone()));
    positioned.into_iter().map(|(_, layer)| layer).collect()
}

/// Converted rows of a layer; an error if it no longer belongs to `folder`.
fn read_layer<'a>(
    layer: PendingLayer,
    folder: &str,
    wanted: &'a [SourceArchive],
) -> std::result::Result<(&'a SourceArchive, convert::ConvertedLayer), PublishError> {
    let index = layer.archive_index;
    let Some(source) = wanted.get(index) else {
        return Err(PublishError::Failed(Error::new(Kind::Value, "the plan contains an archive that is not wanted")));
    };
    let converted = match layer.converted {
        Some(converted) => converted,
        None => {
            convert::convert_layer(source, &layer.name, None).map_err(|error| PublishError::Rejected(index, error))?
        }
    };
    if converted.folder(source) != folder || converted.len() as u64 != layer.rows {
        return Err(PublishError::Rejected(index, boundaries::changed_archive_error(&source.archive)));
    }
    Ok((source, converted))
}
