"""Selects jobs for verbs by the filters of ``client.job_data.read_all``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from headland.cli.output import print_text
from headland.client.job_selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator

    import headland as hl


class Jobs:
    """The listed jobs that match, before their details are checked."""

    def __init__(
        self,
        client: hl.Client,
        *,
        job_type: list[str] | None = None,
        year: int | None = None,
        since: str | None = None,
        name: str | None = None,
    ) -> None:
        self._client = client
        self._wanted = Selection(job_type=job_type, year=year, since=since, name=name)
        self.listed = self._wanted.filter(client.job_data.list(date=self._wanted.first_date()))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the jobs; a year takes a call for each of them, because only their details state the start."""
        for job in self.listed:
            if not self._wanted.needs_detail(job):
                yield job
                continue
            try:
                is_other = self._wanted.leaves_out(job, self._client.job_data.get(job["id"]))
            except ValueError:
                print_text(f"headland: job `{job['id']}` is omitted: it states no start", sys.stderr)
            else:
                if not is_other:
                    yield job
