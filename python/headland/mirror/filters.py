"""Converts the filters of a mirror to the values of the core, which checks and applies them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from headland import arguments

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable

    from headland import _core


def convert(
    *,
    job_types: str | Iterable[str] | None,
    since: str | dt.date | dt.datetime | None,
    until: str | dt.date | dt.datetime | None,
    ids: Iterable[str | int] | None,
) -> _core._Filter:
    """Convert the filters, and check their types."""
    if ids is not None and (arguments.is_single(ids) or isinstance(ids, Mapping)):
        raise TypeError(f"`ids`: expected several ids, got {type(ids).__name__}; pass a list")
    return {
        "job_types": None if job_types is None else texts("job_types", job_types),
        "since": _time("since", since),
        "until": _time("until", until),
        "ids": None if ids is None else [arguments.text_for("ids", "job_data.get", "id", each) for each in ids],
    }


def texts(name: str, kinds: object) -> list[str]:
    """Convert one or several job types to a list of texts."""
    return [arguments.text(name, kind, "'Yield', or several") for kind in arguments.as_list(kinds)]


def _time(name: str, value: str | dt.date | dt.datetime | None) -> str | None:
    return None if value is None else arguments.text_for(name, "job_data.list", "date", value)
