"""Reading archives: a zip, a folder or a file of field data becomes a layer."""

from __future__ import annotations

import inspect
import io
import os
import re
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypedDict, TypeVar, Unpack, cast

from headland import _core, arguments
from headland.files import read_bytes
from headland.layer import Layer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import Self

Source = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO
"""What can be read: a path (of a file or a folder), bytes or a binary file object."""


URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/{1,3}[^/]")
"""How an address begins; a `Path` has lost one of its slashes. A drive has one letter."""

MEMBERS, BYTES, RATIO, NESTING, NAME = _core.LIMITS


class _Bounds(NamedTuple):
    members: int
    """Members of an archive, or files of a folder: 65,536."""
    bytes: int
    """Bytes of one member when it is unpacked, or of a loose file: 4 GiB, where the format of a .shp ends."""
    ratio: int
    """How many times its packed size a member above 64 MiB may unpack to: 100."""
    nesting: int
    """How deep archives inside archives are followed: 1; 0 follows none."""
    name: int
    """Bytes of a member's name: 4,096."""


class Limits(_Bounds):
    """How much an archive may hold; what is larger is refused before memory is given to it.

    All are whole numbers from 1 up, ``nesting`` from 0; anything else is a ``TypeError`` or a ``ValueError`` at once.
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
    """How an archive is read: the options of ``headland.read`` and of all that reads as it does."""

    layer: str | None
    """Which layer, where the archive holds several."""
    columns: Sequence[str] | None
    """Which columns; all by default."""
    encoding: str | None
    """The encoding of texts, instead of what the archive says."""
    strict: bool
    """Whether damage is an error, which is the default."""
    threads: int | None
    """How many threads may work."""
    limits: Limits | None
    """How much the archive may hold."""
    to_crs: str | None
    """A coordinate system to transform to."""


DEFAULTS = {"strict": True}
"""The default of each option that is not ``None`` by default."""

ReadFunction = TypeVar("ReadFunction", bound="Callable[..., object]")


def with_options(function: ReadFunction) -> ReadFunction:
    """Name each option in the signature of a function that takes ``**options``, for ``help`` and for editors."""
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
        layer: Which layer, where the archive holds several; ``headland.layers`` names them, and the name of the file
            (``"yield.shp"``) is accepted as well. A name is also found where the archive writes its accents as letters
            of their own (NFD, as macOS does) and you do not (NFC), and so are names of columns.
        columns: Only these columns, in the order of the file; the geometry always comes along.
        encoding: The encoding of texts, instead of what the archive says, such as ``"utf-8"`` or ``"cp1252"``: one in
            which ASCII stands for itself, so not UTF-16, in which FMIS tables are read without being told. It is
            known by each name that Python has for it, and means what it means to Python: ``"latin-1"`` has control
            characters where ``"cp1252"``, which files of Windows are in, has letters such as ``€``. Only ``"ascii"``
            and ``"iso8859-9"``, ``"iso8859-11"``, ``"gb2312"``, ``"euc_kr"``, ``"shift_jis"`` and ``"big5"`` are read
            as the supersets that files so labelled really hold: Windows-1252, Windows-1254, cp874, gbk, cp949, cp932
            and big5-hkscs.
        strict: Whether damage is an error; with ``False`` what can be saved is read, and ``diagnostics`` say what
            was lost.
        threads: How many threads may work; two by default, where the machine has them.
        limits: What the archive may hold; ``Limits()`` by default.
        to_crs: A coordinate system to transform to, such as ``"EPSG:4326"``.

    ``headland.open``, ``job_data.read`` and ``grain_carts.read`` of a client take the same options.

    Raises:
        ArchiveError: What cannot be read, with member, record and offset.
        ValueError: A layer, a column, an encoding or a coordinate system that there is none of.
        TypeError: A source or an argument of another type than stated.

    >>> layer = headland.read("job.zip")
    >>> layer.write_parquet("job.parquet")
    """
    return Layer(_core.read(to_core_source(source), options))


def layers(source: Source, *, strict: bool = True, limits: Limits | None = None) -> list[str]:
    """Give the names of an archive's layers, one of which ``headland.read`` takes as ``layer``.

    To name layers, no record is read: a layer is named too whose reading is refused, such as one that is larger than
    ``Limits.bytes``, of which ``read`` and ``open`` say so. So the others of its archive can be had by their names.

    Args:
        source: A path of a file or a folder, bytes, or a binary file object.
        strict: Whether damage of the archive is an error; with ``False`` the layers are named that can be saved, as
            ``headland.read`` with ``strict=False`` reads them.
        limits: What the archive may hold; ``Limits()`` by default.

    >>> for name in headland.layers("job.zip"):
    ...     layer = headland.read("job.zip", layer=name)
    """
    return _core.layers(to_core_source(source), {"strict": strict, "limits": limits})


def to_core_source(source: Source) -> bytes | Path:
    """Give what the core can read of a source: a path, or all bytes."""
    if isinstance(source, bytes):
        return source
    if isinstance(source, bytearray | memoryview):
        return bytes(source)
    if isinstance(source, str | os.PathLike):
        path = arguments.path("source", source)
        if URL.match(os.fspath(source)) and not path.exists():
            # An address may hold a signature, so it is not shown.
            raise ValueError(
                "`source` is an address, and headland reads files and bytes: of a file on this machine, give its path; "
                "download others first, such as with `urllib.request.urlretrieve(address, 'job.zip')`; the files of "
                "jobs come with `client.job_data.read(id)` or `client.job_data.download(id, to='job.zip')`"
            )
        # A pipe cannot be read at an offset, and has no size to go by.
        return path.read_bytes() if path.is_fifo() else path
    return _read_and_rewind(cast("object", source))


def _read_and_rewind(file: object) -> bytes:
    """Give the bytes from where a file object stands, and put it back, so that `read` can follow `layers`."""
    seekable = getattr(file, "seekable", None)
    if seekable is None or not seekable() or isinstance(file, io.TextIOBase):
        return read_bytes(file, "source")
    offset: int = file.tell()  # type: ignore[attr-defined]
    content = read_bytes(file, "source")
    file.seek(offset)  # type: ignore[attr-defined]
    if offset and not content:
        raise ValueError(
            f"`source` is a file object that stands at its end (byte {offset}): `seek(0)` takes it to its start"
        )
    return content
