"""The way from an access key to a layer, against the local service."""

from __future__ import annotations

import asyncio
import datetime as dt
import io
import math
import zipfile
from typing import TYPE_CHECKING

import pytest

import headland as hl

if TYPE_CHECKING:
    from pathlib import Path


def test_the_access_key_describes_itself(client: hl.Client, service: hl.Sandbox) -> None:
    key = client.access_key()
    assert key["access_key"] == service.credentials["access_key"]
    assert key["is_active"] is True
    expires = key["expiration_date_time"]
    assert expires is not None
    assert expires.tzinfo == dt.UTC


def test_lists_are_lazy_and_return_every_record_once(fresh: hl.Sandbox) -> None:
    with hl.Client(**fresh.credentials, rate_limits=()) as client:
        pages = client.job_data.list(page_size=10)
        assert fresh.requests == []
        ids = [job["id"] for job in pages]
        assert len(ids) == len(set(ids)) == len(pages)
        assert {truth["job_id"] for truth in fresh.truth} <= set(ids)


def test_len_reads_the_first_page_once_and_iteration_uses_it(fresh: hl.Sandbox) -> None:
    with hl.Client(**fresh.credentials, rate_limits=()) as client:
        pages = client.job_data.list(page_size=10)
        total = len(pages)
        assert len(fresh.requests) == 1
        assert len(pages) == total
        assert pages.first() == next(iter(pages))
        assert len(fresh.requests) == 1
        assert len(list(pages)) == total
        assert len(fresh.requests) - 1 == math.ceil(total / 10)


def test_one_page_alone(client: hl.Client) -> None:
    jobs = list(client.job_data.list(page_size=10))
    assert list(client.job_data.list(page_size=10, page=2)) == jobs[20:30]


