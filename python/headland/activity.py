"""Logs requests and waits of all clients to the logger ``headland``, and shows long waits."""

from __future__ import annotations

import logging

from headland.escaping import printable
from headland.waiting_line import LINE

LOG = logging.getLogger("headland")
# Without a handler, Python would print warnings on standard error.
LOG.addHandler(logging.NullHandler())


def receive(events: list[tuple[str, int, str, float, bool | None]]) -> None:
    """Receive events from the core: kind, number of the wait, text, expected seconds, and the client's `progress`.

    Requests are logged at level DEBUG, waits at INFO.
    """
    for kind, wait, text, seconds, progress in events:
        match kind:
            case "request":
                LOG.debug("%s", printable(text))
            case "wait":
                LOG.info("%s", printable(text))
                LINE.begin(wait, printable(text), seconds, progress=progress)
            case _:
                LINE.end(wait)
