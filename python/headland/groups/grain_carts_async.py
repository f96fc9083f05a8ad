# Generated from the table in `src/api`; change that and run `make generate`.
"""Grain carts: the files of loads that carts weigh in the field. As coroutines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack, cast, overload

from headland.archives import with_options
from headland.client.call_group import CallGroup

if TYPE_CHECKING:
    import os
    from pathlib import Path
    from typing import BinaryIO

    from headland.archives import Limits, ReadOptions
    from headland.client.calls import AsyncCalls, Upload
    from headland.client.pages import AsyncPages
    from headland.layer.layer import Layer
    from headland.records import Created, GrainCart


class AsyncGrainCarts(CallGroup):
    """Grain carts: the files of loads that carts weigh in the field."""

    __slots__ = ("_calls",)

    def __init__(self, calls: AsyncCalls) -> None:
        """Bind the group to its client's calls."""
        self._calls = calls

    def list(
        self,
        *,
        page_size: int | None = None,
        page: int | None = None,
        on_error: str = "raise",
    ) -> AsyncPages[GrainCart]:
        """Like `Client.grain_carts.list`, as a list that `async for` reads."""
        return self._calls.pages("grain_carts.list", {}, page_size=page_size, page=page, on_error=on_error)

    async def get(self, id: str | int) -> GrainCart | None:
        """Like `Client.grain_carts.get`, as a coroutine."""
        return cast("GrainCart | None", await self._calls.detail("grain_carts.get", {"id": id}))

    @overload
    async def download(
        self,
        id: str | int,
        *,
        to: None = None,
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> bytes: ...

    @overload
    async def download(
        self,
        id: str | int,
        *,
        to: str | os.PathLike[str],
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> Path: ...

    @overload
    async def download(
        self,
        id: str | int,
        *,
        to: BinaryIO,
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> BinaryIO: ...

    async def download(
        self,
        id: str | int,
        *,
        to: str | os.PathLike[str] | BinaryIO | None = None,
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> bytes | Path | BinaryIO:
        """Like `Client.grain_carts.download`, as a coroutine."""
        return await self._calls.download(
            "grain_carts.download",
            {"id": id},
            to=to,
            overwrite=overwrite,
            limits=limits,
        )

    @with_options
    async def read(self, id: str | int, *, timeout: float | None = None, **options: Unpack[ReadOptions]) -> Layer:
        """Like `Client.grain_carts.read`, as a coroutine."""
        return await self._calls.layer("grain_carts.read", {"id": id}, timeout, options)

    async def upload(self, file: Upload) -> Created:
        """Like `Client.grain_carts.upload`, as a coroutine."""
        return await self._calls.upload("grain_carts.upload", file)
