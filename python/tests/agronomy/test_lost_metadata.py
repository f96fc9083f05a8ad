"""Tables of headland that lost metadata on their road: the right numbers, or what has to be stated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import geopandas as gpd
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from generated_logs import harvest, sprayer

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LENGTHS = {"distance": "ft", "swath_width": "ft"}
FLOW = LENGTHS | {"flow": "lb/s"}


def mean(layer: Any) -> float:
    """Return the mean yield of a harvest of one field."""
    return float(hl.field_means(layer).to_pandas()["mean"].iloc[0])


def amount(layer: Any) -> float:
    """Return what a map holds."""
    return float(hl.grid(hl.clean(layer), 10).to_pandas()["amount"].sum())


def without_fields(path: Path) -> Path:
    """Drop the metadata of columns but not those of the file, as the season of the command line does."""
    table = pq.read_table(path)
    kept = {b"headland:kind": b"yield"} | {
        key: value for key, value in (table.schema.metadata or {}).items() if not key.startswith(b"headland")
    }
    fields = [
        field.with_metadata({key: value for key, value in (field.metadata or {}).items() if b"headland" not in key})
        for field in table.schema
    ]
    pq.write_table(table.cast(pa.schema(fields, metadata=kept)), path)
    return path


@pytest.mark.parametrize("read", [gpd.read_parquet, pq.read_table, pl.read_parquet])
def test_file_that_kept_its_kind_only_is_a_table_of_headland(read: Callable[[Path], Any], tmp_path: Path) -> None:
    log = harvest()
    layer = hl.harmonize(log.frame, kind="yield")
    path = without_fields(layer.write_parquet(tmp_path / "season.parquet"))
    crs = "EPSG:4326" if read is pl.read_parquet else None
    again = hl.harmonize(read(path), crs=crs)
    assert mean(again) == pytest.approx(mean(layer))
    assert hl.clean(again).layer.to_pandas()["m2"].sum() == pytest.approx(log.truth.ground, rel=0.01)


@pytest.mark.parametrize("units", [LENGTHS, FLOW, FLOW | {"wet_mass": "lb"}, {"worked_area": "ac"}])
def test_some_units_of_a_table_in_us_units_ask_for_the_others(units: dict[str, str]) -> None:
    table = hl.harmonize(harvest().frame, kind="yield").to_units("us").to_polars()
    with pytest.raises(ValueError, match=r"`units`: .*dry_mass"):
        hl.harmonize(table, units=units, crs="EPSG:4326")


def test_all_units_of_a_table_in_us_units_give_its_mean() -> None:
    layer = hl.harmonize(harvest().frame, kind="yield")
    us = layer.to_units("us")
    names = {entry["column"] for entry in layer.provenance}
    units = {name: unit for name, unit in us.units.items() if name in names and unit != "unknown"}
    again = hl.harmonize(us.to_polars(), units=units, crs="EPSG:4326")
    assert mean(again) == pytest.approx(mean(layer), rel=1e-6)


def test_metric_units_of_some_columns_ask_for_nothing() -> None:
    layer = hl.harmonize(harvest().frame, kind="yield")
    again = hl.harmonize(layer.to_polars(), units={"distance": "m", "flow": "kg/s"}, crs="EPSG:4326")
    assert mean(again) == pytest.approx(mean(layer))


def test_unit_of_a_column_that_a_table_of_headland_lacks_is_an_error() -> None:
    table = hl.harmonize(harvest().frame, kind="yield").to_polars()
    with pytest.raises(ValueError, match="no column"):
        hl.harmonize(table, units={"Swth": "ft"}, crs="EPSG:4326")
    with pytest.raises(ValueError, match="not a known unit"):
        hl.harmonize(table, units={"distance": "cubits"}, crs="EPSG:4326")


def test_applied_rate_without_its_unit_is_asked_for() -> None:
    log = sprayer()
    frame = hl.harmonize(log.frame, kind="as_applied").to_geopandas()
    frame.attrs = {}
    cleaned = hl.clean(frame)
    said = [found.message for found in cleaned.layer.diagnostics if found.code == "unit-unknown"]
    assert len(said) == 1
    assert 'units={"' in said[0]
    assert cleaned.report.to_pandas()["amount"].isna().all()
    assert hl.grid(cleaned).to_pandas()["amount"].isna().all()
    with pytest.raises(ValueError, match="unit of `applied_rate`"):
        hl.compare_rates(frame)
    stated = hl.harmonize(frame, units={"applied_rate": "L/ha"})
    assert amount(stated) == pytest.approx(log.truth.total, rel=0.01)
    assert stated.units["amount"] == "L"
    assert not [found for found in stated.diagnostics if found.code == "unit-unknown"]


def test_rate_in_gallons_asks_for_the_other_units() -> None:
    table = hl.harmonize(sprayer().frame, kind="as_applied").to_units("us").to_polars()
    with pytest.raises(ValueError, match="worked_area"):
        hl.harmonize(table, units={"applied_rate": "gal/ac"}, crs="EPSG:4326")


def test_harmonised_rows_with_longitudes_and_latitudes_get_points() -> None:
    layer = hl.harmonize(harvest().frame, kind="yield")
    frame = layer.to_geopandas()
    table = pd.DataFrame(frame.drop(columns="geometry")).assign(longitude=frame.geometry.x, latitude=frame.geometry.y)
    assert mean(hl.harmonize(table)) == pytest.approx(mean(layer))
    table.attrs = {}
    assert mean(hl.harmonize(table)) == pytest.approx(mean(layer))
    assert hl.clean(table).layer.to_pandas()["m2"].sum() == pytest.approx(layer.covered_area(), rel=1e-6)


def test_names_that_a_shapefile_truncates_are_whole_again(tmp_path: Path) -> None:
    layer = hl.harmonize(harvest().frame, kind="yield")
    path = tmp_path / "own.shp"
    frame = layer.to_geopandas()
    frame = frame.drop(columns=[name for name in frame if name.endswith("_original")])
    frame["time"] = frame["time"].astype(str)
    frame.columns = [name[:10] for name in frame]
    frame.to_file(path)
    again = hl.harmonize(gpd.read_file(path))
    assert mean(again) == pytest.approx(mean(layer), rel=0.001)
