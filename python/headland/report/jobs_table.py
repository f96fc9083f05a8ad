"""Writes the table of all jobs with measured and known totals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headland.display import quantities

from .formats import difference_text, for_readers, ground_text, mean_text, shown, total_text
from .report_job import kind_text

if TYPE_CHECKING:
    from .measured_totals import Measured
    from .report_job import Job

__all__ = ["jobs_table", "not_measured"]

TRUTH = ("Truth", "Difference")
"""Columns of totals that are known otherwise."""

NUMBERS = {"Mean", "Area", "Total", *TRUTH}

NO_AREA = "The layer has neither polygons nor distances and swath widths in a known unit."


def jobs_table(jobs: list[Job], *, is_field: bool = False) -> str:
    """Return the table of some fields or of one; the number of a job is part of the ids of its row and its map."""
    has_truth = any(job.known is not None for job in jobs)
    head = "".join(f"<th scope='col'{numeric(name)}>{name}</th>" for name in head_of(has_truth=has_truth))
    head = head.replace(">Field<", ">Job<") if is_field else head
    rows = "".join(row(job, has_truth=has_truth, is_field=is_field) for job in jobs)
    return (
        "<div class='scroll' tabindex='0' role='region' aria-label='All jobs'><table class='jobs'>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def head_of(*, has_truth: bool) -> tuple[str, ...]:
    """Return the names of the columns."""
    names = ("Field", "Year", "Kind", "Crop or product", "Mean", "Area", "Total")
    return (*names, *TRUTH) if has_truth else names


def numeric(name: str) -> str:
    """Return the class of a column of numbers, with its name for narrow screens, or that of long texts."""
    text = " class='text'" if name == "Crop or product" else ""
    return f" class='number' data-name='{name}'" if name in NUMBERS else text


def row(job: Job, *, has_truth: bool, is_field: bool = False) -> str:
    """Return one row; a job without a map has the reason in place of numbers."""
    found = job.measured
    if found is None or not job.is_mapped:
        reason = (
            f"<td colspan='{len(head_of(has_truth=has_truth)) - 2}' class='bad'>"
            f"{for_readers(job.problem or 'no map')}</td>"
        )
        return f"<tr id='row-{job.number}'><td>{shown(job.name)}</td><td>{job.year or ''}</td>{reason}</tr>"
    mean, total = with_basis(mean_text(found.mean, found.kind), mean_basis(found)), total_text(found.total, found.kind)
    harvested = "as harvested" if found.kind == "yield" else ""
    reason = found.problem or "The layer does not state it."
    name = "" if is_field or job.name == job.field else f"<br><small class='soft'>{shown(job.name)}</small>"
    cells = {
        "Field": f"<a href='{job.page}#job-{job.number}'>{shown(job.name if is_field else job.field)}</a>{name}",
        "Year": str(job.year or ""),
        "Kind": shown(kind_text(job)),
        "Crop or product": shown(found.item or ""),
        "Mean": mean or not_measured(reason),
        "Area": ground_text(found) or not_measured(NO_AREA),
        "Total": with_basis(total, harvested) or not_measured(reason),
        "Truth": with_basis(total_text(job.known, found.kind), harvested) or "",
        "Difference": difference(job),
    }
    texts = "".join(f"<td{numeric(name)}>{cells[name]}</td>" for name in head_of(has_truth=has_truth))
    return f"<tr id='row-{job.number}'>{texts}</tr>"


def with_basis(text: str | None, basis: str) -> str | None:
    """Return a value with what it refers to."""
    return f"{text} <span class='soft'>{basis}</span>" if text and basis else text


def mean_basis(found: Measured) -> str:
    """Return the moisture of a mean yield, and the area of a mean that is not by the ground counted once."""
    if found.kind == "yield":
        return quantities.at_moisture(found.basis)
    return "worked" if found.covered is None else ""


def difference(job: Job) -> str:
    """Return the difference to the truth in percent; empty without one of the two."""
    if job.difference is None:
        return ""
    return f"<span class='{'ok' if job.agrees else 'bad'}'>{difference_text(job.difference)}</span>"


def not_measured(reason: str) -> str:
    """Return the text of a value that the layer does not have, with the reason as tooltip."""
    return f"<span class='soft' title='{shown(reason)}'>not measured</span>"
