"""Flipped bits in published files: every reader raises an error that names the file."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from mirror_fixtures import BLOCK, Farm, job, mirror_of, published, published_state, without_checksums
from shapefiles import Field

import headland as hl
from headland.dask import read_archives

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

REPAIR = "run `verify()` to find other damage, then `sync()` to rewrite the dataset"
"""The next steps that the errors state."""

ROUNDS = 150 * int(os.environ.get("HEADLAND_SERIES", "1"))


def flipped(path: Path, bits: list[int]) -> Iterator[int]:
    """Flip the bits of a file one after the other, each alone."""
    whole = path.read_bytes()
    for bit in bits:
        content = bytearray(whole)
        content[bit // 8] ^= 1 << bit % 8
        path.write_bytes(content)
        yield bit
    path.write_bytes(whole)


def chosen(path: Path) -> list[int]:
    """Select bits of the footer of a file, and as many of its pages."""
    content, picks = path.read_bytes(), random.Random(1)
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    ends = [8 * footer, 8 * len(content)]
    return [picks.randrange(*ends) for _ in range(ROUNDS)] + [picks.randrange(ends[0]) for _ in range(ROUNDS)]


def read_with_each_bit_flipped(folder: Path) -> int:
    """Read a mirror with bits of its first part flipped; return the number of errors, which every read must raise."""
    farm = Farm(folder)
    path = min((published_state(folder) / "dataset").rglob("part-*.parquet"))
    expected, refused = farm.to_geopandas(), 0
    for bit in flipped(path, chosen(path)):
        try:
            pd.testing.assert_frame_equal(farm.to_geopandas(), expected)
        except hl.ArchiveError as error:
            refused += f"{path.name}` is damaged (bytes " in str(error) and str(error).endswith(REPAIR)
        except Exception as error:
            raise AssertionError(f"bit {bit}") from error
    return refused


def service() -> hl.Sandbox:
    return hl.Sandbox(small_jobs=4, rate_limits=(), conversion_time=0, clock="moved")


def synced(folder: Path) -> Farm:
    """Return a mirror as a sync writes it."""
    with service() as farm:
        mirror_of(farm, folder).sync()
    return Farm(folder)


def made(folder: Path) -> Farm:
    """Return a mirror with short row groups and long blocks, so that one block has pages and the footer."""
    return published(folder, [job("101", rows=40), job("102", rows=40, west=-97.0)], group=10)


@pytest.mark.parametrize("make", [synced, made])
def test_no_flipped_bit_gives_other_rows_another_error_or_ends_the_process(
    tmp_path: Path, make: Callable[[Path], Farm]
) -> None:
    make(tmp_path / "farm")
    # Arrow may abort the process while it parses damaged data, which must not be the process of the tests.
    script = "import pathlib, sys, test_mirror_bit_flips as bits\n"
    script += "print(bits.read_with_each_bit_flipped(pathlib.Path(sys.argv[1])))"
    command = [sys.executable, "-c", script, str(tmp_path / "farm")]
    paths = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=paths)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == 2 * ROUNDS, "each bit is under a checksum"


def test_workers_and_queries_reject_flipped_bits_too(tmp_path: Path) -> None:
    farm = made(tmp_path)
    frame = farm.to_dask()
    [part] = published_state(tmp_path).rglob("part-*.parquet")
    last = 8 * part.stat().st_size - 100
    for _ in flipped(part, [1000, last]):
        with pytest.raises(hl.ArchiveError, match=r"part-0.parquet` is damaged \(bytes 0 to \d+ differ from those"):
            frame.compute(scheduler="threads")
    others: list[Callable[[], object]] = [
        farm.to_dask,
        lambda: read_archives(farm),
    ]
    for _ in flipped(part, [last]):
        for read in others:
            with pytest.raises(hl.ArchiveError, match=r"part-0.parquet` is damaged"):
                read()
    for _ in flipped(part, [1000, last]):
        queries: tuple[Callable[[], object], ...] = (farm.connect, lambda: farm.sql("SELECT count(*) FROM Yield"))
        for query in queries:
            with pytest.raises(hl.ArchiveError, match=r"part-0.parquet` is damaged \(bytes 0 to \d+ differ from those"):
                query()
    table = published_state(tmp_path) / "catalog" / "jobs.parquet"
    for _ in flipped(table, [100, 8 * table.stat().st_size - 100]):
        with pytest.raises(hl.ArchiveError, match=r"jobs.parquet` is damaged"):
            farm.sql("SELECT * FROM jobs")
    assert len(frame.compute(scheduler="threads")) == 80


def test_queries_of_canonical_rows_reject_flipped_bits(tmp_path: Path) -> None:
    farm = synced(tmp_path / "farm")
    current = published_state(tmp_path / "farm")
    part = max(current.glob("*_rows/part-*.parquet"), key=lambda path: path.stat().st_size)
    query = f"SELECT * FROM {part.parent.name}"
    rows = len(farm.sql(query).fetchall())
    assert rows > 0
    for _ in flipped(part, [100, 8 * part.stat().st_size // 2, 8 * part.stat().st_size - 100]):
        with pytest.raises(hl.ArchiveError, match=rf"{part.name}` is damaged"):
            farm.sql(query)
    assert len(farm.sql(query).fetchall()) == rows


def test_publication_without_checksums_is_read(tmp_path: Path) -> None:
    farm = made(tmp_path)
    without_checksums(farm)
    assert len(farm.to_geopandas()) == 80
    assert farm.sql("SELECT count(*) FROM jobs").fetchall() == [(2,)]
    [part] = published_state(tmp_path).rglob("part-*.parquet")
    content = part.read_bytes()
    part.write_bytes(content[:4] + b"\xff" * 4000 + content[4004:])
    frame = farm.to_dask()
    reads: list[Callable[[], object]] = [farm.to_geopandas, lambda: frame.compute(scheduler="threads")]
    for read in reads:
        with pytest.raises(hl.ArchiveError, match=r"part-0.parquet` is damaged \(.*\); run `verify"):
            read()


@pytest.mark.parametrize("text", ["00000000", 7, ["00000000"]])
def test_damaged_checksums_are_an_error(tmp_path: Path, text: object) -> None:
    farm = made(tmp_path)
    path = published_state(tmp_path) / "manifest.json"
    said = json.loads(path.read_text())
    said["parts"][0]["crc32"] = text
    path.write_text(json.dumps(said))
    with pytest.raises(hl.ArchiveError, match=r"(part-0.parquet|manifest.json)` is damaged"):
        farm.to_geopandas()


def test_a_part_of_many_blocks_is_read_block_by_block(tmp_path: Path) -> None:
    picks = random.Random(1)
    names = [b"%040x" % picks.getrandbits(160) for _ in range(24_000)]
    farm = published(
        tmp_path, [job("1", rows=len(names), fields=(Field(b"NAME", "C", 40),), cells=zip(names))], group=7_000
    )
    [part] = published_state(tmp_path).rglob("part-*.parquet")
    content = part.read_bytes()
    assert len(content) > 4 * BLOCK
    assert farm.to_geopandas().NAME.tolist() == [name.decode() for name in names]
    # The last row group is after the first blocks, and the first one before the last.
    changed = bytearray(content)
    changed[BLOCK // 2] ^= 1
    part.write_bytes(changed)
    last = (-98.0 + len(names) / 100 - 0.015, 40.0, 180.0, 50.0)
    assert len(farm.to_geopandas(bbox=last)) == 1
    with pytest.raises(hl.ArchiveError, match=rf"part-0.parquet` is damaged \(bytes 0 to {BLOCK} differ from those"):
        farm.to_geopandas()
    part.write_bytes(content[:-BLOCK])
    with pytest.raises(hl.ArchiveError, match=r"part-0.parquet` is damaged \(its length differs from that written"):
        farm.to_geopandas()


def test_sync_without_changes_adds_missing_checksums(tmp_path: Path) -> None:
    def manifest() -> Path:
        return published_state(tmp_path / "farm") / "manifest.json"

    with service() as farm:
        mirror = mirror_of(farm, tmp_path / "farm")
        rows = mirror.sync().rows
        without_checksums(Farm(tmp_path / "farm"))
        manifest().write_text(json.dumps(json.loads(manifest().read_text()) | {"format": 1}))
        assert mirror.verify().ok
        again = mirror.sync()
        assert (again.generation, again.rows) == (2, rows)
        assert all(
            entry["crc32"] for name in ("parts", "catalog") for entry in json.loads(manifest().read_text())[name]
        )
        assert mirror.sync().generation is None
