"""Measures timed targets of the package, each in one run; exits non-zero if one is missed."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from itertools import islice
from typing import TYPE_CHECKING

import geopandas as gpd
import shapely
from target_report import Target, medians, report

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterator

WINDOWS = ((30, 2.0), (15, 1.0))
JOBS = 100
# Largest ratio of the time of a pull and the minimum that the windows allow.
SLACK = 1.03


def pull(window: str) -> list[Target]:
    """Pull 100 jobs with conversions: no 429, and a time close to the minimum of the windows."""
    with hl.Sandbox(rate_limits=WINDOWS, window=window, conversion_time=0.5) as service:
        prepare(service)
        # The preparation has used the service's windows up; they are free again after the longest of them.
        time.sleep(1.5 * max(period for _, period in WINDOWS))
        before = len(service.requests)
        with hl.Client(**service.credentials, rate_limits=WINDOWS, limiter_state="memory") as client:
            started = time.monotonic()
            delivered = sum(map(deliver, request_all(client)))
            elapsed = time.monotonic() - started
        requests = service.requests[before:]
    refused = sum(request.status == 429 for request in requests)
    minimum = math.ceil(len(requests) / 15) - 1
    detail = f"{elapsed:.3f} s for {len(requests)} calls and {delivered} files; the windows allow {minimum} s"
    return [
        Target(f"pull, {window}: refused", refused, 0, f"{refused} of {len(requests)} calls answered 429"),
        Target(f"pull, {window}: time", elapsed / minimum, SLACK, detail),
    ]


def request_all(client: hl.Client) -> Iterator[hl.Conversion]:
    """Request every job's shapefile before waiting for any."""
    handles = []
    for job in islice(client.job_data.list(), JOBS):
        with contextlib.suppress(hl.NoCoverage, hl.ConversionFailed):
            handles.append(client.job_data.request(job["id"]))
    return iter(handles)


def deliver(handle: hl.Conversion) -> bool:
    """Download one file; False if the job has none."""
    try:
        return len(handle.result()) > 0
    except (hl.NoCoverage, hl.ConversionFailed):
        return False


def prepare(service: hl.Sandbox) -> None:
    """Upload small archives until the account has enough jobs."""
    small = min(service.truth, key=lambda truth: truth["rows"])["job_id"]
    with hl.Client(**service.credentials, rate_limits=WINDOWS, limiter_state="memory") as client:
        jobs = len(client.job_data.list())
        archive = client.job_data.download(small)
        for _ in range(JOBS - jobs):
            client.job_data.upload(archive)


CELLS = 100
# Seconds for a prescription of 100 by 100 cells.
CELLS_TIME = 0.2


def prescription() -> list[Target]:
    """Make a prescription of 10,000 cells with rates in steps, from zones in memory to the bytes of the zip."""
    rates = [n % 7 + n / CELLS**2 for n in range(CELLS**2)]
    cells = [
        shapely.box(
            500_000 + 10 * (n % CELLS),
            5_400_000 + 10 * (n // CELLS),
            500_010 + 10 * (n % CELLS),
            5_400_010 + 10 * (n // CELLS),
        )
        for n in range(CELLS**2)
    ]
    zones = hl.read(
        bytes(hl.Prescription(gpd.GeoDataFrame({"rate": rates}, geometry=cells, crs=32632), "rate", unit="kg/ha"))
    )
    started = time.monotonic()
    size = len(bytes(hl.Prescription(zones, "RATE", unit="kg/ha", step=1)))
    elapsed = time.monotonic() - started
    return [Target("prescription of 10,000 cells", elapsed, CELLS_TIME, f"{elapsed:.3f} s for a zip of {size:,} bytes")]


def main() -> int:
    """Measure every target and print a table; 0 if all are met."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    targets = [
        target for window in ("fixed", "sliding") for target in medians(lambda window=window: pull(window), runs)
    ]
    targets += medians(prescription, runs)
    return report(targets, runs)


if __name__ == "__main__":
    sys.exit(main())
