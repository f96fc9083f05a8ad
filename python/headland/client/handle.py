"""The id of a conversion or a delivery, common to its handles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from headland import _core

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

Core = TypeVar("Core", _core.Conversion, _core.Delivery)


class Handle(Generic[Core]):
    """A conversion or a delivery, which another process can resume."""

    __slots__ = ("_calls", "_core")

    _core: Core

    def __init__(self, core: Core, calls: AbstractContextManager[None]) -> None:
        self._core = core
        self._calls = calls

    @property
    def id(self) -> str:
        """The id, with which another process resumes it: ``client.conversion(id)`` or ``client.delivery(id)``."""
        return self._core.id

    def __repr__(self) -> str:
        """Return the id for display."""
        return f"<{type(self).__name__} {self.id}>"
