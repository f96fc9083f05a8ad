"""Tables made from one record, such as the products of a job."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from headland import extras
from headland.display.tables import table_html

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headland import _core

Row = TypeVar("Row")

SHOWN = 20
"""Rows shown in a notebook."""


class TableColumn(NamedTuple):
    """A column: its name, Arrow type, unit and meaning."""

    name: str
    type: str
    unit: str | None
    documentation: str | None


class Table(Generic[Row]):
    """Rows as dicts, and the same rows as Arrow columns with units.

    >>> for row in client.job_data.products(job_id):
    ...     print(row["product_name"], row["applied_area"])
    """

    __slots__ = ("_core", "_rows")

    def __init__(self, rows: list[Row], core: _core.Table) -> None:
        self._rows = rows
        self._core = core

    @property
    def columns(self) -> list[str]:
        """Names of the columns in order; the last one contains fields that are not in the specification."""
        return [column.name for column in self.describe()]

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column of numbers; ``"unknown"`` if it is not stated."""
        return {column.name: column.unit for column in self.describe() if column.unit is not None}

    def describe(self) -> list[TableColumn]:
        """Return name, type, unit and meaning of each column."""
        return [TableColumn(*column) for column in self._core.columns]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        """Iterate over the rows as dicts."""
        return iter(self._rows)

    def __repr__(self) -> str:
        """Return the size in one line."""
        return f"<Table: {len(self)} rows, {len(self.columns)} columns>"

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the columns by the Arrow C stream interface."""
        return self._core.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Export the schema by the Arrow C data interface."""
        return self._core.__arrow_c_schema__()

    def to_arrow(self) -> Any:
        """Return a ``pyarrow.Table``."""
        extras.require("geo", "pyarrow")
        import pyarrow as pa

        return pa.table(self)

    def to_pandas(self, dtype_backend: str = "numpy_nullable") -> Any:
        """Return a ``pandas.DataFrame``; ``frame.attrs["units"]`` maps columns to their known units.

        Args:
            dtype_backend: ``"numpy_nullable"`` keeps integers with nulls as integers, ``"pyarrow"`` keeps the Arrow
                types, ``"numpy"`` uses the classic dtypes of pandas.
        """
        extras.require("geo", "pandas", "pyarrow")
        from headland.layer.frames import pandas_options, to_frame

        return to_frame(self.to_arrow(), pandas_options(dtype_backend))

    def _repr_html_(self) -> str:
        """Return the first rows as HTML, without columns that are empty in all of them."""
        shown: list[Any] = self._rows[:SHOWN]
        used = [column for column in self.describe() if any(row.get(column.name) is not None for row in shown)]
        unit = {column.name: f" ({column.unit})" for column in used if column.unit not in (None, "1", "unknown")}
        head = [column.name + unit.get(column.name, "") for column in used]
        rows = ([_text(row.get(column.name)) for column in used] for row in shown)
        return f"<div>{table_html(head, rows)}<p>{html.escape(repr(self))}</p></div>"


def _text(value: object) -> str:
    """Return a cell with all digits."""
    return "" if value is None else str(value)
