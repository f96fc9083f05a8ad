"""Damage of a mirror's publication: every reader names the file and the next step."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from mirror_fixtures import job, mirror_of, published, published_state

import headland as hl
from headland.dask import read_archives

if TYPE_CHECKING:
    from pathlib import Path

JOBS = [job("101", year="2025"), job("102")]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '"x"', "null", '{"parts": [{}], "catalog": []}', "\xff", None])
def test_a_damaged_manifest_is_named(tmp_path: Path, text: str | None) -> None:
    farm = published(tmp_path / "farm", JOBS[:1])
    manifest = published_state(farm.folder) / "manifest.json"
    if text is None:
        manifest.unlink()
    else:
        manifest.write_text(text, encoding="latin-1")
    for read in (lambda: farm.publish((tmp_path / "out").as_uri()), lambda: read_archives(farm)):
        with pytest.raises(hl.ArchiveError, match=r"manifest\.json` is (damaged|missing).*run `sync\(\)` to rewrite"):
            read()


STATE = '{"state":"generations/000001-0123456789ab",'
POINTERS = [
    '"account":[]}',
    '"account":{"a":1}}',
    '"account":7}',
    '"before":7}',
    '"before":["x"]}',
    '"before":"../../farm"}',
]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"state":5}', '{"state":"../../farm"}', "null", "\xff", *(STATE + each for each in POINTERS)],
)
def test_a_damaged_pointer_is_named_with_what_to_do(tmp_path: Path, text: str) -> None:
    farm, target = published(tmp_path / "farm", JOBS[:1]), tmp_path / "out"
    done = farm.publish(target.as_uri())
    (target / "current.json").write_text(text, encoding="latin-1")
    with pytest.raises(hl.ArchiveError, match=r"`current.json` at `file://.*` is damaged .*: remove that file there"):
        farm.publish(target.as_uri())
    (target / "current.json").unlink()
    assert farm.publish(target.as_uri()).state == done.state
    assert json.loads((target / "current.json").read_text())["state"] == done.state


def test_lost_or_damaged_manifest_at_the_target_does_not_prevent_publishing(tmp_path: Path) -> None:
    farm, target = published(tmp_path / "farm", JOBS[:1]), tmp_path / "out"
    [there] = [target / farm.publish(target.as_uri()).state / "manifest.json"]
    whole = there.read_bytes()
    there.write_bytes(b"[")
    assert farm.publish(target.as_uri()).sent == 0
    assert there.read_bytes() == whole


@pytest.mark.parametrize("lost", [True, False])
def test_a_damaged_table_of_the_catalog_is_named(tmp_path: Path, lost: bool) -> None:
    farm = published(tmp_path, JOBS)
    table = published_state(farm.folder) / "catalog" / "jobs.parquet"
    if lost:
        table.unlink()
    else:
        table.write_bytes(table.read_bytes()[:100])
    message = r"missing; run `sync\(\)`" if lost else r"damaged \(.*\); run `verify\(\)` .* then `sync\(\)`"
    with pytest.raises(hl.ArchiveError, match=rf"catalog/jobs.parquet` is {message}"):
        farm.sql("SELECT count(*) FROM jobs")
    assert farm.sql("SELECT count(*) FROM Yield").fetchall() == [(8,)]


def test_lost_part_and_its_archives_are_restored_by_one_sync(tmp_path: Path) -> None:
    with hl.Sandbox(small_jobs=8, rate_limits=(), conversion_time=0, clock="moved") as service:
        mirror = mirror_of(service, tmp_path / "farm")
        rows = mirror.sync().rows
        lose(mirror.folder)
        with pytest.raises(hl.ArchiveError, match=r"`.*\.parquet` is missing; run `sync\(\)` to rewrite the dataset"):
            mirror.to_geopandas()
        service.faults.add(endpoint="job_data.download", kind="unauthorized", times=1_000)
        with pytest.raises(hl.AuthenticationError):
            mirror.sync()
        status = mirror.status()
        assert (status.generation, status.unfinished_since is None) == (1, False)
        with pytest.raises(hl.ArchiveError, match="is missing"):
            mirror.to_geopandas()
        service.faults.clear()
        outcome = mirror.sync()
        assert (outcome.generation, outcome.rows) == (2, rows)
        assert len(mirror.to_geopandas(columns=["job_id"])) == rows
        assert mirror.status().unfinished_since is None
        assert mirror.verify(deep=True).ok


def lose(folder: Path) -> None:
    """Remove a part and the archives of its rows."""
    state = published_state(folder)
    part = json.loads((state / "manifest.json").read_text())["parts"][0]
    (state / part["path"]).unlink()
    for digest in {origin["archive"] for origin in part["origins"]}:
        [archive] = (folder / "archives").rglob(f"{digest}.*")
        archive.unlink()


@pytest.mark.parametrize("damage", ["manifest", "text", "part"])
def test_status_reports_an_unreadable_publication(tmp_path: Path, damage: str) -> None:
    with hl.Sandbox(small_jobs=4, rate_limits=(), conversion_time=0, clock="moved") as service:
        mirror = mirror_of(service, tmp_path / "farm")
        rows = mirror.sync().rows
        assert (mirror.status().rows, mirror.status().damage) == (rows, None)
        manifest = published_state(mirror.folder) / "manifest.json"
        if damage == "manifest":
            manifest.unlink()
        elif damage == "text":
            manifest.write_text("{")
        else:
            next((published_state(mirror.folder) / "dataset").rglob("*.parquet")).unlink()
        status = mirror.status()
        assert (status.generation, status.dataset, status.parts, status.rows, status.rows_bytes) == (
            1,
            [],
            None,
            None,
            None,
        )
        assert status.damage is not None
        assert status.to_dict()["damage"] == status.damage
        for shown in (str(status), status._repr_html_()):
            assert "cannot be read: " in shown
            assert "run `sync()` to rewrite the dataset" in shown
            assert "0 rows" not in shown
        with pytest.raises(hl.ArchiveError, match=r"missing|damaged"):
            mirror.to_geopandas()
        assert mirror.sync().rows == rows
        assert (mirror.status().rows, mirror.status().damage) == (rows, None)


def test_lost_pointer_is_reported_and_verify_reads_all_parts_without_it(tmp_path: Path) -> None:
    with hl.Sandbox(small_jobs=4, rate_limits=(), conversion_time=0, clock="moved") as service:
        mirror = mirror_of(service, tmp_path / "farm")
        rows = mirror.sync().rows
        current = mirror.folder / "current.json"
        part = next(published_state(mirror.folder).rglob("part-*.parquet"))
        content = part.read_bytes()
        part.unlink()
        part.write_bytes(bytes([content[0], content[1] ^ 1]) + content[2:])
        current.unlink()
        status = mirror.status()
        assert (status.generation, status.rows, status.is_published) == (None, None, False)
        assert status.damage is not None
        assert status.damage.startswith(f"`{current}` is missing: ")
        for shown in (str(status), status._repr_html_()):
            assert "sync again" in shown
            assert "nothing yet" not in shown
        with pytest.raises(hl.ConfigurationError, match=r"is missing, or that state is; run `sync\(\)` to rewrite"):
            mirror.to_geopandas()
        found = mirror.verify().findings
        assert sorted(said.split("`: ")[0].split("` ")[0] for said in found) == sorted([f"`{current}", f"`{part}"])
        # The damaged part is removed, so that no sync reuses it, although none of its bytes is missing.
        assert not part.exists()
        assert not mirror.verify().ok
        assert mirror.sync().rows == rows
        assert len(mirror.to_geopandas(columns=["job_id"])) == rows
        assert mirror.verify(deep=True).ok
        assert mirror.status().damage is None


def test_lost_newest_state_is_reported_until_a_sync_without_news_writes_it_again(tmp_path: Path) -> None:
    with hl.Sandbox(small_jobs=4, rate_limits=(), conversion_time=0, clock="moved") as service:
        mirror = mirror_of(service, tmp_path / "farm")
        mirror.sync()
        service.add_job()
        rows = mirror.sync().rows
        newest = published_state(mirror.folder)
        shutil.rmtree(newest)
        message = f"`{newest}` is missing: "
        status = mirror.status()
        assert (status.generation, status.rows) == (None, None)
        assert str(status.damage).startswith(message + "the published state is missing; sync again")
        for _ in range(2):
            assert [said.startswith(message) for said in mirror.verify().findings] == [True]
            status = mirror.status()
            assert (status.generation, status.rows) == (1, len(mirror.to_geopandas(columns=["job_id"])))
            assert str(status.damage).startswith(message + "readers get the older generation 1; sync again")
            assert str(status.damage) in str(status)
        outcome = mirror.sync()
        assert (outcome.new, outcome.changed, outcome.rows) == (0, 0, rows)
        assert (mirror.status().damage, mirror.status().is_published) == (None, True)
        assert mirror.verify(deep=True).ok


def test_sync_without_news_writes_a_lost_state_again_without_verify(tmp_path: Path) -> None:
    with hl.Sandbox(small_jobs=4, rate_limits=(), conversion_time=0, clock="moved") as service:
        mirror = mirror_of(service, tmp_path / "farm")
        for _ in range(2):
            service.add_job()
            rows = mirror.sync().rows
        shutil.rmtree(published_state(mirror.folder))
        outcome = mirror.sync()
        assert (outcome.new, outcome.rows) == (0, rows)
        assert len(mirror.to_geopandas(columns=["job_id"])) == rows


def test_verify_reports_a_damaged_journal_with_the_next_step(tmp_path: Path) -> None:
    with hl.Sandbox(small_jobs=4, rate_limits=(), conversion_time=0, clock="moved") as service:
        mirror = mirror_of(service, tmp_path / "farm")
        rows = mirror.sync().rows
        assert mirror.verify().ok
        journal = mirror.folder / "journal.sqlite"
        content = bytearray(journal.read_bytes())
        # The rows of device locations, which neither status nor reading archives uses.
        at = content.rindex(b'"GPSDateTime"') // 4096 * 4096
        content[at : at + 8] = b"\xff" * 8
        journal.write_bytes(content)
        assert mirror.status().rows == rows
        with pytest.raises(hl.HeadlandError, match=r"`: .*the journal is damaged, .*: move `journal.sqlite` .* away"):
            mirror.verify()
        for path in mirror.folder.glob("journal.sqlite*"):
            path.unlink()
        before = len(service.requests)
        assert mirror.sync().rows == rows
        assert not [each for each in service.requests[before:] if "format=" in each.query.lower()]
        assert mirror.verify(deep=True).ok


def test_older_generation_is_not_reported_as_complete(tmp_path: Path) -> None:
    with hl.Sandbox(small_jobs=4, rate_limits=(), conversion_time=0, clock="moved") as service:
        mirror = mirror_of(service, tmp_path / "farm")
        mirror.sync()
        service.add_job()
        rows = mirror.sync().rows
        shutil.rmtree(published_state(mirror.folder))
        assert not mirror.status().is_published
        # It makes the generation before the current one visible, until a sync writes the dataset again.
        assert not mirror.verify().ok
        status = mirror.status()
        assert (status.generation, status.is_published) == (1, False)
        assert "older than the known records" in str(status)
        assert mirror.sync().rows == rows
        assert mirror.status().is_published


def test_frame_of_a_removed_state_is_an_error_with_the_next_step(tmp_path: Path) -> None:
    farm = published(tmp_path, JOBS)
    frame, first = farm.to_dask(), published_state(tmp_path)
    published(tmp_path, JOBS, number=2)
    assert len(frame.compute(scheduler="threads")) == 8
    shutil.rmtree(first)
    message = r"part-0.parquet` was removed, because the mirror has published a newer state: .* create the frame again"
    with pytest.raises(hl.ArchiveError, match=message) as caught:
        frame.compute(scheduler="threads")
    assert isinstance(caught.value, FileNotFoundError)
    assert len(farm.to_dask().compute(scheduler="threads")) == 8


@pytest.mark.parametrize("digit", [b"0", b"1"])
def test_flipped_bit_of_the_manifest_loses_no_row(tmp_path: Path, digit: bytes) -> None:
    with (
        hl.Sandbox(small_jobs=3, rate_limits=(), conversion_time=0.2) as service,
        hl.Client(**service.credentials, rate_limits=()) as client,
    ):
        mirror = hl.Mirror(tmp_path / "farm", client, locations=False)
        mirror.sync(False)
        rows = len(mirror.to_geopandas(columns=["job_id"]))
        manifest = published_state(mirror.folder) / "manifest.json"
        whole = manifest.read_bytes()
        # The last digit of the row count of an archive, which is still a number.
        at = whole.index(b',"digest"', whole.index(b'"origins"')) - 1
        manifest.write_bytes(whole[:at] + digit + whole[at + 1 :])
        assert manifest.read_bytes() != whole
        with pytest.raises(
            hl.ArchiveError, match=r"manifest\.json` is damaged .*digest does not match.*run `sync\(\)`"
        ):
            mirror.to_geopandas(columns=["job_id"])
        assert not mirror.verify().ok
        assert mirror.sync(False).rows == rows
        assert mirror.verify(deep=True).ok
        assert len(mirror.to_geopandas(columns=["job_id"])) == rows
        assert not mirror.status().unavailable


def test_manifest_without_its_digest_is_damaged(tmp_path: Path) -> None:
    with hl.Sandbox(small_jobs=2, rate_limits=(), conversion_time=0, clock="moved") as service:
        mirror = mirror_of(service, tmp_path / "farm")
        rows = mirror.sync().rows
        manifest = published_state(mirror.folder) / "manifest.json"
        content = manifest.read_bytes()
        manifest.write_bytes(content[: content.rindex(b',"sha256":"')] + b"}")
        with pytest.raises(hl.ArchiveError, match=r"manifest\.json` is damaged .*its digest is missing.*run `sync"):
            mirror.to_geopandas(columns=["job_id"])
        assert mirror.sync().rows == rows == len(mirror.to_geopandas(columns=["job_id"]))


@pytest.mark.parametrize("kind", ["text", "other state", "link", "folder"])
def test_other_file_in_place_of_the_pointer_is_an_error_with_the_next_step(tmp_path: Path, kind: str) -> None:
    with hl.Sandbox(small_jobs=2, rate_limits=(), conversion_time=0, clock="moved") as service:
        mirror = mirror_of(service, tmp_path / "farm")
        rows = mirror.sync().rows
        current = mirror.folder / "current.json"
        current.unlink()
        if kind == "text":
            current.write_text("mine")
        elif kind == "other state":
            current.write_text('{"format": 1, "state": "../../generations/000001"}')
        elif kind == "link":
            current.symlink_to("journal.sqlite")
        else:
            current.mkdir()
        in_the_way = kind == "folder"
        for read in (
            mirror.to_geopandas,
            mirror.to_dask,
            lambda: mirror.sql("SELECT 1"),
            lambda: mirror.publish((tmp_path / "out").as_uri()),
        ):
            if in_the_way:
                with pytest.raises(hl.HeadlandError, match=rf"cannot read `{current}`"):
                    read()
                continue
            with pytest.raises(hl.ConfigurationError, match=rf"`{current}`, .* is missing, or .*; run `sync\(\)` to"):
                read()
        if in_the_way:
            for look in (mirror.status, mirror.verify, mirror.sync):
                with pytest.raises(hl.HeadlandError, match=rf"cannot read `{current}`"):
                    look()
            current.rename(tmp_path / "away")
        else:
            assert str(mirror.status().damage).startswith(f"`{current}` is missing: ")
        assert mirror.sync().rows in {rows, None}
        assert len(mirror.to_geopandas(columns=["job_id"])) == rows
        assert mirror.status().damage is None


def test_manifest_of_a_newer_headland_is_an_error(tmp_path: Path) -> None:
    farm = published(tmp_path, JOBS)
    manifest = published_state(tmp_path) / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"format": 99}))
    message = r"manifest\.json` was written by a newer headland \(format 99, supported: \d+\): upgrade"
    with pytest.raises(hl.ConfigurationError, match=message):
        farm.to_geopandas()
    with pytest.raises(hl.ConfigurationError, match=message):
        farm.sql("SELECT count(*) FROM dataset")


def test_missing_folder_of_the_dataset_is_damage_that_the_next_sync_repairs(tmp_path: Path) -> None:
    with hl.Sandbox(small_jobs=1, rate_limits=(), conversion_time=0, clock="moved") as service:
        mirror = mirror_of(service, tmp_path / "farm")
        rows = mirror.sync().rows
        dataset = mirror.folder / "dataset"
        shutil.rmtree(dataset)
        status = mirror.status()
        assert status.damage is not None
        assert status.damage.startswith(f"`{dataset}` is missing: ")
        assert (status.rows, status.damage in str(status)) == (rows, True)
        mirror.sync()
        assert mirror.status().damage is None
        assert len(pd.concat(map(pd.read_parquet, dataset.rglob("*.parquet")))) == rows


def test_flipped_bit_of_the_journal_is_named_and_never_published(tmp_path: Path) -> None:
    with hl.Sandbox(small_jobs=1, rate_limits=(), conversion_time=0, clock="moved") as service:
        mirror = mirror_of(service, tmp_path / "farm")
        mirror.sync()
        (before,) = mirror.sql("SELECT name FROM jobs").fetchall()
        with contextlib.closing(sqlite3.connect(mirror.folder / "journal.sqlite")) as journal:
            # Without its index, the row changes as if by a flipped bit on the disk.
            journal.executescript("""
                PRAGMA writable_schema = ON;
                CREATE TEMP TABLE hidden AS SELECT * FROM sqlite_schema WHERE name = 'item_crc32';
                DELETE FROM sqlite_schema WHERE name = 'item_crc32';
                PRAGMA writable_schema = RESET;
                UPDATE item SET name = 'X' || substr(name, 2) WHERE kind = 'job';
                UPDATE revision SET number = number + 1;
                PRAGMA writable_schema = ON;
                INSERT INTO sqlite_schema SELECT * FROM hidden;
            """)
        for read in (mirror.verify, mirror.sync):
            with pytest.raises(hl.HeadlandError, match=r"journal.sqlite`: .*the journal is damaged, .* sync again"):
                read()
            assert mirror.sql("SELECT name FROM jobs").fetchall() == [before]
        for path in mirror.folder.glob("journal.sqlite*"):
            path.unlink()
        mirror.sync()
        assert mirror.sql("SELECT name FROM jobs").fetchall() == [before]
        assert mirror.verify().ok
