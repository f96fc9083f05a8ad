"""Files of the user: what to upload, and where to put what is downloaded."""

from __future__ import annotations

import io
import os
import shutil
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import BinaryIO, Self, cast

from headland import arguments
from headland.errors import from_os

Upload = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO
"""What can be uploaded: a path, bytes or a binary file object."""

Target = str | os.PathLike[str] | BinaryIO
"""Where a download goes: a folder, a path or a binary file object."""

DEFAULT_NAMES = {
    "job_data.upload": "upload.jdp.zip",
    "prescription_maps.upload": "upload.rdp.zip",
    "grain_carts.upload": "upload.grc",
}
"""The file name of an upload that has none, by its call."""


def read_upload(call: str, file: Upload) -> tuple[str, bytes]:
    """Give the name and the content of a file to upload."""
    if isinstance(file, bytes | bytearray | memoryview):
        return DEFAULT_NAMES[call], bytes(file)
    if isinstance(file, str | os.PathLike):
        path = arguments.path("file", file)
        try:
            return arguments.sendable("file", path.name), path.read_bytes()
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
        message = f"`{argument}` takes a path, bytes or a binary file object, not {_type_name(file)}{_hint(file)}"
        raise TypeError(message)
    if isinstance(file, io.TextIOBase):
        raise TypeError(f"`{argument}` is a file object that gives text: open it in binary mode")
    content = read()
    if not isinstance(content, bytes):
        message = f"`{argument}` is a file object that gives {type(content).__name__}: open it in binary mode"
        raise TypeError(message)
    return content


def _type_name(file: object) -> str:
    """Give the name of a type, with its package, since there are paths and responses of many."""
    kind = type(file)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _hint(file: object) -> str:
    """Say what to give instead, where that is known."""
    if isinstance(file, zipfile.ZipFile | tarfile.TarFile):
        return ": give what it was opened from, its path or its bytes"
    if isinstance(file, list | tuple | set | dict):
        return ": give one at a time"
    # A path inside a zip, and a response of requests.
    for attribute, shown in (("read_bytes", "read_bytes()"), ("iter_content", "content")):
        if hasattr(file, attribute):
            return f": give its `.{shown}`"
    return ""


class Download:
    """A download on its way to its target: a file object gets the bytes when the whole file has been checked."""

    def __init__(self, to: Target | None) -> None:
        """Check the target before any call."""
        self.path: str | None = None
        self._file: BinaryIO | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if to is None:
            return
        if isinstance(to, str | os.PathLike):
            arguments.path("to", to)
            # Not a `Path`, which would forget a separator at the end, and with it that a folder is meant.
            self.path = os.fspath(to)
        else:
            _check_writable(to)
            self._file = to
            self._folder = tempfile.TemporaryDirectory(prefix="headland-")
            self.path = str(Path(self._folder.name) / "download")

    def __enter__(self) -> Self:
        """Give the delivery itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove what was kept on the way."""
        if self._folder is not None:
            self._folder.cleanup()

    def finish(self, delivered: bytes | Path) -> bytes | Path | BinaryIO:
        """Give what the user gets: the bytes, the path or the file object."""
        if self._file is None:
            return delivered
        with cast("Path", delivered).open("rb") as source:
            shutil.copyfileobj(source, self._file)
        return self._file


def _check_writable(to: object) -> None:
    """Refuse what could not take the bytes once they are there, since the call would be spent by then."""
    # Wrappers of text files, such as those of `tempfile` and `codecs`, are told by their encoding alone.
    if isinstance(to, io.TextIOBase) or hasattr(to, "encoding"):
        raise TypeError("`to` is a file object that takes text: open it in binary mode, such as `open(path, 'wb')`")
    if not hasattr(to, "write"):
        raise TypeError(f"`to` takes a folder, a path or a binary file object, not {type(to).__name__}")
    if getattr(to, "closed", False) is True:
        raise ValueError("`to` is a file object that is closed: give one that is open")
    writable = getattr(to, "writable", None)
    if callable(writable) and not writable():
        raise ValueError("`to` is a file object that is open for reading alone: open it in mode 'wb'")
