"""Writes the page: the table of all jobs, the fields with small maps, and a card for each field."""

from __future__ import annotations

import re
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from headland.escaping import printable

from .card import field_card
from .formats import KINDS, area_text
from .jobs_table import jobs_table
from .style import STYLE

if TYPE_CHECKING:
    from pathlib import Path

    from .pull import Pulled

__all__ = ["write_page"]

PANEL = re.compile(r'viewBox="0 0 (\d+) (\d+)".*?<svg x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"', re.DOTALL)
"""The size of a map, and the place and size of its panel without title and legend."""

MEANING = (
    "Areas and totals are measured from the layers alone. The mean of a harvest is its mass at the stated moisture by "
    "the ground, each piece counted once; its total is the mass as harvested, so mean times area is another mass. "
    "Areas are worked: overlap counts each time. Other means are amount by worked area. Truth is the total that the "
    "generator of the local service knows; real archives have none."
)


GENERATOR = "<meta name='generator' content='headland demo'>"
"""Marks a page of the demo, which a later run replaces."""


def write_page(out: Path, pulled: list[Pulled], *, calls: int, seconds: float) -> Path:
    """Write `index.html` next to the files that it shows, and return its path."""
    ordered = list(enumerate(sorted(pulled, key=position), 1))
    mapped = [pair for pair in ordered if pair[1].picture is not None]
    fields = [(card[1], list(jobs)) for card, jobs in groupby(mapped, lambda pair: pair[1].card)]
    parts = [
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>",
        f"<meta name='viewport' content='width=device-width, initial-scale=1'>{GENERATOR}",
        f"<title>headland: every field on a map</title><style>{STYLE}</style></head><body>",
        f"<header><h1>Every field on a map</h1><p class='lead'>{lead(pulled, calls, seconds)}</p></header><main>",
        "<section class='panel' id='jobs' aria-labelledby='jobs-name'><div class='heading'>",
        "<h2 id='jobs-name'>All jobs</h2><nav aria-label='On this page'><a href='#fields'>all fields</a></nav></div>",
        f"{jobs_table(ordered)}<p class='note'>{MEANING}</p></section>",
        "<section class='panel' id='fields' aria-labelledby='fields-name'><div class='heading'>",
        "<h2 id='fields-name'>All fields</h2><nav aria-label='Back'><a href='#jobs'>all jobs</a></nav></div>",
        f"<div class='contents'>{''.join(entry(index, *each) for index, each in enumerate(fields, 1))}</div></section>",
        *(field_card(index, *each) for index, each in enumerate(fields, 1)),
        "</main></body></html>\n",
    ]
    page = out / "index.html"
    # Names of files can have characters that UTF-8 has not.
    page.write_bytes("".join(parts).encode("utf-8", "backslashreplace"))
    return page


def check_page(out: Path) -> None:
    """Refuse a folder whose page is not one of the demo, before anything is written."""
    page = out / "index.html"
    if page.exists() and GENERATOR.encode() not in page.read_bytes():
        raise ValueError(f"`{page}` is not a page of the demo and is not replaced: choose another folder with `--out`")


def position(job: Pulled) -> tuple[bool, tuple[bool, str, str], int, int, str]:
    """Return the order of jobs: cards, kinds, years; jobs without a map last."""
    kind = None if job.measured is None else job.measured.kind
    kinds = [*KINDS, kind]
    return job.picture is None, job.card, kinds.index(kind), job.year or 0, job.name


def lead(pulled: list[Pulled], calls: int, seconds: float) -> str:
    """Return the summary of the demo: what was pulled, and how many totals equal the truth."""
    mapped = sum(job.picture is not None for job in pulled)
    known = [job for job in pulled if job.known is not None]
    agreeing = sum(job.agrees is True for job in known)
    unmeasured = sum(job.difference is None for job in known)
    rest = len(known) - agreeing - unmeasured
    text = f"{mapped} of {len(pulled)} jobs mapped, {sum(job.rows for job in pulled):,} rows, {calls:,} calls, "
    text += f"{seconds:.0f} s. The totals of {agreeing} of {len(known)} generated jobs equal the truth within one part "
    text += "in a million"
    if unmeasured:
        text += f"; {unmeasured} have no measured total, for the reason in their card"
    return text + (f"; {rest} differ." if rest else ".")


def entry(index: int, field: str, jobs: list[tuple[int, Pulled]]) -> str:
    """Return the link to a card, with the map of its last harvest."""
    members = [job for _, job in jobs]
    harvests = [job for job in members if job.measured is not None and job.measured.kind == "yield"]
    latest = max(harvests or members, key=lambda job: job.year or 0)
    years = sorted({job.year for job in members if job.year is not None})
    span = "" if not years else f", {years[0]}" if len(years) == 1 else f", {years[0]} to {years[-1]}"
    count = f"{len(members)} {'map' if len(members) == 1 else 'maps'}{span}"
    ground = area_text(None if latest.measured is None else latest.measured.area)
    size = "" if ground is None else f"<br>{ground} worked"
    return (
        f"<a href='#field-{index}'>{thumbnail(latest)}<b>{escape(printable(field))}</b><small>{count}{size}</small></a>"
    )


def thumbnail(job: Pulled) -> str:
    """Return the panel of the map as written, without title and legend."""
    found = PANEL.search(job.svg)
    if found is None:
        return ""
    width, height, x, y, across, along = map(int, found.groups())
    place = f"width:{width / across:.2%};height:{height / along:.2%};left:{-x / across:.2%};top:{-y / along:.2%}"
    return (
        f"<span class='frame'><span class='thumb' style='aspect-ratio:{across}/{along}'>"
        f"<img loading='lazy' src='{escape(job.picture or '')}' alt='' style='{place}'></span></span>"
    )
