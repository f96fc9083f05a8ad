//! Database records of dispatch: JSON objects by kind and id.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde_json::Value;

use super::payload::Object;
use crate::database::{Database, SqlResult};
use crate::keys::guid;
use crate::locked::locked;
use crate::reply::Reply;

/// Kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Account,
    Equipment,
    Operation,
    /// Completion requirements of an operation type; the type is the id.
    Requirements,
    Product,
    Batch,
    Blend,
    /// A legacy work order.
    Order,
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::Equipment => "equipment",
            Self::Operation => "operation",
            Self::Requirements => "requirements",
            Self::Product => "product",
            Self::Batch => "batch",
            Self::Blend => "blend",
            Self::Order => "order",
        }
    }
}

/// Filter of a list; all records are of one kind.
#[derive(Clone, Copy, Debug)]
pub(super) enum ListFilter<'a> {
    /// All records.
    Every(Kind),
    /// The records of a section.
    Section(Kind, &'a str),
    /// The operations assigned to equipment, or only the released ones.
    Assigned { equipment: &'a str, released_only: bool },
}

impl ListFilter<'_> {
    const fn kind(&self) -> Kind {
        match self {
            Self::Every(kind) | Self::Section(kind, _) => *kind,
            Self::Assigned { .. } => Kind::Operation,
        }
    }

    /// Returns the SQL condition and the value of `?3`.
    const fn condition(&self) -> (&'static str, &str) {
        match self {
            Self::Every(_) => ("?3 = ''", ""),
            Self::Section(_, section) => ("section = ?3", section),
            Self::Assigned { equipment, released_only: false } => (ASSIGNED, equipment),
            Self::Assigned { equipment, released_only: true } => (RELEASED, equipment),
        }
    }
}

const ASSIGNED: &str = "EXISTS (SELECT 1 FROM json_each(body, '$.assignments') AS assignment \
                        WHERE assignment.value ->> 'equipmentId' = ?3 COLLATE NOCASE)";

const RELEASED: &str = "body ->> 'status' = 'Released' AND EXISTS (SELECT 1 FROM json_each(body, '$.assignments') AS \
                        assignment WHERE assignment.value ->> 'equipmentId' = ?3 COLLATE NOCASE)";

/// A new record.
pub(super) struct NewRecord<'a> {
    pub(super) customer: u32,
    pub(super) kind: Kind,
    pub(super) section: &'a str,
}

impl Database {
    /// Returns a record.
    pub(super) fn record(&self, customer: u32, kind: Kind, id: &str) -> SqlResult<Option<Object>> {
        record(&locked(&self.0), customer, kind, id)
    }

    /// Adds a record that `make` builds from the new id, and returns the record.
    pub(super) fn add_record(&self, new: &NewRecord<'_>, make: impl FnOnce(&str) -> Object) -> SqlResult<Object> {
        let mut connection = locked(&self.0);
        let transaction = connection.transaction()?;
        let object = insert(&transaction, new, make)?;
        transaction.commit()?;
        Ok(object)
    }

    /// Inserts or replaces the record of an id that the caller chooses.
    pub(super) fn set_record(&self, customer: u32, kind: Kind, id: &str, object: &Object) -> SqlResult<()> {
        locked(&self.0)
            .execute(
                "INSERT INTO dispatch (customer, kind, id, section, body) VALUES (?, ?, ?, '', ?) \
                 ON CONFLICT (customer, kind, id) DO UPDATE SET body = excluded.body",
                params![customer, kind.as_str(), id, to_json(object)],
            )
            .map(|_| ())
    }

    /// Changes a record. Returns `None` for a missing record. An error of `change` rolls the transaction back.
    pub(super) fn change_record<T>(
        &self,
        customer: u32,
        kind: Kind,
        id: &str,
        change: impl FnOnce(&mut Object) -> Result<T, Reply>,
    ) -> Result<Option<T>, Reply> {
        let mut connection = locked(&self.0);
        let transaction = connection.transaction()?;
        let Some(mut object) = record(&transaction, customer, kind, id)? else { return Ok(None) };
        let result = change(&mut object)?;
        // An order is in the section of its operator, which may change. Other kinds keep their section.
        transaction.execute(
            "UPDATE dispatch SET body = ?4, section = CASE kind WHEN 'order' THEN coalesce(?4 ->> 'operator', '') \
             ELSE section END WHERE customer = ?1 AND kind = ?2 AND id = ?3",
            params![customer, kind.as_str(), id, to_json(&object)],
        )?;
        transaction.commit()?;
        Ok(Some(result))
    }

