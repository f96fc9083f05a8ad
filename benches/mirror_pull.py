"""The bar of the mirror: a first pull and a second one use the windows up, by the real clock, and are never refused."""

from __future__ import annotations

import math
import sys
import tempfile
import time
from pathlib import Path

from report import Bar, report

import headland as hl

# Both windows of the specification, ten times as fast.
WINDOWS = ((30, 6.0), (15, 3.0))
CONVERSION = 9.0
JOBS = 150
# How much longer than the windows' minimum a pull may take.
SLACK = 1.05


def pull(mirror: hl.Mirror, service: hl.Sandbox, name: str, wait: float) -> list[Bar]:
    """Sync, and compare with what the windows allow; `wait` is what no order of calls can save."""
    before, started = len(service.requests), time.monotonic()
    mirror.sync()
    took = time.monotonic() - started
    requests = service.requests[before:]
    minimum = max((math.ceil(len(requests) / calls) - 1) * seconds for calls, seconds in WINDOWS) + wait
    refused = sum(request.status == 429 for request in requests)
    told = f"{took:.2f} s for {len(requests)} calls; the windows allow {minimum:.1f} s"
    return [
        Bar(f"{name}: refused", refused, 0, f"{refused} of {len(requests)} calls answered 429"),
        Bar(f"{name}: time", took / minimum, SLACK, told),
    ]


def main() -> int:
    """Pull twice, print a table, and say whether all bars hold."""
    with (
        tempfile.TemporaryDirectory() as folder,
        hl.Sandbox(small_jobs=JOBS, rate_limits=WINDOWS, window="sliding", conversion_time=CONVERSION) as service,
        hl.Client(**service.credentials, rate_limits=WINDOWS, limiter_state="memory") as client,
    ):
        mirror = hl.Mirror(Path(folder) / "farm", client, locations=False)
        bars = pull(mirror, service, "first pull", 0.0)
        for _ in range(7):
            service.add_job()
        time.sleep(max(seconds for _, seconds in WINDOWS))
        # The last of so few jobs is asked for in the first windows and ripens after all else is done.
        bars += pull(mirror, service, "second pull", CONVERSION)
    return report(bars, 1)


if __name__ == "__main__":
    sys.exit(main())
