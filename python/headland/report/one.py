"""Writes the page of one cleaned job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headland import _core
from headland.errors import HeadlandError
from headland.layer import Layer

from .draw import SIDES, draw_field
from .job import Job, add_layer
from .page import number_jobs, write_page

if TYPE_CHECKING:
    from pathlib import Path

    from headland.cleaned import Cleaned

__all__ = ["write_one"]

MOST_NAMES = 4
"""Maximum number of seasons that a message names."""


def write_one(cleaned: Cleaned, path: Path) -> None:
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
    job = Job("", name, "", name, source=name)
    add_layer(job, layer, lambda _: cleaned)
    draw_field([job])
    write_page(path, name, number_jobs([job]))


def seasons(cleaned: Cleaned) -> list[str]:
    """Return the seasons or jobs that a map keeps apart; the crops of one job have ground of their own."""
    try:
        cells = Layer(_core.grid(cleaned._core, SIDES[-1], None, None, None, []))  # noqa: SLF001 - of this package
    except (HeadlandError, ValueError):
        return []
    names = [name for name in ("job_id", "crop", "year") if name in cells.columns]
    found = {row for row in zip(*map(cells.values, names), strict=True) if None not in row} if names else set()
    layer = cleaned.layer
    jobs = {*layer.values("job_id")} if "job_id" in layer.columns else {None}
    years = {row[names.index("year")] for row in found} if "year" in names else set()
    if len(jobs) <= 1 and len(years) <= 1:
        return []
    return [" ".join(map(str, row)) for row in sorted(found, key=str)]
