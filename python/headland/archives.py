"""Reads archives: a zip, a folder or a file of field data becomes a layer."""

from __future__ import annotations

import contextlib
import errno
import inspect
import io
import os
import re
from collections.abc import Sequence  # noqa: TC003 -- for `typing.get_type_hints`
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypedDict, TypeVar, Unpack, cast

from headland import _core, arguments, errors
from headland.files import missing_reason, read_bytes
from headland.layer.layer import Layer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import Self

Source = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO
"""A source to read: a path (of a file or a folder), bytes or a binary file object."""


URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/{1,3}[^/]")
"""The beginning of a URL. A `Path` has dropped one of its slashes; a drive has one letter."""

JOURNAL = "journal.sqlite"
"""The file that identifies the folder of a mirror."""

NO_LAYER, SEVERAL_LAYERS = "contains no layer", "choose one with `layer`"
"""Parts of the messages about archives without a layer, and with several."""

SHOWN = 3
"""Mirrors that a message names."""

MEMBERS, BYTES, RATIO, NESTING, NAME = _core.LIMITS


class _Bounds(NamedTuple):
    members: int
    """Members of an archive, or files of a folder: 65,536."""
    bytes: int
    """Bytes of one member after decompression, or of a loose file: 4 GiB, the maximum of the .shp format."""
    ratio: int
    """Maximum ratio of decompressed to compressed size of a member above 64 MiB: 100."""
    nesting: int
    """Maximum depth of archives inside archives: 1; 0 reads none of them."""
    name: int
    """Bytes of a member's name: 4,096."""


class Limits(_Bounds):
    """Limits of an archive; a larger one is refused before memory is allocated.

    All are whole numbers of at least 1, and ``nesting`` of at least 0. Other values raise ``TypeError`` or
    ``ValueError`` immediately, before an archive is opened.
    """

    __slots__ = ()

    def __new__(
        cls,
        members: int = MEMBERS,
        bytes: int = BYTES,
        ratio: int = RATIO,
        nesting: int = NESTING,
        name: int = NAME,
    ) -> Self:
        """Check each limit."""
        given = super().__new__(cls, members, bytes, ratio, nesting, name)
        for limit, bound in given._asdict().items():
            arguments.whole_number(f"Limits.{limit}", bound, 0 if limit == "nesting" else 1, arguments.MAX_INT)
        return given


class ReadOptions(TypedDict, total=False):
    """Options of ``headland.read`` and of all functions that read in the same way."""

    layer: str | None
    """The layer, if the archive contains several."""
    columns: Sequence[str] | None
    """The columns; default: all."""
    encoding: str | None
    """The encoding of texts, instead of the one that the archive declares."""
    strict: bool
    """Whether damage is an error; default: True."""
    threads: int | None
    """Maximum number of threads."""
    limits: Limits | None
    """Limits of the archive."""
    to_crs: str | None
    """The coordinate system to transform to."""


DEFAULTS = {"strict": True}
"""The default of each option whose default is not ``None``."""

ReadFunction = TypeVar("ReadFunction", bound="Callable[..., object]")


def with_options(function: ReadFunction) -> ReadFunction:
    """Add each option to the signature of a function with ``**options``, for ``help`` and for editors."""
    shown = inspect.signature(function)
    own = [each for each in shown.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    options = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=DEFAULTS.get(name), annotation=kind.__forward_arg__
        )
        for name, kind in ReadOptions.__annotations__.items()
    ]
    function.__signature__ = shown.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
    return function


@with_options
def read(source: Source, **options: Unpack[ReadOptions]) -> Layer:
    """Read an archive of field data, or a grain cart file, into a layer.

    Args:
        source: A path of a file or a folder, bytes, or a binary file object.
        layer: The layer, if the archive contains several; ``headland.layers`` lists them. The file name
            (``"yield.shp"``) is accepted too. Names of layers and columns match in NFC and NFD: accents may be separate
            characters in the archive, as written by macOS.
        columns: Only these columns, in the order of the file; the geometry is always included.
        encoding: The encoding of texts, instead of the one that the archive declares, such as ``"utf-8"`` or
            ``"cp1252"``. Every Python name of an encoding is accepted if it is a superset of ASCII, so not UTF-16; FMIS
            tables in UTF-16 are detected. An encoding means the same as in Python: ``"latin-1"`` has control characters
            where ``"cp1252"``, the encoding of Windows files, has letters such as ``€``. Exceptions are labels whose
            files contain a superset in practice. ``"ascii"``, ``"iso8859-9"``, ``"iso8859-11"``, ``"gb2312"``,
            ``"euc_kr"``, ``"shift_jis"`` and ``"big5"`` are read as Windows-1252, Windows-1254, cp874, gbk, cp949,
            cp932 and big5-hkscs.
        strict: Whether damage is an error. With ``False``, everything readable is read, and ``diagnostics`` list the
            losses.
        threads: Maximum number of threads; default: two, if the machine has them.
        limits: Limits of the archive; default: ``Limits()``.
        to_crs: The coordinate system to transform to, such as ``"EPSG:4326"``.

    ``headland.open``, ``job_data.read`` and ``grain_carts.read`` of a client have the same options.

    Raises:
        ArchiveError: The source cannot be read; has member, record and offset.
        ValueError: An unknown layer, column, encoding or coordinate system.
        TypeError: A source or an argument of another type.

    >>> layer = headland.read("job.zip")
    >>> layer.write_parquet("job.parquet")
    """
    found = to_core_source(source)
    with naming_folders(found):
        return Layer(_core.read(found, options))


