"""Frames written as Parquet: the same frame, its units and its attributes when it is read again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from geopandas.testing import assert_geodataframe_equal
from mirror_fixtures import job

import headland as hl

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def frame(client: hl.Client, small_job: str) -> gpd.GeoDataFrame:
    return client.job_data.read(small_job).to_geopandas()


def field_units(path: Path) -> dict[str, str]:
    metadata = {field.name: field.metadata or {} for field in pq.read_schema(path)}
    return {name: each[b"unit"].decode() for name, each in metadata.items() if b"unit" in each}


@pytest.mark.parametrize("backend", [None, "numpy_nullable", "pyarrow", "numpy"])
def test_frame_read_again_is_the_same(client: hl.Client, small_job: str, tmp_path: Path, backend: Any) -> None:
    written = client.job_data.read(small_job).to_geopandas(backend)
    written.attrs["source"] = {"job": small_job}
    path = hl.write_parquet(written, tmp_path / "job.parquet")
    assert path == tmp_path / "job.parquet"
    read = gpd.read_parquet(path)
    assert_geodataframe_equal(read, written)
    assert read.crs == written.crs
    assert read.attrs == written.attrs
    assert read.attrs["units"]["SPEED"] in {"km/h", "mph"}


def test_units_are_field_metadata_as_of_a_layer(client: hl.Client, small_job: str, tmp_path: Path) -> None:
    layer = client.job_data.read(small_job)
    layer.write_parquet(tmp_path / "layer.parquet")
    path = hl.write_parquet(layer.to_geopandas(), tmp_path / "frame.parquet")
    assert field_units(path) == field_units(tmp_path / "layer.parquet") == layer.to_geopandas().attrs["units"]
    assert pq.read_schema(path).names == pq.read_schema(tmp_path / "layer.parquet").names
    assert pq.read_metadata(path).row_group(0).column(0).compression == "ZSTD"


def test_file_is_geoparquet_that_is_read_by_region(frame: gpd.GeoDataFrame, tmp_path: Path) -> None:
    path = hl.write_parquet(frame, tmp_path / "job.parquet")
    about = json.loads(pq.read_schema(path).metadata[b"geo"])
    assert about["version"] == "1.1.0"
    assert about["columns"]["geometry"]["encoding"] == "WKB"
    west, south, east, north = frame.total_bounds
    corner = (west, south, (west + east) / 2, (south + north) / 2)
    part = gpd.read_parquet(path, bbox=corner)
    assert 0 < len(part) < len(frame)
    assert part.attrs == frame.attrs


def test_columns_of_the_user_are_kept(frame: gpd.GeoDataFrame, tmp_path: Path) -> None:
    frame["bbox"] = "mine"
    frame["share"] = np.linspace(0, 1, len(frame))
    frame.attrs["units"] |= {"share": "1", "dropped": "m"}
    path = hl.write_parquet(frame.drop(columns=["SPEED"]), tmp_path / "job.parquet")
    assert field_units(path)["share"] == "1"
    assert {"dropped", "SPEED"}.isdisjoint(field_units(path))
    assert set(gpd.read_parquet(path)["bbox"]) == {"mine"}


def test_frames_without_geometry_or_rows_are_written(frame: gpd.GeoDataFrame, tmp_path: Path) -> None:
    table = pd.DataFrame(frame.drop(columns="geometry"))
    table.attrs = frame.attrs
    path = hl.write_parquet(table, tmp_path / "table.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(path), table)
    assert pd.read_parquet(path).attrs == frame.attrs
    assert "geo" not in map(bytes.decode, pq.read_schema(path).metadata)
    without = hl.read(job("1", places=False).archive).to_geopandas()
    pd.testing.assert_frame_equal(pd.read_parquet(hl.write_parquet(without, path)), pd.DataFrame(without))
    assert len(gpd.read_parquet(hl.write_parquet(frame.iloc[:0], path))) == 0
    hl.write_parquet(pd.DataFrame({"share": [0.5]}), path)
    assert field_units(path) == {}


def test_existing_file_is_replaced_and_kept_if_writing_fails(frame: gpd.GeoDataFrame, tmp_path: Path) -> None:
    path = tmp_path / "job.parquet"
    path.write_text("old", encoding="utf-8")
    unwritable = frame.assign(mixed=[1, "a"] * (len(frame) // 2) + [1] * (len(frame) % 2))
    with pytest.raises(ValueError, match="mixed"):
        hl.write_parquet(unwritable, path)
    assert path.read_text(encoding="utf-8") == "old"
    link = tmp_path / "link.parquet"
    link.symlink_to(path)
    hl.write_parquet(frame, link)
    assert link.is_symlink()
    assert len(gpd.read_parquet(path)) == len(frame)
    assert sorted(tmp_path.iterdir()) == [path, link]


def test_wrong_targets_and_frames_are_errors(client: hl.Client, small_job: str, tmp_path: Path) -> None:
    table = pd.DataFrame({"share": [0.5]})
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(hl.HeadlandError, match=r"not a regular file.*choose another path"):
        hl.write_parquet(table, tmp_path / "folder.parquet")
    with pytest.raises(FileNotFoundError, match=r"there is no folder `.*missing`; create it first") as caught:
        hl.write_parquet(table, tmp_path / "missing" / "table.parquet")
    assert isinstance(caught.value, hl.HeadlandError)
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(NotADirectoryError, match="cannot write"):
        hl.write_parquet(table, file / "table.parquet")
    file.unlink()
    with pytest.raises(TypeError, match="`path`"):
        hl.write_parquet(table, 7)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"got Layer; call its own `write_parquet`"):
        hl.write_parquet(client.job_data.read(small_job), tmp_path / "job.parquet")
    with pytest.raises(TypeError, match="got list"):
        hl.write_parquet([table], tmp_path / "job.parquet")
    table.attrs["thing"] = object()
    with pytest.raises(TypeError, match="JSON"):
        hl.write_parquet(table, tmp_path / "job.parquet")
    assert list(tmp_path.iterdir()) == [tmp_path / "folder.parquet"]
