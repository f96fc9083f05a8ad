"""Measures a layer: kind, crop or product, dates of work, area, mean and total, from its canonical columns alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from dataclasses import field as attribute
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from headland import _core
from headland.agronomy.field_means import field_means
from headland.agronomy.harmonize import harmonize
from headland.errors import HeadlandError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headland.layer.layer import Layer

__all__ = ["LABELS", "Amount", "Measured", "Part", "measure", "numbers"]

YIELDS = {
    "yield_dry": ("t/ha", "Yield, dry"),
    "yield_wet": ("t/ha", "Yield, wet"),
    "yield_dry_mass": ("t/ha", "Yield, dry"),
    "yield_wet_mass": ("t/ha", "Yield, wet"),
    "yield_dry_volume": ("m3/ha", "Yield, dry"),
    "yield_wet_volume": ("m3/ha", "Yield, wet"),
    "yield": (None, "Yield, as stated"),
}
"""Columns of a harvest in the order of preference: the unit and the label of the map. None is the unit as stated."""

RATES = {"applied_rate": "Applied rate", "control_rate": "Control rate", "target_rate": "Target rate"}
"""Columns of the other jobs in the order of preference, and the label of the map. Their unit follows the product."""

LABELS = (
    RATES
    | {"rate": "Applied rate", "protein": "Protein", "moisture": "Moisture"}
    | {column: label for column, (_, label) in YIELDS.items()}
)
"""The label of each column that a map may show."""

ITEMS = {"yield": ("crop",), "planting": ("crop", "variety"), "as_applied": ("product",)}
"""Columns of the texts that name what was harvested, planted or applied; the first has a scale of its own."""

MAX_NAMES = 3
"""Maximum number of crops or products of one job on the page."""


class Amount(NamedTuple):
    """A number with its unit."""

    value: float
    unit: str


class Part(NamedTuple):
    """The rows of one product, variety or crop."""

    name: str
    total: Amount | None
    area: float | None
    """Square metres worked."""
    is_mixed: bool = False
    """Whether some of its ground counts at a product of the same tank mix."""
    mean: Amount | None = None
    basis: float | None = None
    """Percent of water in the mean of a crop."""


@dataclass
class Measured:
    """What a layer says about its job. Each value is None if the layer does not state or prove it."""

    kind: str | None = None
    item: str | None = None
    """The crop or the product."""
    group: str | None = None
    """The crop, or the product of an application: maps of one group have one scale."""
    parts: list[Part] = attribute(default_factory=list)
    """Total and area by product, by crop if there are several, or by variety."""
    parted_by: str = ""
    """The column of the names of the parts."""
    start: datetime | None = None
    end: datetime | None = None
    is_local: bool = False
    """Whether times are those of the display's clock."""
    area: float | None = None
    """Square metres worked, overlap counted each time."""
    covered: float | None = None
    """Square metres of worked ground, each piece once."""
    mean: Amount | None = None
    """All dry mass of a harvest, or the amount, by the ground that counts once; by the area if that is unknown."""
    basis: float | str | None = None
    """Percent of water in the mean of a harvest, or `several`; None if it is the mass as harvested."""
    dry: Amount | None = None
    """The mass of a harvest at that moisture, of which the mean is by the ground."""
    total: Amount | None = None
    """The mass as harvested, or the amount applied or planted."""
    column: str | None = None
    """The canonical column of the map; None if the layer has none in a known unit."""
    unit: str | None = None
    label: str = ""
    """The name of the column on the map."""
    problem: str | None = None
    """Why the layer has no column for the map, as a sentence."""
    error: str | None = None
    """The message of the failed harmonisation."""
    doubts: list[str] = attribute(default_factory=list)
    """What the rows leave open about the worked ground."""


