"""Measures that processes and threads of one key use its windows up, but never exceed them."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from target_report import Target, report

import headland as hl

WINDOW = (30, 2.0)
PROCESSES = 3
THREADS = 8
CALLS = 300
# Largest ratio of the total time and the minimum that the windows allow.
SLACK = 1.05


def child() -> None:
    """Make the calls of one process with its threads, after the parent's signal."""
    with hl.Client.from_env() as client, ThreadPoolExecutor(THREADS) as threads:
        print("ready", flush=True)
        sys.stdin.readline()
        list(threads.map(lambda _: client.access_key(), range(CALLS // PROCESSES)))


def measure(window: str) -> list[Target]:
    """Start all processes together; no call is rejected, and the time is close to the minimum of the windows."""
    with tempfile.TemporaryDirectory() as folder, hl.Sandbox(rate_limits=[WINDOW], window=window) as service:
        keys = {f"HEADLAND_{name.upper()}": str(value) for name, value in service.credentials.items()}
        calls, seconds = WINDOW
        limits = {
            "HEADLAND_RATE_LIMITS": f"{calls}/{seconds}",
            "HEADLAND_LIMITER_STATE": str(Path(folder) / "limits.sqlite3"),
        }
        children = [
            subprocess.Popen(  # noqa: S603
                [sys.executable, __file__, "child"],
                env={**os.environ, **keys, **limits},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(PROCESSES)
        ]
        for process in children:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        started = time.monotonic()
        for process in children:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        for process in children:
            process.wait()
        elapsed = time.monotonic() - started
        for process in children:
            process.communicate()
            assert process.returncode == 0
        requests = service.requests
    refused = sum(request.status == 429 for request in requests)
    # Full windows follow each other, and the calls of the last one need not wait for its end.
    minimum = (math.ceil(CALLS / calls) - 1) * seconds
    detail = (
        f"{elapsed:.3f} s for {len(requests)} calls of {PROCESSES} x {THREADS} threads; the windows allow {minimum} s"
    )
    return [
        Target(f"limiter, {window}: refused", refused, 0, f"{refused} of {len(requests)} calls answered 429"),
        Target(f"limiter, {window}: time", elapsed / minimum, SLACK, detail),
    ]


def main() -> int:
    """Measure both kinds of window and print a table; 0 if all targets are met."""
    if sys.argv[1:] == ["child"]:
        child()
        return 0
    return report([target for window in ("fixed", "sliding") for target in measure(window)], 1)


if __name__ == "__main__":
    sys.exit(main())
