//! Tables of the journal, with readable texts and ISO 8601 times for `sqlite3 journal.sqlite`.
//!
//! Triggers maintain counts and unreferenced archives. So queries read a few rows regardless of the number of jobs, and
//! no write can omit the update.

/// Format of the folder. It changes if another version could not read the folder, or would omit what this version relies
/// on, such as checksums.
pub(super) const VERSION: i64 = 2;

/// `PRAGMA application_id` of a journal, "hlmj"; the `file` command shows it. See
/// <https://www.sqlite.org/fileformat.html#application_id>.
pub(super) const APPLICATION: i64 = 0x686c_6d6a;

/// Statements that create the tables.
pub(super) const TABLES: &str = "
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE item (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('job', 'cart')),
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    uri TEXT,
    sub_type TEXT,
    created TEXT,
    updated TEXT,
    stamp TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN (
        'unasked', 'asked', 'have', 'no coverage', 'failed', 'quarantined', 'superseded', 'gone')),
    since TEXT NOT NULL,
    ripe_at TEXT,
    times INTEGER NOT NULL DEFAULT 0,
    reason TEXT,
    status TEXT,
    other TEXT,
    before_gone TEXT,
    sha256 TEXT,
    file_name TEXT,
    archive_of TEXT,
    archive_revision INTEGER,
    earlier TEXT,
    seen INTEGER NOT NULL,
    detail_of TEXT,
    listed TEXT NOT NULL,
    detail TEXT,
    listed_crc32 TEXT,
    detail_crc32 TEXT,
    UNIQUE (kind, id)
) STRICT;
CREATE UNIQUE INDEX item_stamp ON item (stamp);
CREATE INDEX item_work ON item (state, ripe_at, created);
CREATE INDEX item_seen ON item (kind, seen) WHERE state <> 'gone';
CREATE INDEX item_detail ON item (kind, created) WHERE detail_of IS NOT stamp AND state <> 'gone';
CREATE INDEX item_archive ON item (sha256) WHERE sha256 IS NOT NULL;
CREATE INDEX item_earlier ON item (earlier) WHERE earlier IS NOT NULL;
CREATE INDEX item_name ON item (name) WHERE kind = 'cart';
CREATE INDEX item_type ON item (kind, sub_type, state);

