//! Points in time, counts and words as the journal keeps them.

use chrono::{DateTime, NaiveDateTime, Utc};
use rusqlite::types::Type;
use rusqlite::{Row, RowIndex};

/// One length for all, so that the order of texts is that of times. Services send seven digits of a second at most; what
/// is beyond six is cut, and what must not change by it (the stamp) is made from the whole time.
const FORM: &str = "%Y-%m-%dT%H:%M:%S%.6fZ";

pub(super) fn format_time(time: DateTime<Utc>) -> String {
    time.format(FORM).to_string()
}

pub(super) fn read_time(row: &Row<'_>, column: impl RowIndex) -> rusqlite::Result<Option<DateTime<Utc>>> {
    let Some(text) = row.get::<_, Option<String>>(column)? else { return Ok(None) };
    match NaiveDateTime::parse_from_str(&text, FORM) {
        Ok(time) => Ok(Some(time.and_utc())),
        Err(cause) => Err(rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(cause))),
    }
}

/// A count that `SQLite` keeps with a sign.
pub(super) fn read_count(row: &Row<'_>, column: impl RowIndex) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(column)?).unwrap_or(0))
}

pub(super) fn to_i64(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
