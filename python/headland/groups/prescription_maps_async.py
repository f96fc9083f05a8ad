# Generated from the table in `src/api`; change that and run `make generate`.
"""Prescription maps: files of target rates that are sent to field computers. As coroutines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack, cast, overload

from headland.archives import with_options
from headland.client.call_group import CallGroup
from headland.client.send_plan import AsyncSendPlans

if TYPE_CHECKING:
    import os
    from pathlib import Path
    from typing import BinaryIO

    from headland.archives import Limits, ReadOptions
    from headland.client.calls import AsyncCalls
    from headland.client.map_file import MapFile
    from headland.client.pages import AsyncPages
    from headland.layer.layer import Layer
    from headland.records import Created, PrescriptionMapDetail, PrescriptionMapItem


class AsyncPrescriptionMaps(AsyncSendPlans, CallGroup):
    """Prescription maps: files of target rates that are sent to field computers."""

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
    ) -> AsyncPages[PrescriptionMapItem]:
        """Like `Client.prescription_maps.list`, as a list that `async for` reads."""
        return self._calls.pages("prescription_maps.list", {}, page_size=page_size, page=page, on_error=on_error)

    async def get(self, id: str | int) -> PrescriptionMapDetail:
        """Like `Client.prescription_maps.get`, as a coroutine."""
        return cast("PrescriptionMapDetail", await self._calls.detail("prescription_maps.get", {"id": id}))

    @overload
    async def download(
        self,
        id: str | int,
        *,
        format: str = "bin",
        to: None = None,
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> bytes: ...

    @overload
    async def download(
        self,
        id: str | int,
        *,
        format: str = "bin",
        to: str | os.PathLike[str],
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> Path: ...

    @overload
    async def download(
        self,
        id: str | int,
        *,
        format: str = "bin",
        to: BinaryIO,
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> BinaryIO: ...

    async def download(
        self,
        id: str | int,
        *,
        format: str = "bin",
        to: str | os.PathLike[str] | BinaryIO | None = None,
        overwrite: bool = False,
        limits: Limits | None = None,
    ) -> bytes | Path | BinaryIO:
        """Like `Client.prescription_maps.download`, as a coroutine."""
        return await self._calls.download(
            "prescription_maps.download",
            {"id": id, "format": format},
            to=to,
            overwrite=overwrite,
            limits=limits,
        )

    @with_options
    async def read(
        self,
        id: str | int,
        *,
        format: str = "shp",
        timeout: float | None = None,
        **options: Unpack[ReadOptions],
    ) -> Layer:
        """Like `Client.prescription_maps.read`, as a coroutine."""
        return await self._calls.layer("prescription_maps.read", {"id": id, "format": format}, timeout, options)

    async def upload(self, file: MapFile | BinaryIO, *, file_type: str = "RX", force: bool = False) -> Created:
        """Like `Client.prescription_maps.upload`, as a coroutine."""
        return await self._calls.upload_map(file, file_type, force=force)

    async def send(
        self,
        rx_id: str | int | MapFile,
        field_computer_id: str | int,
        *,
        wait: bool = False,
        timeout: float | None = None,
    ) -> None:
        """Like `Client.prescription_maps.send`, as a coroutine."""
        await self._calls.send_map(rx_id, field_computer_id, wait=wait, timeout=timeout)
