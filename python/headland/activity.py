"""Logs requests and waits of all clients to the logger ``headland``, and shows long waits."""

from __future__ import annotations

import contextlib
import logging
import sys
import traceback

from headland.display.escaping import printable
from headland.display.waiting_line import LINE

LOG = logging.getLogger("headland")
# Without a handler, Python would print warnings on standard error.
LOG.addHandler(logging.NullHandler())

Event = tuple[str, int, str, float, bool | None]
"""Kind, number of the wait, text, expected seconds, and the client's `progress`."""


def logs_requests() -> bool:
    """Return whether the core has to pass requests, which are logged at level DEBUG."""
    return LOG.isEnabledFor(logging.DEBUG)


def receive(events: list[Event]) -> None:
    """Receive events from the core: requests are logged at level DEBUG, waits at INFO.

    A failing log handler does not fail a call, which may be of another client. A signal such as Ctrl-C ends the call
    after all events were received.
    """
    interrupt: BaseException | None = None
    for event in events:
        try:
            _receive_one(event)
        except Exception:  # noqa: BLE001 - a log handler can raise anything
            if logging.raiseExceptions and sys.stderr is not None:
                with contextlib.suppress(Exception):
                    traceback.print_exc()
        except BaseException as raised:  # noqa: BLE001 - raised again below
            interrupt = raised
    if interrupt is not None:
        raise interrupt


def _receive_one(event: Event) -> None:
    kind, wait, text, seconds, progress = event
    match kind:
        case "request":
            LOG.debug("%s", printable(text))
        case "wait":
            # Where the log is shown in the terminal, the line would repeat it and run into it.
            shown = False if _is_in_terminal() else progress
            LINE.begin(wait, printable(text), seconds, progress=shown)
            LOG.info("%s", printable(text))
        case _:
            LINE.end(wait)


def _is_in_terminal() -> bool:
    """Return whether waits are logged to standard output or standard error."""
    if not LOG.isEnabledFor(logging.INFO):
        return False
    logger: logging.Logger | None = LOG
    while logger is not None:
        for handler in logger.handlers:
            if getattr(handler, "stream", None) in (sys.stderr, sys.stdout) and handler.level <= logging.INFO:
                return True
        logger = logger.parent if logger.propagate else None
    return False
