"""Comparison of the rate that was asked for with the rate that was applied."""

from __future__ import annotations

import html
import os  # noqa: TC003 -- for `typing.get_type_hints`
from typing import TYPE_CHECKING, Any, SupportsBytes, cast

from headland import _core, arguments
from headland.agronomy.zone_files import ARCHIVES, TABLES, is_zone_file, read_zones
from headland.archives import read
from headland.display import quantities
from headland.display.escaping import shortened
from headland.layer.layer import Diagnostic, Layer
from headland.layer.table_input import TableLike, as_layer

if TYPE_CHECKING:
    from headland.display.map import Map

MAX_TITLE = 60
"""Characters of the name of a job."""

RATED = ("within", "under", "over")
"""Classes of ground whose rate is compared with a target above 0."""

UNKNOWN = ("no_target", "no_rate")
"""Classes of ground without a target or a rate."""

APART = {
    "off": "the boom is off",
    "should_be_off": "the target is 0",
    "nothing_asked": "target and rate are 0",
    "no_target": "there is no target",
    "no_rate": "the rate is unknown",
}
"""Other classes of ground, in words."""


class RateComparison:
    """Target and applied rates of a job, as `headland.compare_rates` returns them.

    ``print(comparison)`` says for each target and product in one sentence how much ground got the rate that was asked
    for. Notebooks show it with a map of the classes and the report.

    >>> comparison = headland.compare_rates(headland.read("job.zip"))
    >>> print(comparison)
    >>> comparison.report.to_pandas()
    """

    __slots__ = ("_arguments", "_core")

    def __init__(self, core: _core.RateComparison, given: tuple[Layer, str | Layer | None, float]) -> None:
        self._core, self._arguments = core, given

    @property
    def layer(self) -> Layer:
        """All rows of the job in their order, with more columns.

        - ``rate_error``: (applied - target) / target, null without a target above 0
        - ``rate_class``: ``under``, ``within`` or ``over`` the tolerance; ``no_target``; ``should_be_off`` (applied
          where the target is 0); ``off`` (the boom is off where the target is above 0 and no other row works the
          ground); ``nothing_asked`` (target and rate are 0); ``no_rate``. Null where the boom is off and nothing is
          asked.
        - ``planned_rate``, ``planned_error``, ``planned_class``: the same against a prescription
        - ``step`` (the target changed by more than 10 % in the last 5 s), ``speeding`` (more than 0.2 m/s² over 3 s),
          ``ends`` (5 s at the ends of a pass) and ``double`` (ground that was covered before): causes of a wrong rate
        - ``m2``: ground in m² that no earlier row of the product covers. Sum the rows that have a class: where the boom
          is off and nothing is asked, no ground is in the report
        """
        return Layer(self._core.layer)

    @property
    def report(self) -> Layer:
        """Ground and product by class and by cause, for each ``target`` and ``product``.

        The lines ``by`` ``class`` add up to the line ``all``; several causes may hold for a row. ``ha`` is ground
        counted once. ``share`` is the part of all ground, and of a cause the part of the ground that is off the target.
        ``asked`` and ``applied`` (kg, L or seeds) are of full swaths, because overlaps receive the product twice.
        ``difference`` is (applied - asked) / asked of the rows that have both a target and a rate, so it may differ
        from the totals of the line. ``off_rate`` is the part of its rated ground that is under or over the target.
        """
        return Layer(self._core.report)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What the rows and the target leave open, such as ``product-contradicts`` or ``target-not-logged``."""
        return self.layer.diagnostics

    @property
    def steps(self) -> Layer:
        """One line for each rate that was asked for: mean and standard deviation of the applied rate, ground, rows.

        ``changes`` counts the changes of the target to this rate within a pass, ``settled`` those after which the rate
        came within the tolerance before the next change, and ``settling_time`` is the median of their seconds. Of more
        than 40 different rates, those that agree in fewer digits are one line.
        """
        return Layer(self._core.steps)

    @property
    def job(self) -> Layer | None:
        """Amount and worked area of each product, and what the service reports of it in `job_data.get`.

        ``reported_weight`` is what a planter planted, by ``average_weight_per_area``. It is compared with rates in
        kg/ha; a thousand seeds weigh ``1e6 * reported_weight / applied`` grams, if the planter counts seeds. What only
        the rows or only the service have is null on the other side.

        ``None`` unless the layer was harmonised with its job:
        ``headland.harmonize(layer, job=client.job_data.get(id))``.
        """
        core = self._core.job
        return None if core is None else Layer(core)

    def map(self, column: str | None = None) -> Map:
        """Draw a map of the job.

        Args:
            column: A column of `layer`, such as ``"rate_error"``. ``None`` is the class of each row.

        >>> comparison.map().save("rates.svg")
        """
        known = self.layer
        if column is None:
            names = [name for name in ("rate_class", "planned_class") if name in known.columns]
            column = next((name for name in names if set(known[name]) - {None, "no_target"}), names[0])
        return known.plot(column)

    def _repr_html_(self) -> str:
        """Return the sentence, a map of the classes, the report and the steps, for notebooks."""
        said = "".join(f"<p>{html.escape(line)}</p>" for line in str(self).splitlines())
        tables = "".join(table.head(len(table))._repr_html_() for table in (self.report, self.steps))
        return f'{said}<div style="max-width:40rem">{self.map().svg}</div>{tables}'

    def __str__(self) -> str:
        """Return for each target and product in one sentence how much ground got its rate, and what was applied."""
        layer, report = self.layer, self.report
        name = shortened(layer._core.map_texts(None)[0], MAX_TITLE)  # noqa: SLF001 - a layer of this package
        lines = report.head(len(report))
        unit = report.units["applied"]
        groups: dict[tuple[str, str | None], dict[str, dict[str, Any]]] = {}
        for line in lines:
            groups.setdefault((line["target"], line["product"]), {})[f"{line['by']} {line['name']}"] = line
        tolerance = self._arguments[2]
        return "\n".join(_sentence(name, key, group, unit, tolerance) for key, group in groups.items())

    def __repr__(self) -> str:
        """Return rows and tolerance in one line."""
        name = self.layer._core.map_texts(None)[0]  # noqa: SLF001 - a layer of this package
        return f"<headland.RateComparison of {name!r}: {len(self.layer):,} rows, ±{100.0 * self._arguments[2]:g} %>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments, which are compared again."""
        return compare_rates_again, self._arguments


