"""Logged harvests of the local service as cleaning reads them, with their truth, and comparisons of maps with it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headland.sandbox.harvest_truth import HarvestTruth

SERIES = int(os.environ.get("HEADLAND_SERIES", "1"))

SEEDS = range(1 if SERIES == 1 else 9)
"""Seeds of the service; `make soak` tries more."""

JOBS = (
    "Stone Hill 2024 Harvest",
    "Creek Side 2026 Harvest",
    "Creek Side 2025 Harvest",
    "Cattle Gate 2025 Harvest",
    "Schoolhouse 2025 Harvest",
)
"""Jobs of a short series: 2 s and 1 s, an antenna before and behind the cutter bar, one machine and two."""

CELL = 10.0
LEAST_SHARE = 0.5
"""Cells of the true map that are compared have at least this share of cut ground."""


class Job(NamedTuple):
    """A harvest and its truth. `layer` is as it was read, `harmonized` as `headland.harmonize` returns it."""

    name: str
    layer: hl.Layer
    harmonized: hl.Layer
    truth: HarvestTruth

    @property
    def interval(self) -> float:
        """Return the seconds between rows."""
        return float(np.median(self.harmonized.to_pandas()["interval"]))


FOUND: dict[tuple[str, str], Job] = {}
"""Harvests that were read before, by the address of their service and their name."""


def read(service: hl.Sandbox, names: Iterable[str] | None = None) -> list[Job]:
    """Return the logged harvests with these names, or all; each is read once for all tests."""
    jobs = []
    with hl.Client(**service.credentials, rate_limits=()) as client:
        for job in service.truth:
            truth = job["harvest"]
            if truth is None or (names is not None and job["job_name"] not in set(names)):
                continue
            key = (service.base_url, job["job_name"])
            if key not in FOUND:
                layer = client.job_data.read(job["job_id"], layer=job["layer"])
                harmonized = hl.harmonize(layer, job=client.job_data.get(job["job_id"]))
                FOUND[key] = Job(job["job_name"], layer, harmonized, truth)
            jobs.append(FOUND[key])
    return jobs


CLEANED: dict[int, hl.Cleaned] = {}
"""Harvests that were cleaned before, by the identity of their layer, which `FOUND` keeps."""


def cleaned_of(job: Job) -> hl.Cleaned:
    """Return a harvest that is cleaned with the true antenna, once for all tests."""
    if id(job.harmonized) not in CLEANED:
        CLEANED[id(job.harmonized)] = hl.clean(job.harmonized, antenna=job.truth.antenna)
    return CLEANED[id(job.harmonized)]


def true_map(truth: HarvestTruth) -> pd.Series:
    """Return the true yield in kg/ha of the cells that are mostly cut, by column and line."""
    grid = pd.DataFrame(truth.grid(CELL))
    grid = grid[grid["share"] > LEAST_SHARE]
    index = pd.MultiIndex.from_arrays([grid["x"] // CELL, grid["y"] // CELL])
    return pd.Series(grid["yield_dry"].to_numpy(), index=index)


def made_map(layer: hl.Layer) -> pd.Series:
    """Return the dry yield of a map by column and line."""
    frame = layer.to_geopandas()
    corners = np.round(frame.geometry.bounds[["minx", "miny"]].to_numpy() / CELL)
    return pd.Series(frame["yield_dry"].to_numpy(float), index=pd.MultiIndex.from_arrays(corners.T)).dropna()


def usual_map(job: Job) -> pd.Series:
    """Return the map of the usual script: no delay, a filter of 3 standard deviations, means of rows in cells."""
    rows = job.harmonized.to_geopandas().to_crs(job.truth.crs)
    rows = rows[rows["working"] & (rows["distance"] > 0)]
    wet = rows["flow"] * rows["interval"] / (rows["distance"] * rows["swath_width"]) * 10_000
    dry = wet * (100 - rows["moisture"]) / (100 - job.truth.moisture_basis)
    kept = (dry - dry.mean()).abs() < 3 * dry.std()
    columns = [rows.geometry.x[kept] // CELL, rows.geometry.y[kept] // CELL]
    return dry[kept].groupby([column.to_numpy() for column in columns]).mean()


def rmse(made: pd.Series, true: pd.Series) -> float:
    """Return the root mean square of the difference on shared cells, in standard deviations of the true map."""
    both = pd.concat([made, true], axis=1, join="inner", keys=["made", "true"])
    assert len(both) > 0.95 * len(true), "the map has the cells of the true one"
    return float(np.sqrt(((both["made"] - both["true"]) ** 2).mean()) / both["true"].std(ddof=0))
