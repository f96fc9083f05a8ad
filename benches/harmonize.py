"""Measures harmonising 100,000 rows of a harvest; exits non-zero if the target is missed."""

from __future__ import annotations

import sys
import time

from target_report import Target, medians, report

import headland as hl

ROWS = 100_000
# Milliseconds.
BOUND = 15.0


def harvest() -> hl.Layer:
    """Read the large harvest of the demo account: 17 columns, with a date and a time of day."""
    with (
        hl.Sandbox.demo() as service,
        hl.Client(**service.credentials, rate_limits=(), limiter_state="memory") as client,
    ):
        job = next(truth for truth in service.truth if truth["rows"] == ROWS)
        return client.job_data.read(job["job_id"])


def harmonize(layer: hl.Layer) -> list[Target]:
    """Harmonise the layer once."""
    started = time.perf_counter()
    done = hl.harmonize(layer)
    elapsed = 1_000 * (time.perf_counter() - started)
    return [Target("harmonize, 100,000 rows", elapsed, BOUND, f"{elapsed:.1f} ms to {len(done.columns)} columns")]


def main() -> int:
    """Measure and print; 0 if the target is met."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    layer = harvest()
    hl.harmonize(layer)
    return report(medians(lambda: harmonize(layer), runs), runs)


if __name__ == "__main__":
    sys.exit(main())
