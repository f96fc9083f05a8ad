"""Writes the card of a field: its maps by kind and year, each with its numbers and details."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import quote

from headland.display import quantities

from .formats import (
    area_text,
    dates_text,
    difference_text,
    for_readers,
    ground_text,
    mean_text,
    short_number,
    shown,
    total_text,
)
from .jobs_table import NO_AREA, not_measured
from .report_job import kind_text

if TYPE_CHECKING:
    from .measured_totals import Measured, Part
    from .report_job import Job

__all__ = ["field_card"]


def field_card(index: int, field: str, jobs: list[Job], links: str) -> str:
    """Return the card of a field, whose jobs are ordered by kind and year."""
    sections = "".join(section(kind, list(members)) for kind, members in groupby(jobs, kind_text))
    return (
        f"<section class='card' id='field-{index}' aria-labelledby='name-{index}'><div class='heading'>"
        f"<h2 id='name-{index}'>{shown(field)}</h2><nav aria-label='Back'>{links}</nav></div>{sections}</section>"
    )


def section(kind: str, jobs: list[Job]) -> str:
    """Return the maps of one kind next to each other, and their scales."""
    scales = dict.fromkeys(scale_text(job) for job in jobs if job.scale is not None)
    small = f"<small>{'; '.join(scales)}</small>" if scales else ""
    return f"<h3>{shown(kind)}{small}</h3><div class='maps'>{''.join(figure(job) for job in jobs)}</div>"


def scale_text(job: Job) -> str:
    """Return the common scale of the maps of one kind, crop and unit."""
    low, high = job.scale or (0.0, 0.0)
    found = job.measured
    group = f" of {found.group}" if found is not None and found.group else ""
    return shown(f"one scale{group}: {short_number(low)} to {short_number(high)} {job.unit}")


def figure(job: Job) -> str:
    """Return one map with its numbers and sentences; hovering over the drawing shows values."""
    found = job.measured
    if found is None:
        return ""
    named = [] if job.name == job.field else [("Job", shown(job.name))]
    rows = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in [*named, *numbers_of(job, found)])
    sentences = [] if found.problem is None else [("reason bad", f"Not harmonised. {found.problem}")]
    sentences += [("said", text) for text in (job.sentence, *job.rates.splitlines(), *job.products, job.note) if text]
    texts = "".join(f"<p class='{kind}'>{for_readers(text)}</p>" for kind, text in sentences)
    rates = f"<div class='map rates'>{job.rates_svg}</div>" if job.rates_svg else ""
    return (
        f"<figure id='job-{job.number}' data-scale='{scale_attribute(job)}'>"
        f"<div><div class='map'>{job.svg}</div>{rates}</div><figcaption><dl>{rows}</dl>{parts_table(found)}{texts}"
        f"{warnings(job)}{details(job)}<p class='back'><a href='#row-{job.number}'>table row</a></p>"
        "</figcaption></figure>"
    )


def scale_attribute(job: Job) -> str:
    """Return kind, group, unit and scale for scripts and tests."""
    if job.scale is None or job.measured is None:
        return "own"
    return shown(f"{job.measured.kind} {job.measured.group} {job.unit} {job.scale[0]:g} {job.scale[1]:g}")


def parts_table(found: Measured) -> str:
    """Return total and area by product or variety, if there are several."""
    if len(found.parts) <= 1:
        return ""
    has_means = any(part.mean is not None for part in found.parts)
    rows = "".join(
        f"<tr><td>{shown(part.name)}</td>{f'<td>{part_mean(part)}</td>' if has_means else ''}"
        f"<td class='number'>{total_text(part.total, found.kind) or ''}</td>"
        f"<td class='number'>{part_area(part)}</td></tr>"
        for part in found.parts
    )
    total = "Total as harvested" if found.kind == "yield" else "Total"
    mean = "<th scope='col'>Mean of the ground</th>" if has_means else ""
    return (
        f"<table><thead><tr><th scope='col'>{found.parted_by.title()}</th>{mean}<th scope='col' class='number'>{total}"
        f"</th><th scope='col' class='number'>Area worked</th></tr></thead><tbody>{rows}</tbody></table>"
    )


def part_mean(part: Part) -> str:
    """Return the mean of a crop at its moisture."""
    text = mean_text(part.mean, "yield")
    return "" if text is None else f"{text} {quantities.at_moisture(part.basis)}"


def part_area(part: Part) -> str:
    """Return the area of a part; the ground of a tank mix counts once, at its first product."""
    if part.is_mixed:
        return f"{area_text(part.area)}, and in the mix" if part.area else "in the mix"
    return area_text(part.area) or ""


def warnings(job: Job) -> str:
    """Return what is to know of the rows, folded."""
    if not job.warnings:
        return ""
    items = "".join(f"<li>{for_readers(text)}</li>" for text in job.warnings)
    summary = f"To know of these rows ({len(job.warnings)})"
    return f"<details><summary>{summary}</summary><div><ul>{items}</ul></div></details>"


def numbers_of(job: Job, found: Measured) -> list[tuple[str, str]]:
    """Return names and values of the caption."""
    reason = found.problem or "The layer does not state it."
    crop = "Product" if found.kind == "as_applied" else "Crop"
    total, area = total_text(found.total, found.kind), ground_text(found)
    if total is not None and found.kind == "yield":
        total += " as harvested"
    if found.covered is not None:
        area = f"{area}, overlap counted once"
    dates = dates_text(found)
    if dates is not None and found.is_local:
        dates = f"<span title='Times of the clock of the display; the file states no zone.'>{dates}</span>"
    return [
        (crop, shown(found.item) if found.item else "<span class='soft'>not stated</span>"),
        *([("Variety", shown(found.parts[0].name))] if found.kind == "yield" and len(found.parts) == 1 else []),
        ("Mean", mean(found) or not_measured(reason)),
        ("Area", area or not_measured(NO_AREA)),
        ("Total", compared(total, job.difference) or not_measured(reason)),
        *dry_total(found),
        ("Time", dates or "<span class='soft'>not stated</span>"),
        *worked(job, found),
        *([("Cleaned map", f"{shown(job.cleaned_mean)}, of used rows on new ground")] if job.cleaned_mean else []),
    ]


def worked(job: Job, found: Measured) -> list[tuple[str, str]]:
    """Return the area worked next to the ground that counts once."""
    text = None if found.covered is None else area_text(found.area)
    area = compared(text and f"{text}, overlap counted each time", job.area_difference)
    return [] if area is None else [("Worked", area)]


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
    if found.covered is None:
        return f"{text}, by the area worked"
    if found.kind != "yield":
        return f"{text}, the total by the area"
    return f"{text} {quantities.at_moisture(found.basis)}, all grain by the area"


def details(job: Job) -> str:
    """Return the columns as the file has them, remarks and files, folded."""
    rows = "".join(f"<tr>{''.join(f'<td>{shown(cell)}</td>' for cell in column)}</tr>" for column in job.columns)
    remarks = "".join(f"<li>{for_readers(text)}</li>" for text in job.remarks) or "<li>none</li>"
    name = f"{job.name}, job {job.id}" if job.id else job.name
    origin = "".join(f"<li>{shown(text)}</li>" for text in (name, f"{job.rows:,} rows", *job.origin))
    if job.known_area is not None:
        origin += f"<li>true area {area_text(job.known_area)}</li>"
    if job.files:
        links = (f"<a href='{quote(name)}'>{shown(name.rsplit('.', 1)[-1])}</a>" for name in job.files)
        origin += f"<li>files: {', '.join(links)}</li>"
    return (
        f"<details><summary>Columns and remarks</summary><div><ul>{origin}</ul>"
        "<table><thead><tr><th>column</th><th>type</th><th>unit</th><th>read as</th></tr></thead>"
        f"<tbody>{rows}</tbody></table><h4>Remarks</h4><ul>{remarks}</ul></div></details>"
    )
