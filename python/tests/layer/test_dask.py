"""Archives and parts of a mirror on Dask: the same rows as without it, even if a worker is killed."""

from __future__ import annotations

import datetime as dt
import doctest
import inspect
import logging
import os
import pickle
import signal
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cloudpickle
import dask
import geopandas as gpd
import pandas as pd
import pyarrow as pa
import pytest
from dask.distributed import Client, LocalCluster, wait
from mirror_fixtures import PRJ, Farm, job, published
from shapefiles import Field, zipped

import headland as hl
from headland.dask import read_archives

if TYPE_CHECKING:
    from collections.abc import Iterator

WHOLE = (Field(b"PASS", "N", 9), Field(b"MOISTURE", "N", 9, 2))
FLOATS = (Field(b"PASS", "N", 9, 3), Field(b"PROTEIN", "N", 9, 1))
KEYS = ("key-of-the-test", "access-of-the-test")
SECRET = "bm9ib2R5IG1heSBldmVyIHNlZSB0aGlz"


@pytest.fixture
def farm(tmp_path: Path) -> Farm:
    jobs = [
        job("101", year="2025", rows=40, fields=WHOLE),
        job("102", rows=40, fields=WHOLE, west=-97.0),
        job("103", rows=5, fields=FLOATS),
        job("104", "AsApplied", rows=3, west=-90.0),
        job("105", "Soil%20Sampling", rows=2, places=False),
    ]
    return published(tmp_path / "farm", jobs, group=10)


@pytest.fixture
def archives(tmp_path: Path) -> list[Path]:
    """Return 24 archives of 10 rows each."""
    paths = []
    for number in range(24):
        paths.append(tmp_path / f"job-{number:02}.zip")
        paths[-1].write_bytes(job(str(number), rows=10, fields=WHOLE, west=-98 + number).archive)
    return paths