    /// Removes a record and returns whether it existed.
    pub(super) fn remove_record(&self, customer: u32, kind: Kind, id: &str) -> SqlResult<bool> {
        let removed = locked(&self.0).execute(
            "DELETE FROM dispatch WHERE customer = ? AND kind = ? AND id = ?",
            params![customer, kind.as_str(), id],
        )?;
        Ok(removed > 0)
    }

    /// Returns the total of a list and `count` records after the first `skip`, oldest first. Both queries see the same
    /// state.
    pub(super) fn records(
        &self,
        customer: u32,
        filter: &ListFilter<'_>,
        skip: u64,
        count: u64,
    ) -> SqlResult<(u64, Vec<Value>)> {
        let mut connection = locked(&self.0);
        let transaction = connection.transaction()?;
        let (condition, value) = filter.condition();
        let kind = filter.kind().as_str();
        let total: i64 = transaction.query_row(
            &format!("SELECT count(*) FROM dispatch WHERE customer = ?1 AND kind = ?2 AND {condition}"),
            params![customer, kind, value],
            |row| row.get(0),
        )?;
        let mut page = transaction.prepare_cached(&format!(
            "SELECT body FROM dispatch WHERE customer = ?1 AND kind = ?2 AND {condition} ORDER BY number LIMIT ?4 OFFSET ?5"
        ))?;
        let (skip, count) = (i64::try_from(skip).unwrap_or(i64::MAX), i64::try_from(count).unwrap_or(i64::MAX));
        let records = page
            .query_map(params![customer, kind, value, count, skip], |row| parse_object(row).map(Value::Object))?
            .collect::<SqlResult<_>>()?;
        Ok((total.unsigned_abs(), records))
    }

    /// Returns ids and names of all records of a kind.
    pub(crate) fn list_names(&self, customer: u32, kind: Kind) -> SqlResult<Vec<(String, String)>> {
        let connection = locked(&self.0);
        let mut query = connection.prepare_cached(
            "SELECT id, coalesce(body ->> 'name', '') FROM dispatch WHERE customer = ? AND kind = ? ORDER BY number",
        )?;
        query.query_map(params![customer, kind.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    }

    /// Adds the generated records in one transaction, unless this state already had them: deleted records stay deleted.
    pub(super) fn fill_once(&self, seed: u64, fill: impl FnOnce(&Connection) -> SqlResult<()>) -> SqlResult<()> {
        let mut connection = locked(&self.0);
        let transaction = connection.transaction()?;
        let is_first = transaction.execute(
            "INSERT OR IGNORE INTO setting (name, value) VALUES ('dispatch ids', ?)",
            [fastrand::Rng::with_seed(seed ^ ID_SALT).u32(..).to_string()],
        )?;
        if is_first > 0 {
            fill(&transaction)?;
        }
        transaction.commit()
    }
}

/// Separates the random stream of ids from other streams of the same seed.
const ID_SALT: u64 = 0x6469_7370_6174_6368;

/// Adds a record under a new id: a GUID derived from the seed and the record number.
pub(super) fn insert(
    connection: &Connection,
    new: &NewRecord<'_>,
    make: impl FnOnce(&str) -> Object,
) -> SqlResult<Object> {
    let start: i64 =
        connection.query_row("SELECT CAST(value AS INTEGER) FROM setting WHERE name = 'dispatch ids'", [], |row| {
            row.get(0)
        })?;
    let last: Option<i64> = connection
        .query_row("SELECT seq FROM sqlite_sequence WHERE name = 'dispatch'", [], |row| row.get(0))
        .optional()?;
    let number = last.unwrap_or(0).saturating_add(1);
    let id_seed = (start.unsigned_abs() << 32) ^ number.unsigned_abs();
    let id = guid(fastrand::Rng::with_seed(id_seed).u128(..));
    let object = make(&id);
    connection
        .prepare_cached("INSERT INTO dispatch (number, customer, kind, id, section, body) VALUES (?, ?, ?, ?, ?, ?)")?
        .execute(params![number, new.customer, new.kind.as_str(), id, new.section, to_json(&object)])?;
    Ok(object)
}

fn record(connection: &Connection, customer: u32, kind: Kind, id: &str) -> SqlResult<Option<Object>> {
    connection
        .prepare_cached("SELECT body FROM dispatch WHERE customer = ? AND kind = ? AND id = ?")?
        .query_row(params![customer, kind.as_str(), id], parse_object)
        .optional()
}

fn parse_object(row: &Row<'_>) -> SqlResult<Object> {
    let body: String = row.get(0)?;
    serde_json::from_str(&body).map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, error.into()))
}

fn to_json(object: &Object) -> String {
    serde_json::to_string(object).unwrap_or_default()
}
