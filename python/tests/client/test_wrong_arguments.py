"""Wrong arguments: each is an error of its class that names the argument, before any call."""

from __future__ import annotations

import asyncio
import datetime as dt
import inspect
import io
import tempfile
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from client_methods import OFFLINE, methods
from shapefiles import zipped

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAIVE = dt.datetime(2026, 9, 1)  # noqa: DTZ001
BEYOND = dt.datetime.max.replace(tzinfo=dt.timezone(dt.timedelta(hours=-1)))
"""A time that has no date in UTC."""

Wrong = dict[type[Exception], tuple[Any, ...]]
"""Wrong values by the error that they raise."""

NOT_MAPPINGS: tuple[Any, ...] = (None, 7, "text", b"{}", [], [("a", 1)])

WRONG: dict[str, Wrong] = {
    "str | int": {
        TypeError: (None, True, 1.0, b"1", ["1"], {}),
        ValueError: ("", ".", "..", "1/../2", "/1", "1/", "a/b", "a\\..\\b", "a\nb", "a?b", "a#b", "\x7f", "\ud800"),
    },
    "str | int | None": {TypeError: (1.5, True, b"1"), ValueError: (-1, 10**30, "", "many", "-1", "1.5")},
    "str | dt.date | dt.datetime | None": {
        TypeError: (20260901, 1.5, True, b"2026-09-01", dt.time(12)),
        ValueError: ("", "yesterday", "2026-13-01", NAIVE, BEYOND, dt.date.min),
    },
    "str": {
        TypeError: (None, 7, True, b"BIN", ["BIN"]),
        ValueError: ("", "a/b", "no such word", "../BIN"),
    },
    "bool": {TypeError: (None, 0, 1, "no", "True", [])},
    "float | None": {TypeError: (True, "long", b"1"), ValueError: (-1, float("nan"), float("inf"), 10**400)},
    "float": {TypeError: (None, True, "long", b"1"), ValueError: (-1, float("nan"), float("inf"), 10**400)},
    "int | None": {TypeError: (1.5, True, "2025"), ValueError: (-1, 0, 10**30)},
    "bool | None": {TypeError: (0, 1, "no", [])},
    "OnError": {TypeError: (None, 7, True, b"skip", ["skip"]), ValueError: ("", "ignore")},
    "Mapping[str, object]": {
        TypeError: (*NOT_MAPPINGS, {1: 2}, {"a": object()}, {"a": {"b": {1}}}),
        ValueError: ({"a": float("nan")}, {"a": NAIVE}),
    },
    "Mapping[str, object] | Sequence[object]": {
        TypeError: (None, 7, "text", b"[]", {1: 2}, [object()], [{"a": {1}}], ({1: 2},)),
        ValueError: ([float("nan")],),
    },
}
"""Wrong values for a parameter by its annotation."""

TEXTS = (7, True, b"text", ["text"])

MAPS: Wrong = {TypeError: (None, True, 1.0, ["1"], {}), ValueError: WRONG["str | int"][ValueError]}
"""Wrong values of a map to send, which may be an id."""

WRONG_BY_NAME: dict[str, Wrong] = {
    "page_size": {TypeError: (1.5, True, "20", b"20", "many"), ValueError: (0, -1, 1001, 10**30)},
    "page": {TypeError: (1.5, 1.0, True, "0", b"0", "many"), ValueError: (-1, 10**30, 2**70)},
    "threads": {TypeError: (1.5, True, "2"), ValueError: (0, -1, 10**30)},
    "limits": {TypeError: (7, True, (1, 2), "members=1", {"members": 1})},
    "columns": {TypeError: (7, "YIELD", b"YIELD", [7], [None])},
    "layer": {TypeError: TEXTS},
    "encoding": {TypeError: TEXTS, ValueError: ("no such encoding", "")},
    "job_type": {TypeError: (7, 1.5, True, b"Yield", [7], [None]), ValueError: ([],)},
    "sub_type": {TypeError: TEXTS},
    "name": {TypeError: TEXTS},
    "ids": {TypeError: (7, "31", b"31", {"a": 1}, [1.5], [None], [True]), ValueError: ([""], ["a/b"])},
    "to_crs": {TypeError: (*TEXTS, 4326), ValueError: ("no such system", "")},
    "to": {
        TypeError: (7, True, ["folder"], io.StringIO(), b"folder"),
        ValueError: ("", io.BufferedReader(io.BytesIO())),
    },
    "rx": MAPS,
    "rx_id": MAPS,
    "file": {
        TypeError: (None, 7, True, ["a.zip"], io.StringIO("text")),
        ValueError: ("", b"", io.BytesIO()),
        hl.InvalidRequest: ("no/such/file.zip", "."),
    },
}
"""Wrong values where the annotation is not specific enough."""

