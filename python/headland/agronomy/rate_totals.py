"""Ground and product of a prescription, shown as a table."""

from __future__ import annotations

from typing import NamedTuple

from headland.display.tables import table_html, text_table


class RateTotal(NamedTuple):
    """Ground and product of one rate of a prescription."""

    rate: float
    """The rate."""
    zones: int
    """The number of zones."""
    area: float
    """Hectares."""
    amount: float
    """Product in the unit of ``Totals.unit``."""


class Totals(NamedTuple):
    """Ground and product of a prescription, by rate and in all."""

    rates: list[RateTotal]
    """One entry for each rate, the lowest first."""
    area: float
    """Hectares of all zones."""
    amount: float
    """Product of all zones."""
    unit: str
    """The unit of amounts, such as ``kg``."""

    def __repr__(self) -> str:
        """Return a line for each rate and one for all."""
        return "\n".join(text_table(self._head(), self._rows(), right=range(4)))

    def _repr_html_(self) -> str:
        """Return the same as an HTML table."""
        return table_html(self._head(), self._rows(), right=range(4))

    def _head(self) -> tuple[str, ...]:
        return "rate", "zones", "area (ha)", f"amount ({self.unit})"

    def _rows(self) -> list[list[object]]:
        zones = sum(each.zones for each in self.rates)
        shown = [*self.rates, RateTotal(float("nan"), zones, self.area, self.amount)]
        return [[f"{each.rate:g}".replace("nan", "all"), *each[1:3], round(each.amount, 1)] for each in shown]
