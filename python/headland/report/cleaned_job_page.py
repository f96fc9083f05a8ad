"""Writes the page of one cleaned job."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

from headland import _core
from headland.errors import HeadlandError
from headland.layer.layer import Layer

from .draw_maps import SIDES, draw_field
from .html_pages import number_jobs, write_page
from .report_job import Job, add_layer

if TYPE_CHECKING:
    from pathlib import Path

    from .report_job import CleanedRows

__all__ = ["write_one"]

SHARED = 0.5
"""Cells that two seasons share, as part of the smaller one; crops of one season share those of their border."""

MOST_NAMES = 4
"""Maximum number of seasons that a message names."""


def write_one(cleaned: CleanedRows, path: Path) -> None:
    """Write the page of a cleaned job.

    Raises:
        ValueError: The rows are of several seasons, whose cells would cover each other on one map.
    """
    found = seasons(cleaned)
    if len(found) > 1:
        some = ", ".join(found[:MOST_NAMES]) + (", ..." if len(found) > MOST_NAMES else "")
        raise ValueError(
            f"a page has one season, and these rows have {len(found)} ({some}): clean and save each job, or write a "
            "page for each field with `headland.Mirror.report`"
        )
    layer = cleaned.layer
    name = layer._core.map_texts(None)[0]  # noqa: SLF001 - a layer of this package
    names = jobs_of(layer)
    job = Job("", name, "", name, source=name, origin=[] if len(names) == 1 else names)
    add_layer(job, layer, lambda _: cleaned)
    draw_field([job])
    about = "" if len(names) == 1 else "The map and all numbers are those of all jobs together."
    write_page(path, name, number_jobs([job]), about=about, count=len(names))


def jobs_of(layer: Layer) -> list[str]:
    """Return the names of the jobs of a layer; of a job without a name its id, else its source."""
    columns = [layer.values(name) for name in ("job_id", "source", "job_name") if name in layer.columns]
    known = [list(filter(None, cells)) or [""] for cells in zip(*columns, strict=True)]
    return sorted({cells[0]: cells[-1] for cells in known}.values()) or [""]


def seasons(cleaned: CleanedRows) -> list[str]:
    """Return the seasons or jobs of a map; none if they are crops of one job and year, with ground of their own."""
    try:
        cells = Layer(_core.grid(cleaned._core, SIDES[0], None, None, None, []))  # noqa: SLF001 - of this package
    except (HeadlandError, ValueError):
        return []
    names = [name for name in ("job_id", "crop", "year") if name in cells.columns]
    if not names:
        return []
    ground: dict[tuple[object, ...], set[tuple[float, float]]] = defaultdict(set)
    for x, y, *season in zip(*map(cells.values, ("x", "y", *names)), strict=True):
        if None not in season:
            ground[tuple(season)].add((x, y))
    layer = cleaned.layer
    jobs = {*layer.values("job_id")} if "job_id" in layer.columns else {None}
    years = {season[-1] for season in ground} if "year" in names else set()
    if max(len(jobs), len(years)) <= 1 and not any(share(*pair) > SHARED for pair in combinations(ground.values(), 2)):
        return []
    return sorted(" ".join(map(str, season)) for season in ground)


def share(one: set[tuple[float, float]], other: set[tuple[float, float]]) -> float:
    """Return the part of the cells of the smaller season that the other has too."""
    return len(one & other) / min(len(one), len(other))
