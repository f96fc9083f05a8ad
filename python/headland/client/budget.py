"""The rest of the rate limit, shown as text and as HTML."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

from headland import _core
from headland.display.tables import table_html, text_table

HEAD = ("window", "calls", "used", "free")
"""Titles of the table of windows."""


class WindowUse(NamedTuple):
    """A window of the limit and the number of calls in it."""

    calls: int
    seconds: float
    used: int


class Budget(NamedTuple):
    """The rest of the rate limit."""

    remaining: int | None
    """Calls that may start now; ``None`` if the limiter is disabled."""
    next_call_in: float
    """Seconds until the next call may start; 0 if one may start now."""
    reset_in: float
    """Seconds until the whole budget is available again."""
    windows: list[WindowUse]
    """Each window with the number of calls in it."""
    service_wait: float | None = None
    """Seconds of waiting that the service requested, at most 86400, if calls are stopped for it; otherwise ``None``.

    ``next_call_in`` may be shorter: a wait of more than five minutes counts only after the service has requested it
    twice.
    """

    def __repr__(self) -> str:
        """Return the calls that may start now, and a table of the windows."""
        return "\n".join([self._summary(), *(f"  {line}" for line in text_table(HEAD, self._rows()) if self.windows)])

    def _repr_html_(self) -> str:
        """Return the same as HTML."""
        table = table_html(HEAD, self._rows()) if self.windows else ""
        return f"<div><p>{escape(self._summary())}</p>{table}</div>"

    def _summary(self) -> str:
        """Return the calls that may start now and the waits as one line."""
        if self.remaining is None:
            text = "calls may start at any time: the rate limiter is disabled"
        else:
            text = f"{self.remaining:,} {'call' if self.remaining == 1 else 'calls'} may start now"
        if self.next_call_in > 0:
            text += f"; the next one in {_core.format_span(self.next_call_in)}"
        if self.reset_in > 0:
            text += f"; all of them in {_core.format_span(self.reset_in)}"
        if self.service_wait is not None:
            text += f"; the service requested a wait of {_core.format_span(self.service_wait)}"
        return text

    def _rows(self) -> list[list[object]]:
        """Return a row for each window."""
        return [[f"{each.seconds:g} s", each.calls, each.used, max(each.calls - each.used, 0)] for each in self.windows]


def budget_of(facts: _core._Budget) -> Budget:
    """Create it from the values of the core."""
    return Budget(**{**facts, "windows": [WindowUse(*window) for window in facts["windows"]]})  # type: ignore[arg-type]
