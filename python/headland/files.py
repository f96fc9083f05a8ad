"""Reads files to upload, writes downloads to their targets, replaces files, and explains missing ones."""

from __future__ import annotations

import errno
import io
import os
import secrets
import shutil
import tarfile
import tempfile
import zipfile
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self, cast

from headland import arguments
from headland.errors import HeadlandError, from_core, from_os
from headland.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

Upload = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO
"""A source of an upload: a path, bytes or a binary file object."""

Target = str | os.PathLike[str] | BinaryIO
"""A target of a download: a folder, a path or a binary file object."""

DEFAULT_NAMES = {
    "job_data.upload": "upload.jdp.zip",
    "prescription_maps.upload": "upload.rdp.zip",
    "grain_carts.upload": "upload.grc",
}
"""The default file name of an upload, by call."""

MAX_COMPARED = 10_000
"""Maximum number of names in a folder that are compared with a missing one."""


def read_upload(call: str, file: Upload) -> tuple[str, bytes]:
    """Return name and content of a file to upload."""
    if isinstance(file, bytes | bytearray | memoryview):
        return DEFAULT_NAMES[call], bytes(file)
    if isinstance(file, str | os.PathLike):
        path = arguments.path("file", file)
        try:
            return arguments.sendable("file", path.name), path.read_bytes()
        except FileNotFoundError:
            message = f"cannot read `{path}` to upload it: {missing_reason(path)}"
            raise from_core("InvalidRequest", message, {}, errno.ENOENT) from None
        except OSError as cause:
            raise from_os("InvalidRequest", f"cannot read `{path}` to upload it", cause) from None
    content = read_bytes(file, "file")
    name = getattr(file, "name", None)
    if isinstance(name, str) and name:
        return arguments.sendable("file", Path(name).name), content
    return DEFAULT_NAMES[call], content


def read_bytes(file: object, argument: str) -> bytes:
    """Read a binary file object to its end."""
    read = getattr(file, "read", None)
    if read is None or isinstance(file, zipfile.ZipFile):
        message = f"`{argument}`: expected a path, bytes or a binary file object, got {_type_name(file)}{_hint(file)}"
        raise TypeError(message)
    if isinstance(file, io.TextIOBase):
        raise TypeError(f"`{argument}` is a text file object: open it in binary mode")
    content = read()
    if not isinstance(content, bytes):
        message = f"`{argument}` is a file object whose `read` returns {type(content).__name__}: open it in binary mode"
        raise TypeError(message)
    return content


def _type_name(file: object) -> str:
    """Return the name of a type with its package, since many packages have paths and responses."""
    kind = type(file)
    package = "headland" if kind.__module__.startswith("headland.") else kind.__module__
    return kind.__qualname__ if package == "builtins" else f"{package}.{kind.__qualname__}"


def _hint(file: object) -> str:
    """Return a hint for known wrong types."""
    if isinstance(file, zipfile.ZipFile | tarfile.TarFile):
        return ": pass its path or its bytes"
    if isinstance(file, list | tuple | set | dict):
        return ": pass one at a time"
    # A path inside a zip, and a response of requests.
    for attribute, shown in (("read_bytes", "read_bytes()"), ("iter_content", "content")):
        if hasattr(file, attribute):
            return f": pass its `.{shown}`"
    return ""


class Download:
    """A download in progress. A file object receives the bytes once the whole file has been checked."""

    def __init__(self, to: Target | None, *, overwrite: bool = False) -> None:
        """Check the target before any call."""
        if to is None and overwrite:
            raise ValueError("`overwrite` is about a file: name it by `to=`; without it, `download` returns the bytes")
        self.path: str | None = None
        self._file: BinaryIO | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if to is None:
            return
        if isinstance(to, str | os.PathLike):
            arguments.path("to", to)
            # Not a `Path`, which would drop a trailing separator, the mark of a folder.
            self.path = os.path.expanduser(os.fspath(to))  # noqa: PTH111
        else:
            _check_writable(to)
            self._file = to
            self._folder = tempfile.TemporaryDirectory(prefix="headland-")
            self.path = str(Path(self._folder.name) / "download")

    def __enter__(self) -> Self:
        """Return the download."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the temporary file."""
        if self._folder is not None:
            self._folder.cleanup()

    def finish(self, delivered: bytes | Path) -> bytes | Path | BinaryIO:
        """Return the result for the user: the bytes, the path or the file object."""
        if self._file is None:
            return delivered
        with cast("Path", delivered).open("rb") as source:
            shutil.copyfileobj(source, self._file)
        return self._file


