"""Writes the card of a field: its maps by kind and year, each with its numbers and details."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from headland import quantities
from headland.escaping import printable

from .formats import (
    area_text,
    dates_text,
    difference_text,
    kind_text,
    mean_text,
    number,
    total_text,
)
from .jobs_table import NO_AREA, not_measured

if TYPE_CHECKING:
    from .measure import Measured
    from .pull import Pulled

__all__ = ["field_card"]


def field_card(index: int, field: str, jobs: list[tuple[int, Pulled]]) -> str:
    """Return the card of a field, whose jobs are ordered by kind and year."""
    sections = "".join(section(kind, list(members)) for kind, members in groupby(jobs, lambda pair: kind_text(pair[1])))
    return (
        f"<section class='card' id='field-{index}' aria-labelledby='name-{index}'><div class='heading'>"
        f"<h2 id='name-{index}'>{shown(field)}</h2>"
        "<nav aria-label='Back'><a href='#jobs'>all jobs</a><a href='#fields'>all fields</a></nav>"
        f"</div>{sections}</section>"
    )


def section(kind: str, jobs: list[tuple[int, Pulled]]) -> str:
    """Return the maps of one kind next to each other, and their scales."""
    scales = dict.fromkeys(scale_text(job) for _, job in jobs if job.scale is not None)
    small = f"<small>{'; '.join(scales)}</small>" if scales else ""
    return f"<h3>{escape(kind)}{small}</h3><div class='maps'>{''.join(figure(*pair) for pair in jobs)}</div>"


def scale_text(job: Pulled) -> str:
    """Return the common scale of the maps of one kind and unit."""
    low, high = job.scale or (0.0, 0.0)
    unit = "" if job.measured is None else job.measured.unit or ""
    return escape(f"one scale: {number(low)} to {number(high)} {unit}")


def figure(index: int, job: Pulled) -> str:
    """Return one map with its numbers; hovering over the drawing shows values."""
    found = job.measured
    if found is None:
        return ""
    rows = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in numbers_of(job, found))
    reason = (
        ""
        if found.problem is None
        else f"<p class='reason bad'>{escape(f'Not harmonised. {found.problem} {job.note}')}</p>"
    )
    return (
        f"<figure id='job-{index}' data-scale='{scale_attribute(job)}'><div class='map'>{job.svg}</div>"
        f"<figcaption><dl>{rows}</dl>{reason}<p class='back'><a href='#row-{index}'>table row</a></p>"
        f"{details(job)}</figcaption></figure>"
    )


def scale_attribute(job: Pulled) -> str:
    """Return kind, unit and scale for scripts and tests."""
    if job.scale is None or job.measured is None:
        return "own"
    return escape(f"{job.measured.kind} {job.measured.unit} {job.scale[0]:g} {job.scale[1]:g}")


def numbers_of(job: Pulled, found: Measured) -> list[tuple[str, str]]:
    """Return names and values of the caption."""
    reason = found.problem or "The layer does not state it."
    crop = "Product" if found.kind == "as_applied" else "Crop"
    total, area = total_text(found.total, found.kind), area_text(found.area)
    if total is not None and found.kind == "yield":
        total += " as harvested"
    if area is not None and found.kind is not None:
        area += " worked, overlap counted each time"
    dates = dates_text(found)
    if dates is not None and found.is_local:
        dates = f"<span title='Times of the clock of the display; the file states no zone.'>{dates}</span>"
    return [
        (crop, shown(found.item) if found.item else "<span class='soft'>not stated</span>"),
        ("Mean", mean(found) or not_measured(reason)),
        ("Area", compared(area, job.area_difference) or not_measured(NO_AREA)),
        *covered_ground(found),
        ("Total", compared(total, job.difference) or not_measured(reason)),
        *dry_total(found),
        ("Work", dates or "<span class='soft'>not stated</span>"),
    ]


def covered_ground(found: Measured) -> list[tuple[str, str]]:
    """Return the worked ground, if it is known."""
    text = area_text(found.covered)
    return [] if text is None else [("Ground", f"{text}, overlap counted once")]


def dry_total(found: Measured) -> list[tuple[str, str]]:
    """Return the mass at the moisture of the mean: the mean by the ground, unlike the mass as harvested."""
    text = total_text(found.dry, found.kind)
    return [] if text is None or found.basis is None else [("", f"{text} {quantities.at_moisture(found.basis)}")]


def compared(text: str | None, percent: float | None) -> str | None:
    """Return a measured value with its difference from the truth."""
    if text is None or percent is None:
        return text
    return f"{text} <span class='soft'>(difference {difference_text(percent)})</span>"


def mean(found: Measured) -> str | None:
    """Return the mean with the area, for a harvest also with the moisture, to which it refers."""
    text = mean_text(found.mean, found.kind)
    if text is None:
        return None
    if found.kind != "yield":
        return f"{text}, of the area worked"
    return f"{text} {quantities.at_moisture(found.basis)}, of the ground"


def details(job: Pulled) -> str:
    """Return the columns as the file has them, the diagnostics and the files."""
    rows = "".join(f"<tr>{''.join(f'<td>{shown(cell)}</td>' for cell in column)}</tr>" for column in job.columns)
    diagnostics = "".join(f"<li>{shown(text)}</li>" for text in job.diagnostics) or "<li>none</li>"
    links = ", ".join(f"<a href='{escape(name)}'>{escape(name.rsplit('.', 1)[-1])}</a>" for name in job.files)
    origin = f"<li>{shown(job.name)}, job {shown(job.id)}</li><li>{job.rows:,} rows, {job.calls} calls</li>"
    if job.known_area is not None:
        origin += f"<li>true area {area_text(job.known_area)}</li>"
    return (
        f"<details><summary>Columns, diagnostics, files</summary><div><ul>{origin}<li>files: {links}</li></ul>"
        "<table><thead><tr><th>column</th><th>type</th><th>unit</th><th>read as</th></tr></thead>"
        f"<tbody>{rows}</tbody></table><h4>Diagnostics</h4><ul>{diagnostics}</ul></div></details>"
    )


def shown(text: str) -> str:
    """Return a text of a file or of the service, escaped for the page."""
    return escape(printable(text))
