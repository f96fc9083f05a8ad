"""Lists of columns and of diagnostics, which consoles and notebooks show as tables."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from headland.display.tables import Listing

if TYPE_CHECKING:
    from collections.abc import Callable


class Columns(Listing[Any]):
    """The columns of a layer with their types and nulls."""

    __slots__ = ()

    def _title(self) -> str:
        return f"{len(self):,} column{'' if len(self) == 1 else 's'}"

    def _columns(self) -> dict[str, Callable[[Any], object]]:
        return {name: attrgetter(name) for name in ("name", "type", "nulls")}


class Diagnostics(Listing[Any]):
    """What was repaired, assumed or lost, or what a display would refuse."""

    __slots__ = ()

    def _title(self) -> str:
        return f"{len(self):,} diagnostic{'' if len(self) == 1 else 's'}" if self else "no diagnostics"

    def _columns(self) -> dict[str, Callable[[Any], object]]:
        names = ("severity", "code", "record", "message")
        shown = [name for name in names if name != "record" or any(each.record is not None for each in self)]
        return {name: attrgetter(name) for name in shown}
