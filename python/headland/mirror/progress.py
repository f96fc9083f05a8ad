"""How far a sync has come, in words; and who is told of it: a callable, a bar, the log."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from headland.escaping import printable
from headland.mirror import formatting, progress_bar

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    Told = dict[str, Any]
    Progress = Callable[[Told], object] | bool | None

LOG = logging.getLogger("headland.mirror")
# Who sets up no logging hears nothing: Python would print warnings on standard error.
LOG.addHandler(logging.NullHandler())

HEARTBEAT = 1.0
"""Seconds after which a callable is called even where nothing has changed, so that it can tell that time goes by."""

REFRESH = 0.2
"""Seconds between two looks of a bar."""


def line(told: Told, passed: float = 0.0) -> str:
    """Say in a line how far a sync is: calls, jobs, bytes, what it waits for, and how long it takes.

    Args:
        told: What the core tells.
        passed: The seconds since then.
    """
    calls = formatting.number(told["calls_done"], "call")
    match told["phase"]:
        case "lists":
            return f"reading the lists, {calls}"
        case "pulling":
            return ", ".join([f"{formatting.number(told['calls_left'], 'call')} left", *_pulling(told, passed)])
        case "publishing":
            return f"writing the dataset, {calls}, {formatting.size(told['bytes'])}"
        case "done":
            return f"done, {calls}, {formatting.size(told['bytes'])}"
        case _:
            return "beginning"


def _pulling(told: Told, passed: float) -> list[str]:
    jobs = told["jobs_done"] + told["jobs_left"]
    said = [f"{told['jobs_done']:,}/{jobs:,} files", formatting.size(told["bytes"])]
    left = told["seconds_left"]
    if left is not None:
        said.append(f"about {formatting.span(max(left - passed, 0))}")
    if told["waiting_until"] is not None:
        said.append(f"conversion until {formatting.clock(told['waiting_until'])}")
    elif told["limit_until"] is not None:
        said.append(f"limit until {formatting.clock(told['limit_until'])}")
    return said


def share(told: Told) -> tuple[int, int]:
    """Give the calls that are done, and those of the whole; while the lists are read, nobody knows how many it has."""
    if told["phase"] in {"waiting", "lists"}:
        return 0, 1
    return told["calls_done"], told["calls_done"] + told["calls_left"]


class Watch:
    """Who is told of one run; called by the core, in the thread of the run, many times a second.

    Args:
        progress: A callable; ``None`` or ``True`` for a bar in a terminal or a notebook; ``False`` for none.
    """

    __slots__ = ("_bar", "_changed", "_heard", "_last", "_tell")

    def __init__(self, progress: Progress) -> None:
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise TypeError(f"`progress` takes a callable, True, False or None, not {type(progress).__name__}")
        self._tell = progress if callable(progress) else None
        self._bar = progress_bar.chosen() if progress is None or progress is True else None
        self._last: Told | None = None
        self._changed = self._heard = time.monotonic()

    def __call__(self, told: Told, events: list[tuple[bool, str]]) -> None:
        """Hear how far it is, and what has happened: whether it is bad, and what it is."""
        for is_bad, text in events:
            LOG.log(logging.WARNING if is_bad else logging.INFO, "%s", printable(text))
        now = time.monotonic()
        is_news = told != self._last
        if is_news:
            self._last, self._changed = told, now
        if self._tell is not None and (is_news or now - self._heard >= HEARTBEAT):
            self._heard = now
            self._tell(dict(told))
        if self._bar is not None and now - self._heard >= REFRESH:
            self._heard = now
            self._bar.show("", share(told), line(told, now - self._changed))

    def __enter__(self) -> Self:
        """Give the watch."""
        return self

    def __exit__(self, *_: object) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
