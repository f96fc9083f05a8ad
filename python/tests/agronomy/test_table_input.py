"""Tables of other libraries as input of `harmonize` and `concat`."""

from __future__ import annotations

import datetime as dt
import decimal
import io
import struct
from typing import TYPE_CHECKING, Any

import duckdb
import geopandas as gpd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from checkout import CORPUS
from harmonized_tables import YIELD, archives, codes, table
from shapely.geometry import Point, Polygon

import headland as hl
from headland.layer.table_input import as_layer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

needs_corpus = pytest.mark.skipif(not (CORPUS / "ag").is_dir(), reason=f"no corpus at {CORPUS}: set HEADLAND_CORPUS")

DAY, NOON = dt.datetime(2025, 7, 3), dt.datetime(2025, 7, 3, 12)  # noqa: DTZ001 - times without a zone


def duck(layer: hl.Layer) -> Any:
    """Return a relation on a connection that it keeps."""
    connection = duckdb.connect()
    connection.register("rows", layer.to_arrow())
    return connection.sql("SELECT * FROM rows")


class Stream:
    """An object with the stream interface only."""

    def __init__(self, given: pa.Table) -> None:
        self.given = given

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.given.__arrow_c_stream__(requested_schema)


KINDS: dict[str, Callable[[hl.Layer], Any]] = {
    "geopandas": hl.Layer.to_geopandas,
    "geopandas, nullable": lambda layer: layer.to_geopandas("numpy_nullable"),
    "geopandas, pyarrow": lambda layer: layer.to_geopandas("pyarrow"),
    "pyarrow table": hl.Layer.to_arrow,
    "pyarrow batch": lambda layer: layer.to_arrow().combine_chunks().to_batches()[0],
    "pyarrow reader": lambda layer: layer.to_arrow().to_reader(),
    "chunks": lambda layer: pa.concat_tables([layer.to_arrow().slice(0, 7), layer.to_arrow().slice(7)]),
    "stream": lambda layer: Stream(layer.to_arrow()),
    "polars": pl.DataFrame,
    "duckdb": duck,
}
"""A table of each kind from a layer."""

KEEPS_UNITS = {*KINDS} - {"polars", "duckdb"}


def assert_same(made: hl.Layer, expected: hl.Layer) -> None:
    """Check columns, types, values and provenance."""
    assert made.columns == expected.columns
    assert made.provenance == expected.provenance
    one, other = made.to_arrow(), expected.to_arrow()
    for index, name in enumerate(made.columns):
        assert one.schema.types[index] == other.schema.types[index], name
        assert one.column(index).equals(other.column(index)), name


@needs_corpus
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["AA16_AA_N_2016_henrys.zip", "YE_YLD_2016_henrys.zip"])
def test_table_of_an_archive_equals_the_layer(name: str, kind: str) -> None:
    layer = hl.read(archives()[name])
    assert_same(hl.harmonize(KINDS[kind](layer)), hl.harmonize(layer))


@pytest.fixture(scope="module")
def job() -> Iterator[hl.Layer]:
    """Give a harvest with stated units."""
    with (
        hl.Sandbox.demo() as service,
        hl.Client(**service.credentials, rate_limits=(), limiter_state="memory") as client,
    ):
        ids = {job["name"]: job["id"] for job in client.job_data.list()}
        yield client.job_data.read(ids["Stone Hill 2025 Harvest"])


@pytest.mark.parametrize("kind", KINDS)
def test_table_of_a_job_equals_the_layer(job: hl.Layer, kind: str) -> None:
    # Frames have no metadata of the archive, which state crop and kind, and rows of polars and DuckDB no units.
    units = {} if kind in KEEPS_UNITS else {name: unit for name, unit in job.units.items() if unit != "unknown"}
    options: dict[str, Any] = {"kind": "yield", "crop": "corn", "units": units}
    made, expected = hl.harmonize(KINDS[kind](job), **options), hl.harmonize(job, **options)
    assert_same(made, expected)
    assert made.units["distance"] == "m"


