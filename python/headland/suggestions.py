"""Suggests the right name for a wrong one."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a message, with the known name most similar to a wrong one; empty if none is similar.

    >>> did_you_mean("jobdata", ["job_data", "field_hubs"])
    ': did you mean `job_data`?'
    """
    # Case and separators are the most frequent differences: `JobData`, `job-data`.
    plain = {_plain(each): each for each in known}
    found = difflib.get_close_matches(_plain(name), plain, n=1)
    return f": did you mean `{plain[found[0]]}`?" if found else ""


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())
