"""Compares archive readers with headland: from the zip to each kind of table; exits non-zero if a target is missed."""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from make_archives import archive
from peers import TASKS, Task, largest_member, versions
from target_report import Target, report

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RUNS = 7
SHORT = 500
SIZES = (100_000, 1_000_000)
# Above this number of rows, peers that take ten times as long as the fastest are skipped.
MOST_ROWS_OF_SLOW_PEERS = 100_000
PARALLEL_SPEEDUP = 1.8


@dataclass(frozen=True)
class Result:
    """Times of one task on one archive."""

    task: Task
    of: str
    ours: float
    peer: str
    theirs: float
    ratio: float
    others: dict[str, float]

    def target(self) -> Target:
        """The target of the task, which applies to generated archives."""
        detail = f"{self.ours * 1e3:.0f} ms, {self.peer} {self.theirs * 1e3:.0f}"
        return Target(f"{self.of} → {self.task.name}", self.ratio, self.task.ask, detail, at_least=True)


def seconds(work: Callable[[], Any]) -> float:
    """Return the time of the work, after a garbage collection."""
    gc.collect()
    started = time.perf_counter()
    outcome = work()
    elapsed = time.perf_counter() - started
    del outcome
    return elapsed


def compare(task: Task, path: Path, rows: int, *, of: str, runs: int, out: Path) -> Result:
    """Run all readers in turn, so that other load slows all of them, and compare with the fastest peer."""
    peers = {
        name: peer.of(path, out)
        for name, peer in task.peers.items()
        if rows <= MOST_ROWS_OF_SLOW_PEERS or not peer.is_slow
    }
    ours = task.ours(path, out)
    task.check(ours(), rows)
    rounds: list[dict[str, float]] = []
    for turn in range(runs):
        times = {"headland": seconds(ours)}
        for name, work in peers.items():
            # A peer that takes ten times as long is not decisive: one run is enough.
            if turn == 0 or not task.peers[name].is_slow:
                times[name] = seconds(work)
        rounds.append(times)
    medians = {name: statistics.median(times[name] for times in rounds if name in times) for name in rounds[0]}
    best = min(peers, key=lambda name: medians[name])
    ratio = statistics.median(times[best] / times["headland"] for times in rounds if best in times)
    others = {name: took for name, took in medians.items() if name not in {"headland", best}}
    return Result(task, of, medians["headland"], best, medians[best], ratio, others)


def parallel_speedup(path: Path, runs: int) -> Target:
    """Read several archives in Python threads, with one thread each, and compare with sequential reads."""
    cores = min(2, os.cpu_count() or 1)
    archives = [path.read_bytes()] * (4 * cores)

    def rows(content: bytes) -> int:
        return len(hl.read(content, threads=1))

    def alone() -> None:
        for content in archives:
            rows(content)

    def together() -> None:
        with ThreadPoolExecutor(cores) as pool:
            list(pool.map(rows, archives))

    alone()
    ratio = statistics.median(seconds(alone) / seconds(together) for _ in range(runs))
    return Target(
        f"{len(archives)} archives on {cores} cores", ratio, PARALLEL_SPEEDUP, "in threads of Python", at_least=True
    )


def largest(corpus: Path, count: int) -> Iterator[Path]:
    """Return the real archives with the largest tables."""
    found = sorted(corpus.glob("ag/**/*.zip"), key=largest_member, reverse=True)
    yield from found[:count]


def table(results: list[Result], runs: int) -> str:
    """Return the results as Markdown."""
    lines = [
        f"Milliseconds, medians of {runs} turns on {os.cpu_count()} cores, default settings; ratios within each turn.",
        f"Peers: {versions()}.",
        "",
        "| zip → | from | headland | fastest peer | times as fast | others |",
        "|---|---|---:|---|---:|---|",
    ]
    for each in results:
        others = ", ".join(
            f"{name} {took * 1e3:,.0f}" for name, took in sorted(each.others.items(), key=lambda o: o[1])
        )
        peer = f"{each.peer} {each.theirs * 1e3:,.0f}"
        lines.append(
            f"| {each.task.name} | {each.of} | {each.ours * 1e3:,.0f} | {peer} | {each.ratio:.1f} | {others} |"
        )
    return "\n".join(lines) + "\n"


def arguments() -> argparse.Namespace:
    """Parse the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--short", action="store_true", help=f"{SHORT} rows, one run, no targets: only checks that it works"
    )
    parser.add_argument("--rows", type=int, nargs="*", default=list(SIZES), help="rows of the generated archives")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--task", nargs="*", choices=[task.name for task in TASKS], help="only these")
    parser.add_argument("--kind", nargs="*", default=["points", "polygons"], choices=["points", "polygons"])
    parser.add_argument("--data", type=Path, help="a folder where generated archives stay")
    parser.add_argument("--corpus", type=Path, help="a folder with real archives under ag/: the largest two run, too")
    parser.add_argument("--zip", type=Path, nargs="*", default=[], help="other archives, which have no targets")
    parser.add_argument("--markdown", type=Path, help="where the table is written")
    return parser.parse_args()


def main() -> int:
    """Run the comparison, print the targets and the table; 0 if all targets are met."""
    chosen = arguments()
    runs, sizes = (1, [SHORT]) if chosen.short else (chosen.runs, chosen.rows)
    tasks = [task for task in TASKS if not chosen.task or task.name in chosen.task]
    results, targets = [], []
    with tempfile.TemporaryDirectory() as scratch:
        folder = chosen.data or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        out = Path(scratch)
        for rows in sizes:
            for kind in chosen.kind:
                path = archive(kind, rows, folder)
                for task in tasks:
                    result = compare(task, path, rows, of=f"{rows:,} {kind}", runs=runs, out=out)
                    results.append(result)
                    targets.append(result.target())
                    print(f"{result.of} → {task.name}: {result.ratio:.1f} times {result.peer}", file=sys.stderr)
        if not chosen.task:
            targets.append(parallel_speedup(archive("points", sizes[0], folder), runs))
        for path in [*chosen.zip, *(largest(chosen.corpus, 2) if chosen.corpus else ())]:
            rows = len(hl.read(path))
            of = f"{rows:,} real rows"
            results += [compare(task, path, rows, of=of, runs=runs, out=out) for task in tasks]
    written = table(results, runs)
    print(written)
    if chosen.markdown:
        chosen.markdown.write_text(written, encoding="utf-8")
    return 0 if chosen.short or not targets else report(targets, runs)


if __name__ == "__main__":
    sys.exit(main())
