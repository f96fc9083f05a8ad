"""Formats times and counts for people, and values for JSON."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

from headland import _core
from headland.display.quantities import iso_text


def counted(count: int, singular: str) -> str:
    """Format a count with its noun."""
    return f"{count:,} {singular if count == 1 else singular + 's'}"


def number_range(least: int, most: int) -> str:
    """Format a range of numbers."""
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def age(then: dt.datetime | None, now: dt.datetime) -> str:
    """Format the time since something happened."""
    return "never" if then is None else f"{_core.format_span((now - then).total_seconds())} ago"


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
