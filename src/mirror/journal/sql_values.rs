//! Times and counts in journal columns.

use chrono::{DateTime, NaiveDateTime, Utc};
use rusqlite::types::Type;
use rusqlite::{Row, RowIndex};

/// Fixed length, so that texts sort like times.
///
/// Services send at most seven digits of a second; digits after the sixth are truncated. The stamp, which must not
/// change by this, is made from the full time.
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

/// Count in a signed column.
pub(super) fn read_count(row: &Row<'_>, column: impl RowIndex) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(column)?).unwrap_or(0))
}

pub(super) fn to_i64(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
