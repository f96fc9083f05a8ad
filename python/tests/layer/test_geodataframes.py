"""GeoDataFrames (design, section 2): equal to those of geopandas from the same Arrow table, for all geometries."""

from __future__ import annotations

import datetime as dt
import gc
import io
import zipfile
from typing import Any, Literal

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyproj
import pytest
import shapefile  # pyshp
import shapely
from geopandas.testing import assert_geodataframe_equal
from mirror_fixtures import job
from shapefiles import Field

import headland as hl
from headland.layer.frames import geometries, pandas_options, to_geo_frame

Backend = Literal["numpy_nullable", "pyarrow", "numpy"]
BACKENDS: tuple[Backend, ...] = ("numpy_nullable", "pyarrow", "numpy")
SQUARE = [[0.0, 0.0], [0.0, 9.0], [9.0, 9.0], [9.0, 0.0], [0.0, 0.0]]
HOLE = [[1.0, 1.0], [2.0, 1.0], [2.0, 2.0], [1.0, 1.0]]
FAR = [[x + 20.0, y] for x, y in SQUARE]
PRJ = pyproj.CRS.from_epsg(4326).to_wkt("WKT1_ESRI")

SHAPES: dict[str, tuple[int, list[Any]]] = {
    "points": (shapefile.POINT, [(1.5, 2.5), (-111.0, 45.0), (0.0, 0.0)]),
    "points and nulls": (shapefile.POINT, [None, (1.5, 2.5), None, (3.0, 4.0), None]),
    "nulls": (shapefile.POINT, [None, None]),
    "points that are none": (shapefile.POINT, [(float("nan"), float("nan")), (1.0, 2.0)]),
    "points with Z": (shapefile.POINTZ, [(1.5, 2.5, 3.5), None, (4.0, 5.0, 6.0)]),
    "points with M": (shapefile.POINTM, [(1.5, 2.5, 7.5), (4.0, 5.0, 8.0)]),
    "points in groups": (shapefile.MULTIPOINT, [[(1.5, 2.5), (2.0, 3.0)], None]),
    "lines": (shapefile.POLYLINE, [[SQUARE[:3]], None, [SQUARE[:2], FAR]]),
    "squares": (shapefile.POLYGON, [[SQUARE], [FAR], [SQUARE]]),
    "squares and nulls": (shapefile.POLYGON, [[SQUARE], None, [FAR]]),
    "squares and others": (shapefile.POLYGON, [[SQUARE], [HOLE], [SQUARE, HOLE], [SQUARE, FAR]]),
    "squares with holes": (shapefile.POLYGON, [[SQUARE, HOLE], [SQUARE, HOLE]]),
    "points in groups alone": (shapefile.MULTIPOINT, [[(1.5, 2.5), (2.0, 3.0)], [(4.0, 5.0)]]),
    "points with Z alone": (shapefile.POINTZ, [(1.5, 2.5, 3.5), (4.0, 5.0, 6.0)]),
    "lines alone": (shapefile.POLYLINE, [[SQUARE[:3]], [SQUARE[:2]]]),
    "lines in groups": (shapefile.POLYLINE, [[SQUARE[:3], FAR], [SQUARE[:2], HOLE, FAR]]),
    "rings of several sizes": (shapefile.POLYGON, [[SQUARE], [SQUARE, HOLE], [FAR[:2] + FAR[3:]]]),
    "squares in groups": (shapefile.POLYGON, [[SQUARE, FAR], [FAR, SQUARE, HOLE]]),
    "nothing": (shapefile.POINT, []),
}


def add(writer: shapefile.Writer, kind: int, shape: Any) -> None:
    match kind:
        case _ if shape is None:
            writer.null()
        case shapefile.POINT:
            writer.point(*shape)
        case shapefile.POINTZ:
            writer.pointz(*shape)
        case shapefile.POINTM:
            writer.pointm(*shape)
        case shapefile.MULTIPOINT:
            writer.multipoint(shape)
        case shapefile.POLYLINE:
            writer.line(shape)
        case _:
            writer.poly(shape)


def layer(kind: int, shapes: list[Any], prj: str | None = PRJ) -> hl.Layer:
    members = {ending: io.BytesIO() for ending in ("shp", "shx", "dbf")}
    with shapefile.Writer(**members, shapeType=kind) as writer:
        writer.field("PASS", "N", 9, 0)
        writer.field("MOISTURE", "N", 12, 3)
        writer.field("VARIETY", "C", 20)
        writer.field("DAY", "D")
        writer.field("CUT", "L")
        for row, shape in enumerate(shapes):
            add(writer, kind, shape)
            writer.record(*((row, row / 8, "early", "20260901", True) if row % 3 else (None, None, "", None, None)))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as target:
        for ending, member in members.items():
            target.writestr(f"T.{ending}", member.getvalue())
        if prj is not None:
            target.writestr("T.prj", prj)
    return hl.read(content.getvalue())


