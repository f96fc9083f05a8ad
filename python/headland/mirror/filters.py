"""Converts the filters of a mirror to the values of the core, which checks and applies them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headland import arguments

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable

    from headland import _core


def convert(
    *,
    job_type: str | Iterable[str] | None,
    job_types: str | Iterable[str] | None,
    since: str | dt.date | dt.datetime | None,
    until: str | dt.date | dt.datetime | None,
    ids: Iterable[str | int] | None,
) -> _core._Filter:
    """Convert the filters, and check their types."""
    return {
        "job_type": arguments.job_types(job_type, job_types=job_types),
        "since": None if since is None else arguments.job_date("since", since),
        "until": None if until is None else arguments.job_date("until", until),
        "ids": None if ids is None else arguments.job_ids(ids),
    }
