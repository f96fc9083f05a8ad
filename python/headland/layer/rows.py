"""The rows of a layer as dicts, and their table in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headland.display.escaping import shortened
from headland.display.tables import table_html, text_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from headland import _core

BLOCK = 10_000
"""Rows that are converted at once."""

MAX_CELL = 40
"""Characters of a text in a table."""


class Rows(list[dict[str, Any]]):
    """Rows of a layer: a list of dicts, which notebooks show as a table with units."""

    def __init__(self, rows: Iterable[dict[str, Any]], units: Mapping[str, str], order: Sequence[str] = ()) -> None:
        super().__init__(rows)
        self._units = units
        self._order = order
        """Columns that are shown first; the others follow in their own order."""

    def _repr_html_(self) -> str:
        """Return the rows as an HTML table; all texts are escaped."""
        return table_html(*self._table(), can_wrap=False)

    def lines(self, width: int | None = None) -> list[str]:
        """Return the rows as a table of text of this width, by default that of the console."""
        return text_table(*self._table(), width=width)

    def _table(self) -> tuple[list[str], list[list[object]]]:
        """Return the titles and the cells in the order in which they are shown."""
        names = list(self[0] if self else ())
        first = [name for name in self._order if name in names]
        shown = list(dict.fromkeys([*first, *names]))
        return [self._title(name) for name in shown], [[_cut(row[name]) for name in shown] for row in self]

    def _title(self, name: str) -> str:
        unit = self._units.get(name, "unknown")
        return name if unit in ("unknown", "1", name) else f"{name} ({unit})"


def _cut(cell: object) -> object:
    """Return a text without its end if it is long."""
    return cell if cell is None or isinstance(cell, int | float) else shortened(str(cell), MAX_CELL)


def rows(core: _core.Layer) -> Iterator[dict[str, Any]]:
    """Yield the rows without the geometry, which are converted block by block."""
    start = 0
    while block := core.rows(start, BLOCK):
        yield from block
        start += len(block)
