//! Ingests downloads: file into the store, then the journal, then removal of the download; quarantines and repairs
//! archives.
//!
//! This order makes a kill harmless. The journal never names an archive before it is stored. A download stays in
//! `incoming` until the journal knows it, so no file is downloaded twice.

use std::collections::HashSet;
use std::path::Path;

use chrono::{DateTime, Utc};

use super::archive_log::{self, LogEntry};
use super::archive_store::{Finding, Problem, Stored};
use super::fs::file_name;
use super::journal::{Archive, FileState, ItemKind, Journal, ReadTxn, WriteTxn};
use super::layout::Folder;
use super::sync_cycle::SyncCycle;
use headland_base::error::{Kind, Result};

/// Stores a complete file as the archive of the record with this stamp.
///
/// `extra` writes in the same transaction, for example to count the call. If the record has changed meanwhile,
/// [`collect_garbage`] removes the unreferenced file.
pub fn ingest(
    folder: &Folder,
    journal: &Journal,
    item: (ItemKind, &str, &str),
    incoming: &Path,
    now: DateTime<Utc>,
    extra: impl FnOnce(&WriteTxn<'_>) -> Result<()>,
) -> Result<Stored> {
    let (kind, id, stamp) = item;
    let _guard = folder.lock_ingest();
    let store = folder.store();
    let stored = store.add(incoming)?;
    let Stored { sha256, bytes, .. } = stored.clone();
    let file_name = file_name(incoming).unwrap_or_default().to_owned();
    let entry = LogEntry {
        account: journal.read(|txn| txn.get_meta("account"))?.unwrap_or_default(),
        kind: kind.as_str().to_owned(),
        id: id.to_owned(),
        stamp: stamp.to_owned(),
        sha256: sha256.clone(),
        bytes,
        file_name: file_name.clone(),
        taken_at: now.to_rfc3339(),
    };
    archive_log::append(folder.disk(), folder.path(), &entry)?;
    journal.write(|txn| {
        txn.add_archive(&sha256, bytes, now)?;
        txn.set_file(kind, id, stamp, &FileState::Have(Archive { sha256, file_name, bytes }), now)?;
        extra(txn)
    })?;
    store.remove_download(incoming)?;
    Ok(stored)
}

/// Quarantines an unreadable archive with the reason. Its record falls back to the archive of its earlier version, if
/// any.
pub fn quarantine(folder: &Folder, journal: &Journal, sha256: &str, reason: &str, now: DateTime<Utc>) -> Result<()> {
    let _guard = folder.lock_ingest();
    journal.write(|txn| txn.quarantine(sha256, reason, now))?;
    folder.store().quarantine(sha256)
}

/// Forgets missing archives of records that the service removed, since they cannot be downloaded again. Returns the ids
/// of these records.
pub(super) fn forget_missing_archives(folder: &Folder, journal: &Journal, now: DateTime<Utc>) -> Result<Vec<String>> {
    let _guard = folder.lock_ingest();
    let store = folder.store();
    let mut lost = journal.read(ReadTxn::archives_of_removed)?;
    lost.retain(|(sha256, _)| store.path_of(sha256).is_none());
    if !lost.is_empty() {
        journal.write(|txn| lost.iter().try_for_each(|(sha256, _)| txn.mark_lost(sha256, now)))?;
    }
    Ok(lost.into_iter().map(|(_, id)| id).collect())
}

/// Removes unreferenced archives and returns their number. Called after a publication.
pub fn collect_garbage(folder: &Folder, journal: &Journal) -> Result<u64> {
    let _guard = folder.lock_ingest();
    let unused = journal.read(ReadTxn::unused_archives)?;
    for sha256 in &unused {
        folder.store().remove(sha256)?;
    }
    if !unused.is_empty() {
        journal.write(|txn| unused.iter().try_for_each(|sha256| txn.delete_archive(sha256)))?;
    }
    Ok(u64::try_from(unused.len()).unwrap_or(u64::MAX))
}

/// Rewrites the archive log: its undamaged lines, and the entries of the journal that it lacks.
pub(super) fn repair_archive_log(folder: &Folder, journal: &Journal) -> Result<()> {
    let _guard = folder.lock_ingest();
    let mut entries = archive_log::read(folder.path())?;
    let mut logged: HashSet<(String, String)> =
        entries.iter().map(|entry| (entry.stamp.clone(), entry.sha256.clone())).collect();
    let known = journal.read(ReadTxn::logged_archives)?.into_iter();
    entries.extend(known.filter(|entry| logged.insert((entry.stamp.clone(), entry.sha256.clone()))));
    archive_log::rewrite(folder.disk(), folder.path(), &entries)
}

/// Completes an interrupted run: repairs the archive log, ingests finished downloads and moves quarantined archives.
/// Returns the number of downloads.
///
/// Every run starts with it.
pub fn recover(folder: &Folder, journal: &Journal, now: DateTime<Utc>) -> Result<u64> {
    let store = folder.store();
    // A kill or a full disk may have truncated its last line.
    if archive_log::has_damaged_lines(folder.path())? {
        repair_archive_log(folder, journal)?;
    }
    for sha256 in journal.read(ReadTxn::quarantined)? {
        store.quarantine(&sha256)?;
    }
    let mut ingested: u64 = 0;
    for (stamp, path) in folder.completed_downloads()? {
        let item = journal.read(|txn| txn.item_by_stamp(&stamp))?;
        let is_new = item.as_ref().is_some_and(|item| !matches!(item.file, FileState::Have(_)));
        // A download whose record has changed since belongs to no record.
        let (kind, id) = item.as_ref().map_or((ItemKind::Job, ""), |item| (item.kind, item.id.as_str()));
        match ingest(folder, journal, (kind, id, &stamp), &path, now, |_| Ok(())) {
            Ok(_) => ingested = ingested.saturating_add(u64::from(is_new)),
            Err(error) if error.kind() == Kind::Archive => store.remove_download(&path)?,
            Err(error) => return Err(error),
        }
    }
    Ok(ingested)
}

/// Marks the archives that [`super::Store::verify`] found missing or damaged, so that the next sync downloads them.
/// Returns their number.
pub fn repair(journal: &Journal, findings: &[Finding], now: DateTime<Utc>) -> Result<u64> {
    let lost: Vec<&str> = findings
        .iter()
        .filter(|finding| finding.problem != Problem::Extra)
        .filter_map(|finding| finding.path.file_stem()?.to_str())
        .collect();
    journal.write(|txn| lost.iter().try_for_each(|sha256| txn.mark_lost(sha256, now)))?;
    Ok(u64::try_from(lost.len()).unwrap_or(u64::MAX))
}

/// Forgets damaged records of the journal, so that the next sync reads them again. Returns their names.
pub(super) fn forget_damaged(journal: &Journal) -> Result<Vec<String>> {
    journal.write(|txn| {
        let damaged = txn.forget_damaged()?;
        if !damaged.is_empty() {
            SyncCycle::abandon(txn)?;
        }
        Ok(damaged)
    })
}
