"""Reading archives: a zip, a folder or a file of field data becomes a layer."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from headland import _core, arguments
from headland.files import bytes_of
from headland.layer import Layer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Source = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO
"""What can be read: a path (of a file or a folder), bytes or a binary file object."""


class Limits(NamedTuple):
    """How much an archive may hold; what is larger is refused before memory is given to it."""

    members: int = _core.LIMITS[0]
    """Members of an archive, or files of a folder: 65,536."""
    bytes: int = _core.LIMITS[1]
    """Bytes of one member when it is unpacked: 2 GiB."""
    ratio: int = _core.LIMITS[2]
    """How many times its packed size a member above 64 MiB may unpack to: 100."""
    nesting: int = _core.LIMITS[3]
    """How deep archives inside archives are followed: 1."""
    name: int = _core.LIMITS[4]
    """Bytes of a member's name: 4,096."""


def read(
    source: Source,
    *,
    layer: str | None = None,
    columns: Sequence[str] | None = None,
    encoding: str | None = None,
    strict: bool = True,
    threads: int | None = None,
    limits: Limits | None = None,
    to_crs: str | None = None,
) -> Layer:
    """Read an archive of field data, or a grain cart file, into a layer.

    Args:
        source: A path of a file or a folder, bytes, or a binary file object.
        layer: Which layer, where the archive holds several; ``headland.layers`` names them.
        columns: Only these columns, in the order of the file; the geometry always comes along.
        encoding: The encoding of texts, instead of what the archive says.
        strict: Whether damage is an error; with ``False`` what can be saved is read, and ``diagnostics`` say what
            was lost.
        threads: How many threads may work; two by default, where the machine has them.
        limits: What the archive may hold; ``Limits()`` by default.
        to_crs: A coordinate system to transform to, such as ``"EPSG:4326"``.

    >>> layer = headland.read("job.zip")
    >>> layer.write_parquet("job.parquet")
    """
    return Layer(_core.read(_given(source), reading(layer, columns, encoding, strict, threads, limits, to_crs)))


def layers(source: Source, *, limits: Limits | None = None) -> list[str]:
    """Give the names of an archive's layers."""
    return _core.layers(_given(source), _checked(limits))


def _checked(limits: Limits | None) -> Limits:
    if limits is None:
        return Limits()
    if not isinstance(limits, Limits):
        raise TypeError(f"`limits` takes a `headland.Limits`, not {type(limits).__name__}")
    bounds = limits._asdict().items()
    return Limits(*(arguments.whole_number(f"limits.{name}", limit, 0, arguments.MANY) for name, limit in bounds))


def reading(
    layer: str | None,
    columns: Sequence[str] | None,
    encoding: str | None,
    strict: bool,
    threads: int | None,
    limits: Limits | None,
    to_crs: str | None,
) -> _core._Reading:
    """Pack how to read, as the core takes it."""
    return {
        "layer": None if layer is None else arguments.text("layer", layer),
        "columns": None if columns is None else _names(columns),
        "encoding": None if encoding is None else arguments.text("encoding", encoding, '"cp1252"'),
        "strict": arguments.flag("strict", strict),
        "threads": None if threads is None else arguments.whole_number("threads", threads, 1, arguments.MANY),
        "limits": _checked(limits),
        "to_crs": None if to_crs is None else arguments.text("to_crs", to_crs, '"EPSG:4326"'),
    }


def _names(columns: object) -> list[str]:
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise TypeError(f"`columns` takes a list of names, not one {type(columns).__name__}")
    return [arguments.text("columns", name) for name in columns]


def _given(source: Source) -> bytes | Path:
    if isinstance(source, bytes):
        return source
    if isinstance(source, bytearray | memoryview):
        return bytes(source)
    if isinstance(source, str | os.PathLike):
        return arguments.path("source", source)
    return bytes_of(cast("object", source), "source")
