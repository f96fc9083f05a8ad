"""A service that sends our secrets back: no output, file or publication contains them."""

from __future__ import annotations

import asyncio
import base64
import json
import warnings
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from stub_server import web
from test_secrets import everything_of

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path

SECRETS = {
    "shared_secret": base64.b64encode(b"it is known to two of us alone").decode(),
    "api_key": "api-key-that-is-sent-back",
    "access_key": "access-key-that-is-sent-back",
    "dispatch_token": "dispatch-token-that-is-sent-back",
    "legacy_token": "legacy-token-that-is-sent-back",
}
KINDS = {
    "jobdata": "JobData",
    "graincart": "GrainCart",
    "fieldcomputers": "FieldComputer",
    "prescriptionmaps": "PrescriptionMap",
    "fieldhubs": "FieldHub",
}


def _answer(path: str, query: str, echo: str) -> Any:
    """Return a record, a list or a failed conversion that repeats a secret in every text."""
    parts = path.strip("/").lower().split("/")
    if query and "format=" in query:
        return {"status": "CONVERSION_STATUS_FAILED", "errorInfo": f"No {echo} here.", "result": echo}
    if parts[0] == "api":
        return [{"id": echo, "name": [echo]}]
    if "currentlocation" in parts or "locations" in parts:
        kind, item = "DeviceLocation", {"ID": "9", "DeviceId": "7", "SubType": echo, "Lat": 45.5, "Lon": 7.5}
    elif parts == ["fieldhubs", "all"]:
        kind, item = "FieldHubDetail", {"ID": "7", "Name": echo, "Report": {"ID": "9", "Carrier": echo}}
    elif len(parts) == 1:
        kind, item = KINDS[parts[0]], {"ID": "7", "Name": echo, "SubType": echo, "CreateDate": "2026-09-01T12:00:00Z"}
    else:
        return {
            "ID": "7",
            "Status": echo,
            "DeviceFileName": echo,
            "Name": echo,
            "New": {"Text": [echo], echo: 1},
            "Note": echo,
        }
    return {"TotalCount": 1, "IsNextPage": False, "PageIndex": 0, "TotalPages": 1, "Note": echo, kind: [item]}


@pytest.fixture(params=[*SECRETS, "link"])
def echo(request: pytest.FixtureRequest) -> str:
    """Return a secret, or a link that contains one."""
    link = f"https://fields.example/V1/jobdata/7?accesskey={SECRETS['access_key']}&page=0"
    return SECRETS.get(request.param, link)


@pytest.fixture
def address(echo: str) -> Iterator[str]:
    def answer(request: BaseHTTPRequestHandler) -> tuple[int, dict[str, str], bytes]:
        path, _, query = request.path.partition("?")
        if path.startswith("/refused"):
            return 400, {"Content-Type": "text/plain"}, f"The key {echo} is wrong.".encode()
        body = _answer(path, query, echo)
        return 200, {"Content-Type": "application/json", "X-Echo": echo}, json.dumps(body).encode()

    with web(answer) as host:
        yield f"http://{host}"


def _keys(address: str, **other: Any) -> dict[str, Any]:
    services = {"dispatch_url": address, "legacy_orders_url": address}
    return {"base_url": address, **services, **SECRETS, "rate_limits": (), **other}


def assert_hidden(text: str | bytes) -> None:
    found = text if isinstance(text, str) else text.decode("latin-1")
    assert [name for name, secret in SECRETS.items() if secret in found] == []


def test_no_exception_and_no_warning_shows_secrets(address: str) -> None:
    client = hl.Client(**_keys(address))
    refused = hl.Client(**_keys(f"{address}/refused"))
    for cls, call in (
        (hl.ConversionFailed, lambda: client.job_data.download("7")),
        (hl.ConversionFailed, lambda: client.job_data.read("7")),
        (hl.ConversionFailed, lambda: client.job_data.request("7")),
        (hl.InvalidRequest, lambda: refused.job_data.get("7")),
        (hl.InvalidRequest, lambda: refused.dispatch.products.list().first()),
        (hl.InvalidRequest, lambda: list(refused.job_data.list())),
    ):
        with pytest.raises(cls) as caught:
            call()
        assert_hidden(everything_of(caught.value))

    async def read() -> Any:
        async with hl.AsyncClient(**_keys(address)) as twin:
            return [row async for row in twin.job_data.list()], await twin.job_data.get("7")

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        records = [
            client.job_data.get("7"),
            list(client.job_data.list()),
            client.job_data.list().to_arrow().to_pylist(),
            client.job_data.products("7").to_arrow().to_pylist(),
            client.field_hubs.current_location("7"),
            list(client.dispatch.products.list()),
            asyncio.run(read()),
        ]
    assert_hidden(repr(records))
    texts = [str(each.message) for each in warned]
    assert_hidden("".join(texts))
    assert any("job_data.get repeats the " in text and "`Status` and 5 other fields" in text for text in texts), texts
    assert any("job_data.list repeats the " in text and "in `Note` and 2 other" in text for text in texts), texts


def test_no_mirror_keeps_or_publishes_secrets(address: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hl.HeadlandWarning)
        mirror = hl.Mirror(tmp_path / "farm", hl.Client(**_keys(address)))
        outcome = mirror.sync(progress=False)
    status = mirror.status()
    assert status.jobs == {"failed": 1}
    assert status.unavailable[0].reason.endswith("here.")
    assert_hidden(repr(status) + str(status) + repr(status.to_dict()) + repr(outcome))
    tables = 0
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert_hidden(str(path))
            assert_hidden(path.read_bytes())
            if path.suffix == ".parquet":
                tables += 1
                assert_hidden(repr(pq.read_table(path).to_pylist()))
    assert (tmp_path / "farm" / "journal.sqlite").is_file()
    assert tables >= 5, "the catalog is published"