RIGHT_BY_NAME: dict[str, Any] = {"body": {"name": "North 40"}}


def request_token() -> str:
    raise AssertionError("nothing asks for a token before the arguments are right")


WITH_PARAMETERS = [
    pytest.param(kind, name, parameter, id=f"{kind.__name__}.{name}-{parameter.name}")
    for kind in (hl.Client, hl.AsyncClient)
    for name, method in methods(kind(**OFFLINE, rate_limits=()))
    for parameter in inspect.signature(method).parameters.values()
]


@pytest.fixture(scope="module")
def clients(service: hl.Sandbox) -> dict[type, Any]:
    """Return a client of each kind."""
    tokens: dict[str, Any] = {"dispatch_token": request_token, "legacy_token": request_token}
    return {kind: kind(**{**service.credentials, **tokens}, rate_limits=()) for kind in (hl.Client, hl.AsyncClient)}


def outcome(call: Callable[..., Any], given: dict[str, Any]) -> str:
    result = call(**given)
    if inspect.iscoroutine(result):
        asyncio.run(result)
    return "no error"


def archive() -> bytes:
    return zipped(dict.fromkeys(("a.shp", "a.shx", "a.dbf"), b"content"))


@pytest.mark.parametrize(("kind", "name", "parameter"), WITH_PARAMETERS)
def test_wrong_value_of_every_parameter(
    service: hl.Sandbox, clients: dict[type, Any], kind: type, name: str, parameter: inspect.Parameter
) -> None:
    method = dict(methods(clients[kind]))[name]
    right = {
        each.name: archive() if each.name == "file" else RIGHT_BY_NAME.get(each.name, "1")
        for each in inspect.signature(method).parameters.values()
        if each.default is inspect.Parameter.empty
    }
    wrong = WRONG_BY_NAME.get(parameter.name) or WRONG[str(parameter.annotation)]
    before = len(service.requests)
    for error, values in ((TypeError, (object(), {1}, 1j)), *wrong.items()):
        for value in values:
            if parameter.name == "ids" and value == {1}:  # a set of ids is one
                continue
            with pytest.raises(error) as caught:
                pytest.fail(f"{value!r}: {outcome(method, {**right, parameter.name: value})}")
            message = str(caught.value)
            # Some errors name the value, such as a file that does not exist.
            assert f"`{parameter.name}" in message or f"`{value}`" in message, (value, message)
            assert len(service.requests) == before, value


def test_every_method_of_the_groups_is_found() -> None:
    found = {(values.values[0], values.values[1]) for values in WITH_PARAMETERS}
    assert {name for kind, name in found if kind is hl.Client} == {
        name for kind, name in found if kind is hl.AsyncClient
    }
    assert len(found) >= 40


def named(name: str) -> io.BytesIO:
    content = io.BytesIO(archive())
    content.name = name
    return content


