"""The status of a mirror, shown as text and as HTML."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from headland import _core, errors
from headland.display.escaping import printable
from headland.display.tables import aligned, table_html
from headland.mirror import formatting, summary
from headland.mirror.models import CallsMade, JsonValues, Unavailable

if TYPE_CHECKING:
    import datetime as dt
    from pathlib import Path

    from headland.mirror.summary import Stock

STATES = {
    "stored": "here",
    "pending": "to come",
    "converting": "converting",
    "no coverage": "no coverage",
    "failed": "failed",
    "quarantined": "quarantined",
    "superseded": "superseded",
    "gone": "gone",
}
"""The states of files in display order, with their labels."""

UNAVAILABLE = "Unavailable"
"""Title of the table of texts; the others have counts behind their first columns."""

Table = tuple[str, list[str], list[list[str]]]
"""A title, a head and rows."""


@dataclass(frozen=True, repr=False)
class Status(JsonValues):
    """The status of a mirror, from its journal and its published state alone.

    >>> status = mirror.status()
    >>> print(status)
    >>> print(status.jobs, status.rows, status.to_dict()["relisted_at"])
    """

    folder: Path
    """The folder of the mirror."""
    read_at: dt.datetime
    """The time of this status."""
    jobs: dict[str, int]
    """Number of jobs by the state of their files: ``stored``, ``pending``, ``converting``, ``no coverage``, ``failed``,
    ``quarantined``, ``gone``.
    """
    types: dict[str, dict[str, int]]
    """The same for each kind of job, by the names in lists."""
    grain_carts: dict[str, int]
    """The same for grain cart files; ``superseded`` are those with a newer upload."""
    archives: int
    """Number of archives in the store."""
    bytes: int
    """Bytes of these archives."""
    details_due: int
    """Number of job details still to read."""
    next_ready_at: dt.datetime | None
    """When the first pending conversion is ready."""
    listed_at: dt.datetime | None
    """When the list of jobs was last read."""
    relisted_at: dt.datetime | None
    """When all jobs were last listed; later changes without a trace in new lists are unknown."""
    relist_due: bool
    """Whether the next sync lists all jobs."""
    unfinished_since: dt.datetime | None
    """When the unfinished sync began, if there is one."""
    planned_at: dt.datetime | None
    """When the lists were read for a plan without a sync since, if there is one."""
    calls: dict[str, CallsMade]
    """Calls by purpose: ``lists``, ``details``, ``conversions`` (file requests answered with a wait), ``files``."""
    generation: int | None
    """The published generation."""
    is_published: bool
    """Whether it includes all known records and all downloaded files; ``pending`` files are not downloaded yet."""
    unavailable: list[Unavailable]
    """Unavailable files and details, at most twenty of a kind."""
    dataset: list[Stock]
    """The published dataset by job type and year; empty if it cannot be read."""
    damage: str | None
    """The reason why the published state cannot be read, such as a lost file, and the solution; ``None`` if it can.

    If its whole folder is lost, ``dataset`` and ``generation`` may be those of the previous generation.
    """
    disk: int
    """Bytes of the folder on disk: archives, published states, journal and quarantine."""

    @property
    def parts(self) -> int | None:
        """Number of files of the dataset; ``None`` if it cannot be read."""
        return None if self._is_unreadable else sum(each.parts for each in self.dataset)

    @property
    def rows(self) -> int | None:
        """Number of rows of the dataset; ``None`` if it cannot be read."""
        return None if self._is_unreadable else sum(each.rows for each in self.dataset)

    @property
    def rows_bytes(self) -> int | None:
        """Bytes of the files of the dataset; ``None`` if it cannot be read."""
        return None if self._is_unreadable else sum(each.bytes for each in self.dataset)

    @property
    def _is_unreadable(self) -> bool:
        return self.damage is not None and not self.dataset

    def __str__(self) -> str:
        """Return the status as lines of text."""
        return _text(self)

    def __repr__(self) -> str:
        """Return the same as ``print`` shows."""
        return str(self)

    def _repr_html_(self) -> str:
        """Return HTML tables for notebooks, without scripts or downloads."""
        return _html(self)

    @classmethod
    def of(cls, facts: _core._Status, folder: Path, now: dt.datetime) -> Status:
        """Create it from the values of the core and from the folder."""
        others = {"calls", "unavailable", "types", "lost"}
        known = {name: value for name, value in facts.items() if name not in others}
        types: dict[str, dict[str, int]] = {}
        for (kind, state), count in facts["types"].items():
            types.setdefault(kind or "unknown", {})[state] = count
        dataset: list[Stock] = []
        damage = facts["lost"]
        try:
            if facts["generation"] is not None:
                dataset = summary.dataset_summary(folder)
        except errors.ArchiveError as reason:
            damage = str(reason)
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


def _text(status: Status) -> str:
    """Return the status as lines of text."""
    lines = [str(status.folder), *(f"  {name:<12}  {printable(value)}" for name, value in _overview(status))]
    for title, head, cells in _tables(status):
        rows = [[printable(cell) for cell in row] for row in cells]
        lines += [title, *(f"  {line}" for line in aligned([head, *rows], lambda _, cell: cell[:1].isdigit()))]
    return "\n".join(lines)


def _html(status: Status) -> str:
    """Return HTML tables; all texts are escaped, and no script or download is included."""
    made = [f"<h4>Mirror in <code>{escape(str(status.folder))}</code></h4>"]
    made.append(table_html((), _overview(status)))
    for title, head, rows in _tables(status):
        counts = () if title == UNAVAILABLE else range(1, len(head))
        made.append(table_html(head, rows, caption=title, right=counts))
    return f"<div>{''.join(made)}</div>"


def _overview(status: Status) -> list[tuple[str, str]]:
    now = status.read_at
    relist = ", due at the next sync" if status.relist_due else ""
    if status.generation is None and status.damage is None:
        published = "nothing yet"
    elif status.parts is None or status.rows is None or status.rows_bytes is None:
        published = f"cannot be read: {status.damage}"
    else:
        due = sum(
            counts.get(state, 0) for counts in (status.jobs, status.grain_carts) for state in ("pending", "converting")
        )
        known = f"all that was downloaded; {formatting.counted(due, 'file')} not" if due else "everything known"
        is_new = known if status.is_published else "older than the known records"
        files = formatting.counted(status.parts, "file")
        rows = formatting.counted(status.rows, "row")
        published = f"{rows} in {files}, {_core.format_size(status.rows_bytes)}, {is_new}"
        if status.damage is not None:
            published += f": {status.damage}"
    facts = [
        ("published", published),
        ("archives", f"{formatting.counted(status.archives, 'archive')}, {_core.format_size(status.bytes)}"),
        ("on the disk", _core.format_size(status.disk)),
        (
            "lists",
            f"read {formatting.age(status.listed_at, now)}; all jobs {formatting.age(status.relisted_at, now)}{relist}",
        ),
        ("calls", ", ".join(f"{count.ever:,} {name}" for name, count in status.calls.items()) or "none yet"),
    ]
    if status.planned_at is not None:
        is_first = status.generation is None and status.damage is None
        pulled = "nothing has been pulled yet" if is_first else "nothing of it has been pulled yet"
        facts.append(("planned", f"{formatting.age(status.planned_at, now)}; {pulled}: sync"))
    if status.unfinished_since is not None:
        facts.append(("unfinished", f"a sync started {formatting.age(status.unfinished_since, now)}: sync again"))
    if status.details_due:
        facts.append(("details", f"{status.details_due:,} to come"))
    if status.next_ready_at is not None:
        facts.append(("conversions", f"the first is ready at {formatting.clock(status.next_ready_at)}"))
    return facts


def _tables(status: Status) -> list[Table]:
    kinds = {**status.types, **({"Grain carts": status.grain_carts} if status.grain_carts else {})}
    there = [state for state in STATES if any(state in counts for counts in kinds.values())]
    tables: list[Table] = []
    if kinds:
        rows = [[kind, *(f"{counts.get(state, 0):,}" for state in there)] for kind, counts in sorted(kinds.items())]
        tables.append(("Files", ["kind", *(STATES[state] for state in there)], rows))
    if status.dataset:
        head = ["job type", "year", "files", "rows", "size"]
        rows = [
            [
                *(str(key or "unknown") for key in (each.job_type, each.year)),
                *(f"{count:,}" for count in (each.parts, each.rows)),
                _core.format_size(each.bytes),
            ]
            for each in status.dataset
        ]
        tables.append(("Dataset", head, rows))
    if status.unavailable:
        bad = [[each.state, each.kind, each.id, each.name, each.reason] for each in status.unavailable]
        tables.append((UNAVAILABLE, ["state", "kind", "id", "name", "reason"], bad))
    return tables
