"""Columns of zones that do not matter: types that layers do not have, such as lists, where they cannot be the rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MATTERING = ("unit", "product")
"""Parts of names of columns that matter for zones in addition to their rates."""


def is_spare(name: str, label: str, labels: Iterable[object], rate: str | None, *, is_value: bool) -> bool:
    """Return whether a column that layers cannot have does not matter: it cannot be the rate of zones.

    Without a known rate, a column of values can be it: 100, "120" and 140, of which one is a text.
    """
    if name == "boundary":
        return True
    if name not in ("zones", "source", "target") or any(part in label.lower() for part in MATTERING):
        return False
    known = rate if rate is not None else next((str(other) for other in labels if str(other).lower() == "rate"), None)
    return not is_value if known is None else label.lower() != known.lower()
