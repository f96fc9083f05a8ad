"""Handles of prescription maps on their way to a field computer."""

from __future__ import annotations

from typing import Self

from headland import _core, arguments
from headland.client.handle import Handle


class Delivery(Handle[_core.Delivery]):
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


class AsyncDelivery(Handle[_core.Delivery]):
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
