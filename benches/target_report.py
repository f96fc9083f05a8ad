"""Defines targets: a figure with its bound, and the table of those that are met."""

from __future__ import annotations

import os
import statistics
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Target:
    """One figure, its bound, and whether it is met."""

    name: str
    value: float
    bound: float
    detail: str
    at_least: bool = False

    @property
    def is_met(self) -> bool:
        """Whether the target is met."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound


def share_a_core() -> None:
    """Pin this process, and those that it starts later, to one core.

    Otherwise each call may wake the server on a sleeping core, depending on other load. On a virtual machine, that
    takes more time than the call itself, and it counts as the caller's time.
    """
    if sys.platform == "linux":
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def medians(work: Callable[[], list[Target]], runs: int) -> list[Target]:
    """Return each target's run with the median value, since machines are noisy."""
    rounds = [work() for _ in range(runs)]
    return [sorted(column, key=lambda target: target.value)[len(column) // 2] for column in zip(*rounds, strict=True)]


def report(targets: list[Target], runs: int) -> int:
    """Print the targets; 1 if one is missed."""
    for target in targets:
        word = "at least" if target.at_least else "at most"
        mark = "ok  " if target.is_met else "MISS"
        print(f"{mark}  {target.name:32} {target.value:8.4f}  {word} {target.bound:g}   {target.detail}")
    print(f"median of {runs} runs; {statistics.mean(target.is_met for target in targets):.0%} of the targets are met")
    return 0 if all(target.is_met for target in targets) else 1
