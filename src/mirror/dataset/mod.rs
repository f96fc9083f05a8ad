//! The dataset: all archives as few large GeoParquet files, published at once; a pure function of what is wanted and of
//! the generation before.

mod boundaries;
mod catalog;
mod checked_file;
mod checksums;
mod convert;
mod diff;
mod footer;
mod hilbert;
mod manifest;
mod part_writer;
mod published;
mod row_digest;
mod scan;
mod schema;
mod schema_union;
mod source_archive;
mod sql_views;
mod verify;

use std::collections::BTreeSet;
use std::path::Path;

use arrow_array::RecordBatch;

use self::diff::{Piece, Plan};
use self::manifest::Manifest;
use self::part_writer::{Groups, Output};
use self::source_archive::Stop;
use super::{Disk, Folder, Generation};
use crate::error::{Error, Kind, Result};
use crate::layer::Cancel;
pub use diff::Sizes;
pub use published::{Dataset, Stock};
pub use scan::{RowGroups, Scan, Selection, read as read_row_groups};
pub use schema::column_names;
pub use schema_union::{system, union};
pub use source_archive::{Origin, Refusal};
pub use verify::{mend, verify};

/// What came of a publication.
#[derive(Debug)]
pub enum Publication {
    /// There is a state with all that can be read.
    Published(Published),
    /// Nothing was published: archives are gone or damaged on this disk, and can be had again.
    Lost(Vec<Refusal>),
}

/// What was published.
#[derive(Debug)]
pub struct Published {
    /// The generation that is current now; the one before where nothing has changed.
    pub generation: u64,
    /// Parts that were written.
    pub parts_written: usize,
    /// Parts that are the same files as before.
    pub parts_kept: usize,
    /// The rows of the dataset.
    pub rows: u64,
    /// Archives that are not in it, each with the reason.
    pub refused: Vec<Refusal>,
}

/// Publishes the rows of all archives that are wanted and the tables of the catalog as the next generation, or leaves
/// the one that is current where nothing has changed. Readers see the old state or the new one, whatever happens.
///
/// Only parts with changed, new or gone jobs are written, besides small ones that get more rows; all others are the same
/// files. An archive whose content cannot be read is refused, and the others are published without it. Where one that is
/// needed was lost on this disk, nothing is published: its rows come back with it.
pub fn publish(
    folder: &Folder,
    wanted: &[Origin],
    tables: &[(String, RecordBatch)],
    cancel: &Cancel,
) -> Result<Publication> {
    publish_in(folder, wanted, tables, Sizes::default(), cancel)
}

/// The same with parts of other sizes.
pub fn publish_in(
    folder: &Folder,
    wanted: &[Origin],
    tables: &[(String, RecordBatch)],
    sizes: Sizes,
    cancel: &Cancel,
) -> Result<Publication> {
    let mut wanted = wanted.to_vec();
    wanted.sort_by(|a, b| (a.kind.word(), &a.job_id).cmp(&(b.kind.word(), &b.job_id)));
    wanted.dedup_by(|a, b| (a.kind.word(), &a.job_id) == (b.kind.word(), &b.job_id));
    let current = folder.current()?;
    // One that cannot be read is as good as none: all rows come from the archives.
    let last = current.as_ref().and_then(|current| Some((current, Manifest::read(&current.path).ok()?)));
    let mut refused: Vec<Refusal> = Vec::new();
    loop {
        match Work::begin(folder, last.as_ref().map(|(at, last)| (&*at.path, last)), sizes, cancel)
            .publish(&wanted, tables, &refused)?
        {
            Outcome::Done(mut published) => {
                refused.append(&mut published.refused);
                published.refused = refused;
                return Ok(Publication::Published(published));
            }
            Outcome::Without(refusals) => {
                // The second attempt has opened every archive that it needs, so that these are all that were lost.
                let is_second = !refused.is_empty();
                let out: BTreeSet<(&str, &str)> =
                    refusals.iter().map(|refusal| (refusal.kind.word(), &*refusal.job_id)).collect();
                wanted.retain(|origin| !out.contains(&(origin.kind.word(), &*origin.job_id)));
                refused.extend(refusals);
                if is_second && refused.iter().any(Refusal::is_lost) {
                    return Ok(Publication::Lost(refused));
                }
            }
        }
    }
}

