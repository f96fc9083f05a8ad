"""The table of a layer: rows, cells, bounds, statistics, frames of pandas and polars, and the worked area."""

from __future__ import annotations

import datetime as dt
import doctest
import inspect
import math
import pickle
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyproj
import pytest
import shapely
from mirror_fixtures import job
from shapefiles import POINT, RINGS, Field, Shape, dbf, shp, zipped

import headland as hl
from headland.layer import rows as layer_rows
from headland.layer.rows import Rows
from headland.layer.summary import ColumnSummary, summarize
from headland.layer.table_methods import TableMethods

if TYPE_CHECKING:
    from collections.abc import Iterator

TWINS = (Field(b"A", "N", 9), Field(b"A", "C", 4), Field(b"A", "N", 9))
"""Columns with the same name."""


@pytest.fixture(scope="module")
def harvest() -> Iterator[hl.Layer]:
    """Return a harvest with nulls in MOISTURE and ELEVATION."""
    with hl.Sandbox.demo() as service, hl.Client(**service.credentials) as client:
        yield client.job_data.read(next(job["id"] for job in client.job_data.list() if job["sub_type"] == "Yield"))


@pytest.fixture
def timed(harvest: hl.Layer) -> hl.Layer:
    """Return the harvest with a column of UTC times."""
    return harvest.with_time("WHEN", date="DATE", time="TIME", zone="UTC")


@pytest.fixture
def twins() -> hl.Layer:
    """Return a layer of three rows with three columns of the same name."""
    cells = [(b"%9d" % row, b"t%03d" % row, b"%9d" % (10 * row) if row else b" " * 9) for row in range(3)]
    return hl.read(job("1", rows=3, fields=TWINS, cells=cells).archive)


def expected_rows(layer: hl.Layer) -> list[dict[str, Any]]:
    """Return all rows from the columns."""
    names = [name for name in layer.columns if name != "geometry"]
    return [dict(zip(names, cells, strict=True)) for cells in zip(*map(layer.values, names), strict=True)]


def shapes_of(kind: int, shapes: list[Shape | None], prj: str | None = None) -> hl.Layer:
    """Return a layer of shapes with a number for each."""
    content, index = shp(kind, shapes)
    table = dbf([Field(b"ID", "N", 9)], [(b"%9d" % row,) for row in range(len(shapes))])
    system = {} if prj is None else {"t.prj": prj.encode()}
    return hl.read(zipped({"t.shp": content, "t.shx": index, "t.dbf": table, **system}))


def without(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)


def test_head_is_the_first_rows(timed: hl.Layer) -> None:
    expected = expected_rows(timed)
    assert timed.head() == expected[:5]
    assert timed.head(n=2) == expected[:2]
    one: Any = np.int64(1)
    assert timed.head(one) == expected[:1]
    assert timed.head(0) == []
    assert timed.head(10**6) == expected
    when = timed.head(1)[0]["WHEN"]
    assert type(when.tzinfo) is dt.timezone
    assert isinstance(timed.head(1)[0]["DATE"], dt.date)


def test_head_converts_only_its_rows(harvest: hl.Layer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TableMethods, "values", None)
    assert len(harvest.head(3)) == 3


def test_head_is_a_table_in_notebooks(harvest: hl.Layer) -> None:
    shown = harvest.head(2)._repr_html_()
    assert shown.count("<tr>") == 3
    assert "<th style='text-align:right'>SPEED (km/h)</th>" in shown
    assert "<th style='text-align:right'>PASS</th>" in shown
    assert f">{harvest.values('SPEED')[1]:.6g}</td>" in shown
    hostile = Rows([{"<b>": "<script>\x1b", "none": None}], {})._repr_html_()
    assert ">&lt;b&gt;</th>" in hostile
    assert re.search(r">&lt;script&gt;\\u001b</td><td[^>]*></td>", hostile)
    assert harvest.head(0)._repr_html_().startswith("<table ")


