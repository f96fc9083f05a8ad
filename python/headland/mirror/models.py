"""What a mirror tells: its plan, what a sync did, how it stands, what verifying found."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

from headland import errors
from headland.mirror import formatting, render, summary

if TYPE_CHECKING:
    import datetime as dt
    from pathlib import Path

    from headland import _core
    from headland.mirror.summary import Stock


class JsonValues:
    """What can be given as values of JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Give all of it as values of JSON: times are ISO texts in UTC, what has names is a dict."""
        return {each.name: formatting.to_json_value(getattr(self, each.name)) for each in fields(self)}  # type: ignore[arg-type]


class Calls(NamedTuple):
    """Calls for one purpose."""

    made: int
    """Made for the plan: the sync that follows does not make them again."""
    least: int
    """Left to make at least."""
    most: int
    """Left to make at most, unless the service asks to wait for a file more than once."""


class CallsMade(NamedTuple):
    """Calls that were finished for one purpose."""

    last_run: int
    """In the last run, or in the one that goes on."""
    ever: int
    """Since the mirror was made."""


PURPOSES = ("lists", "details", "asked", "collected")
"""What calls are planned for."""


class Unavailable(NamedTuple):
    """A job or a grain cart file that could not be had, or a job without its detail."""

    kind: str
    """``job`` or ``cart``."""
    id: str
    """Its id."""
    name: str
    """Its name."""
    state: str
    """``failed`` where the service could not make the file, ``quarantined`` where it cannot be read, ``no detail``
    where the service refused the detail of the job, until it gives one."""
    reason: str
    """Why."""


@dataclass(frozen=True)
class Plan(JsonValues):
    """What a sync has to do: ``212 to 230 calls, about 7 min, about 1.2 GB``, and what they are for.

    >>> plan = mirror.plan()
    >>> print(plan.text, plan.calls_left, plan.by_purpose["lists"])
    """

    new: int
    """Jobs and grain carts that are new."""
    changed: int
    """Those that have changed."""
    gone: int
    """Those that the service has no more."""
    files: int
    """Files that are still to come, whenever they became known."""
    is_relist: bool
    """Whether all jobs are listed, as is done every now and then."""
    lists_read_at: dt.datetime | None
    """When the reading of the lists began; ``None`` where nothing was begun."""
    by_purpose: dict[str, Calls]
    """``lists`` (locations among them), ``details``, ``asked`` (first askings for a file) and ``collected`` (files that
    the service had to make)."""
    seconds: tuple[float, float]
    """How long the calls that are left take at the limit, at least and at most."""
    bytes: int | None
    """Bytes of the files, by the mean of those that are known; ``None`` where none is."""
    text: str
    """The plan in a line."""

    @property
    def calls(self) -> tuple[int, int]:
        """Calls of the whole sync, those that the plan made among them: at least and at most."""
        calls = self.by_purpose.values()
        return sum(each.made + each.least for each in calls), sum(each.made + each.most for each in calls)

    @property
    def calls_left(self) -> tuple[int, int]:
        """Calls that are left: at least and at most."""
        calls = self.by_purpose.values()
        return sum(each.least for each in calls), sum(each.most for each in calls)

    def __str__(self) -> str:
        """Give the plan in a line, and a line for each purpose of calls."""
        return "\n".join([self.text, *self._reasons()])

    def _reasons(self) -> list[str]:
        lists, details, asked, collected = (self.by_purpose[name] for name in PURPOSES)
        made = [f"{formatting.number(each.made, 'call')} made for this plan" for each in (lists, details)]
        jobs = "all jobs" if self.is_relist else "jobs since the newest that is known"
        changes = f"{self.new:,} new, {self.changed:,} changed, {self.gone:,} gone"
        reasons = {
            "lists": (lists, f"{jobs}, grain carts, devices, maps, locations; {made[0]}"),
            "details": (details, f"of jobs, maps and computers that are new or have changed; {made[1]}"),
            "asked": (asked, "each file is asked for: it comes, or the service begins to convert it"),
            "collected": (collected, "files that the service had to convert, after the wait that it states"),
        }
        rows = [(name, formatting.number_range(calls.least, calls.most), why) for name, (calls, why) in reasons.items()]
        width = max(len(count) for _, count, _ in rows)
        return [*(f"  {name:<9}  {count:>{width}}  {why}" for name, count, why in rows), f"  {'records':<9}  {changes}"]

    @classmethod
    def of(cls, facts: _core._Plan) -> Plan:
        """Make one of what the core tells."""
        calls = {name: Calls(*counts) for name, counts in facts["calls"].items()}
        return cls(
            new=facts["new"],
            changed=facts["changed"],
            gone=facts["gone"],
            files=facts["files"],
            is_relist=facts["is_relist"],
            lists_read_at=facts["lists_read_at"],
            by_purpose=calls,
            seconds=facts["seconds"],
            bytes=facts["bytes"],
            text=facts["text"],
        )


@dataclass(frozen=True)
class Outcome(JsonValues):
    """What a sync did."""

    new: int
    """Jobs and grain carts that were new."""
    changed: int
    """Those that had changed."""
    gone: int
    """Those that the service has no more."""
    calls: int
    """Calls that were finished."""
    bytes: int
    """Bytes of the archives that came."""
    generation: int | None
    """The generation that was published; ``None`` where nothing had changed."""
    rows: int | None
    """Rows of the dataset, where one was published."""
    notes: list[str]
    """What you should know of: records that were set aside until the next sync, lists that the key does not give."""


@dataclass(frozen=True)
class Status(JsonValues):
    """How a mirror stands, from its journal and its published state alone.

    >>> status = mirror.status()
    >>> print(status)
    >>> print(status.jobs, status.rows, status.to_dict()["relisted_at"])
    """

    folder: Path
    """The folder of the mirror."""
    read_at: dt.datetime
    """When this was so."""
    jobs: dict[str, int]
    """Jobs by what became of their files: ``have``, ``unasked``, ``asked``, ``no coverage``, ``failed``,
    ``quarantined``, ``gone``."""
    types: dict[str, dict[str, int]]
    """The same for each kind of job, as lists name the kinds."""
    grain_carts: dict[str, int]
    """Grain cart files likewise; ``superseded`` are those of which there is a newer upload."""
    archives: int
    """Archives in the store."""
    bytes: int
    """Their bytes."""
    details_due: int
    """Details of jobs that are still to come."""
    next_ripe: dt.datetime | None
    """When the first conversion that is waited for is ripe."""
    listed_at: dt.datetime | None
    """When the list of jobs was read last."""
    relisted_at: dt.datetime | None
    """When all jobs were listed last: what changed since then without a sign of it is not known."""
    relist_due: bool
    """Whether the next sync lists all jobs."""
    unfinished_since: dt.datetime | None
    """When the sync began that has not come to its end, if there is one."""
    planned_at: dt.datetime | None
    """When the lists were read for a plan that no sync has followed yet, if there is one."""
    calls: dict[str, CallsMade]
    """Calls by purpose: ``lists``, ``details``, ``conversions`` (askings that were told to wait), ``files``."""
    generation: int | None
    """The generation that is published."""
    is_published: bool
    """Whether it shows all that is known."""
    unavailable: list[Unavailable]
    """Some of the files and details that could not be had, twenty of a kind at most."""
    dataset: list[Stock]
    """What readers get, by job type and year; empty where it cannot be read."""
    damage: str | None
    """Why what was published last cannot be read, such as a file that was lost, or a link that leads to it, and what to
    do; ``None`` where it can.
    Where its whole folder was lost, ``dataset`` and ``generation`` may be those of the generation before."""
    disk: int
    """Bytes of the folder on the disk: archives, published states, journal and quarantine."""

    @property
    def parts(self) -> int | None:
        """Files of the dataset; ``None`` where it cannot be read."""
        return None if self._is_unreadable else sum(each.parts for each in self.dataset)

    @property
    def rows(self) -> int | None:
        """Rows of the dataset; ``None`` where it cannot be read."""
        return None if self._is_unreadable else sum(each.rows for each in self.dataset)

    @property
    def rows_bytes(self) -> int | None:
        """Bytes of the files of the dataset; ``None`` where it cannot be read."""
        return None if self._is_unreadable else sum(each.bytes for each in self.dataset)

    @property
    def _is_unreadable(self) -> bool:
        return self.damage is not None and not self.dataset

    def __str__(self) -> str:
        """Give a line for each thing that a person wants to know."""
        return render.text(self)

    def _repr_html_(self) -> str:
        """Show it in a notebook: tables, and nothing that runs or is fetched."""
        return render.html(self)

    @classmethod
    def of(cls, facts: _core._Status, folder: Path, now: dt.datetime) -> Status:
        """Make one of what the core tells and of what is on the disk."""
        others = {"calls", "unavailable", "types", "lost"}
        known = {name: value for name, value in facts.items() if name not in others}
        types: dict[str, dict[str, int]] = {}
        for (kind, state), count in facts["types"].items():
            types.setdefault(kind or "unknown", {})[state] = count
        dataset: list[Stock] = []
        damage = facts["lost"]
        try:
            dataset = summary.dataset_summary(folder)
        except errors.ArchiveError as reason:
            damage = damage or str(reason)
        return cls(
            **known,  # type: ignore[arg-type]  # the names and types of a TypedDict, of which mypy sees objects
            folder=folder,
            read_at=now,
            types=types,
            dataset=dataset,
            damage=damage,
            disk=facts["bytes"] + summary.disk_usage(folder),
            calls={name: CallsMade(*counts) for name, counts in facts["calls"].items()},
            unavailable=[Unavailable(**each) for each in facts["unavailable"]],
        )


@dataclass(frozen=True)
class Verification(JsonValues):
    """What a look at every archive and every published file found."""

    archives: int
    """Archives that were read."""
    findings: list[str]
    """What is not as it should be; empty where all is."""

    @property
    def ok(self) -> bool:
        """Whether everything is as it should be."""
        return not self.findings

    def __str__(self) -> str:
        """Give a line for each finding, or one that says that there is none."""
        return "\n".join(self.findings) or f"{self.archives} archives and the dataset are as they should be"
