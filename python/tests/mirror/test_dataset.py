"""The dataset that a sync publishes, in every reader: equal counts and sums, the rows of the archives, and minimal
reads of the files."""

from __future__ import annotations

import json
import math
from typing import IO, TYPE_CHECKING, Any

import dask_geopandas
import duckdb
import geopandas
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from mirror_fixtures import published_state

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OWN = 3
"""Number of columns before those of the archive."""


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hl.Mirror]:
    folder = tmp_path_factory.mktemp("mirror") / "farm"
    with (
        hl.Sandbox(seed=7, rate_limits=(), conversion_time=0) as service,
        hl.Client(**service.credentials, rate_limits=()) as client,
    ):
        mirror = hl.Mirror(folder, client, locations=False)
        mirror.sync()
        yield mirror


@pytest.fixture(scope="module")
def farm(mirror: hl.Mirror) -> Path:
    return mirror.folder


@pytest.fixture(scope="module")
def manifest(farm: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((published_state(farm) / "manifest.json").read_text())
    return read


def a_number(path: Path) -> str:
    """Return the name of the first column of decimals of the archives."""
    schema = pq.read_schema(path)
    return next(str(field.name) for field in list(schema)[OWN:] if pa.types.is_float64(field.type))


def summary(ids: list[str], numbers: list[int], values: list[float | None]) -> tuple[int, int, int, float]:
    """Return rows, jobs, the sum of row numbers and the exact sum of a column."""
    found = [value for value in values if value is not None and not math.isnan(value)]
    return len(ids), len(set(ids)), sum(numbers), math.fsum(found)


# Dask uses deprecated functions of pandas.
@pytest.mark.filterwarnings("ignore:The inplace keyword:pandas.errors.PandasChangeWarning")
def test_every_reader_sees_the_same_rows(farm: Path, manifest: dict[str, Any]) -> None:
    parts = [published_state(farm) / part["path"] for part in manifest["parts"]]
    assert sum(pq.read_metadata(path).num_rows for path in parts) == manifest["rows"] > 200_000
    for path, part in zip(parts, manifest["parts"], strict=True):
        names = ["job_id", "job_row", a_number(path)]
        read = pq.read_table(path, columns=names, partitioning=None)
        expected = summary(*(read.column(name).to_pylist() for name in names))
        assert expected[:2] == (part["rows"], len({origin["job_id"] for origin in part["origins"]}))
        rows = duckdb.sql(f"SELECT {', '.join(names)} FROM '{path}'").fetchall()
        assert summary(*map(list, zip(*rows, strict=True))) == expected
        frame = pl.read_parquet(path, columns=names, hive_partitioning=False)
        assert summary(*(frame[name].to_list() for name in names)) == expected
        places = geopandas.read_parquet(path.parent)
        assert summary(*(places[name].tolist() for name in names)) == expected
        assert places.crs.to_epsg() == 4326
        assert places.geometry.name == "geometry"
        tasks = dask_geopandas.read_parquet(path.parent)
        assert tasks.crs.to_epsg() == 4326
        computed = tasks.compute()
        assert summary(*(computed[name].tolist() for name in names)) == expected


def test_whole_dataset_opens_in_one_call(farm: Path, manifest: dict[str, Any]) -> None:
    root = farm / "dataset"
    numbers = sum(
        origin["rows"] * (origin["rows"] - 1) // 2 for part in manifest["parts"] for origin in part["origins"]
    )
    jobs = len({origin["job_id"] for part in manifest["parts"] for origin in part["origins"]})
    expected = (manifest["rows"], jobs, numbers)
    query = f"""SELECT count(*), count(DISTINCT job_id), sum(job_row), count(geometry), min(year), max(job_type)
        FROM read_parquet('{root}/**/*.parquet', union_by_name = true, hive_partitioning = true)"""
    found = duckdb.sql(query).fetchall()[0]
    assert found[:3] == expected
    assert found[4:] == (2024, "Yield")
    lazy = pl.scan_parquet(
        root / "**/*.parquet", hive_partitioning=True, missing_columns="insert", extra_columns="ignore"
    )
    columns = [pl.len(), pl.col("job_id").n_unique(), pl.col("job_row").sum()]
    assert lazy.select(*columns).collect().row(0) == expected
    table = ds.dataset(root, partitioning="hive").to_table(columns=["job_id", "job_row", "year", "job_type"])
    assert (len(table), pc.count_distinct(table["job_id"]).as_py(), pc.sum(table["job_row"]).as_py()) == expected
    assert set(table["year"].to_pylist()) == {2024, 2025, 2026}


def test_rows_are_those_of_the_archives_with_their_units(farm: Path, manifest: dict[str, Any]) -> None:
    compared = 0
    for part in manifest["parts"]:
        table = pq.read_table(published_state(farm) / part["path"], partitioning=None)
        for origin in part["origins"]:
            name = origin["archive"]
            path = next((farm / "archives" / name[:2]).glob(f"{name}.*"))
            # The stored file of a grain cart is named by its digest, and its layer by its record.
            named = origin["layer"] if origin["kind"] == "job" else None
            layer = hl.read(path, layer=named, to_crs="EPSG:4326")
            archive = pa.table(layer)
            rows = table.slice(origin["first_row"], origin["rows"])
            assert rows["job_id"].unique().to_pylist() == [origin["job_id"]]
            assert rows["layer"].unique().to_pylist() == [origin["layer"]]
            assert rows["job_row"].to_pylist() == list(range(len(archive)))
            for field in list(table.schema)[OWN:-1]:
                said = field.metadata or {}
                own = said.get(b"headland.column", b"geometry").decode()
                assert rows[field.name].equals(archive[own]), (origin["job_id"], field.name)
                if pa.types.is_floating(field.type) or pa.types.is_integer(field.type):
                    assert said[b"unit"].decode() == layer.units.get(own, "unknown")
            compared += len(rows)
    assert compared == manifest["rows"]


class Counted:
    """A file that counts the bytes read from it."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        found = self.file.read(size)
        self.count += len(found)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


def groups_within(path: Path, box: list[float]) -> list[int]:
    """Return the row groups whose statistics of boxes intersect a box."""
    metadata = pq.read_metadata(path)
    found = []
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        columns = [group.column(at) for at in range(group.num_columns)]
        sides = {column.path_in_schema: column.statistics for column in columns if column.path_in_schema[:5] == "bbox."}
        west, south, east, north = box
        if (
            sides["bbox.xmin"].min <= east
            and sides["bbox.xmax"].max >= west
            and sides["bbox.ymin"].min <= north
            and sides["bbox.ymax"].max >= south
        ):
            found.append(number)
    return found


def test_box_reads_only_intersecting_row_groups(farm: Path, manifest: dict[str, Any], tmp_path: Path) -> None:
    part = max(manifest["parts"], key=lambda part: part["row_groups"])
    path = published_state(farm) / part["path"]
    assert part["row_groups"] > 1
    # A job whose field is in some row groups, but not in all.
    boxes = [(origin["bbox"], groups_within(path, origin["bbox"])) for origin in part["origins"]]
    box, needed = min(boxes, key=lambda found: len(found[1]))
    assert 0 < len(needed) < part["row_groups"]
    west, south, east, north = box
    meets = f"bbox.xmin <= {east} AND bbox.xmax >= {west} AND bbox.ymin <= {north} AND bbox.ymax >= {south}"
    rows = pq.read_table(path, partitioning=None)
    sides = {side: pc.struct_field(rows["bbox"], side) for side in ("xmin", "ymin", "xmax", "ymax")}
    inside = pc.and_(
        pc.and_(pc.less_equal(sides["xmin"], east), pc.greater_equal(sides["xmax"], west)),
        pc.and_(pc.less_equal(sides["ymin"], north), pc.greater_equal(sides["ymax"], south)),
    )
    expected = pc.sum(inside).as_py()
    assert 0 < expected < len(rows)

    # DuckDB counts the row groups that it scans.
    profile = tmp_path / "profile.json"
    connection = duckdb.connect()
    connection.execute("PRAGMA enable_profiling = 'json'")
    connection.execute(f"PRAGMA profiling_output = '{profile}'")
    query = f"SELECT count(*), sum(job_row) FROM '{path}' WHERE {meets}"
    assert connection.execute(query).fetchall()[0][0] == expected
    connection.execute("PRAGMA disable_profiling")
    profiled = json.loads(profile.read_text())["query"]
    assert profiled["total_row_groups_to_scan"] == part["row_groups"]
    assert profiled["total_row_groups_scanned"] <= len(needed)

    # pyarrow reports the remaining row groups, and reads fewer bytes.
    xmin, ymin, xmax, ymax = (ds.field("bbox", side) for side in ("xmin", "ymin", "xmax", "ymax"))
    condition = (xmin <= east) & (xmax >= west) & (ymin <= north) & (ymax >= south)
    fragment = next(ds.dataset(path).get_fragments())
    left = [group.id for found in fragment.split_by_row_group(condition) for group in found.row_groups]
    assert set(left) <= set(needed)
    read = []
    for groups in (needed, list(range(part["row_groups"]))):
        with path.open("rb") as opened:
            counted = Counted(opened)
            with pq.ParquetFile(pa.PythonFile(counted, mode="r")) as file:
                file.read_row_groups(groups)
            read.append(counted.count)
    assert read[0] < read[1]

    # geopandas uses the covering.
    assert len(geopandas.read_parquet(path, bbox=tuple(box))) == expected
    nowhere = (east + 90.0, -60.0, east + 91.0, -59.0)
    assert len(geopandas.read_parquet(path, bbox=nowhere)) == 0


def test_a_folder_has_one_schema_and_the_rules_of_geoparquet(farm: Path, manifest: dict[str, Any]) -> None:
    schemas: dict[str, pa.Schema] = {}
    for part in manifest["parts"]:
        path = published_state(farm) / part["path"]
        metadata = pq.read_metadata(path)
        schema = metadata.schema.to_arrow_schema()
        assert schemas.setdefault(part["path"].rpartition("/")[0], schema).equals(schema, check_metadata=False)
        geo = json.loads(metadata.metadata[b"geo"])
        assert geo["version"] == "1.1.0"
        column = geo["columns"][geo["primary_column"]]
        assert column["encoding"] == "WKB"
        assert set(column["geometry_types"]) <= {"Point", "Polygon", "MultiPolygon"}
        assert column["crs"]["id"] == {"authority": "EPSG", "code": 4326}
        assert column["covering"]["bbox"] == {side: ["bbox", side] for side in ("xmin", "ymin", "xmax", "ymax")}
        west, south, east, north = column["bbox"]
        assert part["bbox"] == column["bbox"]
        assert -180 <= west <= east <= 180
        assert -90 <= south <= north <= 90
        assert max(metadata.row_group(at).num_rows for at in range(metadata.num_row_groups)) <= 65_536
        assert metadata.row_group(0).column(0).compression == "ZSTD"
        assert schema.metadata[b"headland.version"].decode() == hl.__version__


def test_sync_repairs_damage_that_verify_finds(mirror: hl.Mirror, manifest: dict[str, Any]) -> None:
    before = {part["path"]: part["sha256"] for part in manifest["parts"]}
    broken, gone = (published_state(mirror.folder) / path for path in list(before)[:2])
    content = bytearray(broken.read_bytes())
    content[len(content) // 2] ^= 1
    broken.write_bytes(content)
    gone.unlink()
    found = mirror.verify()
    assert not found.ok
    assert [path.name in text for path, text in zip((broken, gone), found.findings, strict=True)] == [True, True]
    mirror.sync()
    assert mirror.verify(deep=True).ok
    again = json.loads((published_state(mirror.folder) / "manifest.json").read_text())
    assert again["rows"] == manifest["rows"]
    kept = {part["path"]: part["sha256"] for part in again["parts"]}
    assert {path for path in before if kept.get(path) == before[path]} == set(list(before)[2:])


def test_canonical_column_that_archives_lack_is_explained(mirror: hl.Mirror) -> None:
    for read in (mirror.to_geopandas, mirror.to_dask):
        with pytest.raises(ValueError, match=r"no column `yield_dry`; there are: .*; columns .* `mirror\.sql"):
            read(columns=["yield_dry"])
