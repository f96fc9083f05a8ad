# Generated from the table in `src/api`; change that and run `make generate`.
"""Work orders of the legacy order service, which the dispatch service replaces. As coroutines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headland.client.call_group import CallGroup

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from headland.client.calls import AsyncCalls
    from headland.client.pages import AsyncPages


class AsyncLegacyOrders(CallGroup):
    """Work orders of the legacy order service, which the dispatch service replaces."""

    __slots__ = ("_calls",)

    def __init__(self, calls: AsyncCalls) -> None:
        """Bind the group to its client's calls."""
        self._calls = calls

    def work_orders(self, *, page_size: int | None = None, page: int | None = None) -> AsyncPages[dict[str, Any]]:
        """Like `Client.legacy_orders.work_orders`, as a list that `async for` reads."""
        return self._calls.pages("legacy_orders.work_orders", {}, page_size=page_size, page=page)

    async def create_order(self, body: Mapping[str, object]) -> Any:
        """Like `Client.legacy_orders.create_order`, as a coroutine."""
        return await self._calls.payload("legacy_orders.create_order", {"body": body})

    async def update_order(self, body: Mapping[str, object]) -> Any:
        """Like `Client.legacy_orders.update_order`, as a coroutine."""
        return await self._calls.payload("legacy_orders.update_order", {"body": body})

    async def delete_order(self, id: str | int) -> Any:
        """Like `Client.legacy_orders.delete_order`, as a coroutine."""
        return await self._calls.payload("legacy_orders.delete_order", {"id": id})

    async def reassign(self, body: Mapping[str, object]) -> Any:
        """Like `Client.legacy_orders.reassign`, as a coroutine."""
        return await self._calls.payload("legacy_orders.reassign", {"body": body})

    async def completion_requirements(self) -> Any:
        """Like `Client.legacy_orders.completion_requirements`, as a coroutine."""
        return await self._calls.payload("legacy_orders.completion_requirements", {})

    async def create_completion(self, body: Mapping[str, object]) -> Any:
        """Like `Client.legacy_orders.create_completion`, as a coroutine."""
        return await self._calls.payload("legacy_orders.create_completion", {"body": body})

    async def update_completion(self, body: Mapping[str, object]) -> Any:
        """Like `Client.legacy_orders.update_completion`, as a coroutine."""
        return await self._calls.payload("legacy_orders.update_completion", {"body": body})

    async def delete_completion(self, order_id: str | int) -> Any:
        """Like `Client.legacy_orders.delete_completion`, as a coroutine."""
        return await self._calls.payload("legacy_orders.delete_completion", {"order_id": order_id})

    def products(
        self,
        account_id: str | int,
        *,
        page_size: int | None = None,
        page: int | None = None,
    ) -> AsyncPages[dict[str, Any]]:
        """Like `Client.legacy_orders.products`, as a list that `async for` reads."""
        return self._calls.pages("legacy_orders.products", {"account_id": account_id}, page_size=page_size, page=page)

    def blends(self, *, page_size: int | None = None, page: int | None = None) -> AsyncPages[dict[str, Any]]:
        """Like `Client.legacy_orders.blends`, as a list that `async for` reads."""
        return self._calls.pages("legacy_orders.blends", {}, page_size=page_size, page=page)
