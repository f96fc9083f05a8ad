"""Layers of several jobs: ground counts once in a season, and other seasons and jobs are apart."""

from __future__ import annotations

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
from driven_rows import field, harmonized, values
from driven_rows import frame as placed
from generated_logs import harvest, sprayer
from season_logs import keep, later, together

import headland as hl


def test_seasons_of_a_field_are_as_if_cleaned_apart() -> None:
    log = harvest().frame
    crops = ("Barley", "Wheat", "Barley")
    frames = [
        later(log, 365.0 * year, job_id=f"{year}", Crop=crop, Flow=log["Flow"] * (1 + 0.2 * year))
        for year, crop in enumerate(crops)
    ]
    cleaned = hl.clean(hl.harmonize(together(*frames), kind="yield"))
    rows = values(cleaned.layer)
    for year, frame in enumerate(frames):
        apart = values(hl.clean(hl.harmonize(frame, kind="yield")).layer)
        own = rows[rows["job_id"] == f"{year}"].reset_index(drop=True)
        for name in ("m2", "kg", "yield_wet", "yield_dry", "flow_shifted"):
            # The plane has the same place, so that values differ by rounding alone.
            np.testing.assert_allclose(own[name], apart[name], rtol=1e-6, err_msg=name)
        for name in ("reasons", "used"):
            assert (own[name] == apart[name]).all(), name
    assert set(cleaned.delay.machines) == {"0, machine 0", "1, machine 0", "2, machine 0"}
    line = cleaned.report.to_pandas().set_index("reason").loc["used"]
    assert line["ha"] == pytest.approx(rows.loc[rows["used"], "m2"].sum() / 1e4)


def test_map_has_a_row_for_each_season() -> None:
    log = harvest().frame
    frames = [later(log, 365.0 * year, Crop=crop) for year, crop in enumerate(("Wheat", "Barley"))]
    cleaned = hl.clean(hl.harmonize(together(*frames), kind="yield"))
    one = hl.grid(hl.clean(hl.harmonize(frames[0], kind="yield"))).to_pandas()
    cells = hl.grid(cleaned).to_pandas()
    assert list(cells.columns[:2]) == ["crop", "year"]
    sums = cells.groupby(["crop", "year"])[["kg_wet", "covered"]].sum()
    assert list(sums.index) == [("barley", 2026), ("wheat", 2025)]
    np.testing.assert_allclose(sums, [one[["kg_wet", "covered"]].sum()] * 2, rtol=1e-6)
    assert cells["share"].max() < 1 + 1e-6
    both = hl.grid(cleaned, by=[]).to_pandas()
    assert "crop" not in both
    assert both["kg_wet"].sum() == pytest.approx(2 * one["kg_wet"].sum())
    assert len(both) == len(one)
    by_crop = hl.grid(cleaned, by="crop").to_pandas()
    assert by_crop["covered"].sum() == pytest.approx(sums["covered"].sum())


def test_jobs_of_one_season_count_ground_once() -> None:
    # Two combines that take turns, each with its own job, on the same day.
    log = harvest().frame
    whole = values(hl.clean(hl.harmonize(log, kind="yield")).layer)
    is_start = log["Header"].diff() == 1
    turns = is_start.cumsum() // 4 % 2
    jobs = keep(log.assign(job_id=np.where(turns == 0, "a", "b")), log)
    cleaned = hl.clean(hl.harmonize(jobs, kind="yield"))
    rows = values(cleaned.layer)
    assert rows["m2"].sum() == pytest.approx(whole["m2"].sum(), rel=0.01)
    assert rows["kg"].sum() == pytest.approx(whole["kg"].sum(), rel=0.01)
    assert {delay["seconds"] is not None for delay in cleaned.delay.machines.values()} == {True}
    assert "crop" not in hl.grid(cleaned).columns


def test_job_with_few_passes_has_the_delay_of_the_machine_in_the_season() -> None:
    rows = field(passes=14, delay=9.0)
    job = np.where(np.arange(len(rows)) < 0.9 * len(rows), "long", "short")
    cleaned = hl.clean(harmonized(placed(rows.assign(job_id=job))))
    delays = cleaned.delay.machines
    assert delays["short, machine 0"]["seconds"] == pytest.approx(delays["long, machine 0"]["seconds"], abs=0.5)


def test_one_job_twice_is_said_and_counted_once() -> None:
    log = harvest().frame
    copy = log.set_geometry(gpd.points_from_xy(log.geometry.x.round(6), log.geometry.y.round(6), crs=log.crs))
    twice = together(keep(log.assign(job_id="1"), log), copy.assign(job_id="2"))
    cleaned = hl.clean(hl.harmonize(twice, kind="yield"))
    rows = values(cleaned.layer)
    assert "job-twice" in {str(diagnostic.code) for diagnostic in cleaned.layer.diagnostics}
    once = values(hl.clean(hl.harmonize(log, kind="yield")).layer)
    assert rows["kg"].sum() == pytest.approx(once["kg"].sum(), rel=0.02)


def test_sprayings_are_apart_by_job() -> None:
    log = sprayer().frame
    jobs = together(later(log, 0.0, job_id="first"), later(log, 9.0, job_id="second"))
    cells = hl.grid(hl.clean(hl.harmonize(jobs, kind="as_applied"))).to_pandas()
    one = hl.grid(hl.clean(hl.harmonize(log, kind="as_applied"))).to_pandas()
    sums = cells.groupby("job_id")[["amount", "covered"]].sum()
    assert list(sums.index) == ["first", "second"]
    np.testing.assert_allclose(sums, [one[["amount", "covered"]].sum()] * 2, rtol=1e-6)
    assert cells["rate"].median() == pytest.approx(one["rate"].median(), rel=1e-6)


def test_rows_of_a_wrong_clock_are_no_season() -> None:
    log = harvest().frame
    times = log["Time"].copy()
    times.iloc[100:110] -= pd.Timedelta(days=16_000)
    wrong = keep(log.assign(Time=times), log)
    assert "crop" not in hl.grid(hl.clean(hl.harmonize(wrong, kind="yield"))).columns


def test_recipe_of_several_seasons_estimates_their_delays_again() -> None:
    log = harvest().frame
    frames = [later(log, 365.0 * year, job_id=f"{year}") for year in range(2)]
    layer = hl.harmonize(together(*frames), kind="yield")
    cleaned = hl.clean(layer)
    again = hl.clean(layer, recipe=cleaned.recipe)
    assert again.layer.to_arrow().equals(cleaned.layer.to_arrow())


def test_logged_polygons_of_seasons_are_apart() -> None:
    log = sprayer().frame
    layer = hl.harmonize(log, kind="as_applied")
    swaths = hl.clean(layer).swaths().to_geopandas()
    rows = log.iloc[swaths["row"].to_numpy()].reset_index(drop=True)
    shapes = keep(rows.set_geometry(gpd.GeoSeries(swaths.geometry.to_numpy(), crs=swaths.crs)), log)
    jobs = together(later(shapes, 0.0, job_id="first"), later(shapes, 9.0, job_id="second"))
    cells = hl.grid(hl.clean(hl.harmonize(jobs, kind="as_applied"))).to_pandas()
    one = hl.grid(hl.clean(hl.harmonize(shapes, kind="as_applied"))).to_pandas()
    sums = cells.groupby("job_id")[["amount", "covered"]].sum()
    np.testing.assert_allclose(sums, [one[["amount", "covered"]].sum()] * 2, rtol=1e-6)
