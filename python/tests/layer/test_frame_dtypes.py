"""Frames of a layer by default: the dtypes, the coordinate system and the units that users of geopandas expect."""

from __future__ import annotations

import datetime as dt
import json
import sys
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyproj
import pytest
import shapely
import statsmodels.api as sm
from mirror_fixtures import job, published
from shapefiles import Field
from sklearn.linear_model import LinearRegression

import headland as hl
from headland.layer.frames import to_frame, to_geo_frame

if TYPE_CHECKING:
    from pathlib import Path

HOUR = dt.datetime(2026, 9, 1, 12, tzinfo=dt.UTC)

COLUMNS: dict[str, tuple[pa.DataType, list[Any], str, str]] = {
    "float64": (pa.float64(), [1.5, 2.5], "float64", "float64"),
    "int32": (pa.int32(), [1, 2], "int32", "Int32"),
    "int64": (pa.int64(), [1, 2**53 + 1], "int64", "Int64"),
    "bool": (pa.bool_(), [True, False], "bool", "boolean"),
    "date": (pa.date32(), [HOUR.date(), dt.date(9999, 12, 31)], "datetime64[us]", "datetime64[us]"),
    "local time": (pa.timestamp("us"), [HOUR.replace(tzinfo=None)] * 2, "datetime64[us]", "datetime64[us]"),
    "time": (pa.timestamp("us", "UTC"), [HOUR] * 2, "datetime64[us, UTC]", "datetime64[us, UTC]"),
    "text": (pa.large_string(), ["a", ""], str(pd.Series(["a"]).dtype), str(pd.Series(["a"]).dtype)),
}
"""Arrow type, cells, dtype without nulls and with nulls."""


@pytest.fixture
def harvest(client: hl.Client) -> hl.Layer:
    """Return a harvest of the account, whose MOISTURE and ELEVATION have some nulls."""
    return client.job_data.read(next(job["id"] for job in client.job_data.list() if job["sub_type"] == "Yield"))


def with_midnights(cells: list[Any]) -> list[Any]:
    return [pd.Timestamp(cell) if type(cell) is dt.date else cell for cell in cells]


def point(x: float) -> Any:
    return shapely.to_wkb(shapely.Point(x, 2))


@pytest.mark.parametrize("name", COLUMNS)
def test_column_without_nulls_has_the_dtype_of_geopandas(name: str) -> None:
    kind, cells, dtype, _ = COLUMNS[name]
    frame = to_frame(pa.table({"A": pa.array(cells, kind)}), None)
    assert str(frame["A"].dtype) == dtype
    assert frame["A"].tolist() == with_midnights(cells)


@pytest.mark.parametrize("name", COLUMNS)
def test_column_with_nulls_loses_no_value(name: str) -> None:
    kind, cells, _, dtype = COLUMNS[name]
    frame = to_frame(pa.table({"A": pa.array([None, *cells], kind)}), None)
    assert str(frame["A"].dtype) == dtype
    assert frame["A"].isna().tolist() == [True, False, False]
    assert frame["A"].tolist()[1:] == with_midnights(cells)


def test_nullable_columns_keep_their_positions() -> None:
    cells = {name: pa.array([None, *cells], kind) for name, (kind, cells, _, _) in COLUMNS.items()}
    table = pa.table({**cells, "geometry": pa.array([point(1), None, point(3)], pa.large_binary())})
    frame = to_geo_frame(table, "geometry", None)
    assert frame.columns.tolist() == table.column_names
    assert frame.dtypes.astype(str).tolist() == [*(dtype for *_, dtype in COLUMNS.values()), "geometry"]
    only = to_frame(pa.table({name: cells[name] for name in ("int32", "bool")}), None)
    assert only.dtypes.astype(str).tolist() == ["Int32", "boolean"]
    assert len(only) == 3


def test_every_cell_of_a_frame_can_be_set() -> None:
    for nulls in ([], [None]):
        for kind, cells, *_ in COLUMNS.values():
            table = pa.table({"A": pa.array([*cells, *nulls], kind)})
            before = table.to_pylist()
            frame = to_frame(table, None)
            frame.loc[0, "A"] = frame.loc[1, "A"]
            assert frame["A"].iloc[0] == frame["A"].iloc[1]
            assert table.to_pylist() == before


