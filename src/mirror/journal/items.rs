//! Jobs and grain carts: their listings and file states.

use chrono::{DateTime, Utc};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Row, params};

use super::sql_values::{read_count, read_time};
use super::transaction::ReadTxn;
use headland_base::error::Result;

/// Kind of record with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ItemKind {
    /// Job.
    Job,
    /// Grain cart file.
    Cart,
}

impl ItemKind {
    /// Text in the journal.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Job => "job",
            Self::Cart => "cart",
        }
    }
}

impl ToSql for ItemKind {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

impl FromSql for ItemKind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_str()? {
            "job" => Ok(Self::Job),
            "cart" => Ok(Self::Cart),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

/// File state of the current version of a record. A changed record starts again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// Not requested yet.
    Pending,
    /// The service converts it.
    Converting {
        /// Earliest time of the next request.
        ready_at: DateTime<Utc>,
        /// Number of requests so far.
        requests: u32,
    },
    /// Stored.
    Stored(Archive),
    /// The job recorded no coverage.
    NoCoverage {
        /// Message of the service.
        reason: String,
    },
    /// The service could not create the file.
    Failed {
        /// Message of the service.
        reason: String,
        /// Conversion status, if the service gave one; [`REFUSED`] if the access key was not permitted.
        status: Option<String>,
    },
    /// Downloaded, but unreadable.
    Quarantined {
        /// SHA-256 of the archive.
        sha256: String,
        /// Why it is unreadable.
        reason: String,
    },
    /// Replaced by a newer upload of the same name.
    Superseded {
        /// Id of the newer upload.
        newer_id: String,
    },
    /// The service removed the record. The archive is kept, and its rows leave the dataset.
    Gone,
}

impl FileState {
    /// Text in the journal.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Converting { .. } => "converting",
            Self::Stored(_) => "stored",
            Self::NoCoverage { .. } => "no coverage",
            Self::Failed { .. } => "failed",
            Self::Quarantined { .. } => "quarantined",
            Self::Superseded { .. } => "superseded",
            Self::Gone => "gone",
        }
    }
}

/// A stored archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    /// SHA-256 of the archive.
    pub sha256: String,
    /// File name given by the service.
    pub file_name: String,
    /// Length in bytes.
    pub bytes: u64,
}

/// Job or grain cart file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Job or grain cart.
    pub kind: ItemKind,
    /// Id.
    pub id: String,
    /// Name.
    pub name: String,
    /// `SubType` of the list.
    pub sub_type: Option<String>,
    /// Upload time.
    pub created: Option<DateTime<Utc>>,
    /// Time of the last change by the service.
    pub updated: Option<DateTime<Utc>>,
    /// Identity of the record and its version ([`super::Listed::stamp`]).
    pub stamp: String,
    /// Item of the list, as JSON.
    pub listed: String,
    /// Detail, as JSON; may be of an earlier version.
    pub detail: Option<String>,
    /// State of its file.
    pub file: FileState,
    /// Whether its archive was lost and not downloaded again yet.
    pub is_lost: bool,
    /// Archive whose rows are published: of this version, or of an earlier one until the new file is stored.
    pub archive: Option<Archive>,
    /// Number of the last full list that contained it.
    pub seen: u64,
}

#[cfg(test)]
impl Item {
    /// An item as a list has it, of which nothing else is known.
    pub(crate) fn listed(kind: ItemKind, id: &str) -> Self {
        Self {
            kind,
            id: id.to_owned(),
            name: "North 40".to_owned(),
            sub_type: None,
            created: None,
            updated: None,
            stamp: String::new(),
            listed: String::new(),
            detail: None,
            file: FileState::Pending,
            is_lost: false,
            archive: None,
            seen: 0,
        }
    }
}

/// Status of a file that the access key was not permitted to read.
pub(crate) const REFUSED: &str = "REFUSED";

/// Reason of a pending item whose archive was lost.
pub(super) const LOST_ARCHIVE: &str = "lost";

const COLUMNS: &str = "i.kind, i.id, i.name, i.sub_type, i.created, i.updated, i.stamp, i.listed, i.detail, i.state, \
    i.ready_at, i.requests, i.reason, i.status, i.quarantined_sha256, i.newer_id, i.sha256, i.file_name, a.bytes, i.seen";

/// Query for items; `rest` follows the `FROM` clause.
pub(super) fn query(rest: &str) -> String {
    format!("SELECT {COLUMNS} FROM item i LEFT JOIN archive a ON a.sha256 = i.sha256 {rest}")
}

pub(super) fn item(row: &Row<'_>) -> rusqlite::Result<Item> {
    let archive = archive(row, 16)?;
    let text = |column: usize| row.get::<_, Option<String>>(column).map(Option::unwrap_or_default);
    let reason = || text(12);
    let file = match row.get_ref(9)?.as_str()? {
        "converting" => {
            FileState::Converting { ready_at: read_time(row, 10)?.unwrap_or_default(), requests: row.get(11)? }
        }
        "stored" => archive.clone().map_or(FileState::Pending, FileState::Stored),
        "no coverage" => FileState::NoCoverage { reason: reason()? },
        "failed" => FileState::Failed { reason: reason()?, status: row.get(13)? },
        "quarantined" => FileState::Quarantined { sha256: text(14)?, reason: reason()? },
        "superseded" => FileState::Superseded { newer_id: text(15)? },
        "gone" => FileState::Gone,
        _ => FileState::Pending,
    };
    Ok(Item {
        kind: row.get(0)?,
        id: row.get(1)?,
        name: row.get(2)?,
        sub_type: row.get(3)?,
        created: read_time(row, 4)?,
        updated: read_time(row, 5)?,
        stamp: row.get(6)?,
        listed: row.get(7)?,
        detail: row.get(8)?,
        is_lost: file == FileState::Pending && reason()? == LOST_ARCHIVE,
        file,
        archive,
        seen: read_count(row, 19)?,
    })
}

/// Archive from three columns, starting at `first`.
fn archive(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<Archive>> {
    let Some(sha256) = row.get::<_, Option<String>>(first)? else { return Ok(None) };
    let file_name = row.get::<_, Option<String>>(first.saturating_add(1))?.unwrap_or_default();
    let bytes = row.get::<_, Option<i64>>(first.saturating_add(2))?.unwrap_or(0);
    Ok(Some(Archive { sha256, file_name, bytes: u64::try_from(bytes).unwrap_or(0) }))
}

impl ReadTxn {
    /// Item with an id.
    pub fn item(&self, kind: ItemKind, id: &str) -> Result<Option<Item>> {
        self.first(&query("WHERE i.kind = ?1 AND i.id = ?2"), params![kind, id], item)
    }

    /// All items of a kind, for the catalog.
    pub fn items(&self, kind: ItemKind) -> Result<Vec<Item>> {
        self.rows(&query("WHERE i.kind = ?1 ORDER BY i.number"), [kind], item)
    }

    /// All items whose rows belong to the dataset; each has an archive.
    pub fn wanted(&self) -> Result<Vec<Item>> {
        let query = query("WHERE i.sha256 IS NOT NULL AND i.state <> 'gone' ORDER BY i.number");
        self.rows(&query, [], item)
    }
}
