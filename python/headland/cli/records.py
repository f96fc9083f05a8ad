"""Prints records for people: fields with their units, and lists inside of records as tables."""

from __future__ import annotations

import datetime as dt
import json
import re
import sys
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from headland import _core
from headland.cli.output import cell, print_text, width_of, wrapped
from headland.display.escaping import printable
from headland.display.tables import text_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HIDDEN = ("uri",)
"""Fields that only programs use."""

SHOWN = 5
"""Rows of a list inside of a record or of a document."""

WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""The limit of two words in a name of the service."""

UNIT_NAMES = {"1": "", "as configured on the field computer": "as configured", "m²": "m2"}
"""Units that are shown in other words."""


def print_record(record: Mapping[str, Any]) -> None:
    """Print a record; fields without a value are left out, and `--json` has everything."""
    for line in _lines(record, "", width_of(sys.stdout)):
        print_text(line)


def _lines(record: Mapping[str, Any], indent: str, width: int) -> Iterator[str]:
    """Return the single values, then the records and lists inside."""
    units = _units()
    single = {name: text for name, value in record.items() if (text := _text(value)) and name not in HIDDEN}
    size = max((len(printable(name)) for name in single), default=0)
    for name, text in single.items():
        unit = (
            units.get(name, "") if isinstance(record[name], int | float) and not isinstance(record[name], bool) else ""
        )
        front = f"{indent}{printable(name):<{size}}  "
        yield from wrapped(f"{front}{text}{f' {unit}' if unit else ''}", width, " " * len(front))
    for name, value in record.items():
        if isinstance(value, Mapping) and value:
            yield f"{indent}{printable(name)}:"
            yield from _lines(value, f"{indent}  ", width)
        elif isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
            yield from _list_lines(name, [each for each in value if isinstance(each, Mapping)], indent, width)


def _list_lines(name: str, rows: Sequence[Mapping[str, Any]], indent: str, width: int) -> Iterator[str]:
    """Return the first records of a list as a table, then the lists inside of each."""
    shown = rows[:SHOWN]
    first = f", first {SHOWN} of {len(rows):,}" if len(rows) > SHOWN else ""
    yield f"{indent}{printable(name)}{first}:"
    units = _units()
    names = dict.fromkeys(field for row in shown for field in row if _text(row[field]) and field not in HIDDEN)
    titles = [f"{field} ({units[field]})" if units.get(field) else field for field in names]
    cells = [[_cell(row.get(field)) for field in names] for row in shown]
    yield from (
        f"{indent}  {line}".rstrip()
        for line in text_table(titles, cells, width=width - len(indent) - 2, most=len(titles))
    )
    for row in shown:
        for field, value in row.items():
            if isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
                title = next((text for key in ("product_name", "name", "id") if (text := _text(row.get(key)))), "")
                inner = [each for each in value if isinstance(each, Mapping)]
                yield from _list_lines(f"{field} of {title}" if title else field, inner, f"{indent}  ", width)


def _cell(value: Any) -> object:
    return value if isinstance(value, int | float) else _text(value)


def _text(value: Any) -> str:
    """Return a single value or a list of them as text; empty for records."""
    if isinstance(value, Mapping):
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(cell(each) for each in value if not isinstance(each, Mapping))
    if isinstance(value, bool):
        return "yes" if value else "no"
    # As in lists; `--json` has all digits.
    return f"{value.astimezone(dt.UTC):%Y-%m-%d %H:%M:%SZ}" if isinstance(value, dt.datetime) else cell(value)


@cache
def _units() -> dict[str, str]:
    """Return the units of the fields that have the same one in all records of the service."""
    found: dict[str, set[str]] = {}
    for schema in json.loads(_core.openapi())["components"]["schemas"].values():
        for name, known in schema.get("properties", {}).items():
            unit = known.get("x-unit", "")
            found.setdefault(WORD.sub("_", name).lower(), set()).add(UNIT_NAMES.get(unit, unit))
    return {name: next(iter(units)) for name, units in found.items() if len(units) == 1}
