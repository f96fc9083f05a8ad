"""Errors that name what to do instead of an argument that a method does not have."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, ParamSpec, TypeVar

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
}
"""Arguments that a filtered list does not have, by their names."""

_TYPE = '`.filter(job_type="Yield")` of the list selects a kind'

LIST: Mapping[str, str] = {
    "year": f"{_YEAR}, `list(date=...)` lists those that were uploaded since a date",
    "job_type": _TYPE,
    "job_types": _TYPE,
    "sub_type": _TYPE,
    "type": _TYPE,
    "name": '`.filter(lambda job: "North" in job["name"])` of the list selects by name, or `read_all(name=...)`',
    "ids": "`read_all(ids=[...])` reads these jobs",
    "since": "`list(date=...)` lists the jobs that were uploaded since then",
}
"""Arguments that a list of jobs does not have."""

_OWN_PLOT = "`layer.to_geopandas().plot(column, {}=...)` draws with matplotlib"

PLOT: Mapping[str, str] = {
    "cmap": f"all maps have the same colours, and `vmin` and `vmax` set their range; {_OWN_PLOT.format('cmap')}",
    "ax": f"the map is an SVG; {_OWN_PLOT.format('ax')}",
    "figsize": "`width=...` sets the width in pixels",
    "legend": "a map always has a legend, and `label=...` names its column",
}
"""Arguments that a map does not have."""


def explained(hints: Mapping[str, str]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let a method raise ``TypeError`` with a hint for an argument that it does not have.

    >>> @explained({"cmap": "all maps have the same colours"})
    ... def plot(column, *, width=None): ...
    """

    def decorate(method: Callable[P, T]) -> Callable[P, T]:
        code = method.__code__
        accepted = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])

        @functools.wraps(method)
        def checked(*given: P.args, **named: P.kwargs) -> T:
            for name in named:
                if name not in accepted:
                    raise unknown_argument(name, accepted - {"self"}, hints)
            return method(*given, **named)

        return checked

    return decorate


def unknown_argument(name: str, known: Iterable[str], hints: Mapping[str, str]) -> TypeError:
    """Return the error for an argument that does not exist."""
    hint = f": {hints[name]}" if name in hints else did_you_mean(name, known)
    return TypeError(f"unexpected keyword argument `{name}`{hint or ': there are: ' + ', '.join(sorted(known))}")
