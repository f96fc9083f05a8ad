"""Cleaning and maps of logged harvests against the truth of the local service, and against the usual script."""

from __future__ import annotations

from typing import TYPE_CHECKING

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from logged_jobs import JOBS, SEEDS, SERIES, Job, cleaned_of, made_map, read, rmse, true_map, usual_map

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable

BITS = {"position": 8, "duplicate": 16, "swath": 32, "moisture": 128, "spike": 256}
"""Planted faults that are found one by one."""


@pytest.fixture(scope="module", params=SEEDS)
def jobs(request: pytest.FixtureRequest, logged_service: Callable[[int], hl.Sandbox]) -> list[tuple[Job, hl.Cleaned]]:
    """Return harvests that are cleaned with the true antenna; `make soak` tries all of more seeds."""
    found = read(logged_service(request.param), JOBS if SERIES == 1 else None)
    assert len(found) >= len(JOBS)
    return [(job, cleaned_of(job)) for job in found]


@pytest.fixture(scope="module")
def timed(jobs: list[tuple[Job, hl.Cleaned]]) -> list[tuple[Job, hl.Cleaned]]:
    """Return the harvests cleaned with the true delay of the moisture, which is that of the flow if none is given."""
    truths = [(job, job.truth) for job, _ in jobs]
    return [
        (job, hl.clean(job.harmonized, antenna=truth.antenna, moisture_delay=truth.moisture_delay))
        for job, truth in truths
    ]


def dropouts(job: Job, rows: pd.DataFrame) -> np.ndarray:
    """Return the rows whose grain was weighed when the sensor logged no flow or a negative one."""
    machine = rows["machine"].to_numpy() if "machine" in rows else np.zeros(len(rows))
    time = rows["time"].astype("int64").to_numpy() / (
        1e9 if str(rows["time"].dtype).startswith("datetime64[ns") else 1e6
    )
    is_none = ~(rows["FLOW_original" if "FLOW_original" in rows else "FLOW"].to_numpy(float) > 0)
    near = np.zeros(len(rows), bool)
    for one in np.unique(machine):
        own = machine == one
        times = np.append(np.sort(time[own & is_none]), np.inf)
        seen = time[own] + job.truth.delay
        near[own] = times[np.searchsorted(times, seen - job.interval)] <= seen + job.interval
    return near


def without_header(job: Job) -> hl.Layer:
    """Return a harvest whose display did not log the state of the header."""
    frame = job.layer.to_geopandas().drop(columns="HEADERDOWN")
    assert frame.attrs["units"]["SWATHWIDTH"] in ("m", "ft")
    return hl.harmonize(frame, kind="yield")


def caught(jobs: list[tuple[Job, hl.Cleaned]]) -> pd.DataFrame:
    """Return planted and found faults of the rows in passes, by bit, and the rows of all bits together."""
    tables = []
    for job, cleaned in jobs:
        found = cleaned.layer.to_pandas()["reasons"].to_numpy()
        planted = np.array(job.truth.reasons)
        inside = planted & 1 == 0
        # A row without a flow among others is a dropout: its spike is filled.
        found = np.where(dropouts(job, cleaned.layer.to_pandas()), found | 256, found)
        tables.append(
            pd.DataFrame(
                {
                    name: [int((inside & (planted & bit > 0)).sum()), int((inside & (planted & found & bit > 0)).sum())]
                    for name, bit in BITS.items()
                },
                index=["planted", "found"],
            ).T
        )
    return sum(tables[1:], start=tables[0])


def test_delays_of_logged_harvests_are_within_half_a_second(jobs: list[tuple[Job, hl.Cleaned]]) -> None:
    errors: dict[tuple[str, int | str], float] = {}
    for job, cleaned in jobs:
        for machine, delay in cleaned.delay.machines.items():
            assert delay["seconds"] is not None, (job.name, machine, delay["reason"])
            # Seconds, or half of them where a row is logged every 2 s.
            errors[job.name, machine] = abs(delay["seconds"] - job.truth.delay) / max(job.interval, 1.0)
            assert cleaned.moisture_delay.machines[machine]["seconds"] == delay["seconds"]
    beyond = {key: error for key, error in errors.items() if error > 0.5}
    # Of the hundreds of sensors of a soak, one is beyond half a second, by 0.06 s. A short series has none.
    assert len(beyond) <= 0.05 * len(errors), beyond
    assert max(errors.values()) < 0.75, beyond