def test_iteration_yields_all_rows_in_file_order(timed: hl.Layer, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = expected_rows(timed)
    assert list(timed) == expected
    assert len(timed) == len(expected)
    for block in (1, 7, len(timed)):
        monkeypatch.setattr(layer_rows, "BLOCK", block)
        assert list(timed) == expected
    iteration = iter(timed)
    assert next(iteration) == expected[0]
    assert next(iter(timed)) == expected[0], "iterations are independent"
    assert next(iteration) == expected[1]


def test_rows_are_the_same_without_pyarrow(timed: hl.Layer, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, head, summary = list(timed), timed.head(), timed.summary()
    without("pyarrow", monkeypatch)
    assert list(timed) == expected
    assert timed.head() == head
    assert timed.summary() == summary
    assert type(timed.head()[0]["WHEN"].tzinfo) is dt.timezone


def test_batch_yields_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "job.zip"
    path.write_bytes(job("1", rows=10).archive)
    with hl.open(path, batch_size=4) as reader:
        found = [row for batch in reader for row in batch]
    assert found == list(hl.read(path))


def test_layer_without_columns_or_rows_keeps_its_size() -> None:
    whole = hl.read(job("1", rows=3).archive, columns=[])
    assert list(whole) == [{}, {}, {}]
    assert whole.summary() == ()
    empty = hl.read(job("1", rows=0).archive)
    assert list(empty) == empty.head() == []
    assert empty.bounds is None
    assert [column.count for column in empty.summary()] == [0, 0]
    assert empty.to_pandas().columns.tolist() == ["PASS", "MOISTURE"]
    assert empty.to_polars().columns == ["PASS", "MOISTURE", "geometry"]


def test_layer_without_columns_keeps_its_size_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    without("pyarrow", monkeypatch)
    assert list(hl.read(job("1", rows=3).archive, columns=[])) == [{}, {}, {}]


def test_later_columns_with_the_same_name_get_a_number(twins: hl.Layer, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(twins) == [
        {"A": 0, "A_1": "t000", "A_2": None},
        {"A": 1, "A_1": "t001", "A_2": 10},
        {"A": 2, "A_1": "t002", "A_2": 20},
    ]
    properties = [feature["properties"] for feature in twins.__geo_interface__["features"]]
    assert list(twins) == properties
    assert twins.to_polars().drop("geometry").to_dicts() == properties
    assert twins.to_pandas().columns.tolist() == ["A", "A", "A"]
    assert [(each.column, each.count, each.max) for each in twins.summary()] == [("A", 3, 2), ("A", 2, 20)]
    with pytest.raises(ValueError, match="3 columns have the name"):
        twins["A"]
    summary = twins.summary()
    without("pyarrow", monkeypatch)
    assert twins.head() == properties
    assert twins.summary() == summary


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["A", "B"], ["A", "B"]),
        (["A", "A", "A_1"], ["A", "A_2", "A_1"]),
        (["A_1", "A", "A"], ["A_1", "A", "A_2"]),
        (["A", "A", "A_1", "A_1"], ["A", "A_2", "A_1", "A_1_1"]),
    ],
)
def test_rows_and_frames_have_the_names_of_geojson(names: list[str], expected: list[str]) -> None:
    fields = [Field(name.encode(), "N", 9) for name in names]
    layer = hl.read(job("1", rows=1, fields=fields, cells=[[b"        1"] * len(names)]).archive)
    assert list(layer.__geo_interface__["features"][0]["properties"]) == expected
    assert list(layer.head(1)[0]) == layer.to_polars().columns[:-1] == expected


def test_cells_by_name(timed: hl.Layer) -> None:
    for name in timed.columns:
        assert timed[name] == timed.values(name)
        assert name in timed
    assert "MOISTUR" not in timed
    with pytest.raises(KeyError, match="there is no column `MOISTUR`: did you mean `MOISTURE`"):
        timed["MOISTUR"]
    with pytest.raises(KeyError, match="there is no column `zzz`; there are: PASS, DATE, "):
        timed["zzz"]
    with pytest.raises(KeyError, match="u001b"):
        timed["\x1b"]


def test_name_in_other_normal_form_is_the_column() -> None:
    name = "Fläche"
    fields = (Field(name.encode("cp1252"), "N", 9),)
    layer = hl.read(job("1", rows=1, fields=fields, cells=[[b"        1"]]).archive, encoding="cp1252")
    decomposed = "Fla\u0308che"
    assert layer[decomposed] == layer[name] == [1]
    assert decomposed in layer


@pytest.mark.parametrize("wrong", [0, -1, slice(3), None, ["PASS"], True])
def test_position_and_slice_are_errors_that_name_head(harvest: hl.Layer, wrong: Any) -> None:
    with pytest.raises(TypeError, match=rf"{type(wrong).__name__}; `head\(n\)`"):
        harvest[wrong]


def test_row_in_layer_is_an_error(harvest: hl.Layer) -> None:
    with pytest.raises(TypeError, match="name of a column"):
        assert harvest.head(1)[0] in harvest


def test_bounds_are_those_of_geopandas(harvest: hl.Layer) -> None:
    bounds = harvest.bounds
    assert bounds == tuple(harvest.to_geopandas().total_bounds)
    assert bounds is not None
    assert all(type(side) is float for side in bounds)


