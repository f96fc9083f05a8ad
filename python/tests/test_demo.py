"""The demo command: every job pulled, every file readable by other packages, the totals equal to the truth."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import geopandas
import pytest

import headland as hl

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(os.environ.get("HEADLAND_CORPUS", ROOT.parent / "shared" / "corpus"))


def run_demo(out: Path, *options: str) -> tuple[dict[str, Any], str]:
    """Run the demo; return its JSON output and its progress."""
    command = [sys.executable, "-m", "headland", "demo", "--out", str(out), "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def parquet(job: dict[str, Any], out: Path) -> Path:
    """Return the GeoParquet file of a job."""
    files: list[str] = job["files"]
    return out / next(name for name in files if name.endswith(".parquet"))


def assert_others_read_it(path: Path, rows: int) -> None:
    """Count the rows with geopandas and with DuckDB."""
    assert len(geopandas.read_parquet(path)) == rows
    counted = duckdb.sql(f"select count(*) from read_parquet('{path}')").fetchall()
    assert counted == [(rows,)]


@pytest.mark.timeout(300)
def test_demo_maps_every_field_with_true_totals(tmp_path: Path) -> None:
    summary, progress = run_demo(tmp_path)
    with hl.Sandbox.demo() as service:
        truth = {row["job_id"]: row for row in service.truth}
    jobs = {job["id"]: job for job in summary["jobs"]}
    assert truth.keys() <= jobs.keys()
    for job_id, row in truth.items():
        job = jobs[job_id]
        assert job["rows"] == row["rows"]
        assert job["agrees"] is True, job
        assert job["area"] == pytest.approx(row["area"], rel=1e-3)
        assert_others_read_it(parquet(job, tmp_path), row["rows"])
        assert json.loads((tmp_path / job["files"][1]).read_bytes())["type"] == "FeatureCollection"
        # At least one request and one download; one more request if the conversion was not ready.
        assert job["calls"] >= 2
    assert sum(job["calls"] for job in summary["jobs"]) == summary["calls"] - 1, "and one call for the list"
    problems = [job["problem"] for job in summary["jobs"] if job["problem"]]
    assert len(set(problems)) == 7, "one job without coverage, and one for each way in which a conversion fails"
    page = Path(summary["page"]).read_text(encoding="utf-8")
    for row in truth.values():
        assert row["field"] in page
    assert page.count("<figure>") == len(truth)
    assert progress.count("[") >= len(summary["jobs"]), "every job is reported as it is complete"


@pytest.mark.timeout(300)
def test_demo_maps_real_archives(tmp_path: Path) -> None:
    if not (CORPUS / "ag").is_dir():
        pytest.skip("no corpus at HEADLAND_CORPUS or ../shared/corpus")
    summary, _ = run_demo(tmp_path, "--archives", str(CORPUS / "ag"))
    expected = {}
    for path in (CORPUS / "expected").glob("*.json"):
        document = json.loads(path.read_bytes())
        # A table without shapes has no location on a map, so the demo skips it.
        if document["set"] == "ag" and not document["file"].endswith(".dbf"):
            expected[document["file"].removeprefix("ag/")] = document["layers"][0]["row_count"]
    uploaded = {job["source"]: job for job in summary["jobs"] if job["source"] is not None}
    assert expected.keys() <= uploaded.keys()
    for name, rows in expected.items():
        assert uploaded[name]["rows"] == rows, uploaded[name]
        assert_others_read_it(parquet(uploaded[name], tmp_path), rows)


@pytest.mark.timeout(300)
def test_bad_archives_are_reported_and_the_demo_continues(tmp_path: Path) -> None:
    archives, out = tmp_path / "archives", tmp_path / "out"
    archives.mkdir()
    (archives / "empty.zip").touch()
    (archives / "page.zip").write_text("<html>Please sign in.</html>")
    (archives / "table.dbf").write_bytes(b"\x03")
    with hl.Sandbox.demo() as service, hl.Client(**service.credentials, limiter_state="memory") as client:
        several = next(row for row in service.truth if row["job_name"] == "Stone Hill 2024 Harvest")
        client.job_data.download(several["job_id"], to=archives / "several.zip")
    command = [sys.executable, "-m", "headland", "demo", "--out", str(out), "--json", "--archives", str(archives)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 1, "an archive that was given has no map"
    assert "Traceback" not in done.stderr
    assert "left out table.dbf" in done.stderr
    jobs = [job for job in json.loads(done.stdout)["jobs"] if job["source"] is not None]
    summary = {job["name"]: job["problem"] for job in jobs}
    assert "empty" in summary["empty.zip"]
    assert "not a zip" in summary["page.zip"]
    assert sorted(job["rows"] for job in jobs if job["problem"] is None) == [1, several["rows"]], "a map of each layer"


def test_missing_folder_is_an_error_before_anything_starts(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "headland", "demo", "--archives", str(tmp_path / "none")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode != 0
    assert "no folder" in done.stderr
    assert "Traceback" not in done.stderr
