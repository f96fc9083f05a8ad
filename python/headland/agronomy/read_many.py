"""Reads many archives: the layers of all that can be read, and a reason for each that cannot."""

from __future__ import annotations

import inspect
from collections.abc import Iterable  # noqa: TC003 -- for `typing.get_type_hints`
from typing import TYPE_CHECKING, Any, Literal, Unpack

from headland import _core, arguments
from headland.agronomy.archive_layers import Paths, find_archives, job_of, read_layers
from headland.agronomy.job_layers import FailedJob, JobLayers, kind_of
from headland.archives import ReadOptions, with_options

if TYPE_CHECKING:
    from headland.layer.layer import Layer


@with_options
def read_many(
    paths: Paths,
    *,
    on_error: Literal["skip", "raise"] = "skip",
    job_type: str | Iterable[str] | None = None,
    **options: Unpack[ReadOptions],
) -> JobLayers:
    """Read all layers of many archives: of files, of folders with zips, and of patterns.

    Args:
        paths: A path or several: archives as in ``headland.read``, folders, or patterns such as ``"2025/**/*.zip"``. A
            folder that holds zips, at any depth, is that many archives; another folder is one archive.
        on_error: ``"skip"`` puts an archive or a layer that cannot be read into `failed`; ``"raise"`` raises its error.
        job_type: Only layers of this kind or these kinds: ``"yield"``, ``"as_applied"`` or ``"planting"``, or an alias
            such as ``"harvest"``, as in ``client.job_data.read_all``. The columns of a layer show its kind.
        **options: How to read each archive, as in ``headland.read``.

    Returns:
        The layers with what is known of them, ``source`` (the path), ``name`` and ``layer``, and what failed. All
        layers are in memory.

    Raises:
        ValueError: A wrong value of an argument.
        TypeError: An argument of another type.
        HeadlandError: With ``on_error="raise"``, the first archive that cannot be read.

    >>> table = headland.read_many("season/", job_type="yield").concat()
    """
    own = inspect.signature(read_many).parameters.keys() - ReadOptions.__annotations__.keys()
    _core.check_read_options(options, sorted(own))
    if arguments.text("on_error", on_error, '"skip"') not in ("skip", "raise"):
        raise ValueError(f"`on_error`: expected 'skip' or 'raise', got {on_error!r}")
    wanted = wanted_kinds(job_type)
    pairs: list[tuple[dict[str, Any], Layer]] = []
    failed: list[FailedJob] = []
    for path in find_archives(paths):
        for found in [path] if isinstance(path, FailedJob) else read_layers(path, options):
            if isinstance(found, FailedJob):
                if on_error == "raise":
                    raise found.error
                failed.append(found)
            elif wanted is None or kind_of(found.layer) in wanted:
                pairs.append((job_of(found.path, found.layer), found.layer))
    return JobLayers(pairs, failed)


def wanted_kinds(job_type: object) -> set[str] | None:
    """Return the kinds that words name, ``None`` for all."""
    words = arguments.job_types(job_type)
    if words is None:
        return None
    kinds = {word: _core.job_kind(word) for word in words}
    for word, kind in kinds.items():
        if kind is None:
            raise ValueError(f"`job_type`: expected 'yield', 'as_applied', 'planting' or an alias, got {word!r}")
    return {kind for kind in kinds.values() if kind is not None}
