"""Handles of prescription maps on their way to a field computer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from headland import arguments

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from headland import _core


class _Handle:
    """The id of a delivery, common to both handles."""

    __slots__ = ("_calls", "_core")

    def __init__(self, core: _core.Delivery, calls: AbstractContextManager[None]) -> None:
        self._core = core
        self._calls = calls

    @property
    def id(self) -> str:
        """The id, with which another process resumes the wait: ``client.delivery(id)``."""
        return self._core.id

    def __repr__(self) -> str:
        """Return the id for display."""
        return f"<{type(self).__name__} {self.id}>"


class Delivery(_Handle):
    """A prescription map on its way to a field computer, which fetches it when it is switched on and online.

    >>> try:
    ...     client.prescription_maps.send(map_id, computer_id, wait=True, timeout=60)
    ... except headland.NotReady as error:
    ...     Path("delivery.txt").write_text(error.handle)  # tomorrow: client.delivery(handle).wait()
    """

    __slots__ = ()

    def ready(self) -> bool:
        """Return whether the map is delivered; reads one list of the field computer, or two."""
        with self._calls:
            return self._core.ready()

    def wait(self, timeout: float | None = None) -> Self:
        """Wait until the map is delivered, at most `timeout` seconds (then ``NotReady``); default: the client's."""
        seconds = None if timeout is None else arguments.seconds("timeout", timeout)
        with self._calls:
            self._core.wait(seconds)
        return self


class AsyncDelivery(_Handle):
    """A prescription map on its way to a field computer, with coroutines."""

    __slots__ = ()

    async def ready(self) -> bool:
        """Return whether the map is delivered; reads one list of the field computer, or two."""
        with self._calls:
            return await self._core.ready_async()

    async def wait(self, timeout: float | None = None) -> Self:  # noqa: ASYNC109 - the twin of `Delivery.wait`
        """Wait until the map is delivered, at most `timeout` seconds (then ``NotReady``); default: the client's."""
        seconds = None if timeout is None else arguments.seconds("timeout", timeout)
        with self._calls:
            await self._core.wait_async(seconds)
        return self
