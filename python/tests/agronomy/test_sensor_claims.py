"""Clocks, sensors and displays that fail on the way are said with their cause, and healthy ones are not."""

from __future__ import annotations

from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
from generated_logs import harvest, planter, sprayer

import headland as hl

LOG = harvest().frame
ROW = np.arange(len(LOG))
START = LOG["Time"].iloc[0]
SPEED = LOG["Distance"].to_numpy() * (1 + np.random.default_rng(3).normal(0, 0.02, len(LOG)))
WET = (LOG["Flow"] / (LOG["Distance"] * 7.5) * 10_000).where(LOG["Header"] == 1, 0.0)
YIELDS = {"Yld_Mass_W": "kg/ha", "Yld_Mass_D": "kg/ha"}
SPRAYED = sprayer().frame
HALF = len(SPRAYED) // 2 < np.arange(len(SPRAYED))


def said(frame: Any, kind: str = "yield", units: dict[str, str] | None = None) -> set[str]:
    """Return the codes of a log with the units of its columns, when it is harmonised."""
    stated = {**LOG.attrs["units"], **SPRAYED.attrs["units"], "Target Rate": "L/ha", **(units or {})}
    frame.attrs = {"units": {name: unit for name, unit in stated.items() if name in frame}}
    return {str(found.code) for found in hl.harmonize(frame, kind=kind).diagnostics}