def test_concatenation_of_tables_equals_that_of_layers(job: hl.Layer) -> None:
    both = hl.concat([job.to_geopandas(), job, job.to_arrow()])
    expected = hl.concat([job, job, job])
    assert both.columns == expected.columns
    assert both.values("source") == ["GeoDataFrame"] * len(job) + [job.source] * len(job) + ["Table"] * len(job)
    assert both.units == expected.units
    for column in ("distance", "worked_area", "wet_mass", "dry_mass"):
        assert both.values(column) == expected.values(column)


def test_harmonised_arrow_table_is_unchanged(job: hl.Layer) -> None:
    layer = hl.harmonize(job)
    again = hl.harmonize(layer.to_arrow())
    assert_same(again, layer)
    assert again.metadata == layer.metadata
    assert again.to_units("us").units["yield_dry"] == "bu/ac"
    assert len(hl.concat([layer.to_arrow(), layer])) == 2 * len(layer)


def test_geoparquet_file_equals_the_layer(job: hl.Layer, tmp_path: Path) -> None:
    path = job.write_parquet(tmp_path / "job.parquet")
    expected = hl.harmonize(job, kind="yield", crop="corn")
    assert_same(hl.harmonize(pq.read_table(path), kind="yield", crop="corn"), expected)
    frame = gpd.read_parquet(path)
    frame.to_parquet(tmp_path / "again.parquet")
    made = as_layer("layer", pq.read_table(tmp_path / "again.parquet", columns=["geometry", "MOISTURE"]))
    assert made.crs == job.crs
    assert made.values("geometry") == job.values("geometry")


POINT = shapely.to_wkb(Point(1, 2), byte_order=1)

LOCAL = 'ENGCRS["x",EDATUM["y"],CS[Cartesian,2],AXIS["e",east],AXIS["n",north],LENGTHUNIT["metre",1]]'
"""A system without a relation to the surface of the earth."""


def frame(**columns: Any) -> gpd.GeoDataFrame:
    """Return two rows of a harvest."""
    points = [Point(500_000, 5_000_000), Point(500_002, 5_000_000)]
    return gpd.GeoDataFrame({"YIELD": [5.0, 6.0], **columns}, geometry=points, crs="EPSG:32633")


def test_coordinate_system_of_a_table_is_that_of_the_layer(tmp_path: Path) -> None:
    assert hl.harmonize(frame()).crs == "EPSG:32633"
    assert hl.harmonize(frame().to_crs("EPSG:4326")).crs == "EPSG:4326"
    assert hl.harmonize(frame().to_crs("OGC:CRS84")).crs == "EPSG:4326"
    assert hl.harmonize(frame().set_crs(None, allow_override=True)).crs is None
    # Codes that the table of systems does not have are known by their parameters.
    etrs = as_layer("layer", frame().to_crs("EPSG:3034"))
    assert etrs.area() is None
    assert "crs-unknown" not in codes(etrs)
    local = as_layer("layer", frame().set_crs(LOCAL, allow_override=True))
    with pytest.raises(hl.ArchiveError, match="no known relation to the earth"):
        local.write_geojson(tmp_path / "local.geojson")
    unknown = {"ARROW:extension:name": "geoarrow.wkb", "ARROW:extension:metadata": '{"crs": "Mars"}'}
    field = pa.field("geometry", pa.binary(), metadata=unknown)
    mars = as_layer("layer", pa.table([[POINT]], schema=pa.schema([field])))
    assert mars.crs == "Mars"
    assert "crs-unknown" in codes(mars)


def test_null_geometries_are_null() -> None:
    rows = frame()
    rows.loc[0, "geometry"] = None
    assert hl.harmonize(rows).values("geometry") == [None, shapely.to_wkb(rows.geometry[1])]
    rows["geometry"] = None
    assert hl.harmonize(rows.set_geometry("geometry")).values("geometry") == [None, None]


EMPTY = [pa.table({"YIELD": pa.array([], pa.float64())}), pl.DataFrame(schema={"YIELD": pl.Float64})]


