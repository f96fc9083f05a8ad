//! Ingests downloads: file into the store, then the journal, then removal of the download.
//!
//! This order makes a kill harmless. The journal never names an archive before it is stored. A download stays in
//! `incoming` until the journal knows it, so no file is downloaded twice.

use std::path::Path;

use chrono::{DateTime, Utc};

use super::archive_log::{self, LogEntry};
use super::archive_repair::repair_archive_log;
use super::archive_store::Stored;
use super::fs::file_name;
use super::journal::{Archive, FileState, ItemKind, Journal, ReadTxn, WriteTxn};
use super::layout::Folder;
use headland_base::error::{Kind, Result};

/// Stores a complete file as the archive of the record with this stamp.
///
/// `extra` writes in the same transaction, for example to count the call. If the record has changed meanwhile,
/// [`super::collect_garbage`] removes the unreferenced file.
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
        txn.set_file(kind, id, stamp, &FileState::Stored(Archive { sha256, file_name, bytes }), now)?;
        extra(txn)
    })?;
    store.remove_download(incoming)?;
    Ok(stored)
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
        let is_new = item.as_ref().is_some_and(|item| !matches!(item.file, FileState::Stored(_)));
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
