"""Units at every door: the same warning, the same conversion and the same mean for jobs with different units."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import duckdb
import geopandas as gpd
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from mirror_fixtures import Farm, job, published
from shapefiles import Field, dbf, zipped

import headland as hl
from headland.cli.main import main
from headland.dask import read_archives

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SWATH = (Field(b"PASS", "N", 9), Field(b"SWATHWIDTH", "N", 9, 2))
FEET, METRES = [(b"%9d" % row, b"    30.00") for row in range(4)], [(b"%9d" % row, b"     9.00") for row in range(4)]


@pytest.fixture
def farm(tmp_path: Path) -> Farm:
    feet = job("1", fields=SWATH, cells=FEET, unit="ft")
    return published(tmp_path / "farm", [feet, job("2", fields=SWATH, cells=METRES, unit="m")])


def archives(farm: Farm) -> list[Path]:
    return sorted((farm.folder / "archives").rglob("*.zip"))


def connected(farm: Farm, units: Any) -> float:
    with farm.connect(units=units) as connection:
        return float(connection.sql("SELECT avg(SWATHWIDTH) FROM dataset").fetchall()[0][0])


def computed(frame: Any) -> float:
    return float(frame.SWATHWIDTH.mean().compute(scheduler="synchronous"))


DOORS: dict[str, Callable[[Farm, Any], float]] = {
    "read_archives of paths": lambda farm, units: computed(read_archives(archives(farm), units=units)),
    "read_archives of a mirror": lambda farm, units: computed(read_archives(farm, units=units)),
    "to_dask": lambda farm, units: computed(farm.to_dask(units=units)),
    "to_geopandas": lambda farm, units: float(farm.to_geopandas(units=units).SWATHWIDTH.mean()),
    "sql": lambda farm, units: farm.sql("SELECT avg(swathwidth) FROM Yield", units=units).fetchall()[0][0],
    "sql of all columns": lambda farm, units: farm.sql("FROM dataset", units=units).df().SWATHWIDTH.mean(),
    "connect": connected,
}
"""The mean width of the swaths of both jobs."""


@pytest.mark.parametrize("door", DOORS)
def test_every_door_warns_once_in_the_same_words_and_converts(farm: Farm, door: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert DOORS[door](farm, None) == pytest.approx((30 + 9) / 2), "originals keep their meaning"
    expected = (
        'columns have several units: `SWATHWIDTH` (ft | m); `units="metric"` converts them, and `harvest_rows`, '
        "`application_rows`, `planting_rows` and `field_means` of a mirror have one unit in each column"
    )
    assert [str(warning.message) for warning in caught] == [expected]
    assert caught[0].filename == __file__
    # Warnings are errors in tests: a column with one unit has none.
    assert DOORS[door](farm, "metric") == pytest.approx((9.144 + 9) / 2)
    assert DOORS[door](farm, "us") == pytest.approx((30 + 9 / 0.3048) / 2)
    with pytest.raises(ValueError, match='`units`: expected "metric", "us" or None, got "si"'):
        DOORS[door](farm, "si")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT avg(SWATHWIDTH) FROM Yield WHERE job_id = '1'",
        "SELECT job_id, avg(SWATHWIDTH) FROM Yield GROUP BY job_id",
        "SELECT count(*) FROM Yield",
        "SELECT avg(PASS) FROM dataset",
    ],
)
def test_query_that_mixes_no_units_has_no_warning(farm: Farm, query: str) -> None:
    assert farm.sql(query).fetchall()


def test_column_that_not_all_archives_state_is_not_taken_for_converted(tmp_path: Path) -> None:
    farm = published(
        tmp_path, [job("1", fields=SWATH, cells=FEET, unit="ft"), job("2", fields=SWATH, cells=METRES, year="2025")]
    )
    with pytest.warns(hl.HeadlandWarning, match=r"`SWATHWIDTH` \(m \| unknown\); `harvest_rows`"):
        farm.to_geopandas(units="metric")


def vendor_archive(unit: str) -> bytes:
    """Return a zip whose sidecar states a unit in the vendor's spelling."""
    stated = json.dumps({"DataAttributes": [{"Name": "VRYIELDVOL", "Unit": unit}]}).encode()
    table = dbf([Field(b"VRYIELDVOL", "N", 8, 2)], [[b"  200.00"]])
    return zipped({"t.dbf": table, "t-Deere-Metadata.json": stated})