/// Whether a generation may stay: it has our format, and all its files stand as long as they were written; [`verify`]
/// reads them, too.
pub(super) fn may_stay(generation: &Generation) -> bool {
    Manifest::read(&generation.path)
        .is_ok_and(|manifest| manifest.has_our_format() && manifest.is_there(&generation.path))
}

enum Outcome {
    Done(Published),
    /// These archives are to be left out, and the work to be begun anew.
    Without(Vec<Refusal>),
}

/// One attempt at a publication.
struct Work<'a> {
    folder: &'a Folder,
    /// The last generation that can be read, and where it is.
    last: Option<(&'a Path, &'a Manifest)>,
    sizes: Sizes,
    cancel: &'a Cancel,
}

impl<'a> Work<'a> {
    fn begin(folder: &'a Folder, last: Option<(&'a Path, &'a Manifest)>, sizes: Sizes, cancel: &'a Cancel) -> Self {
        Self { folder, last, sizes, cancel }
    }

    /// Publishes what is wanted, as long as nothing was lost; `before` are the archives that earlier attempts refused.
    fn publish(&self, wanted: &[Origin], tables: &[(String, RecordBatch)], before: &[Refusal]) -> Result<Outcome> {
        let usable = self.last.filter(|(_, last)| last.is_ours());
        let is_there = |part: &manifest::Part| usable.is_some_and(|(path, _)| part.is_there(path));
        let again = !before.is_empty();
        let Plan { kept, written, boundaries, refused } =
            diff::plan(usable.map(|(_, last)| last), &is_there, wanted, self.sizes, again, self.cancel)?;
        if before.iter().chain(&refused).any(Refusal::is_lost) {
            return Ok(Outcome::Without(refused));
        }
        let draft = self.folder.draft()?;
        let (disk, to) = (self.folder.disk(), draft.path());
        disk.make_folder(&to.join("dataset"))?;
        let mut catalog = catalog::write(disk, usable, to, tables, self.cancel)?;
        let known: Vec<manifest::Boundary> = boundaries.iter().map(|(_, boundary)| boundary.clone()).collect();
        match catalog::take_over(disk, usable.filter(|(_, last)| last.boundaries == known), to, boundaries::NAME)? {
            Some(same) => catalog.push(same),
            None => match boundaries::read(&boundaries, wanted, self.cancel) {
                Ok(read) => catalog.push(catalog::write_boundaries(disk, usable, to, read, self.cancel)?),
                Err(Stop::Failed(error)) => return Err(error),
                Err(Stop::Refused(at, error)) => return without(refused, wanted.get(at), error),
            },
        }
        catalog.sort_by(|a, b| a.path.cmp(&b.path));
        for part in &kept {
            self.cancel.check()?;
            if let Some((from, _)) = usable {
                make_folders(disk, to, part.folder())?;
                disk.link_or_copy(&from.join(&part.path), &to.join(&part.path))?;
            }
        }
        let (parts_kept, mut parts) = (kept.len(), kept);
        for (folder, pieces) in written {
            make_folders(disk, to, &folder)?;
            match self.write(to, draft.number(), &folder, pieces, wanted) {
                Ok(new) => parts.extend(new),
                Err(Stop::Failed(error)) => return Err(error),
                Err(Stop::Refused(at, error)) => return without(refused, wanted.get(at), error),
            }
        }
        let parts_written = parts.len().saturating_sub(parts_kept);
        parts.sort_by(|a, b| a.path.cmp(&b.path));
        let manifest = Manifest::new(draft.number(), parts, catalog, known);
        if let Some((_, last)) = self.last.filter(|(at, last)| last.says_the_same(&manifest) && last.is_there(at)) {
            let generation = last.generation;
            return Ok(Outcome::Done(Published { generation, parts_written, parts_kept, rows: last.rows, refused }));
        }
        manifest.write(disk, to)?;
        self.cancel.check()?;
        let generation = draft.publish()?.number;
        Ok(Outcome::Done(Published { generation, parts_written, parts_kept, rows: manifest.rows, refused }))
    }

