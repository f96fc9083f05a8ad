"""Writes the table of all jobs with measured and known totals."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .formats import area_text, difference_text, kind_text, mean_text, total_text

if TYPE_CHECKING:
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
    mean = mean_text(found.mean, found.kind)
    if mean is not None and found.kind == "yield":
        mean += f" <span class='soft'>{'wet' if found.basis is None else f'at {found.basis:g} %'}</span>"
    reason = found.problem or "The layer does not state it."
    cells = {
        "Field": f"<a href='#job-{index}'>{escape(job.field)}</a>",
        "Year": str(job.year or ""),
        "Kind": kind_text(job),
        "Crop or product": escape(found.item or ""),
        "Mean": mean or not_measured(reason),
        "Area": area_text(found.area) or not_measured(NO_AREA),
        "Total": total_text(found.total, found.kind) or not_measured(reason),
        "Truth": total_text(job.known, found.kind) or "",
        "Difference": difference(job),
    }
    return f"<tr id='row-{index}'>{''.join(f'<td{numeric(name)}>{cell}</td>' for name, cell in cells.items())}</tr>"


def difference(job: Pulled) -> str:
    """Return the difference to the truth in percent; empty without one of the two."""
    if job.difference is None:
        return ""
    return f"<span class='{'ok' if job.agrees else 'bad'}'>{difference_text(job.difference)}</span>"


def not_measured(reason: str) -> str:
    """Return the text of a value that the layer does not have, with the reason as tooltip."""
    return f"<span class='soft' title='{escape(reason)}'>not measured</span>"
