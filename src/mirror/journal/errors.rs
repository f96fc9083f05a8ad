//! Error messages of the journal: path, cause and advice.

use std::path::Path;

use rusqlite::ErrorCode;

use headland_base::error::{Error, Kind};

/// Error of `SQLite` for the journal at `path`.
pub(super) fn journal_error(path: &Path, cause: &rusqlite::Error) -> Error {
    let code = cause.sqlite_error_code();
    // `ENOSPC`, `EIO` and `EACCES`, the same on every system.
    let number = match code {
        Some(ErrorCode::DiskFull) => Some(28),
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => Some(5),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Some(13),
        _ => None,
    };
    let advice = match code {
        Some(ErrorCode::DiskFull) => "finished work is kept; free space on this disk and run it again to resume",
        Some(ErrorCode::SystemIoFailure) => {
            "finished work is kept; check the disk (full or disconnected?), then run it again"
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            "the journal is damaged, but not the archives and the published state: move `journal.sqlite` and the files \
             whose names begin with it away and sync again; the sync reads the lists again and keeps the archives that \
             are here, and `verify` checks each of them"
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            "grant yourself write permission there, or choose another folder"
        }
        Some(ErrorCode::CannotOpen) => {
            "check that the folder exists and that you may read it; a mirror that was not closed properly must be \
             opened once where it is writable"
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another program has it open: close that program (such as `sqlite3`) and run it again"
        }
        _ => "this is unexpected: run `verify`, and report this message",
    };
    Error::new(Kind::File, format!("cannot use the journal `{}`: {cause}; {advice}", path.display()))
        .with(|facts| facts.os_error = number)
}
