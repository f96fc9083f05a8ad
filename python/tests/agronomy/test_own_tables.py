"""What headland wrote is read back by any road, with the same result of cleaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import geopandas as gpd
import numpy as np
import pandas as pd
import polars as pl
import pytest

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="module")
def logged() -> hl.Layer:
    """Return a harvest of eight passes, whose grain is logged 8 s late, harmonised."""
    passes, count, step, width = 8, 100, 2.0, 9.0
    row = np.arange(passes * count)
    number, along = row // count, row % count
    y = np.where(number % 2 == 0, along, count - 1 - along) * step
    rate = 0.9 * (1 + 0.3 * np.sin(number * width / 20) * np.cos(y / 35) + 0.2 * np.sin(y / 22))
    seconds = number * (count + 20.0) + along
    columns = {
        "TIME": pd.Timestamp("2025-09-23T14:00Z") + pd.to_timedelta(seconds, unit="s"),
        "CYCLE": 1.0,
        "DISTANCE": step,
        "SWATHWIDTH": width,
        "HEADING": np.where(number % 2 == 0, 0.0, 180.0),
        "FLOW": np.interp(seconds - 8, seconds, rate * step * width),
        "MOISTURE": 15.5 + 0.5 * np.sin(y / 50),
        "CROP": "corn",
    }
    points = gpd.points_from_xy(-93.62 + number * width / 82_700, 42.03 + y / 111_320)
    units = {"CYCLE": "s", "DISTANCE": "m", "SWATHWIDTH": "m", "HEADING": "deg", "FLOW": "kg/s", "MOISTURE": "%"}
    return hl.harmonize(gpd.GeoDataFrame(columns, geometry=points, crs=4326), kind="yield", units=units)


ROADS: dict[str, Callable[[hl.Layer, Path], Any]] = {
    "polars": lambda layer, _: layer.to_polars(),
    "polars.read_parquet": lambda layer, path: pl.read_parquet(layer.write_parquet(path)),
    "duckdb": lambda layer, path: duckdb.sql(f"SELECT * FROM '{layer.write_parquet(path)}'"),
    "geopandas.read_parquet": lambda layer, path: gpd.read_parquet(layer.write_parquet(path)),
    "merge": lambda layer, _: layer.to_geopandas().merge(
        pd.DataFrame({"x": range(len(layer))}), left_index=True, right_index=True
    ),
    "without attrs": lambda layer, _: gpd.GeoDataFrame(
        {name: column for name, column in layer.to_geopandas().items() if name != "geometry"},
        geometry=layer.to_geopandas().geometry.to_numpy(),
        crs=layer.crs,
    ),
}


def total(cleaned: hl.Cleaned) -> tuple[float, float, int]:
    frame = cleaned.layer.to_pandas()
    return round(float(frame.kg.sum()), 6), round(float(frame.m2.sum()), 6), int(frame.used.sum())


@pytest.mark.parametrize("road", ROADS)
def test_table_of_headland_is_cleaned_like_its_layer(logged: hl.Layer, road: str, tmp_path: Path) -> None:
    made = ROADS[road](logged, tmp_path / "own.parquet")
    # The crop is a column of the rows, and the coordinate system is lost by tables that have no place for it.
    again = hl.harmonize(made, crs=None if hasattr(made, "crs") else logged.crs)
    assert set(again.columns) == {*logged.columns, *(["x"] if road == "merge" else [])}
    assert again.units["swath_width"] == "m"
    cleaned, expected = hl.clean(again), hl.clean(logged)
    assert total(cleaned) == total(expected)
    assert cleaned.delay.seconds == expected.delay.seconds
    assert "yield_dry" in cleaned.layer.columns


@pytest.mark.parametrize("road", ["polars", "geopandas.read_parquet"])
def test_cleaned_table_starts_again_from_its_rows(logged: hl.Layer, road: str, tmp_path: Path) -> None:
    first = hl.clean(logged)
    made = ROADS[road](first.layer, tmp_path / "own.parquet")
    again = hl.harmonize(made, crs=None if hasattr(made, "crs") else logged.crs)
    assert total(hl.clean(again)) == total(first)


def test_coordinate_system_is_stated_for_a_table_that_cannot(logged: hl.Layer) -> None:
    frame = logged.to_polars()
    with pytest.raises(ValueError, match=r"has no coordinate system"):
        hl.clean(frame)
    assert hl.harmonize(frame, crs=4326).crs == "EPSG:4326"
    assert hl.harmonize(logged.to_geopandas(), crs="EPSG:4326").crs == "EPSG:4326"
    with pytest.raises(ValueError, match="states another coordinate system than `crs`"):
        hl.harmonize(logged, crs="EPSG:32614")
    with pytest.raises(ValueError, match="`crs`: `Mars` is not a known coordinate system"):
        hl.harmonize(frame, crs="Mars")


def test_column_of_bounding_boxes_is_left_out(logged: hl.Layer) -> None:
    boxes = [{"xmin": 0.0, "ymin": 0.0, "xmax": 1.0, "ymax": 1.0}] * len(logged)
    frame = logged.to_polars().with_columns(pl.Series("bbox", boxes))
    assert "bbox" not in hl.harmonize(frame).columns
    other = logged.to_polars().with_columns(pl.Series("bbox", [{"a": 1.0}] * len(logged)))
    with pytest.raises(ValueError, match="column `bbox`"):
        hl.harmonize(other)