LONG: Any = "long"


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        # Numbers out of their range, and flags.
        (ValueError, "`page`: expected .*, got ", lambda client: client.job_data.list(page=10**20)),
        (TypeError, "`overwrite`: expected .*, got ", lambda client: client.job_data.download("1", overwrite=LONG)),
        (ValueError, "`timeout`: expected .*, got ", lambda client: client.job_data.read("1", timeout=float("nan"))),
        (ValueError, "`Limits.members`: expected .*, got -1", lambda _: hl.Limits(members=-1)),
        # Values that no request can contain.
        (ValueError, "`id` contains an unpaired surrogate", lambda client: client.job_data.get("\ud800")),
        (ValueError, "`date` contains an unpaired surrogate", lambda client: client.job_data.list(date="\ud800")),
        (ValueError, "70000 characters", lambda client: client.job_data.get("x" * 70_000)),
        (ValueError, "70000 characters", lambda client: client.dispatch.field_operations.delete("x" * 70_000)),
        (ValueError, "only blanks", lambda client: client.job_data.get("   ")),
        (ValueError, "begins or ends with a blank", lambda client: client.job_data.get("7 ")),
        (ValueError, "begins or ends with a blank", lambda client: client.job_data.upload(named(" lead.zip"))),
        (ValueError, "`file` contains an unpaired", lambda client: client.job_data.upload(named("\udcff.zip"))),
        (hl.InvalidRequest, "not a zip that can be read", lambda client: client.job_data.upload(b"hello world")),
        (ValueError, "`format`", lambda client: client.job_data.download("1", format="PDF")),
        (ValueError, "`state`", lambda client: client.field_computers.prescription_maps("1", state="lost")),
        (ValueError, "`file_type`", lambda client: client.prescription_maps.upload(b"PK", file_type="SHP")),
        # Values that cannot be read.
        (ValueError, "`encoding` contains an unpaired", lambda client: client.job_data.read("1", encoding="\ud800")),
        (ValueError, "unsupported `encoding`", lambda client: client.job_data.read("1", encoding="10000-01-01")),
        (ValueError, "others, got `utf-16le`", lambda client: client.job_data.read("1", encoding="utf-16le")),
        (ValueError, "`format` of job_data.read is `GML`", lambda client: client.job_data.read("1", format="GML")),
        (ValueError, "`headland.read_tree` reads the file", lambda client: client.job_data.read("1", format="XML")),
        # Paths.
        (ValueError, "`source`: expected a path, got an empty string", lambda _: hl.read("")),
        (ValueError, "`source`: expected a path, got an empty string", lambda _: hl.layers("")),
        (ValueError, "`file`: expected a path, got an empty string", lambda client: client.job_data.upload("")),
        (ValueError, r"`folder`: 'farm\\x00' contains a null", lambda client: hl.Mirror("farm\0", client)),
        (ValueError, r"`source`: 'job\\x00.zip' contains a null", lambda _: hl.read("job\0.zip")),
        (
            ValueError,
            r"`to`: 'a/job\\x00' contains a null",
            lambda client: client.job_data.download("1", to="a/job\0"),
        ),
    ],
)
def test_wrong_argument_of_a_call(
    service: hl.Sandbox, client: hl.Client, error: type[Exception], message: str, call: Callable[[hl.Client], object]
) -> None:
    before = len(service.requests)
    with pytest.raises(error, match=message):
        call(client)
    assert len(service.requests) == before


@pytest.mark.parametrize(
    ("error", "name", "call"),
    [
        (ValueError, "times", lambda service: service.faults.add(endpoint="*", kind="503", times=-1)),
        (ValueError, "times", lambda service: service.faults.add(endpoint="*", kind="503", times=10**20)),
        (TypeError, "endpoint", lambda service: service.faults.add(endpoint=3, kind="503")),
        (ValueError, "seconds", lambda service: service.advance(-1)),
        (ValueError, "port", lambda _: hl.Sandbox(port=70_000)),
        (ValueError, "seed", lambda _: hl.Sandbox(seed=-1)),
        (ValueError, "seed", lambda _: hl.Sandbox(seed=10**20)),
        (TypeError, "seed", lambda _: hl.Sandbox(seed=LONG)),
        (TypeError, "conversion_time", lambda _: hl.Sandbox(conversion_time=LONG)),
        (ValueError, "conversion_time", lambda _: hl.Sandbox(conversion_time=float("nan"))),
        (ValueError, "window", lambda _: hl.Sandbox(window=LONG)),
        (ValueError, "clock", lambda _: hl.Sandbox(clock=LONG)),
        (TypeError, "variants", lambda _: hl.Sandbox(variants="wild")),
        (ValueError, "unheard-of", lambda _: hl.Sandbox(variants=["unheard-of"])),
        (ValueError, "rate_limits", lambda _: hl.Sandbox(rate_limits=[(0, 60.0)])),
        (ValueError, "rate_limits", lambda _: hl.Sandbox(rate_limits=[(30, -1.0)])),
    ],
)
def test_wrong_argument_of_the_local_service(
    service: hl.Sandbox, error: type[Exception], name: str, call: Callable[[hl.Sandbox], object]
) -> None:
    with pytest.raises(error, match=f"`{name}`(: expected .*, got | is not a variant; use )"):
        call(service)


