"""Published files, read through the checksums that the manifest has of their blocks: damage is never parsed."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import zlib
from typing import IO, TYPE_CHECKING

from headland import errors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow.parquet as pq

BLOCK = 128 * 1024
"""The bytes of a block, but for the last one, as the writer has them."""

DIGITS = 8
"""The hexadecimal digits of a checksum."""

STATES = "generations"
"""The folder that states are in."""

AGAIN = "`verify()` finds what else is lost, and the next `sync()` writes the dataset anew"
"""What to do about a file that was lost; a sync notices."""

MEND = "run `verify()`, which finds what else is damaged, then `sync()`, which writes the dataset anew"
"""What to do about a damaged file; a sync takes one of the same size for whole until `verify()` has read it."""


class Blocks(io.RawIOBase):
    """A published file that gives no byte of a block before the checksum of that block is compared."""

    def __init__(self, file: IO[bytes], path: Path, crc32: str | None) -> None:
        """Take an open file; `crc32` are the checksums of its blocks, one behind the other, where they are known."""
        self._path = path
        self._crc32 = crc32
        self._place = 0
        self._kept = 0, b""
        self._file = file
        self._bytes = os.fstat(self._file.fileno()).st_size
        if crc32 is not None and -(-self._bytes // BLOCK) * DIGITS != len(crc32):
            raise errors.ArchiveError(f"`{path}` is damaged (it is not as long as it was written); {MEND}")

    def readable(self) -> bool:
        """Say that it is read."""
        return True

    def seekable(self) -> bool:
        """Say that it is read at any place."""
        return True

    def tell(self) -> int:
        """Give the place of the next byte."""
        return self._place

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Go to a place."""
        self._place = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._bytes}[whence]
        return self._place

    def read(self, size: int | None = -1, /) -> bytes:
        """Read as many bytes as there are, at most `size`.

        Raises:
            ArchiveError: A block that they are in is damaged.
        """
        start, end = self._place, self._bytes
        if size is not None and size >= 0:
            end = min(end, start + size)
        if start >= end:
            return b""
        first, content = self._kept
        if not first <= start < end <= first + len(content):
            first = start // BLOCK * BLOCK
            content = self._compared(first, -(-end // BLOCK) * BLOCK - first)
            # Columns lie one behind the other, and several of them in one block where they are short.
            self._kept = first, content
        self._place = end
        return content[start - first : end - first]

    def _compared(self, first: int, size: int) -> bytes:
        """Read whole blocks and compare them with their checksums."""
        self._file.seek(first)
        content = self._file.read(size)
        if self._crc32 is None:
            return content
        for at, block in ((at, memoryview(content)[at : at + BLOCK]) for at in range(0, len(content), BLOCK)):
            digits = (first + at) // BLOCK * DIGITS
            if f"{zlib.crc32(block):08x}" != self._crc32[digits : digits + DIGITS]:
                raise errors.ArchiveError(
                    f"`{self._path}` is damaged (bytes {first + at} to {first + at + len(block)} are not those that "
                    f"were written); {MEND}"
                )
        return content


@contextlib.contextmanager
def parquet(path: Path, crc32: str | None) -> Iterator[pq.ParquetFile]:
    """Open a published file; whatever goes wrong in the block while it is parsed is damage.

    Raises:
        ArchiveError: It is missing or damaged.
    """
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as file, Blocks(file, path, crc32) as blocks, pq.ParquetFile(blocks) as opened:
            yield opened
    except FileNotFoundError:
        raise missing(path) from None
    except (errors.HeadlandError, MemoryError):
        raise
    except Exception as cause:
        # Arrow takes metadata that it cannot read for a failure of the system, which has no number then.
        if isinstance(cause, OSError) and cause.errno is not None:
            raise
        raise errors.ArchiveError(f"`{path}` is damaged ({' '.join(str(cause).split())}); {MEND}") from None


def compare(path: Path, crc32: str | None) -> None:
    """Compare all blocks of a file, for who reads it otherwise.

    Raises:
        ArchiveError: It is damaged.
    """
    with path.open("rb") as file, Blocks(file, path, crc32) as blocks:
        while blocks.read(BLOCK):
            pass


def missing(path: Path) -> Exception:
    """Give the error of a published file that is missing, or that went with its state."""
    gone = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    state = next((each for each in path.parents if each.parent.name == STATES), None)
    if state is not None and not state.exists():
        told = (
            "the mirror has published anew since, and has removed the state before: read or publish again, or make the "
            "frame again"
        )
        return errors.from_os("ArchiveError", f"`{path}` is gone; {told}", gone)
    return errors.from_os("ArchiveError", f"`{path}` is missing; {AGAIN}", gone)
