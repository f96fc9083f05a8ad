"""Statistics of the columns of a layer, as text, HTML and a frame."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING, Any

from headland import extras
from headland.display.escaping import printable
from headland.display.tables import aligned, table_html

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""The quantiles of a summary."""

TITLES = ("column", "count", "mean", "min", "5 %", "25 %", "50 %", "75 %", "95 %", "max", "unit")
"""Titles of the table."""


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """Statistics of a column of numbers; ``None`` if it has no value."""

    column: str
    """The name of the column."""
    count: int
    """Number of values: neither null nor NaN."""
    mean: float | None
    """The mean of the rows."""
    min: float | None
    """The smallest value."""
    q05: float | None
    """The 5 % quantile."""
    q25: float | None
    """The 25 % quantile."""
    q50: float | None
    """The median."""
    q75: float | None
    """The 75 % quantile."""
    q95: float | None
    """The 95 % quantile."""
    max: float | None
    """The largest value."""
    unit: str
    """The unit, ``"unknown"`` if not stated."""


class Summary(tuple[ColumnSummary, ...]):
    """Statistics of the columns of numbers: a tuple with one ``ColumnSummary`` for each column, shown as a table.

    >>> for column in headland.read("job.zip").summary():
    ...     print(column.column, column.mean, column.unit)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        """Return a table of text; numbers have six digits."""
        cells = [TITLES, *([printable(_text(cell)) for cell in astuple(row)] for row in self)]
        return "\n".join(aligned(cells, lambda index, _: 0 < index < len(TITLES) - 1))

    def _repr_html_(self) -> str:
        """Return an HTML table; all texts are escaped."""
        return table_html(TITLES, map(astuple, self), can_wrap=False)

    def to_pandas(self) -> pd.DataFrame:
        """Return a frame with one row for each column and the names of ``ColumnSummary``.

        Raises:
            ImportError: pandas is not installed; ``pip install 'headland[geo]'`` installs it.

        >>> headland.read("job.zip").summary().to_pandas().set_index("column")["mean"]
        """
        extras.require("geo", "pandas")
        import pandas as pd

        names = [field.name for field in fields(ColumnSummary)]
        numbers = dict.fromkeys(names[2:-1], "float64")
        return pd.DataFrame([astuple(row) for row in self], columns=names).astype({"count": "int64", **numbers})


def summarize(column: str, unit: str, cells: Sequence[Any]) -> ColumnSummary:
    """Return the statistics of the cells of a column."""
    values = sorted(cell for cell in cells if cell is not None and not math.isnan(cell))
    if not values:
        return ColumnSummary(column, 0, None, None, None, None, None, None, None, None, unit)
    q05, q25, q50, q75, q95 = (_quantile(values, share) for share in QUANTILES)
    mean = sum(values) / len(values)
    return ColumnSummary(column, len(values), mean, values[0], q05, q25, q50, q75, q95, values[-1], unit)


def _quantile(values: Sequence[float], share: float) -> float:
    """Return a quantile of sorted values by linear interpolation, the default of numpy and pandas."""
    position = (len(values) - 1) * share
    lower = int(position)
    left, right = values[lower], values[min(lower + 1, len(values) - 1)]
    # Equal values may be infinite, whose difference is NaN.
    return float(left if left == right else left + (right - left) * (position - lower))


def _text(cell: str | float | None) -> str:
    if isinstance(cell, float):
        return f"{cell:.6g}"
    return "" if cell is None else str(cell)
