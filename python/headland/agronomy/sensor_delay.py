"""The delay of a combine's sensor, and a chart of how well neighbouring passes agree at each shift."""

from __future__ import annotations

import html
import math
import textwrap
from typing import TYPE_CHECKING, TypedDict

from headland.display.map import Map

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_NAMED = 3
"""Machines whose delays are listed in one line; of more, the range is."""

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 480, 260, 46, 40, 30, 12
"""Pixels of the chart and its margins."""

COLOURS = ("#1b6ca8", "#c2571a", "#3a7d34", "#7a4fa3")
"""Colours of the machines."""

MAX_REASON = 70
"""Characters of a reason that are shown."""

FIRST, LAST = -5.0, 25.0
"""Shifts on the axis, in seconds."""


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
        return _draw(self._name, self.machines)

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


def _draw(name: str, machines: Mapping[int | str, MachineDelay]) -> Map:
    """Draw one line for each machine."""
    scores = [score for delay in machines.values() for _, score in delay["curve"]]
    highest = max([1.0, *scores]) * 1.05
    across, up = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def x(seconds: float) -> float:
        return LEFT + (seconds - FIRST) / (LAST - FIRST) * across

    def y(score: float) -> float:
        return TOP + (1 - score / highest) * up

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"',
        ' font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>',
        f'<text x="{LEFT}" y="18" fill="#222">Delay of the {html.escape(name)}</text>',
    ]
    parts += [
        f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{TOP}" y2="{TOP + up}" stroke="#ddd"/>'
        f'<text x="{x(tick):.1f}" y="{TOP + up + 16}" text-anchor="middle" fill="#555">{tick}</text>'
        for tick in range(-5, 26, 5)
    ]
    parts += [
        f'<text x="{LEFT - 6}" y="{y(score) + 4:.1f}" text-anchor="end" fill="#555">{score:g}</text>'
        f'<line x1="{LEFT}" x2="{LEFT + across}" y1="{y(score):.1f}" y2="{y(score):.1f}" stroke="#eee"/>'
        for score in (0.0, 0.5, 1.0)
    ]
    parts.append(
        f'<text x="{LEFT + across / 2}" y="{HEIGHT - 6}" text-anchor="middle" fill="#222">shift in seconds '
        "(height: difference of neighbouring passes)</text>"
    )
    refused = next((delay["reason"] for delay in machines.values() if delay["reason"]), None)
    if refused is not None:
        text = html.escape(textwrap.shorten(refused, MAX_REASON))
        parts.append(f'<text x="{LEFT + 4}" y="{TOP + up - 6}" fill="#8a1f11">{text}</text>')
    for index, (machine, delay) in enumerate(machines.items()):
        colour = COLOURS[index % len(COLOURS)]
        points = " ".join(f"{x(at):.1f},{y(score):.1f}" for at, score in delay["curve"] if not math.isnan(score))
        seconds = delay["seconds"]
        label = "no estimate" if seconds is None else f"{seconds:.1f} s"
        kind = "job" if isinstance(machine, str) else "machine"
        label = f"{kind} {machine}: {label}" if len(machines) > 1 else label
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        if seconds is not None and delay["curve"]:
            lowest = min(delay["curve"], key=lambda point: abs(point[0] - seconds))[1]
            parts.append(f'<circle cx="{x(seconds):.1f}" cy="{y(lowest):.1f}" r="5" fill="{colour}"/>')
        height = TOP + 14 + 14 * index
        parts.append(f'<text x="{LEFT + across - 4}" y="{height}" text-anchor="end" fill="{colour}">{label}</text>')
    return Map("".join([*parts, "</svg>"]), None, f"the delay of the {name}")
