"""Writes pages: an index of jobs and fields with small maps, a page of a field, and all of them on one page."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from headland.files import replacing

from .card import field_card
from .formats import KINDS, area_text, shown
from .jobs_table import jobs_table
from .style import STYLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from .job import Job

__all__ = ["INDEX", "Field", "check_page", "file_name", "listed", "number_jobs", "write_index", "write_page"]

INDEX = "index.html"

TITLE = "Every field on a map"

MEANING = (
    "Areas and totals are measured from the layers alone. The mean of a harvest is its mass at the stated moisture by "
    "the ground, each piece counted once; its total is the mass as harvested, so mean times area is another mass. "
    "Areas are worked: overlap counts each time. Other means are amount by worked area."
)

GENERATOR = "<meta name='generator' content='headland'>"
"""Marks a page of a report, which a later run replaces."""

LONGEST_SLUG = 40
"""Maximum length of the readable part of a file name."""


class Field(NamedTuple):
    """A field of an index."""

    name: str
    jobs: list[Job]
    """Its jobs; those with a map, if there are any."""
    thumbnail: str
    href: str


def file_name(field: str) -> str:
    """Return the name of a field's page: its letters in ASCII and a digest, so that names are safe and differ."""
    plain = unicodedata.normalize("NFKD", field).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain)[:LONGEST_SLUG].strip("-")
    digest = hashlib.sha256(field.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{slug or 'field'}-{digest}.html"


def check_page(path: Path) -> None:
    """Refuse to replace a file that is not a page of a report, before anything is written."""
    if path.exists() and GENERATOR.encode() not in path.read_bytes():
        raise ValueError(f"`{path}` is not a page of headland and is not replaced: choose another folder")


def order(job: Job) -> tuple[bool, tuple[bool, str, str], int, int, str, str]:
    """Return the order of jobs: cards, kinds, years; jobs without a map last."""
    kind = None if job.measured is None else job.measured.kind
    kinds = [*KINDS, kind]
    return not job.is_mapped, job.card, kinds.index(kind), job.year or 0, job.name, job.id


def number_jobs(jobs: Iterable[Job], first: int = 1) -> list[Job]:
    """Order the jobs, and number them for the ids of their rows and maps."""
    ordered = sorted(jobs, key=order)
    for number, job in enumerate(ordered, first):
        job.number = number
    return ordered


def write(path: Path, title: str, body: str) -> None:
    """Write a complete page."""
    text = (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        f"<meta name='viewport' content='width=device-width, initial-scale=1'>{GENERATOR}"
        f"<title>{shown(title)}</title><style>{STYLE}</style></head><body>{body}</body></html>\n"
    )
    with replacing(path) as file:
        # Names of files can have characters that UTF-8 has not.
        file.write(text.encode("utf-8", "backslashreplace"))


def write_page(path: Path, field: str, jobs: list[Job], *, about: str = "", links: str = "", more: str = "") -> None:
    """Write the page of one field: its jobs as a table, and its maps.

    Args:
        path: The file.
        field: The name of the field, or of the only job.
        jobs: The jobs in order, with numbers and maps.
        about: What to know of the field.
        links: Links of the heading, as HTML.
        more: Sections after the maps, as HTML.
    """
    mapped = [job for job in jobs if job.is_mapped]
    card = field_card(1, "Maps", mapped, "<a href='#jobs'>all jobs</a>") if mapped else ""
    years = span(mapped)
    lead = f"{counted(len(jobs), 'job')}{f', {years}' if years else ''}{f'. {about}' if about else ''}"
    body = (
        f"<header><h1>{shown(field)}</h1><p class='lead'>{lead}</p></header><main>"
        "<section class='panel' id='jobs' aria-labelledby='jobs-name'><div class='heading'><h2 id='jobs-name'>Jobs</h2>"
        f"<nav aria-label='Pages'>{links}</nav></div>{jobs_table(jobs)}<p class='note'>{MEANING}</p></section>"
        f"{card}{more}</main>"
    )
    write(path, field, body)


def write_index(path: Path, lead: str, jobs: list[Job], fields: Sequence[Field], more: str = "") -> None:
    """Write the index: the fields with small maps, the table of all jobs, and more sections.

    Args:
        path: The file.
        lead: A summary.
        jobs: All jobs in order, with numbers.
        fields: The fields with a map.
        more: Sections after the fields, as HTML.
    """
    truth = " Truth is the total that is known otherwise." if any(job.known is not None for job in jobs) else ""
    contents = "".join(entry(each) for each in fields) or "<p class='soft'>no field has a map</p>"
    body = (
        f"<header><h1>{TITLE}</h1><p class='lead'>{shown(lead)}</p></header><main>"
        "<section class='panel' id='fields' aria-labelledby='fields-name'><div class='heading'>"
        "<h2 id='fields-name'>All fields</h2><nav aria-label='On this page'><a href='#jobs'>all jobs</a></nav></div>"
        f"<div class='contents'>{contents}</div></section>"
        "<section class='panel' id='jobs' aria-labelledby='jobs-name'><div class='heading'>"
        "<h2 id='jobs-name'>All jobs</h2><nav aria-label='Back'><a href='#fields'>all fields</a></nav></div>"
        f"{jobs_table(jobs)}<p class='note'>{MEANING}{truth}</p></section>{more}</main>"
    )
    write(path, f"headland: {TITLE.lower()}", body)


def listed(id: str, heading: str, texts: Iterable[str], lead: str = "") -> str:
    """Return a section with a list of texts; empty without any."""
    items = "".join(f"<li>{shown(text)}</li>" for text in texts)
    note = f"<p class='lead'>{shown(lead)}</p>" if lead else ""
    return f"<section class='panel' id='{id}'><h2>{heading}</h2>{note}<ul>{items}</ul></section>" if items else ""


def counted(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count:,} {noun if count == 1 else f'{noun}s'}"


def span(jobs: Iterable[Job]) -> str:
    """Return the years of jobs; empty if none is known."""
    years = sorted({job.year for job in jobs if job.year is not None})
    return "" if not years else f"{years[0]}" if len(years) == 1 else f"{years[0]} to {years[-1]}"


def entry(field: Field) -> str:
    """Return the link to a field, with a small map, and the yield of its last harvest."""
    harvests = [job for job in field.jobs if job.measured is not None and job.measured.kind == "yield"]
    latest = max(harvests or field.jobs, key=lambda job: job.year or 0)
    years = span(field.jobs)
    count = f"{counted(sum(job.is_mapped for job in field.jobs), 'map')}{f', {years}' if years else ''}"
    found = latest.measured
    ground = None if found is None else area_text(found.area)
    size = "" if ground is None else f"<br>{ground} worked"
    crop = "" if found is None or not found.group else f"{found.group} "
    mean = f"<br>{shown(f'{crop}{latest.year or str()}: {latest.cleaned_mean}')}" if latest.cleaned_mean else ""
    return (
        f"<a href='{escape(field.href)}'><span class='frame'>{field.thumbnail}</span>"
        f"<b>{shown(field.name)}</b><small>{count}{size}{mean}</small></a>"
    )