def test_a_date_keeps_what_is_newer(client: hl.Client) -> None:
    jobs = list(client.job_data.list())
    created = sorted(job["create_date"] for job in jobs if job["create_date"] is not None)
    middle = created[len(created) // 2]
    newer = [job["id"] for job in jobs if job["create_date"] is not None and job["create_date"] >= middle]
    assert 0 < len(newer) < len(jobs)
    elsewhere = middle.astimezone(dt.timezone(dt.timedelta(hours=-6)))
    for date in (middle, elsewhere, middle.isoformat()):
        assert [job["id"] for job in client.job_data.list(date=date)] == newer
    day = middle.date()
    midnight = dt.datetime.combine(day, dt.time(), dt.UTC)
    assert list(client.job_data.list(date=day)) == list(client.job_data.list(date=midnight))


def test_details_by_text_and_by_number(client: hl.Client) -> None:
    computer = client.field_computers.list().first()
    assert computer is not None
    assert client.field_computers.get(str(computer["id"]))["id"] == computer["id"]
    job = client.job_data.list().first()
    assert job is not None
    job_id = str(job["id"])
    assert client.job_data.get(int(job_id)) == client.job_data.get(job_id)
    assert client.job_data.get(job_id)["id"] == job_id


def test_download_accepts_every_target(client: hl.Client, small_job: str, tmp_path: Path) -> None:
    content = client.job_data.download(small_job)
    assert zipfile.ZipFile(io.BytesIO(content)).testzip() is None

    in_folder = client.job_data.download(small_job, to=tmp_path)
    assert in_folder.parent == tmp_path
    assert in_folder.read_bytes() == content

    target = tmp_path / "named.zip"
    assert client.job_data.download(small_job, to=str(target)) == target
    assert target.read_bytes() == content

    opened = io.BytesIO()
    assert client.job_data.download(small_job, to=opened) is opened
    assert opened.getvalue() == content
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted((in_folder.name, "named.zip"))


def test_nothing_is_overwritten_unless_asked(client: hl.Client, small_job: str, tmp_path: Path) -> None:
    target = tmp_path / "mine.zip"
    target.write_bytes(b"mine")
    for error in (hl.ConfigurationError, FileExistsError):
        with pytest.raises(error, match="overwrite"):
            client.job_data.download(small_job, to=target)
    assert target.read_bytes() == b"mine"
    client.job_data.download(small_job, to=target, overwrite=True)
    assert target.read_bytes()[:2] == b"PK"


def test_upload_is_downloaded_unchanged(fresh: hl.Sandbox, tmp_path: Path) -> None:
    with hl.Client(**fresh.credentials, rate_limits=()) as client:
        job = min(fresh.truth, key=lambda truth: truth["rows"])["job_id"]
        content = client.job_data.download(job, format="BIN")
        path = tmp_path / "from a path.jdp.zip"
        path.write_bytes(content)
        named = io.BytesIO(content)
        named.name = "from an object.jdp.zip"
        with path.open("rb") as opened:
            for file in (content, path, str(path), named, opened):
                created = client.job_data.upload(file)
                assert created["id"] in created["uri"]
                assert client.job_data.download(created["id"], format="BIN") == content
        names = [job["name"] for job in client.job_data.list(page_size=5, page=0)]
        assert "from a path.jdp.zip" in names
        assert "from an object.jdp.zip" in names


def test_conversions_run_concurrently(fresh: hl.Sandbox) -> None:
    with hl.Client(**fresh.credentials, rate_limits=()) as client:
        jobs = [truth["job_id"] for truth in sorted(fresh.truth, key=lambda truth: truth["rows"])[:3]]
        handles = [client.job_data.request(job) for job in jobs]
        again = client.conversion(handles[0].id)
        assert again.id == handles[0].id
        assert again.wait() is again
        for handle in handles:
            assert handle.wait().ready()
            assert handle.result()[:2] == b"PK"
        assert again.result() == handles[0].result()


def test_a_conversion_that_takes_too_long_is_not_ready(small_job: str) -> None:
    with (
        hl.Sandbox(conversion_time=60, rate_limits=()) as slow,
        hl.Client(**slow.credentials, rate_limits=()) as client,
    ):
        with pytest.raises(hl.NotReady) as caught:
            client.job_data.request(small_job).wait(timeout=0.1)
        assert caught.value.endpoint is not None
        assert caught.value.retry_after is not None
        with pytest.raises(hl.NotReady):
            client.job_data.read(small_job, timeout=0.1)


def test_every_kind_of_job_has_its_true_totals(client: hl.Client, service: hl.Sandbox) -> None:
    for kind in ("Yield", "Sprayer", "Planter"):
        truth = min((job for job in service.truth if kind in job["sub_type"]), key=lambda job: job["rows"])
        layer = client.job_data.read(truth["job_id"], layer=truth["layer"])
        assert len(layer) == truth["rows"]
        assert layer.source == f"job_data.read/{truth['job_id']}/SHP"
        assert layer.crs is not None
        for column, _, expected in truth["totals"]:
            found = math.fsum(value for value in layer.values(column) if value is not None)
            assert found == pytest.approx(expected, rel=1e-6), (truth["job_name"], column)


def test_asynchronous_client_does_the_same(client: hl.Client, service: hl.Sandbox, tmp_path: Path) -> None:
    truth = min(service.truth, key=lambda truth: truth["rows"])
    job = truth["job_id"]

    async def walk() -> None:
        async with hl.AsyncClient(**service.credentials, rate_limits=()) as twin:
            assert await twin.access_key() == client.access_key()
            pages = twin.job_data.list(page_size=10)
            assert await pages.total() == len(client.job_data.list())
            assert await pages.first() == client.job_data.list().first()
            assert [record async for record in pages] == list(client.job_data.list())
            assert await twin.job_data.get(job) == client.job_data.get(job)
            content = await twin.job_data.download(job)
            assert content == client.job_data.download(job)
            assert (await twin.job_data.download(job, to=tmp_path)).read_bytes() == content
            handle = await twin.job_data.request(job)
            assert await (await handle.wait()).ready()
            assert await twin.conversion(handle.id).result() == content
            layer = await twin.job_data.read(job, layer=truth["layer"])
            assert len(layer) == truth["rows"]
            created = await twin.job_data.upload(content)
            assert (await twin.job_data.get(created["id"]))["id"] == created["id"]
            assert (await twin.budget()).remaining is None

    asyncio.run(walk())


def test_the_budget_counts_down(service: hl.Sandbox) -> None:
    with hl.Client(**service.credentials, rate_limits=[(5, 60.0)], limiter_state="memory") as client:
        before = client.budget()
        client.access_key()
        after = client.budget()
    assert (before.remaining, after.remaining) == (5, 4)
    assert [window.used for window in after.windows] == [1]
    assert after.next_call_in == 0
    assert 50 < after.reset_in <= 61


def test_used_up_budget_is_an_error_if_the_deadline_is_too_short(service: hl.Sandbox) -> None:
    timeout = hl.Timeout(call=20)
    with hl.Client(**service.credentials, rate_limits=[(1, 60.0)], limiter_state="memory", timeout=timeout) as client:
        client.access_key()
        with pytest.raises(hl.RateLimited) as caught:
            client.access_key()
    assert caught.value.retry_after is not None
    assert caught.value.retry_after > 50
