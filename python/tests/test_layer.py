"""Layers: what they give to Arrow, pandas, geopandas, duckdb, polars, notebooks and files."""

from __future__ import annotations

import datetime as dt
import io
import json
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import geopandas as gpd
import pandas as pd
import polars as pl
import pyarrow as pa
import pyproj
import pytest
import shapefile  # pyshp
import shapely

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable

UTM_14 = pyproj.CRS.from_epsg(32614).to_wkt("WKT1_ESRI")


def archive(*, prj: str | None = UTM_14, name: str = "YIELD") -> bytes:
    """Make a zip of three points: an integer, a decimal, a text, a date and a truth value, and nulls of each."""
    members = {ending: io.BytesIO() for ending in ("shp", "shx", "dbf")}
    with shapefile.Writer(**members, shapeType=shapefile.POINT) as writer:
        writer.field("PASS", "N", 9, 0)
        writer.field("MOISTURE", "N", 12, 3)
        writer.field("VARIETY", "C", 20)
        writer.field("DAY", "D")
        writer.field("CUT", "L")
        writer.point(500_000.0, 5_000_000.0)
        writer.record(1, 14.125, "early", dt.date(2026, 9, 1), True)
        writer.point(500_010.0, 5_000_000.0)
        writer.record(None, None, "", None, None)
        writer.null()
        writer.record(3, -0.5, "späte", dt.date(2026, 9, 2), False)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as target:
        for ending, member in members.items():
            target.writestr(f"{name}.{ending}", member.getvalue())
        if prj is not None:
            target.writestr(f"{name}.prj", prj)
        target.writestr(f"{name}.cpg", "UTF-8")
    return content.getvalue()


@pytest.fixture
def layer() -> hl.Layer:
    return hl.read(archive())


def test_a_layer_says_what_it_is(layer: hl.Layer) -> None:
    assert layer.name == "YIELD"
    assert layer.source == "bytes"
    assert len(layer) == 3
    assert layer.columns == ["PASS", "MOISTURE", "VARIETY", "DAY", "CUT", "geometry"]
    assert layer.crs == "EPSG:32614"
    assert layer.units == {"PASS": "unknown", "MOISTURE": "unknown"}
    assert "YIELD" in repr(layer)
    assert "3 records" in repr(layer)


def test_cells_as_plain_values(layer: hl.Layer) -> None:
    assert layer.values("PASS") == [1, None, 3]
    assert layer.values("MOISTURE") == [14.125, None, -0.5]
    assert layer.values("VARIETY") == ["early", None, "späte"]
    assert layer.values("DAY") == [dt.date(2026, 9, 1), None, dt.date(2026, 9, 2)]
    assert layer.values("CUT") == [True, None, False]
    assert layer.values("geometry")[0] == shapely.to_wkb(shapely.Point(500_000, 5_000_000))
    with pytest.raises(ValueError, match="MOISTURE"):
        layer.values("nothing")


SOURCES: dict[str, Callable[[bytes, Path], Any]] = {
    "bytes": lambda content, _: content,
    "bytearray": lambda content, _: bytearray(content),
    "file object": lambda content, _: io.BytesIO(content),
    "path": lambda _, path: path,
    "text": lambda _, path: str(path),
    "folder": lambda _, path: path.parent,
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES.keys())
def test_every_source_gives_the_same_layer(
    layer: hl.Layer, tmp_path: Path, source: Callable[[bytes, Path], Any]
) -> None:
    path = tmp_path / "unpacked" / "job.zip"
    path.parent.mkdir()
    if source is SOURCES["folder"]:
        zipfile.ZipFile(io.BytesIO(archive())).extractall(path.parent)
    else:
        path.write_bytes(archive())
    given = source(archive(), path)
    assert hl.layers(given) == ["YIELD"]
    given = source(archive(), path)
    assert hl.read(given).to_arrow().equals(layer.to_arrow())


@pytest.mark.parametrize("wrong", [None, 7, io.StringIO("text"), ["a.zip"]])
def test_what_is_no_source_is_told(wrong: Any) -> None:
    with pytest.raises(TypeError):
        hl.read(wrong)


def test_limits_are_kept() -> None:
    with pytest.raises(hl.ArchiveError):
        hl.read(archive(), limits=hl.Limits(members=2))
    assert len(hl.read(archive(), limits=hl.Limits())) == 3


def test_arrow_by_every_door(layer: hl.Layer) -> None:
    table = pa.table(layer)
    assert table.equals(layer.to_arrow())
    assert pa.schema(layer) == table.schema
    assert table.schema.field("geometry").metadata[b"ARROW:extension:name"] == b"geoarrow.wkb"
    crs = json.loads(table.schema.field("geometry").metadata[b"ARROW:extension:metadata"])["crs"]
    assert pyproj.CRS.from_user_input(crs).to_epsg() == 32614
    assert pl.DataFrame(layer.to_arrow().drop_columns("geometry"))["PASS"].to_list() == [1, None, 3]
    assert duckdb.sql("SELECT sum(PASS), count(*) FROM layer").fetchall() == [(4, 3)]


