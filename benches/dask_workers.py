"""Compares two Dask workers with one on 1,000 archives; exits non-zero if the target is missed."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dask.distributed import Client, LocalCluster
from make_archives import archive
from target_report import Target, medians, report

from headland.dask import read_archives

if TYPE_CHECKING:
    from collections.abc import Sequence

ARCHIVES = 1_000
ROWS = 10_000
PER_TASK = 100
# Smallest speed-up by the second worker.
SPEEDUP = 1.7
ROUNDS = 3


def copies(folder: Path) -> list[Path]:
    """Return as many archives as are read: links to one file, which saves disk space but no read."""
    whole = archive("points", ROWS, folder)
    paths = [folder / f"{number}.zip" for number in range(ARCHIVES)]
    for path in paths:
        os.link(whole, path)
    return paths


def totals(paths: Sequence[Path]) -> Any:
    """Read all archives with geometries, and return a row for each job."""
    frame = read_archives(paths, threads=1, archives_per_task=PER_TASK)
    rows = frame.map_partitions(summary, meta=summary(frame._meta))  # noqa: SLF001 - Dask asks for it
    # One task reads and summarises; otherwise Dask reads the next archives before it summarises the last ones.
    return rows.optimize().compute()


def summary(frame: Any) -> Any:
    """Return a typical summary of a job: its rows, a mean, and its extent."""
    places = frame.geometry.bounds.groupby(frame["job_id"])[["minx", "maxx"]].mean()
    return frame.groupby("job_id").agg(rows=("MOISTURE", "size"), moisture=("MOISTURE", "mean")).join(places)


def seconds(paths: Sequence[Path], workers: int) -> tuple[float, Any]:
    """Measure a running cluster that has read before."""
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        # Complete tasks: the first ones of a worker allocate memory that later ones reuse.
        totals(paths[: 2 * PER_TASK * workers])
        started = time.perf_counter()
        found = totals(paths)
        return time.perf_counter() - started, found


def main() -> int:
    """Measure both in turn and print the target; 0 if it is met."""
    with tempfile.TemporaryDirectory() as folder:
        paths = copies(Path(folder))

        def targets() -> list[Target]:
            (alone, one), (together, two) = seconds(paths, 1), seconds(paths, 2)
            assert one.equals(two)
            assert one.rows.sum() == ARCHIVES * ROWS
            detail = f"{together:.1f} s for {ARCHIVES:,} archives of {ROWS:,} rows, one worker {alone:.1f} s"
            return [Target("two workers against one", alone / together, SPEEDUP, detail, at_least=True)]

        return report(medians(targets, ROUNDS), ROUNDS)


if __name__ == "__main__":
    sys.exit(main())