def measure(
    layer: Layer, job: Mapping[str, Any], market_moisture: float | Mapping[str, float] | None = None
) -> tuple[Layer, Measured]:
    """Return the harmonised layer, or the layer as read, and what it says; the kind is that of `job` or the columns."""
    kind = _core.job_kind(job.get("sub_type") or "")
    try:
        canonical = harmonize(layer, job=job if kind else None, market_moisture=market_moisture)
    except (HeadlandError, ValueError) as error:
        problem = "Its columns have no meaning that is known for sure."
        return layer, Measured(kind, area=polygons(layer), problem=problem, error=str(error))
    found = Measured(kind or canonical.metadata.get("headland:kind"), area=worked(canonical))
    found.is_local = any(diagnostic.code == "no-zone" for diagnostic in canonical.diagnostics)
    found.item = item(canonical, ITEMS.get(found.kind or "", ()))
    found.group = item(canonical, ITEMS.get(found.kind or "", ())[:1])
    found.start, found.end = dates(canonical)
    found.covered, found.doubts = covered(canonical)
    found.parted_by, found.parts = parts(canonical, found.kind)
    choose_column(found, canonical)
    if found.kind == "yield":
        measure_harvest(found, canonical)
    else:
        measure_amount(found, canonical)
    return canonical, found


def worked(layer: Layer) -> float | None:
    """Return the worked area as the mirror sums it: the rows of a tank mix have one piece of ground, which counts once.

    Layers without the column have the area of their polygons.
    """
    areas = numbers(layer, "worked_area") if "worked_area" in layer.columns else []
    return math.fsum(areas) if areas else polygons(layer)


def polygons(layer: Layer) -> float | None:
    """Return the area of polygons or the worked area of points; None if the layer has neither."""
    try:
        return layer.area()
    except (HeadlandError, ValueError):
        # The coordinate system is unknown, so the area is, too.
        return None


def covered(layer: Layer) -> tuple[float | None, list[str]]:
    """Return the worked ground, each piece once, and what its rows leave open; None if it is unknown."""
    try:
        return _core.covered_area(layer._core)  # noqa: SLF001 - a layer of this package
    except (HeadlandError, ValueError) as error:
        return None, [str(error)]


def numbers(layer: Layer, column: str) -> list[float]:
    """Return the finite numbers of a column, in no particular order."""
    return [value for value in layer.values(column) if isinstance(value, float | int) and math.isfinite(value)]


def item(layer: Layer, wanted: tuple[str, ...]) -> str | None:
    """Return the texts of some columns: the crop of a harvest, crop and variety of a planting, or the product.

    A crop that harmonising was given, or that the archive states, is that of the dry mass, and in no column.
    """
    stated = {str(entry["column"]) for entry in layer.provenance}
    named = layer.metadata.get("headland:crop")
    texts = []
    for column in wanted:
        if column == "crop" and named:
            texts.append(named)
        elif column in stated and column in layer.columns:
            different = sorted({value for value in layer.values(column) if isinstance(value, str) and value.strip()})
            more = f" and {len(different) - MAX_NAMES} more" if len(different) > MAX_NAMES else ""
            texts += [" + ".join(different[:MAX_NAMES]) + more] if different else []
    return ", ".join(texts) or None


def parts(layer: Layer, kind: str | None) -> tuple[str, list[Part]]:
    """Return total and worked area by product, by crop or by variety, and the column; empty without names."""
    column = "product" if kind == "as_applied" else "variety"
    if kind == "yield" and "crop" in layer.columns and len({*layer.values("crop")} - {None, ""}) > 1:
        column = "crop"
    amounts = "wet_mass" if kind == "yield" else "amount"
    if kind is None or column not in layer.columns or not any(layer.values(column)):
        return column, []
    unit = layer.units.get(amounts, "unknown")
    rows = len(layer)
    totals = layer.values(amounts) if unit in ("kg", "L", "seeds") else [None] * rows
    areas = layer.values("worked_area") if "worked_area" in layer.columns else [None] * rows
    sums: dict[str, tuple[list[float], list[float]]] = {}
    mixed = set()
    for name, total, area in zip(layer.values(column), totals, areas, strict=True):
        known_totals, known_areas = sums.setdefault(name or "", ([], []))
        known_totals += [] if total is None else [total]
        known_areas += [] if area is None else [area]
        if column == "product" and total and area == 0.0:
            mixed.add(name or "")
    return column, [
        Part(
            name or "not stated",
            Amount(math.fsum(total), unit) if total else None,
            math.fsum(area) if area else None,
            name in mixed or (column == "product" and bool(area) and not any(area)),
        )
        for name, (total, area) in sorted(sums.items())
    ]


