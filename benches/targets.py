"""Timed bars of the package, each measured in one run; exits non-zero when one is missed."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from itertools import islice
from typing import TYPE_CHECKING

from report import Bar, medians, report

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterator

WINDOWS = ((30, 2.0), (15, 1.0))
JOBS = 100
# How much longer than the windows' minimum a pull may take.
SLACK = 1.03


def pull(window: str) -> list[Bar]:
    """Pull 100 jobs, conversions and all: no 429, and hardly longer than the windows make it."""
    with hl.Sandbox(rate_limits=WINDOWS, window=window, conversion_time=0.5) as service:
        prepare(service)
        # The preparation has used the service's windows up; they are free again after the longest of them.
        time.sleep(1.5 * max(period for _, period in WINDOWS))
        before = len(service.requests)
        with hl.Client(**service.credentials, rate_limits=WINDOWS, limiter_state="memory") as client:
            started = time.monotonic()
            delivered = sum(map(deliver, ask(client)))
            elapsed = time.monotonic() - started
        requests = service.requests[before:]
    refused = sum(request.status == 429 for request in requests)
    minimum = math.ceil(len(requests) / 15) - 1
    told = f"{elapsed:.3f} s for {len(requests)} calls and {delivered} files; the windows allow {minimum} s"
    return [
        Bar(f"pull, {window}: refused", refused, 0, f"{refused} of {len(requests)} calls answered 429"),
        Bar(f"pull, {window}: time", elapsed / minimum, SLACK, told),
    ]


def ask(client: hl.Client) -> Iterator[hl.Conversion]:
    """Ask for every job's shape files before waiting for any."""
    handles = []
    for job in islice(client.job_data.list(), JOBS):
        with contextlib.suppress(hl.NoCoverage, hl.ConversionFailed):
            handles.append(client.job_data.request(job["id"]))
    return iter(handles)


def deliver(handle: hl.Conversion) -> bool:
    """Collect one file; False where the job has none."""
    try:
        return len(handle.result()) > 0
    except (hl.NoCoverage, hl.ConversionFailed):
        return False


def prepare(service: hl.Sandbox) -> None:
    """Upload small archives until the account has as many jobs as the pull wants."""
    small = min(service.truth, key=lambda truth: truth["rows"])["job_id"]
    with hl.Client(**service.credentials, rate_limits=WINDOWS, limiter_state="memory") as client:
        jobs = len(client.job_data.list())
        archive = client.job_data.download(small)
        for _ in range(JOBS - jobs):
            client.job_data.upload(archive)


def main() -> int:
    """Measure every bar, print a table, and say whether all hold."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    bars = [bar for window in ("fixed", "sliding") for bar in medians(lambda window=window: pull(window), runs)]
    return report(bars, runs)


if __name__ == "__main__":
    sys.exit(main())
