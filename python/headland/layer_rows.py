"""The rows of a layer as dicts, and their table in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headland.display_table import table_html
from headland.escaping import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from headland import _core

BLOCK = 10_000
"""Rows that are converted at once."""

MAX_CELL = 40
"""Characters of a text in a table."""


class Rows(list[dict[str, Any]]):
    """Rows of a layer: a list of dicts, which notebooks show as a table with units."""

    def __init__(self, rows: Iterable[dict[str, Any]], units: Mapping[str, str]) -> None:
        super().__init__(rows)
        self._units = units

    def _repr_html_(self) -> str:
        """Return the rows as an HTML table; all texts are escaped."""
        titles = [self._title(name) for name in (self[0] if self else ())]
        return table_html(titles, (map(_cut, row.values()) for row in self), can_wrap=False)

    def _title(self, name: str) -> str:
        unit = self._units.get(name, "unknown")
        return name if unit == "unknown" else f"{name} ({unit})"


def _cut(cell: object) -> object:
    """Return a text without its end if it is long."""
    return cell if cell is None or isinstance(cell, int | float) else shortened(str(cell), MAX_CELL)


def rows(core: _core.Layer) -> Iterator[dict[str, Any]]:
    """Yield the rows without the geometry, which are converted block by block."""
    start = 0
    while block := core.rows(start, BLOCK):
        yield from block
        start += len(block)