def test_bounds_are_in_the_own_system_without_nulls() -> None:
    prj = pyproj.CRS.from_epsg(32614).to_wkt("WKT1_ESRI")
    points = [Shape([[(x, y, 0.0, 0.0)]]) for x, y in ((500_010.0, 5_000_020.0), (500_000.0, 5_000_030.0))]
    for system in (prj, None):
        layer = shapes_of(POINT, [*points, None], system)
        assert layer.bounds == (500_000.0, 5_000_020.0, 500_010.0, 5_000_030.0)
    assert shapes_of(POINT, [None, None]).bounds is None
    square = [(0.0, 0.0, 0.0, 0.0), (0.0, 8.0, 0.0, 0.0), (9.0, 8.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)]
    assert shapes_of(RINGS, [Shape([square])]).bounds == (0.0, 0.0, 9.0, 8.0)


def test_table_has_no_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.dbf"
    path.write_bytes(dbf([Field(b"ID", "N", 9)], [(b"        7",)]))
    layer = hl.read(path)
    assert layer.head() == [{"ID": 7}]
    assert layer.to_polars().to_dicts() == [{"ID": 7}]
    assert layer.to_pandas()["ID"].tolist() == [7]
    without("shapely", monkeypatch)
    assert layer.bounds is None


def test_summary_is_that_of_pandas_and_numpy(harvest: hl.Layer) -> None:
    frame, summary = harvest.to_pandas(), harvest.summary()
    numbers = frame.select_dtypes("number")
    assert [row.column for row in summary] == numbers.columns.tolist()
    made = summary.to_pandas().set_index("column")
    described = numbers.describe(percentiles=[0.05, 0.25, 0.5, 0.75, 0.95]).T
    for ours, theirs in (
        *((name, name) for name in ("count", "mean", "min", "max")),
        *((f"q{share:02}", f"{share}%") for share in (5, 25, 50, 75, 95)),
    ):
        np.testing.assert_allclose(made[ours], described[theirs].astype(float), rtol=1e-12)
    assert made["unit"].to_dict() == harvest.units
    assert made.loc["MOISTURE", "count"] == frame["MOISTURE"].notna().sum() < len(frame)
    for row in summary:
        cells = np.array([cell for cell in harvest.values(row.column) if cell is not None], dtype=float)
        shares = np.quantile(cells, [0.05, 0.25, 0.5, 0.75, 0.95])
        found: list[Any] = [row.q05, row.q25, row.q50, row.q75, row.q95]
        np.testing.assert_allclose(found, shares, rtol=1e-12)


@pytest.mark.parametrize("count", [1, 2, 3, 19, 20, 21, 1000])
def test_quantiles_of_any_number_of_values(count: int) -> None:
    cells = np.random.default_rng(count).normal(size=count)
    row = summarize("A", "m", [*cells.tolist(), None, math.nan])
    assert row.count == count
    found: list[Any] = [row.mean, row.min, row.q05, row.q25, row.q50, row.q75, row.q95, row.max]
    expected = [cells.mean(), *np.quantile(cells, [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1])]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_column_without_values_has_no_statistics() -> None:
    row = summarize("A", "m", [None, math.nan])
    assert row == ColumnSummary("A", 0, None, None, None, None, None, None, None, None, "m")


def test_infinite_and_large_values_are_counted() -> None:
    row = summarize("A", "m", [math.inf, math.inf, -math.inf, 2**53 + 1])
    assert (row.count, row.min, row.q75, row.max) == (4, -math.inf, math.inf, math.inf)
    assert summarize("A", "1", [2**53 + 1]).max == 2**53 + 1


def test_summary_is_an_aligned_table(harvest: hl.Layer) -> None:
    lines = repr(harvest.summary()).splitlines()
    assert lines[0].split("  ")[0] == "column"
    assert lines[0].endswith("max  unit")
    start = lines[0].index("unit")
    assert [line[start:] for line in lines[1:]] == [*harvest.units.values()]
    ends = {line[:start].rstrip().__len__() for line in lines}
    assert ends == {start - 2}
    shown = harvest.summary()._repr_html_()
    assert shown.count("<tr>") == len(lines)
    assert "<td style='text-align:left'>km/h</td>" in shown


def test_summary_escapes_names() -> None:
    fields = (Field(b"<b>\x1b", "N", 9),)
    layer = hl.read(job("1", rows=1, fields=fields, cells=[[b"        1"]]).archive)
    assert "\x1b" not in repr(layer.summary())
    assert "<b>" not in layer.summary()._repr_html_()
    assert "<b>" not in layer.head()._repr_html_()


