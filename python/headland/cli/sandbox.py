"""The verb ``sandbox``: runs the service on loopback until it is interrupted."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import headland as hl
from headland.cli.argument_parser import Verbs, add_verb
from headland.cli.output import print_json, print_text
from headland.client import settings
from headland.sandbox import sandbox

if TYPE_CHECKING:
    import argparse

POLL_INTERVAL = 0.05
"""Seconds between two checks for a signal."""


def add_sandbox(verbs: Verbs) -> None:
    """Add the verb ``sandbox``."""
    examples = ("sandbox", "sandbox --port 8080 --data state --json")
    verb = add_verb(verbs, "sandbox", _serve, "Run the whole service on loopback until interrupted.", examples)
    verb.add_argument("--port", type=int, default=0, metavar="PORT", help="the port; 0 selects a free one")
    verb.add_argument("--data", type=Path, metavar="DIR", help="store the state in DIR; by default, in memory")
    verb.add_argument("--seed", type=int, default=0, metavar="N", help="selects the generated account")
    verb.add_argument(
        "--harvest",
        choices=("ideal", "logged"),
        default="ideal",
        help="`logged` writes harvests as machines log them, with delays and faults",
    )
    verb.add_argument(
        "--rate-limit",
        action="append",
        metavar="CALLS/SECONDS",
        help="such as 30/60; repeat it, or separate by commas; `off` disables the limit",
    )
    verb.add_argument("--window", choices=("fixed", "sliding"), default="fixed", help="kind of window")
    verb.add_argument(
        "--conversion-time",
        type=float,
        default=sandbox.CONVERSION_TIME,
        metavar="SECONDS",
        help="time of a conversion",
    )
    verb.add_argument(
        "--clock",
        choices=("real", "moved"),
        default="real",
        help="`moved` is advanced by each line of standard input, a number of seconds",
    )
    verb.add_argument(
        "--variants",
        action="append",
        metavar="NAME",
        help="variants of real services; `wild` enables all but `tank-mixes`",
    )


def _serve(given: argparse.Namespace) -> int:
    # A list, not an Event: the handler runs in this thread and would deadlock on the lock held by `Event.wait`.
    signals: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: signals.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        return _serve_until(signals, given)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _serve_until(signals: list[int], given: argparse.Namespace) -> int:
    variants = [name for names in given.variants or [] for name in names.split(",")]
    limits = _limits(given.rate_limit)
    with hl.Sandbox(
        given.data,
        port=given.port,
        seed=given.seed,
        harvest=given.harvest,
        rate_limits=limits,
        window=given.window,
        conversion_time=given.conversion_time,
        variants=variants,
        clock=given.clock,
    ) as running:
        _announce(running, limits, as_json=given.json)
        if given.clock == "moved":
            threading.Thread(target=_advance_clock, args=(running,), daemon=True).start()
        while not signals:
            time.sleep(POLL_INTERVAL)
    return 0


def _advance_clock(running: hl.Sandbox) -> None:
    """Advance the clock by each line of standard input, and answer it with a line of JSON; the input may end early."""
    rest = b""
    with contextlib.suppress(OSError):
        # Unbuffered: a thread waiting in a buffered read would hold its lock at process exit.
        while read := os.read(0, 4096):
            *lines, rest = (rest + read).split(b"\n")
            for line in lines:
                try:
                    running.advance(float(line))
                except ValueError:
                    print_json({"error": f"not a number of seconds: {line.decode(errors='replace')}"})
                else:
                    print_json({"advanced": float(line)})


def _limits(given: list[str] | None) -> list[tuple[int, float]]:
    if given is None:
        return list(sandbox.RATE_LIMITS)
    try:
        return [window for text in given for window in settings.windows(text)]
    except ValueError:
        raise ValueError(f"`--rate-limit`: expected CALLS/SECONDS such as 30/60, got {','.join(given)!r}") from None


def _announce(running: hl.Sandbox, limits: list[tuple[int, float]], *, as_json: bool) -> None:
    # One token is valid for all three addresses, so `legacy_token` would be a duplicate.
    keys = {
        **{name: value for name, value in running.credentials.items() if name != "legacy_token"},
        "other_access_key": running.other_access_key,
        "revoked_access_key": running.revoked_access_key,
        "partial_access_key": running.partial_access_key,
        "read_only_access_key": running.read_only_access_key,
        "expired_access_key": running.expired_access_key,
    }
    if as_json:
        print_json(keys)
        return
    print_text(f"The service answers at {running.base_url} until you press Ctrl-C. To use it from another terminal:")
    # PowerShell on Windows, and every other shell.
    form = '$env:{}="{}"' if sys.platform == "win32" else "export {}={}"
    # The client's own limit is that of real services: the command line would wait for a limit that does not exist here.
    for name, value in {**running.credentials, "rate_limits": settings.written_windows(limits)}.items():
        print_text(form.format(f"{settings.PREFIX}{name.upper()}", value))
    other = form.format(f"{settings.PREFIX}ACCESS_KEY", running.other_access_key)
    print_text(f"# The access key of another customer:\n# {other}")
