"""Writes pages: an index of jobs and fields with small maps, a page of a field, and all of them on one page."""

from __future__ import annotations

import errno
import hashlib
import re
import unicodedata
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from headland.display import quantities
from headland.errors import from_core
from headland.files import replacing

from .draw_maps import leave_out
from .field_cards import field_card
from .formats import KINDS, for_readers, ground_text, mean_text, shown
from .jobs_table import jobs_table
from .style import STYLE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from .measured_totals import Measured
    from .report_job import Job

__all__ = ["INDEX", "Field", "check_page", "file_name", "listed", "number_jobs", "write_index", "write_page"]

INDEX = "index.html"

TITLE = "Every field on a map"

MEANING = (
    "All numbers are measured from the files alone. Area is the ground, and overlap counts once; worked counts it "
    "each time. Mean is everything by that ground, for a harvest all grain at the stated moisture; its total is the "
    "mass as harvested, so mean times area is another mass. A cleaned map leaves out rows, so that its mean differs."
)

GENERATOR = "<meta name='generator' content='headland'>"
"""Marks a page of a report, which a later run replaces."""

PAGE = re.compile(r"[a-z0-9-]+-[0-9a-f]{10}\.html")
"""File names of pages of fields."""

MOST_BYTES = 2_000_000
"""Maximum bytes of the page of a field."""

MOST_SMALL = 1_200_000
"""Maximum bytes of all small maps of an index."""

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
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return
    except OSError as cause:
        raise refused(path, cause) from None
    if GENERATOR.encode() not in content:
        raise ValueError(f"`{path}` is not a page of headland and is not replaced: choose another folder")


def make_folder(path: Path) -> None:
    """Create the folder of a report."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise refused(path, cause) from None


def refused(path: Path, cause: OSError) -> Exception:
    """Return the error of a path that is no page or folder, or cannot be one."""
    is_blocked = isinstance(cause, FileExistsError | NotADirectoryError)
    reason = "there is a file in place of a folder" if is_blocked else cause.strerror or str(cause)
    return from_core("File", f"cannot write `{path}`: {reason}; choose another folder", {}, cause.errno or errno.EIO)


def remove_pages(folder: Path, written: Collection[str]) -> None:
    """Remove the pages of fields of an earlier report, to which the index no longer links."""
    for path in folder.glob("*.html"):
        if PAGE.fullmatch(path.name) and path.name not in written and path.is_file():
            try:
                if GENERATOR.encode() in path.read_bytes():
                    path.unlink()
            except OSError as cause:
                raise refused(path, cause) from None


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


def document(title: str, body: str) -> bytes:
    """Return a complete page."""
    text = (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        f"<meta name='viewport' content='width=device-width, initial-scale=1'>{GENERATOR}"
        f"<title>{shown(title)}</title><style>{STYLE}</style></head><body>{body}</body></html>\n"
    )
    # Names of files can have characters that UTF-8 has not.
    return text.encode("utf-8", "backslashreplace")


def write(path: Path, content: bytes) -> None:
    """Replace a page."""
    with replacing(path) as file:
        file.write(content)


def write_page(
    path: Path,
    field: str,
    jobs: list[Job],
    *,
    about: str = "",
    links: str = "",
    more: str = "",
    count: int | None = None,
) -> None:
    """Write the page of one field: its jobs as a table, and its maps.

    Args:
        path: The file.
        field: The name of the field, or of the only job.
        jobs: The jobs in order, with numbers and maps.
        about: What to know of the field.
        links: Links of the heading, as HTML.
        more: Sections after the maps, as HTML.
        count: Number of jobs, if several are cleaned as one.
    """
    years = span(job for job in jobs if job.is_mapped)
    lead = counted(len(jobs) if count is None else count, "job")
    lead += f"{f', {years}' if years else ''}{f'. {shown(about)}' if about else ''}"
    content = document(field, body_of(field, jobs, lead, links, more))
    if len(content) > MOST_BYTES:
        leave_out(jobs, len(content) - MOST_BYTES)
        content = document(field, body_of(field, jobs, lead, links, more))
    write(path, content)


def body_of(field: str, jobs: list[Job], lead: str, links: str, more: str) -> str:
    """Return the elements of the page of one field."""
    mapped = [job for job in jobs if job.is_mapped]
    card = field_card(1, "Maps", mapped, "<a href='#jobs'>all jobs</a>") if mapped else ""
    return (
        f"<header><h1>{shown(field)}</h1><p class='lead'>{lead}</p></header><main>"
        "<section class='panel' id='jobs' aria-labelledby='jobs-name'><div class='heading'><h2 id='jobs-name'>Jobs</h2>"
        f"<nav aria-label='Pages'>{links}</nav></div>{jobs_table(jobs, is_field=True)}"
        f"<p class='note'>{MEANING}</p></section>"
        f"{card}{more}</main>"
    )


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
    size, small = 0, []
    for each in fields:
        size += len(each.thumbnail)
        small.append(each if size <= MOST_SMALL else each._replace(thumbnail=""))
    contents = "".join(map(entry, small)) or "<p class='soft'>no field has a map</p>"
    body = (
        f"<header><h1>{TITLE}</h1><p class='lead'>{shown(lead)}</p></header><main>"
        "<section class='panel' id='fields' aria-labelledby='fields-name'><div class='heading'>"
        "<h2 id='fields-name'>All fields</h2><nav aria-label='On this page'><a href='#jobs'>all jobs</a></nav></div>"
        f"<div class='contents'>{contents}</div></section>"
        "<section class='panel' id='jobs' aria-labelledby='jobs-name'><div class='heading'>"
        "<h2 id='jobs-name'>All jobs</h2><nav aria-label='Back'><a href='#fields'>all fields</a></nav></div>"
        f"{jobs_table(jobs)}<p class='note'>{MEANING}{truth}</p></section>{more}</main>"
    )
    write(path, document(f"headland: {TITLE.lower()}", body))


def listed(id: str, heading: str, texts: Iterable[str], lead: str = "") -> str:
    """Return a section with a list of texts; empty without any."""
    items = "".join(f"<li>{for_readers(text)}</li>" for text in texts)
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
    ground = None if found is None else ground_text(found)
    size = "" if ground is None else f"<br>{ground}"
    means = dict.fromkeys(mean_of(job, job.measured) for job in harvests if job.year == latest.year and job.measured)
    mean = "".join(f"<br>{shown(text)}" for text in means if text)
    return (
        f"<a href='{escape(field.href)}'><span class='frame'>{field.thumbnail}</span>"
        f"<b>{shown(field.name)}</b><small>{count}{size}{mean}</small></a>"
    )


def mean_of(job: Job, found: Measured) -> str:
    """Return crop, year and mean of a harvest; empty without a mean."""
    text = mean_text(found.mean, found.kind)
    crop = f"{found.group} " if found.group else ""
    return "" if text is None else f"{crop}{job.year or ''}: {text} {quantities.at_moisture(found.basis)}"
