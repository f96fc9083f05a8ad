"""Draws the maps of a field: one unit and one scale for all maps of a kind."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from headland.errors import HeadlandError

from .measure import LABELS, numbers

if TYPE_CHECKING:
    from pathlib import Path

    from headland.layer import Layer

    from .pull import Pulled

__all__ = ["draw_field"]

WIDTH = 460
"""The width of a map in pixels: a third of a wide screen."""

LOW, HIGH = 0.02, 0.98
"""Quantiles of the first and the last colour."""


def draw_field(jobs: list[Pulled], out: Path) -> None:
    """Draw the jobs of a field, write each map as SVG, and release the layers."""
    scales: dict[tuple[str | None, str, str], list[tuple[Pulled, Layer]]] = defaultdict(list)
    for job in jobs:
        layer, found = job.layer, job.measured
        job.layer = None
        if layer is None or found is None:
            continue
        if found.column is None or found.unit is None:
            draw_as_logged(job, layer, out)
        else:
            layer = layer.to_units({found.column: found.unit})
            scales[found.kind, found.column, found.unit].append((job, layer))
    for (_, column, _), members in scales.items():
        limits = common_range([numbers(layer, column) for _, layer in members])
        for job, layer in members:
            draw_on_scale(job, layer, column, limits, out)


def common_range(columns: list[list[float]]) -> tuple[float, float] | None:
    """Return the range that contains the 2 % to 98 % range of every map; None if all values are equal.

    The quantiles of all rows together would follow the map with the most rows.
    """
    ordered = [sorted(values) for values in columns]
    low = min(values[round(LOW * (len(values) - 1))] for values in ordered)
    high = max(values[round(HIGH * (len(values) - 1))] for values in ordered)
    return (low, high) if low < high else None


def draw_on_scale(job: Pulled, layer: Layer, column: str, limits: tuple[float, float] | None, out: Path) -> None:
    """Draw the canonical column on the scale of its kind."""
    low, high = limits or (None, None)
    label = column if job.measured is None else job.measured.label
    try:
        svg = layer.plot(column, label=label, title=job.title, width=WIDTH, vmin=low, vmax=high).svg
    except (HeadlandError, ValueError) as error:
        job.problem = str(error)
        return
    job.scale = limits
    write(job, svg, out)


def draw_as_logged(job: Pulled, layer: Layer, out: Path) -> None:
    """Draw the default column of a layer without a canonical one, on a scale of its own."""
    try:
        column = layer.plot().column
        sources = {str(entry["source"]): str(entry["column"]) for entry in layer.provenance}
        label = LABELS.get(sources.get(column or "", ""), "Values as logged")
        svg = layer.plot(label=label, title=job.title, width=WIDTH).svg
    except (HeadlandError, ValueError) as error:
        job.problem = str(error)
        return
    job.note = "The map shows the numbers as logged, on a scale of its own."
    if column is None:
        job.note = "The map shows locations alone."
    write(job, svg, out)


def write(job: Pulled, svg: str, out: Path) -> None:
    """Write the map next to the page, and keep it for the page."""
    job.svg = svg
    job.picture = f"{job.stem}.svg"
    (out / job.picture).write_text(svg, encoding="utf-8")
    job.files.append(job.picture)
