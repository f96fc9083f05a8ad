# Generated from the table in `src/api`; change that and run `make generate`.
"""Field computers: the in-cab displays that record job data. As coroutines."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from headland.argument_hints import LIST, explained
from headland.client.call_group import CallGroup

if TYPE_CHECKING:
    from headland.client.calls import AsyncCalls
    from headland.client.locations import AsyncLocationPages
    from headland.client.pages import AsyncPages
    from headland.records import (
        DeviceLocation,
        FieldComputerDetail,
        FieldComputerItem,
        JobDataItem,
        PrescriptionMapItem,
    )


class AsyncFieldComputers(CallGroup):
    """Field computers: the in-cab displays that record job data."""

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
    ) -> AsyncPages[FieldComputerItem]:
        """Like `Client.field_computers.list`, as a list that `async for` reads."""
        return self._calls.pages("field_computers.list", {}, page_size=page_size, page=page, on_error=on_error)

    async def get(self, id: str | int) -> FieldComputerDetail:
        """Like `Client.field_computers.get`, as a coroutine."""
        return cast("FieldComputerDetail", await self._calls.detail("field_computers.get", {"id": id}))

    def prescription_maps(
        self,
        id: str | int,
        *,
        state: str = "validated",
        page_size: int | None = None,
        page: int | None = None,
        on_error: str = "raise",
    ) -> AsyncPages[PrescriptionMapItem]:
        """Like `Client.field_computers.prescription_maps`, as a list that `async for` reads."""
        return self._calls.pages("field_computers.prescription_maps", {"id": id, "state": state}, page_size=page_size, page=page, on_error=on_error)

    @explained(LIST)
    def job_data(
        self,
        id: str | int,
        *,
        min_id: str | int | None = None,
        page_size: int | None = None,
        page: int | None = None,
        on_error: str = "raise",
    ) -> AsyncPages[JobDataItem]:
        """Like `Client.field_computers.job_data`, as a list that `async for` reads."""
        return self._calls.pages("field_computers.job_data", {"id": id, "min_id": min_id}, page_size=page_size, page=page, on_error=on_error)

    def current_locations(
        self,
        *,
        page_size: int | None = None,
        page: int | None = None,
        on_error: str = "raise",
    ) -> AsyncLocationPages:
        """Like `Client.field_computers.current_locations`, as a list that `async for` reads."""
        return self._calls.locations("field_computers.current_locations", {}, page_size=page_size, page=page, on_error=on_error)

    async def current_location(self, id: str | int) -> DeviceLocation | None:
        """Like `Client.field_computers.current_location`, as a coroutine."""
        return cast("DeviceLocation | None", await self._calls.detail("field_computers.current_location", {"id": id}))

    def locations(
        self,
        id: str | int,
        *,
        page_size: int | None = None,
        page: int | None = None,
        on_error: str = "raise",
    ) -> AsyncLocationPages:
        """Like `Client.field_computers.locations`, as a list that `async for` reads."""
        return self._calls.locations("field_computers.locations", {"id": id}, page_size=page_size, page=page, on_error=on_error)