def compare_rates(
    layer: TableLike,
    target: str | os.PathLike[str] | TableLike | SupportsBytes | None = None,
    *,
    tolerance: float = 0.10,
) -> RateComparison:
    """Compare the rate that was asked for with the rate that was applied, on ground that is counted once.

    A layer that is not harmonised is harmonised first, so that rates have units. Ground is that of `headland.clean`: a
    later swath counts what no earlier one covers. Each product of a mix is compared by itself, and a rate at the limit
    is within the tolerance. A target that is 0 or null in every row of a product was not logged (diagnostic
    ``target-not-logged``), because some displays write zeros where they log no target. So it never means that nothing
    was asked for, and the same holds for a prescription without a rate above 0.

    Args:
        layer: The job of a sprayer, spreader or planter, of points or polygons: a layer, a GeoDataFrame, or an Arrow
            table or stream.
        target: Where the rate that was asked for comes from. ``None`` is the target that the machine logged; a text is
            the name of a column with a unit. A prescription (a layer or frame of zones, the bytes of its zip, or the
            path of a .zip, .shp, .gpkg, .geojson or .parquet) is read at the middle of each swath and is compared next
            to the logged target. Its rate is the column ``RATE``, else the only number that is no id and no size of
            the zones. Zones with a text ``PRODUCT`` are the target of the rows of this product. Its unit is that
            of the column, else of a text column ``UNIT``, else that of the applied rate as the display logged it
            (diagnostic ``unit-unknown``). Of zones that overlap with different rates, the first one counts (diagnostic
            ``zones-overlap``).
        tolerance: The part of the target by which a rate may differ, between 0 and 1.

    Returns:
        The rows with their class and causes, a report, the rate steps, and the totals of the job.

    Raises:
        TypeError: An argument has another type.
        ValueError: The layer is a harvest or has no applied rate or no target; a unit or the swath width is unknown;
            the prescription has no rate, a negative one, other products, or no zone where the job is. The message
            names the row, the column or the argument.

    >>> comparison = headland.compare_rates(headland.read("job.zip"), headland.read("rx.zip"))
    >>> comparison.report.to_pandas()
    """
    job = as_layer("layer", layer)
    part = arguments.finite_number("tolerance", tolerance)
    asked: str | Layer | None
    if is_zone_file(target) and target not in job.columns:
        asked = as_layer("target", read_zones(target))
    elif target is None or isinstance(target, str):
        asked = target
    elif isinstance(target, SupportsBytes) and not isinstance(target, Layer):
        asked = read(bytes(target))
    else:
        asked = as_layer("target", cast("TableLike", target))
    try:
        return compare_rates_again(job, asked, part)
    except ValueError as error:
        if not isinstance(asked, str) or f"no column `{asked}`" not in str(error):
            raise
        raise ValueError(f"{error}; the name of a file of zones ends in {', '.join((*ARCHIVES, *TABLES))}") from None


