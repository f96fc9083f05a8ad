"""Ordinary public archives, read in every way in a child process with a time limit, compared with pyogrio there."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from checkout import CORPUS

if TYPE_CHECKING:
    from pathlib import Path

ARCHIVES = sorted((CORPUS / "everyday").glob("*.zip"))

READ = """
import sys
import warnings
import pyarrow as pa
import pyarrow.compute as pc
import pyogrio
import headland as hl

path = sys.argv[1]
one = pa.table(hl.read(path, threads=1))
with open(path, "rb") as file:
    ways = {"default": hl.read(path), "bytes": hl.read(file.read()), "four": hl.read(path, threads=4)}
for way, layer in ways.items():
    assert pa.table(layer).equals(one), way
for size in (100, 65536):
    with hl.open(path, types="scan", batch_size=size) as reader:
        batches = [pa.record_batch(batch) for batch in reader]
    assert pa.Table.from_batches(batches).equals(one), size
    assert [found.code for found in reader.diagnostics] == [found.code for found in layer.diagnostics]

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    frame = layer.to_geopandas()
    about, theirs = pyogrio.read_arrow(path)
assert frame.crs.equals(about["crs"]), (frame.crs, about["crs"])
names = [name for name in theirs.column_names if name != "wkb_geometry"]
assert names == [name for name in one.column_names if name != "geometry"]
assert one.num_rows == theirs.num_rows
assert one["geometry"].cast(pa.binary()).combine_chunks() == theirs["wkb_geometry"].cast(pa.binary()).combine_chunks()
for name in names:
    ours, other = one[name].combine_chunks(), theirs[name].combine_chunks()
    if pa.types.is_string(other.type) or pa.types.is_large_string(other.type):
        # GDAL reads a blank as text without letters.
        ours, other = (pc.utf8_trim_whitespace(pc.fill_null(text, "")).cast(pa.string()) for text in (ours, other))
    assert ours.cast(other.type).equals(other), name
print(one.num_rows)
"""

ROWS = {
    "50m_admin_0_countries.zip": 239,
    "harvest-point-each-section.zip": 134_725,
    "harvest-point-each-sensor.zip": 11_230,
    "harvest-point-onehertz.zip": 2_514,
    "harvest-polygon-each-sensor.zip": 11_230,
    "harvest-polygon-onehertz.zip": 2_243,
    "ne_10m_coastline.zip": 4_102,
    "nj_counties.zip": 21,
    "nybb_16a.zip": 5,
}


@pytest.mark.skipif(not ARCHIVES, reason=f"no corpus at {CORPUS}: set HEADLAND_CORPUS")
@pytest.mark.parametrize("path", ARCHIVES, ids=lambda path: path.name)
def test_public_archive_is_read_in_every_way_as_by_pyogrio(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == ROWS[path.name]
