"""What users do every day, each in at most six lines, checked against the truth of the local service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import pytest

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def client(service: hl.Sandbox) -> Iterator[hl.Client]:
    """Give a client without a limit, since the service has none."""
    with hl.Client(**service.credentials, rate_limits=(), limiter_state="memory") as client:
        yield client


def truth(service: hl.Sandbox, name: str | None) -> Any:
    """Return the true totals of the job with this name."""
    return next(job for job in service.truth if job["job_name"] == name)


def test_yield_of_one_field_in_tonnes_per_hectare(service: hl.Sandbox, client: hl.Client) -> None:
    harvest = client.job_data.read_all(job_type="yield", year=2025, name="Stone Hill").concat().to_geopandas()
    mean = harvest["wet_mass"].sum() / harvest["worked_area"].sum() * 10

    expected = truth(service, "Stone Hill 2025 Harvest")
    assert mean == pytest.approx(expected["total"]["value"] / expected["area"] * 10, rel=1e-6)


def test_all_yield_of_a_year_as_one_frame(service: hl.Sandbox, client: hl.Client) -> None:
    frame = client.job_data.read_all(job_type="yield", year=2026).concat().to_geopandas()
    frame.groupby("job_name")[["worked_area", "wet_mass", "dry_mass"]].sum()

    expected = [job for job in service.truth if job["job_name"].endswith("2026 Harvest")]
    assert len(frame) == sum(job["rows"] for job in expected)
    assert frame["wet_mass"].sum() == pytest.approx(sum(job["total"]["value"] for job in expected), rel=1e-6)
    assert frame.crs == "EPSG:4326"


def test_mean_yield_by_job_and_year_in_sql(service: hl.Sandbox, client: hl.Client) -> None:
    rows = client.job_data.read_all(job_type="yield").concat()  # noqa: F841 - DuckDB finds it by its name
    means = duckdb.sql(
        "SELECT job_name, year(start_date) AS year, sum(wet_mass) / sum(worked_area) * 10 AS mean "
        "FROM rows GROUP BY ALL"
    ).fetchall()

    assert len(means) == 18
    for name, year, mean in means:
        expected = truth(service, name)
        assert mean == pytest.approx(expected["total"]["value"] / expected["area"] * 10, rel=1e-3)
        assert str(year) in name


def test_which_jobs_failed_and_why(client: hl.Client) -> None:
    jobs = client.job_data.read_all(year=2024)
    reasons = {failed.job["name"]: str(failed.error) for failed in jobs.failed}

    assert len(reasons) == 5
    assert "found no valid job data" in reasons["Mill Bottom 2024 Harvest again"]


def test_target_and_applied_rate_of_a_spray_job(service: hl.Sandbox, client: hl.Client) -> None:
    job = next(job for job in client.job_data.list() if job["name"] == "Stone Hill 2026 Spraying")
    spray = hl.harmonize(client.job_data.read(job["id"]))
    rates = spray.to_geopandas()[["target_rate", "applied_rate", "worked_area"]]

    assert spray.units["target_rate"] == spray.units["applied_rate"] == "L/ha"
    applied = (rates["applied_rate"] * rates["worked_area"]).sum() / 10_000
    total = truth(service, job["name"])["total"]
    assert applied == pytest.approx(total["value"] * 3.785411784, rel=1e-6)
    assert total["unit"] == "gal"


@pytest.fixture(scope="module")
def mirror(client: hl.Client, tmp_path_factory: pytest.TempPathFactory) -> hl.Mirror:
    """Give a mirror of the account."""
    mirror = hl.Mirror(tmp_path_factory.mktemp("mirror") / "farm", client, locations=False)
    mirror.sync(progress=False)
    return mirror


def test_mean_yield_by_field_and_year_in_sql(service: hl.Sandbox, mirror: hl.Mirror) -> None:
    means = mirror.sql(
        "SELECT field, year, sum(wet_mass) / sum(worked_area) * 10 AS t_ha FROM harvest_rows GROUP BY ALL"
    ).fetchall()

    assert len(means) == 18
    for field, year, mean in means:
        expected = truth(service, f"{field} {year} Harvest")
        assert mean == pytest.approx(expected["total"]["value"] / expected["area"] * 10, rel=1e-3)


def test_colleague_reads_the_published_folder_with_duckdb_alone(mirror: hl.Mirror, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    mirror.publish(folder)
    means = duckdb.sql(
        "SELECT field || year, sum(dry_mass) / sum(covered_area) "
        f"FROM '{folder}/latest/catalog/field_means.parquet' GROUP BY 1"
    ).fetchall()

    expected = mirror.sql("SELECT field || year, mean / 10_000 FROM field_means").fetchall()
    assert dict(means) == pytest.approx(dict(expected), rel=1e-9)
    assert len(expected) == 18
