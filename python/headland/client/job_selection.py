"""Selects jobs by types, names, years and ids, for all methods and verbs that do."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from headland import _core, arguments
from headland.agronomy.job_layers import FailedJob
from headland.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class TypeCondition:
    """The types of jobs that a caller selects.

    The label of the list may leave the kind of a job open, as ``Planter/Sprayer`` does; then its detail decides.
    """

    __slots__ = ("_decided", "_labels", "_types", "_words")

    def __init__(self, words: list[str]) -> None:
        """Check the words."""
        self._words = words
        self._types = _core.JobTypes(words)
        self._labels: set[str] = set()
        """The labels of the records so far."""
        self._decided: dict[str, bool] = {}
        """What details have decided, by the ids of the jobs."""

    def match(self, record: Mapping[str, Any]) -> bool | None:
        """Return whether a record of a list is of the types, ``None`` if the detail decides."""
        label = record.get("sub_type")
        self._labels.add(label or "")
        found = self._types.match_label(label)
        return self._decided.get(record.get("id", "")) if found is None else found

    def decide(self, record: Mapping[str, Any], detail: Mapping[str, Any]) -> bool:
        """Return whether a job is of the types; the detail decides only if the label leaves it open."""
        found = self.match(record)
        if found is None:
            found = self._decided[record["id"]] = self._types.includes_detail(detail.get("job_type"))
        return found

    def check(self) -> None:
        """Raise an error after the last record if a word is neither a known type nor a label of the list."""
        if any(self._labels):
            self._types.check(sorted(self._labels))

    def __repr__(self) -> str:
        """Return the argument for display."""
        return f"job_type={(self._words[0] if len(self._words) == 1 else self._words)!r}"


class Selection:
    """The jobs that the caller wants."""

    def __init__(
        self,
        *,
        job_type: list[str] | None = None,
        year: int | None = None,
        since: str | dt.date | dt.datetime | None = None,
        name: str | None = None,
        ids: Iterable[str | int] | None = None,
    ) -> None:
        """Check the arguments."""
        self._types = None if job_type is None else TypeCondition(job_type)
        self._name = None if name is None else _core.NamePattern(arguments.text("name", name))
        self._year = None if year is None else arguments.whole_number("year", year, 1970, 9999)
        self._since = since
        if since is not None:
            arguments.job_date("since", since)
        self.ids = None if ids is None else arguments.job_ids(ids)

    def first_date(self) -> str | dt.date | dt.datetime | None:
        """Return the date from which the service has to list jobs: no job is uploaded before the year it started in."""
        return self._since if self._since is not None or self._year is None else dt.date(self._year, 1, 1)

    def filter(self, records: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the records of a list that match, or may match by their details."""
        listed = [dict(record) for record in records]
        if self._types is not None:
            types = self._types
            listed = [record for record in listed if types.match(record) is not False]
            types.check()
        if self._name is not None:
            pattern = self._name
            listed = [record for record in listed if pattern.matches(str(record.get("name")))]
        return listed if self.ids is None else [record for record in listed if record["id"] in self.ids]

    def missing(self, jobs: Iterable[Mapping[str, Any]]) -> list[FailedJob]:
        """Return the wanted ids that the list does not have."""
        found = {job["id"] for job in jobs}
        return [
            FailedJob({"id": wanted, "name": None}, NotFound(f"the list of jobs has no id `{wanted}` that matches"))
            for wanted in self.ids or []
            if wanted not in found
        ]

    def needs_detail(self, record: Mapping[str, Any]) -> bool:
        """Return whether the detail of a job decides whether it matches."""
        return self._year is not None or (self._types is not None and self._types.match(record) is None)

    def leaves_out(self, record: Mapping[str, Any], detail: Mapping[str, Any]) -> bool:
        """Return whether the detail shows another kind or year; ``ValueError`` if it states no start of a year."""
        if self._types is not None and not self._types.decide(record, detail):
            return True
        if self._year is None:
            return False
        if detail.get("start_date") is None:
            message = f"the job states no start, so it is unknown whether it is of {self._year}; pass its id in `ids`"
            raise ValueError(message)
        return bool(detail["start_date"].year != self._year)
