"""Measures a season from the zips to the maps, on one thread and on two; exits non-zero if a target is missed."""

from __future__ import annotations

import contextlib
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from target_report import Target, report

import headland as hl

THREADS = 2
SIDE = 10.0
# Rows a second: 60 % of what two free cores measure, or less. One large job is most of the ideal harvests.
LOGGED_BOUND, IDEAL_BOUND = 80_000.0, 60_000.0


def season(folder: Path, harvest: str) -> list[Path]:
    """Write the archives of all harvests of the local service, and return their paths."""
    folder.mkdir()
    with hl.Sandbox.demo(harvest=harvest, conversion_time=0) as service, service.client() as client:
        for job in client.job_data.list().filter(job_type="yield"):
            with contextlib.suppress(
                hl.ConversionFailed, hl.NoCoverage
            ):  # some jobs have no archive, as in real accounts
                client.job_data.download(job["id"], to=folder / f"{job['id']}.zip")
    return sorted(folder.iterdir())


def maps(paths: Path | list[Path], threads: int | None = None) -> list[tuple[int, int]]:
    """Read, clean and map harvests in turn, as most scripts do; return the rows and the cells of each."""
    jobs = hl.read_many(paths, job_type="yield", threads=threads)
    return [(len(layer), len(hl.grid(hl.clean(layer), SIDE))) for _, layer in jobs]


def on_threads(paths: list[Path]) -> list[tuple[int, int]]:
    """Do the same on threads of Python, each of which reads with one thread."""
    with ThreadPoolExecutor(THREADS) as pool:
        return [found for each in pool.map(lambda path: maps(path, 1), paths) for found in each]


def measure(folder: Path, harvest: str, bound: float, runs: int) -> Target:
    """Measure both ways in turn; the maps of both must have the same cells."""
    paths = season(folder, harvest)
    found = on_threads(paths)
    assert found == maps(folder), "both ways make the same maps"
    rows, times = sum(rows for rows, _ in found), ([], [])
    for _ in range(runs):
        for side, work in zip(times, (lambda: maps(folder), lambda: on_threads(paths)), strict=True):
            started = time.perf_counter()
            work()
            side.append(time.perf_counter() - started)
    alone, together = (statistics.median(side) for side in times)
    detail = f"rows a second: {len(paths)} zips, {rows:,} rows in {together:.2f} s, read_many {alone:.2f} s"
    return Target(f"season, {harvest}", rows / together, bound, detail, at_least=True)


def main() -> int:
    """Measure both kinds of harvest and print the targets; 0 if both are met."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory() as folder:
        bounds = {"logged": LOGGED_BOUND, "ideal": IDEAL_BOUND}
        return report([measure(Path(folder, name), name, bound, runs) for name, bound in bounds.items()], runs)


if __name__ == "__main__":
    sys.exit(main())
