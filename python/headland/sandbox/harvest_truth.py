"""The truth of a harvest that the local service writes as machines log it."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, TypedDict

from headland.display.quantities import amount, at_moisture, hectares
from headland.display.tables import table_html, text_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headland import _core

HEAD = ("truth", "value")
"""Titles of the table of a harvest."""


class HarvestGrid(TypedDict):
    """Columns of the true map of a harvest: one entry for each cell with cut ground.

    `x` and `y` are the centres of the cells in metres, `yield_dry` is the true yield of the cut ground in kg/ha, and
    `share` is the cut share of the cell. ``pandas.DataFrame(grid)`` is a table of them.
    """

    x: list[float]
    y: list[float]
    yield_dry: list[float]
    share: list[float]


class HarvestTruth:
    """The truth of a harvest with ``Sandbox(harvest="logged")``, from the generator's own model.

    Attributes:
        delay: Mean seconds from the cutter bar to the flow sensor, mixing included.
        moisture_delay: Mean seconds from the cutter bar to the moisture sensor.
        antenna: Metres from the antenna forward to the cutter bar; negative if the antenna is ahead of it.
        covered_area: Area of the cut ground in m², each piece of ground once.
        dry_mass: Harvested mass in kg, at the moisture `moisture_basis`.
        moisture_basis: Moisture of the market in percent. Dry masses and yields are stated at it.
        reasons: Why each row misleads, in the order of the archive: a sum of the bits 1 (not working), 2 (end of a
            pass), 4 (speed), 8 (position), 16 (duplicate), 32 (swath), 64 (overlap), 128 (moisture), 256 (spike) and
            512 (local deviation). A reason is at the row of the ground, not at the row that logged a sensor later.
        crs: The UTM zone of the field's centre, such as ``EPSG:32614``.
    """

    delay: float
    moisture_delay: float
    antenna: float
    covered_area: float
    dry_mass: float
    moisture_basis: float
    reasons: list[int]
    crs: str

    def __init__(self, core: _core.Sandbox, job_id: str, facts: Mapping[str, Any]) -> None:
        self._core = core
        self._job_id = job_id
        vars(self).update(facts)

    def grid(self, cell: float = 10.0) -> HarvestGrid:
        """Return the true map in squares with a side of `cell` metres, which are multiples of it in `crs`.

        The service computes it, so it must be open.
        """
        if isinstance(cell, bool) or not isinstance(cell, numbers.Real):
            raise TypeError(f"`cell`: expected a number of metres, got {type(cell).__name__}")
        return self._core.harvest_grid(self._job_id, float(cell))

    def __repr__(self) -> str:
        """Return the main values with their units as a table of text."""
        return "\n".join(["truth of a harvest", *(f"  {line}" for line in text_table(HEAD, self._rows()))])

    def _repr_html_(self) -> str:
        """Return the same as an HTML table."""
        return table_html(HEAD, self._rows(), caption="truth of a harvest")

    def _rows(self) -> list[tuple[str, str]]:
        return [
            ("delay", f"{self.delay:g} s"),
            ("moisture_delay", f"{self.moisture_delay:g} s"),
            ("antenna", f"{self.antenna:g} m"),
            ("covered_area", hectares(self.covered_area)),
            ("dry_mass", f"{amount(self.dry_mass, 'kg', is_grain=True)} {at_moisture(self.moisture_basis)}"),
            ("rows", f"{len(self.reasons):,}, of which {sum(map(bool, self.reasons)):,} have a reason"),
            ("crs", self.crs),
        ]
