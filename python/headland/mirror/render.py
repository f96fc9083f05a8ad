"""Renders the status of a mirror as text and as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from headland import _core
from headland.display.escaping import printable
from headland.display.tables import aligned, table_html
from headland.mirror import formatting

if TYPE_CHECKING:
    from headland.mirror.models import Status

STATES = {
    "have": "here",
    "unasked": "to come",
    "asked": "converting",
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


def text(status: Status) -> str:
    """Return the status as lines of text."""
    lines = [str(status.folder), *(f"  {name:<12}  {printable(value)}" for name, value in _overview(status))]
    for title, head, cells in _tables(status):
        rows = [[printable(cell) for cell in row] for row in cells]
        lines += [title, *(f"  {line}" for line in aligned([head, *rows], lambda _, cell: cell[:1].isdigit()))]
    return "\n".join(lines)


def html(status: Status) -> str:
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
            counts.get(state, 0) for counts in (status.jobs, status.grain_carts) for state in ("unasked", "asked")
        )
        known = f"all that was downloaded; {formatting.number(due, 'file')} not" if due else "everything known"
        is_new = known if status.is_published else "older than the known records"
        files = formatting.number(status.parts, "file")
        rows = formatting.number(status.rows, "row")
        published = f"{rows} in {files}, {_core.format_size(status.rows_bytes)}, {is_new}"
        if status.damage is not None:
            published += f": {status.damage}"
    facts = [
        ("published", published),
        ("archives", f"{formatting.number(status.archives, 'archive')}, {_core.format_size(status.bytes)}"),
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
    if status.next_ripe is not None:
        facts.append(("conversions", f"the first is ready at {formatting.clock(status.next_ripe)}"))
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
