"""Selects jobs for verbs by the filters of ``client.job_data.read_all``; errors name the options."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from headland.cli.output import print_text
from headland.read_all import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import headland as hl

OPTIONS = {"sub_type": "--type", "year": "--year", "since": "--date", "name": "--name"}
"""Arguments of the Python method, with the options that set them."""


class Jobs:
    """The listed jobs that match, before their year is checked."""

    def __init__(
        self,
        client: hl.Client,
        *,
        sub_type: str | None = None,
        year: int | None = None,
        since: str | None = None,
        name: str | None = None,
    ) -> None:
        self._client = client
        self._has_year = year is not None
        self._wanted = selection(sub_type=sub_type, year=year, since=since, name=name)
        self.listed = filtered(self._wanted, lambda: client.job_data.list(date=self._wanted.first_date()))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the jobs; a year takes a call for each of them, because only their details state the start."""
        for job in self.listed:
            if not self._has_year:
                yield job
                continue
            try:
                is_other = self._wanted.is_other_year({**job, **self._client.job_data.get(job["id"])})
            except ValueError:
                print_text(f"headland: job `{job['id']}` is omitted: it states no start", sys.stderr)
            else:
                if not is_other:
                    yield job


def selection(**filters: Any) -> Selection:
    """Check the filters, before any call."""
    given: dict[str, Any] = {**dict.fromkeys(OPTIONS), **filters}
    try:
        return Selection(**given, ids=None)
    except ValueError as error:
        raise ValueError(with_options(str(error))) from None


def filtered(wanted: Selection, records: Callable[[], Iterable[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Return the records that match."""
    try:
        return wanted.filter(records())
    except ValueError as error:
        raise ValueError(with_options(str(error))) from None


def named(records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Iterate over filtered records."""
    try:
        yield from records
    except ValueError as error:
        raise ValueError(with_options(str(error))) from None


def with_options(message: str, options: Mapping[str, str] = OPTIONS) -> str:
    """Return a message that names the options of the command line in place of arguments."""
    for name, option in options.items():
        message = message.replace(f"`{name}`", f"`{option}`")
    return message