@pytest.mark.parametrize("made", [frame().iloc[:0], *EMPTY], ids=type)
def test_empty_table_is_an_empty_layer(made: Any) -> None:
    layer = hl.harmonize(made, units={"YIELD": "kg/ha"})
    assert len(layer) == 0
    assert "yield" in layer.columns


def test_duplicate_names_keep_their_values() -> None:
    twice = pd.DataFrame([[1.0, "a"], [2.0, "b"]], columns=["YIELD", "YIELD"])
    layer = as_layer("layer", twice)
    assert layer.columns == ["YIELD", "YIELD"]
    assert layer.to_arrow().column(1).to_pylist() == ["a", "b"]
    arrow = pa.table([[1.0], ["a"]], names=["YIELD", "YIELD"])
    assert as_layer("layer", arrow).to_arrow().column(0).to_pylist() == [1.0]


def test_units_in_attributes_and_fields_are_those_of_the_columns() -> None:
    rows = frame()
    rows.attrs["units"] = {"YIELD": "kg/ha", "absent": "m", 5: None}
    layer = hl.harmonize(rows)
    assert layer.units["yield"] == "kg/ha"
    field = pa.field("YIELD", pa.float64(), metadata={"unit": "t/ha", "other": "x"})
    assert hl.harmonize(pa.table([[5.0]], schema=pa.schema([field]))).units["yield"] == "t/ha"
    rows.attrs = {"units": {"YIELD": 5}}
    assert "unit-unknown" in codes(hl.harmonize(rows))


INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint16()]

ACCEPTED: list[tuple[pa.Array, str, Any]] = [
    *((pa.array([1, None], kind), "Int32", [1, None]) for kind in INTEGERS),
    *((pa.array([1, None], kind), "Int64", [1, None]) for kind in (pa.int64(), pa.uint32(), pa.uint64())),
    *((pa.array(np.array([1.5], kind)), "Float64", [1.5]) for kind in (np.float16, np.float32, np.float64)),
    (pa.array([decimal.Decimal("1.5"), None]), "Float64", [1.5, None]),
    (pa.array([decimal.Decimal("1.5")], pa.decimal256(50, 3)), "Float64", [1.5]),
    (pa.array([decimal.Decimal(2**60 + 1), None], pa.decimal128(38, 0)), "Int64", [2**60 + 1, None]),
    (pa.array([True, None]), "Boolean", [True, None]),
    *(
        (pa.array(["a", None], kind), "LargeUtf8", ["a", None])
        for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()))
    ),
    (pa.array([None, None]), "LargeUtf8", [None, None]),
    (pl.Series(["a", None], dtype=pl.Categorical).to_arrow(), "LargeUtf8", ["a", None]),
    (pa.array([7, 8, 7]).dictionary_encode(), "Int64", [7, 8, 7]),
    *((pa.array([DAY.date()], kind), "Date32", [DAY.date()]) for kind in (pa.date32(), pa.date64())),
    *((pa.array([DAY], pa.timestamp(unit)), "Timestamp(µs)", [DAY]) for unit in ("s", "ms", "us", "ns")),
    (
        pa.array([NOON.replace(tzinfo=dt.UTC)], pa.timestamp("ms", "America/Chicago")),
        'Timestamp(µs, "UTC")',
        [NOON.replace(tzinfo=dt.UTC)],
    ),
]


PANDAS: list[tuple[Any, str, Any]] = [
    ([1.0, np.nan], "Float64", [1.0, None]),
    (pd.array([1, None], "Int32"), "Int32", [1, None]),
    (["a", None], "LargeUtf8", ["a", None]),
    (pd.Categorical(["a", None]), "LargeUtf8", ["a", None]),
    (pd.to_datetime(["2025-07-03", None]), "Date32", [DAY.date(), None]),
    (pd.to_datetime(["2025-07-03 12:00", None]), "Timestamp(µs)", [NOON, None]),
    (pd.to_datetime(["2025-07-03 12:00Z", None]), 'Timestamp(µs, "UTC")', [NOON.replace(tzinfo=dt.UTC), None]),
    ([True, None], "Boolean", [True, None]),
]


