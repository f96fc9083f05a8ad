"""What rows logged is on the map, or its cause is said; reports sum to what was logged; codes are no targets."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from generated_logs import LOGS, Log, harvest, sprayer
from spoiled_logs import FAULTS, MissingColumnError, changed, count, frame_of, moved, numbers

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterable

NOTES = {"swath", "overlap", "moisture"}


def messages(found: Iterable[hl.Diagnostic], *codes: str) -> str:
    """Return the messages of some codes."""
    return "\n".join(each.message for each in found if each.code in codes)


def cleaned(frame: gpd.GeoDataFrame, kind: str = "yield") -> hl.Cleaned:
    return hl.clean(hl.harmonize(frame, kind=kind))


def later(frame: gpd.GeoDataFrame, log: Log, rows: slice, seconds: float) -> gpd.GeoDataFrame:
    """Return a log with its times later from a row on."""
    name = log.columns["time"]
    times = pd.to_datetime(frame[name], utc=True).copy()
    times.iloc[rows] += pd.Timedelta(seconds, unit="s")
    return frame_of(log, frame.assign(**{name: times}))


def standing(log: Log, seconds: int, flow: float, header: float) -> gpd.GeoDataFrame:
    """Return a log whose machine stands at its middle for a while with a flow."""
    row = count(log) // 2
    stand = log.frame.iloc[[row] * seconds].assign(
        **{log.columns["distance"]: 0.0, log.columns["flow"]: flow, log.columns["header"]: header}
    )
    times = pd.to_datetime(stand[log.columns["time"]], utc=True) + pd.to_timedelta(np.arange(seconds) + 1, unit="s")
    stand[log.columns["time"]] = times.to_numpy()
    whole = later(log.frame, log, slice(row + 1, None), seconds)
    stand = stand.astype({log.columns["time"]: whole[log.columns["time"]].dtype})
    return frame_of(log, pd.concat([whole.iloc[: row + 1], stand, whole.iloc[row + 1 :]], ignore_index=True))


def frozen(log: Log) -> gpd.GeoDataFrame:
    """Return a log whose positions stay for a sixth of the rows."""
    rows = slice(count(log) // 3, count(log) // 2)
    return moved(log, rows, log.frame.geometry.iloc[rows.start])


@pytest.mark.parametrize(("seconds", "flow", "header"), [(900, 6.0, 0.0), (600, 9.0, 1.0)])
def test_grain_of_a_machine_that_stands_is_said(seconds: int, flow: float, header: float) -> None:
    found = cleaned(standing(harvest(), seconds, flow, header)).layer.diagnostics
    assert "while the machine stands" in messages(found, "mean-contradicts")
    assert "stands" not in messages(cleaned(harvest().frame).layer.diagnostics, "mean-contradicts")


@pytest.mark.parametrize("name", ["harvest", "sprayer"])
def test_positions_that_stay_while_the_distance_goes_on_are_said(name: str) -> None:
    log = LOGS[name]()
    made = cleaned(frozen(log), log.kind)
    for found in (made.layer.diagnostics, hl.grid(made).diagnostics):
        assert "positions are frozen" in messages(found, "ground-incomplete")
    if name == "sprayer":
        rates = hl.compare_rates(made.layer, "applied_rate")
        assert "positions are frozen" in messages(rates.diagnostics, "ground-incomplete")


def test_part_of_a_job_that_is_logged_again_later_is_said() -> None:
    log = harvest()
    rows = slice(count(log) // 2, count(log) * 6 // 10)
    lap = later(log.frame, log, slice(None), 10_800).iloc[rows]
    layer = hl.harmonize(frame_of(log, pd.concat([log.frame, lap], ignore_index=True)), kind="yield")
    means = hl.field_means(layer)
    assert "are there twice" in messages(means.diagnostics, "job-twice")
    usual = hl.field_means(hl.harmonize(log.frame, kind="yield")).to_pandas()["mean"]
    assert means.to_pandas()["mean"].iloc[0] == pytest.approx(usual.iloc[0], rel=0.01)
    aside = lap.assign(geometry=lap.geometry.translate(3e-6, 3e-6))
    layer = hl.harmonize(frame_of(log, pd.concat([log.frame, aside], ignore_index=True)), kind="yield")
    assert "logged twice" in messages(hl.field_means(layer).diagnostics, "mean-contradicts")


def test_jobs_that_share_a_part_of_their_rows_at_other_times_are_said() -> None:
    log = harvest()
    one, other = (
        log.frame.iloc[: count(log) * 6 // 10],
        later(log.frame, log, slice(None), 3600).iloc[count(log) // 2 :],
    )
    layers = [hl.harmonize(frame_of(log, part), kind="yield") for part in (one, other)]
    assert "locations" in messages(hl.field_means(layers).diagnostics, "job-twice")
    parts = [log.frame.iloc[: count(log) // 2], later(log.frame, log, slice(None), 3600).iloc[count(log) // 2 :]]
    layers = [hl.harmonize(frame_of(log, part), kind="yield") for part in parts]
    assert not messages(hl.field_means(layers).diagnostics, "job-twice")


def test_spikes_of_a_converter_are_said_with_their_reason() -> None:
    log = harvest()
    flow = np.where(np.arange(count(log)) % 25 == 0, 40.95, numbers(log, "flow"))
    message = messages(
        hl.field_means(hl.harmonize(changed(log, "flow", flow), kind="yield")).diagnostics, "mean-contradicts"
    )
    assert "`spike`" in message


def circles(radius: float, width: float, speed: float = 2.0) -> gpd.GeoDataFrame:
    """Return a harvest that is cut in a spiral from the edge to the middle, with the header down."""
    angles, radii = [0.0], [radius]
    while radii[-1] > 1.5 * width:
        angles.append(angles[-1] + speed / radii[-1])
        radii.append(radius - width * angles[-1] / (2 * np.pi))
    x, y = np.array(radii) * np.cos(angles), np.array(radii) * np.sin(angles)
    points = gpd.GeoSeries(gpd.points_from_xy(x, y), crs="+proj=aeqd +lat_0=42 +lon_0=-93 +datum=WGS84").to_crs(4326)
    times = pd.Timestamp("2025-09-20T14:00Z") + pd.to_timedelta(np.arange(len(x)), unit="s")
    columns = {"Time": times, "Distance(m)": speed, "Swath(m)": width, "Header": 1, "Moisture(%)": 15.5, "Crop": "corn"}
    return gpd.GeoDataFrame(
        {**columns, "Flow(kg/s)": 0.9 * width * speed * (1 + 0.1 * np.sin(x / 30))}, geometry=points
    )


def test_report_sums_to_what_was_logged_however_a_log_is_spoiled() -> None:
    frames = [
        (circles(60, 9), "yield"),
        (standing(harvest(), 600, 5.0, 0.0), "yield"),
        (frozen(sprayer()), "as_applied"),
    ]
    for log in (LOGS["harvest"](), LOGS["sprayer"]()):
        for spoil in FAULTS.values():
            try:
                frames.append((spoil.spoil(log), log.kind))
            except MissingColumnError:
                continue
    checked = 0
    for frame, kind in frames:
        try:
            report = cleaned(frame, kind).report.to_pandas().set_index("reason").drop(columns=["only"])
        except (ValueError, TypeError):
            continue
        amount = report["kg" if kind == "yield" else "amount"].fillna(0.0)
        left_out = amount.drop(["logged", "used", "little_new_ground", *NOTES & set(amount.index)])
        if kind != "yield" and "speed" in left_out:
            left_out = left_out.drop("speed")
        assert amount["logged"] == pytest.approx(amount["used"] + left_out.sum(), rel=1e-6)
        checked += 1
    assert checked > 100


def test_rows_outside_of_passes_have_their_grain_and_ground_in_the_report() -> None:
    report = cleaned(circles(60, 9)).report.to_pandas().set_index("reason")
    for column in ("kg", "ha"):
        assert abs(report.loc["rest", column]) < 0.03 * report.loc["logged", column]


@pytest.mark.parametrize(("code", "share"), [(65_535.0, 0.03), (65_535.0, 0.3), (9_999.0, 0.7), (32_767.0, 0.45)])
def test_codes_are_no_target_however_many_there_are(code: float, share: float) -> None:
    log = sprayer()
    target, rng = numbers(log, "rate"), np.random.default_rng(1)
    coded = np.where(rng.random(len(target)) < share, code, target)
    frame = frame_of(log, log.frame.assign(**{"Target Rate": coded}))
    frame.attrs = {"units": {**log.frame.attrs["units"], "Target Rate": "L/ha"}}
    rates = hl.compare_rates(hl.harmonize(frame, kind="as_applied"))
    report = rates.report.to_pandas().query("by == 'all'").iloc[0]
    assert report["asked"] <= 1.01 * report["applied"]
    assert "rows have a target" in messages(rates.diagnostics, "no-values")


def test_zones_with_codes_are_no_target() -> None:
    log = sprayer()
    west, south, east, north = log.frame.total_bounds
    edges = np.linspace(west - 1e-3, east + 1e-3, 41)
    usual = float(np.median(numbers(log, "rate")[numbers(log, "rate") > 0]))
    rates = np.where(np.arange(40) % 13 == 7, 65_535.0, usual)
    shapes = [shapely.box(left, south - 1e-3, right, north + 1e-3) for left, right in pairwise(edges)]
    zones = gpd.GeoDataFrame({"RATE": rates, "UNIT": "L/ha"}, geometry=shapes, crs=4326)
    compared = hl.compare_rates(hl.harmonize(log.frame, kind="as_applied"), zones)
    planned = compared.report.to_pandas().query("by == 'all' and target == 'planned'").iloc[0]
    assert planned["asked"] < 1.5 * planned["applied"]
    assert "65535" in messages(compared.diagnostics, "rate-outlier")
    assert any(each.code == "rate-outlier" for each in hl.check_prescription(zones))
