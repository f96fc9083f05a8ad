"""Every parameter of every method, sync and async: a wrong value is told by the parameter's name, before any call."""

from __future__ import annotations

import asyncio
import datetime as dt
import inspect
import io
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

import headland as hl
from headland import groups

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CLEAR = (TypeError, ValueError, hl.InvalidRequest, hl.ConfigurationError)
MANY = 10**30
NAIVE = dt.datetime(2026, 9, 1)  # noqa: DTZ001
BEYOND = dt.datetime.max.replace(tzinfo=dt.timezone(dt.timedelta(hours=-1)))
"""A moment that has no date in UTC."""

OF_NO_TYPE: tuple[Any, ...] = (object(), {1}, 1j)
"""Values that no parameter takes."""

IDS: tuple[Any, ...] = (
    None,
    True,
    1.0,
    b"1",
    ["1"],
    "",
    ".",
    "..",
    "1/../2",
    "/1",
    "1/",
    "a\\..\\b",
    "a\nb",
    "a?b",
    "a#b",
)
TIMES: tuple[Any, ...] = (
    7,
    1.5,
    True,
    b"2026-09-01",
    "",
    "yesterday",
    "2026-13-01",
    NAIVE,
    BEYOND,
    dt.time(12),
    dt.date.min,
)
WORDS: tuple[Any, ...] = (None, 7, True, b"BIN", ["BIN"], "", "a/b", "no such word", "../BIN")
FLAGS: tuple[Any, ...] = (None, 0, 1, "no", "True", [])
TEXTS: tuple[Any, ...] = (7, True, b"text", ["text"])
MAPPINGS: tuple[Any, ...] = (None, 7, "text", b"{}", [], [("a", 1)], {1: 2}, {"a": object()}, {"a": {"b": {1}}})

WRONG: dict[str, tuple[Any, ...]] = {
    "str | int": IDS,
    "str | int | None": (-1, MANY, 1.5, True, b"1", "", "many", "-1", "1.5"),
    "str | dt.date | dt.datetime | None": TIMES,
    "str": WORDS,
    "bool": FLAGS,
    "float | None": (-1, float("nan"), float("inf"), 10**400, True, "long", b"1"),
    "Mapping[str, object]": MAPPINGS,
    "Mapping[str, object] | Sequence[object]": (None, 7, "text", b"[]", {1: 2}, [object()], [{"a": {1}}]),
}
"""Wrong values by what a parameter takes."""

WRONG_BY_NAME: dict[str, tuple[Any, ...]] = {
    "page_size": (0, -1, 1001, MANY, 1.5, True, "20", b"20"),
    "page": (-1, MANY, 1.5, True, "0", b"0"),
    "threads": (0, -1, MANY, 1.5, True, "2"),
    "limits": (7, True, (1, 2), "members=1", {"members": 1}),
    "columns": (7, "YIELD", b"YIELD", [7], [None]),
    "layer": TEXTS,
    "encoding": (*TEXTS, "no such encoding", ""),
    "to_crs": (*TEXTS, 4326, "no such system", ""),
    "to": (7, True, ["folder"], "", io.StringIO(), b"folder", io.BufferedReader(io.BytesIO())),
    "file": (None, 7, True, ["a.zip"], "", "no/such/file.zip", ".", b"", io.StringIO("text"), io.BytesIO()),
}
"""Wrong values where the annotation does not tell enough."""

RIGHT_BY_NAME: dict[str, Any] = {"body": {"name": "North 40"}}


def archive() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        for name in ("a.shp", "a.shx", "a.dbf"):
            made.writestr(name, "content")
    return buffer.getvalue()


def methods(thing: Any, above: str = "") -> Iterator[tuple[str, Callable[..., Any]]]:
    """Give each method of a client and of its groups, by its name as users write it."""
    for name in dir(thing):
        if name.startswith("_"):
            continue
        value = getattr(thing, name)
        if inspect.ismethod(value) and not inspect.isclass(value.__self__):
            yield above + name, value
        elif type(value).__module__.startswith(groups.__name__):
            yield from methods(value, f"{above}{name}.")


OFFLINE: dict[str, Any] = {
    "base_url": "https://fields.example",
    "api_key": "k",
    "shared_secret": "c2VjcmV0",
    "access_key": "a",
}
WITH_PARAMETERS = [
    pytest.param(kind, name, parameter, id=f"{kind.__name__}.{name}-{parameter.name}")
    for kind in (hl.Client, hl.AsyncClient)
    for name, method in methods(kind(**OFFLINE, rate_limits=()))
    for parameter in inspect.signature(method).parameters.values()
]


@pytest.fixture(scope="module")
def clients(service: hl.Sandbox) -> dict[type, Any]:
    """Give a client of each kind."""
    return {kind: kind(**service.credentials, rate_limits=()) for kind in (hl.Client, hl.AsyncClient)}


def wrong_values(parameter: inspect.Parameter) -> tuple[Any, ...]:
    values = WRONG_BY_NAME.get(parameter.name) or WRONG.get(str(parameter.annotation))
    if values is None:
        pytest.fail(f"say which values are wrong for `{parameter.name}: {parameter.annotation}`")
    return (*values, *OF_NO_TYPE)


@pytest.mark.parametrize(("kind", "name", "parameter"), WITH_PARAMETERS)
def test_wrong_values_are_told_by_name_before_any_call(
    service: hl.Sandbox, clients: dict[type, Any], kind: type, name: str, parameter: inspect.Parameter
) -> None:
    method = dict(methods(clients[kind]))[name]
    before = len(service.requests)
    silent = []
    for value in wrong_values(parameter):
        given = {
            each.name: archive() if each.name == "file" else RIGHT_BY_NAME.get(each.name, "1")
            for each in inspect.signature(method).parameters.values()
            if each.default is inspect.Parameter.empty
        }
        try:
            outcome = method(**{**given, parameter.name: value})
            if inspect.iscoroutine(outcome):
                asyncio.run(outcome)
        except CLEAR as error:
            # A file that is not there is told by its path.
            if f"`{parameter.name}" not in str(error) and f"`{value}`" not in str(error):
                silent.append(f"{value!r}: {error!r}")
        except Exception as error:  # noqa: BLE001
            silent.append(f"{value!r}: {error!r}")
        else:
            silent.append(f"{value!r}: nothing")
        if len(service.requests) != before:
            silent.append(f"{value!r}: a call")
            before = len(service.requests)
    assert not silent, "\n".join(silent)


def test_every_method_of_the_groups_is_found() -> None:
    found = {(values.values[0], values.values[1]) for values in WITH_PARAMETERS}
    assert {name for kind, name in found if kind is hl.Client} == {
        name for kind, name in found if kind is hl.AsyncClient
    }
    assert len(found) >= 40