def logged_flow(job: Job, change: Callable[[pd.DataFrame], pd.Series]) -> hl.Cleaned:
    """Clean a harvest whose flow is another one; `change` takes the rows of a pass."""
    frame = job.layer.to_geopandas()
    keys = [name for name in ("MACHINE", "PASS") if name in frame]
    flow = pd.concat([change(rows) for _, rows in frame.groupby(keys, sort=False)])
    # The yields of the display follow from the flow.
    changed = frame.assign(FLOW=flow).drop(columns=["VRYIELDVOL", "DRYMATTER"])
    changed.attrs = frame.attrs
    return hl.clean(hl.harmonize(changed, kind="yield"), antenna=job.truth.antenna, moisture_delay=None)


def test_shuffled_flow_of_logged_harvests_has_no_delay(jobs: list[tuple[Job, hl.Cleaned]]) -> None:
    random = np.random.default_rng(0)
    for job, base in jobs[:4]:
        cleaned = logged_flow(job, lambda rows: pd.Series(random.permutation(rows["FLOW"]), rows.index))
        assert base.delay.seconds is not None
        for delay in cleaned.delay.machines.values():
            assert delay["seconds"] is None, job.name
            assert delay["reason"], job.name


def test_flow_of_logged_harvests_that_is_later_has_more_delay(jobs: list[tuple[Job, hl.Cleaned]]) -> None:
    for job, base in jobs[:4]:
        frame = job.layer.to_geopandas()
        keys = ["MACHINE"] if "MACHINE" in frame else []
        for steps in (-2, 3):
            flow = frame.groupby(keys)["FLOW"].shift(steps) if keys else frame["FLOW"].shift(steps)
            later = frame.assign(FLOW=flow.fillna(0.0)).drop(columns=["VRYIELDVOL", "DRYMATTER"])
            later.attrs = frame.attrs
            cleaned = hl.clean(hl.harmonize(later, kind="yield"), antenna=job.truth.antenna, moisture_delay=None)
            for machine, delay in cleaned.delay.machines.items():
                before = base.delay.machines[machine]["seconds"]
                assert before is not None
                assert delay["seconds"] == pytest.approx(before + steps * job.interval, abs=0.3), (job.name, steps)


def test_planted_faults_are_caught(timed: list[tuple[Job, hl.Cleaned]]) -> None:
    counts = caught(timed)
    share = counts["found"] / counts["planted"]
    assert (counts["planted"] >= 20).all(), counts
    assert (share > 0.95).all(), counts
    assert counts["found"].sum() / counts["planted"].sum() > 0.95


def test_dropouts_of_the_flow_are_filled(jobs: list[tuple[Job, hl.Cleaned]]) -> None:
    planted = right = 0
    for job, cleaned in jobs:
        rows = cleaned.layer.to_pandas()
        passes = rows.groupby([rows["machine"], rows["pass_number"]] if "machine" in rows else "pass_number")
        usual = passes["flow_shifted"].transform(lambda flow: flow.rolling(11, center=True, min_periods=5).median())
        filled = (np.array(job.truth.reasons) == 256) & dropouts(job, rows) & (rows["pass_number"] > 0)
        planted += int(filled.sum())
        right += int((filled & (rows["flow_shifted"] / usual).between(0.75, 1.33)).sum())
    assert planted >= 20
    assert right / planted > 0.95, (right, planted)


def test_wrong_distances_are_replaced_by_the_steps_of_the_positions(jobs: list[tuple[Job, hl.Cleaned]]) -> None:
    planted = right = 0
    for job, cleaned in jobs:
        rows = cleaned.layer.to_pandas()
        passes = rows.groupby([rows["machine"], rows["pass_number"]] if "machine" in rows else "pass_number")
        usual = passes["m2"].transform(lambda ground: ground.rolling(11, center=True, min_periods=5).median())
        # Rows whose distance alone is wrong, and that are no turn.
        wrong = (np.array(job.truth.reasons) == 4) & (rows["pass_number"] > 0)
        is_usual = (rows["m2"] / usual).between(0.75, 1.33) | (rows["reasons"] & 4 > 0)
        planted += int(wrong.sum())
        right += int((wrong & is_usual).sum())
    assert planted >= 20
    assert right / planted > 0.95, (right, planted)


def test_clean_rows_are_left_alone(timed: list[tuple[Job, hl.Cleaned]]) -> None:
    flagged = clean = 0
    for job, cleaned in timed:
        found = cleaned.layer.to_pandas()["reasons"].to_numpy()
        is_clean = np.array(job.truth.reasons) & ~64 == 0
        clean += int(is_clean.sum())
        # The ends of passes are fixed seconds, regardless of their grain.
        flagged += int((is_clean & (found & ~(2 | 64) > 0)).sum())
    assert clean > 10_000
    assert flagged / clean < 0.01


