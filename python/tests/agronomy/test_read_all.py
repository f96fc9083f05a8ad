"""Reading all jobs of a season: selection, failures, and one table."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from shapefiles import Field, dbf, zipped

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterator

BAD_HARVESTS = {"Creek Side 2024 Harvest again", "Mill Bottom 2024 Harvest again"}
"""Jobs of the demo account that the service cannot convert."""


@pytest.fixture(scope="module")
def client(service: hl.Sandbox) -> Iterator[hl.Client]:
    """Give a client without a limit, since the service has none."""
    with hl.Client(**service.credentials, rate_limits=(), limiter_state="memory") as client:
        yield client


@pytest.fixture(scope="module")
def harvests(client: hl.Client) -> hl.JobLayers:
    """Give all harvests."""
    return client.job_data.read_all(job_type="yield", progress=False)


def truth_of(service: hl.Sandbox) -> dict[str, Any]:
    return {truth["job_id"]: truth for truth in service.truth}


def outline() -> hl.Layer:
    """Return a layer that is no job's."""
    return hl.read(zipped({"a.dbf": dbf([Field(b"NAME", "C", 4)], [[b"Home"]])}))


def test_every_job_of_the_list_is_read_or_has_a_reason(
    service: hl.Sandbox, client: hl.Client, harvests: hl.JobLayers
) -> None:
    listed = {job["id"] for job in client.job_data.list() if job["sub_type"] == "Yield"}
    read = {job["id"] for job, _ in harvests}
    assert read | {failed.job["id"] for failed in harvests.failed} == listed
    assert {failed.job["name"] for failed in harvests.failed} == BAD_HARVESTS
    for failed in harvests.failed:
        assert isinstance(failed.error, hl.ConversionFailed)
        assert str(failed.job["name"]) in repr(harvests)
    assert len(harvests) == len(read) == 18
    truth = truth_of(service)
    for job, layer in harvests:
        assert (layer.name, len(layer)) == (truth[job["id"]]["layer"], truth[job["id"]]["rows"])


def test_layers_are_in_the_order_of_the_list(client: hl.Client, harvests: hl.JobLayers) -> None:
    order = [job["id"] for job in client.job_data.list()]
    read = [job["id"] for job, _ in harvests]
    assert read == sorted(read, key=order.index)


def test_an_archive_with_a_boundary_gives_the_layer_of_the_job(service: hl.Sandbox, harvests: hl.JobLayers) -> None:
    job, layer = next((job, layer) for job, layer in harvests if layer.boundary is not None)
    boundary = layer.boundary
    assert boundary is not None
    area = boundary.area()
    assert area == pytest.approx(truth_of(service)[job["id"]]["field_area"], rel=1e-3)
    assert boundary.boundary is None


def test_read_gives_the_layer_and_its_boundary_too(client: hl.Client, harvests: hl.JobLayers) -> None:
    job = next(job for job, layer in harvests if layer.boundary is not None)
    layer = client.job_data.read(job["id"], columns=["MOISTURE"])
    assert layer.columns == ["MOISTURE", "geometry"]
    assert layer.boundary is not None
    with pytest.raises(hl.ArchiveError, match="has 2 layers"):
        hl.read(client.job_data.download(job["id"]))


def test_selection_by_year_name_and_ids(client: hl.Client) -> None:
    jobs = client.job_data.read_all(year=2025, name="stone HILL", progress=False)
    assert [job["name"] for job, _ in jobs] == [
        "Stone Hill 2025 Harvest",
        "Stone Hill 2025 Spraying",
        "Stone Hill 2025 Planting",
    ]
    ids = [job["id"] for job, _ in jobs]
    by_id = client.job_data.read_all(ids=[int(ids[0]), "1", ids[2]], progress=False)
    assert [job["id"] for job, _ in by_id] == [ids[0], ids[2]]
    assert [(failed.job, type(failed.error)) for failed in by_id.failed] == [({"id": "1", "name": None}, hl.NotFound)]
    pattern = client.job_data.read_all(job_type="as_applied", name="cattle*2025*", progress=False)
    assert [job["name"] for job, _ in pattern] == ["Cattle Gate 2025 Spreading"]


def test_one_table_has_the_rows_and_totals_of_all_jobs(service: hl.Sandbox, harvests: hl.JobLayers) -> None:
    table = harvests.concat().to_arrow()
    truth = truth_of(service)
    assert table.num_rows == sum(truth[job["id"]]["rows"] for job, _ in harvests)
    frame = table.drop_columns(["geometry"]).to_pandas()
    for job_id, rows in frame.groupby("job_id"):
        expected = truth[str(job_id)]
        assert rows["worked_area"].sum() == pytest.approx(expected["area"], rel=1e-6)
        assert rows["wet_mass"].sum() == pytest.approx(expected["total"]["value"], rel=1e-6)
        assert set(rows["job_name"]) == {expected["job_name"]}
        assert set(rows["start_date"].dt.year) == {int(str(expected["job_name"]).split()[-2])}
    assert table.schema.field("worked_area").metadata[b"unit"] == b"m2"


