"""The rows of a layer as dicts, and their table in notebooks."""

from __future__ import annotations

import datetime as dt
import html
from typing import TYPE_CHECKING, Any

from headland.escaping import printable, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pyarrow as pa

    from headland.layer_views import LayerViews

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
        return table_html([self._title(name) for name in (self[0] if self else ())], (row.values() for row in self))

    def _title(self, name: str) -> str:
        unit = self._units.get(name, "unknown")
        return name if unit == "unknown" else f"{name} ({unit})"


def table_html(titles: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return an HTML table with escaped texts; ``None`` is an empty cell."""
    head = "".join(f"<th>{html.escape(printable(title))}</th>" for title in titles)
    body = "".join(f"<tr>{''.join(map(_cell_html, row))}</tr>" for row in rows)
    return f"<table style='white-space:nowrap'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell_html(cell: object) -> str:
    """Return a cell: numbers on the right with six digits, long texts cut."""
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        shown = f"{cell:.6g}" if isinstance(cell, float) else f"{cell}"
        return f"<td style='text-align:right'>{shown}</td>"
    return f"<td>{'' if cell is None else html.escape(shortened(str(cell), MAX_CELL))}</td>"


def rows(layer: LayerViews, block: int = BLOCK) -> Iterator[dict[str, Any]]:
    """Yield the rows without the geometry; pyarrow, if installed, converts a block of rows at a time.

    Raises:
        ImportError: Columns have the same name, and pyarrow is not installed.
    """
    geometry = layer._core.geometry_column  # noqa: SLF001 - of this package
    names = [name for name in layer.columns if name != geometry]
    try:
        table = layer.to_arrow()
    except ImportError:
        if len({*names}) < len(names):
            raise
        yield from _joined(names, [layer.values(name) for name in names], len(layer))
        return
    if geometry is not None:
        table = table.drop_columns(geometry)
    unique = zip(layer.columns, layer._core.distinct_columns, strict=True)  # noqa: SLF001 - of this package
    keys = [key for name, key in unique if name != geometry]
    for batch in table.to_batches(max_chunksize=max(block, 1)):
        yield from _joined(keys, [_values(column) for column in batch.columns], batch.num_rows)


def _joined(names: list[str], columns: list[list[Any]], count: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of columns; rows without columns are empty dicts."""
    if not columns:
        yield from ({} for _ in range(count))
    for cells in zip(*columns, strict=True):
        yield dict(zip(names, cells, strict=True))


def _values(column: pa.Array) -> list[Any]:
    """Return the cells as the core does: times with a zone have ``datetime.timezone.utc``."""
    cells: list[Any] = column.to_pylist()
    if getattr(column.type, "tz", None) is None:
        return cells
    return [None if time is None else time.astimezone(dt.UTC) for time in cells]
