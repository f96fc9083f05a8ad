//! Upgrades a journal in the transaction that opens it for writing: after a kill, it has either the old or the new
//! format.

use rusqlite::Connection;

use super::checksums;
use super::schema::{APPLICATION, FIRST, SECOND, VERSION};

/// Upgrades a journal from `version`; 0 is an empty file. Rows of an old journal have no checksums and are not
/// verified.
pub(super) fn upgrade(txn: &Connection, version: i64) -> rusqlite::Result<()> {
    if version >= VERSION {
        return Ok(());
    }
    if version < 1 {
        txn.execute_batch(FIRST)?;
        txn.pragma_update(None, "application_id", APPLICATION)?;
    }
    if version < 2 {
        txn.execute_batch(SECOND)?;
        checksums::write_all(txn)?;
    }
    txn.pragma_update(None, "user_version", VERSION)
}