def blocks(values: np.ndarray, length: int, held: float | None = None) -> np.ndarray:
    """Return values of which two of five blocks are stuck, at `held` or at the value before them."""
    before = values[np.maximum(ROW // (5 * length) * 5 * length - 1, 0)]
    return np.where(ROW // length % 5 < 2, before if held is None else held, values)


@pytest.mark.parametrize("factor", [0.5, 1.25, 3.0])
def test_clock_that_a_speed_contradicts_is_said(factor: float) -> None:
    times = START + (LOG["Time"] - START) * factor
    assert "interval-contradicts" in said(LOG.assign(Time=times, Speed=SPEED), units={"Speed": "m/s"})
    ticks = LOG.assign(Time=500_000 + ROW * 3, Speed=SPEED)
    assert "interval-contradicts" in said(ticks, units={"Speed": "m/s"})
    right = said(LOG.assign(Speed=SPEED), units={"Speed": "m/s"})
    assert not right & {"interval-contradicts", "units-contradict"}


def test_whole_numbers_that_nothing_shows_to_be_seconds_are_said() -> None:
    assert "interval-assumed" in said(LOG.assign(Time=500_000 + ROW))
    shown = said(LOG.assign(Time=500_000 + ROW, Speed=SPEED), units={"Speed": "m/s"})
    assert not shown & {"interval-assumed", "interval-contradicts"}


def test_minutes_and_seconds_are_no_hours_and_minutes() -> None:
    first = LOG.iloc[:1300]
    assert "time-unreadable" in said(first.assign(Time=first["Time"].dt.strftime("%M:%S")))
    assert "time-unreadable" not in said(first.assign(Time=first["Time"].dt.strftime("%H:%M")))


@pytest.mark.parametrize("count", [2, 4, 6])
def test_sections_without_a_column_that_log_the_flow_of_the_machine_are_said(count: int) -> None:
    plane = LOG.to_crs(LOG.estimate_utm_crs())
    angle = np.radians(LOG["Heading"].to_numpy())
    sections = []
    for side in (np.arange(count) - (count - 1) / 2) * 7.5 / count:
        x, y = plane.geometry.x + side * np.cos(angle), plane.geometry.y - side * np.sin(angle)
        points = gpd.GeoSeries(gpd.points_from_xy(x, y), crs=plane.crs).to_crs(4326)
        sections.append(LOG.assign(Swath=7.5 / count).set_geometry(points.to_numpy(), crs=4326))
    rows = gpd.GeoDataFrame(pd.concat(sections).sort_values("Time", kind="stable"), crs=4326)
    found = said(rows)
    assert "mass-assumed" in found
    assert "machines-unknown" not in found


@pytest.mark.parametrize("factor", [1 / 9.354, 1 / 2.471, 1.1209, 1000.0])
@pytest.mark.parametrize("has_target", [True, False])
def test_rates_in_another_unit_from_some_row_on_are_said(factor: float, has_target: bool) -> None:
    rates = SPRAYED["Applied Rate"] * np.where(HALF, factor, 1.0)
    columns = {"Applied Rate": rates, **({"Target Rate": rates} if has_target else {})}
    assert {"flow-changes", "units-contradict"} & said(SPRAYED.assign(**columns), "as_applied")
    one = 150.0 * (SPRAYED["Applied Rate"] > 0)
    assert "flow-changes" in said(SPRAYED.assign(**{"Applied Rate": one * np.where(HALF, factor, 1.0)}), "as_applied")


@pytest.mark.parametrize("factor", [168 / 150, 250 / 150, 0.5])
def test_rates_that_an_operator_changes_are_not_said(factor: float) -> None:
    one = 150.0 * (SPRAYED["Applied Rate"] > 0)
    assert "flow-changes" not in said(
        SPRAYED.assign(**{"Applied Rate": one * np.where(HALF, factor, 1.0)}), "as_applied"
    )
    log = planter().frame
    assert "flow-changes" not in said(log.copy(), "planting", log.attrs["units"])


@pytest.mark.parametrize("offset", [0.0, 0.5, 2.0])
def test_flow_that_is_not_zero_where_the_machine_stands_is_said(offset: float) -> None:
    at = int(np.flatnonzero(LOG["Header"] == 1)[2000])
    stands = pd.concat([LOG.iloc[[at]]] * 240).assign(Distance=0.0, Header=np.int32(0), Flow=0.0)
    stands["Time"] = LOG["Time"].iloc[at] + pd.to_timedelta(np.arange(240), unit="s")
    after = LOG.iloc[at + 1 :].assign(Time=LOG["Time"].iloc[at + 1 :] + pd.Timedelta(240, unit="s"))
    rows = gpd.GeoDataFrame(pd.concat([LOG.iloc[: at + 1], stands, after]), crs=4326)
    assert ("flow-unusual" in said(rows.assign(Flow=rows["Flow"] + offset))) == (offset > 0)


@pytest.mark.parametrize("length", [20, 60, 200])
@pytest.mark.parametrize(("name", "held"), [("Moisture", 40.0), ("Moisture", None), ("Flow", None), ("Flow", 4.2)])
def test_sensor_that_is_stuck_again_and_again_is_said(name: str, held: float | None, length: int) -> None:
    code = f"{name.lower()}-unusual"
    assert code in said(LOG.assign(**{name: blocks(LOG[name].to_numpy(), length, held)}))
    late = np.where(len(LOG) // 4 * 3 < ROW, LOG[name].iloc[len(LOG) // 2], LOG[name])
    assert code in said(LOG.assign(**{name: late}))


@pytest.mark.parametrize("name", ["Moisture", "Flow"])
def test_sensor_with_few_digits_or_a_slow_one_is_not_said(name: str) -> None:
    for values in (LOG[name].round(1), LOG[name].to_numpy()[ROW // 5 * 5], LOG[name].to_numpy()[ROW // 30 * 30]):
        assert f"{name.lower()}-unusual" not in said(LOG.assign(**{name: values}))


@pytest.mark.parametrize("moisture", [LOG["Moisture"], LOG["Moisture"] + 9, 25.0])
def test_wet_and_dry_yields_that_are_exchanged_are_said(moisture: Any) -> None:
    rows = LOG.drop(columns="Flow").assign(Moisture=moisture)
    dry = WET * (100 - moisture) / (100 - 13.5)
    assert "columns-contradict" in said(rows.assign(Yld_Mass_W=dry, Yld_Mass_D=WET), units=YIELDS)
    for right in (dry, dry.round(-1), np.minimum(dry, WET)):
        assert "columns-contradict" not in said(rows.assign(Yld_Mass_W=WET, Yld_Mass_D=right), units=YIELDS)
