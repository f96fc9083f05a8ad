//! Jobs and grain carts: what the list said, and what became of their files.

use chrono::{DateTime, Utc};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{OptionalExtension as _, Row, params};

use super::sql_values::{read_count, read_time};
use super::transaction::ReadTxn;
use crate::error::Result;

/// What has a file of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ItemKind {
    /// A job.
    Job,
    /// A grain cart file.
    Cart,
}

impl ItemKind {
    /// The word in the journal.
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

/// What became of the file of a record, as the record is now: a changed record begins anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// It was never asked for.
    Unasked,
    /// The service makes it.
    Asked {
        /// Before this time nothing is asked.
        ready_at: DateTime<Utc>,
        /// How often it was asked for.
        times: u32,
    },
    /// It is here.
    Have(Archive),
    /// The job recorded no coverage.
    NoCoverage {
        /// What the service said.
        reason: String,
    },
    /// The service could not make it.
    Failed {
        /// What the service said.
        reason: String,
        /// The conversion status, where it gave one.
        status: Option<String>,
    },
    /// It came, and cannot be read.
    Quarantined {
        /// Its digest.
        sha256: String,
        /// Why it cannot be read.
        reason: String,
    },
    /// A newer upload of the same name takes its place.
    Superseded {
        /// The id of that one.
        newer_id: String,
    },
    /// The service has the record no more. The archive stays, its rows leave the dataset.
    Gone,
}

impl FileState {
    /// The word in the journal.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Unasked => "unasked",
            Self::Asked { .. } => "asked",
            Self::Have(_) => "have",
            Self::NoCoverage { .. } => "no coverage",
            Self::Failed { .. } => "failed",
            Self::Quarantined { .. } => "quarantined",
            Self::Superseded { .. } => "superseded",
            Self::Gone => "gone",
        }
    }
}

/// An archive that is in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    /// The digest that it is kept under.
    pub sha256: String,
    /// The name that the service gave the file.
    pub file_name: String,
    /// Its length.
    pub bytes: u64,
}

/// A job or a grain cart file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Which of the two.
    pub kind: ItemKind,
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The address of its detail.
    pub uri: Option<String>,
    /// The `SubType` of the list.
    pub sub_type: Option<String>,
    /// When it was uploaded.
    pub created: Option<DateTime<Utc>>,
    /// When the service changed it last.
    pub updated: Option<DateTime<Utc>>,
    /// Of which record this is known, in which version ([`super::Listed::stamp`]).
    pub stamp: String,
    /// The item of the list, as JSON.
    pub listed: String,
    /// The detail, as JSON. It may be of an earlier version.
    pub detail: Option<String>,
    /// Whether the detail is of this version.
    pub detail_is_current: bool,
    /// What became of its file.
    pub file: FileState,
    /// The archive whose rows stand: that of this version, or of an earlier one until the new one is here.
    pub archive: Option<Archive>,
    /// The number of the last relist that had it.
    pub seen: u64,
}

/// An item with an archive whose rows belong into the dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Job or grain cart.
    pub kind: ItemKind,
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The `SubType` of the list.
    pub sub_type: Option<String>,
    /// When it was uploaded.
    pub created: Option<DateTime<Utc>>,
    /// The archive.
    pub archive: Archive,
    /// The detail, as JSON.
    pub detail: Option<String>,
}

const COLUMNS: &str = "i.kind, i.id, i.name, i.uri, i.sub_type, i.created, i.updated, i.stamp, i.listed, i.detail, \
    i.detail_of IS i.stamp, i.state, i.ripe_at, i.times, i.reason, i.status, i.other, i.sha256, i.file_name, a.bytes, i.seen";

pub(super) const SELECT: &str = "FROM item i LEFT JOIN archive a ON a.sha256 = i.sha256";

/// A query for items: what comes after the columns.
pub(super) fn query(rest: &str) -> String {
    format!("SELECT {COLUMNS} {SELECT} {rest}")
}

pub(super) fn item(row: &Row<'_>) -> rusqlite::Result<Item> {
    let archive = archive(row, 17)?;
    let reason = || row.get::<_, Option<String>>(14).map(Option::unwrap_or_default);
    let other = || row.get::<_, Option<String>>(16).map(Option::unwrap_or_default);
    let file = match row.get_ref(11)?.as_str()? {
        "asked" => FileState::Asked { ready_at: read_time(row, 12)?.unwrap_or_default(), times: row.get(13)? },
        "have" => archive.clone().map_or(FileState::Unasked, FileState::Have),
        "no coverage" => FileState::NoCoverage { reason: reason()? },
        "failed" => FileState::Failed { reason: reason()?, status: row.get(15)? },
        "quarantined" => FileState::Quarantined { sha256: other()?, reason: reason()? },
        "superseded" => FileState::Superseded { newer_id: other()? },
        "gone" => FileState::Gone,
        _ => FileState::Unasked,
    };
    Ok(Item {
        kind: row.get(0)?,
        id: row.get(1)?,
        name: row.get(2)?,
        uri: row.get(3)?,
        sub_type: row.get(4)?,
        created: read_time(row, 5)?,
        updated: read_time(row, 6)?,
        stamp: row.get(7)?,
        listed: row.get(8)?,
        detail: row.get(9)?,
        detail_is_current: row.get(10)?,
        file,
        archive,
        seen: read_count(row, 20)?,
    })
}

/// The archive in three columns from `first` on.
fn archive(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<Archive>> {
    let Some(sha256) = row.get::<_, Option<String>>(first)? else { return Ok(None) };
    let file_name = row.get::<_, Option<String>>(first.saturating_add(1))?.unwrap_or_default();
    let bytes = row.get::<_, Option<i64>>(first.saturating_add(2))?.unwrap_or(0);
    Ok(Some(Archive { sha256, file_name, bytes: u64::try_from(bytes).unwrap_or(0) }))
}

impl ReadTxn {
    /// An item by its id.
    pub fn item(&self, kind: ItemKind, id: &str) -> Result<Option<Item>> {
        let found = || {
            self.connection
                .prepare_cached(&query("WHERE i.kind = ?1 AND i.id = ?2"))?
                .query_row(params![kind, id], item)
                .optional()
        };
        self.map_error(found())
    }

    /// All items of a kind, for the catalog.
    pub fn items(&self, kind: ItemKind) -> Result<Vec<Item>> {
        let all = || {
            self.connection
                .prepare_cached(&query("WHERE i.kind = ?1 ORDER BY i.number"))?
                .query_map([kind], item)?
                .collect()
        };
        self.map_error(all())
    }

    /// All items whose rows belong into the dataset.
    pub fn wanted(&self) -> Result<Vec<Wanted>> {
        let all = || {
            self.connection
                .prepare_cached(&format!(
                    "SELECT i.kind, i.id, i.name, i.sub_type, i.created, i.sha256, i.file_name, a.bytes, i.detail {SELECT} \
                     WHERE i.sha256 IS NOT NULL AND i.state <> 'gone' ORDER BY i.number"
                ))?
                .query_map([], |row| {
                    Ok(archive(row, 5)?.map(|archive| {
                        Ok(Wanted {
                            kind: row.get(0)?,
                            id: row.get(1)?,
                            name: row.get(2)?,
                            sub_type: row.get(3)?,
                            created: read_time(row, 4)?,
                            archive,
                            detail: row.get(8)?,
                        })
                    }))
                })?
                .filter_map(|found| found.and_then(Option::transpose).transpose())
                .collect()
        };
        self.map_error(all())
    }
}
