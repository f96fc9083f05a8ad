"""Wrong credentials, clocks, replies and files: each is an error of its class, or is recovered from."""

from __future__ import annotations

import base64
import io
import warnings
from typing import TYPE_CHECKING, Any

import pytest

import headland as hl

if TYPE_CHECKING:
    from pathlib import Path

OTHER_SECRET = base64.b64encode(bytes(range(32))).decode()


def keys(service: hl.Sandbox, **other: str) -> dict[str, Any]:
    return {**service.credentials, "rate_limits": (), **other}


def test_a_wrong_secret(service: hl.Sandbox) -> None:
    with (
        hl.Client(**keys(service, shared_secret=OTHER_SECRET)) as client,
        pytest.raises(hl.AuthenticationError) as caught,
    ):
        client.access_key()
    assert caught.value.status == 401
    assert caught.value.check is not None
    assert "signature" in caught.value.check.lower()
    assert caught.value.endpoint == "access_key"


def test_a_wrong_api_key(service: hl.Sandbox) -> None:
    with hl.Client(**keys(service, api_key="unknown")) as client, pytest.raises(hl.AuthenticationError) as caught:
        list(client.job_data.list())
    assert caught.value.check is not None
    assert "key" in caught.value.check.lower()


def test_a_revoked_access_key(service: hl.Sandbox) -> None:
    with hl.Client(**keys(service, access_key=service.revoked_access_key)) as client:
        with pytest.raises((hl.AuthenticationError, hl.PermissionDenied)) as caught:
            list(client.job_data.list())
        assert caught.value.status in (401, 403)
        assert client.access_key()["is_active"] is False


def test_the_record_of_another_customer_is_not_found(service: hl.Sandbox, client: hl.Client, small_job: str) -> None:
    with hl.Client(**keys(service, access_key=service.other_access_key)) as other:
        assert small_job not in [job["id"] for job in other.job_data.list()]
        with pytest.raises((hl.NotFound, hl.PermissionDenied)):
            other.job_data.get(small_job)
    assert client.job_data.get(small_job)["id"] == small_job


def test_clock_off_by_an_hour_is_corrected_with_one_warning(fresh: hl.Sandbox) -> None:
    fresh.advance(3600)
    with hl.Client(**keys(fresh)) as client, warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert client.access_key()["is_active"]
        assert client.access_key()["is_active"]
        assert client.job_data.list().first() is not None
    warned = [warning for warning in seen if warning.category is hl.HeadlandWarning]
    assert len(warned) == 1
    assert "3600" in str(warned[0].message) or "3599" in str(warned[0].message)
    assert warned[0].filename == __file__


def test_wrong_clock_without_a_date_header_is_an_error(fresh: hl.Sandbox) -> None:
    fresh.advance(3600)
    fresh.faults.add(endpoint="*", kind="no-date", times=10)
    with hl.Client(**keys(fresh)) as client, pytest.raises(hl.AuthenticationError, match=r"`Date`|clock"):
        client.access_key()


def test_closed_port_is_a_transport_error() -> None:
    with hl.Sandbox.demo() as closed:
        credentials = closed.credentials
    timeout = hl.Timeout(connect=1, read=1, call=1)
    with hl.Client(**credentials, rate_limits=(), timeout=timeout) as client:
        with pytest.raises(hl.TransportError) as caught:
            client.access_key()
        assert caught.value.attempts is not None
        assert caught.value.attempts >= 1


def test_a_zip_that_is_a_web_page_is_never_saved(fresh: hl.Sandbox, tmp_path: Path) -> None:
    job = fresh.truth[0]["job_id"]
    with hl.Client(**keys(fresh), timeout=hl.Timeout(call=2)) as client:
        for attempt in (lambda: client.job_data.download(job, to=tmp_path), lambda: client.job_data.read(job)):
            fresh.faults.add(endpoint="*", kind="web-page", times=50)
            with pytest.raises(hl.DecodeError):
                attempt()
            fresh.faults.clear()
    assert list(tmp_path.iterdir()) == []


def test_reading_a_web_page(tmp_path: Path) -> None:
    page = tmp_path / "job.zip"
    page.write_bytes(b"<!doctype html><html><body>Please log in</body></html>")
    for source in (page, page.read_bytes(), io.BytesIO(page.read_bytes())):
        with pytest.raises(hl.ArchiveError):
            hl.read(source)


def test_uploading_a_missing_file(client: hl.Client, tmp_path: Path) -> None:
    for error in (hl.InvalidRequest, FileNotFoundError):
        with pytest.raises(error, match=r"missing\.zip"):
            client.job_data.upload(tmp_path / "missing.zip")
    with pytest.raises(hl.InvalidRequest):
        client.job_data.upload(tmp_path)


def test_reading_a_missing_archive(tmp_path: Path) -> None:
    for error in (hl.ArchiveError, FileNotFoundError):
        with pytest.raises(error, match=r"missing\.zip"):
            hl.read(tmp_path / "missing.zip")


def test_downloading_into_a_folder_that_is_missing(client: hl.Client, small_job: str, tmp_path: Path) -> None:
    for error in (hl.HeadlandError, OSError):
        with pytest.raises(error, match="nowhere"):
            client.job_data.download(small_job, to=tmp_path / "nowhere" / "job.zip")


def test_jobs_without_coverage_or_conversion_have_their_errors(client: hl.Client, service: hl.Sandbox) -> None:
    known = {truth["job_id"] for truth in service.truth}
    seen = set()
    for job_id in {str(job["id"]) for job in client.job_data.list()} - known:
        with pytest.raises((hl.NoCoverage, hl.ConversionFailed)) as caught:
            client.job_data.read(job_id)
        assert caught.value.id == job_id
        assert f" of {job_id}, HTTP" in str(caught.value)
        seen.add(type(caught.value))
    assert seen == {hl.NoCoverage, hl.ConversionFailed}


@pytest.mark.parametrize("kind", ["503", "429", "reset", "truncated"])
def test_transient_failures_are_retried(fresh: hl.Sandbox, kind: str) -> None:
    fresh.faults.add(endpoint="access_key", kind=kind)
    with hl.Client(**keys(fresh)) as client:
        assert client.access_key()["is_active"]
    assert len(fresh.requests) == 2


def test_a_lost_reply_to_an_upload_is_settled_without_a_second_upload(fresh: hl.Sandbox) -> None:
    with hl.Client(**keys(fresh)) as client:
        content = io.BytesIO(client.job_data.download(fresh.truth[0]["job_id"], format="BIN"))
        content.name = "only once.jdp.zip"
        fresh.faults.add(endpoint="job_data.upload", kind="lost-reply")
        created = client.job_data.upload(content)
        names = [job["name"] for job in client.job_data.list() if job["id"] == created["id"]]
    assert names == ["only once.jdp.zip"]
    assert len([request for request in fresh.requests if request.method == "POST"]) == 1
