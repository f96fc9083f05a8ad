"""Reading archives: a zip, a folder or a file of field data becomes a layer."""

from __future__ import annotations

import codecs
import io
import os
import re
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from headland import _core, arguments, spellings
from headland.files import bytes_of
from headland.layer import Layer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Self

Source = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO
"""What can be read: a path (of a file or a folder), bytes or a binary file object."""


ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/{1,3}[^/]")
"""How an address begins; a `Path` has lost one of its slashes. A drive has one letter."""

PLAIN_NAME = re.compile("[A-Za-z0-9 :_-]+")
"""How the name of an encoding is written."""

SPELLED = {
    "ascii": "ascii",
    "utf-8-sig": "utf-8",
    "euc_jp": "euc-jp",
    "euc_kr": "euc-kr",
    "big5hkscs": "big5-hkscs",
    "mac-roman": "macintosh",
    "mac-cyrillic": "cp10007",
    "mac-greek": "cp10006",
    "mac-latin2": "cp10029",
    "tis-620": "tis-620",
}
"""Codecs of Python that the core has under another name, or under some of the names that Python has for them."""

SHARED = ("utf-8", "iso8859-", "cp", "koi8-", "shift_jis", "gb", "big5")
"""How the names begin that codecs have in Python and in the core."""

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
            arguments.whole_number(f"Limits.{limit}", bound, 0 if limit == "nesting" else 1, arguments.MANY)
        return given


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
        layer: Which layer, where the archive holds several; ``headland.layers`` names them, and the name of the file
            (``"yield.shp"``) is accepted as well. A name is also found where
            the archive writes its accents as letters of their own (NFD, as macOS does) and you do not (NFC).
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

    Raises:
        ArchiveError: What cannot be read, with member, record and offset.
        ValueError: A layer, a column, an encoding or a coordinate system that there is none of.
        TypeError: A source or an argument of another type than stated.

    >>> layer = headland.read("job.zip")
    >>> layer.write_parquet("job.parquet")
    """
    kept, how = given(source), reading(layer, columns, encoding, strict, threads, limits, to_crs)
    return Layer(spellings.found(kept, how, False, lambda how, _: _core.read(kept, how)))


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
    return _core.layers(given(source), arguments.flag("strict", strict), checked(limits))


def checked(limits: Limits | None) -> Limits:
    """Give limits; those by default where there are none."""
    if limits is None:
        return Limits()
    if not isinstance(limits, Limits):
        raise TypeError(f"`limits` takes a `headland.Limits`, not {type(limits).__name__}")
    # Those that `_replace` made were not checked yet.
    return Limits(*limits)


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
        "columns": None if columns is None else names(columns),
        "encoding": None if encoding is None else _encoding(arguments.text("encoding", encoding, '"cp1252"')),
        "strict": arguments.flag("strict", strict),
        "threads": None if threads is None else arguments.whole_number("threads", threads, 1, arguments.MANY),
        "limits": checked(limits),
        "to_crs": None if to_crs is None else arguments.text("to_crs", to_crs, '"EPSG:4326"'),
    }


def _encoding(name: str) -> str:
    """Give the core's name of an encoding; a name that is none of Python's either is left for the core to judge."""
    # Python passes over all other signs.
    if not PLAIN_NAME.fullmatch(name):
        return name
    try:
        known = codecs.lookup(name).name
    except LookupError:
        return name
    # What the core has not is told by the name that was given.
    return SPELLED.get(known, known if known.startswith(SHARED) else name)


def names(columns: object) -> list[str]:
    """Check names of columns; a text alone would be taken for its letters."""
    if arguments.is_single(columns):
        raise TypeError(f"`columns` takes a list of names, not one {type(columns).__name__}")
    return [arguments.text("columns", name) for name in arguments.several(columns)]


def given(source: Source) -> bytes | Path:
    """Give what the core can read of a source: a path, or all bytes."""
    if isinstance(source, bytes):
        return source
    if isinstance(source, bytearray | memoryview):
        return bytes(source)
    if isinstance(source, str | os.PathLike):
        path = arguments.path("source", source)
        if ADDRESS.match(os.fspath(source)) and not path.exists():
            # An address may hold a signature, so it is not shown.
            raise ValueError(
                "`source` is an address, and headland reads files and bytes: of a file on this machine, give its path; "
                "download others first, such as with `urllib.request.urlretrieve(address, 'job.zip')`; the files of "
                "jobs come with `client.job_data.read(id)` or `client.job_data.download(id, to='job.zip')`"
            )
        # A pipe cannot be read at an offset, and has no size to go by.
        return path.read_bytes() if path.is_fifo() else path
    return _rewound(cast("object", source))


def _rewound(file: object) -> bytes:
    """Give the bytes from where a file object stands, and put it back, so that `read` can follow `layers`."""
    seekable = getattr(file, "seekable", None)
    if seekable is None or not seekable() or isinstance(file, io.TextIOBase):
        return bytes_of(file, "source")
    stand: int = file.tell()  # type: ignore[attr-defined]
    content = bytes_of(file, "source")
    file.seek(stand)  # type: ignore[attr-defined]
    if stand and not content:
        raise ValueError(
            f"`source` is a file object that stands at its end (byte {stand}): `seek(0)` takes it to its start"
        )
    return content
