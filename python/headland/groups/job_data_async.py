# Generated from the table in `src/api`; change that and run `make generate`.
"""Job data: the yield, as-applied and planting files that field computers produce. As coroutines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack, cast, overload

from headland.archives import with_options
from headland.argument_hints import LIST, explained
from headland.client.call_group import CallGroup
from headland.client.read_all import AsyncReadAll

if TYPE_CHECKING:
    import datetime as dt
    import os
    from pathlib import Path
    from typing import BinaryIO

    from headland.archives import Limits, ReadOptions
    from headland.client.calls import AsyncCalls, Upload
    from headland.client.conversion import AsyncConversion
    from headland.client.pages import AsyncPages
    from headland.layer.layer import Layer
    from headland.layer.table import Table
    from headland.records import Created, JobDataDetail, JobDataItem, PrescriptionMapItem, ProductRow


class AsyncJobData(AsyncReadAll, CallGroup):
    """Job data: the yield, as-applied and planting files that field computers produce."""

    __slots__ = ("_calls",)

    def __init__(self, calls: AsyncCalls) -> None:
        """Bind the group to its client's calls."""
        self._calls = calls

    @explained(LIST)
    def list(
        self,
        *,
        date: str | dt.date | dt.datetime | None = None,
        page_size: int | None = None,
        page: int | None = None,
        on_error: str = "raise",
    ) -> AsyncPages[JobDataItem]:
        """Like `Client.job_data.list`, as a list that `async for` reads."""
        return self._calls.pages("job_data.list", {"date": date}, page_size=page_size, page=page, on_error=on_error)

    async def get(self, id: str | int) -> JobDataDetail:
        """Like `Client.job_data.get`, as a coroutine."""
        return cast("JobDataDetail", await self._calls.detail("job_data.get", {"id": id}))

    @overload
    async def download(
        self,
        id: str | int,
        *,
        format: str = "SHP",
        to: None = None,
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> bytes: ...

    @overload
    async def download(
        self,
        id: str | int,
        *,
        format: str = "SHP",
        to: str | os.PathLike[str],
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> Path: ...

    @overload
    async def download(
        self,
        id: str | int,
        *,
        format: str = "SHP",
        to: BinaryIO,
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> BinaryIO: ...

    async def download(
        self,
        id: str | int,
        *,
        format: str = "SHP",
        to: str | os.PathLike[str] | BinaryIO | None = None,
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> bytes | Path | BinaryIO:
        """Like `Client.job_data.download`, as a coroutine."""
        return await self._calls.download(
            "job_data.download",
            {"id": id, "format": format},
            to=to,
            overwrite=overwrite,
            limits=limits,
        )

    async def request(self, id: str | int, *, format: str = "SHP") -> AsyncConversion:
        """Like `Client.job_data.request`, as a coroutine that gives an `AsyncConversion`."""
        return await self._calls.conversion("job_data.request", {"id": id, "format": format})

    @with_options
    async def read(
        self,
        id: str | int,
        *,
        format: str = "SHP",
        timeout: float | None = None,
        **options: Unpack[ReadOptions],
    ) -> Layer:
        """Like `Client.job_data.read`, as a coroutine."""
        return await self._calls.layer("job_data.read", {"id": id, "format": format}, timeout, options)

    async def products(self, id: str | int) -> Table[ProductRow]:
        """Like `Client.job_data.products`, as a coroutine."""
        return await self._calls.table("job_data.products", {"id": id})

    def prescription_maps(
        self,
        id: str | int,
        *,
        page_size: int | None = None,
        page: int | None = None,
        on_error: str = "raise",
    ) -> AsyncPages[PrescriptionMapItem]:
        """Like `Client.job_data.prescription_maps`, as a list that `async for` reads."""
        return self._calls.pages("job_data.prescription_maps", {"id": id}, page_size=page_size, page=page, on_error=on_error)

    async def upload(self, file: Upload) -> Created:
        """Like `Client.job_data.upload`, as a coroutine."""
        return await self._calls.upload("job_data.upload", file)