def test_columns_with_the_same_name_keep_their_dtypes() -> None:
    fields = (Field(b"A", "N", 9), Field(b"A", "C", 4), Field(b"A", "N", 9), Field(b"A", "D", 8))
    rows = [(b"%9d" % row, b"t%03d" % row, b"%9d" % row if row else b" " * 9, b"20260901") for row in range(3)]
    frame = hl.read(job("1", rows=3, fields=fields, cells=rows).archive).to_geopandas()
    text = COLUMNS["text"][2]
    assert frame.dtypes.astype(str).tolist() == ["int32", text, "Int32", "datetime64[us]", "geometry"]
    assert frame.iloc[:, 2].tolist() == [pd.NA, 1, 2]


@pytest.mark.parametrize("backend", [None, "numpy_nullable", "pyarrow", "numpy"])
def test_layer_without_columns_or_rows_keeps_its_size(backend: Any) -> None:
    whole = hl.read(job("1", rows=3).archive, columns=[])
    assert len(whole.to_geopandas(backend)) == 3
    assert whole.to_geopandas(backend).attrs == {"units": {}}
    empty = hl.read(job("1", rows=0).archive).to_geopandas(backend)
    assert empty.columns.tolist() == ["PASS", "MOISTURE", "geometry"]
    assert len(empty) == 0


def test_frame_is_that_of_geopandas_read_file(harvest: hl.Layer, tmp_path: Path) -> None:
    harvest.write_geojson(tmp_path / "job.geojson")
    numbers = [column.name for column in harvest.describe() if column.type == "Float64"]
    texts = [column.name for column in harvest.describe() if column.type == "LargeUtf8" and column.name != "TIME"]
    frame, other = harvest.to_geopandas(), gpd.read_file(tmp_path / "job.geojson")
    for name in [*numbers, *texts, "HEADERDOWN"]:
        pd.testing.assert_series_equal(frame[name], other[name])
    assert other.crs == frame.crs


def test_dates_have_parts_and_differences(harvest: hl.Layer) -> None:
    frame = harvest.to_geopandas()
    assert set(frame.DATE.dt.year) == {2026}
    assert (frame.DATE - frame.DATE.min()).dt.days.min() == 0
    dates = [day.date() for day in frame.DATE]
    assert dates == harvest.values("DATE")
    joined = harvest.with_time("WHEN", date="DATE", time="TIME", zone="UTC").to_geopandas()
    assert str(joined.WHEN.dtype) == "datetime64[us, UTC]"
    assert (joined.WHEN.dt.tz_localize(None).dt.normalize() == joined.DATE).all()


def test_certain_system_is_its_epsg_code(harvest: hl.Layer) -> None:
    frame = harvest.to_geopandas()
    assert frame.crs == "EPSG:4326"
    assert frame.crs.to_epsg() == 4326
    assert frame.crs.to_string() == "EPSG:4326"
    assert frame.crs.area_of_use is not None
    utm = hl.read(job("1", prj=pyproj.CRS.from_epsg(32614).to_wkt("WKT1_ESRI").encode()).archive)
    assert utm.crs == "EPSG:32614"
    assert utm.to_geopandas().crs.to_string() == "EPSG:32614"


def test_datum_shift_of_the_source_is_kept() -> None:
    shift = b"TOWGS84[-8,160,176,0,0,0,0]"
    ellipsoid = b'SPHEROID["Clarke 1866",6378206.4,294.978698213898]'
    datum = b'DATUM["North_American_Datum_1927",' + ellipsoid + b"," + shift + b"]"
    prj = (
        b'GEOGCS["NAD27",'
        + datum
        + b',PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AUTHORITY["EPSG","4267"]]'
    )
    layer = hl.read(job("1", prj=prj).archive)
    assert layer.to_geopandas().crs.is_bound
    assert layer.to_geopandas().crs.source_crs.to_epsg() == 4267


