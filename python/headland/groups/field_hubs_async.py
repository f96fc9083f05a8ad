# Generated from the table in `src/api`; change that and run `make generate`.
"""Field hubs: the modems that report where machines are and how their inputs stand. As coroutines."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from headland.client.call_group import CallGroup

if TYPE_CHECKING:
    import datetime as dt

    from headland.client.calls import AsyncCalls
    from headland.client.locations import AsyncLocationPages
    from headland.client.pages import AsyncPages
    from headland.records import DeviceLocation, FieldHubDetail, FieldHubItem


class AsyncFieldHubs(CallGroup):
    """Field hubs: the modems that report where machines are and how their inputs stand."""

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
    ) -> AsyncPages[FieldHubItem]:
        """Like `Client.field_hubs.list`, as a list that `async for` reads."""
        return self._calls.pages("field_hubs.list", {}, page_size=page_size, page=page, on_error=on_error)

    async def get(self, id: str | int) -> FieldHubDetail | None:
        """Like `Client.field_hubs.get`, as a coroutine."""
        return cast("FieldHubDetail | None", await self._calls.detail("field_hubs.get", {"id": id}))

    def reports(
        self,
        *,
        page_size: int | None = None,
        page: int | None = None,
        on_error: str = "raise",
    ) -> AsyncPages[FieldHubDetail]:
        """Like `Client.field_hubs.reports`, as a list that `async for` reads."""
        return self._calls.pages("field_hubs.reports", {}, page_size=page_size, page=page, on_error=on_error)

    def current_locations(
        self,
        *,
        page_size: int | None = None,
        page: int | None = None,
        on_error: str = "raise",
    ) -> AsyncLocationPages:
        """Like `Client.field_hubs.current_locations`, as a list that `async for` reads."""
        return self._calls.locations("field_hubs.current_locations", {}, page_size=page_size, page=page, on_error=on_error)

    async def current_location(self, id: str | int) -> DeviceLocation | None:
        """Like `Client.field_hubs.current_location`, as a coroutine."""
        return cast("DeviceLocation | None", await self._calls.detail("field_hubs.current_location", {"id": id}))

    def locations(
        self,
        id: str | int,
        *,
        date: str | dt.date | dt.datetime | None = None,
        page_size: int | None = None,
        page: int | None = None,
        on_error: str = "raise",
    ) -> AsyncLocationPages:
        """Like `Client.field_hubs.locations`, as a list that `async for` reads."""
        return self._calls.locations("field_hubs.locations", {"id": id, "date": date}, page_size=page_size, page=page, on_error=on_error)
