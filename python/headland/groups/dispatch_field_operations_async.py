# Generated from the table in `src/api`; change that and run `make generate`.
"""Field operations: work orders of the dispatch service, their mixes, targets and completions. As coroutines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headland.client.call_group import CallGroup

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from headland.client.calls import AsyncCalls


class AsyncDispatchFieldOperations(CallGroup):
    """Field operations: work orders of the dispatch service, their mixes, targets and completions."""

    __slots__ = ("_calls",)

    def __init__(self, calls: AsyncCalls) -> None:
        """Bind the group to its client's calls."""
        self._calls = calls

    async def create(self, body: Mapping[str, object]) -> Any:
        """Like `Client.dispatch.field_operations.create`, as a coroutine."""
        return await self._calls.payload("dispatch.field_operations.create", {"body": body})

    async def release(self, id: str | int) -> Any:
        """Like `Client.dispatch.field_operations.release`, as a coroutine."""
        return await self._calls.payload("dispatch.field_operations.release", {"id": id})

    async def set_mix(self, id: str | int, body: Mapping[str, object]) -> Any:
        """Like `Client.dispatch.field_operations.set_mix`, as a coroutine."""
        return await self._calls.payload("dispatch.field_operations.set_mix", {"id": id, "body": body})

    async def set_mixes(self, id: str | int, body: Mapping[str, object] | Sequence[object]) -> Any:
        """Like `Client.dispatch.field_operations.set_mixes`, as a coroutine."""
        return await self._calls.payload("dispatch.field_operations.set_mixes", {"id": id, "body": body})

    async def set_target(self, id: str | int, body: Mapping[str, object]) -> Any:
        """Like `Client.dispatch.field_operations.set_target`, as a coroutine."""
        return await self._calls.payload("dispatch.field_operations.set_target", {"id": id, "body": body})

    async def delete(self, id: str | int) -> Any:
        """Like `Client.dispatch.field_operations.delete`, as a coroutine."""
        return await self._calls.payload("dispatch.field_operations.delete", {"id": id})

    async def requirements(self, operation: str | int) -> Any:
        """Like `Client.dispatch.field_operations.requirements`, as a coroutine."""
        return await self._calls.payload("dispatch.field_operations.requirements", {"operation": operation})

    async def set_requirements(self, operation: str | int, body: Mapping[str, object]) -> Any:
        """Like `Client.dispatch.field_operations.set_requirements`, as a coroutine."""
        return await self._calls.payload("dispatch.field_operations.set_requirements", {"operation": operation, "body": body})

    async def complete(self, id: str | int, body: Mapping[str, object]) -> Any:
        """Like `Client.dispatch.field_operations.complete`, as a coroutine."""
        return await self._calls.payload("dispatch.field_operations.complete", {"id": id, "body": body})

    async def modify_completion(self, id: str | int, completion_id: str | int, body: Mapping[str, object]) -> Any:
        """Like `Client.dispatch.field_operations.modify_completion`, as a coroutine."""
        return await self._calls.payload("dispatch.field_operations.modify_completion", {"id": id, "completion_id": completion_id, "body": body})

    async def delete_completion(self, id: str | int, completion_id: str | int) -> Any:
        """Like `Client.dispatch.field_operations.delete_completion`, as a coroutine."""
        return await self._calls.payload("dispatch.field_operations.delete_completion", {"id": id, "completion_id": completion_id})
