"""What is said of logs whose sensors, positions or targets are not what they claim, in words that name the cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import geopandas as gpd
import numpy as np
import pytest
import shapely
from generated_logs import Log, harvest, sprayer
from spoiled_logs import changed, frame_of, moved, numbers
from spoiled_values import later

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterable


def said(found: Iterable[hl.Diagnostic], code: str) -> str:
    """Return the message of a code; an error if it is not said."""
    return next(each.message for each in found if each.code == code)


def cleaned(frame: gpd.GeoDataFrame, **options: object) -> list[hl.Diagnostic]:
    """Return the diagnostics of a cleaning."""
    return hl.clean(hl.harmonize(frame, kind="yield"), **options).layer.diagnostics  # type: ignore[arg-type]


def test_change_of_a_sensor_is_said_with_its_row_and_ratio() -> None:
    log = harvest()
    message = said(cleaned(later(log, "flow", 1.5)), "flow-changes")
    row = int(message.split()[2])
    assert row == pytest.approx(len(log.frame) // 2, abs=len(log.frame) // 50)
    assert float(message.split("the yield is ")[1].split()[0]) == pytest.approx(1.5, rel=0.03)
    assert all(each.code != "flow-changes" for each in cleaned(log.frame))


def test_rows_outside_of_a_boundary_are_said_with_their_share() -> None:
    frame = harvest().frame
    west, south, east, north = frame.total_bounds
    for east_side, is_said in (((west + east) / 2, True), (east + 0.001, False)):
        shape = shapely.box(west - 0.001, south - 0.001, east_side, north + 0.001)
        found = cleaned(frame, boundary=gpd.GeoDataFrame(geometry=[shape], crs=frame.crs))
        assert any(each.code == "rows-outside" for each in found) == is_said
        if is_said:
            assert 45 <= int(said(found, "rows-outside").split()[0]) <= 55


def test_exchanged_coordinates_are_named_as_such() -> None:
    log = harvest()
    exchanged = gpd.points_from_xy(log.frame.geometry.y, log.frame.geometry.x)
    assert "longitude and latitude were exchanged" in said(
        cleaned(moved(log, slice(None), exchanged)), "heading-contradicts"
    )
    opposite = changed(log, "heading", (numbers(log, "heading") + 180) % 360)
    assert "exchanged" not in said(cleaned(opposite), "heading-contradicts")


def test_positions_in_another_unit_are_no_missing_rows() -> None:
    log = harvest()
    metres = log.frame.to_crs(log.frame.estimate_utm_crs())
    feet = gpd.points_from_xy(metres.geometry.x / 0.3048, metres.geometry.y / 0.3048, crs=metres.crs)
    message = said(hl.harmonize(frame_of(log, metres.set_geometry(feet)), kind="yield").diagnostics, "rows-missing")
    assert "another unit or coordinate system" in message
    assert "rows are missing between them" not in message


def compared(log: Log, target: np.ndarray) -> hl.RateComparison:
    """Compare the rates of a sprayer with a logged target in L/ha."""
    frame = log.frame.assign(**{"Target Rate": target})
    frame.attrs = {"units": {**log.frame.attrs["units"], "Target Rate": "L/ha"}}
    return hl.compare_rates(hl.harmonize(frame, kind="as_applied"))


def test_logged_target_in_another_unit_is_said_and_its_codes_are_none() -> None:
    log = sprayer()
    applied = numbers(log, "rate")
    target = np.where(applied > 0, applied, 200.0)
    whole = compared(log, target)
    assert not {"units-contradict", "no-values"} & {each.code for each in whole.diagnostics}
    assert "times the logged target" in said(compared(log, target / 9.354).diagnostics, "units-contradict")
    coded = compared(log, np.where(np.arange(len(target)) % 20 == 0, 65_535.0, target))
    assert "rows have a target far above" in said(coded.diagnostics, "no-values")
    asked = [rates.report.to_pandas()["asked"].sum() for rates in (whole, coded)]
    assert asked[1] == pytest.approx(asked[0], rel=0.1)
