"""Raw lists of the dispatch service and the legacy order service: each page is asked for with a token of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from headland import _core

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from headland.tokens import Tokens

Outcome = TypeVar("Outcome")

NONE = _core.Secret(None)
"""No token."""


class Listing:
    """Does what the core's `Pages` do, with tokens."""

    __slots__ = ("_core", "_tokens")

    def __init__(self, core: _core.Listing, tokens: Tokens) -> None:
        self._core = core
        self._tokens = tokens

    def next_page(self) -> list[dict[str, Any]] | None:
        """Give the records of the next page, ``None`` after the last."""
        return self._bear(self._core.next_page)

    async def next_page_async(self) -> list[dict[str, Any]] | None:
        """Give the records of the next page, ``None`` after the last."""
        return await self._bear_async(self._core.next_page_async)

    def total(self) -> int | None:
        """Give the count of the whole list, ``None`` where the service does not say."""
        return self._bear(self._core.total)

    async def total_async(self) -> int | None:
        """Give the count of the whole list, ``None`` where the service does not say."""
        return await self._bear_async(self._core.total_async)

    def _bear(self, call: Callable[[_core.Secret], Outcome]) -> Outcome:
        # Nobody is asked for a token where no request is made.
        return self._tokens.bear(call) if self._core.asks() else call(NONE)

    async def _bear_async(self, call: Callable[[_core.Secret], Awaitable[Outcome]]) -> Outcome:
        return await (self._tokens.bear_async(call) if self._core.asks() else call(NONE))