def expected(table: pa.Table, backend: Backend) -> gpd.GeoDataFrame:
    how = {name: value for name, value in pandas_options(backend).items() if name == "types_mapper"}
    return gpd.GeoDataFrame.from_arrow(table, geometry="geometry", to_pandas_kwargs=how)


def check(found: gpd.GeoDataFrame, oracle: gpd.GeoDataFrame) -> None:
    assert_geodataframe_equal(found, oracle, check_crs=True)
    assert found.crs == oracle.crs
    assert found.geometry.name == oracle.geometry.name
    assert shapely.to_wkb(found.geometry.array).tolist() == shapely.to_wkb(oracle.geometry.array).tolist()
    assert found.is_empty.tolist() == oracle.is_empty.tolist()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", SHAPES)
def test_frame_equals_that_of_geopandas(name: str, backend: Backend) -> None:
    read = layer(*SHAPES[name])
    assert len(read) == len(SHAPES[name][1])
    check(read.to_geopandas(backend), expected(read.to_arrow(), backend))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_frame_of_several_batches_and_of_slices(backend: Backend) -> None:
    tables = [
        layer(*SHAPES[name]).to_arrow() for name in ("points", "points and nulls", "nulls", "points that are none")
    ]
    table = pa.concat_tables([*tables, tables[1].slice(1, 3), tables[1].slice(3, 0), tables[0].slice(2)])
    assert table.column("geometry").num_chunks > 5
    check(to_geo_frame(table, "geometry", pandas_options(backend)), expected(table, backend))
    squares = layer(*SHAPES["squares"]).to_arrow()
    table = pa.concat_tables([squares.slice(1, 2), squares, squares.slice(2)])
    check(to_geo_frame(table, "geometry", pandas_options(backend)), expected(table, backend))


TWINS = (Field(b"A", "N", 9), Field(b"A", "C", 4), Field(b"A", "N", 9, 2), Field(b"A", "D", 8))
TWIN_ROWS = [(b"%9d" % row, b"t%03d" % row, b"%9.2f" % (row / 4), b"20260901") for row in range(3)]


