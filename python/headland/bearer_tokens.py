"""Bearer tokens of the dispatch service and the legacy order service."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from headland import _core
from headland.errors import AuthenticationError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

Outcome = TypeVar("Outcome")

UNAUTHORIZED = 401


class TokenSource:
    """The source of one service's tokens, always hidden in a `Secret`.

    A callable is called before each request. After a 401 it is called once more and the request is repeated, because a
    refused request has no effect.
    """

    __slots__ = ("_argument", "_source")

    def __init__(self, argument: str, source: _core.Secret) -> None:
        self._argument = argument
        self._source = source

    def call_with_token(self, call: Callable[[_core.Secret], Outcome]) -> Outcome:
        """Make a call with a token."""
        try:
            return call(self._get_token())
        except AuthenticationError as refused:
            if not self._may_be_stale(refused):
                raise
        return call(self._get_token())

    async def call_with_token_async(self, call: Callable[[_core.Secret], Awaitable[Outcome]]) -> Outcome:
        """Make a call with a token, which a coroutine may return."""
        try:
            return await call(await self._await_token())
        except AuthenticationError as refused:
            if not self._may_be_stale(refused):
                raise
        return await call(await self._await_token())

    def _may_be_stale(self, refused: AuthenticationError) -> bool:
        return refused.status == UNAUTHORIZED and self._source.is_callable()

    def _get_token(self) -> _core.Secret:
        token = self._source.get_token()
        if token.is_awaitable():
            token.close()
            raise TypeError(f"`{self._argument}` returned a coroutine, which `Client` cannot await: use `AsyncClient`")
        return token

    async def _await_token(self) -> _core.Secret:
        token = self._source.get_token()
        return _core.Secret(await token) if token.is_awaitable() else token