@pytest.mark.parametrize(("cells", "kind", "values"), PANDAS, ids=[case[1] for case in PANDAS])
def test_column_of_pandas_becomes_that_of_a_layer(cells: Any, kind: str, values: Any) -> None:
    layer = as_layer("layer", pd.DataFrame({7: cells}, index=[5, 3]))
    assert layer.describe()[0].type == kind
    assert layer.values("7") == values


@pytest.mark.parametrize(("array", "kind", "values"), ACCEPTED, ids=[str(case[0].type) for case in ACCEPTED])
def test_accepted_type_becomes_that_of_a_layer(array: pa.Array, kind: str, values: Any) -> None:
    layer = as_layer("layer", pa.table({"x": array}))
    assert layer.describe()[0].type == kind
    assert layer.values("x") == values


REFUSED: list[pa.Array] = [
    *(pa.array([[1]]), pa.array([{"a": 1}])),
    *(pa.array([dt.timedelta(1)]), pa.array([b"ab"], pa.binary(2))),
    pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8())),
    pa.array([[1, 2]], pa.list_(pa.int8(), 2)),
    pa.RunEndEncodedArray.from_arrays([1], [1]),
    pa.array([decimal.Decimal(10**20)], pa.decimal128(38, 0)),
    *(pa.array([2**63], pa.uint64()), pa.array([2**60], pa.timestamp("s"))),
]


@pytest.mark.parametrize("array", REFUSED, ids=[str(array.type) for array in REFUSED])
def test_refused_type_is_an_error_that_names_the_column(array: pa.Array) -> None:
    with pytest.raises(ValueError, match=r"`layer`: column `x`.*drop it"):
        hl.harmonize(pa.table({"YIELD": [5.0], "x": array}))


def test_times_of_day_are_texts_as_in_archives() -> None:
    for given in (pa.table({"x": [dt.time(12, 3, 20)]}), pd.DataFrame({"x": [dt.time(12, 3, 20)]})):
        assert as_layer("layer", given).values("x") == ["12:03:20"]


CELLS = [[object()], [Point(1, 2)], [1, "a"], [10**30], [dt.timedelta(1)], [{1}]]


@pytest.mark.parametrize("cells", CELLS, ids=range(len(CELLS)))
def test_refused_cell_of_a_frame_is_an_error_that_names_the_column(cells: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"`layer`: column `x`.*drop it"):
        hl.harmonize(pd.DataFrame({"x": pd.Series(cells)}))


def test_changes_of_a_frame_do_not_change_the_layer() -> None:
    cells = np.array([5.0, 6.0])
    layer = as_layer("layer", pd.DataFrame(cells, columns=["YIELD"], copy=False))
    cells[0] = 9.0
    assert layer.values("YIELD") == [5.0, 6.0]


MALFORMED = [
    *(b"", b"\x01", POINT[:-1], POINT + b"\0"),
    *(shapely.to_wkb(Point(1, 2), byte_order=0), shapely.to_wkb(Point(1, 2, 3), flavor="extended")),
    struct.pack("<BII", 1, 2, 2**32 - 1),
    struct.pack("<BII", 1, 7, 1) * 5_000,
    b"\x01" + b"\xff" * 40,
]