def test_other_systems_keep_their_parameters() -> None:
    local = pyproj.CRS.from_proj4("+proj=tmerc +lon_0=-98.4 +ellps=GRS80 +x_0=1234 +units=m +no_defs")
    frame = hl.read(job("1", prj=local.to_wkt("WKT1_ESRI").encode()).archive).to_geopandas()
    assert "-98.4" in frame.crs.to_wkt()
    # PROJ does not know this code.
    system = {**frame.crs.to_json_dict(), "id": {"authority": "EPSG", "code": 1}}
    metadata = {"ARROW:extension:metadata": json.dumps({"crs": system})}
    schema = pa.schema([pa.field("geometry", pa.large_binary(), metadata=metadata)])
    table = pa.table([pa.array([point(1)], pa.large_binary())], schema=schema)
    assert "-98.4" in to_geo_frame(table, "geometry", None).crs.to_wkt()


def test_statsmodels_and_scikit_learn_fit_a_frame_of_a_harvest(harvest: hl.Layer) -> None:
    frame = harvest.to_geopandas().dropna()
    causes = frame[["MOISTURE", "ELEVATION", "PASS"]]
    fit = sm.OLS(frame["DRYMATTER"], sm.add_constant(causes)).fit()
    model = LinearRegression().fit(causes, frame["DRYMATTER"])
    np.testing.assert_allclose(fit.params[causes.columns], model.coef_, rtol=1e-6)
    assert fit.nobs == len(frame) > 1000


def test_every_frame_has_the_known_units(client: hl.Client, harvest: hl.Layer, tmp_path: Path) -> None:
    known = {name: unit for name, unit in harvest.units.items() if unit != "unknown"}
    assert known["SPEED"] == "km/h"
    assert "PASS" not in known
    for backend in (None, "numpy_nullable", "pyarrow", "numpy"):
        assert harvest.to_geopandas(backend).attrs == {"units": known}
    metric = harvest.to_units({"SPEED": "m/s"})
    assert metric.to_geopandas().attrs["units"] == {**known, "SPEED": "m/s"}
    products = client.job_data.products(client.job_data.list().first()["id"])  # type: ignore[index]
    assert products.to_pandas().attrs["units"] == {
        "product_number": "1",
        "applied_area": "m²",
        "total_weight": "kg",
        "total_bushels": "bushels",
        "average_weight_per_area": "kg/ha",
    }
    locations = client.field_hubs.current_locations()
    on_the_map = {"lat": "degrees", "lon": "degrees", "alt": "m", "speed": "km/h", "direction": "degrees"}
    assert locations.to_pandas().attrs["units"] == on_the_map
    assert locations.to_geopandas().attrs["units"] == on_the_map
    assert client.job_data.list().to_pandas().attrs == {"units": {}}
    table = hl.read(job("1", places=False, unit="%").archive).to_geopandas()
    assert table.attrs == {"units": {"MOISTURE": "%"}}
    farm = published(tmp_path, [job("1", unit="%")])
    assert farm.to_geopandas().attrs == {"units": {"MOISTURE": "%"}}
    assert farm.to_geopandas(columns=["PASS"], bbox=(-180, -90, 180, 90)).attrs == {"units": {}}


def test_units_survive_the_usual_operations(harvest: hl.Layer) -> None:
    frame = harvest.to_geopandas()
    for made in (
        frame[frame.SPEED > 1],
        frame.to_crs(32614),
        frame.dropna(),
        frame.copy(),
        frame[["SPEED", "geometry"]],
    ):
        assert made.attrs == frame.attrs


def test_missing_packages_are_named_with_the_extra(
    client: hl.Client, harvest: hl.Layer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = client.field_hubs.current_locations()
    for package, make in (
        ("geopandas", harvest.to_geopandas),
        ("pyarrow", harvest.to_arrow),
        ("geopandas", pages.to_geopandas),
        ("pandas", pages.to_pandas),
        ("pyarrow", pages.to_arrow),
    ):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            with pytest.raises(ImportError, match=rf"{package}.*pip install 'headland\[geo\]'"):
                make()
