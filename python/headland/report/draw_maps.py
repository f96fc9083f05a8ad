"""Draws the maps of a field: one unit and one scale for all maps of a kind and crop."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from html import escape
from typing import TYPE_CHECKING

from headland import _core
from headland.errors import HeadlandError
from headland.layer.layer import Layer
from headland.layer.table_input import as_layer

from .measured_totals import LABELS, dry_label, numbers
from .report_job import add_diagnostics, add_texts

if TYPE_CHECKING:
    from .report_job import CleanedRows, Job

__all__ = ["draw_field", "leave_out", "without_counts"]

WIDTH = 460
"""The width of a map in pixels: a third of a wide screen."""

LOW, HIGH = 0.02, 0.98
"""Quantiles of the first and the last colour."""

SIDES = (10.0, 15.0, 20.0, 30.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
"""Sides of the cells of maps in metres: the first that makes few enough cells is used."""

MOST_CELLS = 6_000
"""Maximum number of cells of a map, of about 30 bytes each."""

MOST_FIELD_CELLS = 36_000
"""Maximum number of cells of all maps of a field."""

THUMBNAIL_CELLS = 400
"""Maximum number of cells of a small map."""

MOST_THUMBNAIL = 60_000
"""Maximum bytes of a small map."""

MOST_THUMBNAIL_ROWS = 1_500
"""Maximum number of rows of a small map without cells, of about 30 bytes each."""

MOST_BYTES = 1_700_000
"""Maximum bytes of all maps of a field, without the other parts of its page."""

LEFT_OUT = (
    "<svg viewBox='0 0 460 40'><text x='20' y='24' font-size='13' fill='#666b67'>left out, because the page would be "
    "too large</text></svg>"
)
"""The map of a job for which the page has no space."""

RATES = ("yield_dry", "yield_wet", "rate")
"""Columns of cells by preference."""

PANEL = re.compile(r'<svg x="\d+" y="\d+" width="(\d+)" height="(\d+)".*?</svg>', re.DOTALL)
"""The panel of a map without title and legend."""

COUNTS = re.compile(r"<text [^>]*>draws ([\d,]+) of \1 \w+</text>\n?| It draws ([\d,]+) of \2 \w+\.(?=</desc>)")
"""The counts of a map that draws everything, which mean nothing to a grower."""

CLASSES = re.compile(r"\b(?:should_be_off|nothing_asked|no_target|no_rate)\b")
"""Classes of target and applied, which a legend has as words."""

Scale = tuple[str | None, str | None, str, str]
"""Kind, group, column and unit of maps that share a scale."""


def draw_field(jobs: list[Job]) -> str:
    """Draw the jobs of a field, release their layers, and return a small map of the newest harvest, or of another job.

    All maps together have a limited size: maps of target and applied of the oldest jobs are left out first.
    """
    newest = min(jobs, key=lambda job: (job.cleaned is None, not is_harvest(job), -(job.year or 0)), default=None)
    small = "" if newest is None else thumbnail(newest)
    scales: dict[Scale, list[tuple[Job, Layer]]] = defaultdict(list)
    share = min(MOST_CELLS, MOST_FIELD_CELLS // max(len(jobs), 1))
    for job in jobs:
        layer, found, cleaned = job.layer, job.measured, job.cleaned
        job.layer = job.cleaned = None
        if layer is None or found is None:
            continue
        cells = None if cleaned is None else cells_of(job, cleaned, share)
        if cells is not None:
            column, unit, layer = cells
        elif found.column is not None and found.unit is not None:
            column, unit = found.column, found.unit
            layer = layer.to_units({column: unit})
        else:
            draw_as_logged(job, layer)
            continue
        job.unit = unit
        scales[found.kind, found.group, column, unit].append((job, layer))
    for (_, _, column, _), members in scales.items():
        limits = common_range([numbers(layer, column) for _, layer in members])
        for job, layer in members:
            draw_on_scale(job, layer, column, limits)
    for job in jobs:
        draw_rates(job)
        job.svg, job.rates_svg = without_counts(job.svg), without_counts(job.rates_svg)
    leave_out(jobs, sum(len(job.svg) + len(job.rates_svg) for job in jobs) - MOST_BYTES)
    return small


def is_harvest(job: Job) -> bool:
    """Return whether a job is a harvest."""
    return job.measured is not None and job.measured.kind == "yield"


def cells_of(job: Job, cleaned: CleanedRows, most: int) -> tuple[str, str, Layer] | None:
    """Return column, unit and layer of the cells of a cleaned job; None if they have no rate in a known unit."""
    covered = None if job.measured is None else job.measured.covered
    if covered is None:
        return None
    side = next((side for side in SIDES if covered / side**2 <= most), SIDES[-1])
    try:
        cells = Layer(_core.grid(cleaned._core, side, None, None, None, []))  # noqa: SLF001 - of this package
    except (HeadlandError, ValueError) as error:
        add_texts(job.warnings, [f"no map of cells: {error}"])
        return None
    add_diagnostics(job, cells)
    units = cells.units
    column = next((name for name in RATES if units.get(name, "unknown") != "unknown" and numbers(cells, name)), None)
    if column is None:
        return None
    unit = "t/ha" if column != "rate" else units[column]
    job.note = f"The map shows the rows that are used, in cells of {side:g} m."
    return column, unit, cells.to_units({column: unit})


def common_range(columns: list[list[float]]) -> tuple[float, float] | None:
    """Return the range that contains the 2 % to 98 % range of every map; None if all values are equal.

    The quantiles of all rows together would follow the map with the most rows.
    """
    ordered = [sorted(values) for values in columns]
    low = min(values[round(LOW * (len(values) - 1))] for values in ordered)
    high = max(values[round(HIGH * (len(values) - 1))] for values in ordered)
    return (low, high) if low < high else None


def draw_on_scale(job: Job, layer: Layer, column: str, limits: tuple[float, float] | None) -> None:
    """Draw a column on the scale of its kind and crop."""
    low, high = limits or (None, None)
    label = LABELS.get(column)
    basis = None if job.measured is None else job.measured.basis
    if column == "yield_dry" and isinstance(basis, float):
        label = dry_label(basis)
    try:
        job.svg = layer.plot(column, label=label, title=job.title, width=WIDTH, vmin=low, vmax=high).svg
    except (HeadlandError, ValueError) as error:
        job.problem = str(error)
        return
    job.scale = limits


def draw_as_logged(job: Job, layer: Layer) -> None:
    """Draw the default column of a layer without a canonical one, on a scale of its own."""
    try:
        column = layer.plot().column
        sources = {str(entry["source"]): str(entry["column"]) for entry in layer.provenance}
        label = LABELS.get(sources.get(column or "", ""), "Values as logged")
        job.svg = layer.plot(label=label, title=job.title, width=WIDTH).svg
    except (HeadlandError, ValueError) as error:
        job.problem = str(error)
        return
    job.note = "The map shows the numbers as logged, on a scale of its own."
    if column is None:
        job.note = "The map shows locations alone."


def draw_rates(job: Job) -> None:
    """Draw the classes of target and applied, unless no row has both."""
    comparison, job.comparison = job.comparison, None
    if comparison is None:
        return
    layer = comparison.layer
    if "rate_class" not in layer.columns or not {*layer.values("rate_class")} - {None, "no_target"}:
        return
    drawn = layer.plot("rate_class", label="Target and applied", title=job.title, width=WIDTH).svg
    job.rates_svg = CLASSES.sub(lambda name: name[0].replace("_", " "), drawn)


def leave_out(jobs: list[Job], excess: int) -> None:
    """Leave out so many bytes of a page, those of the oldest jobs first, and say so: maps, then columns and remarks."""
    oldest = sorted(jobs, key=lambda job: job.year or 0)
    for job in oldest:
        if excess > 0 and job.rates_svg:
            excess -= len(job.rates_svg)
            job.rates_svg = ""
            job.rates += " Its map is left out, because the page would be too large."
    for job in oldest:
        if excess > 0 and len(job.svg) > len(LEFT_OUT):
            excess -= len(job.svg) - len(LEFT_OUT)
            job.svg = LEFT_OUT
    for job in oldest:
        if excess > 0:
            excess -= sum(len(text) for texts in (job.remarks, *job.columns) for text in texts)
            job.columns, job.remarks = [], ["left out, because the page would be too large"]


def thumbnail(job: Job) -> str:
    """Return the panel of a map with few cells; empty if there is none that is small."""
    layer, column = job.layer, None if job.measured is None else job.measured.column
    try:
        if job.cleaned is not None:
            cells = cells_of(job, job.cleaned, THUMBNAIL_CELLS)
            if cells is not None:
                column, _, layer = cells
        svg = "" if layer is None else thinned(layer).plot(column, width=WIDTH).svg
    except (HeadlandError, ImportError, ValueError):
        return ""
    found = PANEL.search(svg)
    if found is None or len(found[0]) > MOST_THUMBNAIL:
        return ""
    inner = re.sub(r' x="\d+" y="\d+"', "", found[0], count=1)
    title = f"Map of {job.title}"
    return f"<svg viewBox='0 0 {found[1]} {found[2]}' role='img' aria-label='{escape(title)}'>{inner}</svg>"


def thinned(layer: Layer) -> Layer:
    """Return a layer with so few rows that its map is small."""
    step = math.ceil(len(layer) / MOST_THUMBNAIL_ROWS)
    if step == 1:
        return layer
    import pyarrow as pa

    return as_layer("layer", pa.table(layer).take([*range(0, len(layer), step)]))


def without_counts(svg: str) -> str:
    """Return a map without the counts of what it draws, unless it draws a part."""
    return COUNTS.sub("", svg)
