"""The race of archive readers: from the zip to each kind of table, against the peers; exits non-zero on a miss."""

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
from peers import TASKS, Task, largest_member
from report import Bar, report

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RUNS = 7
SHORT = 500
SIZES = (100_000, 1_000_000)
# Above this, the peers that take ten times as long as the fastest are left out.
PATIENCE = 100_000
SIDE_BY_SIDE = 1.8


@dataclass(frozen=True)
class Result:
    """What one task took on one archive."""

    task: Task
    of: str
    ours: float
    peer: str
    theirs: float
    ratio: float
    others: dict[str, float]

    def bar(self) -> Bar:
        """Give the bar of the task, which holds on generated archives."""
        told = f"{self.ours * 1e3:.0f} ms, {self.peer} {self.theirs * 1e3:.0f}"
        return Bar(f"{self.of} → {self.task.name}", self.ratio, self.task.ask, told, at_least=True)


def seconds(work: Callable[[], Any]) -> float:
    """Give the time that the work takes, its rubbish cleared before."""
    gc.collect()
    started = time.perf_counter()
    outcome = work()
    elapsed = time.perf_counter() - started
    del outcome
    return elapsed


def race(task: Task, path: Path, rows: int, *, of: str, runs: int, out: Path) -> Result:
    """Run every contestant in turn, so that a noisy minute is everybody's, and compare with the fastest peer."""
    peers = {name: peer.of(path, out) for name, peer in task.peers.items() if rows <= PATIENCE or not peer.is_slow}
    ours = task.ours(path, out)
    task.check(ours(), rows)
    rounds: list[dict[str, float]] = []
    for turn in range(runs):
        times = {"headland": seconds(ours)}
        for name, work in peers.items():
            # What takes ten times as long decides nothing: once is enough.
            if turn == 0 or not task.peers[name].is_slow:
                times[name] = seconds(work)
        rounds.append(times)
    medians = {name: statistics.median(times[name] for times in rounds if name in times) for name in rounds[0]}
    best = min(peers, key=lambda name: medians[name])
    ratio = statistics.median(times[best] / times["headland"] for times in rounds if best in times)
    others = {name: took for name, took in medians.items() if name not in {"headland", best}}
    return Result(task, of, medians["headland"], best, medians[best], ratio, others)


def side_by_side(path: Path, runs: int) -> Bar:
    """Read several archives in threads of Python, with one thread each, against one after the other."""
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
    return Bar(f"{len(archives)} archives on {cores} cores", ratio, SIDE_BY_SIDE, "in threads of Python", at_least=True)


def largest(corpus: Path, count: int) -> Iterator[Path]:
    """Give the real archives with the largest tables."""
    found = sorted(corpus.glob("ag/**/*.zip"), key=largest_member, reverse=True)
    yield from found[:count]


def table(results: list[Result], runs: int) -> str:
    """Write the results as Markdown, for people."""
    lines = [
        f"Milliseconds, medians of {runs} turns on {os.cpu_count()} cores, default settings; ratios within each turn.",
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
    """Say what can be chosen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help=f"{SHORT} rows, one run, no bars: only that it works")
    parser.add_argument("--rows", type=int, nargs="*", default=list(SIZES), help="rows of the generated archives")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--task", nargs="*", choices=[task.name for task in TASKS], help="only these")
    parser.add_argument("--kind", nargs="*", default=["points", "polygons"], choices=["points", "polygons"])
    parser.add_argument("--data", type=Path, help="a folder where generated archives stay")
    parser.add_argument("--corpus", type=Path, help="a folder with real archives under ag/: the largest two run, too")
    parser.add_argument("--markdown", type=Path, help="where the table is written")
    return parser.parse_args()


def main() -> int:
    """Run the race, print the bars and the table, and say whether all hold."""
    chosen = arguments()
    runs, sizes = (1, [SHORT]) if chosen.short else (chosen.runs, chosen.rows)
    tasks = [task for task in TASKS if not chosen.task or task.name in chosen.task]
    results, bars = [], []
    with tempfile.TemporaryDirectory() as scratch:
        folder = chosen.data or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        out = Path(scratch)
        for rows in sizes:
            for kind in chosen.kind:
                path = archive(kind, rows, folder)
                for task in tasks:
                    result = race(task, path, rows, of=f"{rows:,} {kind}", runs=runs, out=out)
                    results.append(result)
                    bars.append(result.bar())
                    print(f"{result.of} → {task.name}: {result.ratio:.1f} times {result.peer}", file=sys.stderr)
        if not chosen.task:
            bars.append(side_by_side(archive("points", sizes[0], folder), runs))
        for path in largest(chosen.corpus, 2) if chosen.corpus else ():
            rows = len(hl.read(path))
            of = f"{rows:,} real rows"
            results += [race(task, path, rows, of=of, runs=runs, out=out) for task in tasks]
    written = table(results, runs)
    print(written)
    if chosen.markdown:
        chosen.markdown.write_text(written, encoding="utf-8")
    return 0 if chosen.short else report(bars, runs)


if __name__ == "__main__":
    sys.exit(main())