@pytest.mark.parametrize("wkb", MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_geometry_is_an_error_that_names_the_record(wkb: bytes) -> None:
    rows = pa.chunked_array([[POINT, None], [POINT, wkb]], pa.binary())
    with pytest.raises(ValueError, match="the geometry of record 3 is not little-endian ISO WKB"):
        hl.harmonize(pa.table({"YIELD": [5.0] * 4, "geometry": rows}))


def test_invalid_text_is_an_error() -> None:
    buffers = [None, pa.py_buffer(struct.pack("<ii", 0, 1)), pa.py_buffer(b"\xff")]
    text = pa.Array.from_buffers(pa.string(), 1, buffers)
    with pytest.raises(ValueError, match="`layer`: the table is not valid"):
        hl.harmonize(pa.table({"x": text}))


def test_geometries_of_all_types_are_kept() -> None:
    shapes = [
        Point(1, 2),
        Point(1, 2, 3),
        Polygon([(0, 0), (1, 0), (1, 1)]),
        Polygon(),
        shapely.LineString([(0, 0), (1, 1)]),
        shapely.MultiPoint([(0, 0), (1, 1)]),
        shapely.GeometryCollection([Point(1, 2), shapely.MultiPolygon([Polygon([(0, 0), (1, 0), (1, 1)])])]),
    ]
    rows = gpd.GeoDataFrame({"x": range(len(shapes))}, geometry=shapes, crs="EPSG:4326")
    layer = as_layer("layer", rows)
    assert [shapely.from_wkb(wkb) for wkb in layer.values("geometry")] == shapes
    assert layer.to_geopandas().geometry.geom_equals_exact(rows.geometry, 0).all()


def test_geometry_column_of_a_frame_is_the_active_one() -> None:
    rows = frame(other=gpd.GeoSeries([Point(0, 0)] * 2, crs="EPSG:4326")).rename_geometry("here")
    layer = as_layer("layer", rows)
    assert layer.columns == ["YIELD", "here"]
    assert layer.values("here") == [*shapely.to_wkb(rows["here"])]
    for several in (pd.DataFrame(rows), pa.table({"a": [POINT], "b": [POINT]})):
        with pytest.raises(ValueError, match=r"`layer`: the columns `.*` contain geometries"):
            hl.harmonize(several)
    without = as_layer("layer", pd.DataFrame(frame()).drop(columns="geometry"))
    assert without.columns == ["YIELD"]


def test_native_geoarrow_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"column `geometry` has the type .*drop it"):
        hl.harmonize(pa.table(frame().to_arrow(geometry_encoding="geoarrow")))


WRONG = [None, 5, {}, [], "job.zip", b"zip", object, hl.Layer, gpd.GeoSeries([Point(0, 0)]), pd.Series([1.0])]


@pytest.mark.parametrize(
    "value", [*WRONG, pl.Series([1.0]), pa.array([1.0]), pa.chunked_array([[1.0]]), np.ones(2)], ids=type
)
def test_other_values_are_errors_that_list_what_is_accepted(value: Any) -> None:
    with pytest.raises(TypeError, match=r"`layer`: expected headland\.Layer, a GeoDataFrame, .*, got "):
        hl.harmonize(value)
    with pytest.raises(TypeError, match=r"`layers`: expected headland\.Layer, a GeoDataFrame, .*, got "):
        hl.concat([value])


def test_hints_of_wrong_values(tmp_path: Path, job: hl.Layer) -> None:
    source: Any
    for source in ("job.zip", tmp_path, io.BytesIO()):
        with pytest.raises(TypeError, match=r"read archives with `headland\.read`"):
            hl.harmonize(source)
    with pytest.raises(TypeError, match=r"series\.to_frame\(\)"):
        hl.harmonize(frame().geometry)
    one: Any
    for one in (job, job.to_geopandas(), job.to_arrow(), pl.DataFrame(job)):
        with pytest.raises(TypeError, match="expected several layers, got one; pass a list"):
            hl.concat(one)


def test_large_table_is_a_layer() -> None:
    count = 100_000
    points = shapely.points(np.linspace(10, 11, count), 50)
    rows = gpd.GeoDataFrame({"YIELD": np.arange(count, dtype=float)}, geometry=points, crs="EPSG:4326")
    layer = hl.harmonize(rows, units={"YIELD": "kg/ha"})
    assert len(layer) == count
    assert layer.values("yield")[-1] == count - 1


def test_layer_of_a_dbf_without_geometry_equals_its_frames() -> None:
    layer = table([("MOISTURE", "N1"), YIELD], [(14.0, 5)] * 3)
    expected = hl.harmonize(layer, units={"YIELD": "kg/ha"})
    for made in (layer.to_geopandas(), pd.DataFrame(layer.to_geopandas()), layer.to_arrow(), pl.DataFrame(layer)):
        assert_same(hl.harmonize(made, units={"YIELD": "kg/ha"}), expected)
