"""Checks the paths of archives that other processes read."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from headland import arguments

if TYPE_CHECKING:
    from collections.abc import Sequence


class Archive(NamedTuple):
    """The input of a task for one archive: texts only."""

    path: str
    job_id: str
    layer: str | None


def _check_no_zips(path: Path) -> None:
    """Refuse a folder that contains zips: it is read as one archive, without them."""
    for home, _, files in os.walk(path):
        found = [name for name in files if name.lower().endswith(".zip")]
        if found:
            raise ValueError(
                f"`archives` contains the folder `{path}`, which is one archive, so the zips in it would be skipped, "
                f"such as `{Path(home, found[0])}`: pass their paths, such as "
                f"`Path({str(path)!r}).rglob('*.zip')`"
            )


def archives_at(paths: object, job_id: Sequence[str] | None) -> list[Archive]:
    """Return the archives at these paths, each with the id of its job, after checks."""
    if isinstance(paths, str | bytes) or not isinstance(paths, Iterable):
        raise TypeError(f"`archives`: expected a mirror or a list of paths, got {type(paths).__name__}")
    checked = [arguments.path("archives", path).absolute() for path in paths]
    for path in checked:
        _check_no_zips(path)
    ids = [path.stem for path in checked] if job_id is None else list(job_id)
    if len(ids) != len(checked):
        raise ValueError(f"`job_id`: expected one str per path, got {len(ids)} for {len(checked)} paths")
    given = zip(checked, ids, strict=True)
    return [Archive(str(path), arguments.text("job_id", each), None) for path, each in given]
