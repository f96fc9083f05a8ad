"""Summarizes a mirror's folder: the published dataset by job type and year, and the disk usage."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from headland import _core, archives

if TYPE_CHECKING:
    from pathlib import Path

JOURNAL = archives.JOURNAL
"""The file that identifies the folder of a mirror."""

TABLES = ("dataset", "catalog", "harvest_rows", "application_rows", "planting_rows")
"""Folders with the files of the published state: hard links, or copies."""

OTHER_FOLDERS = ("generations", "quarantine", "incoming", *TABLES)
"""Folders other than the archives, whose size the journal knows."""

PUBLISHED = ("current.json", "current")
"""Names of what leads to the published state; the second one in mirrors of earlier versions."""


class Stock(NamedTuple):
    """The published files of a job type and a year."""

    job_type: str | None
    """The job type; grain cart files have ``GrainCart``."""
    year: int | None
    """The year in which the jobs began."""
    parts: int
    """Number of files."""
    rows: int
    """Number of rows in these files."""
    bytes: int
    """Bytes of these files."""


def dataset_summary(folder: Path) -> list[Stock]:
    """List the published parts.

    Raises:
        ArchiveError: A published file is missing or damaged.
    """
    return [Stock(*each) for each in _core.Dataset(folder).stock()]


def disk_usage(folder: Path) -> int:
    """Return the bytes of everything except the archives; a file shared by several states counts once."""
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
        # A concurrent sync has removed the file.
        return
    found[known.st_dev, known.st_ino] = known.st_size
