"""Result types of a mirror: plan, outcome of a sync, verification."""

from __future__ import annotations

from dataclasses import dataclass, fields
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from headland.display.escaping import printable
from headland.display.tables import table_html, text_table
from headland.mirror import formatting

if TYPE_CHECKING:
    import datetime as dt

    from headland import _core


class JsonValues:
    """A record that converts to JSON values."""

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values: times are ISO texts in UTC, named tuples are dicts."""
        return {each.name: formatting.to_json_value(getattr(self, each.name)) for each in fields(self)}  # type: ignore[arg-type]


class Calls(NamedTuple):
    """Calls for one purpose."""

    made: int
    """Made for the plan; the next sync does not repeat them."""
    least: int
    """Minimum number of calls left."""
    most: int
    """Maximum number of calls left, unless the service requests more than one wait for a file."""


class CallsMade(NamedTuple):
    """Finished calls for one purpose."""

    last_run: int
    """In the last or current run."""
    ever: int
    """Since the creation of the mirror."""


PURPOSES = ("lists", "details", "asked", "collected")
"""Purposes of planned calls."""

PLAN_HEAD = ("purpose", "calls", "what")
"""Titles of the table of a plan."""


class Unavailable(NamedTuple):
    """A job or grain cart file that is unavailable, or a job without its detail."""

    kind: str
    """``job`` or ``cart``."""
    id: str
    """Its id."""
    name: str
    """Its name."""
    state: str
    """``failed``: the service could not make the file; ``quarantined``: it cannot be read; ``no detail``: the service
    refused
    the detail of the job and has not returned it since.
    """
    reason: str
    """The reason."""


@dataclass(frozen=True, repr=False)
class Plan(JsonValues):
    """The work of the next sync: ``212 to 230 calls, about 7 min, about 1.2 GB``, and the purpose of the calls.

    >>> plan = mirror.plan()
    >>> print(plan.text, plan.calls_left, plan.by_purpose["lists"])
    """

    new: int
    """New jobs and grain carts."""
    changed: int
    """Changed ones."""
    gone: int
    """Removed ones: the service no longer has them."""
    files: int
    """Files still to download, regardless of when they became known."""
    filtered: int | None
    """Other files that the filter leaves out; ``None`` without a filter."""
    is_relist: bool
    """Whether all jobs are listed, as is done from time to time."""
    lists_read_at: dt.datetime | None
    """When the reading of the lists began; ``None`` if it has not begun."""
    by_purpose: dict[str, Calls]
    """``lists`` (including locations), ``details``, ``asked`` (first requests of files) and ``collected`` (files that
    the
    service had to convert).
    """
    seconds: tuple[float, float]
    """Minimum and maximum seconds that the remaining calls take at the rate limit."""
    bytes: int | None
    """Estimated bytes of the files, from the mean of known ones; ``None`` if none is known."""
    text: str
    """The plan in one line."""
    notes: list[str]
    """Notes for the user: ids of the filter that the list of jobs does not have."""

    @property
    def calls(self) -> tuple[int, int]:
        """Minimum and maximum number of calls of the whole sync, including those made for the plan."""
        calls = self.by_purpose.values()
        return sum(each.made + each.least for each in calls), sum(each.made + each.most for each in calls)

    @property
    def calls_left(self) -> tuple[int, int]:
        """Minimum and maximum number of calls left."""
        calls = self.by_purpose.values()
        return sum(each.least for each in calls), sum(each.most for each in calls)

    def __str__(self) -> str:
        """Return the plan in one line, a line for each purpose of calls, and the notes."""
        lines = (f"  {line}" for line in text_table(PLAN_HEAD, self._reasons(), right=(1,)))
        return "\n".join([self.text, *lines, *(f"  note: {printable(note)}" for note in self.notes)])

    def __repr__(self) -> str:
        """Return the same as ``print`` shows."""
        return str(self)

    def _repr_html_(self) -> str:
        """Return the same as an HTML table; all texts are escaped."""
        notes = "".join(f"<li>{escape(printable(note))}</li>" for note in self.notes)
        table = table_html(PLAN_HEAD, self._reasons(), right=(1,))
        return f"<div><p>{escape(printable(self.text))}</p>{table}{f'<ul>{notes}</ul>' if notes else ''}</div>"

    def _reasons(self) -> list[tuple[str, str, str]]:
        lists, details, asked, collected = (self.by_purpose[name] for name in PURPOSES)
        made = [f"{formatting.counted(each.made, 'call')} made for this plan" for each in (lists, details)]
        listed = "jobs since the newest known one, locations"
        if self.is_relist:
            listed = "all jobs, grain carts, devices, maps, locations"
        changes = f"{self.new:,} new, {self.changed:,} changed, {self.gone:,} gone"
        reasons = {
            "lists": (lists, f"{listed}; {made[0]}"),
            "details": (details, f"of new and changed jobs, maps and computers; {made[1]}"),
            "asked": (asked, "first request of each file: the service sends it or starts a conversion"),
            "collected": (collected, "converted files, requested again after the wait that the service states"),
        }
        rows = [(name, formatting.number_range(calls.least, calls.most), why) for name, (calls, why) in reasons.items()]
        return [*rows, ("records", "", changes)]

    @classmethod
    def of(cls, facts: _core._Plan) -> Plan:
        """Create it from the values of the core."""
        others = {name: value for name, value in facts.items() if name != "calls"}
        calls = {name: Calls(*counts) for name, counts in facts["calls"].items()}
        return cls(**others, by_purpose=calls)  # type: ignore[arg-type]  # as for `Status`


@dataclass(frozen=True)
class Outcome(JsonValues):
    """The outcome of a sync."""

    new: int
    """New jobs and grain carts."""
    changed: int
    """Changed ones."""
    gone: int
    """Removed ones: the service no longer has them."""
    failed: int
    """Those whose file failed or cannot be read, at the end; `Status.unavailable` names them with their reasons."""
    calls: int
    """Finished calls."""
    bytes: int
    """Bytes of the downloaded archives."""
    generation: int | None
    """The published generation; ``None`` if nothing had changed."""
    rows: int | None
    """Rows of the dataset, if one was published."""
    notes: list[str]
    """Notes for the user: records skipped until the next sync, lists that the key does not permit, ids of the filter
    that the list of jobs does not have.
    """


@dataclass(frozen=True)
class Verification(JsonValues):
    """The result of verifying every archive and every published file."""

    archives: int
    """Number of archives read."""
    findings: list[str]
    """Findings; empty if everything is intact."""

    @property
    def ok(self) -> bool:
        """Whether everything is intact."""
        return not self.findings

    def __str__(self) -> str:
        """Return a line for each finding, or one that states that there is none."""
        return "\n".join(self.findings) or f"{self.archives} archives and the dataset are intact"
