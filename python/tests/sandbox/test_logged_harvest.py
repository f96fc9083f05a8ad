"""Harvests of the local service that are written as machines log them, against independent calculations.

The oracles are NumPy and shapely: they use the archive, the true map and the geometry of the rows, but nothing of the
package that corrects such data.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import shapely

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable

    from headland.sandbox.job_truth import Truth

BITS = 10
STEPS = np.arange(0.0, 20.01, 0.25)


SEEDS = range(1 if os.environ.get("HEADLAND_SERIES", "1") == "1" else 8)


@pytest.fixture(scope="module", params=SEEDS)
def logged(request: pytest.FixtureRequest, logged_service: Callable[[int], hl.Sandbox]) -> hl.Sandbox:
    """Return a service with logged harvests; `make soak` tries more seeds."""
    return logged_service(request.param)


def harvests(service: hl.Sandbox) -> list[Truth]:
    """Return the truth of the logged harvests, the shortest first."""
    return sorted((job for job in service.truth if job["harvest"]), key=lambda job: job["rows"])


def table(service: hl.Sandbox, job: Truth) -> pd.DataFrame:
    """Return the rows of a job with `x` and `y` in metres of the true map, lengths in metres, and `reasons`."""
    truth = job["harvest"]
    assert truth is not None
    with hl.Client(**service.credentials, rate_limits=()) as client:
        layer = client.job_data.read(job["job_id"], layer=job["layer"])
    frame = layer.to_geopandas()
    points = frame.geometry.to_crs(truth.crs)
    metre = 0.3048 if {name: unit for name, unit, _ in job["totals"]}["DISTANCE"] == "ft" else 1.0
    heading = np.radians(frame["HEADING"].to_numpy(float))
    clock = pd.to_timedelta(frame["TIME"]).dt.total_seconds().to_numpy()
    rows = pd.DataFrame(
        {
            "x": points.x.to_numpy(),
            "y": points.y.to_numpy(),
            "east": np.sin(heading),
            "north": np.cos(heading),
            "distance": frame["DISTANCE"].to_numpy(float) * metre,
            "width": frame["SWATHWIDTH"].to_numpy(float) * metre,
            "interval": frame["CYCLE"].to_numpy(float),
            "flow": frame["FLOW"].to_numpy(float),
            "pass_number": frame["PASS"].to_numpy(int),
            "machine": frame["MACHINE"].to_numpy(int) if "MACHINE" in frame else 1,
            "reasons": np.array(truth.reasons),
        }
    )
    # Seconds since the first row, across midnight.
    return rows.assign(seconds=np.concatenate([[0.0], np.cumsum(np.diff(clock) % 86_400)]))


def map_values(truth: Any, x: np.ndarray, y: np.ndarray, cell: float) -> np.ndarray:
    """Return the true yield of the cells at these locations, NaN outside the map."""
    grid = pd.DataFrame(truth.grid(cell))
    known = dict(zip(zip(grid["x"] // cell, grid["y"] // cell, strict=True), grid["yield_dry"], strict=True))
    return np.array([known.get(key, np.nan) for key in zip(x // cell, y // cell, strict=True)])


def test_ideal_is_the_default_and_has_no_such_truth(service: hl.Sandbox) -> None:
    assert all(job["harvest"] is None for job in service.truth)


def test_every_reason_is_in_the_rows_of_every_harvest(logged: hl.Sandbox) -> None:
    jobs = harvests(logged)
    assert len(jobs) == 18
    for job in jobs:
        truth = job["harvest"]
        assert truth is not None
        assert len(truth.reasons) == job["rows"]
        counts = [sum(reasons >> bit & 1 for reasons in truth.reasons) for bit in range(BITS)]
        assert all(counts), (job["job_name"], counts)
        assert 0.96 < truth.covered_area / job["field_area"] < 1.02, job["job_name"]


def test_reasons_are_visible_in_the_rows(logged: hl.Sandbox) -> None:
    for job in harvests(logged)[:3]:
        rows = table(logged, job)
        width = rows["width"].max()
        has = {bit: rows["reasons"].to_numpy() >> bit & 1 == 1 for bit in range(BITS)}
        again = rows.duplicated(["seconds", "machine"])
        still = rows["distance"] == 0
        assert (again | still)[has[4]].all(), "a duplicate has an earlier row, or the machine stands"
        assert (rows["width"][has[5]] < 0.97 * width).all(), "a narrow swath"
        places = rows.groupby("machine")[["x", "y"]]
        middle = places.transform(lambda place: place.rolling(9, center=True).median())
        away = np.hypot(rows["x"] - middle["x"], rows["y"] - middle["y"])
        assert (away[has[3]] > 20).all(), "jumped positions"
        assert away[~has[0] & ~has[3]].max() < 15, "no other position jumped"
        speed = rows["distance"] / rows["interval"]
        usual = speed[~has[0]].median()
        assert (speed[~has[0] & ~has[2]] >= 0.32).all()
        assert ((speed < 0.32) | (speed > 1.5 * usual) | (speed < 0.6 * usual))[has[2]].all(), "wrong speeds"


def test_delay_is_where_the_flow_correlates_with_the_true_map(logged: hl.Sandbox) -> None:
    jobs = harvests(logged)
    for job in (jobs[0], jobs[len(jobs) // 2], jobs[-1]):
        truth = job["harvest"]
        assert truth is not None
        rows = table(logged, job)
        ahead = truth.antenna - rows["distance"] / 2
        cell = 3.0
        true = map_values(
            truth, (rows["x"] + ahead * rows["east"]).to_numpy(), (rows["y"] + ahead * rows["north"]).to_numpy(), cell
        )
        scores = np.zeros(len(STEPS))
        for _, own in rows.assign(true=true).groupby("machine"):
            good = own[(own["reasons"] == 0) & own["true"].notna()]
            expected = np.log(good["true"] * good["distance"])
            for step, shift in enumerate(STEPS):
                flow = np.interp(good["seconds"] + shift, own["seconds"], own["flow"].clip(lower=1e-3))
                scores[step] += np.corrcoef(np.log(flow), expected)[0, 1]
        best = int(np.argmax(scores))
        before, peak, after = scores[best - 1 : best + 2]
        found = STEPS[best] + 0.125 * (before - after) / (before - 2 * peak + after)
        assert found == pytest.approx(truth.delay, abs=0.5), job["job_name"]


def test_covered_area_is_that_of_the_union_of_the_swaths(logged: hl.Sandbox) -> None:
    jobs = harvests(logged)
    for job in (jobs[0], jobs[len(jobs) // 2]):
        truth = job["harvest"]
        assert truth is not None
        rows = table(logged, job)
        half = rows["width"].max() / 2
        swaths = []
        # Jumped positions and duplicates are bridged by the next row.
        for _, own in rows[rows["reasons"] & (1 | 8) == 0].groupby(["machine", "pass_number"]):
            end = own[["x", "y"]].to_numpy() + truth.antenna * own[["east", "north"]].to_numpy()
            along = own[["east", "north"]].to_numpy()
            first = end[:1] - own["distance"].iloc[0] * along[:1]
            start, start_along = np.vstack([first, end[:-1]]), np.vstack([along[:1], along[:-1]])
            left, start_left = (half * np.column_stack([-one[:, 1], one[:, 0]]) for one in (along, start_along))
            swaths.append(np.stack([start - start_left, start + start_left, end + left, end - left], axis=1))
        corners = np.concatenate(swaths)
        polygons = shapely.polygons(corners)
        union = shapely.union_all(polygons[shapely.is_valid(polygons) & (shapely.area(polygons) > 0)])
        assert union.area == pytest.approx(truth.covered_area, rel=0.005), job["job_name"]


def test_totals_are_those_that_the_machine_logged(logged: hl.Sandbox) -> None:
    for job in harvests(logged)[::5]:
        with hl.Client(**logged.credentials, rate_limits=()) as client:
            layer = client.job_data.read(job["job_id"], layer=job["layer"])
            product = client.job_data.get(job["job_id"])["products"][0]
        total = job["total"]
        frame = layer.to_pandas()
        mass = (frame["FLOW"] * frame["CYCLE"]).sum() * total["factor"]
        assert mass == pytest.approx(total["value"], rel=1e-9)
        assert product["total_weight"] == pytest.approx(mass, rel=1e-6)
        assert product["applied_area"] == pytest.approx(job["area"], rel=1e-6)
        for column, _, expected in job["totals"]:
            assert frame[column].sum() == pytest.approx(expected, rel=1e-6, abs=1e-6), column


def test_harmonize_works_on_every_logged_harvest(logged: hl.Sandbox) -> None:
    needed = {"time", "interval", "distance", "swath_width", "heading", "working", "flow", "moisture", "pass_number"}
    with hl.Client(**logged.credentials, rate_limits=()) as client:
        for job in harvests(logged):
            layer = client.job_data.read(job["job_id"], layer=job["layer"])
            rows = hl.harmonize(layer, job=client.job_data.get(job["job_id"]))
            names = set(rows.to_arrow().column_names) if hasattr(rows, "to_arrow") else set(rows.to_pandas().columns)
            assert needed <= names, (job["job_name"], needed - names)
            assert len(rows) == job["rows"]


def test_grid_adds_up_and_refuses_bad_cells(logged: hl.Sandbox) -> None:
    job = harvests(logged)[0]
    truth = job["harvest"]
    assert truth is not None
    grid = pd.DataFrame(truth.grid(10.0))
    assert grid["share"].between(0, 1).all()
    assert (grid["yield_dry"] > 0).all()
    assert (grid["share"].sum() * 100.0) == pytest.approx(truth.covered_area, rel=2e-3)
    assert (grid["share"] * grid["yield_dry"]).sum() / 100.0 == pytest.approx(truth.dry_mass, rel=4e-3)
    with pytest.raises(ValueError, match="cell"):
        truth.grid(0.5)
    with pytest.raises(TypeError, match="cell"):
        truth.grid("10")  # type: ignore[arg-type]


def test_wrong_harvest_is_an_error() -> None:
    with pytest.raises(ValueError, match="`harvest`: expected 'logged' or 'ideal'"):
        hl.Sandbox(harvest="real")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="small jobs"):
        hl.Sandbox(harvest="logged", small_jobs=3)
