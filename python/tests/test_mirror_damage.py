"""Damage of what a mirror has published: the file is named with what to do, whoever meets it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from farms import job, published

import headland as hl
from headland.dask import read_archives

if TYPE_CHECKING:
    from pathlib import Path

JOBS = [job("101", year="2025"), job("102")]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '"x"', "null", '{"parts": [{}], "catalog": []}', "\xff", None])
def test_a_damaged_manifest_is_named(tmp_path: Path, text: str | None) -> None:
    farm = published(tmp_path / "farm", JOBS[:1])
    manifest = farm.folder / "current" / "manifest.json"
    if text is None:
        manifest.unlink()
    else:
        manifest.write_text(text, encoding="latin-1")
    for read in (lambda: farm.publish((tmp_path / "out").as_uri()), lambda: read_archives(farm)):
        with pytest.raises(hl.ArchiveError, match=r"manifest\.json` is (damaged|missing).*the next `sync\(\)` writes"):
            read()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"state":5}', '{"state":"../../farm"}', "null", "\xff"])
def test_a_damaged_pointer_is_named_with_what_to_do(tmp_path: Path, text: str) -> None:
    farm, target = published(tmp_path / "farm", JOBS[:1]), tmp_path / "out"
    done = farm.publish(target.as_uri())
    (target / "current.json").write_text(text, encoding="latin-1")
    with pytest.raises(hl.ArchiveError, match=r"`current.json` at `file://.*` is damaged .*: remove that file there"):
        farm.publish(target.as_uri())
    (target / "current.json").unlink()
    assert farm.publish(target.as_uri()).state == done.state
    assert json.loads((target / "current.json").read_text())["state"] == done.state


def test_a_manifest_that_was_lost_or_damaged_there_is_no_obstacle(tmp_path: Path) -> None:
    farm, target = published(tmp_path / "farm", JOBS[:1]), tmp_path / "out"
    [there] = [target / farm.publish(target.as_uri()).state / "manifest.json"]
    whole = there.read_bytes()
    there.write_bytes(b"[")
    assert farm.publish(target.as_uri()).sent == 0
    assert there.read_bytes() == whole


@pytest.mark.parametrize("lost", [True, False])
def test_a_damaged_table_of_the_catalog_is_named(tmp_path: Path, lost: bool) -> None:
    farm = published(tmp_path, JOBS)
    table = farm.folder / "current" / "catalog" / "jobs.parquet"
    if lost:
        table.unlink()
    else:
        table.write_bytes(table.read_bytes()[:100])
    told = r"missing; .* the next `sync\(\)`" if lost else r"damaged \(.*\); run `verify\(\)`, .* then `sync\(\)`"
    with pytest.raises(hl.ArchiveError, match=rf"catalog/jobs.parquet` is {told}"):
        farm.sql("SELECT count(*) FROM jobs")
    assert farm.sql("SELECT count(*) FROM Yield").fetchall() == [(8,)]
