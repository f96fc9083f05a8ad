//! The dataset: all archives as few large GeoParquet files, published atomically.
//!
//! A generation is a pure function of the wanted archives and the previous generation.

mod boundaries;
mod canonical;
mod canonical_writer;
mod catalog_layer_tables;
mod catalog_writer;
mod checked_file;
mod convert;
mod farm_fields;
mod file_checksums;
mod footer;
mod hilbert;
mod manifest;
mod mixed_units;
mod part_writer;
mod publication_plan;
mod published;
mod qgis_styles;
mod row_digest;
mod row_groups;
mod row_origin;
mod scan;
mod schema;
mod schema_union;
mod selected_jobs;
mod short_digest;
mod source_archive;
mod sql_views;
mod verify;
mod write_parts;

use std::collections::BTreeSet;
use std::path::Path;

use arrow_array::RecordBatch;

use self::catalog_layer_tables::LayerTables;
use self::catalog_writer::CatalogWriter;
use self::farm_fields::FieldNames;
use self::manifest::Manifest;
use self::publication_plan::Plan;
use self::source_archive::PublishError;
use self::write_parts::PartsWriter;
use super::{Disk, Folder, Generation};
use headland_agronomy::MarketMoisture;
use headland_base::error::{Error, Result};
use headland_reader::layer::Cancel;
pub use manifest::manifest_files;
pub use mixed_units::{conversion_factor, converted_schema, mixed_units_warning};
pub use publication_plan::Sizes;
pub use published::Dataset;
pub use row_groups::{RowGroups, read as read_row_groups};
pub use scan::{Scan, Selection};
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

/// Whether a generation may stay: current format, this market moisture, and all files have the stated lengths. [`verify`]
/// also reads them.
pub(super) fn is_usable(generation: &Generation, market_moisture: &MarketMoisture) -> bool {
    Manifest::read(&generation.path).is_ok_and(|manifest| {
        manifest.has_current_format()
            && manifest.market_moisture == market_moisture.to_string()
            && manifest.is_present(&generation.path)
    })
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
        tables_of_journal: &[(String, RecordBatch)],
        before: &[RejectedArchive],
    ) -> Result<AttemptOutcome> {
        let usable = self.last.filter(|(_, last)| last.is_of_this_version());
        // If rows of the last generation cannot be read, all archives are converted again.
        let previous = usable.and_then(|last| Some((last, LayerTables::read(last).ok()?)));
        let (usable, tables) = match previous {
            Some((last, tables)) => (Some(last), tables),
            None => (None, LayerTables::new()),
        };
        let is_present = |part: &manifest::Part| usable.is_some_and(|(path, _)| part.is_present(path));
        let is_retry = !before.is_empty();
        let last = usable.map(|(_, last)| last);
        let mut plan = publication_plan::plan_parts(last, &is_present, wanted, self.sizes, is_retry, self.cancel)?;
        let rejected = std::mem::take(&mut plan.rejected);
        if before.iter().chain(&rejected).any(RejectedArchive::is_lost) {
            return Ok(AttemptOutcome::Rejected(rejected));
        }
        let staged = self.folder.stage_generation()?;
        let (disk, target) = (self.folder.disk(), staged.path());
        disk.make_folder(&target.join("dataset"))?;
        let tables_writer = CatalogWriter { disk, last: usable, generation: target, cancel: self.cancel };
        let mut catalog = tables_writer.write(tables_of_journal)?;
        let known: Vec<manifest::Boundary> = plan.boundaries.iter().map(|(_, boundary)| boundary.clone()).collect();
        let fields = match self.boundaries(&tables_writer, &plan, &known, wanted) {
            Ok((table, fields)) => {
                catalog.push(table);
                fields
            }
            Err(PublishError::Failed(error)) => return Err(error),
            Err(PublishError::Rejected(index, error)) => return reject(rejected, wanted.get(index), error),
        };
        plan.rewrite_renamed(&fields, wanted)?;
        let Plan { kept, written, .. } = plan;
        for part in &kept {
            self.cancel.check()?;
            let Some((from, _)) = usable else { continue };
            for path in std::iter::once(&part.path).chain(part.canonical.iter().map(|table| &table.path)) {
                make_folders(disk, target, path.rsplit_once('/').map_or("", |(folder, _)| folder))?;
                disk.link_or_copy(&from.join(path), &target.join(path))?;
            }
        }
        let mut writer = PartsWriter {
            disk,
            target,
            number: staged.number(),
            sizes: self.sizes,
            wanted,
            fields: &fields,
            cancel: self.cancel,
            tables,
            parts: Vec::new(),
        };
        writer.tables.keep(&kept);
        for (folder, pending) in written {
            make_folders(disk, target, &folder)?;
            match writer.write(&folder, pending) {
                Ok(()) => {}
                Err(PublishError::Failed(error)) => return Err(error),
                Err(PublishError::Rejected(index, error)) => return reject(rejected, wanted.get(index), error),
            }
        }
        let (parts_kept, parts_written) = (kept.len(), writer.parts.len());
        catalog.extend(writer.tables.write(&tables_writer)?);
        let parts: Vec<manifest::Part> = sorted(kept.into_iter().chain(writer.parts), |part| part.path.clone());
        for (kind, name) in canonical::TABLES {
            let is_there = parts.iter().flat_map(|part| &part.canonical).any(|table| table.is_in(name));
            if !is_there {
                catalog.push(tables_writer.write_empty(name, canonical::table(kind))?);
            }
        }
        let catalog = sorted(catalog, |table| table.path.clone());
        let market = wanted.first().map(|source| source.market_moisture.to_string()).unwrap_or_default();
        let manifest = Manifest::new(staged.number(), parts, catalog, known, market);
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

    /// Writes the table of boundaries, or links that of the last generation, and reads the names of fields.
    fn boundaries(
        &self,
        writer: &CatalogWriter<'_>,
        plan: &Plan,
        known: &[manifest::Boundary],
        wanted: &[SourceArchive],
    ) -> std::result::Result<(manifest::Table, FieldNames), PublishError> {
        if let Some(last) = writer.last.filter(|(_, last)| last.boundaries == known)
            && let Ok(rows) = catalog_writer::read_previous(last, boundaries::TABLE_NAME)
            && let Some(table) = writer.link_previous(boundaries::TABLE_NAME)?
        {
            return Ok((table, FieldNames::new(&rows, plan.named_ground(wanted))?));
        }
        let read = boundaries::read(&plan.boundaries, wanted, self.cancel)?;
        let table = writer.write_boundaries(&read)?;
        Ok((table, FieldNames::new(std::slice::from_ref(&read.batch), plan.named_ground(wanted))?))
    }
}

/// Sorts by a key.
fn sorted<T>(values: impl IntoIterator<Item = T>, key: impl FnMut(&T) -> String) -> Vec<T> {
    let mut values: Vec<T> = values.into_iter().collect();
    values.sort_by_cached_key(key);
    values
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

/// Creates the folders of a path with `/` as separator.
fn make_folders(disk: &Disk, generation: &Path, folders: &str) -> Result<()> {
    let mut path = generation.to_owned();
    for name in folders.split('/') {
        path.push(name);
        disk.make_folder(&path)?;
    }
    Ok(())
}