@pytest.mark.parametrize(
    ("unit", "ours"), [("bu1ac-1", "bu/ac"), ("prcnt", "%"), ("furlongs", "furlongs"), ("tons", "tons")]
)
def test_unit_of_a_vendor_is_shown_in_the_spelling_of_headland(
    unit: str, ours: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "job.zip"
    path.write_bytes(vendor_archive(unit))
    layer = hl.read(path)
    assert layer.units["VRYIELDVOL"] == layer.to_geopandas().attrs["units"]["VRYIELDVOL"] == ours
    assert main(["read", str(path)]) == 0
    shown = capsys.readouterr().out
    assert ours in shown
    assert unit == ours or unit not in shown


def harvest() -> hl.Layer:
    """Return two rows of a harmonised harvest."""
    columns = {
        "TIME": ["10:00:00", "10:00:01"],
        "DATE": pd.to_datetime(["2025-09-23", "2025-09-23"]),
        "CYCLE": [1.0, 1.0],
        "DISTANCE": [2.0, 2.0],
        "SWATHWIDTH": [9.0, 9.0],
        "FLOW": [10.0, 12.0],
        "MOISTURE": [18.0, 19.0],
        "CROP": ["corn", "corn"],
    }
    units = {"CYCLE": "s", "DISTANCE": "m", "SWATHWIDTH": "m", "FLOW": "kg/s", "MOISTURE": "%"}
    points = gpd.points_from_xy([-93.62, -93.62], [42.03, 42.030018])
    frame = gpd.GeoDataFrame(columns, geometry=points, crs=4326)
    return hl.harmonize(frame, kind="yield", units=units)


def csv(layer: hl.Layer, folder: Path) -> pd.DataFrame:
    layer.to_geopandas().to_csv(folder / "rows.csv", index=False)
    return pd.read_csv(folder / "rows.csv")


ROADS: dict[str, Callable[[hl.Layer, Path], Any]] = {
    "geopandas, GeoParquet": lambda layer, folder: gpd.read_parquet(layer.write_parquet(folder / "rows.parquet")),
    "pandas, GeoParquet": lambda layer, folder: pd.read_parquet(layer.write_parquet(folder / "rows.parquet")),
    "polars, GeoParquet": lambda layer, folder: pl.read_parquet(layer.write_parquet(folder / "rows.parquet")),
    "duckdb, GeoParquet": lambda layer, folder: duckdb.sql(f"FROM '{layer.write_parquet(folder / 'rows.parquet')}'"),
    "pyarrow, GeoParquet": lambda layer, folder: pq.read_table(layer.write_parquet(folder / "rows.parquet")),
    "geopandas, GeoJSON": lambda layer, folder: gpd.read_file(layer.write_geojson(folder / "rows.geojson")),
    "pandas, CSV": csv,
    "polars, CSV": lambda layer, folder: pl.from_pandas(csv(layer, folder)),
}


@pytest.mark.parametrize("road", ROADS)
def test_file_of_headland_is_read_back_with_units_and_times(road: str, tmp_path: Path) -> None:
    layer = harvest()
    table = ROADS[road](layer, tmp_path)
    again = hl.harmonize(table, crs=None if hasattr(table, "crs") else 4326)
    canonical = [
        "time",
        "distance",
        "swath_width",
        "flow",
        "moisture",
        "worked_area",
        "wet_mass",
        "dry_mass",
        "yield_dry",
    ]
    assert again.columns == layer.columns
    assert {name: again.units.get(name) for name in canonical} == {name: layer.units.get(name) for name in canonical}
    for name in canonical:
        assert again[name] == pytest.approx(layer[name]) if name != "time" else again[name] == layer[name]
    assert again.area() == pytest.approx(layer.area())


@pytest.mark.parametrize("road", ["geopandas, GeoParquet", "pandas, GeoParquet", "pyarrow, GeoParquet"])
def test_units_of_an_original_layer_survive_its_file(road: str, tmp_path: Path) -> None:
    layer = harvest()
    table = ROADS[road](layer, tmp_path)
    assert hl.harmonize(table, crs=None if hasattr(table, "crs") else 4326).units == layer.units


def test_masses_alone_are_not_taken_for_rates() -> None:
    frame = harvest().to_polars().select("dry_mass", "moisture", "geometry")
    layer = hl.harmonize(frame, crs=4326)
    assert layer.units == {"dry_mass": "kg", "moisture": "%"}
    assert layer.columns == ["dry_mass", "moisture", "geometry"]


def test_rows_of_a_mirror_are_in_wgs84_in_any_table() -> None:
    frame = pd.DataFrame(harvest().to_polars().to_pandas()).assign(job_id="1", layer="rows", job_row=[0, 1])
    assert hl.harmonize(frame).crs == "EPSG:4326"
