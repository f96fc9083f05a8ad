"""Bars: one figure each, what it may be at most, and the table that says which are met."""

from __future__ import annotations

import os
import statistics
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Bar:
    """One figure, what it must be, and whether it is."""

    name: str
    value: float
    bound: float
    told: str
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """Whether the bar is met."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    @classmethod
    def ratio(cls, name: str, theirs: float, ours: float, at_least: float) -> Bar:
        """So many times less CPU time than others take, in seconds."""
        told = f"{ours * 1e6:.1f} µs of CPU, theirs {theirs * 1e6:.1f}"
        return cls(name, theirs / ours, at_least, told, at_least=True)


def share_a_core() -> None:
    """Keep this process, and those that it starts from now on, on one core.

    Else each call wakes the server on a core that sleeps, or does not, as the neighbours have it: on a virtual machine
    that takes more time than the call itself, and it is the caller's time.
    """
    if sys.platform == "linux":
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def medians(work: Callable[[], list[Bar]], runs: int) -> list[Bar]:
    """Take each bar's run of median value, since machines are noisy."""
    rounds = [work() for _ in range(runs)]
    return [sorted(column, key=lambda bar: bar.value)[len(column) // 2] for column in zip(*rounds, strict=True)]


def report(bars: list[Bar], runs: int) -> int:
    """Print the bars; 1 where one is missed."""
    for bar in bars:
        word = "at least" if bar.at_least else "at most"
        print(f"{'ok  ' if bar.holds else 'MISS'}  {bar.name:32} {bar.value:8.4f}  {word} {bar.bound:g}   {bar.told}")
    print(f"median of {runs} runs; {statistics.mean(bar.holds for bar in bars):.0%} of the bars hold")
    return 0 if all(bar.holds for bar in bars) else 1
