"""Layers: conversions to Arrow, pandas, geopandas, duckdb, polars, notebooks and files."""

from __future__ import annotations

import datetime as dt
import doctest
import inspect
import io
import json
import os
import threading
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import duckdb
import geopandas as gpd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyproj
import pytest
import shapely
from checkout import CORPUS
from shapefiles import RINGS, Shape, shp, zipped
from three_points import UTM_14, archive

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def layer() -> hl.Layer:
    return hl.read(archive())


def test_layer_describes_itself(layer: hl.Layer) -> None:
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
def test_every_source_gives_an_equal_layer(
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


def test_limits_apply() -> None:
    with pytest.raises(hl.ArchiveError):
        hl.read(archive(), limits=hl.Limits(members=2))
    assert len(hl.read(archive(), limits=hl.Limits())) == 3


def test_every_arrow_interface(layer: hl.Layer) -> None:
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


def test_unknown_coordinate_system_is_an_error_if_needed(tmp_path: Path) -> None:
    layer = hl.read(archive(prj=None))
    assert layer.crs is None
    with pytest.raises(ValueError, match="as-is"):
        layer.write_geojson(tmp_path / "job.geojson")
    layer.write_geojson(tmp_path / "job.geojson", crs="as-is")
    layer.write_parquet(tmp_path / "job.parquet")
    assert gpd.read_parquet(tmp_path / "job.parquet").crs is None
    for ask in (lambda: layer.__geo_interface__, layer.area, layer.picture):
        with pytest.raises(
            ValueError, match=r"`write_geojson`, `plot` and `area` use them unchanged with `crs=\"as-is\"`"
        ):
            ask()
    assert layer.area(crs="as-is") is None, "points have no area"


def test_planar_area_equals_that_of_shapely_in_any_system() -> None:
    square = [(x + 5e5, y + 5e6, 0.0, 0.0) for x, y in ((0, 0), (0, 800), (800, 800), (800, 0), (0, 0))]
    hole = [(x + 5e5, y + 5e6, 0.0, 0.0) for x, y in ((100, 100), (300, 100), (200, 200), (100, 100))]
    content, index = shp(RINGS, [Shape([square, hole]), None, Shape([square])])
    members = {"t.shp": content, "t.shx": index}
    unknown, known = hl.read(zipped(members)), hl.read(zipped(members | {"t.prj": UTM_14.encode()}))
    assert unknown.area(crs="as-is") == known.area(crs="as-is") == unknown.to_geopandas().area.sum() == 1_270_000.0
    on_earth = known.area()
    assert on_earth is not None
    assert on_earth == pytest.approx(1_270_000.0 / 0.9996**2, rel=1e-5), "UTM is smaller than the earth here"
    with pytest.raises(ValueError, match="as-is"):
        known.area(crs="EPSG:4326")  # type: ignore[arg-type]


def check_boxes(frame: gpd.GeoDataFrame, boxes: pa.StructArray) -> None:
    """Each box contains its geometry and is hardly larger; without a geometry there is none."""
    bounds = frame.bounds.to_numpy()
    sides = np.column_stack([boxes.field(side).to_numpy().astype(float) for side in ("xmin", "ymin", "xmax", "ymax")])
    has_place = ~np.isnan(bounds).any(axis=1)
    assert boxes.is_valid().to_numpy(zero_copy_only=False).tolist() == has_place.tolist()
    bounds, sides = bounds[has_place], sides[has_place]
    assert (sides[:, :2] <= bounds[:, :2]).all()
    assert (sides[:, 2:] >= bounds[:, 2:]).all()
    assert (abs(sides - bounds) <= 1e-6 * abs(bounds) + 1e-9).all()


def parquet_agrees(layer: hl.Layer, path: Path) -> None:
    layer.write_parquet(path)
    frame = gpd.read_parquet(path)
    assert len(frame) == len(layer)
    assert frame.columns.tolist() == layer.columns
    written, read = pq.read_table(path), layer.to_arrow()
    assert written.select(layer.columns).equals(read)
    assert written.schema.field("geometry").equals(read.schema.field("geometry"), check_metadata=True)
    check_boxes(frame, written.column(len(layer.columns)).combine_chunks())
    counted = duckdb.sql(f"SELECT count(*) FROM read_parquet('{path}')").fetchall()
    assert counted == [(len(layer),)]


def test_geoparquet_opens_in_geopandas_and_duckdb(layer: hl.Layer, tmp_path: Path) -> None:
    parquet_agrees(layer, tmp_path / "made.parquet")
    assert gpd.read_parquet(tmp_path / "made.parquet").crs == pyproj.CRS.from_epsg(32614)


def test_geoparquet_is_read_by_region(layer: hl.Layer, tmp_path: Path) -> None:
    path = layer.write_parquet(tmp_path / "made.parquet")
    near = gpd.read_parquet(path, bbox=(500_005.0, 4_999_999.0, 500_015.0, 5_000_001.0))
    assert near.geometry.tolist() == [shapely.Point(500_010, 5_000_000)]
    found = duckdb.sql(f"SELECT MOISTURE FROM read_parquet('{path}') WHERE bbox.xmin < 500005").fetchall()
    assert found == [(14.125,)]
    assert pq.read_metadata(path).row_group(0).column(0).compression == "ZSTD"


def test_geoparquet_of_generated_jobs(client: hl.Client, service: hl.Sandbox, tmp_path: Path) -> None:
    for kind in ("Yield", "Sprayer", "Planter"):
        truth = min((job for job in service.truth if kind in job["sub_type"]), key=lambda job: job["rows"])
        layer = client.job_data.read(truth["job_id"], layer=truth["layer"])
        assert len(layer) == truth["rows"]
        parquet_agrees(layer, tmp_path / f"{kind}.parquet")


def test_geoparquet_of_every_archive_of_the_corpus(tmp_path: Path) -> None:
    folder = CORPUS / "ag"
    if not folder.is_dir():
        pytest.skip(f"no corpus at {folder}: set HEADLAND_CORPUS")
    for number, path in enumerate(sorted(folder.rglob("*.zip"))):
        for name in hl.layers(path):
            parquet_agrees(hl.read(path, layer=name), tmp_path / f"{number}-{name}.parquet")


def test_the_examples_of_the_outputs_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("job.zip").write_bytes(archive())
    for output in (hl.Layer.to_geopandas, hl.Layer.write_geojson, hl.Layer.write_parquet):
        examples = doctest.DocTestParser().get_examples(inspect.getdoc(output) or "")
        assert examples, output.__name__
        names: dict[str, Any] = {"headland": hl}
        for example in examples:
            exec(example.source, names)
    assert {path.name for path in tmp_path.iterdir()} == {"job.zip", "job.geojson", "job.parquet"}


def test_a_table_without_a_map(tmp_path: Path) -> None:
    zipfile.ZipFile(io.BytesIO(archive())).extract("YIELD.dbf", tmp_path)
    layer = hl.read(tmp_path / "YIELD.dbf")
    assert "geometry" not in layer.columns
    assert len(layer.to_geopandas()) == 3
    assert "<svg" not in layer._repr_html_()


def test_notebook_shows_map_columns_and_diagnostics(layer: hl.Layer) -> None:
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
    for write, name in ((layer.write_parquet, "job.parquet"), (layer.write_geojson, "job.geojson")):
        for error in (hl.HeadlandError, OSError):
            with pytest.raises(error, match="nowhere"):
                write(tmp_path / "nowhere" / name)


def test_a_folder_that_is_missing_is_named_and_no_part(layer: hl.Layer, client: hl.Client, tmp_path: Path) -> None:
    job = next(iter(client.job_data.list()))["id"]
    target = tmp_path / "maps" / "job.zip"
    writes: list[Callable[[], object]] = [
        lambda: layer.write_parquet(target.with_suffix(".parquet")),
        lambda: layer.write_geojson(target.with_suffix(".geojson")),
        lambda: client.job_data.download(job, to=target),
    ]
    for write in writes:
        with pytest.raises(hl.HeadlandError, match=r"there is no folder .* create it first") as caught:
            write()
        assert isinstance(caught.value, FileNotFoundError)
        assert f"`{target.parent}`" in str(caught.value)
        assert ".part" not in str(caught.value)


@pytest.mark.parametrize(
    "address", ["https://files.example/job.zip?sig=c2VjcmV0", "s3://bucket/job.zip", "file:///job.zip"]
)
def test_url_is_not_a_path(address: str) -> None:
    for source in (address, Path(address)):
        for look in (hl.read, hl.layers, hl.open, hl.read_tree):
            with pytest.raises(ValueError, match="urlretrieve") as caught:
                look(source)
            assert "c2VjcmV0" not in str(caught.value)


def test_saved_error_reply_is_an_error_that_quotes_it(tmp_path: Path) -> None:
    """The error states the status and errorInfo of specification 2.1, and no secret."""
    saved = tmp_path / "job.zip"
    saved.write_text('{"status": "NO_COVERAGE", "errorInfo": "No coverage is available.", "result": "nil"}')
    with pytest.raises(hl.ArchiveError, match=r"a reply of the service .* `NO_COVERAGE`, `No coverage is available.`"):
        hl.read(saved)


def test_truncated_download(client: hl.Client) -> None:
    job = next(iter(client.job_data.list()))["id"]
    whole = client.job_data.download(job)
    layer = hl.read(whole)
    broken = whole[: len(whole) * 2 // 3]
    with pytest.raises(hl.ArchiveError, match="strict=False") as caught:
        hl.read(broken)
    assert caught.value.member is not None
    assert caught.value.member.endswith(".dbf")
    assert f"{len(broken)} bytes" in str(caught.value)
    saved = hl.read(broken, strict=False)
    assert 0 < len(saved) < len(layer)
    assert {"cut-archive", "cut-member"} <= {note.code for note in saved.diagnostics}
    columns = [name for name in saved.columns if name != "geometry"]
    assert columns == [name for name in layer.columns if name != "geometry"]
    for name in columns:
        assert saved.values(name) == layer.values(name)[: len(saved)]
    with hl.open(broken, strict=False, batch_size=100) as reader:
        assert sum(len(batch) for batch in reader) == len(saved)
    with pytest.raises(hl.ArchiveError, match="no end record"):
        hl.layers(broken)
    assert hl.layers(broken, strict=False) == hl.layers(whole)
    with pytest.raises(TypeError, match="`strict`"):
        hl.layers(broken, strict=cast("Any", "no"))


def test_limits_equal_their_documentation() -> None:
    assert hl.Limits() == (65_536, 4 << 30, 100, 1, 4_096)


def test_file_object_keeps_its_position_and_one_at_its_end_is_an_error() -> None:
    file = io.BytesIO(archive())
    assert hl.layers(file) == ["YIELD"]
    assert len(hl.read(file)) == len(hl.read(file)) > 0, "read after layers, and read again"
    file.seek(0, io.SEEK_END)
    with pytest.raises(ValueError, match="is a file object at its end"):
        hl.read(file)
    with pytest.raises(TypeError, match="binary mode"):
        hl.read(cast("Any", io.StringIO("text")))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_with_a_name_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "job.zip"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[archive()])
    writer.start()
    assert hl.layers(pipe) == ["YIELD"]
    writer.join()


@pytest.mark.skipif(not Path("/dev/null").is_char_device(), reason="this system has no devices in its folders")
@pytest.mark.parametrize("use", [hl.read, hl.layers, hl.open, hl.read_tree])
def test_device_is_an_error_that_names_it(use: Callable[[str], object]) -> None:
    with pytest.raises(hl.ArchiveError, match=r"`/dev/null` is a device, .* not a regular file"):
        use("/dev/null")
