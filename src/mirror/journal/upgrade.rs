//! Brings a journal to the present format, in the step that opens it for writing: a kill leaves the old one or the new one.

use rusqlite::Connection;

use super::checksums;
use super::schema::{APPLICATION, FIRST, SECOND, VERSION};

/// Adds what a journal of that format lacks; 0 is that of an empty file. What an old journal holds is taken as it is, since
/// it has no checksums yet.
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
