"""Shows what calls wait for, on standard error or in a notebook, in one line that vanishes when the wait ends.

Where standard error is a log, each wait is a line that stays.
"""

from __future__ import annotations

import atexit
import contextlib
import html
import math
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from headland.display.terminal import has_display, is_notebook, terminal_width

if TYPE_CHECKING:
    from collections.abc import Callable

MIN_SECONDS = 2.0
"""Shorter waits show no line."""

LOGGED_SECONDS = 60.0
"""Seconds after which a wait is written to a log again."""

MAX_OVERDUE = 60.0
"""Seconds after its expected end for which a wait is shown."""


class Wait(NamedTuple):
    """A wait of a call, in seconds of the monotonic clock."""

    text: str
    begun: float
    end: float
    """When it probably ends."""


class WaitingLine:
    """The line of this process; calls of several threads and tasks share it."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin without waits, also in the child of a fork, where the threads that wait do not exist."""
        self._waits: dict[int, Wait] = {}
        self._width = 0
        self._logged: dict[int, float] = {}
        self._targets: list[Callable[[str], None]] = []
        self._cell: int | None = None
        self._display: Any = None
        self._lock = threading.RLock()

    def begin(self, wait: int, text: str, seconds: float, *, progress: bool | None) -> None:
        """Show a wait that lasts two seconds or longer, or its new text."""
        if progress is False or not (progress or has_display()):
            return
        with self._lock:
            now = time.monotonic()
            known = self._waits.get(wait)
            self._waits[wait] = Wait(text, now if known is None else known.begun, now + seconds)
            self._draw()

    def end(self, wait: int) -> None:
        """Remove a wait."""
        with self._lock:
            if self._waits.pop(wait, None) is not None:
                self._draw()

    def clear(self) -> None:
        """Remove the line, because the process ends."""
        with self._lock:
            if self._waits:
                self._waits.clear()
                self._draw()

    def redirect(self, show: Callable[[str], None]) -> None:
        """Pass the text to `show`, which shows it in a progress bar on the same stream, until `restore`."""
        with self._lock:
            self._write("")
            self._targets.append(show)

    def restore(self, show: Callable[[str], None]) -> None:
        """Show the line again."""
        with self._lock:
            if show in self._targets:
                self._targets.remove(show)
            self._draw()

    def _draw(self) -> None:
        """Replace the shown line by the wait that ends last; several waits are counted."""
        text, number = "", -1
        now = time.monotonic()
        # The end of an overdue wait was lost with an interrupted call.
        self._waits = {each: wait for each, wait in self._waits.items() if wait.end + MAX_OVERDUE >= now}
        long = {each: wait for each, wait in self._waits.items() if wait.end - wait.begun >= MIN_SECONDS}
        if long:
            number = max(long, key=lambda each: long[each].end)
            text = long[number].text
            if len(long) > 1:
                text += f" ({len(long)} calls wait)"
        if self._targets:
            self._targets[-1](text)
        elif has_display():
            self._write(text)
        elif text:
            self._log(number, text, now)

    def _log(self, wait: int, text: str, now: float) -> None:
        """Write the text of a wait as a line that stays, and of a long one again after a while."""
        self._logged = {each: logged for each, logged in self._logged.items() if each in self._waits}
        if sys.stderr is None or now < self._logged.get(wait, -math.inf) + LOGGED_SECONDS:
            return
        self._logged[wait] = now
        with contextlib.suppress(Exception):
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()

    def _write(self, text: str) -> None:
        if is_notebook():
            with contextlib.suppress(Exception):
                self._publish(text)
            return
        out = sys.stderr
        if out is None or not (text or self._width):
            return
        text = text[: terminal_width(out) - 1]
        # Blanks work in every terminal, and in logs of terminals that keep control sequences.
        # The display is not worth a failed call: standard error may be closed or an object of the program.
        with contextlib.suppress(Exception):
            out.write("\r" + " " * self._width + "\r" + text)
            out.flush()
        self._width = len(text)

    def _publish(self, text: str) -> None:
        """Show the text in the output of the current cell: a stored notebook would keep the text of standard error."""
        from IPython import get_ipython
        from IPython.display import display

        cell = get_ipython().execution_count
        if cell != self._cell:
            if not text:
                return
            self._cell, self._display = cell, None
        shown = {"text/plain": text, "text/html": f"<small>{html.escape(text)}</small>" if text else ""}
        if self._display is None:
            self._display = display(shown, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._display.update(shown, raw=True)


LINE = WaitingLine()
"""The line of this process."""

atexit.register(LINE.clear)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=LINE.reset)
