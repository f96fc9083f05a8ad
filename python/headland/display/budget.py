"""Shows the rest of the rate limit as text and as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from headland import _core
from headland.display.tables import table_html, text_table

if TYPE_CHECKING:
    from headland.client.client import Budget

HEAD = ("window", "calls", "used", "free")
"""Titles of the table of windows."""


def budget_text(budget: Budget) -> str:
    """Return the calls that may start now, the waits, and a line for each window."""
    return "\n".join([summary(budget), *(f"  {line}" for line in text_table(HEAD, rows(budget)) if budget.windows)])


def budget_html(budget: Budget) -> str:
    """Return the same as an HTML table."""
    table = table_html(HEAD, rows(budget)) if budget.windows else ""
    return f"<div><p>{escape(summary(budget))}</p>{table}</div>"


def summary(budget: Budget) -> str:
    """Return the calls that may start now and the waits as one line."""
    if budget.remaining is None:
        text = "calls may start at any time: the rate limiter is disabled"
    else:
        text = f"{budget.remaining:,} {'call' if budget.remaining == 1 else 'calls'} may start now"
    if budget.next_call_in > 0:
        text += f"; the next one in {_core.format_span(budget.next_call_in)}"
    if budget.reset_in > 0:
        text += f"; all of them in {_core.format_span(budget.reset_in)}"
    if budget.service_wait is not None:
        text += f"; the service requested a wait of {_core.format_span(budget.service_wait)}"
    return text


def rows(budget: Budget) -> list[list[object]]:
    """Return a row for each window."""
    return [[f"{each.seconds:g} s", each.calls, each.used, max(each.calls - each.used, 0)] for each in budget.windows]
