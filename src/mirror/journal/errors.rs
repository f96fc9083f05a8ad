//! Error messages of the journal: path, cause and advice.

use std::path::Path;

use rusqlite::ErrorCode;

use crate::error::{Error, Kind};

/// Error of `SQLite` for the journal at `path`.
pub(super) fn journal_error(path: &Path, cause: &rusqlite::Error) -> Error {
    let advice = match cause.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => {
            "all that was finished is kept; free space on this disk and run it again to resume"
        }
        Some(ErrorCode::SystemIoFailure) => {
            "all that was finished is kept; see to the disk (is it full, or gone?), then run it again"
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            "the journal is damaged, the archives and what is published are not: move `journal.sqlite` and the files \
             beside it that begin with its name away and sync again; the lists are read anew, archives that are here are \
             not fetched again, and `verify` checks each of them"
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            "give yourself the right to write there, or choose another folder"
        }
        Some(ErrorCode::CannotOpen) => {
            "see that the folder is there and that you may read it; a mirror that was not closed in order is opened once \
             where it can be written"
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another program holds it; close what has it open (such as `sqlite3`) and run it again"
        }
        _ => "this should not happen: run `verify`, and report it with this message",
    };
    Error::new(Kind::File, format!("cannot use the journal `{}`: {cause}; {advice}", path.display()))
}
