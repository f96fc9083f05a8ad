"""Formats durations, sizes, times and counts for people, and values for JSON."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

from headland.iso_time import iso_text

SIZES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
SPANS = ((2 * 86_400.0, 86_400.0, "days"), (5_400.0, 3_600.0, "h"), (90.0, 60.0, "min"))
"""Minimum number of seconds for a unit, its seconds, and its name."""

MAX_WITH_TENTHS = 10
"""Amounts of a unit below this have one decimal."""


def span(seconds: float) -> str:
    """Format a duration, with the precision that a waiting user needs."""
    for least, unit, name in SPANS:
        if seconds >= least:
            count = seconds / unit
            return f"{count:.1f} {name}" if count < MAX_WITH_TENTHS and name != "min" else f"{count:.0f} {name}"
    return f"{max(seconds, 0):.0f} s"


def size(count: int) -> str:
    """Format a number of bytes."""
    for unit, name in SIZES:
        if count >= unit:
            amount = count / unit
            return f"{amount:.1f} {name}" if amount < MAX_WITH_TENTHS else f"{amount:.0f} {name}"
    return f"{count} B"


def number(count: int, singular: str) -> str:
    """Format a count with its noun."""
    return f"{count:,} {singular if count == 1 else singular + 's'}"


def number_range(least: int, most: int) -> str:
    """Format a range of numbers."""
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def age(then: dt.datetime | None, now: dt.datetime) -> str:
    """Format the time since something happened."""
    return "never" if then is None else f"{span((now - then).total_seconds())} ago"


def clock(time: dt.datetime) -> str:
    """Format a time of today in local time."""
    return f"{time.astimezone():%H:%M:%S}"


def to_json_value(value: Any) -> Any:
    """Convert a value to JSON: times become texts, named tuples become dicts."""
    if isinstance(value, dt.datetime):
        return iso_text(value)
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {str(name): to_json_value(each) for name, each in value.items()}
    return [to_json_value(each) for each in value] if isinstance(value, list | tuple) else value
