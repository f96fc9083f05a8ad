"""Both content types: equal values, and every way to select one."""

from __future__ import annotations

import asyncio
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any, Literal

import pytest
from stub_server import web

import headland as hl
from headland.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORDS: tuple[Literal["json", "xml"], ...] = ("json", "xml")
TYPES = {"json": "application/json", "xml": "text/xml"}


HIDDEN = ("uri", "available_files", "last_report_date")
"""Fields that differ between two services: addresses, whose form is a variant, and values of the clock."""


def everything(client: hl.Client) -> list[Any]:
    """Return the records of all calls without addresses: their form is a variant, their port the service's."""
    jobs = list(client.job_data.list())
    computers = list(client.field_computers.list())
    records: list[Any] = [client.access_key(), *jobs, *computers]
    records += [client.job_data.get(job["id"]) for job in jobs[:20]]
    # The service returns no detail of the middle one, a legacy device.
    records += [client.field_computers.get(computer["id"]) for computer in computers[::2]]
    records += [*client.prescription_maps.list(), *client.field_hubs.list()]
    return [{key: value for key, value in record.items() if key not in HIDDEN} for record in records]


def test_the_dicts_are_equal(service: hl.Sandbox) -> None:
    json, xml = (hl.Client(**service.credentials, rate_limits=(), accept=word) for word in WORDS)
    with json, xml:
        assert everything(json) == everything(xml)
        job = next(iter(json.job_data.list()))
        assert json.job_data.get(job["id"]) == xml.job_data.get(job["id"]), "addresses too"


def test_service_with_all_variants_returns_the_same_dicts_in_xml(service: hl.Sandbox) -> None:
    with hl.Client(**service.credentials, rate_limits=()) as client:
        expected = everything(client)
    with hl.Sandbox(rate_limits=(), variants=["wild"]) as wild:
        for word in WORDS:
            with hl.Client(**wild.credentials, rate_limits=(), accept=word) as client:
                assert everything(client) == expected, word


def test_the_asynchronous_client_reads_xml_too(service: hl.Sandbox) -> None:
    async def pull() -> list[Any]:
        async with hl.AsyncClient(**service.credentials, rate_limits=(), accept="xml") as client:
            return [job async for job in client.job_data.list()]

    with hl.Client(**service.credentials, rate_limits=()) as client:
        assert asyncio.run(pull()) == list(client.job_data.list())


def test_rejection_in_xml_is_the_same_error(service: hl.Sandbox) -> None:
    messages = []
    for word in WORDS:
        with (
            hl.Client(**service.credentials, rate_limits=(), accept=word) as client,
            pytest.raises(hl.NotFound) as caught,
        ):
            client.job_data.get("0")
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize(
    ("wrong", "error"), [("yaml", ValueError), ("XML", ValueError), ("", ValueError), (1, TypeError)]
)
def test_wrong_content_types_are_errors(service: hl.Sandbox, wrong: Any, error: type[Exception]) -> None:
    for make in (hl.Client, hl.AsyncClient):
        with pytest.raises(error, match="accept"):
            make(**service.credentials, accept=wrong)


class Listener(HTTPServer):
    """A service that replies to every call with one access key, and records `Accept`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.accepted: list[str] = []


class Answer(BaseHTTPRequestHandler):
    """Its reply."""

    server: Listener

    def do_GET(self) -> None:
        self.server.accepted.append(self.headers["Accept"])
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"AccessKey": "k", "ID": 1}')

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch) -> Iterator[Listener]:
    """Yield the listener, with its address and keys in the environment."""
    with Listener() as listener:
        thread = threading.Thread(target=listener.serve_forever)
        thread.start()
        keys = {"base_url": f"http://127.0.0.1:{listener.server_port}", "api_key": "a", "access_key": "b"}
        for name, value in {**keys, "shared_secret": "AAEC", "rate_limits": ""}.items():
            monkeypatch.setenv(f"HEADLAND_{name.upper()}", value)
        yield listener
        listener.shutdown()
        thread.join()


def test_every_way_to_choose(listener: Listener, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with hl.Client.from_env() as client:
        client.access_key()
    assert main(["call", "access_key"]) == 0
    assert main(["call", "--accept", "xml", "access_key"]) == 0
    assert main(["call", "access_key", "--accept", "xml"]) == 0
    monkeypatch.setenv("HEADLAND_ACCEPT", "xml")
    with hl.Client.from_env() as client:
        client.access_key()
    assert main(["call", "access_key"]) == 0
    assert main(["call", "access_key", "--accept", "json"]) == 0
    profiles = tmp_path / "profiles.toml"
    address = f"http://127.0.0.1:{listener.server_port}"
    keys = f'base_url = "{address}"\napi_key = "a"\naccess_key = "b"\nshared_secret = "AAEC"\nrate_limits = ""\n'
    profiles.write_text(f'[default]\n{keys}accept = "xml"\n')
    profiles.chmod(0o600)
    with hl.Client.from_profile(path=profiles) as client:
        client.access_key()
    expected = ["json", "json", "xml", "xml", "xml", "xml", "json", "xml"]
    assert listener.accepted == [TYPES[word] for word in expected]


def test_wrong_content_type_on_the_command_line_is_a_wrong_argument(
    listener: Listener, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["call", "access_key", "--accept", "yaml"]) == 2
    assert "'json' or 'xml'" in capsys.readouterr().err
    assert listener.accepted == []


@pytest.mark.parametrize("text", ["7", "7.0", "7.000", "7e0", "-0.0", "7.5", "seven", "1e300", "nan", "inf"])
def test_whole_numbers_with_decimals_are_equal_in_both(text: str) -> None:
    def answer(request: BaseHTTPRequestHandler) -> tuple[int, dict[str, str], bytes]:
        word = "xml" if "xml" in request.headers["Accept"] else "json"
        number = text if text[0] in "-7" or text[0] == "1" else f'"{text}"'
        body = {
            "json": f'{{"TotalCount":1,"IsNextPage":false,"DeviceLocation":[{{"ID":"5","Alt":{number}}}]}}',
            "xml": "<ServiceIndex><TotalCount>1</TotalCount><IsNextPage>false</IsNextPage>"
            f"<DeviceLocation><ID>5</ID><Alt>{text}</Alt></DeviceLocation></ServiceIndex>",
        }
        return 200, {"Content-Type": TYPES[word]}, body[word].encode()

    keys: dict[str, Any] = {"api_key": "a-key", "shared_secret": "AAEC", "access_key": "b-key"}
    seen = []
    with web(answer) as host:
        for word in WORDS:
            with hl.Client(base_url=f"http://{host}", **keys, rate_limits=(), accept=word) as client:
                try:
                    [record] = client.field_hubs.locations("7")
                    seen.append(record["alt"])
                except hl.DecodeError as error:
                    seen.append(error.field is not None)
    assert seen[0] == seen[1], seen
    if text[0] == "7" and text != "7.5":
        assert seen == [7, 7]
