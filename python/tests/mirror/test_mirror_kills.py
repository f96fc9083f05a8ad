"""Syncs in processes that are killed at random moments, against a service that continues to run."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

from mirror_fixtures import published_state

import headland as hl

if TYPE_CHECKING:
    from pathlib import Path

# The number of kills in CI; `make soak` has 50 times as many.
KILLS = 4 * int(os.environ.get("HEADLAND_SERIES", "1"))
JOBS = 24

CHILD = """
import json, sys
import headland as hl
client = hl.Client(**json.loads(sys.argv[2]), rate_limits=(), limiter_state="memory")
hl.Mirror(sys.argv[1], client, locations=False, concurrency=4).sync()
"""


def child(folder: Path, service: hl.Sandbox) -> subprocess.Popen[bytes]:
    keys = {name: service.credentials[name] for name in ("base_url", "api_key", "shared_secret", "access_key")}
    with (folder.parent / "stderr.txt").open("wb") as said:
        return subprocess.Popen([sys.executable, "-c", CHILD, str(folder), json.dumps(keys)], stderr=said)


def said(folder: Path) -> str:
    return (folder / "stderr.txt").read_text()


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{folder / 'journal.sqlite'}?mode=ro", uri=True)) as journal:
        return journal.execute(query).fetchall()


def settled(folder: Path) -> set[str]:
    """Return the ids of the records whose file is settled."""
    if not (folder / "journal.sqlite").exists():
        return set()
    try:
        return {known for (known,) in rows(folder, "SELECT id FROM item WHERE state NOT IN ('pending', 'converting')")}
    except sqlite3.OperationalError:
        # It was killed before the first transaction.
        return set()


def end_state(folder: Path) -> dict[str, Any]:
    """Return the content of a mirror, independent of its history."""
    manifest = json.loads((published_state(folder) / "manifest.json").read_text())
    origins = [origin for part in manifest["parts"] for origin in part["origins"]]
    described = {
        (origin["kind"], origin["job_id"], origin["layer"], origin["archive"], origin["rows"], origin["digest"])
        for origin in origins
    }
    archives = {path.name for path in (folder / "archives").rglob("*") if path.suffix in {".zip", ".grc"}}
    items = rows(
        folder, "SELECT kind, id, name, stamp, state, reason, sha256, file_name, detail FROM item ORDER BY 1, 2"
    )
    # The details of maps contain addresses with the port of the service.
    records = rows(folder, "SELECT kind, id, detail IS NULL FROM record ORDER BY 1, 2")
    return {"origins": described, "archives": archives, "items": items, "records": records}


def test_random_kills_do_not_change_the_end_and_repeat_no_finished_download(tmp_path: Path) -> None:
    seed = int(os.environ.get("HEADLAND_SEED", "7"))
    chance = random.Random(seed)
    killed, folders = 0, 0
    calm = tmp_path / "calm"
    with hl.Sandbox(small_jobs=JOBS, rate_limits=(), conversion_time=1.0) as service:
        begun = time.monotonic()
        assert child(calm, service).wait(120) == 0
        took = time.monotonic() - begun
    expected = end_state(calm)
    while killed < KILLS:
        with hl.Sandbox(small_jobs=JOBS, rate_limits=(), conversion_time=1.0) as service:
            # Each service has a folder of its own: its address names the account.
            folders += 1
            folder = tmp_path / f"farm-{folders}"
            while killed < KILLS:
                known, before = settled(folder), len(service.requests)
                process = child(folder, service)
                try:
                    process.wait(chance.uniform(0.3, took))
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    killed += 1
                assert process.wait(120) in {0, -signal.SIGKILL}, said(tmp_path)
                asked = {
                    request.path.rsplit("/", 1)[1] for request in service.requests[before:] if "format" in request.query
                }
                assert not asked & known, f"seed {seed}: finished downloads are made again after {killed} kills"
                if process.returncode == 0:
                    break
            process = child(folder, service)
            assert process.wait(120) == 0, said(tmp_path)
            assert end_state(folder) == expected, f"seed {seed}, {killed} kills"
            assert hl.Mirror(folder).verify(deep=True).ok