def dates(layer: Layer) -> tuple[datetime | None, datetime | None]:
    """Return the first and the last time of work."""
    if "time" not in layer.columns:
        return None, None
    if any(diagnostic.code == "date-assumed" for diagnostic in layer.diagnostics):
        return None, None
    times = [time for time in layer.values("time") if isinstance(time, datetime)]
    return (min(times), max(times)) if times else (None, None)


def choose_column(found: Measured, layer: Layer) -> None:
    """Choose the canonical column of the map, or state why there is none."""
    units = layer.units
    choices = YIELDS if found.kind == "yield" else {name: (None, label) for name, label in RATES.items()}
    for column, (unit, label) in choices.items():
        if column in layer.columns and units[column] != "unknown" and numbers(layer, column):
            found.column, found.unit, found.label = column, unit or units[column], label
            basis = moisture_basis(layer, column)
            if isinstance(basis, float):
                found.label = dry_label(basis)
            return
    what = {"yield": "yield", None: "yield or rate"}.get(found.kind, "rate")
    if any(entry["column"] in choices for entry in layer.provenance):
        found.problem = f"The file does not state the unit of the {what}, and its rows do not prove one."
    else:
        found.problem = f"The layer has no column that is known to be a {what}."


def dry_label(basis: float) -> str:
    """Return the label of a yield at a moisture, which fits into the legend of a map."""
    return "Yield, dry matter" if basis == 0.0 else f"Yield, {basis:g} % water"


def moisture_basis(layer: Layer, column: str) -> float | str | None:
    """Return the percent of water to which a column refers, or `several`, if known."""
    basis = next((entry.get("moisture_basis") for entry in layer.provenance if entry["column"] == column), None)
    return basis if isinstance(basis, float | str) else None


def measure_harvest(found: Measured, layer: Layer) -> None:
    """Measure the mean by the dry mass, else by the mass as harvested; the total is the mass as harvested."""
    found.total = total(layer, "wet_mass", "kg")
    means = field_means(layer)
    found.mean = ratio(numbers(means, "dry_mass"), numbers(means, "covered_area"), "kg")
    if found.mean is not None:
        found.basis = moisture_basis(layer, "dry_mass")
        found.dry = Amount(math.fsum(numbers(means, "dry_mass")), "kg")
        if found.parted_by == "crop":
            found.parts = [part_with_mean(part, means) for part in found.parts]
    elif found.total is not None and found.covered is not None:
        found.mean = ratio([found.total.value], [found.covered], "kg")


def part_with_mean(part: Part, means: Layer) -> Part:
    """Return the part of a crop with its mean at its own moisture."""
    names = ("crop", "dry_mass", "covered_area", "market_moisture")
    rows = [row for row in zip(*map(means.values, names), strict=True) if row[0] == part.name and None not in row[1:]]
    if len({row[3] for row in rows}) != 1:
        return part
    return part._replace(mean=ratio([row[1] for row in rows], [row[2] for row in rows], "kg"), basis=rows[0][3])


def measure_amount(found: Measured, layer: Layer) -> None:
    """Measure the amount applied or planted."""
    unit = layer.units.get("amount")
    if unit in ("kg", "L", "seeds"):
        found.total = total(layer, "amount", unit)
        rows = zip(layer.values("amount"), layer.values("worked_area"), strict=True)
        both = [(amount, area) for amount, area in rows if amount is not None and area is not None]
        found.mean = ratio([amount for amount, _ in both], [area for _, area in both], unit)
        if found.mean is not None and found.covered and found.area:
            # Ground without an amount has the mean of the other, as that of a harvest.
            found.mean = found.mean._replace(value=found.mean.value * found.area / found.covered)


def total(layer: Layer, column: str, unit: str) -> Amount | None:
    """Return the sum of a column of masses or amounts."""
    values = numbers(layer, column) if column in layer.columns else []
    return Amount(math.fsum(values), unit) if values else None


def ratio(amounts: list[float], areas: list[float], unit: str) -> Amount | None:
    """Return all amounts by all ground, per hectare."""
    ground = math.fsum(areas)
    return Amount(math.fsum(amounts) / ground * 10_000, f"{unit}/ha") if ground > 0 else None
