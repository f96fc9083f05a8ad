"""Bearer tokens of the dispatch service and the legacy order service."""

from __future__ import annotations

import os
import threading
import weakref
from typing import TYPE_CHECKING, TypeVar

from headland import _core
from headland.errors import AuthenticationError, ConfigurationError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable

Outcome = TypeVar("Outcome")

UNAUTHORIZED = 401

REFUSALS = (AuthenticationError, ConfigurationError, TypeError)
"""Errors after which the next call requests a new token: the service refused it, or it cannot be sent."""


class TokenSource:
    """The source of one service's tokens, always hidden in a `Secret`.

    A callable is called once for all threads and tasks, and its token is used until the service refuses it with a 401.
    Then it is called again and the request is repeated, because a refused request has no effect.
    """

    __slots__ = ("_argument", "_locks", "_loop_locks", "_source", "_token")

    def __init__(self, argument: str, source: _core.Secret) -> None:
        self._argument = argument
        self._source = source
        self._token: _core.Secret | None = None
        # By process: a lock that another thread holds during a fork stays locked in the child. A callable may itself
        # make calls of this client, and so may a signal handler.
        self._locks: dict[int, threading.RLock] = {}
        self._loop_locks: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = (
            weakref.WeakKeyDictionary()
        )

    def call_with_token(self, call: Callable[[_core.Secret], Outcome]) -> Outcome:
        """Make a call with a token."""
        try:
            return self._call(call)
        except AuthenticationError as refused:
            if not self._may_be_stale(refused):
                raise
        return self._call(call)

    async def call_with_token_async(self, call: Callable[[_core.Secret], Awaitable[Outcome]]) -> Outcome:
        """Make a call with a token, which a coroutine may return."""
        try:
            return await self._call_async(call)
        except AuthenticationError as refused:
            if not self._may_be_stale(refused):
                raise
        return await self._call_async(call)

    def _call(self, call: Callable[[_core.Secret], Outcome]) -> Outcome:
        token = self._get_token()
        try:
            return call(token)
        except REFUSALS:
            self._forget(token)
            raise

    async def _call_async(self, call: Callable[[_core.Secret], Awaitable[Outcome]]) -> Outcome:
        token = await self._await_token()
        try:
            return await call(token)
        except REFUSALS:
            self._forget(token)
            raise

    def _may_be_stale(self, refused: AuthenticationError) -> bool:
        return refused.status == UNAUTHORIZED and self._source.is_callable()

    def _forget(self, token: _core.Secret) -> None:
        """Request a new token for the next call, unless another call has already done so."""
        if self._token is token:
            self._token = None

    def _get_token(self) -> _core.Secret:
        known = self._token
        if known is not None:
            return known
        with self._locks.setdefault(os.getpid(), threading.RLock()):
            known = self._token
            if known is not None:
                return known
            token = self._source.get_token()
            if token.is_awaitable():
                token.close()
                raise TypeError(
                    f"`{self._argument}` returned a coroutine, which `Client` cannot await: use `AsyncClient`"
                )
            self._token = token
            return token

    async def _await_token(self) -> _core.Secret:
        known = self._token
        if known is not None:
            return known
        import asyncio  # A quarter of the time of `import headland`, so synchronous programs go without it.

        async with self._loop_locks.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            known = self._token
            if known is not None:
                return known
            token = self._source.get_token()
            if token.is_awaitable():
                token = _core.Secret(await token)
            self._token = token
            return token
