//! The dataset: all archives as few large GeoParquet files, published atomically.
//!
//! A generation is a pure function of the wanted archives and the previous generation.

mod boundaries;
mod catalog;
mod checked_file;
mod checksums;
mod convert;
mod footer;
mod hilbert;
mod manifest;
mod part_writer;
mod publication_plan;
mod published;
mod row_digest;
mod row_origin;
mod scan;
mod schema;
mod schema_union;
mod source_archive;
mod sql_views;
mod verify;

use std::collections::BTreeSet;
use std::path::Path;

use arrow_array::RecordBatch;

use self::manifest::Manifest;
use self::part_writer::{ChecksummedFile, RowGroupWriter};
use self::publication_plan::{PendingLayer, Plan};
use self::source_archive::PublishError;
use super::{Disk, Folder, Generation};
use crate::error::{Error, Kind, Result};
use crate::layer::Cancel;
pub use publication_plan::Sizes;
pub use published::{Dataset, PartitionSummary};
pub use scan::{RowGroups, Scan, Selection, read as read_row_groups};
pub use schema::column_names;
pub use schema_union::{crs_identity, union_schemas};
pub use source_archive::{RejectedArchive, SourceArchive};
pub use verify::{repair, verify};

/// Result of a publication.
#[derive(Debug)]
pub enum Publication {
    /// All readable archives are published.
    Published(Published),
    /// Nothing was published: archives are missing or damaged on this disk, and can be downloaded again.
    Lost(Vec<RejectedArchive>),
}

/// A published generation.
#[derive(Debug)]
pub struct Published {
    /// Number of the current generation; the previous one if nothing changed.
    pub generation: u64,
    /// Parts that were written.
    pub parts_written: usize,
    /// Parts kept from the previous generation.
    pub parts_kept: usize,
    /// Rows of the dataset.
    pub rows: u64,
    /// Archives that were left out, with the reasons.
    pub rejected: Vec<RejectedArchive>,
}

/// Publishes the rows of the wanted archives and the catalog tables as the next generation.
///
/// Keeps the current generation if nothing changed. Readers see either the old or the new state at any time.
///
/// Only parts with new, changed or removed jobs are written, and small parts that get more rows; other files are
/// linked. Archives with unreadable content are rejected, and the others are published. If a needed archive was lost on
/// this disk, nothing is published, since its rows would be missing.
pub fn publish(
    folder: &Folder,
    wanted: &[SourceArchive],
    tables: &[(String, RecordBatch)],
    cancel: &Cancel,
) -> Result<Publication> {
    publish_in(folder, wanted, tables, Sizes::default(), cancel)
}

/// Publishes with other part sizes; see [`publish`].
pub fn publish_in(
    folder: &Folder,
    wanted: &[SourceArchive],
    tables: &[(String, RecordBatch)],
    sizes: Sizes,
    cancel: &Cancel,
) -> Result<Publication> {
    let mut wanted = wanted.to_vec();
    wanted.sort_by(|a, b| (a.kind.as_str(), &a.job_id).cmp(&(b.kind.as_str(), &b.job_id)));
    wanted.dedup_by(|a, b| (a.kind.as_str(), &a.job_id) == (b.kind.as_str(), &b.job_id));
    let current = folder.current()?;
    // If the manifest is unreadable, all rows are converted again.
    let last = current.as_ref().and_then(|current| Some((current, Manifest::read(&current.path).ok()?)));
    let mut rejected: Vec<RejectedArchive> = Vec::new();
    loop {
        match Attempt::new(folder, last.as_ref().map(|(generation, last)| (&*generation.path, last)), sizes, cancel)
            .publish(&wanted, tables, &rejected)?
        {
            AttemptOutcome::Done(mut published) => {
                rejected.append(&mut published.rejected);
                published.rejected = rejected;
                return Ok(Publication::Published(published));
            }
            AttemptOutcome::Rejected(newly_rejected) => {
                // The second attempt opens every needed archive, so it finds all lost ones.
                let is_second = !rejected.is_empty();
                let out: BTreeSet<(&str, &str)> =
                    newly_rejected.iter().map(|archive| (archive.kind.as_str(), &*archive.job_id)).collect();
                wanted.retain(|source| !out.contains(&(source.kind.as_str(), &*source.job_id)));
                rejected.extend(newly_rejected);
                if is_second && rejected.iter().any(RejectedArchive::is_lost) {
                    return Ok(Publication::Lost(rejected));
                }
            }
        }
    }
}

/// Whether a generation may stay: current format, and all files have the stated lengths. [`verify`] also reads them.
pub(super) fn is_usable(generation: &Generation) -> bool {
    Manifest::read(&generation.path)
        .is_ok_and(|manifest| manifest.has_current_format() && manifest.is_present(&generation.path))
}

enum AttemptOutcome {
    Done(Published),
    /// These archives are left out of the next attempt.
    Rejected(Vec<RejectedArchive>),
}

/// One attempt at a publication.
struct Attempt<'a> {
    folder: &'a Folder,
    /// Path and manifest of the last readable generation.
    last: Option<(&'a Path, &'a Manifest)>,
    sizes: Sizes,
    cancel: &'a Cancel,
}

impl<'a> Attempt<'a> {
    fn new(folder: &'a Folder, last: Option<(&'a Path, &'a Manifest)>, sizes: Sizes, cancel: &'a Cancel) -> Self {
        Self { folder, last, sizes, cancel }
    }

