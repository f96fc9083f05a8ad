"""Formats amounts, areas, differences and dates as text of the page."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from headland.display.escaping import printable
from headland.display.quantities import MINUS, short_number

if TYPE_CHECKING:
    from datetime import datetime

    from .measured_totals import Amount, Measured

__all__ = [
    "KINDS",
    "area_text",
    "dates_text",
    "difference_text",
    "for_readers",
    "ground_text",
    "mean_text",
    "short_number",
    "shown",
    "total_text",
]

ADVICE = re.compile(r"`[^`]*=[^`]*`|`(?:headland\.\w+|harmonize|timezone|step|min_area)`")
"""Arguments and functions, which mean nothing to a reader without Python."""

CLAUSE = re.compile(r"(?<=[;:]) (?=(?:[^`]*`[^`]*`)*[^`]*$)")
"""The space between two clauses of a message, outside of code."""

CODE = re.compile(r"(?:(?:info|warning|error) ([a-z-]+): )?(.*)", re.DOTALL)
"""Severity and code of a diagnostic, and its message."""

PLAIN = {"no-zone": "Times are those of the clock of the display, because the file states no zone."}
"""Diagnostics of every file in the words of a grower."""

KINDS = {"yield": "Yield", "as_applied": "As applied", "planting": "Planting"}
"""Headings of the kinds of jobs, in the order of a card."""


def area_text(square_metres: float | None) -> str | None:
    """Return an area in hectares."""
    return None if square_metres is None else f"{square_metres / 10_000:,.2f} ha"


def total_text(total: Amount | None, kind: str | None) -> str | None:
    """Return a harvest in tonnes, and other totals in kg, L or thousand seeds."""
    if total is None:
        return None
    if total.unit == "seeds":
        return f"{total.value / 1000:,.0f} thousand seeds"
    if kind == "yield" and total.unit == "kg":
        return f"{total.value / 1000:,.2f} t"
    return f"{total.value:,.0f} {total.unit}"


def ground_text(found: Measured) -> str | None:
    """Return the ground that counts once, else the area worked, which is named so."""
    if found.covered is not None:
        return area_text(found.covered)
    text = area_text(found.area)
    return f"{text} worked" if text and found.kind else text


def mean_text(mean: Amount | None, kind: str | None) -> str | None:
    """Return the mean of a harvest in t/ha, and other means per hectare in their unit."""
    if mean is None:
        return None
    if kind == "yield":
        return f"{mean.value / 1000:,.2f} t/ha"
    return (
        f"{mean.value:,.0f} {mean.unit}" if mean.unit.startswith("seeds") else f"{short_number(mean.value)} {mean.unit}"
    )


def difference_text(percent: float) -> str:
    """Return a difference in percent with its sign, and zero without one."""
    text = f"{percent:+.2f}".replace("-", MINUS)
    return f"{'0.00' if text[1:] == '0.00' else text} %"


def dates_text(found: Measured) -> str | None:
    """Return the dates of the work from start to end, with times of day if it is one day."""
    if found.start is None or found.end is None:
        return None
    start, end = found.start, found.end
    if start.date() == end.date():
        return f"{day(start)}, {start:%H:%M} to {end:%H:%M}"
    return f"{day(start)}, {start:%H:%M}, to {day(end)}, {end:%H:%M}"


def day(time: datetime) -> str:
    """Return a date such as 4 May 2026."""
    return f"{time.day} {time:%b %Y}"


def for_readers(text: str) -> str:
    """Return a message without its code, and without advice for Python: clauses that name an argument or a function."""
    code, text = CODE.fullmatch(text).groups()  # type: ignore[union-attr]  # both parts may be empty
    if code in PLAIN:
        return PLAIN[code]
    first, *more = CLAUSE.split(re.sub(r"^([\d,]+ more) of [a-z-]+$", r"\1 of this kind", text))
    kept = [first, *(clause for clause in more if not ADVICE.search(clause))]
    return shown(" ".join(kept).rstrip(";:"))


def shown(text: str) -> str:
    """Return a text of a file or of the service, escaped for the page."""
    return escape(printable(text))
