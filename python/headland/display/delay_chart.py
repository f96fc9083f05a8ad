"""Draws the curve of a delay as SVG."""

from __future__ import annotations

import html
import math
import textwrap
from typing import TYPE_CHECKING

from headland.display.map import Map

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headland.agronomy.delay import MachineDelay

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 480, 260, 46, 40, 30, 12
"""Pixels of the chart and its margins."""

COLOURS = ("#1b6ca8", "#c2571a", "#3a7d34", "#7a4fa3")
"""Colours of the machines."""

MAX_REASON = 70
"""Characters of a reason that are shown."""

FIRST, LAST = -5.0, 25.0
"""Shifts on the axis, in seconds."""


def draw(name: str, machines: Mapping[int | str, MachineDelay]) -> Map:
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