def compare_rates_again(layer: Layer, target: str | Layer | None, tolerance: float) -> RateComparison:
    """Compare the rates of a layer; pickles name this function."""
    column = target if isinstance(target, str) else None
    zones = target._core if isinstance(target, Layer) else None  # noqa: SLF001 - a layer of this package
    core = _core.compare_rates(layer._core, column, zones, tolerance)  # noqa: SLF001 - a layer of this package
    return RateComparison(core, (layer, target, tolerance))


def _sentence(
    name: str, key: tuple[str, str | None], group: dict[str, dict[str, Any]], unit: str, tolerance: float
) -> str:
    """Return the sentence of one target and product; `group` has its lines of the report by kind and name."""
    target, product = key
    everything = group["all all"]
    start = f"{name}, {product}" if product else name
    ground = {one: group[f"class {one}"]["ha"] for one in (*APART, *RATED) if f"class {one}" in group}
    whole, left = everything["ha"], sum(ground.get(one, 0.0) for one in ("off", "nothing_asked", "no_rate"))
    on = quantities.short_number(whole)
    if left:
        on = f"{quantities.short_number(whole - left)} of {on}"
    applied = f"{quantities.amount(everything['applied'], unit)} applied on {on} ha"
    if not any(ha for one, ha in ground.items() if one not in UNKNOWN):
        kind = "" if target == "logged" else f" ({target})"
        return f"{start}: {applied}; there is no target to compare with{kind}."
    # Shares of all ground, as in the report.
    share = {one: f"{100.0 * ha / whole:.1f} %" for one, ha in ground.items()}
    difference = everything["difference"]
    known = " where both are known" if any(ground.get(one) for one in UNKNOWN) else ""
    percent = f"{100.0 * abs(difference or 0.0):.1f} %"
    than = "as much as" if percent == "0.0 %" else f"{percent} {'more' if (difference or 0.0) > 0 else 'less'} than"
    change = "" if difference is None else f", {than} asked{known}"
    apart = [
        f"on {quantities.short_number(ground[one])} ha ({share[one]}) {words}"
        for one, words in APART.items()
        if ground.get(one)
    ]
    asked = {"logged": "the logged target", "planned": "the prescription"}.get(target, f"`{target}`")
    rated = (
        f"{share['within']} of the ground is within {100.0 * tolerance:g} % of {asked}, {share['under']} under and "
        f"{share['over']} over"
    )
    return f"{start}: " + "; ".join([rated, *apart, applied + change]) + "."
