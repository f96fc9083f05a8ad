"""Accesses a local folder by the methods of an object store, without optional packages."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from headland import _core, errors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PART_PREFIX = ".headland-"
"""Prefix of the names of incomplete files, which are at the top of the folder."""

PART_MAX_AGE = 86_400.0
"""Seconds until an incomplete file counts as left by a killed process."""

ADVICE = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "free space there and publish again, which resumes"),
    **dict.fromkeys(
        (errno.EACCES, errno.EPERM, errno.EROFS), "permit this user to write there, or pass another folder"
    ),
    **dict.fromkeys((errno.ENOTDIR, errno.EEXIST), "a file is where a folder is needed: move it away"),
    errno.EISDIR: "a folder is where a file is needed: move it away",
}
"""The solution by error number."""


class FolderStore:
    """Reads, writes, lists and removes files of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = str(folder)
        with _reported("create", folder):
            folder.mkdir(parents=True, exist_ok=True)
            for part in folder.glob(f"{PART_PREFIX}*.part"):
                with suppress(FileNotFoundError):
                    if time.time() - part.stat().st_mtime > PART_MAX_AGE:
                        part.unlink()

    def read(self, name: str) -> bytes | None:
        """Read a file; ``None`` if it does not exist."""
        path = self.folder / name
        with _reported("read", path):
            try:
                return path.read_bytes()
            except FileNotFoundError:
                return None

    def sizes(self, prefix: str) -> dict[str, int]:
        """Return the size of each file below a folder."""
        return {name: status.st_size for name, status in self._listed(prefix)}

    def times(self, prefix: str) -> dict[str, datetime]:
        """Return the modification time of each file below a folder."""
        return {name: datetime.fromtimestamp(status.st_mtime, UTC) for name, status in self._listed(prefix)}

    def put(self, name: str, content: bytes | Path) -> None:
        """Write a file; it appears once it is complete."""
        with self._replaced(name) as part:
            if isinstance(content, Path):
                shutil.copyfile(content, part)
            else:
                part.write_bytes(content)
            # Files are compared by size: after a power loss, one of the right size must have its content.
            with part.open("rb+") as file:
                os.fsync(file.fileno())

    def copy(self, old: str, new: str) -> bool:
        """Create a hard link, or a copy if that fails; returns False if the file no longer exists."""
        with self._replaced(new) as part:
            try:
                os.link(self.folder / old, part)
            except FileNotFoundError:
                return False
            except OSError:
                # Not every file system has hard links, and not every user may link to files of others.
                shutil.copyfile(self.folder / old, part)
        return True

    def remove(self, names: Sequence[str]) -> None:
        """Remove files, and folders that become empty; missing ones are ignored."""
        for name in names:
            path = self.folder / name
            with _reported("remove", path):
                path.unlink(missing_ok=True)
            for parent in path.parents[: len(Path(name).parts) - 1]:
                try:
                    parent.rmdir()
                except OSError:
                    break

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Exclude other processes and threads that lock this folder, until the end of the block."""
        with _reported("open", self.folder):
            held = _core.FolderLock(self.folder)
        try:
            yield
        finally:
            held.release()

    def _listed(self, prefix: str) -> Iterator[tuple[str, os.stat_result]]:
        top = self.folder / prefix
        with _reported("list", top):
            for folder, _, names in os.walk(top, onerror=_raise_unless_missing):
                for path in (Path(folder, name) for name in names):
                    with suppress(FileNotFoundError):
                        yield path.relative_to(self.folder).as_posix(), path.stat()

    @contextmanager
    def _replaced(self, name: str) -> Iterator[Path]:
        """Give the path of a new file, which replaces `name` at the end of the block."""
        path, part = self.folder / name, self.folder / f"{PART_PREFIX}{secrets.token_hex(8)}.part"
        try:
            with _reported("write", path):
                yield part
                if part.exists():
                    _replace(part, path)
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)


def _replace(part: Path, path: Path) -> None:
    """Move a complete file to its path; another publication may remove its folder while it is empty."""
    for _ in range(3):
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            part.replace(path)
            return
    part.replace(path)


def _raise_unless_missing(cause: OSError) -> None:
    if not isinstance(cause, FileNotFoundError):
        raise cause


@contextmanager
def _reported(verb: str, path: Path) -> Iterator[None]:
    """Raise the errors of the system as headland's, with the path and the solution."""
    try:
        yield
    except OSError as cause:
        if isinstance(cause, errors.HeadlandError):
            raise
        advice = ADVICE.get(cause.errno or 0, "publish again, which resumes")
        message = f"cannot {verb} `{path}`: {cause.strerror or cause}; {advice}"
        raise errors.from_core("File", message, {}, cause.errno or errno.EIO) from None