def test_covered_ground_and_dry_mass_are_the_true_ones(jobs: list[tuple[Job, hl.Cleaned]]) -> None:
    for job, cleaned in jobs:
        ground = cleaned.layer.to_pandas()["m2"].sum()
        grid = hl.grid(cleaned).to_pandas()
        mass = grid["kg_dry"].sum() / grid["m2"].sum() * grid["covered"].sum()
        assert ground == pytest.approx(job.truth.covered_area, rel=0.02), job.name
        assert mass == pytest.approx(job.truth.dry_mass, rel=0.015), job.name


def test_covered_area_of_a_layer_is_the_true_one(jobs: list[tuple[Job, hl.Cleaned]]) -> None:
    for job, _ in jobs[:3]:
        assert job.harmonized.covered_area() == pytest.approx(job.truth.covered_area, rel=0.02), job.name


def test_map_is_near_the_true_one_and_the_usual_script_is_not(jobs: list[tuple[Job, hl.Cleaned]]) -> None:
    ours, usual = [], []
    for job, cleaned in jobs:
        true = true_map(job.truth)
        ours.append(rmse(made_map(hl.grid(cleaned)), true))
        usual.append(rmse(usual_map(job), true))
    assert np.median(ours) < 0.15, ours
    assert max(ours) < 0.25, ours
    assert (np.array(usual) > 5 * np.array(ours)).all(), (usual, ours)


def test_harvest_without_state_of_the_header_is_near_the_truth(jobs: list[tuple[Job, hl.Cleaned]]) -> None:
    errors = []
    for job, with_header in jobs:
        layer = without_header(job)
        assert "working" not in layer.columns
        cleaned = hl.clean(layer, antenna=job.truth.antenna)
        rows = cleaned.layer.to_pandas()
        grid = hl.grid(cleaned).to_pandas()
        mass = grid["kg_dry"].sum() / grid["m2"].sum() * grid["covered"].sum()
        error = rmse(made_map(hl.grid(cleaned)), true_map(job.truth))
        errors.append(error)
        assert len(rows) == len(with_header.layer)
        for delay in cleaned.delay.machines.values():
            assert delay["seconds"] == pytest.approx(job.truth.delay, abs=0.5 * max(job.interval, 1.0)), job.name
        assert rows["m2"].sum() == pytest.approx(job.truth.covered_area, rel=0.02), job.name
        assert mass == pytest.approx(job.truth.dry_mass, rel=0.015), job.name
    # With the state of the header, the medians differ by less than a hundredth.
    assert np.median(errors) < 0.17, errors


def test_harvest_of_polygons_is_near_the_truth(jobs: list[tuple[Job, hl.Cleaned]]) -> None:
    job, points = jobs[0]
    truth = job.truth
    frame = job.harmonized.to_geopandas()
    rows = frame.to_crs(truth.crs)
    angle = np.radians(rows["heading"].to_numpy(float))
    forward = np.column_stack([np.sin(angle), np.cos(angle)])
    across = np.column_stack([-forward[:, 1], forward[:, 0]]) * rows["swath_width"].to_numpy(float)[:, None] / 2
    front = rows.geometry.get_coordinates().to_numpy() + truth.antenna * forward
    back = front - forward * rows["distance"].to_numpy(float)[:, None]
    corners = np.stack([back - across, front - across, front + across, back + across], axis=1)
    shapes = gpd.GeoSeries(list(shapely.polygons(corners)), crs=truth.crs)
    originals = job.layer.to_geopandas().set_geometry(shapes.to_crs(4326).to_numpy(), crs=4326)
    cleaned = hl.clean(hl.harmonize(originals, kind="yield"))
    found = cleaned.layer.to_pandas()
    grid = hl.grid(cleaned)
    sums = grid.to_pandas().sum()
    assert cleaned.delay.seconds == pytest.approx(truth.delay, abs=0.5 * max(job.interval, 1.0))
    assert found["m2"].sum() == pytest.approx(truth.covered_area, rel=0.02)
    assert sums["kg_dry"] / sums["m2"] * sums["covered"] == pytest.approx(truth.dry_mass, rel=0.015)
    assert rmse(made_map(grid), true_map(truth)) < 1.5 * rmse(made_map(hl.grid(points)), true_map(truth))