def test_geopandas_keeps_integers_and_the_coordinate_system(layer: hl.Layer) -> None:
    frame = layer.to_geopandas()
    assert str(frame["PASS"].dtype) == "Int32"
    assert frame["PASS"].tolist() == [1, pd.NA, 3]
    assert frame.crs == pyproj.CRS.from_epsg(32614)
    assert frame.geometry.iloc[0].equals(shapely.Point(500_000, 5_000_000))
    assert frame.geometry.iloc[2] is None
    assert layer.to_geopandas(dtype_backend="numpy")["PASS"].dtype == "float64"
    assert str(layer.to_geopandas(dtype_backend="pyarrow")["PASS"].dtype) == "int32[pyarrow]"
    with pytest.raises(ValueError, match="dtype_backend"):
        layer.to_geopandas(dtype_backend="polars")  # type: ignore[arg-type]


def test_geojson_is_wgs_84(layer: hl.Layer, tmp_path: Path) -> None:
    expected = pyproj.Transformer.from_crs(32614, 4326, always_xy=True).transform(500_010.0, 5_000_000.0)
    path = layer.write_geojson(tmp_path / "job.geojson")
    for collection in (layer.__geo_interface__, json.loads(path.read_text("utf-8"))):
        assert collection["type"] == "FeatureCollection"
        assert len(collection["features"]) == 3
        assert collection["features"][1]["geometry"]["coordinates"] == pytest.approx(expected, abs=1e-8)
        assert collection["features"][2]["properties"]["VARIETY"] == "späte"
        assert collection["features"][2]["geometry"] is None
    as_is = json.loads(layer.write_geojson(tmp_path / "as-is.geojson", crs="as-is").read_text("utf-8"))
    assert as_is["features"][0]["geometry"]["coordinates"] == [500_000.0, 5_000_000.0]
    with pytest.raises(ValueError, match="as-is"):
        layer.write_geojson(tmp_path / "x.geojson", crs="EPSG:4326")  # type: ignore[arg-type]


def test_an_unknown_coordinate_system_is_an_error_where_it_matters(tmp_path: Path) -> None:
    layer = hl.read(archive(prj=None))
    assert layer.crs is None
    with pytest.raises(ValueError, match="as-is"):
        layer.write_geojson(tmp_path / "job.geojson")
    layer.write_geojson(tmp_path / "job.geojson", crs="as-is")
    layer.write_parquet(tmp_path / "job.parquet")
    assert gpd.read_parquet(tmp_path / "job.parquet").crs is None


def parquet_agrees(layer: hl.Layer, path: Path) -> None:
    layer.write_parquet(path)
    frame = gpd.read_parquet(path)
    assert len(frame) == len(layer)
    assert frame.columns.tolist() == layer.columns
    counted = duckdb.sql(f"SELECT count(*) FROM read_parquet('{path}')").fetchall()
    assert counted == [(len(layer),)]


def test_geoparquet_opens_in_geopandas_and_duckdb(layer: hl.Layer, tmp_path: Path) -> None:
    parquet_agrees(layer, tmp_path / "made.parquet")
    assert gpd.read_parquet(tmp_path / "made.parquet").crs == pyproj.CRS.from_epsg(32614)


def test_geoparquet_of_generated_jobs(client: hl.Client, service: hl.Sandbox, tmp_path: Path) -> None:
    for kind in ("Yield", "Sprayer", "Planter"):
        truth = min((job for job in service.truth if kind in job["sub_type"]), key=lambda job: job["rows"])
        layer = client.job_data.read(truth["job_id"], layer=truth["layer"])
        assert len(layer) == truth["rows"]
        parquet_agrees(layer, tmp_path / f"{kind}.parquet")


def corpus() -> Path:
    """Find the corpus beside the checkout."""
    beside = Path(__file__).parents[2] / ".." / "shared" / "corpus"
    return Path(os.environ.get("HEADLAND_CORPUS", beside))


def test_geoparquet_of_every_archive_of_the_corpus(tmp_path: Path) -> None:
    folder = corpus() / "ag"
    if not folder.is_dir():
        pytest.skip(f"no corpus at {folder}: set HEADLAND_CORPUS")
    for number, path in enumerate(sorted(folder.rglob("*.zip"))):
        for name in hl.layers(path):
            parquet_agrees(hl.read(path, layer=name), tmp_path / f"{number}-{name}.parquet")


def test_a_table_without_a_map(tmp_path: Path) -> None:
    zipfile.ZipFile(io.BytesIO(archive())).extract("YIELD.dbf", tmp_path)
    layer = hl.read(tmp_path / "YIELD.dbf")
    assert "geometry" not in layer.columns
    assert len(layer.to_geopandas()) == 3
    assert "<svg" not in layer._repr_html_()


def test_a_notebook_shows_map_columns_and_findings(layer: hl.Layer) -> None:
    shown = layer._repr_html_()
    for expected in ("<svg", "MOISTURE", "unknown", "EPSG:32614"):
        assert expected in shown
    assert "http" not in shown.replace("http://www.w3.org/", "")
    hostile = hl.read(archive(name="<script>alert(1)</script>"))
    assert "<script>" not in hostile._repr_html_()


def test_a_picture(layer: hl.Layer) -> None:
    assert layer.picture("MOISTURE", title="One field", unit="%").lstrip().startswith("<svg")
    with pytest.raises((KeyError, ValueError)):
        layer.picture("nothing")


def test_a_file_that_cannot_be_written(layer: hl.Layer, tmp_path: Path) -> None:
    for write in (layer.write_parquet, layer.write_geojson):
        for error in (hl.HeadlandError, OSError):
            with pytest.raises(error, match="nowhere"):
                write(tmp_path / "nowhere" / "job.out")


def test_the_limits_are_those_that_their_documentation_states() -> None:
    assert hl.Limits() == (65_536, 2 << 30, 100, 1, 4_096)
