"""Measures ground of logged polygons, its memory, and a comparison with shapely; exits non-zero if one misses."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import geopandas as gpd
import numpy as np
import pyproj
import shapely
from target_report import Target, report
from yield_maps import reset_peak, status

import headland as hl

ROWS, VERTICES = 30_000, 200
RADIUS, SPACING = 3.0, 4.0
LATITUDE, LONGITUDE = 45.0, -99.0
PLANE = pyproj.CRS(f"+proj=laea +lat_0={LATITUDE} +lon_0={LONGITUDE} +ellps=WGS84 +units=m")
# How many times the time of the package shapely takes; bytes a vertex above the layer.
RATIO, MEMORY_BOUND = 10.0, 100.0
AGREEMENT = 1e-6


def layer() -> hl.Layer:
    """Return lobed polygons that overlap: each is about half on ground of others."""
    random = np.random.default_rng(0)
    middle = random.uniform(0, SPACING * np.sqrt(ROWS), (ROWS, 1, 2))
    angle = np.linspace(0, 2 * np.pi, VERTICES, endpoint=False)
    along = RADIUS * (1 + 0.2 * np.sin(5 * angle + random.uniform(0, 6, (ROWS, 1))))
    vertices = middle + along[..., None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    shapes = gpd.GeoSeries(shapely.polygons(vertices), crs=PLANE).to_crs(4326)
    frame = gpd.GeoDataFrame({"rate": np.full(ROWS, 100.0)}, geometry=shapes)
    return hl.harmonize(frame, kind="as_applied", columns={"applied_rate": "rate"}, units={"rate": "kg/ha"})


def child() -> None:
    """Print the peak memory of counting the ground above the layer, in bytes a vertex."""
    rows = layer()
    before = status("VmRSS")
    reset_peak()
    rows.covered_area()
    print((status("VmHWM") - before) / (ROWS * VERTICES))


def main() -> int:
    """Measure and print; 0 if all targets are met."""
    if sys.argv[1:2] == ["child"]:
        child()
        return 0
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    rows = layer()
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        area = rows.covered_area()
        times.append(time.perf_counter() - started)
    shapes = rows.to_geopandas().to_crs(PLANE).geometry.to_numpy()
    started = time.perf_counter()
    union = float(shapely.area(shapely.union_all(shapes)))
    peer = time.perf_counter() - started
    own = statistics.median(times)
    detail = f"{own:.2f} s to read, project and count {ROWS:,} polygons of {VERTICES} vertices; union_all: {peer:.2f} s"
    targets = [
        Target("ground of polygons, union_all", peer / own, RATIO, detail, at_least=True),
        Target("difference of the ground", abs(area / union - 1), AGREEMENT, f"of {union / 10_000:.2f} ha"),
    ]
    if sys.platform == "linux":
        done = subprocess.run([sys.executable, __file__, "child"], check=True, capture_output=True, text=True)  # noqa: S603
        peak = float(done.stdout.split()[0])
        targets.append(Target("memory, ground of polygons", peak, MEMORY_BOUND, "bytes a vertex above the layer"))
    return report(targets, runs)


if __name__ == "__main__":
    sys.exit(main())