def layers(source: Source, *, strict: bool = True, limits: Limits | None = None) -> list[str]:
    """Return the names of an archive's layers, for the option ``layer`` of ``headland.read``.

    No record is read. So the list includes layers that ``read`` and ``open`` refuse, such as one larger than
    ``Limits.bytes``; the other layers of the archive can be read by name.

    Args:
        source: A path of a file or a folder, bytes, or a binary file object.
        strict: Whether damage of the archive is an error. With ``False``, the list includes each layer that
            ``headland.read`` with ``strict=False`` can recover.
        limits: Limits of the archive; default: ``Limits()``.

    >>> for name in headland.layers("job.zip"):
    ...     layer = headland.read("job.zip", layer=name)
    """
    found = to_core_source(source)
    with naming_folders(found):
        return _core.layers(found, {"strict": strict, "limits": limits})


@contextlib.contextmanager
def naming_folders(source: bytes | Path) -> Iterator[None]:
    """Say of a folder that cannot be read as one archive what reads it: a mirror, or one of many archives."""
    try:
        yield
    except errors.ArchiveError as error:
        advice = "" if isinstance(source, bytes) or not source.is_dir() else _advice(source, str(error))
        if not advice:
            raise
        raise errors.ArchiveError(advice, _source=str(source)) from None


def _advice(folder: Path, message: str) -> str:
    """Return what reads a folder that is no archive; empty if it is one that is damaged."""
    has_none = NO_LAYER in message
    if not has_none and SEVERAL_LAYERS not in message:
        return ""
    if (folder / JOURNAL).exists():
        return f"`{folder}` is a mirror: `headland.Mirror({str(folder)!r})` reads its tables"
    mirrors = sorted(each.parent for each in folder.glob(f"*/{JOURNAL}"))
    if mirrors:
        names = ", ".join(f"`{each}`" for each in mirrors[:SHOWN]) + (", ..." if len(mirrors) > SHOWN else "")
        return f"`{folder}` has mirrors in it ({names}): `headland.Mirror({str(mirrors[0])!r})` reads one"
    if not has_none:
        return ""
    count = sum(name.lower().endswith(".zip") for _, _, names in os.walk(folder) for name in names)
    many = f"`headland.read_many({str(folder)!r})` reads all, and `headland.read` one file of them"
    return f"`{folder}` is a folder of {count:,} archive{'' if count == 1 else 's'}: {many}" if count else ""


def to_core_source(source: Source) -> bytes | Path:
    """Return the source for the core: a path, or all bytes."""
    if isinstance(source, bytes):
        return source
    if isinstance(source, bytearray | memoryview):
        return bytes(source)
    if isinstance(source, str | os.PathLike):
        path = arguments.path("source", source)
        if URL.match(os.fspath(source)) and not path.exists():
            # A URL may contain a signature, so it is not shown.
            raise ValueError(
                "`source` is a URL: expected a path, bytes or a binary file object; pass the path of a local file, or "
                "download the URL first, for example with `urllib.request.urlretrieve(url, 'job.zip')`; for files of "
                "jobs, call `client.job_data.read(id)` or `client.job_data.download(id, to='job.zip')`"
            )
        _check_exists(path)
        # A pipe has no size and cannot be read at an offset.
        return path.read_bytes() if path.is_fifo() else path
    return _read_and_rewind(cast("object", source))


def _check_exists(path: Path) -> None:
    """Refuse a missing file here, because the system's error of the core names no folder and no similar file."""
    try:
        path.stat()
    except FileNotFoundError:
        message = f"cannot read `{path}`: {missing_reason(path)}"
        raise errors.from_core("ArchiveError", message, {"_source": str(path)}, errno.ENOENT) from None
    except OSError:
        # The core reports it.
        return


def _read_and_rewind(file: object) -> bytes:
    """Return the bytes from the current position of a file object; restores it, so that `read` can follow `layers`."""
    seekable = getattr(file, "seekable", None)
    if seekable is None or not seekable() or isinstance(file, io.TextIOBase):
        return read_bytes(file, "source")
    offset: int = file.tell()  # type: ignore[attr-defined]
    content = read_bytes(file, "source")
    file.seek(offset)  # type: ignore[attr-defined]
    if offset and not content:
        raise ValueError(f"`source` is a file object at its end (byte {offset}): rewind it with `seek(0)`")
    return content
