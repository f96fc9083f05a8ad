"""Renders the first records of a list as text and as HTML."""

from __future__ import annotations

import datetime as dt
from html import escape
from typing import Any, NamedTuple

from headland.display.escaping import shortened
from headland.display.quantities import iso_text
from headland.display.tables import aligned, number_columns, table_html

SHOWN = 5
"""Records that a list shows."""

MAX_COLUMNS = 6
MAX_WIDTH = 120
MAX_CELL = 40
"""Limits of a table: its columns, the characters of a line and those of a cell."""

FIRST_COLUMNS = ("id", "name", "sub_type")
"""Columns that come first, before times and other values."""

HIDDEN_COLUMNS = ("uri",)
"""Columns that are never shown: an address is long and only headland uses it."""


class Head(NamedTuple):
    """The beginning of a list, as read."""

    records: list[Any]
    total: int | None
    """The total count of the service, if it states one."""


def unread(pages: object, about: str) -> str:
    """Return the name of a list of which no page was read, and what reads it."""
    how = "`async for` reads it" if type(pages).__name__.startswith("Async") else "iterate, or take `[:5]`"
    return f"<{type(pages).__name__} {about}, not read yet: {how}>"


def title(call: str, page: int | None, head: Head) -> str:
    """Return the count and the name of a list, such as ``61 job data, first 5:``."""
    label = call.removesuffix(".list").replace(".", " ").replace("_", " ")
    text = label if head.total is None else f"{head.total:,} {label}"
    shown = len(head.records)
    where = "" if page is None else f" of page {page}"
    if shown == 0:
        return text if head.total == 0 else f"{text}, no record{where or ' in the first page'}"
    return f"{text}:" if shown == head.total else f"{text}, first {shown}{where}:"


def text(call: str, page: int | None, head: Head) -> str:
    """Return the title and the first records as an aligned table."""
    rows = _rows(head.records)
    right = _right_columns(rows, head.records)
    lines = aligned(rows, lambda index, _: index in right)
    return "\n".join([title(call, page, head), *(f"  {line}" for line in lines)])


def html(call: str, page: int | None, head: Head) -> str:
    """Return the same as an HTML table; all texts are escaped, and no script or download is included."""
    names, *rows = _rows(head.records) or [[]]
    table = table_html(names, rows, right=_right_columns([names, *rows], head.records)) if names else ""
    return f"<div><p>{escape(title(call, page, head))}</p>{table}</div>"


def _rows(records: list[Any]) -> list[list[str]]:
    """Return the names of the columns and a row for each record; only as many columns as fit."""
    dicts = [record for record in records if isinstance(record, dict)]
    columns: list[list[str]] = []
    width = 0
    for name in _names(dicts):
        column = [_cell(name), *(_cell(record.get(name)) for record in dicts)]
        width += max(map(len, column)) + 2
        if columns and width > MAX_WIDTH:
            break
        columns.append(column)
    return [list(row) for row in zip(*columns[:MAX_COLUMNS], strict=True)]


def _right_columns(rows: list[list[str]], records: list[Any]) -> set[int]:
    """Return the positions of the columns of numbers among those that are shown."""
    names = rows[0] if rows else []
    return number_columns([each.get(name) for name in names] for each in records if isinstance(each, dict))


def _names(records: list[dict[str, Any]]) -> list[str]:
    """Return the names of the columns of single values, the most useful first."""
    names = dict.fromkeys(name for record in records for name in record)
    values = {name: [value for record in records if (value := record.get(name)) is not None] for name in names}
    single = [name for name in names if values[name] and all(map(_is_single, values[name]))]
    found = [name for name in single if name not in HIDDEN_COLUMNS]
    times = [name for name in found if isinstance(values[name][0], dt.date)]
    return list(dict.fromkeys([*(name for name in FIRST_COLUMNS if name in found), *times, *found]))


def _is_single(value: object) -> bool:
    return isinstance(value, str | int | float | dt.date)


def _cell(value: object) -> str:
    if isinstance(value, dt.date):
        return iso_text(value)
    return "" if value is None else shortened(str(value), MAX_CELL)
