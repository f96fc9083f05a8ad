"""Maps users' names of job types to those of the dataset; lists and details of jobs use different ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headland import arguments

if TYPE_CHECKING:
    from collections.abc import Iterable

LISTED = {"sprayer": ("AsApplied",), "plantersprayer": ("Planter", "AsApplied")}
"""Names of job types in lists that differ from the dataset's (specification 2.1 and 2.6)."""

EXAMPLE = "'Yield', or several"
"""Example of a job type for errors."""


def select(job_type: object, existing: Iterable[str]) -> set[str]:
    """Return the requested types of the dataset, in any spelling.

    Raises:
        TypeError: It is not a text or several texts.
        ValueError: The type does not exist or is ambiguous, or none is given.
    """
    asked = arguments.as_list(job_type)
    if not asked:
        raise ValueError("`job_type` is empty; omit it to read all job types")
    known = sorted({*existing})
    return {_match(arguments.text("job_type", kind, EXAMPLE), known) for kind in asked}


def _match(asked: str, existing: list[str]) -> str:
    """Return the type of the dataset for a name: an exact match, another spelling, or a name in lists."""
    if asked in existing:
        return asked
    plain = _normalize(asked)
    meant = LISTED.get(plain, ())
    found = [kind for kind in existing if plain and _normalize(kind) == plain]
    found = found or [kind for kind in existing if meant == (kind,)]
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError(f"`job_type` {asked!r} is ambiguous: pass {_either(found)}, as in the dataset")
    lists = f"; in a dataset, the listed type {asked!r} is {_either(meant)}" if meant else ""
    raise ValueError(
        f"there is no job type {asked!r} in the dataset; there are: {', '.join(existing) or 'none'}{lists}"
    )


def _normalize(kind: str) -> str:
    """Remove what spellings differ in: case, blanks, punctuation, and the plural, as of grain carts."""
    return "".join(letter for letter in kind.casefold() if letter.isalnum()).removesuffix("s")


def _either(kinds: Iterable[str]) -> str:
    return " or ".join(map(repr, kinds))
