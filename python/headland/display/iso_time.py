"""Writes dates and times as ISO 8601."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime as dt


def iso_text(value: dt.date) -> str:
    """Return a date or a time as ISO 8601, with ``Z`` for UTC."""
    return value.isoformat().replace("+00:00", "Z")
