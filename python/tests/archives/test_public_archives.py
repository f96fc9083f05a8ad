"""Ordinary public archives, read in every way within a time limit, and compared with pyogrio."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyogrio
import pytest
from checkout import CORPUS

import headland as hl

if TYPE_CHECKING:
    from pathlib import Path

ARCHIVES = sorted((CORPUS / "everyday").glob("*.zip"))

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
@pytest.mark.timeout(60)
def test_public_archive_is_read_in_every_way_as_by_pyogrio(path: Path) -> None:
    layer = hl.read(path, threads=1)
    one = pa.table(layer)
    assert one.num_rows == ROWS[path.name]
    ways = {"default": hl.read(path), "bytes": hl.read(path.read_bytes()), "four": hl.read(path, threads=4)}
    for way, other in ways.items():
        assert pa.table(other).equals(one), way
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
    geometry = one["geometry"].cast(pa.binary()).combine_chunks()
    assert geometry == theirs["wkb_geometry"].cast(pa.binary()).combine_chunks()
    for name in names:
        ours, gdal = one[name].combine_chunks(), theirs[name].combine_chunks()
        if pa.types.is_string(gdal.type) or pa.types.is_large_string(gdal.type):
            # GDAL reads a blank as text without letters.
            ours, gdal = (pc.utf8_trim_whitespace(pc.fill_null(text, "")).cast(pa.string()) for text in (ours, gdal))
        assert ours.cast(gdal.type).equals(gdal), name
