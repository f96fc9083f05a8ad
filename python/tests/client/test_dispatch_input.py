"""Input of dispatch calls: payloads as JSON, tokens that are never shown."""

from __future__ import annotations

import asyncio
import datetime as dt
import enum
import functools
import http.server
import json
import logging
import pickle
import threading
import traceback
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import headland as hl
from headland import arguments

if TYPE_CHECKING:
    from collections.abc import Callable


def payload(body: object) -> str:
    return arguments.texts("dispatch.field_operations.create", {"body": body})["body"]


class Crop(enum.StrEnum):
    CORN = "corn"


def test_a_payload_is_sent_as_it_is() -> None:
    offset = dt.timezone(dt.timedelta(hours=2))
    body: MappingProxyType[str, object] = MappingProxyType(
        {
            "z": 1,
            "a": 0.1 + 0.2,
            "big": 2**53 + 1,
            "nothing": None,
            "yes": True,
            "crop": Crop.CORN,
            "words": ["Grün", "\N{TRACTOR}", ("x",)],
            "day": dt.date(2026, 5, 1),
            "at": dt.datetime(2026, 5, 1, 8, 0, 0, 250_000, tzinfo=dt.UTC),
            "there": dt.datetime(2026, 5, 1, 8, tzinfo=offset),
            "Seed lot": {"b": {}, "a": []},
        }
    )
    assert payload(body) == (
        '{"z":1,"a":0.30000000000000004,"big":9007199254740993,"nothing":null,"yes":true,"crop":"corn",'
        '"words":["Grün","🚜",["x"]],"day":"2026-05-01","at":"2026-05-01T08:00:00.250000Z",'
        '"there":"2026-05-01T08:00:00+02:00","Seed lot":{"b":{},"a":[]}}'
    )


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=20,
    )
)
def test_every_value_of_json_arrives_unchanged(value: object) -> None:
    assert json.loads(payload({"value": value})) == {"value": value}


@pytest.mark.parametrize(
    ("error", "body", "message"),
    [
        (TypeError, {"mix": {"products": [{"rate": 1}, {"rate": 1j}]}}, r"`body.mix.products\[1\].rate` is a complex"),
        (TypeError, {"tags": {"a"}}, "`body.tags` is a set"),
        (TypeError, {"raw": b"x"}, "`body.raw` is a bytes"),
        (TypeError, {"at": dt.time(8)}, "`body.at` is a time"),
        (TypeError, {"a": {7: 1}}, "`body.a` has the key 7"),
        (ValueError, {"a": [float("inf")]}, r"`body.a\[0\]` is inf"),
        (ValueError, {"a": "\ud83d"}, "`body.a` contains an unpaired surrogate"),
        (ValueError, {"a": dt.datetime(2026, 5, 1)}, "`body.a` is a datetime without a time zone"),  # noqa: DTZ001
    ],
)
def test_value_without_json_form_is_an_error_with_its_path(
    error: type[Exception], body: dict[str, Any], message: str
) -> None:
    with pytest.raises(error, match=message):
        payload(body)


def test_recursive_payload_is_an_error() -> None:
    body: dict[str, Any] = {}
    body["body"] = [body]
    with pytest.raises(ValueError, match="nested deeper than 100"):
        payload(body)


def test_exactly_these_bytes_are_sent_and_no_key() -> None:
    seen: list[tuple[str, dict[str, str], bytes]] = []

    class Echo(http.server.BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            length = int(self.headers["Content-Length"])
            seen.append((self.path, {k.lower(): v for k, v in self.headers.items()}, self.rfile.read(length)))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Echo)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        settings: dict[str, Any] = {
            "base_url": "https://fields.example",
            "api_key": "api-key-of-a-partner",
            "access_key": "access-key-x",
        }
        address = f"http://127.0.0.1:{server.server_port}/below/"
        with hl.Client(**settings, shared_secret="AAEC", dispatch_url=address, dispatch_token="a-token") as client:
            assert client.dispatch.field_operations.set_target("a b", {"z": 1, "a": 0.1}) is None
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    ((path, headers, body),) = seen
    assert (path, body) == ("/below/api/fieldoperations/a%20b/target", b'{"z":1,"a":0.1}')
    assert headers["authorization"] == "Bearer a-token"
    assert headers["content-type"] == headers["accept"] == "application/json"
    assert not any(name.startswith("x-ss") or value in settings.values() for name, value in headers.items())


TOKEN = "token-that-is-never-printed"


def hidden(text: str) -> None:
    assert TOKEN not in text


class _Tokens:
    """Holds the token where a traceback with local variables does not look."""

    def __init__(self, *given: object) -> None:
        self.given = given or (TOKEN,)

    def __repr__(self) -> str:
        return "<tokens>"

    def client(self, service: hl.Sandbox, cls: type[Any] = hl.Client) -> Any:
        return cls(**{**service.credentials, "dispatch_token": self.given[0], "legacy_token": self.given[-1]})


def everything_of(error: BaseException) -> str:
    formatted = traceback.TracebackException.from_exception(error, capture_locals=True)
    return "".join(formatted.format()) + repr(error) + repr(error.args) + repr(vars(error))


@pytest.mark.parametrize("source", [TOKEN, lambda: TOKEN, functools.partial(str, TOKEN), TOKEN.encode])
def test_token_is_never_shown(service: hl.Sandbox, source: object, caplog: pytest.LogCaptureFixture) -> None:
    holder = _Tokens(source)
    del source
    client = holder.client(service)
    caplog.set_level(logging.DEBUG)
    hidden(repr(client) + repr(vars(client)) + repr(client.dispatch) + repr(client._calls._tokens["dispatch"]))
    with pytest.raises(TypeError):
        pickle.dumps(client)
    calls: tuple[Callable[[], object], ...] = (
        lambda: client.dispatch.field_operations.create({}),
        lambda: client.legacy_orders.create_order({}),
        lambda: len(client.dispatch.products.list()),
    )
    for call in calls:
        with pytest.raises((hl.AuthenticationError, TypeError)) as caught:
            call()
        hidden(everything_of(caught.value))
        if isinstance(caught.value, hl.HeadlandError):
            hidden(repr(pickle.dumps(caught.value)))
    hidden(caplog.text)


@pytest.mark.parametrize(
    ("given_token", "error"), [(7, TypeError), ("", hl.ConfigurationError), (None, hl.ConfigurationError)]
)
def test_callable_without_a_token_is_an_error(service: hl.Sandbox, given_token: object, error: type[Exception]) -> None:
    before = len(service.requests)
    client: hl.Client = _Tokens(lambda: given_token).client(service)
    for call in (lambda: client.dispatch.field_operations.create({}), lambda: client.dispatch.products.list().first()):
        with pytest.raises(error):
            call()
    assert len(service.requests) == before


def test_exception_of_the_callable_reaches_the_user(service: hl.Sandbox) -> None:
    class LoggedOutError(Exception):
        pass

    def log_in() -> str:
        raise LoggedOutError

    with pytest.raises(LoggedOutError):
        _Tokens(log_in).client(service).dispatch.field_operations.create({})

    async def call() -> None:
        async with _Tokens(log_in).client(service, hl.AsyncClient) as client:
            await client.dispatch.batches.active().first()

    with pytest.raises(LoggedOutError):
        asyncio.run(call())


def test_a_coroutine_function_is_for_the_asynchronous_client(service: hl.Sandbox) -> None:
    async def token() -> str:
        return "never"

    with pytest.raises(TypeError, match="`dispatch_token` returned a coroutine"):
        _Tokens(token).client(service).dispatch.field_operations.create({})