def test_summary_of_no_numbers_is_a_frame_without_rows() -> None:
    frame = hl.read(job("1", rows=3).archive, columns=[]).summary().to_pandas()
    assert len(frame) == 0
    assert frame.columns[0] == "column"
    assert frame.dtypes["count"] == "int64"


@pytest.mark.parametrize("backend", [None, "numpy_nullable", "pyarrow", "numpy"])
def test_pandas_frame_is_that_of_geopandas_without_geometry(timed: hl.Layer, backend: Any) -> None:
    frame, geo = timed.to_pandas(backend), timed.to_geopandas(backend)
    assert type(frame) is pd.DataFrame
    pd.testing.assert_frame_equal(frame, pd.DataFrame(geo.drop(columns="geometry")))
    assert frame.attrs == geo.attrs
    assert frame.attrs["units"]["SPEED"] == "km/h"


def test_wrong_backend_is_an_error(harvest: hl.Layer) -> None:
    with pytest.raises(ValueError, match="dtype_backend"):
        harvest.to_pandas("polars")  # type: ignore[arg-type]


def test_polars_frame_has_every_cell(timed: hl.Layer) -> None:
    frame = timed.to_polars()
    assert frame.columns == timed.columns
    for name in timed.columns:
        assert frame[name].to_list() == timed.values(name)
    assert frame.schema["WHEN"] == pl.Datetime("us", "UTC")
    assert frame.schema["DATE"] == pl.Date
    assert frame.schema["geometry"] == pl.Binary
    assert shapely.from_wkb(frame["geometry"][0]).geom_type == "Point"
    assert len(pl.DataFrame(timed)) == len(timed), "polars reads the layer as a stream, not as an iterable"


def test_area_of_points_is_distance_times_swath_width(harvest: hl.Layer) -> None:
    harmonized = hl.harmonize(harvest)
    pairs = zip(harmonized["distance"], harmonized["swath_width"], strict=True)
    expected = pytest.approx(sum(distance * width for distance, width in pairs))
    assert harmonized.area() == harvest.area() == expected
    assert harmonized.area(crs="as-is") is None
    assert harmonized.to_units("us").area() == expected, "it stays in square metres"
    assert pickle.loads(pickle.dumps(harmonized)).area() == expected
    twice = hl.concat([harvest, harvest]).area()
    assert twice is not None
    assert twice / 2 == expected
    with pytest.raises(ValueError, match="crs"):
        harmonized.area(crs="EPSG:4326")  # type: ignore[arg-type]


def test_area_of_polygons_is_that_of_their_shapes() -> None:
    with hl.Sandbox.demo() as service, hl.Client(**service.credentials) as client:
        layers = (client.job_data.read(job["job_id"]) for job in service.truth if "Spray" in job["layer"])
        layer = next(layer for layer in layers if layer.area() is not None)
    harmonized = hl.harmonize(layer)
    assert harmonized.area() == layer.area() == pytest.approx(sum(filter(None, harmonized["worked_area"])))


def test_missing_packages_are_named_with_the_extra(harvest: hl.Layer, monkeypatch: pytest.MonkeyPatch) -> None:
    for package, extra, make in (
        ("pandas", "geo", harvest.to_pandas),
        ("pandas", "geo", harvest.summary().to_pandas),
        ("shapely", "geo", lambda: harvest.bounds),
        ("pyarrow", "geo", lambda: harvest.bounds),
        ("polars", "polars", harvest.to_polars),
        ("pyarrow", "polars", harvest.to_polars),
    ):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            with pytest.raises(ImportError, match=rf"{package}.*pip install 'headland\[{extra}\]'"):
                make()


def test_examples_run(harvest: hl.Layer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fields = [Field(b"MOISTURE", "N", 9, 2), Field(b"CROP", "C", 4)]
    Path("job.zip").write_bytes(job("1", rows=2, fields=fields, cells=[(b"    14.25", b"corn")] * 2).archive)
    views = (hl.Layer.head, hl.Layer.summary, hl.Layer.to_pandas, hl.Layer.to_polars, hl.Layer.__iter__)
    for view in (*views, hl.Layer.__getitem__, hl.Layer.__contains__, hl.Layer.bounds, type(harvest.summary())):
        examples = doctest.DocTestParser().get_examples(inspect.getdoc(view) or "")
        assert examples, view
        for example in examples:
            exec(example.source, {"headland": hl})
