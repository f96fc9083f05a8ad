//! From a finished download to a finished step: the file into the store, then the journal, then the download away.
//!
//! The order is what makes a kill harmless: the journal never says that there is an archive before it is in its place,
//! and a download stays in `incoming` until the journal knows it, so that it is never fetched twice.

use std::collections::HashSet;
use std::path::Path;

use chrono::{DateTime, Utc};

use super::archive_log::{self, Entry};
use super::archive_store::{Finding, Stored, Trouble};
use super::fs::name_of;
use super::journal::{Archive, Damaged, FileState, ItemKind, Journal, Look, Step};
use super::layout::Folder;
use super::sync_cycle::Round;
use crate::error::{Kind, Result};

/// Takes a whole file in as that of the record with this stamp. `also` is kept in the same step, such as the count of the
/// call. Where the record has changed meanwhile, nothing refers to the file and [`drop_unused`] removes it.
pub fn take_in(
    folder: &Folder,
    journal: &Journal,
    item: (ItemKind, &str, &str),
    incoming: &Path,
    now: DateTime<Utc>,
    also: impl FnOnce(&Step<'_>) -> Result<()>,
) -> Result<Stored> {
    let (kind, id, stamp) = item;
    let _alone = folder.intake();
    let store = folder.store();
    let stored = store.take(incoming)?;
    let Stored { sha256, bytes, .. } = stored.clone();
    let file_name = name_of(incoming).unwrap_or_default().to_owned();
    let entry = Entry {
        account: journal.look(|look| look.about("account"))?.unwrap_or_default(),
        kind: kind.word().to_owned(),
        id: id.to_owned(),
        stamp: stamp.to_owned(),
        sha256: sha256.clone(),
        bytes,
        file_name: file_name.clone(),
        taken_at: now.to_rfc3339(),
    };
    archive_log::add(folder.disk(), folder.path(), &entry)?;
    journal.step(|step| {
        step.note_archive(&sha256, bytes, now)?;
        step.set_file(kind, id, stamp, &FileState::Have(Archive { sha256, file_name, bytes }), now)?;
        also(step)
    })?;
    store.release(incoming)?;
    Ok(stored)
}

/// Puts an archive that cannot be read into quarantine, with the reason. Who had it falls back to the archive of its
/// earlier version, where it has one.
pub fn set_aside(folder: &Folder, journal: &Journal, sha256: &str, reason: &str, now: DateTime<Utc>) -> Result<()> {
    let _alone = folder.intake();
    journal.step(|step| step.put_aside(sha256, reason, now))?;
    folder.store().quarantine(sha256)
}

/// Forgets archives of records that the service has no more, where somebody removed them: nobody can give them again. Gives
/// the ids of those records.
pub(super) fn forget_lost_of_gone(folder: &Folder, journal: &Journal, now: DateTime<Utc>) -> Result<Vec<String>> {
    let _alone = folder.intake();
    let store = folder.store();
    let mut lost = journal.look(Look::of_gone)?;
    lost.retain(|(sha256, _)| store.path_of(sha256).is_none());
    if !lost.is_empty() {
        journal.step(|step| lost.iter().try_for_each(|(sha256, _)| step.lose(sha256, now)))?;
    }
    Ok(lost.into_iter().map(|(_, id)| id).collect())
}

/// Removes archives that nothing refers to any more and gives how many they were; called after a publication.
pub fn drop_unused(folder: &Folder, journal: &Journal) -> Result<u64> {
    let _alone = folder.intake();
    let unused = journal.look(Look::unused)?;
    for sha256 in &unused {
        folder.store().remove(sha256)?;
    }
    if !unused.is_empty() {
        journal.step(|step| unused.iter().try_for_each(|sha256| step.forget_archive(sha256)))?;
    }
    Ok(u64::try_from(unused.len()).unwrap_or(u64::MAX))
}

/// The fact that every line of the ledger was written with its checksum.
const SEALED: &str = "ledger has checksums";

/// Writes the ledger anew: its whole lines, and those that it lacks of what the journal knows.
pub(super) fn mend_ledger(folder: &Folder, journal: &Journal) -> Result<()> {
    let _alone = folder.intake();
    let mut entries = archive_log::read(folder.path())?;
    let mut here: HashSet<(String, String)> =
        entries.iter().map(|entry| (entry.stamp.clone(), entry.sha256.clone())).collect();
    let known = journal.look(Look::taken)?.into_iter();
    entries.extend(known.filter(|entry| here.insert((entry.stamp.clone(), entry.sha256.clone()))));
    if !entries.is_empty() {
        archive_log::write(folder.disk(), folder.path(), &entries)?;
    }
    journal.step(|step| step.set_about(SEALED, "yes"))
}

/// Ends what a killed run began: takes finished downloads in and moves what was to be in quarantine. Gives how many
/// downloads those were. Every run begins with it.
pub fn settle(folder: &Folder, journal: &Journal, now: DateTime<Utc>) -> Result<u64> {
    if journal.look(|look| look.about(SEALED))?.is_none() {
        mend_ledger(folder, journal)?;
    }
    let store = folder.store();
    for sha256 in journal.look(Look::aside)? {
        store.quarantine(&sha256)?;
    }
    let mut taken: u64 = 0;
    for (stamp, path) in folder.arrivals()? {
        let item = journal.look(|look| look.of_stamp(&stamp))?;
        let is_new = item.as_ref().is_some_and(|item| !matches!(item.file, FileState::Have(_)));
        // Where the record has changed since, it is of nobody.
        let (kind, id) = item.as_ref().map_or((ItemKind::Job, ""), |item| (item.kind, item.id.as_str()));
        match take_in(folder, journal, (kind, id, &stamp), &path, now, |_| Ok(())) {
            Ok(_) => taken = taken.saturating_add(u64::from(is_new)),
            Err(error) if error.kind() == Kind::Archive => store.release(&path)?,
            Err(error) => return Err(error),
        }
    }
    Ok(taken)
}

/// Has the archives that [`super::Store::verify`] found missing or damaged asked for again by the next sync. Gives how many
/// they are.
pub fn mend(journal: &Journal, findings: &[Finding], now: DateTime<Utc>) -> Result<u64> {
    let lost: Vec<&str> = findings
        .iter()
        .filter(|finding| finding.trouble != Trouble::Extra)
        .filter_map(|finding| finding.path.file_stem()?.to_str())
        .collect();
    journal.step(|step| lost.iter().try_for_each(|sha256| step.lose(sha256, now)))?;
    Ok(u64::try_from(lost.len()).unwrap_or(u64::MAX))
}

/// Forgets records that are not what was written into the journal, so that the next sync reads them anew.
pub(super) fn forget_damaged(journal: &Journal) -> Result<Vec<Damaged>> {
    journal.step(|step| {
        let damaged = step.forget_damaged()?;
        if !damaged.is_empty() {
            Round::give_up(step)?;
        }
        Ok(damaged)
    })
}