def _check_writable(to: object) -> None:
    """Refuse an object that cannot receive the bytes, before a call is spent."""
    # Only `encoding` marks text wrappers such as those of `tempfile` and `codecs`.
    if isinstance(to, io.TextIOBase) or hasattr(to, "encoding"):
        raise TypeError("`to` is a text file object: open it in binary mode, such as `open(path, 'wb')`")
    if not hasattr(to, "write"):
        raise TypeError(f"`to`: expected a folder, a path or a binary file object, got {type(to).__name__}")
    if getattr(to, "closed", False) is True:
        raise ValueError("`to` is a closed file object: pass an open one")
    writable = getattr(to, "writable", None)
    if callable(writable) and not writable():
        raise ValueError("`to` is a file object opened only for reading: open it in mode 'wb'")


def replaceable(path: Path) -> Path:
    """Return the file that `path` names, behind a symbolic link, which is kept; only a regular file can be replaced."""
    target = path.resolve() if path.is_symlink() else path
    if target.exists() and not target.is_file():
        raise HeadlandError(
            f"cannot write `{target}`: it is not a regular file, and only a regular file can be replaced; choose "
            "another path"
        )
    return target


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise a failure of the block as one to write `path`, also where a file of another name was written first."""
    try:
        yield
    except OSError as cause:
        raise from_os("File", f"cannot write `{path}`", cause) from None


@contextmanager
def building(path: Path) -> Iterator[Path]:
    """Create a hidden folder next to `path` for files that will be moved there, and remove it afterwards."""
    if not path.parent.is_dir():
        cause = FileNotFoundError(errno.ENOENT, f"there is no folder `{path.parent}`; create it first")
        raise from_os("File", f"cannot write `{path}`", cause)
    replaceable(path)
    with writing(path):
        folder = tempfile.TemporaryDirectory(prefix=f".{path.name[:40]}.", suffix=".part", dir=path.parent)
    with folder:
        yield Path(folder.name)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a ``.part`` file next to `path`, which it replaces at the end of the block, as the core writes files.

    Raises:
        HeadlandError: The file cannot be written; or `path` is not a regular file.
    """
    target = replaceable(path)
    part = target.with_name(f"{target.name[:40]}.{secrets.token_hex(8)}.part")
    with writing(path):
        if not target.parent.exists():
            raise FileNotFoundError(errno.ENOENT, f"there is no folder `{target.parent}`; create it first")
        file = part.open("xb")
        try:
            with file:
                yield file
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a file of text as ``replacing`` does."""
    with replacing(path) as file:
        file.write(text.encode())


def missing_reason(path: Path) -> str:
    """Return the part of a message that explains why there is no file or folder at `path`.

    A relative path is looked for in the working folder, which in notebooks is often another one than expected.
    """
    folder = path.parent
    where = "" if path.is_absolute() else f" in `{Path.cwd()}`"
    if not folder.exists():
        return f"there is no folder `{folder}`{where}"
    if "*" in path.name:
        return f"paths have no patterns: read each of `Path({str(folder)!r}).glob({path.name!r})`"
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in islice(entries, MAX_COMPARED)]
    except OSError:
        names = []
    # Files have similar endings, so only close names are likely meant.
    hint = did_you_mean(path.name, names, cutoff=0.75)
    # The similar name has the same folder as the path, so that it can be copied.
    return f"no such file or folder{where}{hint.replace('`', f'`{folder}{os.sep}', 1) if folder.name else hint}"
