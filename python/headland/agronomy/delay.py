"""The delay of a sensor of a combine, and the curve that it is the minimum of."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from headland.display.delay_chart import draw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headland.display.map import Map


MAX_NAMED = 3
"""Machines whose delays are listed in one line; of more, the range is."""


class MachineDelay(TypedDict):
    """The delay of one machine."""

    seconds: float | None
    """Seconds from cutting to the sensor; ``None`` if there is no shift."""
    curve: list[tuple[float, float]]
    """Shifts in seconds, each with the mean difference of neighbouring passes divided by that of random pairs."""
    pairs: int
    """Number of pairs of rows that were compared."""
    contrast: float | None
    """(median - minimum) / median of the curve."""
    halves: tuple[float, float] | None
    """Estimates from passes with even and with odd numbers."""
    reason: str | None
    """Why there is no estimate."""


class Delay:
    """The delay of a sensor. Attributes are those of the machine with the most pairs; `machines` has all of them.

    Keys of `machines` are numbers, or texts such as ``"31, machine 2"`` with the job if the layer has several.

    >>> cleaned.delay.seconds
    >>> cleaned.delay.plot()
    """

    __slots__ = ("_name", "machines")

    def __init__(self, name: str, delays: Sequence[tuple[str | None, int, MachineDelay]]) -> None:
        self._name = name
        self.machines: dict[int | str, MachineDelay] = {
            machine if job is None else f"{job}, machine {machine}": delay for job, machine, delay in delays
        }

    @property
    def _main(self) -> MachineDelay | None:
        return max(self.machines.values(), key=lambda delay: delay["pairs"], default=None)

    @property
    def seconds(self) -> float | None:
        """Seconds from cutting to the sensor; ``None`` if nothing was shifted."""
        return None if self._main is None else self._main["seconds"]

    @property
    def curve(self) -> list[tuple[float, float]]:
        """Shifts in seconds, and how much neighbouring passes differ; empty without an estimate."""
        return [] if self._main is None else self._main["curve"]

    @property
    def pairs(self) -> int:
        """Number of pairs of rows that were compared."""
        return 0 if self._main is None else self._main["pairs"]

    @property
    def contrast(self) -> float | None:
        """Depth of the minimum: (median - minimum) / median of the curve.

        There is no estimate if it is below 0.08, for all pairs or for those of neighbouring passes alone.
        """
        return None if self._main is None else self._main["contrast"]

    @property
    def halves(self) -> tuple[float, float] | None:
        """Estimates from passes with even and with odd numbers, which must agree."""
        return None if self._main is None else self._main["halves"]

    @property
    def reason(self) -> str | None:
        """Why there is no estimate; ``None`` if there is one."""
        return "the job has no such sensor" if self._main is None else self._main["reason"]

    def plot(self) -> Map:
        """Draw the curves of the machines, with the estimates as circles."""
        return draw(self._name, self.machines)

    def _repr_svg_(self) -> str:
        """Return the chart for notebooks."""
        return self.plot().svg

    def __str__(self) -> str:
        """Return the delays in one line."""
        texts = [
            f"{delay['reason']}" if delay["seconds"] is None else f"{delay['seconds']:.1f} s"
            for delay in self.machines.values()
        ]
        if len(texts) > MAX_NAMED:
            found = [delay["seconds"] for delay in self.machines.values() if delay["seconds"] is not None]
            rest = len(texts) - len(found)
            without = f", {rest} without an estimate" if rest else ""
            span = f": {min(found):.1f} to {max(found):.1f} s" if found else ""
            return f"delay of the {self._name}, {len(texts)} machines{span}{without}"
        several = len(texts) > 1
        named = [
            text if not several else f"{'job' if isinstance(machine, str) else 'machine'} {machine}: {text}"
            for machine, text in zip(self.machines, texts, strict=True)
        ]
        return f"delay of the {self._name}: {', '.join(named) or 'none'}"

    def __repr__(self) -> str:
        """Return the delays in one line."""
        return f"<{self}>"
