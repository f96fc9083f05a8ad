"""Canonical rows of a mirror: one unit in each column, for every display, readable without headland."""

from __future__ import annotations

import textwrap
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from mirror_fixtures import job, published, published_state

import headland as hl
from headland.mirror import readme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TABLES = ("harvest_rows", "application_rows", "planting_rows")

MARKET_MOISTURE = {"corn": 15.5, "soybean": 13.0, "sorghum": 14.0, "sunflower": 10.0}
"""Percent of water, from section 5 of the rules; the reference of this test."""

KG_PER_POUND = 0.45359237


@pytest.fixture(scope="module")
def mirror(service: hl.Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[hl.Mirror]:
    """Give a mirror of the account."""
    with hl.Client(**service.credentials, rate_limits=(), limiter_state="memory") as client:
        mirror = hl.Mirror(tmp_path_factory.mktemp("mirror") / "farm", client, locations=False)
        mirror.sync(progress=False)
        yield mirror


def harvests(service: hl.Sandbox) -> dict[str, Any]:
    """Return the truth of the harvests, by the name of the job."""
    return {each["job_name"]: each for each in service.truth if each["sub_type"] == "Yield"}


def test_area_and_mass_of_every_harvest_are_the_truth(service: hl.Sandbox, mirror: hl.Mirror) -> None:
    found = mirror.sql(
        "SELECT job_name, count(*), sum(worked_area), sum(wet_mass) FROM harvest_rows GROUP BY 1"
    ).fetchall()
    expected = harvests(service)
    assert len(found) == 18
    for name, rows, area, mass in found:
        truth = expected[name]
        assert rows == truth["rows"]
        assert area == pytest.approx(truth["area"], rel=1e-6)
        assert mass == pytest.approx(truth["total"]["value"], rel=1e-6)


def test_means_are_all_dry_mass_of_the_display_by_ground_that_counts_once(mirror: hl.Mirror) -> None:
    connection = duckdb_without_warnings(mirror)
    means = connection.execute(
        "SELECT job_id, crop, mean, dry_mass, f.covered_area, g.covered_area, market_moisture, rows_without_yield "
        "FROM field_means f JOIN covered_areas g USING (job_id)"
    ).fetchall()
    assert len(means) == 18
    for job_id, crop, mean, dry_mass, covered, ground, basis, rows_without_yield in means:
        units = dict(connection.execute("SELECT original, unit FROM units WHERE job_id = ?", [job_id]).fetchall())
        kilograms = {"lb/s": KG_PER_POUND, "kg/s": 1.0}[units["FLOW"]]
        # Rows without a moisture have the mean one.
        dry, wet, all_wet = connection.execute(
            "SELECT sum(FLOW * CYCLE * (100 - MOISTURE)), sum(FLOW * CYCLE) FILTER (MOISTURE IS NOT NULL), "
            "sum(FLOW * CYCLE) FROM Yield WHERE job_id = ?",
            [job_id],
        ).fetchall()[0]
        assert basis == MARKET_MOISTURE[crop]
        assert dry_mass == pytest.approx(dry * all_wet / wet * kilograms / (100 - basis), rel=1e-6)
        assert covered == pytest.approx(ground)
        assert mean == pytest.approx(dry_mass / covered * 10_000)
        assert rows_without_yield > 0


def test_market_moisture_of_a_mirror_is_that_of_its_rows_and_means(service: hl.Sandbox, tmp_path: Path) -> None:
    job = min((each for each in service.truth if each["sub_type"] == "Yield"), key=lambda each: each["rows"])
    found = []
    with hl.Client(**service.credentials, rate_limits=(), limiter_state="memory") as client:
        for moisture in (None, 5.0):
            mirror = hl.Mirror(tmp_path, client, locations=False, ids=[job["job_id"]], market_moisture=moisture)
            mirror.sync(progress=False)
            found += mirror.sql("SELECT dry_mass, market_moisture FROM field_means").fetchall()
            rows = mirror.sql("SELECT sum(dry_mass), any_value(market_moisture) FROM harvest_rows").fetchall()[0]
            assert rows == (pytest.approx(found[-1][0], rel=0.01), found[-1][1])
        with pytest.raises(ValueError, match="`market_moisture`: expected a percentage of water from 0 to 40, got 50"):
            hl.Mirror(tmp_path, client, market_moisture=50)
    (before, usual), (after, stated) = found
    assert stated == 5.0
    assert after == pytest.approx(before * (100 - usual) / 95)


def test_catalog_has_the_ground_of_every_job_once(service: hl.Sandbox, mirror: hl.Mirror) -> None:
    found = mirror.sql("SELECT name, covered_area, reason FROM covered_areas JOIN jobs ON jobs.id = job_id").fetchall()
    truth = {each["job_name"]: each["area"] for each in service.truth}
    assert {name for name, _, _ in found} == set(truth)
    for name, covered, reason in found:
        assert reason is None
        # Passes of ideal jobs overlap by about 1 %, those of sprayers by 2 %.
        assert 0.97 * truth[name] < covered < truth[name], name


def duckdb_without_warnings(mirror: hl.Mirror) -> duckdb.DuckDBPyConnection:
    """Open a connection, whose warning about units another test checks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hl.HeadlandWarning)
        return mirror.connect()


def test_every_job_has_its_field_and_the_catalog_says_why(service: hl.Sandbox, mirror: hl.Mirror) -> None:
    fields = dict(mirror.sql("SELECT job_name, field FROM field_means").fetchall())
    assert fields == {name: truth["field"] for name, truth in harvests(service).items()}
    plantings = mirror.sql("SELECT DISTINCT job_name, field FROM planting_rows").fetchall()
    assert len(plantings) == 18
    assert all(name.startswith(field) for name, field in plantings)
    rules = mirror.sql("SELECT rule, evidence FROM harmonized WHERE \"column\" = 'field'").fetchall()
    assert {rule for rule, _ in rules} == {"boundary", "job", "same ground"}
    assert all("same ground as those of job" in evidence for rule, evidence in rules if rule == "same ground")


def test_rows_have_keys_and_the_name_of_the_list(mirror: hl.Mirror) -> None:
    joined = mirror.sql(
        "SELECT count(*), count(r.job_name), count(*) FILTER (r.job_name = jobs.name), "
        "count(*) FILTER (r.start_date = jobs.start_date), count(*) FILTER (r.year = year(jobs.start_date)) "
        "FROM harvest_rows r JOIN jobs ON jobs.id = r.job_id"
    ).fetchall()[0]
    assert joined[0] > 0
    assert len(set(joined)) == 1
    originals = "SELECT job_id, layer, job_row FROM Yield"
    keys = "SELECT job_id, layer, job_row FROM harvest_rows"
    assert mirror.sql(f"({originals} EXCEPT {keys}) UNION ALL ({keys} EXCEPT {originals})").fetchall() == []
    assert mirror.sql("SELECT count(*) FROM jobs WHERE job_name IS NULL").fetchall() == [(0,)]


def test_readers_without_headland_get_the_same_columns_from_every_file(mirror: hl.Mirror) -> None:
    current = published_state(Path(mirror.folder))
    for table in TABLES:
        files = sorted((current / table).glob("*.parquet"))
        schemas = [pq.read_schema(file).remove_metadata() for file in files]
        assert schemas
        assert all(schema.equals(schemas[0], check_metadata=True) for schema in schemas)
        expected = mirror.sql(f"SELECT count(*), count(worked_area) FROM {table}").fetchall()[0]
        assert (
            duckdb.sql(f"SELECT count(*), count(worked_area) FROM '{current}/{table}/*.parquet'").fetchall()[0]
            == expected
        )
        frame = pl.scan_parquet(current / table / "*.parquet").select(
            pl.len(), pl.col("worked_area").count().alias("worked_area")
        )
        assert frame.collect().row(0) == expected
        assert ds.dataset(current / table).count_rows() == expected[0]
    units = {field.name: (field.metadata or {}).get(b"unit") for field in pq.read_schema(files[0])}
    assert units["worked_area"] == b"m2"


def test_connection_warns_once_of_columns_with_several_units(mirror: hl.Mirror) -> None:
    with pytest.warns(hl.HeadlandWarning) as caught:
        mirror.connect()
    assert len(caught) == 1
    message = str(caught[0].message)
    assert message.startswith("columns have several units: `VRYIELDVOL` (bu/ac | m3/ha), `DRYMATTER` (kg/ha | lb/ac), ")
    assert "`harvest_rows`" in message


def test_mirror_of_an_earlier_version_is_read_without_the_new_tables(tmp_path: Path) -> None:
    farm = published(tmp_path / "farm", [job("101", rows=4)])
    with farm.connect() as connection:
        assert connection.sql("SELECT count(*) FROM dataset").fetchall() == [(4,)]
    with pytest.raises(ValueError, match=r"field_means does not exist.*`sync\(\)` upgrades it"):
        farm.sql("SELECT * FROM field_means")
    # A column that this version renamed.
    with pytest.raises(ValueError, match=r'"worked_area" not found.*`sync\(\)` upgrades it'):
        farm.sql("SELECT sum(worked_area) FROM dataset")


def test_unknown_column_of_a_current_mirror_names_a_similar_one(mirror: hl.Mirror) -> None:
    with pytest.raises(ValueError, match=r"wrked_area.*Candidate bindings.*worked_area"):
        mirror.sql("SELECT wrked_area FROM harvest_rows")


def test_publication_has_every_table_and_its_readme_is_right(
    mirror: hl.Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror.publish(tmp_path / "out")
    monkeypatch.chdir(tmp_path / "out")
    current = published_state(Path(mirror.folder))
    published = {path.relative_to("latest") for path in Path("latest").rglob("*.parquet")}
    assert published == {path.relative_to(current) for path in current.rglob("*.parquet")}
    queries = [textwrap.dedent(each) for each in readme.TEXT.split("\n\n") if each.startswith("    ")]
    assert len(queries) == 5
    means, amounts, counts = (duckdb.sql(query).fetchall() for query in queries[:3])
    assert (len(means), len(amounts)) == (18, 12)
    assert sum(rows for *_, rows in counts) == mirror.sql("SELECT count(*) FROM dataset").fetchall()[0][0]
    run: Callable[[str, dict[str, Any]], None] = exec
    for query in queries[3:]:
        run(query, {})


def test_clock_says_whether_times_are_those_of_the_display(mirror: hl.Mirror) -> None:
    clocks = mirror.sql("SELECT DISTINCT clock FROM harvest_rows").fetchall()
    assert clocks == [("display",)]
    crops = {crop for (crop,) in mirror.sql("SELECT DISTINCT crop FROM harvest_rows").fetchall()}
    assert crops == set(MARKET_MOISTURE)


def test_units_of_the_united_states_name_the_views_that_stay_metric(mirror: hl.Mirror) -> None:
    query = "SELECT max(mean) FROM field_means"
    said = r'^`field_means` are metric regardless of `units="us"`; '
    with pytest.warns(hl.HeadlandWarning, match=said):
        us = mirror.sql(query, units="us").fetchall()
    own = pl.DataFrame({"mean": [1.0]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mirror.sql(query, units="metric").fetchall() == mirror.sql(query).fetchall() == us
        assert mirror.sql(query, units="us", field_means=own).fetchall() == [(1.0,)]
        mirror.sql("SELECT job_id FROM dataset", units="us")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mirror.connect(units="us").close()
    assert [each for each in caught if "`harvest_rows`, `application_rows`, `planting_rows`" in str(each.message)]