    /// Writes the parts of one folder.
    fn write(
        &self,
        to: &Path,
        generation: u64,
        folder: &str,
        pieces: Vec<Piece>,
        wanted: &[Origin],
    ) -> std::result::Result<Vec<manifest::Part>, Stop> {
        let mut pieces = ordered(pieces, wanted).into_iter().peekable();
        let mut parts = Vec::new();
        while let Some(first) = pieces.next() {
            let name = format!("part-{generation:06}-{:02}.parquet", parts.len());
            let (origin, rows) = read(first, folder, wanted)?;
            let mut out = Output::begin(self.folder.disk(), &to.join(folder), &name)?;
            let mut groups = Groups::begin(&mut out, rows.columns.table.clone(), self.cancel);
            let mut added = groups.add(origin, &rows);
            drop(rows);
            let is_room = |groups: &Groups<'_>, next: &Piece| {
                groups.rows.saturating_add(next.rows) <= self.sizes.rows && groups.bytes() < self.sizes.bytes
            };
            while added.is_ok() {
                let Some(piece) = pieces.next_if(|next| is_room(&groups, next)) else { break };
                let (origin, rows) = read(piece, folder, wanted)?;
                added = groups.add(origin, &rows);
            }
            let (rows, bbox) = (groups.rows, groups.bounds);
            let finished = added.and_then(|()| groups.finish());
            let (row_groups, origins) = finished.map_err(|error| Output::cause(&mut out, error))?;
            let file = Output::keep(out, &to.join(folder).join(&name))?;
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

/// The end of an attempt that came upon an archive which cannot be read.
fn without(mut refused: Vec<Refusal>, origin: Option<&Origin>, error: Error) -> Result<Outcome> {
    refused.extend(origin.map(|origin| diff::refused(error).map(|error| Refusal::of(origin, error))).transpose()?);
    Ok(Outcome::Without(refused))
}

/// The layers of a folder along the curve; what lies in one place by job and layer, so that the order is always the same.
fn ordered(pieces: Vec<Piece>, wanted: &[Origin]) -> Vec<Piece> {
    let boxes: Vec<_> = pieces.iter().map(|piece| piece.bounds).collect();
    let mut placed: Vec<(u64, Piece)> = hilbert::along_curve(&boxes).into_iter().zip(pieces).collect();
    let id = |piece: &Piece| wanted.get(piece.origin).map(|origin| (origin.kind.word(), origin.job_id.clone()));
    placed.sort_by_cached_key(|(place, piece)| (*place, id(piece), piece.layer.clone()));
    placed.into_iter().map(|(_, piece)| piece).collect()
}

/// The rows of a layer that belongs into `folder`.
fn read<'a>(
    piece: Piece,
    folder: &str,
    wanted: &'a [Origin],
) -> std::result::Result<(&'a Origin, convert::Rows), Stop> {
    let at = piece.origin;
    let Some(origin) = wanted.get(at) else {
        return Err(Stop::Failed(Error::new(Kind::Value, "an archive is in the plan that is not wanted")));
    };
    let rows = match piece.read {
        Some(rows) => rows,
        None => convert::read(origin, &piece.layer, None).map_err(|error| Stop::Refused(at, error))?,
    };
    if rows.folder(origin) != folder || rows.len() as u64 != piece.rows {
        return Err(Stop::Refused(at, boundaries::other_archive(&origin.archive)));
    }
    Ok((origin, rows))
}

/// Makes the folders of a path in a generation, with `/` between them.
fn make_folders(disk: &Disk, generation: &Path, folders: &str) -> Result<()> {
    let mut path = generation.to_owned();
    for name in folders.split('/') {
        path.push(name);
        disk.make_folder(&path)?;
    }
    Ok(())
}
