"""Maps of cleaned jobs: mass and ground on square cells or plots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from headland import _core, argument_hints, arguments
from headland.agronomy.cleaned import Cleaned
from headland.layer.layer import Layer
from headland.layer.table_input import TableLike, as_layer


@argument_hints.explained(argument_hints.GRID)
def grid(
    cleaned: Cleaned,
    cells: float | None = None,
    *,
    plots: TableLike | None = None,
    by: str | Iterable[str] | None = None,
    crs: str | int | None = None,
    total: float | Mapping[int, float] | None = None,
) -> Layer:
    """Make a map of a cleaned job: mass and ground on square cells or on plots.

    Ground that several swaths cover is counted once, in order of time, and the mass of a row is spread over its new
    ground. Nothing is interpolated: a cell without used rows has no yield. Of sprayer, spreader and planter jobs, the
    product of all swaths adds up, because ground that was covered twice received it twice.

    Args:
        cleaned: The result of `headland.clean`.
        cells: Side of the cells in metres; ``None`` is 10. Cells are multiples of it in `crs`, so that years of a field
            share them.
        plots: Polygons instead of cells, with their columns: a layer, a GeoDataFrame, or an Arrow table or stream.
        by: Names of columns of ``cleaned.layer``, such as ``"variety"``: each value gets its own row. ``None`` is a row
            for each season of a harvest, with ``crop`` and ``year``, or for each of several other jobs; ``[]`` puts all
            together.
        crs: A projected system in metres, such as ``"EPSG:32614"``. ``None`` is the UTM zone of the median of rows with
            ground, or the system of the rows, if that has no known way to WGS 84 (diagnostic ``own-plane``).
        total: Weighed wet kilograms of the harvest, or kilograms by number of the machine. Masses are scaled, so that
            the mean yield on all worked ground gives this total; a diagnostic names the factor.

    Returns:
        A layer with a row for each cell with worked ground, or for each plot.
        Harvests: ``kg_wet``, ``kg_dry``, ``m2`` (ground behind the yield), ``covered`` (all worked ground in m²),
        ``share`` (covered part of the cell), ``yield_wet`` and ``yield_dry`` in kg/ha, ``rows`` and ``sd`` (standard
        deviation between rows, weighted by area, in kg/ha). Other jobs: ``amount`` (kg, L or seeds), ``covered``,
        ``share``, ``rate``, ``times`` (swath area divided by covered ground), ``rows`` and ``sd``.

    Raises:
        TypeError: An argument has another type.
        ValueError: `cells` is not above 0 or given with `plots`, a column is missing, `plots` are no polygons, or `crs`
            is not in metres or stretches lengths by more than 1 %, as web Mercator does.

    Rules and references: the guide to yield maps of the documentation.

    >>> yields = headland.grid(headland.clean(harvest), 10.0)
    >>> yields.plot("yield_dry")
    """
    if not isinstance(cleaned, Cleaned):
        raise TypeError(
            f"`cleaned`: expected the result of `headland.clean`, got {type(cleaned).__name__}; "
            "pass `headland.clean(layer)`"
        )
    if plots is not None and cells is not None:
        raise ValueError("`cells`: a map has either square cells or `plots`; leave one out")
    around = None if plots is None else as_layer("plots", plots)
    names = [by] if isinstance(by, str) else by
    columns = None if names is None else list(dict.fromkeys(arguments.text("by", name, '"variety"') for name in names))
    made = _core.grid(
        cleaned._core,  # noqa: SLF001 - an object of this package
        arguments.finite_number("cells", 10.0 if cells is None else cells),
        None if around is None else around._core,  # noqa: SLF001 - a layer of this package
        columns,
        _system(crs),
        _totals(total),
    )
    return Layer(made)


def _system(crs: object) -> str | None:
    if crs is None:
        return None
    if arguments.is_whole(crs):
        return f"EPSG:{crs}"
    return arguments.text("crs", crs, '"EPSG:32614"')


def _totals(total: object) -> list[tuple[int | None, float]]:
    if total is None:
        return []
    if isinstance(total, Mapping):
        return [
            (arguments.whole_number("total", one, -(2**63), 2**63 - 1), arguments.finite_number("total", kg))
            for one, kg in total.items()
        ]
    return [(None, arguments.finite_number("total", total))]
