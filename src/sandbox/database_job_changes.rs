//! Changes of jobs in the store on behalf of tests: add, replace and remove.

use chrono::{DateTime, Utc};
use rusqlite::{OptionalExtension as _, params};

use super::database::{Database, SqlResult, StoredJob};
use super::locked::locked;

/// Customer of removed jobs. The rows stay, so that a restart does not add the jobs again.
const REMOVED_CUSTOMER: i64 = -1;

impl Database {
    /// Whether a job with that id exists or was removed.
    pub(super) fn has_job_id(&self, id: &str) -> SqlResult<bool> {
        locked(&self.0).query_row("SELECT EXISTS (SELECT 1 FROM job WHERE id = ?)", [id], |row| row.get(0))
    }

    /// Inserts a generated job with `now` as creation and update time.
    pub(super) fn add_job(&self, customer: u32, job: StoredJob, now: DateTime<Utc>) -> SqlResult<()> {
        self.add_generated(customer, std::iter::once(StoredJob { created: now, updated: now, ..job }))
    }

    /// Sets the update time of a job, increments its revision and removes its conversions. Returns false for an unknown
    /// job.
    pub(super) fn change_job(&self, customer: u32, id: &str, now: DateTime<Utc>) -> SqlResult<bool> {
        let mut connection = locked(&self.0);
        let transaction = connection.transaction()?;
        let changed = transaction.execute(
            "UPDATE job SET updated = ? WHERE customer = ? AND id = ?",
            params![now.timestamp_micros(), customer, id],
        )?;
        if changed > 0 {
            transaction.execute(
                "INSERT INTO revision (job, number) VALUES (?, 1) ON CONFLICT (job) DO UPDATE SET number = number + 1",
                [id],
            )?;
            transaction.execute("DELETE FROM conversion WHERE job = ?", [id])?;
        }
        transaction.commit()?;
        Ok(changed > 0)
    }

    /// Removes a job from the list. Returns false for an unknown job.
    pub(super) fn remove_job(&self, customer: u32, id: &str) -> SqlResult<bool> {
        let removed = locked(&self.0).execute(
            "UPDATE job SET customer = ? WHERE customer = ? AND id = ?",
            params![REMOVED_CUSTOMER, customer, id],
        )?;
        Ok(removed > 0)
    }

    /// Returns how often the file of a job was changed.
    pub(super) fn revision(&self, id: &str) -> SqlResult<u64> {
        let number = locked(&self.0)
            .prepare_cached("SELECT number FROM revision WHERE job = ?")?
            .query_row([id], |row| row.get::<_, i64>(0))
            .optional()?;
        Ok(number.unwrap_or(0).unsigned_abs())
    }
}
