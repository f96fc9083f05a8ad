"""Uses an installed headland as a new user does, without any other package: a job, a map, a season, a mirror."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

IMPORT = "import time; start = time.perf_counter(); import headland; print(time.perf_counter() - start)"


def main() -> None:
    """Run everything that needs no extra, and print the shortest time of an import."""
    import headland as hl

    assert Path(hl.__file__).is_relative_to(sys.prefix), hl.__file__
    with tempfile.TemporaryDirectory() as folder, hl.Sandbox.demo() as service, service.client() as client:
        job = client.job_data.list().first()
        layer = client.job_data.read(job["id"])
        layer.write_parquet(Path(folder, "job.parquet"))
        layer.write_geojson(Path(folder, "job.geojson"))
        layer.plot().save(Path(folder, "job.svg"))
        rows = len(hl.grid(hl.clean(hl.harmonize(layer))))
        season = client.job_data.read_all()
        mirrored = hl.Mirror(Path(folder, "farm"), client, locations=False).sync()
        assert mirrored.new > 0, mirrored
        print(f"{len(layer)} rows, {rows} cells, {len(season)} jobs of a season, {mirrored.new} jobs in a mirror")
    done = subprocess.run(
        [sys.executable, "-I", "-m", "headland", "openapi", "--json"], check=True, capture_output=True, text=True
    )
    assert json.loads(done.stdout)["openapi"].startswith("3.")
    times = [
        float(subprocess.run([sys.executable, "-I", "-c", IMPORT], check=True, capture_output=True, text=True).stdout)
        for _ in range(10)
    ]
    print(f"import {min(times):.3f} s")


if __name__ == "__main__":
    main()