CREATE TABLE archive (
    sha256 TEXT PRIMARY KEY,
    bytes INTEGER NOT NULL,
    taken_at TEXT NOT NULL,
    place TEXT NOT NULL CHECK (place IN ('archives', 'quarantine')),
    users INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX archive_unused ON archive (sha256) WHERE users = 0 AND place <> 'quarantine';
CREATE INDEX archive_aside ON archive (sha256) WHERE place = 'quarantine';

CREATE TABLE record (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    listed TEXT NOT NULL,
    listed_at TEXT NOT NULL,
    detail TEXT,
    detail_at TEXT,
    seen INTEGER NOT NULL,
    gone_at TEXT,
    listed_crc32 TEXT,
    detail_crc32 TEXT,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX record_detail ON record (kind, id) WHERE detail IS NULL AND gone_at IS NULL;

CREATE TABLE location (
    number INTEGER PRIMARY KEY,
    device_kind TEXT NOT NULL,
    device_id TEXT NOT NULL,
    record_id TEXT NOT NULL,
    time TEXT,
    json TEXT NOT NULL,
    crc32 TEXT,
    UNIQUE (device_kind, device_id, record_id)
) STRICT;
CREATE INDEX location_time ON location (device_kind, device_id, time);

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

CREATE TABLE tally (
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    items INTEGER NOT NULL,
    archives INTEGER NOT NULL,
    details_due INTEGER NOT NULL,
    PRIMARY KEY (kind, state)
) STRICT, WITHOUT ROWID;
CREATE TABLE stock (place TEXT PRIMARY KEY, archives INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE revision (number INTEGER NOT NULL) STRICT;
INSERT INTO revision VALUES (0);

CREATE TRIGGER item_added AFTER INSERT ON item BEGIN
    INSERT INTO tally VALUES (NEW.kind, NEW.state, 1, NEW.sha256 IS NOT NULL, NEW.kind = 'job' AND NEW.detail_of IS NOT NEW.stamp)
        ON CONFLICT DO UPDATE SET items = items + 1, archives = archives + excluded.archives,
            details_due = details_due + excluded.details_due;
    UPDATE archive SET users = users + 1 WHERE sha256 IN (NEW.sha256, NEW.earlier);
    UPDATE revision SET number = number + 1;
END;
CREATE TRIGGER item_changed AFTER UPDATE OF state, sha256, stamp, detail_of ON item
WHEN OLD.state <> NEW.state OR OLD.sha256 IS NOT NEW.sha256 OR OLD.stamp <> NEW.stamp OR OLD.detail_of IS NOT NEW.detail_of
BEGIN
    UPDATE tally SET items = items - 1, archives = archives - (OLD.sha256 IS NOT NULL),
        details_due = details_due - (OLD.kind = 'job' AND OLD.detail_of IS NOT OLD.stamp)
        WHERE kind = OLD.kind AND state = OLD.state;
    INSERT INTO tally VALUES (NEW.kind, NEW.state, 1, NEW.sha256 IS NOT NULL, NEW.kind = 'job' AND NEW.detail_of IS NOT NEW.stamp)
        ON CONFLICT DO UPDATE SET items = items + 1, archives = archives + excluded.archives,
            details_due = details_due + excluded.details_due;
END;
CREATE TRIGGER item_other_archive AFTER UPDATE OF sha256, earlier ON item
WHEN OLD.sha256 IS NOT NEW.sha256 OR OLD.earlier IS NOT NEW.earlier
BEGIN
    UPDATE archive SET users = users - (sha256 IS OLD.sha256) - (sha256 IS OLD.earlier)
        + (sha256 IS NEW.sha256) + (sha256 IS NEW.earlier)
        WHERE sha256 IN (OLD.sha256, OLD.earlier, NEW.sha256, NEW.earlier);
END;
CREATE TRIGGER item_shown AFTER UPDATE OF state, sha256, detail, listed ON item
WHEN OLD.sha256 IS NOT NEW.sha256 OR (OLD.state = 'gone') <> (NEW.state = 'gone') OR OLD.detail IS NOT NEW.detail
    OR OLD.listed <> NEW.listed OR (OLD.state <> NEW.state AND 'asked' NOT IN (OLD.state, NEW.state))
BEGIN
    UPDATE revision SET number = number + 1;
END;
CREATE TRIGGER archive_added AFTER INSERT ON archive BEGIN
    INSERT INTO stock VALUES (NEW.place, 1, NEW.bytes)
        ON CONFLICT DO UPDATE SET archives = archives + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER archive_moved AFTER UPDATE OF place ON archive WHEN OLD.place <> NEW.place BEGIN
    UPDATE stock SET archives = archives - 1, bytes = bytes - OLD.bytes WHERE place = OLD.place;
    INSERT INTO stock VALUES (NEW.place, 1, NEW.bytes)
        ON CONFLICT DO UPDATE SET archives = archives + 1, bytes = bytes + excluded.bytes;
    DELETE FROM known_archive WHERE sha256 = OLD.sha256 AND NEW.place = 'quarantine';
END;
CREATE TRIGGER archive_left AFTER DELETE ON archive BEGIN
    UPDATE stock SET archives = archives - 1, bytes = bytes - OLD.bytes WHERE place = OLD.place;
    DELETE FROM known_archive WHERE sha256 = OLD.sha256;
END;
CREATE TRIGGER record_added AFTER INSERT ON record BEGIN UPDATE revision SET number = number + 1; END;
CREATE TRIGGER record_changed AFTER UPDATE OF listed, detail, gone_at ON record
WHEN OLD.listed <> NEW.listed OR OLD.detail IS NOT NEW.detail OR (OLD.gone_at IS NULL) <> (NEW.gone_at IS NULL)
BEGIN UPDATE revision SET number = number + 1; END;
CREATE TRIGGER location_added AFTER INSERT ON location BEGIN UPDATE revision SET number = number + 1; END;
CREATE TRIGGER item_left AFTER DELETE ON item BEGIN
    UPDATE tally SET items = items - 1, archives = archives - (OLD.sha256 IS NOT NULL),
        details_due = details_due - (OLD.kind = 'job' AND OLD.detail_of IS NOT OLD.stamp)
        WHERE kind = OLD.kind AND state = OLD.state;
    UPDATE archive SET users = users - (sha256 IS OLD.sha256) - (sha256 IS OLD.earlier)
        WHERE sha256 IN (OLD.sha256, OLD.earlier);
    UPDATE revision SET number = number + 1;
END;
CREATE TRIGGER record_left AFTER DELETE ON record BEGIN UPDATE revision SET number = number + 1; END;
CREATE TRIGGER location_left AFTER DELETE ON location BEGIN UPDATE revision SET number = number + 1; END;
";