    /// Publishes unless an archive was lost. `before` holds the archives rejected by earlier attempts.
    fn publish(
        &self,
        wanted: &[SourceArchive],
        tables: &[(String, RecordBatch)],
        before: &[RejectedArchive],
    ) -> Result<AttemptOutcome> {
        let usable = self.last.filter(|(_, last)| last.is_of_this_version());
        let is_present = |part: &manifest::Part| usable.is_some_and(|(path, _)| part.is_present(path));
        let is_retry = !before.is_empty();
        let Plan { kept, written, boundaries, rejected } = publication_plan::plan_parts(
            usable.map(|(_, last)| last),
            &is_present,
            wanted,
            self.sizes,
            is_retry,
            self.cancel,
        )?;
        if before.iter().chain(&rejected).any(RejectedArchive::is_lost) {
            return Ok(AttemptOutcome::Rejected(rejected));
        }
        let staged = self.folder.stage_generation()?;
        let (disk, target) = (self.folder.disk(), staged.path());
        disk.make_folder(&target.join("dataset"))?;
        let mut catalog = catalog::write(disk, usable, target, tables, self.cancel)?;
        let known: Vec<manifest::Boundary> = boundaries.iter().map(|(_, boundary)| boundary.clone()).collect();
        match catalog::link_previous(
            disk,
            usable.filter(|(_, last)| last.boundaries == known),
            target,
            boundaries::TABLE_NAME,
        )? {
            Some(same) => catalog.push(same),
            None => match boundaries::read(&boundaries, wanted, self.cancel) {
                Ok(read) => catalog.push(catalog::write_boundaries(disk, usable, target, read, self.cancel)?),
                Err(PublishError::Failed(error)) => return Err(error),
                Err(PublishError::Rejected(index, error)) => return reject(rejected, wanted.get(index), error),
            },
        }
        catalog.sort_by(|a, b| a.path.cmp(&b.path));
        for part in &kept {
            self.cancel.check()?;
            if let Some((from, _)) = usable {
                make_folders(disk, target, part.folder())?;
                disk.link_or_copy(&from.join(&part.path), &target.join(&part.path))?;
            }
        }
        let (parts_kept, mut parts) = (kept.len(), kept);
        for (folder, pending) in written {
            make_folders(disk, target, &folder)?;
            match self.write(target, staged.number(), &folder, pending, wanted) {
                Ok(new) => parts.extend(new),
                Err(PublishError::Failed(error)) => return Err(error),
                Err(PublishError::Rejected(index, error)) => return reject(rejected, wanted.get(index), error),
            }
        }
        let parts_written = parts.len().saturating_sub(parts_kept);
        parts.sort_by(|a, b| a.path.cmp(&b.path));
        let manifest = Manifest::new(staged.number(), parts, catalog, known);
        if let Some((_, last)) =
            self.last.filter(|(path, last)| last.has_same_content(&manifest) && last.is_present(path))
        {
            let generation = last.generation;
            return Ok(AttemptOutcome::Done(Published {
                generation,
                parts_written,
                parts_kept,
                rows: last.rows,
                rejected,
            }));
        }
        manifest.write(disk, target)?;
        self.cancel.check()?;
        let generation = staged.publish()?.number;
        Ok(AttemptOutcome::Done(Published { generation, parts_written, parts_kept, rows: manifest.rows, rejected }))
    }

    /// Writes the parts of one folder.
    fn write(
        &self,
        target: &Path,
        generation: u64,
        folder: &str,
        pending: Vec<PendingLayer>,
        wanted: &[SourceArchive],
    ) -> std::result::Result<Vec<manifest::Part>, PublishError> {
        let mut pending = sort_along_curve(pending, wanted).into_iter().peekable();
        let mut parts = Vec::new();
        while let Some(first) = pending.next() {
            let name = format!("part-{generation:06}-{:02}.parquet", parts.len());
            let (source, layer) = read_layer(first, folder, wanted)?;
            let mut out = ChecksummedFile::begin(self.folder.disk(), &target.join(folder), &name)?;
            let mut groups = RowGroupWriter::begin(&mut out, layer.columns.table.clone(), self.cancel);
            let mut added = groups.add(source, &layer);
            drop(layer);
            let fits = |groups: &RowGroupWriter<'_>, next: &PendingLayer| {
                groups.rows.saturating_add(next.rows) <= self.sizes.rows && groups.bytes() < self.sizes.bytes
            };
            while added.is_ok() {
                let Some(next) = pending.next_if(|next| fits(&groups, next)) else { break };
                let (source, layer) = read_layer(next, folder, wanted)?;
                added = groups.add(source, &layer);
            }
            let (rows, bbox) = (groups.rows, groups.bounds);
            let finished = added.and_then(|()| groups.finish());
            let (row_groups, origins) = finished.map_err(|error| ChecksummedFile::take_error(&mut out, error))?;
            let file = ChecksummedFile::keep(out, &target.join(folder).join(&name))?;
            let path = format!("{folder}/{name}");
            parts.push(manifest::Part {
                path,
                rows,
                bytes: file.bytes,
                sha256: file.sha256,
                crc32: file.crc32,
                row_groups,
                bbox,
                origins,
            });
        }
        Ok(parts)
    }
}

/// Ends an attempt at an unreadable archive.
fn reject(mut rejected: Vec<RejectedArchive>, source: Option<&SourceArchive>, error: Error) -> Result<AttemptOutcome> {
    rejected.extend(
        source
            .map(|source| {
                publication_plan::archive_error(error).map(|error| RejectedArchive::from_error(source, error))
            })
            .transpose()?,
    );
    Ok(AttemptOutcome::Rejected(rejected))
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

/// Creates the folders of a path with `/` as separator.
fn make_folders(disk: &Disk, generation: &Path, folders: &str) -> Result<()> {
    let mut path = generation.to_owned();
    for name in folders.split('/') {
        path.push(name);
        disk.make_folder(&path)?;
    }
    Ok(())
}
