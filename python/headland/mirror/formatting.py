"""Spans, sizes, times and counts as people say them, and facts as JSON has them."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

SIZES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
SPANS = ((2 * 86_400.0, 86_400.0, "days"), (5_400.0, 3_600.0, "h"), (90.0, 60.0, "min"))
"""From which length on a unit is used, its seconds, and its name."""

MAX_WITH_TENTHS = 10
"""Below so many of a unit, tenths are told."""


def span(seconds: float) -> str:
    """Say how long something takes, as exact as somebody who waits wants it."""
    for least, unit, name in SPANS:
        if seconds >= least:
            count = seconds / unit
            return f"{count:.1f} {name}" if count < MAX_WITH_TENTHS and name != "min" else f"{count:.0f} {name}"
    return f"{max(seconds, 0):.0f} s"


def size(count: int) -> str:
    """Say how much a number of bytes is."""
    for unit, name in SIZES:
        if count >= unit:
            amount = count / unit
            return f"{amount:.1f} {name}" if amount < MAX_WITH_TENTHS else f"{amount:.0f} {name}"
    return f"{count} B"


def number(count: int, singular: str, plural: str | None = None) -> str:
    """Say how many there are of something."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def number_range(least: int, most: int) -> str:
    """Say a number that is known as a range."""
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def age(then: dt.datetime | None, now: dt.datetime) -> str:
    """Say how long ago something was."""
    return "never" if then is None else f"{span((now - then).total_seconds())} ago"


def clock(time: dt.datetime) -> str:
    """Say a time of today as the clock on the wall shows it."""
    return f"{time.astimezone():%H:%M:%S}"


def to_json_value(value: Any) -> Any:
    """Give facts as values of JSON: times are texts, what has names is a dict."""
    if isinstance(value, dt.datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {str(name): to_json_value(each) for name, each in value.items()}
    return [to_json_value(each) for each in value] if isinstance(value, list | tuple) else value
