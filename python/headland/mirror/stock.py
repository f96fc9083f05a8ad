"""What a mirror's folder holds: the published dataset by job type and year, and its bytes on the disk."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from headland.mirror import parts

if TYPE_CHECKING:
    from pathlib import Path

OTHERS = ("generations", "quarantine", "incoming")
"""Folders besides the archives, whose bytes the journal knows."""


class Stock(NamedTuple):
    """What is published of a job type and a year."""

    job_type: str | None
    """The job type; ``GrainCart`` are grain cart files."""
    year: int | None
    """The year in which the jobs began."""
    parts: int
    """Files."""
    rows: int
    """Rows of all of them."""
    bytes: int
    """Bytes of all of them."""


def dataset(folder: Path) -> list[Stock]:
    """List what is published now; nothing where nothing is.

    Raises:
        ArchiveError: A published file is missing or damaged.
    """
    current = folder / "current"
    if not current.is_dir():
        return []
    state = current.resolve()
    rows = parts.rows(state)
    found: dict[tuple[str | None, int | None], Stock] = {}
    for part in parts.parts(state):
        key = part.job_type, part.year
        last = found.get(key, Stock(*key, 0, 0, 0))
        more = rows.get(part.path.relative_to(state).as_posix(), 0)
        found[key] = Stock(*key, last.parts + 1, last.rows + more, last.bytes + part.path.stat().st_size)
    return list(found.values())


def disk(folder: Path) -> int:
    """Count the bytes of all but the archives; files that states share are counted once."""
    found: dict[tuple[int, int], int] = {}
    for top in (folder / name for name in OTHERS):
        for home, _, names in os.walk(top):
            for name in names:
                _count(os.path.join(home, name), found)  # noqa: PTH118 - as `os.walk` gives it
    for path in folder.glob("journal.sqlite*"):
        _count(path, found)
    return sum(found.values())


def _count(path: str | Path, found: dict[tuple[int, int], int]) -> None:
    try:
        known = os.stat(path, follow_symlinks=False)  # noqa: PTH116 - as above
    except FileNotFoundError:
        # A sync goes on meanwhile, and has taken it away.
        return
    found[known.st_dev, known.st_ino] = known.st_size
