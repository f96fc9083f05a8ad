"""Archives of other writers and of the service's generator: read back, and equal in GDAL."""

from __future__ import annotations

import datetime as dt
import io
import struct
import tempfile
import warnings
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import pandas as pd
import pyarrow as pa
import pyogrio
import shapefile  # pyshp
import shapely
from hypothesis import given
from hypothesis import strategies as st

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable

LETTERS = "abcXYZ 019.,äöüßéñ'\"\\"

texts = st.none() | st.text(LETTERS, min_size=1, max_size=20).map(str.strip).map(lambda text: text or None)
columns: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "INT32": ("Int32", st.none() | st.integers(-99_999_999, 999_999_999)),
    "INT64": ("Int64", st.none() | st.integers(-(10**17) + 1, 10**18 - 1)),
    "FLOAT": ("float64", st.none() | st.floats(-1e9, 1e9) | st.integers(-999, 999).map(float)),
    "TEXT": ("string", texts),
    "DAY": (pd.ArrowDtype(pa.date32()), st.none() | st.dates(dt.date(1583, 1, 1), dt.date(2400, 1, 1))),
    "FLAG": ("boolean", st.none() | st.booleans()),
}
coordinates = st.floats(-1e7, 1e7) | st.integers(-180, 180).map(float)
points = st.tuples(coordinates, coordinates)


def polygon(x: int, y: int, holes: int) -> shapely.Polygon:
    """Return a square with holes in a row; its rings run as in shapefiles."""
    return shapely.orient_polygons(
        shapely.Polygon(
            shapely.box(x, y, x + 50, y + 50).exterior.coords,
            [shapely.box(x + 10 * hole + 1, y + 1, x + 10 * hole + 6, y + 9).exterior.coords for hole in range(holes)],
        ),
        exterior_cw=True,
    )


polygons = st.builds(polygon, st.integers(-900, 900), st.integers(-900, 900), st.integers(0, 4))
geometries: dict[str, st.SearchStrategy[Any]] = {
    "Point": points.map(shapely.Point),
    "Point Z": st.tuples(coordinates, coordinates, st.integers(-99, 99).map(float)).map(shapely.Point),
    "LineString": st.lists(points, min_size=2, max_size=5, unique=True).map(shapely.LineString),
    "MultiLineString": st.lists(st.lists(points, min_size=2, max_size=4, unique=True), min_size=2, max_size=3).map(
        shapely.MultiLineString
    ),
    "MultiPoint": st.lists(points, min_size=2, max_size=4).map(shapely.MultiPoint),
    "Polygon": polygons,
    "MultiPolygon": st.builds(
        lambda one, two: shapely.MultiPolygon([polygon(0, 0, one), polygon(100, 0, two)]), *[st.integers(0, 3)] * 2
    ),
}


@st.composite
def frames(draw: st.DrawFn) -> gpd.GeoDataFrame:
    kind = draw(st.sampled_from(sorted(geometries)))
    rows = draw(
        st.lists(
            st.tuples(geometries[kind] | geometries[kind] | st.none(), *(cells for _, cells in columns.values())),
            min_size=1,
            max_size=8,
        )
    )
    parts = list(zip(*rows, strict=True))
    data = {
        name: pd.Series(list(cells), dtype=dtype)
        for (name, (dtype, _)), cells in zip(columns.items(), parts[1:], strict=True)
    }
    return gpd.GeoDataFrame(data, geometry=list(parts[0]), crs="EPSG:32632")


def from_gdal(path: Path | str) -> tuple[dict[str, Any], pa.Table]:
    with warnings.catch_warnings():
        # pyogrio warns that geopandas has no M.
        warnings.simplefilter("ignore")
        about, table = pyogrio.read_arrow(path)
    return about, table


