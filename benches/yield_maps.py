"""Measures cleaning and mapping a harvest, its memory, and a comparison with shapely; exits non-zero if one misses."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import shapely
from make_harvest import CRS, harvest
from target_report import Target, report
from yield_peers import PEERS, by_cell, earlier_swaths

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS, PASSES = 100_000, 300
MANY, MANY_PASSES = 1_000_000, 950
SIDE = 10.0
# Seconds for all steps, and for the delay of the flow; bytes a row.
BOUND, MANY_BOUND, DELAY_BOUND, MEMORY_BOUND = 0.35, 3.5, 0.06, 400.0
# How many times the time of the package the peer takes.
RATIO = 80.0
# Largest relative difference of areas.
AGREEMENT = 1e-6


def median(work: Callable[[], object], runs: int) -> float:
    """Return the median time of runs in seconds, after one that warms up."""
    times = []
    for _ in range(runs + 1):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times[1:])


def steps(layer: hl.Layer, runs: int) -> tuple[list[str], float]:
    """Measure each step, and all of them; return lines and the time of all."""
    rows = hl.harmonize(layer, kind="yield")
    cleaned = hl.clean(rows)
    times = {
        "harmonize, 20 columns": median(lambda: hl.harmonize(layer, kind="yield"), runs),
        "clean, both delays inside": median(lambda: hl.clean(rows), runs),
        "grid, 10 m": median(lambda: hl.grid(cleaned, SIDE), runs),
    }
    lines = [f"      {name:32} {1_000 * seconds:8.1f} ms   {len(layer):,} rows" for name, seconds in times.items()]
    return lines, median(lambda: chain(layer), runs)


def chain(layer: hl.Layer) -> hl.Layer:
    """Harmonise, clean and map a layer."""
    return hl.grid(hl.clean(hl.harmonize(layer, kind="yield")), SIDE)


def delay(layer: hl.Layer, runs: int) -> Target:
    """Measure what the estimate of the delay of the flow adds, with the mixing that follows from it."""
    rows = hl.harmonize(layer, kind="yield")
    without = median(lambda: hl.clean(rows, delay=None, moisture_delay=None), runs)
    seconds = median(lambda: hl.clean(rows, moisture_delay=None), runs) - without
    return Target("delay of the flow", seconds, DELAY_BOUND, f"seconds, beside {without:.3f} s for all other steps")


def compare(layer: hl.Layer, runs: int) -> list[Target]:
    """Compare with shapely on the same swaths, in the plane of the UTM zone; each peer runs once.

    The package has no call for ground alone. Its time includes passes, filters and moisture, but not the delays. No
    bench of the core measures ground alone either.
    """
    rows = hl.harmonize(layer, kind="yield")

    def clean() -> hl.Cleaned:
        return hl.clean(rows, delay=None, moisture_delay=None)

    cleaned = clean()
    cells = hl.grid(cleaned, SIDE, crs=CRS)
    cleaning = median(clean, runs)
    mapping = median(lambda: hl.grid(cleaned, SIDE, crs=CRS), runs)
    frame = cleaned.swaths().to_geopandas().to_crs(CRS)
    swaths, passes = frame.geometry.to_numpy(), frame["pass_number"].to_numpy()
    found = {}
    for name, subtract in PEERS.items():
        started = time.perf_counter()
        new = subtract(swaths, earlier_swaths(swaths, passes))
        counted = time.perf_counter()
        squares = by_cell(new, SIDE)
        found[name] = counted - started, time.perf_counter() - counted, float(shapely.area(new).sum()), squares
    name, (once, cutting, area, squares) = min(found.items(), key=lambda peer: peer[1][0] + peer[1][1])
    # On the central meridian, the plane is scaled by 0.9996 in each direction.
    scale = 0.9996**2
    total = scale * sum(value for value in frame["m2"] if value > 0)
    difference = abs(area / total - 1)
    boxes = cells.to_geopandas()
    keys = zip(boxes.bounds["minx"] / SIDE, boxes.bounds["miny"] / SIDE, strict=True)
    own = {(round(x), round(y)): scale * covered for (x, y), covered in zip(keys, boxes["covered"], strict=True)}
    worst = max(abs(own.get(key, 0) - squares.get(key, 0)) for key in own.keys() | squares.keys()) / SIDE**2
    times = ", ".join(f"{peer} {one[0]:.2f} + {one[1]:.2f} s" for peer, one in found.items())
    detail = f"{cleaning:.3f} s to clean without delays, with all filters, + {mapping:.3f} s; shapely: {times}"
    print(f"      {'grid alone, shapely is slower by':32} {cutting / mapping:8.1f} times")
    both = (once + cutting) / (cleaning + mapping)
    return [
        Target(f"clean + grid, shapely by {name}", both, RATIO, detail, at_least=True),
        Target("difference of all ground", difference, AGREEMENT, f"{difference:.1e} of {total / 10_000:.2f} ha"),
        Target("difference of a cell", worst, AGREEMENT, f"{worst:.1e} of a cell, the largest of {len(own):,}"),
    ]


def status(name: str) -> int:
    """Return a size of this process in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1_024 * next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def reset_peak() -> None:
    """Reset the peak of the memory of this process."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def child(part: str, rows: int, passes: int) -> None:
    """Print the peak memory of one run above the input, in bytes a row."""
    layer = harvest(rows, passes)
    if part == "clean + grid":
        layer = hl.harmonize(layer, kind="yield")
    before = status("VmRSS")
    reset_peak()
    made = chain(layer)
    print((status("VmHWM") - before) / rows, len(made))


def memory() -> list[Target]:
    """Measure the peak of the memory in new processes, whose allocators have no freed memory to use."""
    targets = []
    for part in ("harmonize + clean + grid", "clean + grid"):
        command = [sys.executable, __file__, "child", part, str(MANY), str(MANY_PASSES)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
        peak = float(done.stdout.split()[0])
        detail = f"bytes a row above the input of {MANY:,} rows, results included"
        targets.append(Target(f"memory, {part}", peak, MEMORY_BOUND, detail))
    return targets


def main() -> int:
    """Measure and print; 0 if all targets are met."""
    if sys.argv[1:2] == ["child"]:
        child(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
        return 0
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    targets = []
    for rows, passes, bound in ((ROWS, PASSES, BOUND), (MANY, MANY_PASSES, MANY_BOUND)):
        layer = harvest(rows, passes)
        lines, seconds = steps(layer, runs)
        print("\n".join(lines))
        targets.append(Target(f"all steps, {rows:,} rows", seconds, bound, "seconds for harmonize + clean + grid"))
        if rows == ROWS:
            targets += [delay(layer, runs), *compare(layer, runs)]
    if sys.platform == "linux":
        targets += memory()
    return report(targets, runs)


if __name__ == "__main__":
    sys.exit(main())
