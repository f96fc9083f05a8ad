"""Files that the service may still have to convert: handles that ask, wait and deliver."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Self, overload

from headland import arguments
from headland.files import Download, Target

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from pathlib import Path

    from headland import _core


class _Handle:
    """What both handles share: their id."""

    __slots__ = ("_core", "_warn_pending")

    def __init__(self, core: _core.Conversion, warn_pending: Callable[[], None]) -> None:
        self._core = core
        self._warn_pending = warn_pending

    @property
    def id(self) -> str:
        """Enough for another process to pick the conversion up with ``client.conversion(id)``."""
        return self._core.id

    def __repr__(self) -> str:
        """Show the id."""
        return f"<{type(self).__name__} {self.id}>"


class Conversion(_Handle):
    """A file that the service may still have to convert.

    >>> handles = [client.job_data.request(job["id"]) for job in client.job_data.list()]
    >>> files = [handle.wait().result() for handle in handles]
    """

    __slots__ = ()

    def ready(self) -> bool:
        """Ask whether the file is ready; until the wait that the service stated is over, no call is made."""
        try:
            return self._core.ready()
        finally:
            self._warn_pending()

    def wait(self, timeout: float | None = None) -> Self:
        """Wait until the file is ready, at most `timeout` seconds (then ``NotReady``; by default the client's)."""
        seconds = None if timeout is None else arguments.seconds("timeout", timeout)
        try:
            self._core.wait(seconds)
        finally:
            self._warn_pending()
        return self

    @overload
    def result(self, to: None = None, *, overwrite: bool = False) -> bytes: ...
    @overload
    def result(self, to: str | os.PathLike[str], *, overwrite: bool = False) -> Path: ...
    @overload
    def result(self, to: BinaryIO, *, overwrite: bool = False) -> BinaryIO: ...
    def result(self, to: Target | None = None, *, overwrite: bool = False) -> bytes | Path | BinaryIO:
        """Give the file, waiting for it if need be: its bytes, or put into a folder, a path or a file object."""
        with Download(to) as download:
            try:
                delivered = self._core.result(download.path, arguments.flag("overwrite", overwrite))
            finally:
                self._warn_pending()
            return download.finish(delivered)


class AsyncConversion(_Handle):
    """A file that the service may still have to convert, with coroutines."""

    __slots__ = ()

    async def ready(self) -> bool:
        """Ask whether the file is ready; until the wait that the service stated is over, no call is made."""
        try:
            return await self._core.ready_async()
        finally:
            self._warn_pending()

    async def wait(self, timeout: float | None = None) -> Self:  # noqa: ASYNC109 - the twin of `Conversion.wait`
        """Wait until the file is ready, at most `timeout` seconds (then ``NotReady``; by default the client's)."""
        seconds = None if timeout is None else arguments.seconds("timeout", timeout)
        try:
            await self._core.wait_async(seconds)
        finally:
            self._warn_pending()
        return self

    @overload
    async def result(self, to: None = None, *, overwrite: bool = False) -> bytes: ...
    @overload
    async def result(self, to: str | os.PathLike[str], *, overwrite: bool = False) -> Path: ...
    @overload
    async def result(self, to: BinaryIO, *, overwrite: bool = False) -> BinaryIO: ...
    async def result(self, to: Target | None = None, *, overwrite: bool = False) -> bytes | Path | BinaryIO:
        """Give the file, waiting for it if need be: its bytes, or put into a folder, a path or a file object."""
        with Download(to) as download:
            try:
                delivered = await self._core.result_async(download.path, arguments.flag("overwrite", overwrite))
            finally:
                self._warn_pending()
            return download.finish(delivered)