def same_as_gdal(layer: hl.Layer, path: Path | str) -> None:
    """Compare each column and each geometry with GDAL's, bit by bit."""
    about, theirs = from_gdal(path)
    ours = pa.table(layer)
    geometry = about["geometry_name"] or "wkb_geometry"
    if geometry in theirs.column_names:
        assert ours["geometry"].to_pylist() == theirs[geometry].to_pylist()
        ours, theirs = ours.drop_columns(["geometry"]), theirs.drop_columns([geometry])
    assert ours.column_names == theirs.column_names
    for name in ours.column_names:
        kind = theirs.schema.field(name).type
        assert ours.schema.field(name).type == {pa.string(): pa.large_string()}.get(kind, kind), name
        assert bits(ours[name].to_pylist()) == bits(theirs[name].to_pylist()), name


def bits(cells: list[Any]) -> list[Any]:
    return [struct.pack("<d", cell) if isinstance(cell, float) else cell for cell in cells]


@given(frame=frames(), encoding=st.sampled_from(["UTF-8", "ISO-8859-1", "CP1252"]))
def test_files_of_gdal_round_trip(frame: gpd.GeoDataFrame, encoding: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "t.shp"
        with warnings.catch_warnings():
            # A frame without any geometry has no type that GDAL could write.
            warnings.simplefilter("ignore")
            pyogrio.write_dataframe(frame, path, encoding=encoding, use_arrow=True)
        layer = hl.read(path)
        same_as_gdal(layer, path)
        assert layer.values("INT64") == [None if pd.isna(cell) else cell for cell in frame["INT64"]]
        assert layer.values("TEXT") == [None if pd.isna(cell) else cell for cell in frame["TEXT"]]
        assert layer.values("DAY") == [None if pd.isna(cell) else cell for cell in frame["DAY"]]
        assert not {note.code for note in layer.diagnostics} - {"no-prj"}
        if frame.geometry.notna().any():
            assert layer.crs == "EPSG:32632"


@given(
    kind=st.sampled_from(["POINTZ", "POINTM", "POLYLINEZ", "POLYGONM", "MULTIPOINTZ"]),
    rows=st.lists(
        st.tuples(coordinates, coordinates, st.integers(-99, 99), st.integers(0, 99), texts), min_size=1, max_size=6
    ),
)
def test_files_of_pyshp_round_trip(kind: str, rows: list[tuple[float, float, int, int, str | None]]) -> None:
    target = {ending: io.BytesIO() for ending in ("shp", "shx", "dbf")}
    with shapefile.Writer(**target, shapeType=getattr(shapefile, kind)) as writer:
        writer.field("TEXT", "C", size=40)
        writer.field("RATE", "N", size=12, decimal=3)
        for x, y, z, m, text in rows:
            corner = [[x, y, z, m], [x, y + 10, z, m], [x + 10, y + 10, z, m], [x, y, z, m]]
            if kind.endswith("M"):
                corner = [[x, y, m] for x, y, _, m in corner]
            add: dict[str, Callable[[], None]] = {
                "POINTZ": lambda: writer.pointz(x, y, z, m),  # noqa: B023 - called immediately
                "POINTM": lambda: writer.pointm(x, y, m),  # noqa: B023
                "POLYLINEZ": lambda: writer.linez([corner]),  # noqa: B023
                "POLYGONM": lambda: writer.polym([corner]),  # noqa: B023
                "MULTIPOINTZ": lambda: writer.multipointz(corner),  # noqa: B023
            }
            add[kind]()
            writer.record(text or "", m / 8)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "t.shp"
        for ending, content in target.items():
            path.with_suffix(f".{ending}").write_bytes(content.getvalue())
        layer = hl.read(path)
        same_as_gdal(layer, path)
        assert layer.values("TEXT") == [text for *_, text in rows]


def test_files_of_the_service_read_equally_in_gdal(service: hl.Sandbox, client: hl.Client, tmp_path: Path) -> None:
    # Small jobs are many enough to have every variation of writers: upper case, folders, files of macOS, .cpg.
    for truth in sorted(service.truth, key=lambda truth: truth["rows"])[:20]:
        content = client.job_data.download(truth["job_id"])
        folder = tmp_path / truth["job_id"]
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            archive.extractall(folder)
        for name in hl.layers(content):
            wanted = f"{name}.shp".lower()
            (path,) = (found for found in folder.rglob("*") if found.name.lower() == wanted)
            same_as_gdal(hl.read(content, layer=name), path)
