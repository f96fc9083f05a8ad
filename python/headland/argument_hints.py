"""Errors that name what to do instead of an argument that a method does not have."""

from __future__ import annotations

import functools
import inspect
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from headland.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

P = ParamSpec("P")
T = TypeVar("T")

_YEAR = "lists do not state when a job started; `client.job_data.read_all(year=...)` reads the jobs of a year"

FILTER: Mapping[str, str] = {
    "year": _YEAR,
    "name": '`filter(lambda record: "North" in record["name"])` selects by name, or `read_all(name=...)`',
    "date": "`list(date=...)` lists the jobs that were uploaded since then",
    "since": "`list(date=...)` lists the jobs that were uploaded since then",
    "type": "`job_type=...` selects a kind",
}
"""Arguments that a filtered list does not have, by their names."""

READ_ALL: Mapping[str, str] = {
    "type": FILTER["type"],
    "limit": '`ids=[job["id"] for job in client.job_data.list()[:2]]` reads the first two of the list',
}
"""Arguments that reading all jobs does not have."""

_TYPE = '`.filter(job_type="Yield")` of the list selects a kind'

LIST: Mapping[str, str] = {
    "year": f"{_YEAR}, `list(date=...)` lists those that were uploaded since a date",
    "job_type": _TYPE,
    "job_types": _TYPE,
    "sub_type": _TYPE,
    "type": _TYPE,
    "name": '`.filter(lambda job: "North" in job["name"])` of the list selects by name, or `read_all(name=...)`',
    "ids": "`read_all(ids=[...])` reads these jobs",
    "limit": "`list()[:2]` reads the first two",
    "since": "`list(date=...)` lists the jobs that were uploaded since then",
}
"""Arguments that a list of jobs does not have."""

_CONVERT = '`layer.to_units({"yield_dry": "t/ha"}).plot("yield_dry")` converts'

_OWN_MAP = 'a map of other units is `headland.grid(cleaned).to_units({"yield_dry": "t/ha"}).plot("yield_dry")`'

CLEANED_MAP: Mapping[str, str] = {"units": _OWN_MAP, "unit": _OWN_MAP}
"""Arguments that the map of a cleaned job does not have."""

_OWN_PLOT = "`layer.to_geopandas().plot(column, {}=...)` draws with matplotlib"

PLOT: Mapping[str, str] = {
    "cmap": f"all maps have the same colours, and `vmin` and `vmax` set their range; {_OWN_PLOT.format('cmap')}",
    "ax": f"the map is an SVG; {_OWN_PLOT.format('ax')}",
    "figsize": "`width=...` sets the width in pixels",
    "units": f"`unit=...` only labels the map; {_CONVERT}",
    "legend": "a map always has a legend, and `label=...` names its column",
}
"""Arguments that a map does not have."""

ZONE: Mapping[str, str] = dict.fromkeys(("timezone", "tz"), '`zone="America/Chicago"` is the zone')
"""Arguments that `Layer.with_time` does not have."""

UNIT: Mapping[str, str] = {"unit": 'rates need one, such as `unit="kg/ha"`'}
"""An argument that a prescription needs."""

_CELLS = "`cells=...` is the side of the cells in metres"

GRID: Mapping[str, str] = {"size": _CELLS, "cell_size": _CELLS, "resolution": _CELLS}
"""Arguments that `headland.grid` does not have."""

_TO = "`to=...` is a path or a folder"

FILE: Mapping[str, str] = {"path": _TO, "folder": _TO, "file": _TO, "filename": _TO}
"""Arguments that methods that write a file do not have."""

RESULT: Mapping[str, str] = {**FILE, "timeout": "`wait(timeout=...)` limits the wait, and `result()` follows it"}
"""Arguments that the result of a conversion does not have."""

SANDBOX_DEMO: Mapping[str, str] = {
    "clock": '`headland.Sandbox(clock="moved", rate_limits=(), conversion_time=0)` has it',
    **dict.fromkeys(
        ("data", "port", "small_jobs", "window", "variants"),
        "`headland.Sandbox(...)` has it, and the limits of a service",
    ),
}
"""Arguments that `Sandbox` has and `Sandbox.demo` has not."""

MIRROR: Mapping[str, str] = {
    "year": (
        'a mirror selects by the upload, `since="2026-01-01"`, or by `ids=[...]`; a year is read by '
        "`mirror.to_geopandas(year=2026)`, or by `WHERE year = 2026` in `mirror.sql`"
    ),
    "name": "a mirror selects by `ids=[...]`; `headland pull --name TEXT` finds those of a name",
}
"""Arguments that a mirror does not have."""

NO_HINTS: Mapping[str, str] = MappingProxyType({})


def explained(hints: Mapping[str, str] = NO_HINTS) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let a function raise ``TypeError`` with a hint for an argument that it does not have, or that it needs.

    >>> @explained({"cmap": "all maps have the same colours"})
    ... def plot(column, *, width=None): ...
    """

    def decorate(method: Callable[P, T]) -> Callable[P, T]:
        check = _check(method, hints)
        if inspect.iscoroutinefunction(method):

            @functools.wraps(method)
            async def awaited(*given: Any, **named: Any) -> Any:
                check(len(given), named)
                return await method(*given, **named)

            return cast("Callable[P, T]", awaited)

        @functools.wraps(method)
        def checked(*given: P.args, **named: P.kwargs) -> T:
            check(len(given), named)
            return method(*given, **named)

        return checked

    return decorate


def _check(method: Callable[..., object], hints: Mapping[str, str]) -> Callable[[int, Mapping[str, object]], None]:
    """Return the check of a call: the number of arguments without a name, and the others."""
    code = method.__code__
    own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    options = own[code.co_argcount :]
    needed = [name for name in options if name in hints and name not in (method.__kwdefaults__ or {})]
    # Options of reading are checked by the core.
    is_open = bool(code.co_flags & inspect.CO_VARKEYWORDS)

    def check(count: int, named: Mapping[str, object]) -> None:
        for name in named:
            if name not in own and (name in hints or not is_open):
                raise unknown_argument(name, {*own} - {"self", "cls"}, hints)
        if options and count > code.co_argcount:
            known = ", ".join(f"`{name}=...`" for name in options)
            raise TypeError(f"too many arguments without a name; those with a name are {known}")
        for name in needed:
            if name not in named:
                raise TypeError(f"`{name}` is missing: {hints[name]}")

    return check


def unknown_argument(name: str, known: Iterable[str], hints: Mapping[str, str]) -> TypeError:
    """Return the error for an argument that does not exist."""
    hint = f": {hints[name]}" if name in hints else did_you_mean(name, known)
    return TypeError(f"unexpected keyword argument `{name}`{hint or ': there are: ' + ', '.join(sorted(known))}")