@pytest.mark.parametrize("places", [True, False], ids=["with places", "without"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_duplicate_columns_keep_their_values_and_types(backend: Backend, places: bool) -> None:
    read = hl.read(job("1", rows=3, fields=TWINS, cells=TWIN_ROWS, places=places).archive)
    frame = read.to_geopandas(backend)
    assert frame.columns.tolist() == read.columns == ["A"] * 4 + ["geometry"] * places
    for place, field in enumerate(TWINS):
        cells = [row[place : place + 1] for row in TWIN_ROWS]
        alone = hl.read(job("1", rows=3, fields=[field], cells=cells).archive).to_geopandas(backend)
        pd.testing.assert_series_equal(frame.iloc[:, place], alone["A"])
    if places:
        assert frame.geometry.x.tolist() == [-98.0, -97.99, -97.98]


def test_columns_with_the_name_of_the_geometry_keep_their_values() -> None:
    fields = (Field(b"geometry", "N", 9), Field(b"geometry_1", "C", 4), Field(b"geometry", "C", 4))
    cells = [(b"%9d" % row, b"t%03d" % row, b"u%03d" % row) for row in range(3)]
    read = hl.read(job("1", rows=3, fields=fields, cells=cells).archive)
    frame = read.to_geopandas()
    assert [frame.iloc[:, place].tolist()[2] for place in range(3)] == [2, "t002", "u002"]
    assert frame.geometry.x.tolist() == [-98.0, -97.99, -97.98]


def test_a_frame_without_a_known_system_has_none() -> None:
    assert layer(*SHAPES["points"], prj=None).to_geopandas().crs is None


@pytest.mark.parametrize("backend", BACKENDS)
def test_writing_to_a_frame_does_not_change_the_layer(backend: Backend) -> None:
    read = layer(*SHAPES["points"])
    before = read.to_arrow().to_pylist()
    frame = read.to_geopandas(backend)
    frame.loc[1, "MOISTURE"] = 9.0
    frame.loc[2, "PASS"] = 7
    frame["VARIETY"] = "late"
    assert frame["MOISTURE"].tolist()[1] == 9.0
    assert frame["PASS"].tolist()[2] == 7
    assert read.to_arrow().to_pylist() == before


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_cell_of_any_type_can_be_set(backend: Backend) -> None:
    hour = dt.datetime(2026, 9, 1, 12, tzinfo=dt.UTC)
    table = pa.table(
        {
            "share": pa.array([1.5, 2.5]),
            "count": pa.array([1, 2], pa.int32()),
            "note": pa.array(["a", "b"], pa.large_string()),
            "is_cut": pa.array([True, False]),
            "day": pa.array([hour.date(), None], pa.date32()),
            "time": pa.array([hour, hour + dt.timedelta(hours=1)], pa.timestamp("ms", "UTC")),
            "local": pa.array([hour.replace(tzinfo=None)] * 2, pa.timestamp("us")),
            "geometry": pa.array([shapely.to_wkb(shapely.Point(x, 2)) for x in (1, 3)], pa.large_binary()),
        }
    )
    before = table.to_pylist()
    frame = to_geo_frame(table, "geometry", pandas_options(backend))
    for column in frame.columns:
        frame.loc[0, column] = frame.loc[1, column]
        first, second = frame[column].tolist()
        assert pd.isna(first) if pd.isna(second) else first == second
    assert table.to_pylist() == before


def test_geometry_rejected_by_geos_is_an_error_and_never_invented() -> None:
    ring = shapely.to_wkb(shapely.Polygon(SQUARE))
    opened = ring[:-16] + np.array([5.0, 5.0]).tobytes()
    with pytest.raises(shapely.errors.GEOSException, match="closed"):
        geometries(pa.array([ring, opened], pa.large_binary()))
    other = shapely.to_wkb(shapely.Point(1, 2), byte_order=0)
    assert geometries(pa.array([other], pa.large_binary())).tolist() == [shapely.Point(1, 2)]
    line = shapely.to_wkb(shapely.LineString([(0, 0), (1, 1)]))
    mixed = geometries(pa.array([line, shapely.to_wkb(shapely.Point(1, 2)), None], pa.large_binary()))
    assert mixed.tolist() == [shapely.LineString([(0, 0), (1, 1)]), shapely.Point(1, 2), None]


@pytest.mark.parametrize("size", [1, 2, 5])
def test_geometry_rejected_by_geos_is_reported_and_others_are_kept(size: int) -> None:
    square = shapely.Polygon(SQUARE)
    line = shapely.to_wkb(shapely.LineString([(0, 0), (1, 1)]))
    single = line[:5] + (1).to_bytes(4, "little") + line[9:25]
    two = shapely.to_wkb(square)[:9] + (2).to_bytes(4, "little") + np.zeros(4).tobytes()
    cells = [shapely.to_wkb(square), single, None, line, two]
    batches = [pa.array(cells[at : at + size], pa.large_binary()) for at in range(0, len(cells), size)]
    table = pa.table({"geometry": pa.chunked_array(batches), "row": range(len(cells))})
    with pytest.warns(hl.HeadlandWarning) as warned:
        frame = to_geo_frame(table, "geometry", pandas_options("numpy"))
    assert frame["geometry"].tolist() == [square, None, None, shapely.LineString([(0, 0), (1, 1)]), None]
    assert frame["row"].tolist() == [0, 1, 2, 3, 4]
    assert "row 1: " in str(warned[0].message)
    assert all(warning.filename == __file__ for warning in warned)
    assert table.column("geometry").to_pylist() == cells


def test_dates_are_dates() -> None:
    read = layer(*SHAPES["points"])
    assert str(read.to_geopandas("pyarrow")["DAY"].dtype) == "date32[day][pyarrow]"
    for backend in ("numpy_nullable", "numpy"):
        days = read.to_geopandas(backend)["DAY"]
        assert pd.isna(days.iloc[0])
        assert days.iloc[1].isoformat() == "2026-09-01"


@pytest.mark.parametrize("is_on", [True, False])
def test_garbage_collector_settings_are_restored(is_on: bool) -> None:
    was_on = gc.isenabled()
    (gc.enable if is_on else gc.disable)()
    try:
        geometries(pa.array([shapely.to_wkb(shapely.Point(1, 2))], pa.large_binary()))
        with pytest.raises(shapely.errors.GEOSException):
            geometries(pa.array([b"\x01no shape"], pa.large_binary()))
        assert gc.isenabled() == is_on
    finally:
        (gc.enable if was_on else gc.disable)()
