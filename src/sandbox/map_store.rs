//! Database records of prescription maps and of their transfers to field computers.
//!
//! A transfer stores the delivery time when it is queued. The clock alone then decides between queued and delivered.

use chrono::{DateTime, Utc};
use rusqlite::{OptionalExtension as _, Row, params};

use super::database::{Database, NewUpload, SqlResult, from_micros, unused_id};
use super::fields::Prescription;
use super::locked::locked;

/// A prescription map.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StoredMap {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) created: DateTime<Utc>,
}

/// Outcome of a send request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendOutcome {
    /// The map is queued.
    Queued,
    /// The same map is already queued for the computer.
    SameMap,
    /// Another map with that name is already queued for the computer.
    SameName,
}

/// Transfer of a map to a field computer of a customer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sending<'a> {
    pub(super) customer: u32,
    pub(super) map: &'a StoredMap,
    pub(super) computer: &'a str,
    /// Time of the computer's next poll.
    pub(super) delivered: DateTime<Utc>,
}

impl Database {
    /// Inserts the generated maps of a customer that are missing, as delivered.
    pub(super) fn add_generated_maps(&self, customer: u32, maps: &[Prescription]) -> SqlResult<()> {
        let mut connection = locked(&self.0);
        let transaction = connection.transaction()?;
        for map in maps {
            let created = map.created.timestamp_micros();
            let new = transaction.execute(
                "INSERT OR IGNORE INTO map (id, customer, name, created) VALUES (?, ?, ?, ?)",
                params![map.id, customer, map.name, created],
            )?;
            if new > 0 {
                transaction.execute(
                    "INSERT INTO sending (customer, map, name, computer, delivered) VALUES (?, ?, ?, ?, ?)",
                    params![customer, map.id, map.name, map.computer, created],
                )?;
            }
        }
        transaction.commit()
    }

    /// Inserts an uploaded map and returns its new id.
    pub(super) fn add_map(
        &self,
        customer: u32,
        upload: NewUpload<'_>,
        file_type: &str,
        now: DateTime<Utc>,
    ) -> SqlResult<String> {
        let mut connection = locked(&self.0);
        let transaction = connection.transaction()?;
        let id = unused_id(&transaction, "map", 2_000_000)?;
        transaction.execute(
            "INSERT INTO map (id, customer, name, file_type, created, file) VALUES (?, ?, ?, ?, ?, ?)",
            params![id, customer, upload.name, file_type, now.timestamp_micros(), upload.file],
        )?;
        transaction.commit()?;
        Ok(id)
    }

    /// Returns the maps of a customer, newest first.
    pub(super) fn maps(&self, customer: u32) -> SqlResult<Vec<StoredMap>> {
        let connection = locked(&self.0);
        let mut query = connection.prepare_cached(
            "SELECT id, name, created FROM map WHERE customer = ? ORDER BY created DESC, number DESC",
        )?;
        query.query_map([customer], stored_map)?.collect()
    }

    /// Finds a map of a customer by id.
    pub(super) fn map(&self, customer: u32, id: &str) -> SqlResult<Option<StoredMap>> {
        locked(&self.0)
            .query_row(
                "SELECT id, name, created FROM map WHERE customer = ? AND id = ?",
                params![customer, id],
                stored_map,
            )
            .optional()
    }

    /// Returns type and stored file name of an uploaded map; `None` for a generated map.
    pub(super) fn map_file(&self, id: &str) -> SqlResult<Option<(String, String)>> {
        let file = |row: &Row<'_>| {
            let (kind, file): (Option<String>, Option<String>) = (row.get(0)?, row.get(1)?);
            Ok(file.map(|file| (kind.unwrap_or_default(), file)))
        };
        let found = locked(&self.0).query_row("SELECT file_type, file FROM map WHERE id = ?", [id], file);
        Ok(found.optional()?.flatten())
    }

    /// Queues a map for a computer, unless that map or another map with its name is queued (specification 4.3).
    pub(super) fn send(&self, sending: &Sending<'_>, now: DateTime<Utc>) -> SqlResult<SendOutcome> {
        let Sending { customer, map, computer, delivered } = sending;
        let mut connection = locked(&self.0);
        let transaction = connection.transaction()?;
        let queued = |column: &str, value: &str| {
            transaction.query_row(
                &format!(
                    "SELECT EXISTS (SELECT 1 FROM sending WHERE customer = ? AND computer = ? AND delivered > ? \
                     AND {column} = ?)"
                ),
                params![customer, computer, now.timestamp_micros(), value],
                |row| row.get::<_, bool>(0),
            )
        };
        if queued("map", &map.id)? {
            return Ok(SendOutcome::SameMap);
        }
        if queued("name", &map.name)? {
            return Ok(SendOutcome::SameName);
        }
        transaction.execute(
            "INSERT INTO sending (customer, map, name, computer, delivered) VALUES (?, ?, ?, ?, ?)",
            params![customer, map.id, map.name, computer, delivered.timestamp_micros()],
        )?;
        transaction.commit()?;
        Ok(SendOutcome::Queued)
    }

    /// Returns the queued or the delivered maps of a computer without duplicates, last sent first. On a legacy device a
    /// file overwrites the file with its name (specification 4.3).
    pub(super) fn maps_of_computer(
        &self,
        customer: u32,
        computer: &str,
        is_legacy: bool,
        is_queued: bool,
        now: DateTime<Utc>,
    ) -> SqlResult<Vec<StoredMap>> {
        let connection = locked(&self.0);
        let (same, state) = (if is_legacy { "name" } else { "map" }, if is_queued { ">" } else { "<=" });
        let mut query = connection.prepare_cached(&format!(
            "SELECT map.id, map.name, map.created FROM sending JOIN map ON map.id = sending.map \
             WHERE sending.number IN (SELECT max(number) FROM sending WHERE customer = ? AND computer = ? \
             AND delivered {state} ? GROUP BY {same}) ORDER BY sending.number DESC"
        ))?;
        query.query_map(params![customer, computer, now.timestamp_micros()], stored_map)?.collect()
    }

    /// Returns the time of a map's last delivery.
    pub(super) fn last_delivery(
        &self,
        customer: u32,
        map: &str,
        now: DateTime<Utc>,
    ) -> SqlResult<Option<DateTime<Utc>>> {
        locked(&self.0).query_row(
            "SELECT max(delivered) FROM sending WHERE customer = ? AND map = ? AND delivered <= ?",
            params![customer, map, now.timestamp_micros()],
            |row| Ok(row.get::<_, Option<i64>>(0)?.map(from_micros)),
        )
    }
}

fn stored_map(row: &Row<'_>) -> SqlResult<StoredMap> {
    Ok(StoredMap { id: row.get(0)?, name: row.get(1)?, created: from_micros(row.get(2)?) })
}
