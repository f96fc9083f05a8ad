"""The bar of a cluster: 1,000 archives by two workers of Dask against one; exits non-zero when it is missed."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dask.distributed import Client, LocalCluster
from make_archives import archive
from report import Bar, medians, report

from headland.dask import read_archives

if TYPE_CHECKING:
    from collections.abc import Sequence

ARCHIVES = 1_000
ROWS = 10_000
PER_TASK = 100
# How many times as fast two workers are, at least.
TIMES = 1.7
ROUNDS = 3


def copies(folder: Path) -> list[Path]:
    """Give as many archives as are read: links to one, which saves the disk and nothing of the reading."""
    whole = archive("points", ROWS, folder)
    paths = [folder / f"{number}.zip" for number in range(ARCHIVES)]
    for path in paths:
        os.link(whole, path)
    return paths


def totals(paths: Sequence[Path]) -> Any:
    """Read all archives, geometries and all, and give a row for each job."""
    frame = read_archives(paths, threads=1, archives_per_task=PER_TASK)
    rows = frame.map_partitions(summary, meta=summary(frame._meta))  # noqa: SLF001 - Dask asks for it
    # One task reads and sums up; without it, Dask reads the next archives while the last are still to be summed up.
    return rows.optimize().compute()


def summary(frame: Any) -> Any:
    """Give what an analysis wants of each job: its rows, a mean, and how far it reaches."""
    places = frame.geometry.bounds.groupby(frame["job_id"])[["minx", "maxx"]].mean()
    return frame.groupby("job_id").agg(rows=("MOISTURE", "size"), moisture=("MOISTURE", "mean")).join(places)


def seconds(paths: Sequence[Path], workers: int) -> tuple[float, Any]:
    """Measure a cluster that stands and has read before."""
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        # Whole tasks: a worker's first ones pay for memory that those after them find there.
        totals(paths[: 2 * PER_TASK * workers])
        started = time.perf_counter()
        found = totals(paths)
        return time.perf_counter() - started, found


def main() -> int:
    """Measure both in turn, print the bar, and say whether it holds."""
    with tempfile.TemporaryDirectory() as folder:
        paths = copies(Path(folder))

        def bars() -> list[Bar]:
            (alone, one), (together, two) = seconds(paths, 1), seconds(paths, 2)
            assert one.equals(two)
            assert one.rows.sum() == ARCHIVES * ROWS
            told = f"{together:.1f} s for {ARCHIVES:,} archives of {ROWS:,} rows, one worker {alone:.1f} s"
            return [Bar("two workers against one", alone / together, TIMES, told, at_least=True)]

        return report(medians(bars, ROUNDS), ROUNDS)


if __name__ == "__main__":
    sys.exit(main())