def test_a_job_that_cannot_be_harmonised_is_named(harvests: hl.JobLayers) -> None:
    job, layer = next(iter(harvests))
    unknown = {"id": "7", "name": "Outline"}
    other = hl.JobLayers([(job, layer), (unknown, outline())], [])
    with pytest.raises(ValueError, match="job 7, `Outline`: the columns of layer"):
        other.concat()


def test_jobs_have_positions_and_are_one_frame(harvests: hl.JobLayers) -> None:
    assert [harvests[index][0]["id"] for index in (0, -1)] == [[*harvests][index][0]["id"] for index in (0, -1)]
    two = hl.JobLayers([harvests[0], harvests[1]], [])
    frame = two.to_geopandas()
    assert set(frame["job_id"]) == {job["id"] for job, _ in two}
    assert hl.concat(two).to_arrow() == two.concat().to_arrow()
    with pytest.raises(IndexError):
        harvests[99]


def test_a_pair_has_names(harvests: hl.JobLayers) -> None:
    job, layer = harvests[0]
    assert (harvests[0].job, harvests[0].layer) == (job, layer)
    assert [each.job["id"] for each in harvests] == [job["id"] for job, _ in harvests]


def test_concat_of_different_quantities_names_both_sources(client: hl.Client) -> None:
    jobs = client.job_data.read_all(job_type="as_applied", year=2025, progress=False)
    with pytest.raises(ValueError, match=r"`target_rate`: the quantity is volume in `.*` and mass in `.*`"):
        jobs.concat()


def test_the_asynchronous_client_reads_the_same(service: hl.Sandbox, harvests: hl.JobLayers) -> None:
    async def read() -> hl.JobLayers:
        async with hl.AsyncClient(**service.credentials, rate_limits=(), limiter_state="memory") as client:
            return await client.job_data.read_all(job_type="Yield", progress=False)

    jobs = asyncio.run(read())
    assert [(job["id"], len(layer)) for job, layer in jobs] == [(job["id"], len(layer)) for job, layer in harvests]
    assert {failed.job["name"] for failed in jobs.failed} == BAD_HARVESTS


def test_on_error_raise_is_the_error_of_the_job(service: hl.Sandbox, client: hl.Client) -> None:
    with pytest.raises(hl.ConversionFailed):
        client.job_data.read_all(name="Mill Bottom 2024 Harvest again", on_error="raise", progress=False)

    async def read() -> None:
        async with hl.AsyncClient(**service.credentials, rate_limits=(), limiter_state="memory") as other:
            await other.job_data.read_all(name="Mill Bottom 2024 Harvest again", on_error="raise", progress=False)

    with pytest.raises(hl.ConversionFailed):
        asyncio.run(read())


def test_conversions_that_are_late_are_failures(client: hl.Client) -> None:
    jobs = client.job_data.read_all(name="Stone Hill 2025 Harvest", format="FMIS", timeout=0, progress=False)
    assert len(jobs) + len(jobs.failed) == 1
    assert all(isinstance(failed.error, hl.NotReady) for failed in jobs.failed)


@pytest.mark.parametrize(
    ("arguments", "error", "fragment"),
    [
        ({"job_type": "yeild"}, ValueError, "`job_type`: unknown type `yeild`; known: AsApplied, "),
        ({"job_type": 1}, TypeError, "`job_type`"),
        ({"job_type": []}, ValueError, "`job_type` is empty; omit it for all job types"),
        ({"sub_type": 1}, TypeError, "`sub_type`"),
        ({"year": "2025"}, TypeError, "`year`"),
        ({"ids": "31"}, TypeError, "`ids`"),
        ({"ids": ["a/b"]}, ValueError, "^an id of `ids` contains '/', which ids cannot contain$"),
        ({"on_error": "ignore"}, ValueError, "`on_error`"),
        ({"timeout": -1}, ValueError, "`timeout`"),
        ({"format": "XML"}, ValueError, "XML"),
        ({"encoding": "nonsense"}, ValueError, "`encoding`"),
        ({"nosuch": 1}, TypeError, "^unexpected keyword argument `nosuch`: there are: format, ids, .*, layer, "),
        ({"jobtype": 1}, TypeError, r"^unexpected keyword argument `jobtype`: did you mean `job_type`\?$"),
    ],
)
def test_wrong_arguments_are_errors(
    client: hl.Client, arguments: dict[str, Any], error: type[Exception], fragment: str
) -> None:
    with pytest.raises(error, match=fragment):
        client.job_data.read_all(**{"name": "Stone Hill 2025 Harvest", "progress": False, **arguments})