@pytest.fixture(scope="module")
def cluster() -> Iterator[Client]:
    """Start two workers, each a process with one thread."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def _alone(request: pytest.FixtureRequest) -> Iterator[None]:
    """Compute in this thread, except in tests that use the cluster."""
    if "cluster" in request.fixturenames:
        yield
    else:
        with dask.config.set(scheduler="synchronous"):
            yield


def sorted_rows(frame: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    return frame.sort_values(["job_id", "layer", "job_row"]).reset_index(drop=True)


def test_a_mirror_reads_as_its_archives_do(farm: Farm) -> None:
    whole = sorted_rows(farm.to_geopandas())
    parts, archives = farm.to_dask(), read_archives(farm)
    pd.testing.assert_frame_equal(sorted_rows(parts.compute()), whole)
    pd.testing.assert_frame_equal(sorted_rows(archives.compute()), whole.drop(columns=["job_type", "year"]))
    for frame in (parts, archives):
        computed = frame.compute()
        pd.testing.assert_series_equal(frame.dtypes, computed.dtypes)
        assert isinstance(computed, gpd.GeoDataFrame)
        assert frame.crs == computed.crs == "EPSG:4326"


def test_parts_are_read_by_job_type_year_box_and_column(farm: Farm) -> None:
    asked = {"job_type": "Yield", "year": 2025, "bbox": (-97.755, 44, -97.645, 46), "columns": ["job_id", "PASS"]}
    frame = farm.to_dask(**asked)  # type: ignore[arg-type]
    # Row groups of ten rows are a task each, with an index of its own.
    rows = frame.compute().reset_index(drop=True)
    pd.testing.assert_frame_equal(rows, farm.to_geopandas(**asked))  # type: ignore[arg-type]
    assert frame["PASS"].sum().compute() == sum(range(25, 36))
    assert len(farm.to_dask(bbox=(0, 0, 1, 1)).compute()) == 0


def test_the_examples_of_the_docstring_run(
    archives: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "archives").mkdir()
    for path in archives:
        path.rename(tmp_path / "archives" / path.name)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"Path": Path}
    for example in doctest.DocTestParser().get_examples(inspect.getdoc(read_archives) or ""):
        exec(example.source, names)
    assert names["means"].to_dict() == {path.stem: 4.5 for path in archives}


def test_reading_and_summing_up_are_one_task(archives: list[Path]) -> None:
    frame = read_archives(archives, archives_per_task=6)
    rows = frame.map_partitions(len).optimize()
    assert len(rows.dask) == frame.npartitions == 4
    assert rows.compute().tolist() == [60] * 4


def test_spatial_partitions_leave_tasks_out(tmp_path: Path) -> None:
    farm = published(tmp_path, [job("1", west=-98.0), job("2", year="2025", west=-90.0)])
    frame = farm.to_dask()
    assert frame.npartitions == 2
    near = frame.cx[-99.0:-95.0, 44.0:46.0]
    assert near.npartitions == 1
    assert set(near.compute().job_id) == {"1"}


def test_columns_that_are_not_requested_are_not_read(
    farm: Farm, archives: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    means = farm.to_dask(job_type="Yield").groupby("year").PASS.mean().compute()
    assert means.to_dict() == {2025: 19.5, 2026: (sum(range(40)) + sum(range(5))) / 45}
    asked, read = [], hl.read

    def seen(path: str, **how: Any) -> hl.Layer:
        asked.append(how["columns"])
        return read(path, **how)

    with monkeypatch.context() as patch:
        patch.setattr(hl, "read", seen)
        assert read_archives(archives)["PASS"].sum().compute() == 24 * 45
    assert asked == [["PASS"]] * 24
    # A column of another type is no error if it is not read.
    wrong = pa.schema([("PASS", pa.date32()), ("MOISTURE", pa.float64())])
    frame = read_archives(archives, schema=wrong)
    assert frame["MOISTURE"].sum().compute() == 24 * 45
    with pytest.raises(ValueError, match=r"column `PASS` of `.*job-\d\d.zip` does not fit date32"):
        frame.compute()


def test_each_worker_has_two_tasks_of_at_most_a_hundred_archives(archives: list[Path]) -> None:
    with dask.config.set(num_workers=1):
        assert read_archives(archives * 10).npartitions == 3
    with dask.config.set(num_workers=4):
        assert read_archives(archives).npartitions == 8
    assert read_archives(archives, archives_per_task=10).npartitions == 3
    with pytest.raises(ValueError, match="`archives_per_task`: expected a number from 1"):
        read_archives(archives, archives_per_task=0)


def test_rows_say_which_job_they_are_of(archives: list[Path]) -> None:
    frame = read_archives(archives, archives_per_task=5).compute()
    assert frame.groupby("job_id").size().to_dict() == {f"job-{number:02}": 10 for number in range(24)}
    named = read_archives(archives[:2], job_id=["7", "8"]).compute()
    assert named.job_id.unique().tolist() == ["7", "8"]
    assert len(read_archives([]).compute()) == 0
    with pytest.raises(ValueError, match="got 1 for 2"):
        read_archives(archives[:2], job_id=["7"])
    with pytest.raises(TypeError, match="expected a mirror, a path or a list of paths, got int"):
        read_archives(7)  # type: ignore[arg-type]


def test_every_layer_of_an_archive_is_read(tmp_path: Path) -> None:
    import io

    members: dict[str, bytes] = {}
    for name in ("north", "south"):
        with zipfile.ZipFile(io.BytesIO(job("1", fields=WHOLE).archive)) as archive:
            members |= {member.replace("rows", name): archive.read(member) for member in archive.namelist()}
    path = tmp_path / "two.zip"
    path.write_bytes(zipped(members))
    assert read_archives([path]).compute().layer.tolist() == ["north"] * 4 + ["south"] * 4


def test_archive_columns_that_collide_with_common_columns_are_renamed(tmp_path: Path) -> None:
    fields = (Field(b"job_id", "N", 4), Field(b"Year", "N", 4), Field(b"year_1", "N", 4))
    path = tmp_path / "a.zip"
    path.write_bytes(job("1", fields=fields).archive)
    frame = read_archives([path]).compute()
    assert [*frame.columns] == ["job_id", "layer", "job_row", "job_id_1", "Year_2", "year_1", "geometry"]
    assert frame.job_id.unique().tolist() == ["a"]
    assert frame.Year_2.tolist() == [0, 1, 2, 3]


def test_fields_with_the_name_of_the_geometry_keep_their_values(tmp_path: Path) -> None:
    fields = [Field(b"geometry", "N", 4), Field(b"PASS", "N", 4)]
    for count, names in ((1, ["geometry_1"]), (2, ["geometry_1", "geometry_2"])):
        path = tmp_path / f"{count}.zip"
        path.write_bytes(job("1", fields=[*fields[:1] * count, fields[1]]).archive)
        for columns in (None, names):
            frame = read_archives([path], columns=columns).compute()
            assert [frame[name].tolist() for name in names] == [[0, 1, 2, 3]] * count
            assert frame.geometry.x.tolist() == [-98.0, -97.99, -97.98, -97.97]


def test_different_archives_are_united_or_an_error(archives: list[Path]) -> None:
    archives[5].write_bytes(job("5", rows=10, fields=FLOATS).archive)
    frame = read_archives(archives).compute()
    assert frame.PASS.dtype == pd.Float64Dtype()
    assert frame.PROTEIN.notna().sum() == 10
    archives[6].write_bytes(job("6", rows=10, fields=(Field(b"PASS", "C", 9),)).archive)
    with pytest.raises(ValueError, match=r"column `PASS` is double .*large_string in `.*job-06.zip`"):
        read_archives(archives)
    assert len(read_archives(archives, columns=["MOISTURE"]).compute()) == 240


def test_number_beyond_its_header_type_is_an_error_that_a_schema_avoids(archives: list[Path]) -> None:
    cells = [(b"      1.5", b"     1.00")]
    archives[3].write_bytes(job("3", rows=1, fields=WHOLE, cells=cells).archive)
    with pytest.raises(ValueError, match=r"column `PASS` of `.*job-03.zip` does not fit int32: .*pass a `schema`"):
        read_archives(archives).compute()
    schema = pa.schema([("PASS", pa.float64())])
    frame = read_archives(archives, schema=schema).compute()
    assert [*frame.columns] == ["job_id", "layer", "job_row", "PASS"]
    assert frame.PASS[frame.job_id == "job-03"].tolist() == [1.5]


def test_a_schema_of_another_archive_serves(archives: list[Path]) -> None:
    with hl.open(archives[0], to_crs="EPSG:4326") as reader:
        frame = read_archives(archives, schema=reader.schema)
    assert frame.compute().crs == "EPSG:4326"
    assert len(frame.compute()) == 240


@pytest.mark.parametrize("kind", ["no archive", "damaged", "missing", "unknown system"])
def test_a_bad_archive_is_named_or_skipped(archives: list[Path], kind: str, caplog: pytest.LogCaptureFixture) -> None:
    bad = archives[7]
    if kind == "missing":
        bad.unlink()
    elif kind == "unknown system":
        bad.write_bytes(job("7", rows=10, fields=WHOLE, prj=b"").archive)
    else:
        content = bytearray(bad.read_bytes())
        content[60] ^= 255
        bad.write_bytes(b"nonsense" if kind == "no archive" else content)
    with hl.open(archives[0]) as reader:
        schema = reader.schema
    for known in (None, schema):
        with pytest.raises(hl.ArchiveError, match=r"job-07.zip") as caught:
            read_archives(archives, schema=known).compute()
        assert isinstance(pickle.loads(pickle.dumps(caught.value)), hl.ArchiveError)
        with caplog.at_level(logging.WARNING, logger="headland.dask"):
            frame = read_archives(archives, on_error="skip", schema=known).compute()
        assert len(frame) == 230
        assert "job-07" not in set(frame.job_id)
        assert str(bad) in caplog.text
        caplog.clear()


def test_coordinates_as_they_are_have_the_system_of_the_archives(archives: list[Path]) -> None:
    assert read_archives(archives, to_crs=None).compute().crs == "EPSG:4326"
    archives[2].write_bytes(job("2", rows=10, fields=WHOLE, prj=b"").archive)
    with pytest.raises(ValueError, match=r"job-02.zip` and `.*job-00.zip` are in different coordinate systems"):
        read_archives(archives, to_crs=None)
    with hl.open(archives[0]) as reader:
        schema = reader.schema
    with pytest.raises(hl.ArchiveError, match=r"job-02.zip` is in another coordinate system than the schema"):
        read_archives(archives, to_crs=None, schema=schema).compute()


def test_dates_stay_dates(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(job("1", rows=1, fields=(Field(b"DATE", "D", 8),), cells=[(b"20260704",)]).archive)
    with hl.open(path) as reader:
        assert reader.schema.field("DATE").type == pa.date32()
    assert read_archives([path]).compute().DATE[0] == dt.date(2026, 7, 4)


def test_graphs_hold_paths_and_no_credentials(farm: Farm) -> None:
    class Keyed(Farm):
        """A mirror with its client, as in the package."""

        def __init__(self, farm: Farm) -> None:
            super().__init__(farm.folder)
            keys: dict[str, Any] = {
                "api_key": "key-of-the-test",
                "shared_secret": SECRET,
                "access_key": "access-of-the-test",
            }
            self.client = hl.Client(base_url="https://fields.example", **keys)
            self.secret = SECRET

    mirror = Keyed(farm)
    for frame in (mirror.to_dask(), read_archives(mirror)):
        for pickled in (cloudpickle.dumps(frame), cloudpickle.dumps(dict(frame.__dask_graph__()))):
            assert str(farm.folder).encode() in pickled
            for secret in (SECRET, *KEYS):
                assert secret.encode() not in pickled


def test_two_workers_return_the_rows_of_one(cluster: Client, archives: list[Path]) -> None:
    with dask.config.set(scheduler="synchronous"):
        expected = read_archives(archives, archives_per_task=4).compute()
    del cluster
    pd.testing.assert_frame_equal(read_archives(archives, archives_per_task=4).compute(), expected)


def test_cluster_reports_skipped_archives(cluster: Client, archives: list[Path]) -> None:
    archives[7].write_bytes(b"nonsense")
    with dask.config.set(scheduler="synchronous"), hl.open(archives[0]) as reader:
        frame = read_archives(archives, on_error="skip", schema=reader.schema)
    assert len(frame.compute()) == 230
    events: Any = cluster.get_events("headland")
    assert [event["skipped"] for _, event in events] == [str(archives[7])]


def test_a_worker_that_is_killed_changes_nothing(cluster: Client, tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.zip" for number in range(40)]
    content = job("1", rows=3_000, fields=WHOLE).archive
    for path in paths:
        path.write_bytes(content)
    with dask.config.set(scheduler="synchronous"):
        expected = read_archives(paths, archives_per_task=2).compute()
    held = read_archives(paths, archives_per_task=2).persist()
    deadline = time.monotonic() + 60
    while sum(map(len, cluster.has_what().values())) < 4:
        assert time.monotonic() < deadline, "no task ends"
        time.sleep(0.005)
    # What the worker has is lost with it, so it is done again by another one, even if all was done.
    address, pid = next(iter(cluster.run(os.getpid).items()))
    os.kill(pid, signal.SIGKILL)
    wait(held)
    result = held.compute()
    assert address not in cluster.run(os.getpid)
    pd.testing.assert_frame_equal(result, expected)


def test_projection_of_the_archive_prj_is_transformed_to_wgs_84(tmp_path: Path) -> None:
    prj = (
        b'PROJCS["WGS_1984_UTM_Zone_14N",' + PRJ + b',PROJECTION["Transverse_Mercator"],'
        b'PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",-99.0],'
        b'PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]'
    )
    path = tmp_path / "a.zip"
    path.write_bytes(job("1", west=500_000.0, prj=prj).archive)
    frame = read_archives([path])
    assert frame.crs == "EPSG:4326"
    assert frame.compute().geometry.x.round(3).tolist() == [-99.0] * 4
    as_it_is = read_archives([path], to_crs=None)
    assert as_it_is.crs.is_projected
    assert as_it_is.compute().geometry.x[0] == 500_000


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_wrong_arguments_are_errors_before_anything_is_read(
    archives: list[Path], on_error: Any, caplog: pytest.LogCaptureFixture
) -> None:
    for schema in (None, hl.open(archives[0]).schema):
        with pytest.raises(ValueError, match=r"unsupported `to_crs`: .*`EPSG:4326`.*got `nonsense`"):
            read_archives(archives, to_crs="nonsense", schema=schema, on_error=on_error)
    for wrong in ("x", {"PASS": "int"}, [pa.field("PASS", pa.int32())]):
        with pytest.raises(TypeError, match=rf"`schema`: expected a `pyarrow.Schema`, .*, got {type(wrong).__name__}"):
            read_archives(archives, schema=wrong, on_error=on_error)
    assert not caplog.records


def test_folders_and_patterns_are_read_as_by_read_many(archives: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    (folder / "below").mkdir(parents=True)
    zipfile.ZipFile(archives[0]).extractall(folder)
    assert len(read_archives([folder]).compute()) == 10
    (folder / "below" / "more.ZIP").write_bytes(archives[1].read_bytes())
    assert [len(read_archives(paths)) for paths in (folder, [folder], str(tmp_path / "job-0[0-3].zip"))] == [20, 20, 40]
    with pytest.raises(ValueError, match="no file matches the pattern"):
        read_archives(folder / "*.grc")


def test_a_frame_from_before_a_sync_that_publishes_many_times_is_computed_after_it(tmp_path: Path) -> None:
    with hl.Sandbox(small_jobs=4, rate_limits=(), conversion_time=0.2) as service:
        client = hl.Client(**service.credentials, rate_limits=(), limiter_state="memory")
        mirror = hl.Mirror(tmp_path / "farm", client, locations=False, concurrency=1, publish_every="0s")
        mirror.sync()
        before = mirror.status()
        frame = mirror.to_dask(columns=["job_id"])
        for _ in range(4):
            service.add_job()
        mirror.sync()
        after = mirror.status()
        assert before.generation is not None
        assert after.generation is not None
        assert after.generation - before.generation > 2
        assert len(frame.compute(scheduler="threads")) == before.rows
