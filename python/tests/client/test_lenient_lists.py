"""Unreadable values: with `on_error`, one of them loses neither a list nor a sync."""

from __future__ import annotations

import asyncio
import inspect
import json
import warnings
from typing import TYPE_CHECKING, Any

import pytest
from stub_server import web

import headland as hl
from headland import groups
from headland.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path

PATH = r"ServiceIndex\.JobData\[1\]\.CreateDate"
JOBS = [
    {"ID": "1", "Name": "North", "SubType": "Yield", "CreateDate": "2026-09-01T12:00:00Z"},
    {"ID": "2", "Name": "South", "SubType": "Yield", "CreateDate": "soon"},
    {"ID": "3", "Name": "West", "SubType": "Yield", "CreateDate": "2026-09-03T12:00:00Z"},
]


def _answer(request: BaseHTTPRequestHandler) -> tuple[int, dict[str, str], bytes]:
    path, _, query = request.path.partition("?")
    body: dict[str, Any] = {"TotalCount": 0, "IsNextPage": False}
    if "format=" in query:
        body = {"status": "NO_COVERAGE", "errorInfo": "No coverage available.", "result": "nil"}
    elif path == "/jobdata":
        body = {"TotalCount": 3, "IsNextPage": False, "JobData": JOBS}
    elif path.startswith("/jobdata/"):
        body = {"ID": path.rpartition("/")[2], "DeviceFileName": "x"}
    elif path.endswith("/locations"):
        place = {"ID": "5", "DeviceId": "7", "Lat": "north", "Lon": 7.5}
        body = {"TotalCount": 1, "IsNextPage": False, "DeviceLocation": [place]}
    return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()


@pytest.fixture
def keys() -> Iterator[dict[str, Any]]:
    with web(_answer) as host:
        yield {"base_url": f"http://{host}", "api_key": "a-key", "shared_secret": "AAEC", "access_key": "b-key"}


@pytest.fixture
def client(keys: dict[str, Any]) -> hl.Client:
    return hl.Client(**keys, rate_limits=())


def test_a_list_is_an_error_that_names_the_field(client: hl.Client) -> None:
    for pages in (client.job_data.list(), client.job_data.list(on_error="raise")):
        with pytest.raises(hl.DecodeError) as caught:
            list(pages)
        assert caught.value.field == "ServiceIndex.JobData[1].CreateDate"


def test_a_list_keeps_its_records(client: hl.Client) -> None:
    with pytest.warns(hl.HeadlandWarning, match=PATH):
        records = list(client.job_data.list(on_error="null"))
    assert [record["id"] for record in records] == ["1", "2", "3"]
    assert records[1]["create_date"] is None
    assert records[1]["name"] == "South"
    assert records[2]["create_date"] is not None
    with pytest.warns(hl.HeadlandWarning, match=PATH):
        assert client.job_data.list(on_error="null").first() == records[0]
    assert len(client.job_data.list(on_error="null")) == 3


def test_tables_have_null_for_the_unreadable_value(client: hl.Client) -> None:
    import pyarrow as pa

    reads: list[Callable[[hl.Pages[Any]], Any]] = [
        lambda pages: pages.to_arrow(),
        lambda pages: pa.RecordBatchReader.from_stream(pages).read_all(),
        lambda pages: pa.table(pages.to_pandas()),
    ]
    for read in reads:
        with pytest.warns(hl.HeadlandWarning, match=PATH):
            table = read(client.job_data.list(on_error="null"))
        assert table["id"].to_pylist() == ["1", "2", "3"]
        assert table["create_date"].null_count == 1
    with pytest.warns(hl.HeadlandWarning, match=r"DeviceLocation\[0\]\.Lat"):
        assert client.field_hubs.locations("7", on_error="null").to_arrow()["lat"].to_pylist() == [None]


def test_the_async_client_reads_the_same(keys: dict[str, Any]) -> None:
    async def read() -> tuple[list[Any], Any]:
        async with hl.AsyncClient(**keys, rate_limits=()) as client:
            records = [record async for record in client.job_data.list(on_error="null")]
            return records, await client.job_data.list(on_error="null").to_arrow()

    with pytest.warns(hl.HeadlandWarning, match=PATH):
        records, table = asyncio.run(read())
    assert records[1]["create_date"] is None
    assert table["create_date"].null_count == 1


def test_every_list_accepts_on_error_and_rejects_other_values(client: hl.Client) -> None:
    lists = 0
    for name in groups.__all__:
        for _, method in inspect.getmembers(getattr(groups, name), inspect.isfunction):
            if method.__name__ == "read_all":  # its `on_error` is about jobs
                continue
            parameters = inspect.signature(method).parameters
            is_typed = "page_size" in parameters and "dict[str, Any]" not in str(
                inspect.signature(method).return_annotation
            )
            assert ("on_error" in parameters) == is_typed, f"{name}.{method.__name__}"
            lists += is_typed
    assert lists >= 20
    for wrong, error in (("skip", ValueError), (None, TypeError), (7, TypeError)):
        with pytest.raises(error, match="on_error"):
            client.job_data.list(on_error=wrong)  # type: ignore[arg-type]
        with pytest.raises(error, match="on_error"):
            hl.Mirror("farm", client, on_error=wrong)  # type: ignore[arg-type]


def test_command_line_passes_on_error(
    keys: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, value in {**keys, "rate_limits": ""}.items():
        monkeypatch.setenv(f"HEADLAND_{name.upper()}", value)
    assert main(["call", "job_data.list"]) == 11
    with pytest.warns(hl.HeadlandWarning, match=PATH):
        assert main(["call", "job_data.list", "--on-error", "null"]) == 0
    out = capfd.readouterr().out.splitlines()
    assert [json.loads(line)["create_date"] for line in out][1] is None


def test_sync_continues_and_records_the_path(client: hl.Client, tmp_path: Path) -> None:
    with pytest.raises(hl.DecodeError):
        hl.Mirror(tmp_path / "strict", client, on_error="raise").sync(progress=False)
    mirror = hl.Mirror(tmp_path / "farm", client)
    with warnings.catch_warnings():
        warnings.simplefilter("error", hl.HeadlandWarning)
        outcome = mirror.sync(progress=False)
    assert outcome.new == 3
    assert any("ServiceIndex.JobData[1].CreateDate" in note for note in outcome.notes), outcome.notes
    assert mirror.status().jobs == {"no coverage": 3}
    again = hl.Mirror(tmp_path / "farm", client, relist="0s").sync(progress=False)
    assert (again.new, again.changed, again.gone) == (0, 0, 0)
