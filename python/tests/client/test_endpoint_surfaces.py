"""Every endpoint of the specification's tables (4.2, 4.6) in every interface: both clients, the local service, the
command line, the OpenAPI document, the reference pages."""

from __future__ import annotations

import asyncio
import inspect
import io
import json
import os
import re
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from checkout import DOCS, SPECIFICATION
from client_methods import methods
from doc_examples import shapefile
from test_other_clients import headers

import headland as hl
from headland import _core
from headland.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

PAGES = DOCS / "reference"

WITHOUT_METHOD = {("GET", "/fieldcomputers/all/locations")}
"""Not implemented by the service, as the specification states: the local service reports that, and the client has no
method."""


class Endpoint(NamedTuple):
    """A method and a path of the specification, and its service."""

    service: str
    method: str
    path: str

    def is_asked(self, method: str, path: str) -> bool:
        """Whether a request is for this endpoint; a fixed part of a path is never an id."""
        below = {"field data": "", "dispatch": "/dispatch", "legacy": "/legacy-(dispatch|orders)"}[self.service]
        pattern = re.sub(r"\\{\w+\\}", r"(?!all(/|$))[^/]+", re.escape(self.path))
        return method == self.method and re.fullmatch(below + pattern, path, re.IGNORECASE) is not None


def section(text: str, number: str) -> str:
    found = re.search(rf"^#+ {re.escape(number)} .*?(?=^#{{2,3}} |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"the specification has no section {number}"
    return found[0]


def rows(table: str) -> Iterator[list[str]]:
    for line in table.splitlines():
        if line.startswith("|"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def stated(text: str) -> Iterator[Endpoint]:
    """Read table 4.2, table 4.6 with several paths in a cell, and the sentence on the legacy order service."""
    for method, path, *_ in rows(section(text, "4.2")):
        if path.startswith("/"):
            yield Endpoint("field data", method, path)
    for _, method, paths in rows(section(text, "4.6")):
        for path in paths.split(", "):
            if path.startswith("/"):
                yield Endpoint("dispatch", method, path)
    (sentence,) = re.findall(r"The legacy order service equivalents.*", section(text, "4.6"))
    for several, path in re.findall(r"([A-Z]+(?: and [A-Z]+)*) (/[\w/{}]+)", sentence):
        for method in several.split(" and "):
            yield Endpoint("legacy", method, path)


def in_document() -> Iterator[Endpoint]:
    """Read the table of this package from its OpenAPI document."""
    for path, item in json.loads(_core.openapi())["paths"].items():
        for method in item.keys() - {"servers"}:
            tag = item[method]["tags"][0].partition(".")[0]
            service = {"dispatch": "dispatch", "legacy_orders": "legacy"}.get(tag, "field data")
            yield Endpoint(service, method.upper(), path)


ENDPOINTS = sorted(stated(SPECIFICATION.read_text(encoding="utf-8")) if SPECIFICATION.is_file() else in_document())
"""Without the specification, which is not part of this package, the interfaces are compared with the package's own
table."""


def known(endpoints: Iterable[Endpoint]) -> set[tuple[str, str, str]]:
    """Return endpoints in comparable form: letter case does not distinguish paths."""
    return {(each.service, each.method, each.path.lower()) for each in endpoints}


def reached(service: hl.Sandbox, since: int) -> set[tuple[str, str, str]]:
    """Return the endpoints of the requests."""
    asked = {(request.method, request.path) for request in service.requests[since:]}
    return known(each for each in ENDPOINTS for request in asked if each.is_asked(*request))


def with_method() -> set[tuple[str, str, str]]:
    return known(each for each in ENDPOINTS if (each.method, each.path) not in WITHOUT_METHOD)


def archive(name: str) -> io.BytesIO:
    if "grain" not in name:
        return shapefile("a.jdp.zip")
    file = io.BytesIO(b"GrcVersion,1.6,\r\n")
    file.name = "a.grc"
    return file


def arguments(name: str, method: Any) -> dict[str, Any]:
    """Return the required arguments of a call."""
    given: dict[str, Any] = {"file": archive(name), "body": {"id": "1"}}
    needed = [each.name for each in inspect.signature(method).parameters.values() if each.default is each.empty]
    return {parameter: given.get(parameter, "1") for parameter in needed}


def test_the_specification_is_at_hand() -> None:
    if not SPECIFICATION.is_file():
        missing = f"no specification at {SPECIFICATION}: set HEADLAND_SPEC; the surfaces were held to the table alone"
        # With `HEADLAND_SPEC`, a missing text is a failure; a bare clone cannot have it.
        assert "HEADLAND_SPEC" not in os.environ, missing
        assert "CI" not in os.environ, missing
        pytest.skip(missing)
    assert {each.service for each in ENDPOINTS} == {"field data", "dispatch", "legacy"}
    counts = [sum(each.service == service for each in ENDPOINTS) for service in ("field data", "dispatch", "legacy")]
    assert counts == [26, 15, 11], "the tables were not read as they are written"
    assert len(known(ENDPOINTS)) == len(ENDPOINTS)


def test_the_openapi_document_has_every_endpoint() -> None:
    assert known(in_document()) == known(ENDPOINTS)


def calls(client: Any) -> Iterator[tuple[str, Any]]:
    """Return the methods that send requests."""
    yield from ((name, method) for name, method in methods(client) if name in _core.rows())


def test_the_client_has_a_method_for_every_endpoint(service: hl.Sandbox) -> None:
    since = len(service.requests)
    with hl.Client(**service.credentials, rate_limits=()) as client:
        for name, method in calls(client):
            try:
                outcome = method(**arguments(name, method))
                if isinstance(outcome, hl.Pages):
                    outcome.first()
            except hl.HeadlandError as refused:
                # There is no such record, but there is a reply: only the endpoint of the request is checked.
                assert refused.status is not None, refused  # noqa: PT017
    assert with_method() - reached(service, since) == set()


def test_the_asynchronous_client_has_a_method_for_every_endpoint(service: hl.Sandbox) -> None:
    since = len(service.requests)

    async def walk() -> None:
        async with hl.AsyncClient(**service.credentials, rate_limits=()) as client:
            for name, method in calls(client):
                try:
                    outcome = method(**arguments(name, method))
                    if isinstance(outcome, hl.AsyncPages):
                        await outcome.first()
                    else:
                        await outcome
                except hl.HeadlandError as refused:
                    assert refused.status is not None, refused  # noqa: PT017

    asyncio.run(walk())
    assert with_method() - reached(service, since) == set()


def test_the_command_line_reaches_every_endpoint(
    service: hl.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {**service.credentials, "rate_limits": "", "limiter_state": "memory"}.items():
        monkeypatch.setenv(f"HEADLAND_{name.upper()}", str(value))
    since = len(service.requests)
    with hl.Client(**service.credentials, rate_limits=()) as client:
        named = dict(calls(client))
    assert set(named) == set(_core.rows())
    for name, method in named.items():
        words = ["call", name]
        for parameter, value in arguments(name, method).items():
            if parameter == "file":
                (tmp_path / value.name).write_bytes(value.getvalue())
                words.append(str(tmp_path / value.name))
            else:
                words.append(json.dumps(value) if isinstance(value, dict) else value)
        code = main(words)
        said = capsys.readouterr()
        assert code in (0, 4, 5), f"{words}: {said.err}"
    assert with_method() - reached(service, since) == set()


def test_the_local_service_answers_at_every_endpoint(service: hl.Sandbox) -> None:
    keys = {name: str(value) for name, value in service.credentials.items()}
    addresses = {
        "field data": [keys["base_url"]],
        "dispatch": [keys["dispatch_url"]],
        "legacy": [keys["legacy_dispatch_url"], keys["legacy_orders_url"]],
    }
    for endpoint in ENDPOINTS:
        for address in addresses[endpoint.service]:
            url = address + re.sub(r"\{\w+\}", "1", endpoint.path)
            signed = headers(endpoint.method, url, keys)
            bearer = {"Authorization": f"Bearer {keys['dispatch_token']}", "Content-Type": "application/json"}
            body = b'{"id": "1"}' if endpoint.method in ("POST", "PUT") else None
            sent = signed if endpoint.service == "field data" else bearer
            request = urllib.request.Request(url, body, sent, method=endpoint.method)
            try:
                with urllib.request.urlopen(request, timeout=10) as reply:
                    status, said = reply.status, reply.read().decode()
            except urllib.error.HTTPError as refused:
                with refused:
                    status, said = refused.code, refused.read().decode()
            assert "There is nothing at" not in said, endpoint
            assert "does not imitate" not in said, endpoint
            assert status != 405, endpoint
            assert (status == 501) == ((endpoint.method, endpoint.path) in WITHOUT_METHOD), (endpoint, said)


def test_a_reference_page_describes_every_endpoint() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in sorted(PAGES.glob("*.md"))).lower()
    # A path continues with a slash, a letter or a brace; any other character ends it.
    missing = [
        f"{each.method} {each.path}"
        for each in ENDPOINTS
        if not re.search(re.escape(f"{each.method} {each.path}".lower()) + r"(?![\w/{])", text)
    ]
    assert missing == []
