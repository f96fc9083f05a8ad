# Generated from the table in `src/api`; change that and run `make generate`.
"""Batches of the dispatch service. As coroutines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headland.client.call_group import CallGroup

if TYPE_CHECKING:
    from typing import Any

    from headland.client.calls import AsyncCalls
    from headland.client.pages import AsyncPages


class AsyncDispatchBatches(CallGroup):
    """Batches of the dispatch service."""

    __slots__ = ("_calls",)

    def __init__(self, calls: AsyncCalls) -> None:
        """Bind the group to its client's calls."""
        self._calls = calls

    def active(self, *, page_size: int | None = None, page: int | None = None) -> AsyncPages[dict[str, Any]]:
        """Like `Client.dispatch.batches.active`, as a list that `async for` reads."""
        return self._calls.pages("dispatch.batches.active", {}, page_size=page_size, page=page)
