//! Device locations, appended once per record.

use chrono::{DateTime, Utc};
use rusqlite::params;

use super::sql_values::{format_time, read_count, read_time, to_i64};
use super::transaction::{ReadTxn, WriteTxn};
use headland_base::error::Result;

/// Record of a location list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Kind of the device that made it, by `SubType`.
    ///
    /// The list of a field computer may hold the records of its hub (specification 2.3). They equal those in the hub's
    /// list.
    pub device_kind: String,
    /// Id of that device.
    pub device_id: String,
    /// Record id, unique per device.
    pub record_id: String,
    /// GPS time.
    pub time: Option<DateTime<Utc>>,
    /// Whole record, as JSON.
    pub json: String,
}

impl ReadTxn {
    /// Next locations in insertion order, after the row number `after`; 0 starts at the first.
    pub fn locations(&self, after: u64, limit: usize) -> Result<Vec<(u64, Location)>> {
        self.rows(
            "SELECT number, device_kind, device_id, record_id, time, json FROM location WHERE number > ?1 \
             ORDER BY number LIMIT ?2",
            params![to_i64(after), to_i64(limit as u64)],
            |row| {
                let location = Location {
                    device_kind: row.get(1)?,
                    device_id: row.get(2)?,
                    record_id: row.get(3)?,
                    time: read_time(row, 4)?,
                    json: row.get(5)?,
                };
                Ok((read_count(row, 0)?, location))
            },
        )
    }
}

impl WriteTxn<'_> {
    /// Appends new locations and returns their number.
    pub fn add_locations(&self, locations: &[Location]) -> Result<u64> {
        let mut added: u64 = 0;
        for Location { device_kind, device_id, record_id, time, json } in locations {
            let new = self.execute_and_revise(
                "INSERT OR IGNORE INTO location (device_kind, device_id, record_id, time, json) \
                 VALUES (?1, ?2, ?3, ?4, ?5)",
                params![device_kind, device_id, record_id, time.map(format_time), json],
            )?;
            added = added.saturating_add(new as u64);
        }
        Ok(added)
    }
}