@pytest.mark.parametrize(
    ("error", "message", "setting"),
    [
        (TypeError, "`base_url`: expected a str, got NoneType", {"base_url": None}),
        (hl.ConfigurationError, "https", {"base_url": "http://fields.example"}),
        (hl.ConfigurationError, "https", {"base_url": "http://fields.example:8080/api"}),
        (hl.ConfigurationError, "https", {"base_url": "http://10.0.0.1"}),
        (hl.ConfigurationError, "base_url", {"base_url": ""}),
        (hl.ConfigurationError, "base_url", {"base_url": "fields.example"}),
        (hl.ConfigurationError, "base_url", {"base_url": "ftp://fields.example"}),
        (hl.ConfigurationError, "base_url", {"base_url": "https://"}),
        (hl.ConfigurationError, "base64", {"shared_secret": "hunter2 is not base64!"}),
        (TypeError, "`api_key`", {"api_key": None}),
        (hl.ConfigurationError, "access_key", {"access_key": ""}),
        (TypeError, "`ca_file`: expected a path, got int", {"ca_file": 3}),
        (hl.ConfigurationError, "ca_file", {"ca_file": "/nowhere/ca.pem"}),
        (TypeError, "'limiter'", {"limiter": "off"}),
        (TypeError, "`limiter_state`: expected a path, got int", {"limiter_state": 3}),
        (ValueError, "`page_size`", {"page_size": 0}),
        (TypeError, "`page_size`", {"page_size": "many"}),
        (TypeError, "`rate_limits`: expected pairs of calls and seconds.*, got '30/60'", {"rate_limits": "30/60"}),
        (TypeError, "`rate_limits`: expected pairs", {"rate_limits": (30, 60.0)}),
        (TypeError, "`rate_limits`: expected pairs", {"rate_limits": 30}),
        (ValueError, "`rate_limits`: expected pairs", {"rate_limits": [(30,)]}),
        (TypeError, "`rate_limits`: expected a number of seconds, got str", {"rate_limits": [(30, "60")]}),
        (TypeError, "`rate_limits`", {"rate_limits": [("30", 60.0)]}),
        (ValueError, "`rate_limits`", {"rate_limits": [(30, -60.0)]}),
        (ValueError, "`rate_limits`", {"rate_limits": [(-30, 60.0)]}),
        (TypeError, "`timeout`: expected a `headland.Timeout.* or a tuple of those three, got 5", {"timeout": 5}),
        (ValueError, r"`timeout`: expected .*, got \(1, 2\)", {"timeout": (1, 2)}),
        (TypeError, "`timeout.call`: expected a number of seconds, got str", {"timeout": (1, 2, "3")}),
        (ValueError, "`timeout.read`: expected finite seconds >= 0, got -2", {"timeout": (1, -2, 3)}),
        (ValueError, "`timeout.read`: expected finite seconds >= 0", {"timeout": (1, 10**400, 3)}),
        (TypeError, "`timeout", {"timeout": (10, 60, 600, 0.5)}),
        (ValueError, "`timeout", {"timeout": (10, 60, 600, 1024, 1)}),
        (ValueError, "`timeout.connect`", {"timeout": hl.Timeout(connect=-1)}),
        (ValueError, "`timeout.min_throughput`", {"timeout": hl.Timeout(min_throughput=-1)}),
        (TypeError, "dispatch_token", {"dispatch_token": 7}),
        (hl.ConfigurationError, "dispatch_token", {"dispatch_token": ""}),
        (hl.ConfigurationError, "dispatch_token", {"dispatch_token": "Bearer hunter2"}),
        (TypeError, "legacy_token", {"legacy_token": b"token"}),
        (hl.ConfigurationError, "legacy_token", {"legacy_token": "hunter2\n"}),
        (TypeError, "dispatch_url", {"dispatch_url": 7}),
        (hl.ConfigurationError, "dispatch_url", {"dispatch_url": "http://dispatch.example"}),
        (hl.ConfigurationError, "legacy_dispatch_url", {"legacy_dispatch_url": "ftp://orders.example"}),
        (hl.ConfigurationError, "legacy_orders_url", {"legacy_orders_url": "https://joe:hunter2@orders.example"}),
    ],
)
def test_wrong_setting_of_a_client(
    service: hl.Sandbox, error: type[Exception], message: str, setting: dict[str, Any]
) -> None:
    with pytest.raises(error, match=message) as caught:
        hl.Client(**{**service.credentials, **setting})
    assert "hunter2" not in str(caught.value)


