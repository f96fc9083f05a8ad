//! Tables of the journal, with readable texts and ISO 8601 times for `sqlite3 journal.sqlite`.
//!
//! `SQLite` keeps an index on the checksum of each row, and `PRAGMA integrity_check` compares indexes with rows. So it
//! finds a flipped bit in any text of the service; columns that another index contains are omitted from the checksum.

/// Format of the folder. It changes if another version could not read the folder, or would omit what this version relies
/// on, such as checksums.
pub(super) const VERSION: i64 = 3;

/// `PRAGMA application_id` of a journal, "hlmj"; the `file` command shows it. See
/// <https://www.sqlite.org/fileformat.html#application_id>.
pub(super) const APPLICATION: i64 = 0x686c_6d6a;

/// Statements that create the tables.
pub(super) const TABLES: &str = "
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE item (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('job', 'cart')),
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    sub_type TEXT,
    created TEXT,
    updated TEXT,
    stamp TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN (
        'pending', 'converting', 'stored', 'no coverage', 'failed', 'quarantined', 'superseded', 'gone')),
    state_before_gone TEXT,
    ready_at TEXT,
    requests INTEGER NOT NULL DEFAULT 0,
    reason TEXT,
    status TEXT,
    quarantined_sha256 TEXT,
    newer_id TEXT,
    sha256 TEXT,
    file_name TEXT,
    archive_stamp TEXT,
    archive_revision INTEGER,
    earlier_sha256 TEXT,
    seen INTEGER NOT NULL,
    listed TEXT NOT NULL,
    detail TEXT,
    detail_stamp TEXT,
    UNIQUE (kind, id)
) STRICT;
CREATE UNIQUE INDEX item_stamp ON item (stamp);
CREATE INDEX item_work ON item (state, ready_at, created);
CREATE INDEX item_seen ON item (kind, seen) WHERE state <> 'gone';
CREATE INDEX item_detail ON item (kind, created) WHERE detail_stamp IS NOT stamp AND state <> 'gone';
CREATE INDEX item_archive ON item (sha256) WHERE sha256 IS NOT NULL;
CREATE INDEX item_earlier ON item (earlier_sha256) WHERE earlier_sha256 IS NOT NULL;
CREATE INDEX item_name ON item (name) WHERE kind = 'cart';
CREATE INDEX item_count ON item (kind, sub_type, state);
CREATE INDEX item_crc32 ON item (crc32(name, updated, listed, detail));

CREATE TABLE archive (
    sha256 TEXT PRIMARY KEY,
    bytes INTEGER NOT NULL,
    stored_at TEXT NOT NULL,
    folder TEXT NOT NULL CHECK (folder IN ('archives', 'quarantine'))
) STRICT;
CREATE INDEX archive_count ON archive (folder, bytes);

CREATE TABLE record (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    listed TEXT NOT NULL,
    detail TEXT,
    detail_at TEXT,
    seen INTEGER NOT NULL,
    gone_at TEXT,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX record_detail ON record (kind, id) WHERE detail IS NULL AND gone_at IS NULL;
CREATE INDEX record_crc32 ON record (crc32(listed, detail));

CREATE TABLE location (
    number INTEGER PRIMARY KEY,
    device_kind TEXT NOT NULL,
    device_id TEXT NOT NULL,
    record_id TEXT NOT NULL,
    time TEXT,
    json TEXT NOT NULL,
    UNIQUE (device_kind, device_id, record_id)
) STRICT;
CREATE INDEX location_crc32 ON location (crc32(time, json));

CREATE TABLE cursor (
    list TEXT PRIMARY KEY,
    newest_created TEXT,
    read_at TEXT,
    pages_done INTEGER,
    total_count INTEGER,
    began_at TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE call (
    purpose TEXT PRIMARY KEY,
    this_run INTEGER NOT NULL,
    ever INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE known_archive (
    stamp TEXT PRIMARY KEY,
    sha256 TEXT NOT NULL,
    file_name TEXT NOT NULL,
    bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX known_archive_sha256 ON known_archive (sha256);

CREATE TABLE revision (number INTEGER NOT NULL) STRICT;
INSERT INTO revision VALUES (0);
";
