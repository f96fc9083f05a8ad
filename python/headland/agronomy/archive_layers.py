"""Finds archives by paths, folders and patterns, and reads all layers of each."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from headland import archives, arguments
from headland.agronomy.job_layers import FailedJob
from headland.errors import HeadlandError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headland.archives import ReadOptions
    from headland.layer.layer import Layer

ENDINGS = (".zip", ".shp", ".grc")
"""Names of archives in a folder that has zips; a ``.dbf`` without its ``.shp`` is one too."""

IGNORED = ("__MACOSX",)
"""Folders that programs add to archives; names that begin with a point are ignored too."""

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""Paths of archives and folders, and patterns such as ``2025/*.zip``."""


class ArchiveLayer(NamedTuple):
    """A layer of an archive."""

    path: Path
    layer: Layer


def failure(path: Path, error: Exception, layer: str | None = None) -> FailedJob:
    """Return an archive, or a layer of it, that cannot be read."""
    return FailedJob({"source": str(path), "name": path.stem, "layer": layer}, error)


def job_of(path: Path, layer: Layer) -> dict[str, Any]:
    """Return what the list of a service states of a job, for a layer of an archive."""
    return {"id": None, "name": path.stem, "source": str(path), "layer": layer.name}


def find_archives(paths: object) -> Iterator[Path | FailedJob]:
    """Yield the archives at paths, in folders and of patterns in order, each once; what has none is a failure."""
    known: set[Path] = set()
    for path in arguments_of(paths):
        for found in expand(path):
            if isinstance(found, FailedJob):
                yield found
            elif (real := found.resolve()) not in known:
                known.add(real)
                yield found


def arguments_of(paths: object) -> list[Path]:
    """Return one path, or several, as a list."""
    if isinstance(paths, str | os.PathLike):
        return [arguments.path("paths", paths)]
    if isinstance(paths, bytes) or not hasattr(paths, "__iter__"):
        raise TypeError(f"`paths`: expected a path or several, got {type(paths).__name__}")
    return [arguments.path("paths", path) for path in cast("Iterable[Any]", paths)]


def expand(path: Path) -> Iterator[Path | FailedJob]:
    """Yield the archives at a path, in a folder or of a pattern."""
    if path.is_dir():
        yield from _in_folder(path)
    elif glob.has_magic(str(path)) and not path.exists():
        found = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 -- the pattern may be absolute
        if not found:
            yield failure(path, ValueError(f"no file matches the pattern `{path}`"))
        for each in map(Path, found):
            yield from _in_folder(each) if each.is_dir() else [each]
    else:
        yield path


def has_zips(folder: Path) -> bool:
    """Return whether a folder holds zips, at any depth; otherwise it is one archive."""
    return any(name.lower().endswith(".zip") for _, _, files in os.walk(folder) for name in files)


def _in_folder(folder: Path) -> Iterator[Path | FailedJob]:
    entries = sorted(each for each in folder.iterdir() if not each.name.startswith(".") and each.name not in IGNORED)
    if not entries:
        yield failure(folder, ValueError(f"the folder `{folder}` is empty"))
    elif not has_zips(folder):
        yield folder
    else:
        for each in entries:
            if each.is_dir():
                # A link may lead back to a folder above it.
                yield from [] if each.is_symlink() else _in_folder(each)
            elif each.suffix.lower() in ENDINGS or (each.suffix.lower() == ".dbf" and not _has_shapes(each)):
                yield each


def _has_shapes(table: Path) -> bool:
    return any(table.with_suffix(ending).exists() for ending in (".shp", ".SHP"))


def read_layers(path: Path, options: ReadOptions) -> Iterator[ArchiveLayer | FailedJob]:
    """Read all layers of an archive, or the one that is named."""
    try:
        name = options.get("layer")
        strict, limits = options.get("strict", True), options.get("limits")
        names = [name] if name is not None else archives.layers(path, strict=strict, limits=limits)
    except (HeadlandError, ValueError) as error:
        yield failure(path, error)
        return
    for each in names:
        try:
            of_layer: ReadOptions = {**options, "layer": each}
            yield ArchiveLayer(path, archives.read(path, **of_layer))
        except (HeadlandError, ValueError) as error:
            yield failure(path, error, each if len(names) > 1 else None)


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
