"""Handles of files that the service may have to convert first."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Self, overload

from headland import _core, argument_hints, arguments
from headland.client.handle import Handle
from headland.files import Download, Target

if TYPE_CHECKING:
    import os
    from pathlib import Path


class Conversion(Handle[_core.Conversion]):
    """A file that the service may have to convert first.

    >>> handles = [client.job_data.request(job["id"]) for job in client.job_data.list()]
    >>> files = [handle.wait().result() for handle in handles]
    """

    __slots__ = ()

    def ready(self) -> bool:
        """Return whether the file is ready; makes no call before the wait requested by the service is over."""
        with self._calls:
            return self._core.ready()

    def wait(self, timeout: float | None = None) -> Self:
        """Wait until the file is ready, at most `timeout` seconds (then ``NotReady``); default: the client's."""
        seconds = None if timeout is None else arguments.seconds("timeout", timeout)
        with self._calls:
            self._core.wait(seconds)
        return self

    @overload
    def result(self, to: None = None, *, overwrite: bool = False) -> bytes: ...
    @overload
    def result(self, to: str | os.PathLike[str], *, overwrite: bool = False) -> Path: ...
    @overload
    def result(self, to: BinaryIO, *, overwrite: bool = False) -> BinaryIO: ...
    @argument_hints.explained(argument_hints.RESULT)
    def result(self, to: Target | None = None, *, overwrite: bool = False) -> bytes | Path | BinaryIO:
        """Return the file as bytes, or write it to a folder, path or file object; waits if it is not ready."""
        with Download(to, overwrite=overwrite) as download:
            with self._calls:
                delivered = self._core.result(download.path, arguments.flag("overwrite", overwrite))
            return download.finish(delivered)


class AsyncConversion(Handle[_core.Conversion]):
    """A file that the service may have to convert first, with coroutines."""

    __slots__ = ()

    async def ready(self) -> bool:
        """Return whether the file is ready; makes no call before the wait requested by the service is over."""
        with self._calls:
            return await self._core.ready_async()

    async def wait(self, timeout: float | None = None) -> Self:  # noqa: ASYNC109 - the twin of `Conversion.wait`
        """Wait until the file is ready, at most `timeout` seconds (then ``NotReady``); default: the client's."""
        seconds = None if timeout is None else arguments.seconds("timeout", timeout)
        with self._calls:
            await self._core.wait_async(seconds)
        return self

    @overload
    async def result(self, to: None = None, *, overwrite: bool = False) -> bytes: ...
    @overload
    async def result(self, to: str | os.PathLike[str], *, overwrite: bool = False) -> Path: ...
    @overload
    async def result(self, to: BinaryIO, *, overwrite: bool = False) -> BinaryIO: ...
    @argument_hints.explained(argument_hints.RESULT)
    async def result(self, to: Target | None = None, *, overwrite: bool = False) -> bytes | Path | BinaryIO:
        """Return the file as bytes, or write it to a folder, path or file object; waits if it is not ready."""
        with Download(to, overwrite=overwrite) as download:
            with self._calls:
                delivered = await self._core.result_async(download.path, arguments.flag("overwrite", overwrite))
            return download.finish(delivered)
