# Generated from the table in `src/api`; change that and run `make generate`.
"""Equipment of the dispatch service, and the work that is assigned to it. As coroutines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headland.client.call_group import CallGroup

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from headland.client.calls import AsyncCalls
    from headland.client.pages import AsyncPages


class AsyncDispatchEquipment(CallGroup):
    """Equipment of the dispatch service, and the work that is assigned to it."""

    __slots__ = ("_calls",)

    def __init__(self, calls: AsyncCalls) -> None:
        """Bind the group to its client's calls."""
        self._calls = calls

    def operations(
        self,
        id: str | int,
        *,
        page_size: int | None = None,
        page: int | None = None,
    ) -> AsyncPages[dict[str, Any]]:
        """Like `Client.dispatch.equipment.operations`, as a list that `async for` reads."""
        return self._calls.pages("dispatch.equipment.operations", {"id": id}, page_size=page_size, page=page)

    async def assign(self, id: str | int, body: Mapping[str, object]) -> Any:
        """Like `Client.dispatch.equipment.assign`, as a coroutine."""
        return await self._calls.payload("dispatch.equipment.assign", {"id": id, "body": body})
