//! Repairs the archives of a mirror: quarantines unreadable ones, forgets missing ones, and rewrites their log.

use std::collections::HashSet;

use super::archive_log;
use super::archive_store::{Finding, Problem};
use super::journal::{Journal, ReadTxn};
use super::layout::Folder;
use headland_base::error::Result;

/// Quarantines an unreadable archive with the reason. Its record falls back to the archive of its earlier version, if
/// any.
pub fn quarantine(folder: &Folder, journal: &Journal, sha256: &str, reason: &str) -> Result<()> {
    let _guard = folder.lock_ingest();
    journal.write(|txn| txn.quarantine(sha256, reason))?;
    folder.store().quarantine(sha256)
}

/// Forgets missing archives of records that the service removed, since they cannot be downloaded again. Returns the ids
/// of these records.
pub(super) fn forget_missing_archives(folder: &Folder, journal: &Journal) -> Result<Vec<String>> {
    let _guard = folder.lock_ingest();
    let store = folder.store();
    let mut lost = journal.read(ReadTxn::archives_of_removed)?;
    lost.retain(|(sha256, _)| store.path_of(sha256).is_none());
    if !lost.is_empty() {
        journal.write(|txn| lost.iter().try_for_each(|(sha256, _)| txn.mark_lost(sha256)))?;
    }
    Ok(lost.into_iter().map(|(_, id)| id).collect())
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

/// Marks the archives that [`super::Store::verify`] found missing or damaged, so that the next sync downloads them.
/// Returns their number.
pub fn repair(journal: &Journal, findings: &[Finding]) -> Result<u64> {
    let lost: Vec<&str> = findings
        .iter()
        .filter(|finding| finding.problem != Problem::Extra)
        .filter_map(|finding| finding.path.file_stem()?.to_str())
        .collect();
    journal.write(|txn| lost.iter().try_for_each(|sha256| txn.mark_lost(sha256)))?;
    Ok(u64::try_from(lost.len()).unwrap_or(u64::MAX))
}
