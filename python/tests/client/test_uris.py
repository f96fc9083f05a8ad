"""Addresses in records (specification 2.1, `Uri`): followed only on the configured base address."""

from __future__ import annotations

import asyncio
import io
import zipfile
from typing import TYPE_CHECKING, Any, Literal

import pytest
from commands import headland, lines

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.filterwarnings("ignore::headland.HeadlandWarning")

WORDS: tuple[Literal["json", "xml"], ...] = ("json", "xml")


@pytest.fixture(scope="module", params=[(), ("production-uri",), ("wild",)], ids=["plain", "production", "wild"])
def named(request: pytest.FixtureRequest) -> Iterator[hl.Sandbox]:
    with hl.Sandbox(rate_limits=(), clock="moved", conversion_time=0, variants=request.param) as running:
        yield running


@pytest.fixture(params=WORDS)
def user(named: hl.Sandbox, request: pytest.FixtureRequest) -> Iterator[hl.Client]:
    with hl.Client(**named.credentials, rate_limits=(), accept=request.param) as client:
        yield client


def archive(name: str) -> io.BytesIO:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as zipped:
        for extension in ("shp", "shx", "dbf"):
            zipped.writestr(f"north.{extension}", b"x")
    content.seek(0)
    content.name = name
    return content


def test_every_uri_of_a_list_gives_the_detail(named: hl.Sandbox, user: hl.Client) -> None:
    groups: tuple[Any, ...] = (user.field_computers, user.prescription_maps, user.field_hubs, user.job_data)
    for group in groups:
        for item in list(group.list())[:8]:
            assert item["uri"].startswith("http")
            try:
                expected = group.get(item["id"])
            except hl.HeadlandError as error:
                # The service returns no detail of a legacy device, at its address either.
                with pytest.raises(type(error)):
                    user.get_uri(item["uri"])
                continue
            before = len(named.requests)
            assert user.get_uri(item["uri"]) == expected
            (request,) = named.requests[before:]
            assert request.status == 200


def test_every_available_file_can_be_fetched(user: hl.Client, named: hl.Sandbox) -> None:
    small = sorted(named.truth, key=lambda truth: truth["rows"])[:2]
    details: list[Any] = [user.job_data.get(truth["job_id"]) for truth in small]
    details += [user.prescription_maps.get(item["id"]) for item in list(user.prescription_maps.list())[:3]]
    fetched = 0
    for detail in details:
        for file in detail.get("available_files") or []:
            content = user.get_uri(file["uri"])
            # One format is a document, the others are archives.
            assert content[:2] == (b"<?" if file["uri"].upper().endswith("XML") else b"PK")
            fetched += 1
    assert fetched >= 4


def test_the_uri_of_an_upload_gives_the_new_record(user: hl.Client) -> None:
    job = user.job_data.upload(archive("north.jdp.zip"))
    assert user.get_uri(job["uri"])["device_file_name"] == "north.jdp.zip"
    rx = user.prescription_maps.upload(archive("north.zip"))
    assert user.get_uri(rx["uri"]) == user.prescription_maps.get(rx["id"])


def test_lists_and_reports_have_addresses_too(user: hl.Client, named: hl.Sandbox) -> None:
    hub = next(iter(user.field_hubs.list()))["id"]
    host = "https://production.invalid"
    jobs = user.get_uri(f"{host}/JobData?pageSize=7&page=1")
    assert isinstance(jobs, hl.Pages)
    assert [job["id"] for job in jobs] == [job["id"] for job in user.job_data.list(page_size=7, page=1)]
    places = user.get_uri(f"{host}/FIELDHUBS/{hub}/Locations?page=0&pagesize=5")
    assert isinstance(places, hl.LocationPages)
    assert len(places.to_geopandas()) == 5
    assert user.get_uri(f"{host}/fieldhubs/{hub}/currentlocation") == user.field_hubs.current_location(hub)
    assert user.get_uri(f"{host}/AccessKey")["access_key"] == named.credentials["access_key"]


@pytest.mark.parametrize(
    ("uri", "why"),
    [
        ("", "absolute"),
        ("/jobdata/31", "absolute"),
        ("ftp://host/jobdata/31", "scheme"),
        ("https://joe:hunter2@host/jobdata/31", "password"),
        ("https://host/jobdata/../accesskey", "contains a segment"),
        ("https://host/jobdata/%2e%2E", "contains a segment"),
        ("https://host/nothing/31", "not a path of the interface"),
        ("https://host/jobdata/31/x", "not a path of the interface"),
        ("https://host/jobdata/31?colour=red", "colour"),
        ("https://host/jobdata/31?format=PDF", "PDF"),
        ("https://host/fieldcomputers/all/locations", "does not implement"),
        ("https://host/prescriptionmaps/1/fieldcomputers/2", "cannot be read"),
        ("https://host/jobdata?pagesize=0", "1 to 1000"),
    ],
)
def test_invalid_addresses_are_errors_before_any_call(user: hl.Client, named: hl.Sandbox, uri: str, why: str) -> None:
    before = len(named.requests)
    with pytest.raises(ValueError, match=why) as caught:
        user.get_uri(uri)
    assert "hunter2" not in str(caught.value)
    with pytest.raises(TypeError, match="uri"):
        user.get_uri(31)  # type: ignore[arg-type]
    assert len(named.requests) == before


def test_the_asynchronous_client_and_the_command_line_follow_too(named: hl.Sandbox, user: hl.Client) -> None:
    uri = next(iter(user.job_data.list()))["uri"]
    assert uri is not None
    detail = user.get_uri(uri)

    async def read() -> tuple[Any, Any]:
        async with hl.AsyncClient(**named.credentials, rate_limits=()) as client:
            pages = await client.get_uri("https://host/fieldhubs?pagesize=2")
            return await client.get_uri(uri), [hub async for hub in pages]

    found, hubs = asyncio.run(read())
    assert found == detail
    assert hubs == list(user.field_hubs.list())
    (printed,) = lines(headland("call", "get_uri", uri, "--json", service=named))
    assert printed["id"] == detail["id"]
