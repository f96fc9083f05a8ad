"""A cleaned job: its rows, delays, report, recipe and maps."""

from __future__ import annotations

import html
import json
import statistics
from typing import TYPE_CHECKING, Any, ClassVar

from headland import _core, arguments
from headland.agronomy import cleaning_sentence
from headland.agronomy.sensor_delay import Delay
from headland.argument_hints import CLEANED_MAP, explained
from headland.display import quantities
from headland.layer.layer import Layer
from headland.suggestions import Suggesting

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from pathlib import Path

    from headland.display.map import Map

RATES = ("yield_dry", "yield_wet", "rate")
"""Columns of maps by preference."""


class Cleaned(Suggesting):
    """A cleaned job, as `headland.clean` returns it.

    ``print(cleaned)`` says in one sentence what was logged, what is left out and the mean of the rest. Notebooks show
    it with the report, and maps before and after.

    >>> cleaned = headland.clean(harvest)
    >>> print(cleaned)
    >>> cleaned.map("reasons").save("reasons.svg")
    """

    __slots__ = ("_boundary", "_core")

    _instead: ClassVar = {"plot": "`cleaned.map()` draws it, and `cleaned.layer.plot(column)` a column of its rows"}
    _table = "cleaned.layer"
    _table_class = Layer

    def __init__(self, core: _core.Cleaned, boundary: Layer | None = None) -> None:
        self._core, self._boundary = core, boundary

    @property
    def layer(self) -> Layer:
        """All rows of the job in their order, with more columns.

        - ``pass_number``: number of the pass, 0 outside of passes
        - ``reasons``: a sum of bits: 1 ``not_working``, 2 ``ends`` of a pass, 4 ``speed``, 8 ``position``, 16
          ``duplicate``, 32 ``swath`` (a wrong width), 64 ``overlap``, 128 ``moisture``, 256 ``spike``, 512 ``local``
          deviation, 1024 ``limits``, 2048 ``edge``. A reason is at the row whose ground it misrepresents.
        - ``used``: whether the row is in a pass and has no reason but ``overlap`` and those that were kept
        - ``share``: share of the swath that was covered before
        - ``m2``: ground in m² that no earlier row covers
        - of harvests: ``kg`` (wet), ``yield_wet`` and ``yield_dry`` in kg/ha of that ground, ``flow_shifted`` in kg/s
          and ``moisture_shifted`` in %. Yields are null where less than a quarter of the swath is new ground.
        """
        return Layer(self._core.layer)

    @property
    def delay(self) -> Delay:
        """The delay of the flow: seconds, the curve that it is the minimum of, or the reason why there is none."""
        return Delay("flow", self._core.delays)

    @property
    def moisture_delay(self) -> Delay:
        """The delay of the moisture."""
        return Delay("moisture", self._core.moisture_delays)

    @property
    def report(self) -> Layer:
        """Rows, mass in kg, ground in ha and mean yield in kg/ha: as logged, by reason, and of the rows that are used.

        ``yield_without`` is the mean of the used rows, ``yield_with`` the mean with the rows of the reason, and
        ``only`` the number of rows that have no other reason. ``little_new_ground`` are used rows that mostly drive on
        covered ground; they have no part in rates. Masses are dry if moisture and crop are known.

        A row that is left out counts in ``rows`` of each of its reasons, but in mass and ground once, under the first.
        So ``logged`` is ``used``, the reasons of left out rows, and ``rest``: grain that the delay moves beyond
        the log, and ground that swaths share.
        """
        return Layer(self._core.report)

    @property
    def recipe(self) -> str:
        """All parameters as JSON, with estimated delays: ``headland.clean(other, recipe=cleaned.recipe)`` replays them.

        Each parameter has a ``value`` and says where it is ``from``: ``default``, ``estimated``, ``user`` or ``job``.
        """
        return self._core.recipe

    def swaths(self, columns: str | Iterable[str] | None = None) -> Layer:
        """Return the swath of each row as a polygon in WGS 84, with the number of its row in ``row``.

        Swaths of successive rows share their corners in curves, and those of neighbouring passes may overlap. So the
        area of a polygon is not its ground: ``m2`` is the part that no earlier swath covers.

        Args:
            columns: Columns of `layer` that the swaths have too, such as ``"variety"``. Dissolved by one of them, the
                swaths of one job are plots for the map of another: see ``headland.grid``.

        Raises:
            ValueError: There is no such column.

        >>> headland.clean(planting).swaths("variety").to_geopandas().dissolve("variety")
        """
        names = [] if columns is None else arguments.as_list(columns)
        return Layer(self._core.swaths([arguments.text("columns", name, '"variety"') for name in names]))

    @explained(CLEANED_MAP)
    def map(self, column: str | None = None) -> Map:
        """Draw a map of the job.

        Args:
            column: A column of `swaths`, or ``"reasons"`` for the main reason of each row, or ``"logged"`` for the
                yield or rate as it was logged. ``None`` is the yield of the used swaths on a grid of 10 m. Both maps
                have the same colours.

        Raises:
            ValueError: There is no such column.

        >>> cleaned.map("reasons")
        """
        if column == "reasons":
            return Layer(self._core.before()).plot("reason")
        if column not in (None, "logged"):
            return self.swaths().plot(column)
        if column is None:
            cells = self._cells()
            low, high = _scale(cells)
            return cells.plot(next(name for name in RATES if name in cells.columns), vmin=low, vmax=high)
        try:
            low, high = _scale(self._cells())
        except ValueError:  # There is no map to compare with.
            low = high = None
        return Layer(self._core.before()).plot("logged", vmin=low, vmax=high)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a page of the job for readers without Python: its map, its numbers, and what was left out and why.

        Args:
            path: A name that ends in ``.html``. An existing file is replaced.

        Raises:
            ValueError: The name has another ending, or the rows are of several seasons, which need a page each.
            HeadlandError: The file cannot be written.

        >>> cleaned.save("field.html")
        """
        from headland.report.cleaned_job_page import write_one

        target = arguments.path("path", path, ".html", ".htm")
        write_one(self, target)
        return target

    def _cells(self) -> Layer:
        return Layer(_core.grid(self._core, 10.0, None, [], None, []))

    def _repr_html_(self) -> str:
        """Return the report, and maps before and after, for notebooks."""
        drawn = [("as logged", self.map("logged").svg)]
        try:
            drawn.append(("cleaned, cells of 10 m", self.map().svg))
        except ValueError as reason:
            drawn.append(("no map", f"<p>{html.escape(str(reason))}</p>"))
        figures = "".join(
            f'<figure style="margin:0;flex:1 1 20rem"><figcaption>{caption}</figcaption>{picture}</figure>'
            for caption, picture in drawn
        )
        sensors = (self.delay, self.moisture_delay) if self._core.is_harvest else ()
        lines = "".join(f"<p>{html.escape(line)}</p>" for line in (str(self), *map(str, sensors)))
        report = self.report
        table = report.head(len(report))._repr_html_()
        return f'<div style="display:flex;flex-wrap:wrap;gap:1rem">{figures}</div>{lines}{table}'

    def __str__(self) -> str:
        """Return what was logged, the rows left out by reason, and the mean of the rest, in one sentence."""
        layer, report = self.layer, self.report
        notes = {*cleaning_sentence.NOTES, *json.loads(self.recipe)["keep"]["value"]}
        notes |= set() if self._core.is_harvest else {"speed"}
        reasons = cleaning_sentence.left_out(layer["reasons"], layer["used"], notes)
        name = layer._core.map_texts(None)[0]  # noqa: SLF001 - a layer of this package
        rows, basis = report.head(len(report)), self._core.dry_basis
        ground = sum(filter(None, layer["m2"])) / quantities.HECTARE
        return cleaning_sentence.sentence(name, rows, report.units, basis, reasons=reasons, ground=ground)

    def __repr__(self) -> str:
        """Return rows and delay in one line."""
        name = self.layer._core.map_texts(None)[0]  # noqa: SLF001 - a layer of this package
        delay = f", {self.delay}" if self._core.is_harvest else ""
        return f"<headland.Cleaned of {name!r}: {len(self.layer):,} rows{delay}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the rows and the recipe, which is replayed."""
        return _replay, (self.layer, self.recipe, self._boundary)


def _scale(cells: Layer) -> tuple[float | None, float | None]:
    """Return the 2 % and 98 % quantiles of the rates of a map, for all maps of a job."""
    name = next((name for name in RATES if name in cells.columns), None)
    rates = [] if name is None else [rate for rate in cells[name] if rate is not None]
    if len(set(rates)) <= 1:
        return None, None
    fiftieths = statistics.quantiles(rates, n=50, method="inclusive")
    return (fiftieths[0], fiftieths[-1]) if fiftieths[0] < fiftieths[-1] else (None, None)


def _replay(layer: Layer, recipe: str, boundary: Layer | None) -> Cleaned:
    around = None if boundary is None else boundary._core  # noqa: SLF001 - a layer of this package
    return Cleaned(_core.clean(layer._core, recipe, "{}", around), boundary)  # noqa: SLF001 - a layer of this package