def closed(folder: Path) -> Any:
    file = (folder / "closed").open("wb")
    file.close()
    return file


def for_reading(folder: Path) -> Any:
    (folder / "there").write_bytes(b"old")
    return (folder / "there").open("rb")


def wrapped_text(folder: Path) -> Any:
    return tempfile.NamedTemporaryFile("w", dir=folder)


@pytest.mark.parametrize(
    ("error", "message", "target"),
    [
        (ValueError, "`to` is a closed file object", closed),
        (ValueError, "`to` is a file object opened only for reading", for_reading),
        (TypeError, "`to` is a text file object", lambda folder: (folder / "text").open("w")),
        (TypeError, "`to` is a text file object", wrapped_text),
        (ValueError, "`to`: expected a path, got an empty string", lambda _: ""),
        (TypeError, "`to`: expected a folder, a path or a binary file object, got int", lambda _: 7),
        (FileNotFoundError, "there is no folder", lambda folder: f"{folder}/missing/"),
    ],
)
def test_target_that_cannot_take_the_file(
    service: hl.Sandbox,
    client: hl.Client,
    small_job: str,
    tmp_path: Path,
    error: type[Exception],
    message: str,
    target: Callable[[Path], Any],
) -> None:
    to = target(tmp_path)
    arrived = len(service.requests)
    try:
        with pytest.raises(error, match=message):
            client.job_data.download(small_job, to=to)
        handle = client.conversion(f"job_data.request/{small_job}/SHP")
        with pytest.raises(error, match=message):
            handle.result(to)
    finally:
        if hasattr(to, "close"):
            to.close()
    assert len(service.requests) == arrived
    left = {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.stat().st_size}
    assert left in ({}, {"there": b"old"}), "a file that was there stays as it was"


class Response:
    """The public interface of a response of requests."""

    content = b""

    def iter_content(self) -> None:
        """Yield the bytes one by one."""


@pytest.mark.parametrize("call", [hl.read, hl.open, hl.layers, hl.read_tree])
@pytest.mark.parametrize(
    ("source", "message"),
    [
        (zipfile.ZipFile(named("a.zip")), "got zipfile.ZipFile: pass its path or its bytes"),
        (zipfile.Path(zipfile.ZipFile(named("a.zip"))), "Path: pass its `.read_bytes()`"),
        (["a.zip", "b.zip"], "got list: pass one at a time"),
        (None, "got NoneType"),
        (7, "got int"),
        (Response(), "test_wrong_arguments.Response: pass its `.content`"),
    ],
)
def test_source_of_a_wrong_type(call: Callable[[Any], object], source: object, message: str) -> None:
    with pytest.raises(TypeError, match="`source`: expected a path, bytes or a binary file object, got ") as refused:
        call(source)
    assert str(refused.value).endswith(message)
