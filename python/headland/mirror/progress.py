"""Formats the progress of a sync and reports it to a callable, a progress bar and the log."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from headland import _core
from headland.display import progress_bar
from headland.display.escaping import printable
from headland.display.waiting_line import LINE
from headland.mirror import formatting

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    Snapshot = dict[str, Any]
    Progress = Callable[[Snapshot], object] | bool | None

LOG = logging.getLogger("headland.mirror")
# Without a handler, Python would print warnings on standard error.
LOG.addHandler(logging.NullHandler())

HEARTBEAT = 1.0
"""Seconds after which a callable is called without a change, so that it can show the passing of time."""

REFRESH = 0.2
"""Seconds between two updates of a progress bar."""


def line(snapshot: Snapshot, elapsed: float = 0.0) -> str:
    """Return the progress in one line: calls, jobs, bytes, the reason for waiting, and the time left.

    Args:
        snapshot: Progress from the core.
        elapsed: Seconds since the snapshot.
    """
    calls = formatting.counted(snapshot["calls_done"], "call")
    match snapshot["phase"]:
        case "lists":
            return ", ".join([f"reading the lists, {calls}", *_wait_parts(snapshot)])
        case "pulling":
            return ", ".join(
                [f"{formatting.counted(snapshot['calls_left'], 'call')} left", *_pulling_parts(snapshot, elapsed)]
            )
        case "publishing":
            return f"writing the dataset, {calls}, {_core.format_size(snapshot['bytes'])}"
        case "done":
            return f"done, {calls}, {_core.format_size(snapshot['bytes'])}"
        case _:
            return "beginning"


def _pulling_parts(snapshot: Snapshot, elapsed: float) -> list[str]:
    jobs = snapshot["jobs_done"] + snapshot["jobs_left"]
    parts = [f"{snapshot['jobs_done']:,}/{jobs:,} files", _core.format_size(snapshot["bytes"])]
    left = snapshot["seconds_left"]
    if left is not None:
        parts.append(f"about {_core.format_span(left - elapsed)}")
    return [*parts, *_wait_parts(snapshot)]


def _wait_parts(snapshot: Snapshot) -> list[str]:
    """Return what is waited for, if there is nothing else to do."""
    for reason, until in (("conversion", snapshot["waiting_until"]), ("limit", snapshot["limit_until"])):
        if until is not None:
            return [f"{reason} until {formatting.clock(until)}"]
    return []


def fraction(snapshot: Snapshot) -> tuple[int, int]:
    """Return finished and total calls; the total is unknown while the lists are read."""
    if snapshot["phase"] in {"waiting", "lists"}:
        return 0, 1
    return snapshot["calls_done"], snapshot["calls_done"] + snapshot["calls_left"]


class ProgressReporter:
    """Reports the progress of one run; called by the core in the thread of the run, several times a second.

    Args:
        progress: A callable; ``None`` or ``True`` for a progress bar in a terminal or a notebook; ``False`` for none.
    """

    __slots__ = ("_bar", "_callback", "_changed", "_last", "_reported_at")

    def __init__(self, progress: Progress) -> None:
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise TypeError(f"`progress`: expected a callable, True, False or None, got {type(progress).__name__}")
        self._callback = progress if callable(progress) else None
        self._bar = progress_bar.choose_display() if progress is None or progress is True else None
        self._last: Snapshot | None = None
        self._changed = self._reported_at = time.monotonic()

    def __call__(self, snapshot: Snapshot, events: list[tuple[bool, str]]) -> None:
        """Receive the progress and events; an event is whether it is bad, and its text."""
        for is_bad, text in events:
            LOG.log(logging.WARNING if is_bad else logging.INFO, "%s", printable(text))
        now = time.monotonic()
        has_changed = snapshot != self._last
        if has_changed:
            self._last, self._changed = snapshot, now
        if self._callback is not None and (has_changed or now - self._reported_at >= HEARTBEAT):
            self._reported_at = now
            self._callback(dict(snapshot))
        if self._bar is not None and now - self._reported_at >= REFRESH:
            self._reported_at = now
            self._bar.show("", fraction(snapshot), line(snapshot, now - self._changed))

    def __enter__(self) -> Self:
        """Return the reporter; the progress states what the run waits for, so the waiting line would repeat it."""
        LINE.redirect(self._ignore_wait)
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the progress bar."""
        LINE.restore(self._ignore_wait)
        if self._bar is not None:
            self._bar.close()

    def _ignore_wait(self, wait: str) -> None:
        """Show no second text."""


class StepReporter:
    """Shows the steps of a run in a progress bar: finished and all steps, and the current one."""

    __slots__ = ("_bar", "_done", "count")

    def __init__(self, *, is_shown: bool) -> None:
        self._bar = progress_bar.choose_display() if is_shown else None
        self._done = self.count = 0

    def __call__(self, text: str) -> None:
        """Begin a step."""
        if self._bar is not None:
            self._bar.show("", (self._done, self.count), f"{self._done:,}/{self.count:,} {printable(text)}")
        self._done += 1

    def __enter__(self) -> Self:
        """Return the reporter, which replaces the waiting line."""
        if self._bar is not None:
            LINE.redirect(self._ignore_wait)
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the progress bar."""
        if self._bar is not None:
            LINE.restore(self._ignore_wait)
            self._bar.close()

    def _ignore_wait(self, wait: str) -> None:
        """Show no second text."""
