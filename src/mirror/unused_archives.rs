//! Removes archives that no record refers to.

use super::journal::{Journal, ReadTxn};
use super::layout::Folder;
use headland_base::error::Result;

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
