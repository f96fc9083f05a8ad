"""Checks the paths of archives that other processes read."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from headland import arguments
from headland.layer.archive_layers import expand
from headland.layer.job_layers import FailedJob

if TYPE_CHECKING:
    from collections.abc import Sequence


class Archive(NamedTuple):
    """The input of a task for one archive: texts only."""

    path: str
    job_id: str
    layer: str | None


def archives_at(paths: object, job_id: Sequence[str] | None) -> list[Archive]:
    """Return the archives at paths, in folders and of patterns, each with the id of its job, after checks."""
    several = [paths] if isinstance(paths, str | os.PathLike) else paths
    if isinstance(several, bytes) or not isinstance(several, Iterable):
        raise TypeError(f"`archives`: expected a mirror, a path or a list of paths, got {type(paths).__name__}")
    found = []
    for archive in (each for path in several for each in expand(arguments.path("archives", path))):
        if isinstance(archive, FailedJob):
            raise archive.error
        found.append(archive.absolute())
    ids = [path.stem for path in found] if job_id is None else list(job_id)
    if len(ids) != len(found):
        raise ValueError(f"`job_id`: expected one str per path, got {len(ids)} for {len(found)} paths")
    given = zip(found, ids, strict=True)
    return [Archive(str(path), arguments.text("job_id", each), None) for path, each in given]
