"""A synced mirror, read in every way: the rows of its archives, and no credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cloudpickle
import dask
import geopandas as gpd
import pandas as pd
import pytest
from mirror_fixtures import published_state

import headland as hl
from headland.dask import read_archives

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ORDER = ["job_id", "layer", "job_row"]

# The displays of the sandbox use both systems of units, and some state none.
pytestmark = pytest.mark.filterwarnings("ignore:columns have several units:headland.HeadlandWarning")


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hl.Mirror]:
    """Sync a small account once for all tests of this file."""
    with (
        hl.Sandbox(small_jobs=40, rate_limits=(), conversion_time=0.05) as service,
        hl.Client(**service.credentials, rate_limits=(), limiter_state="memory") as client,
    ):
        synced = hl.Mirror(tmp_path_factory.mktemp("mirror") / "farm", client, locations=False)
        synced.sync(progress=False)
        yield synced


@pytest.fixture(autouse=True)
def _in_this_thread() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


def in_order(frame: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    return frame.sort_values(ORDER).reset_index(drop=True)


def test_a_frame_has_the_rows_of_every_archive(mirror: hl.Mirror) -> None:
    frame = mirror.to_geopandas()
    assert frame.crs == "EPSG:4326"
    archives = list((mirror.folder / "archives").glob("*/*.*"))
    assert len(archives) > 10
    rows = [len(hl.read(path, layer=name)) for path in archives for name in hl.layers(path)]
    assert len(frame) == sum(rows)
    assert not frame.duplicated(ORDER).any()


def test_job_types_and_years_select_the_rows_of_the_views(mirror: hl.Mirror) -> None:
    counts = mirror.sql("SELECT job_type, year, count(*) FROM dataset GROUP BY ALL").fetchall()
    assert {kind for kind, _, _ in counts} >= {"AsApplied", "GrainCart", "Yield"}
    for kind, year, rows in counts:
        if year is not None:
            assert len(mirror.to_geopandas(job_type=kind, year=year, columns=[])) == rows
            assert mirror.sql(f'SELECT count(*) FROM "{kind}" WHERE year = $year', year=year).fetchall() == [(rows,)]


def test_sql_dask_and_archives_return_the_rows_of_the_frame(mirror: hl.Mirror) -> None:
    whole = in_order(mirror.to_geopandas())
    pd.testing.assert_frame_equal(in_order(mirror.to_dask().compute()), whole)
    without_keys = whole.drop(columns=["job_type", "year"])
    pd.testing.assert_frame_equal(in_order(read_archives(mirror).compute()), without_keys)
    rows = mirror.sql("SELECT job_id, layer, job_row, PASS, geometry FROM dataset ORDER BY job_id, layer, job_row")
    frame = gpd.GeoDataFrame.from_arrow(rows.arrow())
    assert frame.job_id.tolist() == whole.job_id.tolist()
    assert frame.PASS.fillna(-1).tolist() == whole.PASS.fillna(-1).tolist()
    assert (frame.geometry.to_wkb() == whole.geometry.to_wkb()).all()


def test_a_box_is_that_of_the_rows(mirror: hl.Mirror) -> None:
    whole = mirror.to_geopandas()
    west, south, east, north = whole.total_bounds
    box = (west, south, (west + east) / 2, (south + north) / 2)
    expected = in_order(whole[whole.geometry.intersects(gpd.GeoSeries.from_wkt([_text(box)]).iloc[0])])
    assert 0 < len(expected) < len(whole)
    pd.testing.assert_frame_equal(in_order(mirror.to_geopandas(bbox=box)), expected)
    pd.testing.assert_frame_equal(in_order(mirror.to_dask(bbox=box).compute()), expected)


def _text(box: tuple[float, float, float, float]) -> str:
    west, south, east, north = box
    return f"POLYGON (({west} {south}, {east} {south}, {east} {north}, {west} {north}, {west} {south}))"


def test_dataset_published_elsewhere_reads_equally(mirror: hl.Mirror, tmp_path: Path) -> None:
    done = mirror.publish(tmp_path.as_uri(), archives=True)
    state = tmp_path / done.state
    here = published_state(mirror.folder)
    assert {path.relative_to(state): path.read_bytes() for path in state.rglob("*") if path.is_file()} == {
        path.relative_to(here): path.read_bytes() for path in here.rglob("*") if path.is_file()
    }
    assert mirror.publish(tmp_path.as_uri(), archives=True).sent == 0


def test_graphs_and_publications_contain_no_credentials(mirror: hl.Mirror, tmp_path: Path) -> None:
    with hl.Sandbox(small_jobs=1, rate_limits=()) as service:
        secrets = [
            str(value).encode() for name, value in service.credentials.items() if "key" in name or "secret" in name
        ]
    assert len(secrets) >= 3
    mirror.publish(tmp_path.as_uri())
    graphs = [cloudpickle.dumps(frame) for frame in (mirror.to_dask(), read_archives(mirror))]
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 3
    for secret in secrets:
        assert not [content for content in [*graphs, *files] if secret in content]


def test_a_mirror_is_read_without_a_client(mirror: hl.Mirror) -> None:
    assert len(hl.Mirror(mirror.folder).to_geopandas()) == len(mirror.to_geopandas())
