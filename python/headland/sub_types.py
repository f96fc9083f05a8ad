"""Kinds of jobs as callers write them, compared with the `sub_type` of records."""

from __future__ import annotations

KINDS = {"yield": {"yield"}, "as_applied": {"sprayer", "asapplied"}, "planting": {"planter"}}
"""Kinds of ``headland.harmonize`` and the `sub_type` of their jobs, in lower case without blanks."""


def plain(text: str) -> str:
    """Return the text in lower case without blanks and underscores."""
    return "".join(text.split()).replace("_", "").casefold()


def wanted(sub_type: str) -> set[str]:
    """Return the plain texts that the caller's kind means."""
    return KINDS.get(sub_type, {plain(sub_type)})
