//! Stores pages of lists: new and changed records, and after a full list the removed ones.

use chrono::{DateTime, Utc};
use rusqlite::params;

use super::items::{ItemKind, LOST_ARCHIVE, REFUSED};
use super::record_version::Listed;
use super::sql_values::{format_time, read_count, to_i64};
use super::transaction::WriteTxn;
use headland_base::error::Result;

/// Changes found in a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Records that were unknown.
    pub new: u64,
    /// Records changed since their last listing.
    pub changed: u64,
    /// Records without changes.
    pub unchanged: u64,
}

/// Result of a full list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// Number of records removed since the last full list.
    Gone(u64),
    /// The pages held fewer records than `TotalCount`, because the list changed while it was read. The next full list
    /// decides.
    Unknown,
}

impl WriteTxn<'_> {
    /// Stores a page of the list of jobs or grain carts. `relist` is the number of the full list it belongs to.
    pub fn list_page(
        &self,
        kind: ItemKind,
        page: &[Listed],
        relist: Option<u64>,
        now: DateTime<Utc>,
    ) -> Result<Changes> {
        let mut changes = Changes::default();
        let seen = relist.map_or_else(|| Ok(self.relist()?.number), Ok)?;
        for listed in page {
            match self.list_record(kind, listed, to_i64(seen), now)? {
                None => changes.new = changes.new.saturating_add(1),
                Some(true) => changes.changed = changes.changed.saturating_add(1),
                Some(false) => changes.unchanged = changes.unchanged.saturating_add(1),
            }
            if kind == ItemKind::Cart {
                self.supersede(&listed.name)?;
            }
        }
        Ok(changes)
    }

    /// Keeps only the newest grain cart file of a name, the one with the highest id. Files with non-numeric ids are all
    /// kept (field notes, Values).
    fn supersede(&self, name: &str) -> Result<()> {
        if name.is_empty() {
            return Ok(());
        }
        let query = "SELECT id FROM item WHERE kind = 'cart' AND name = ?1 AND state <> 'gone'";
        let ids: Vec<String> = self.rows(query, [name], |row| row.get(0))?;
        let mut ids: Vec<(u128, String)> = ids.into_iter().filter_map(|id| Some((id.parse().ok()?, id))).collect();
        ids.sort_unstable();
        let Some((_, newest)) = ids.pop() else { return Ok(()) };
        self.execute_and_revise(
            "UPDATE item SET state = 'pending', newer_id = NULL WHERE kind = 'cart' AND id = ?1 \
             AND state = 'superseded'",
            [&newest],
        )?;
        // The newest upload replaces those whose archives were lost.
        self.execute(
            "UPDATE item SET reason = ?3 WHERE kind = 'cart' AND id = ?1 AND state = 'pending' AND EXISTS \
             (SELECT 1 FROM item lost WHERE lost.kind = 'cart' AND lost.name = ?2 AND lost.state = 'pending' \
             AND lost.reason = ?3)",
            params![newest, name, LOST_ARCHIVE],
        )?;
        for (_, older) in ids {
            self.execute_and_revise(
                "UPDATE item SET state = 'superseded', newer_id = ?2, ready_at = NULL, reason = NULL \
                 WHERE kind = 'cart' AND id = ?1 AND (state <> 'superseded' OR newer_id IS NOT ?2)",
                [&older, &newest],
            )?;
        }
        Ok(())
    }

    /// Ends a full list. Records that it lacks are marked as removed, if it had at least `total_count` records.
    pub fn finish_relist(
        &self,
        kind: ItemKind,
        number: u64,
        total_count: Option<u64>,
        now: DateTime<Utc>,
    ) -> Result<Removed> {
        let number = to_i64(number);
        let count = "SELECT count(*) FROM item WHERE kind = ?1 AND seen = ?2 AND state <> 'gone'";
        let seen = self.first(count, params![kind, number], |row| read_count(row, 0))?.unwrap_or(0);
        if total_count.is_some_and(|total| seen < total) {
            return Ok(Removed::Unknown);
        }
        let gone: Vec<String> = self.rows(
            "UPDATE item SET state_before_gone = state, state = 'gone' WHERE kind = ?1 AND seen < ?2 \
             AND state <> 'gone' RETURNING name",
            params![kind, number],
            |row| row.get(0),
        )?;
        if !gone.is_empty() {
            self.revise()?;
        }
        if kind == ItemKind::Cart {
            // The newest remaining upload may be one that was superseded.
            gone.iter().try_for_each(|name| self.supersede(name))?;
        }
        // What was refused may be permitted by now, and costs a call for each full list.
        self.execute(
            "UPDATE item SET state = 'converting', ready_at = ?3, requests = 0, reason = NULL, status = NULL \
             WHERE kind = ?1 AND state = 'failed' AND status = ?2",
            params![kind, REFUSED, format_time(now)],
        )?;
        if kind == ItemKind::Job {
            self.ask_refused_details()?;
        }
        Ok(Removed::Gone(u64::try_from(gone.len()).unwrap_or(u64::MAX)))
    }
}
