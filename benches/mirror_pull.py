"""Measures that a first and a second sync use the windows up in real time, and are never rejected."""

from __future__ import annotations

import math
import sys
import tempfile
import time
from pathlib import Path

from target_report import Target, report

import headland as hl

# Both windows of the specification, ten times as fast.
WINDOWS = ((30, 6.0), (15, 3.0))
CONVERSION = 9.0
JOBS = 150
# Largest ratio of the time of a sync and the minimum that the windows allow.
SLACK = 1.05


def pull(mirror: hl.Mirror, service: hl.Sandbox, name: str, wait: float) -> list[Target]:
    """Sync, and compare with the minimum of the windows; `wait` is time that no order of calls can save."""
    before, started = len(service.requests), time.monotonic()
    mirror.sync()
    took = time.monotonic() - started
    requests = service.requests[before:]
    minimum = max((math.ceil(len(requests) / calls) - 1) * seconds for calls, seconds in WINDOWS) + wait
    refused = sum(request.status == 429 for request in requests)
    detail = f"{took:.2f} s for {len(requests)} calls; the windows allow {minimum:.1f} s"
    return [
        Target(f"{name}: refused", refused, 0, f"{refused} of {len(requests)} calls answered 429"),
        Target(f"{name}: time", took / minimum, SLACK, detail),
    ]


def main() -> int:
    """Sync twice and print a table; 0 if all targets are met."""
    with (
        tempfile.TemporaryDirectory() as folder,
        hl.Sandbox(small_jobs=JOBS, rate_limits=WINDOWS, window="sliding", conversion_time=CONVERSION) as service,
        hl.Client(**service.credentials, rate_limits=WINDOWS, limiter_state="memory") as client,
    ):
        mirror = hl.Mirror(Path(folder) / "farm", client, locations=False)
        targets = pull(mirror, service, "first pull", 0.0)
        for _ in range(7):
            service.add_job()
        time.sleep(max(seconds for _, seconds in WINDOWS))
        # With so few jobs, the last one is requested in the first windows and is ready after all other work.
        targets += pull(mirror, service, "second pull", CONVERSION)
    return report(targets, 1)


if __name__ == "__main__":
    sys.exit(main())
