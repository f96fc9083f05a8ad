"""The dataset of a mirror through DuckDB: views, parameters, and isolation."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
import textwrap
import tomllib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import duckdb
import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import shapely
from checkout import ROOT
from mirror_fixtures import Farm, job, published, published_state, without_checksums
from shapefiles import Field

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def farm(tmp_path: Path) -> Farm:
    jobs = [
        job("101", year="2025", rows=40),
        job("102", rows=40, west=-97.0),
        job("103", rows=5, fields=(Field(b"PASS", "N", 9, 3), Field(b"PROTEIN", "N", 9, 1))),
        job("104", "AsApplied", rows=3),
        job("105", "Soil%20Sampling", rows=2, places=False),
    ]
    return published(tmp_path / "fa'rm [x] ü*?", jobs, group=10)


def test_views_are_all_rows_each_job_type_and_the_catalog(farm: Farm) -> None:
    counts = "SELECT job_type, year, count(*) FROM dataset GROUP BY ALL ORDER BY ALL"
    assert farm.sql(counts).fetchall() == [
        ("AsApplied", 2026, 3),
        ("Soil Sampling", 2026, 2),
        ("Yield", 2025, 40),
        ("Yield", 2026, 45),
    ]
    assert farm.sql('SELECT count(*) FROM "Soil Sampling"').fetchall() == [(2,)]
    assert farm.sql("SELECT\n\tcount(*) -- all\nFROM dataset").fetchall() == [(90,)]
    years = "SELECT count(*) FROM dataset WHERE year = $year"
    assert farm.sql(years, year=np.int64(2025)).fetchall() == farm.sql(years, year=2025).fetchall() == [(40,)]
    assert farm.sql("SELECT $share, $is_one", share=np.float32(0.5), is_one=np.True_).fetchall() == [(0.5, True)]
    assert farm.sql("SELECT count(PROTEIN), count(*) FROM yield").fetchall() == [(5, 85)]
    assert farm.sql("SELECT count(*) FROM jobs JOIN dataset ON jobs.id = job_id").fetchall() == [(90,)]
    assert {name for (name,) in farm.sql("SHOW TABLES").fetchall()} == {
        "AsApplied",
        "Soil Sampling",
        "Yield",
        "dataset",
        "jobs",
    }


def test_the_frame_of_a_query_is_that_of_geopandas(farm: Farm) -> None:
    relation = farm.sql("SELECT job_id, MOISTURE, geometry FROM Yield WHERE year = 2025 ORDER BY job_row")
    frame = gpd.GeoDataFrame.from_arrow(relation.arrow())
    expected = farm.to_geopandas(job_type="Yield", year=2025, columns=["job_id", "MOISTURE"])
    assert frame.geometry.geom_equals(expected.geometry).all()
    assert frame.crs == expected.crs
    assert frame.MOISTURE.tolist() == expected.MOISTURE.tolist()


def test_geometries_need_no_extension(farm: Farm) -> None:
    [(text, binary)] = farm.sql("SELECT ST_AsText(geometry), ST_AsWKB(geometry) FROM AsApplied LIMIT 1").fetchall()
    assert text == "POINT (-98 45)"
    assert shapely.from_wkb(bytes(binary)) == shapely.Point(-98, 45)
    with pytest.raises(duckdb.Error, match="spatial"):
        farm.sql("SELECT ST_Buffer(geometry, 1) FROM AsApplied")


@pytest.mark.parametrize("kinds", [("AsApplied", "Yield"), ("Yield", "AsApplied")])
def test_no_system_is_claimed_where_one_is_unknown(tmp_path: Path, kinds: tuple[str, str]) -> None:
    known, unknown = kinds
    farm = published(tmp_path, [job("1", known), job("2", unknown, prj=b"")])
    types = {row[0]: row[1] for row in farm.sql("DESCRIBE FROM dataset").fetchall()}
    assert types["geometry"] == "GEOMETRY"
    types = {row[0]: row[1] for row in farm.sql(f"DESCRIBE FROM {known}").fetchall()}
    assert "WGS 84" in types["geometry"]


def test_only_the_files_of_a_job_type_are_opened_and_only_the_rows_of_a_year_read(farm: Farm) -> None:
    # One checksum covers all bytes of such a short file: without checksums, only the bytes that DuckDB parses are read.
    without_checksums(farm)
    for path in published_state(farm.folder).glob("dataset/*/*/*/*.parquet"):
        if "job_type=Yield" not in str(path):
            path.write_bytes(b"this is never opened")
        elif "year=2026" in str(path):
            content = bytearray(path.read_bytes())
            footer = int.from_bytes(content[-8:-4], "little") + 8
            content[4:-footer] = b"\xff" * (len(content) - footer - 4)
            path.write_bytes(content)
    assert farm.sql("SELECT sum(PASS) FROM Yield WHERE year = 2025").fetchall() == [(780.0,)]
    with pytest.raises(duckdb.Error):
        farm.sql("SELECT sum(PASS) FROM Yield").fetchall()


def test_a_box_leaves_row_groups_unread(farm: Farm) -> None:
    # One checksum covers all bytes of such a short file: without checksums, only the bytes that DuckDB parses are read.
    without_checksums(farm)
    [path] = published_state(farm.folder).glob("dataset/job_type=Yield/year=2025/*/*.parquet")
    query = "SELECT sum(PASS) FROM Yield WHERE year = 2025 AND bbox.xmin <= $east AND bbox.xmax >= $west"
    import pyarrow.parquet as pq

    content = bytearray(path.read_bytes())
    for group in (0, 1):
        column = pq.read_metadata(path).row_group(group).column(3)
        assert column.path_in_schema == "PASS"
        start = column.dictionary_page_offset or column.data_page_offset
        content[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path.write_bytes(content)
    assert farm.sql(query, west=-97.755, east=-97.645).fetchall() == [(sum(range(25, 36)),)]


def test_parameters_are_values_and_never_text_of_the_query(farm: Farm) -> None:
    count = "SELECT count(*) FROM dataset WHERE job_id = $job_id"
    assert farm.sql(count, job_id="101").fetchall() == [(40,)]
    for text in ("101' OR '1'='1", "x'; DROP VIEW dataset; --", "$job_id", '"'):
        assert farm.sql(count, job_id=text).fetchall() == [(0,)]
    assert farm.sql("SELECT $query AS given", query="a parameter of that name").fetchall()[0][0].startswith("a ")
    with pytest.raises(duckdb.Error, match="job_id"):
        farm.sql(count)


def test_tables_are_views_of_the_names_that_they_are_given_by(farm: Farm) -> None:
    names = pd.DataFrame({"job_id": ["101"], "field": ["North"]})
    query = "SELECT field, count(*) FROM names JOIN Yield USING (job_id) WHERE year = $year GROUP BY field"
    assert farm.sql(query, names=names, year=2025).filter("field = 'North'").fetchall() == [("North", 40)]
    assert farm.sql("SELECT sum(x) FROM given", given=pa.table({"x": [1, 2]})).fetchall() == [(3,)]
    fields = gpd.GeoDataFrame({"x": [1]}, geometry=[shapely.Point(1, 2)], crs="EPSG:4326")
    assert farm.sql("SELECT ST_AsText(geometry) FROM fields", fields=fields).fetchall() == [("POINT (1 2)",)]
    assert farm.sql("SELECT count(*) FROM dataset", dataset=names).fetchall() == [(1,)]


def test_variables_of_a_program_are_no_tables(farm: Farm) -> None:
    folder = parameters = pd.DataFrame({"x": [1]})
    for name in ("folder", "parameters", "values", "views"):
        with pytest.raises(ValueError, match=rf'`?{name}`? does not exist! There are: "AsApplied", "Soil Sampling"'):
            farm.sql(f"SELECT * FROM {name}")
    assert len(folder) == len(parameters)


def test_settings_apply_to_one_query(farm: Farm) -> None:
    current = "SELECT current_setting('TimeZone'), current_setting('threads'), current_setting('memory_limit')"
    plain = farm.sql(current).fetchall()
    settings = "SET TimeZone = 'Asia/Kathmandu'; SET threads = 1; SET GLOBAL memory_limit = '1GiB'"
    assert farm.sql(f"{settings}; {current}").fetchall() == [("Asia/Kathmandu", 1, "1.0 GiB")]
    assert farm.sql(current).fetchall() == plain


def test_pivots_and_plans_are_queries(farm: Farm) -> None:
    assert len(farm.sql("PIVOT Yield ON year USING count(*) GROUP BY layer").fetchall()) == 1
    counted = "WITH ours AS (FROM Yield) PIVOT ours ON year USING count(*) GROUP BY layer; -- both years"
    assert len(farm.sql(counted).columns) == 3
    for explained in (
        "EXPLAIN SELECT count(PASS) FROM Yield",
        "/* a /* plan */ */ explain -- of\n select count(PASS) from Yield; -- all",
        "EXPLAIN /* é */ ANALYZE (SELECT count(PASS) FROM Yield)",
        "EXPLAIN (ANALYZE, FORMAT text) FROM Yield",
        "EXPLAIN (FROM Yield) UNION ALL FROM Yield",
        "EXPLAIN\u00a0SELECT count(PASS) FROM Yield",
        "SET threads = 1; EXPLAIN SELECT count(PASS) FROM Yield",
        "EXPLAIN PIVOT Yield ON year USING count(*)",
    ):
        assert "PARQUET" in farm.sql(explained).fetchall()[0][1].upper(), explained


def test_threads_query_concurrently(farm: Farm) -> None:
    def count(job_id: str) -> int:
        [(rows,)] = farm.sql("SELECT count(*) FROM dataset WHERE job_id = $job_id", job_id=job_id).fetchall()
        return int(rows)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(count, ["101", "102", "103", "104", "105"] * 4)) == [40, 40, 5, 3, 2] * 4


def test_job_types_that_differ_in_case_alone_are_one_view(tmp_path: Path) -> None:
    farm = published(tmp_path, [job("1", "Yield"), job("2", "YIELD")])
    assert farm.sql("SELECT count(*) FROM Yield").fetchall() == [(8,)]


@pytest.mark.parametrize("kind", ["JOBS", "Dataset", "jobs"])
def test_job_type_with_the_name_of_another_view_has_no_view(tmp_path: Path, kind: str) -> None:
    farm = published(tmp_path, [job("1"), job("2", kind, rows=3)])
    assert farm.sql("SELECT count(*) FROM jobs").fetchall() == [(2,)]
    assert farm.sql("SELECT count(*) FROM dataset").fetchall() == [(7,)]
    assert farm.sql("SELECT count(*) FROM dataset WHERE job_type = $kind", kind=kind).fetchall() == [(3,)]
    assert {name for (name,) in farm.sql("SHOW TABLES").fetchall()} == {"Yield", "dataset", "jobs"}


def test_tables_hide_views_of_the_same_name_in_any_case(farm: Farm) -> None:
    north, south = pd.DataFrame({"x": [1]}), pd.DataFrame({"x": [2]})
    assert farm.sql("SELECT x FROM yield", YIELD=north).fetchall() == [(1,)]
    assert farm.sql("SELECT x FROM dataset", Dataset=south).fetchall() == [(2,)]


def test_times_are_fetched_with_the_packages_of_the_extra(farm: Farm) -> None:
    begun = dt.datetime(2026, 5, 1, 12, 30, tzinfo=dt.UTC)
    jobs = pa.table({"begun": pa.array([begun], pa.timestamp("us", "UTC"))})
    assert farm.sql("SELECT begun FROM starts", starts=jobs).fetchall() == [(begun,)]
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "pytz" in declared["project"]["optional-dependencies"]["sql"]
    assert "pytz" in declared["dependency-groups"]["test"]


def test_missing_publication_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(hl.ConfigurationError, match="has published nothing yet"):
        Farm(tmp_path).sql("SELECT 1")
    with pytest.raises(hl.ConfigurationError, match="has published nothing yet"):
        Farm(tmp_path).connect()


def test_connection_has_all_views_of_one_state(farm: Farm) -> None:
    with farm.connect() as connection:
        published(farm.folder, [job("106")], number=2)
        assert connection.sql("SELECT count(*) FROM dataset").fetchall() == [(90,)]
        assert {name for (name,) in connection.sql("SHOW TABLES").fetchall()} == {
            "AsApplied",
            "Soil Sampling",
            "Yield",
            "dataset",
            "jobs",
        }
        assert connection.sql("SELECT current_setting('TimeZone')").fetchall() == [("UTC",)]
        names = pd.DataFrame({"job_id": ["101"], "field": ["North"]})
        joined = connection.sql("SELECT field, count(*) FROM names JOIN Yield USING (job_id) GROUP BY field")
        assert joined.fetchall() == [("North", 40)]
        assert len(names) == 1
        connection.execute("CREATE TABLE mine AS FROM Yield WHERE year = 2025")
        assert connection.sql("SELECT count(*) FROM mine").fetchall() == [(40,)]
    assert farm.sql("SELECT count(*) FROM dataset").fetchall() == [(4,)]


def test_connection_to_a_damaged_part_is_an_error(farm: Farm) -> None:
    [path] = published_state(farm.folder).glob("dataset/job_type=Yield/year=2025/*/*.parquet")
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    reads: tuple[Callable[[], object], ...] = (farm.connect, lambda: farm.sql("SELECT count(*) FROM Yield"))
    for read in reads:
        with pytest.raises(hl.ArchiveError, match=r"part-0.parquet` is damaged \(bytes 0 to \d+ differ from those"):
            read()
    assert farm.sql("SELECT count(*) FROM AsApplied").fetchall() == [(3,)]
    path.unlink()
    with pytest.raises(hl.ArchiveError, match=r"part-0.parquet` is missing; run `sync"):
        farm.connect()


def test_scalars_of_numpy_and_pandas_keep_their_types(farm: Farm) -> None:
    noon = dt.datetime(2026, 5, 1, 12)  # noqa: DTZ001 - as datetime64 has it
    for given in (np.datetime64("2026-05-01T12", "ns"), np.datetime64("2026-05-01T12", "s"), pd.Timestamp(noon)):
        assert farm.sql("SELECT $given, typeof($given)", given=given).fetchall() == [(noon, "TIMESTAMP")]
    span = dt.timedelta(minutes=90)
    assert farm.sql("SELECT $given", given=np.timedelta64(90, "m")).fetchall() == [(span,)]
    assert farm.sql("SELECT $given IS NULL", given=np.datetime64("NaT")).fetchall() == [(True,)]


def test_geometry_is_bound_as_well_known_binary(farm: Farm) -> None:
    count = "SELECT count(*) FROM Yield WHERE ST_AsText(geometry) = ST_AsText(ST_GeomFromWKB($place)) AND year = 2025"
    assert farm.sql(count, place=shapely.Point(-98, 45).wkb).fetchall() == [(1,)]


def test_relation_is_a_table_of_the_next_query(farm: Farm) -> None:
    means = farm.sql("SELECT job_id, avg(PASS) AS mean, any_value(geometry) AS place FROM Yield GROUP BY job_id")
    query = "SELECT job_id, mean, typeof(place) LIKE 'GEOMETRY%' FROM means JOIN Yield USING (job_id) WHERE job_row = 1"
    assert min(farm.sql(query, means=means).fetchall()) == ("101", 19.5, True)


def test_time_without_a_zone_is_utc_on_every_machine(farm: Farm) -> None:
    program = """
        import sys, datetime, headland
        noon = datetime.datetime(2026, 5, 1, 12)
        query = "SELECT $noon = TIMESTAMPTZ '2026-05-01T12:00:00Z', TIMESTAMPTZ '2026-05-01T02:00:00Z'::DATE::VARCHAR"
        print(headland.Mirror(sys.argv[1]).sql(query, noon=noon).fetchall())
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(farm.folder)]
    far = {**os.environ, "TZ": "America/Chicago"}
    done = subprocess.run(command, capture_output=True, text=True, env=far, timeout=60, check=False)
    assert done.stdout == "[(True, '2026-05-01')]\n", done.stderr
