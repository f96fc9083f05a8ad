"""Writes the table of all jobs with measured and known totals."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from headland import quantities

from .formats import area_text, difference_text, kind_text, mean_text, total_text

if TYPE_CHECKING:
    from .measure import Measured
    from .pull import Pulled

__all__ = ["jobs_table", "not_measured"]

HEAD = ("Field", "Year", "Kind", "Crop or product", "Mean", "Area", "Total", "Truth", "Difference")
NUMBERS = {"Mean", "Area", "Total", "Truth", "Difference"}

NO_AREA = "The layer has neither polygons nor distances and swath widths in a known unit."


def jobs_table(ordered: list[tuple[int, Pulled]]) -> str:
    """Return the table; each number of a job is part of the ids of its row and its map."""
    head = "".join(f"<th scope='col'{numeric(name)}>{name}</th>" for name in HEAD)
    rows = "".join(row(index, job) for index, job in ordered)
    return (
        "<div class='scroll' tabindex='0' role='region' aria-label='All jobs'><table class='jobs'>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def numeric(name: str) -> str:
    """Return the class attribute of a column of numbers."""
    return " class='number'" if name in NUMBERS else ""


def row(index: int, job: Pulled) -> str:
    """Return one row; a job without a map has the reason in place of numbers."""
    found = job.measured
    if found is None or job.picture is None:
        reason = f"<td colspan='7' class='bad'>{escape(job.problem or 'no map')}</td>"
        return f"<tr id='row-{index}'><td>{escape(job.name)}</td><td></td>{reason}</tr>"
    mean, total = with_basis(mean_text(found.mean, found.kind), mean_basis(found)), total_text(found.total, found.kind)
    harvested = "as harvested" if found.kind == "yield" else ""
    reason = found.problem or "The layer does not state it."
    cells = {
        "Field": f"<a href='#job-{index}'>{escape(job.field)}</a>",
        "Year": str(job.year or ""),
        "Kind": kind_text(job),
        "Crop or product": escape(found.item or ""),
        "Mean": mean or not_measured(reason),
        "Area": with_basis(area_text(found.area), "worked" if found.kind else "") or not_measured(NO_AREA),
        "Total": with_basis(total, harvested) or not_measured(reason),
        "Truth": with_basis(total_text(job.known, found.kind), harvested) or "",
        "Difference": difference(job),
    }
    return f"<tr id='row-{index}'>{''.join(f'<td{numeric(name)}>{cell}</td>' for name, cell in cells.items())}</tr>"


def with_basis(text: str | None, basis: str) -> str | None:
    """Return a value with what it refers to."""
    return f"{text} <span class='soft'>{basis}</span>" if text and basis else text


def mean_basis(found: Measured) -> str:
    """Return the moisture of a mean yield, and the area of any mean."""
    if found.kind != "yield":
        return "worked"
    return f"{quantities.at_moisture(found.basis)}, ground once"


def difference(job: Pulled) -> str:
    """Return the difference to the truth in percent; empty without one of the two."""
    if job.difference is None:
        return ""
    return f"<span class='{'ok' if job.agrees else 'bad'}'>{difference_text(job.difference)}</span>"


def not_measured(reason: str) -> str:
    """Return the text of a value that the layer does not have, with the reason as tooltip."""
    return f"<span class='soft' title='{escape(reason)}'>not measured</span>"
