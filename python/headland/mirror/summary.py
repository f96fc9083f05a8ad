"""What a mirror's folder holds: the published dataset by job type and year, and its bytes on the disk."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from headland import _core

if TYPE_CHECKING:
    from pathlib import Path

JOURNAL = "journal.sqlite"
"""The file by which the folder of a mirror is known."""

OTHER_FOLDERS = ("generations", "quarantine", "incoming")
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


def dataset_summary(folder: Path) -> list[Stock]:
    """List what is published now; nothing where nothing is.

    Raises:
        ArchiveError: A published file is missing or damaged.
    """
    if not (folder / "current").is_dir():
        return []
    return [Stock(*each) for each in _core.Dataset(folder).stock()]


def disk_usage(folder: Path) -> int:
    """Count the bytes of all but the archives; files that states share are counted once."""
    found: dict[tuple[int, int], int] = {}
    for top in (folder / name for name in OTHER_FOLDERS):
        for home, _, names in os.walk(top):
            for name in names:
                _count(os.path.join(home, name), found)  # noqa: PTH118 - as `os.walk` gives it
    for path in folder.glob(f"{JOURNAL}*"):
        _count(path, found)
    return sum(found.values())


def _count(path: str | Path, found: dict[tuple[int, int], int]) -> None:
    try:
        known = os.stat(path, follow_symlinks=False)  # noqa: PTH116 - as above
    except FileNotFoundError:
        # A sync goes on meanwhile, and has taken it away.
        return
    found[known.st_dev, known.st_ino] = known.st_size
