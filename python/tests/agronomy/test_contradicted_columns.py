"""Columns that the clock, the motion, the grain or the tracks contradict: the right value, or it is said."""

from __future__ import annotations

import warnings
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
from generated_logs import Leg, Log, drive, framed, harvest, planter, rows_of, sprayer, turn

import headland as hl


def changed(log: Log, /, units: dict[str, str] | None = None, **columns: Any) -> gpd.GeoDataFrame:
    """Return the rows with other values in columns; None drops one."""
    gone = [name for name, values in columns.items() if values is None]
    frame = log.frame.assign(**{name: values for name, values in columns.items() if values is not None})
    frame = frame.drop(columns=gone)
    frame.attrs = {"units": {name: unit for name, unit in log.frame.attrs["units"].items() if name in frame}}
    frame.attrs["units"] |= units or {}
    return frame


def codes(*layers: hl.Layer) -> set[str]:
    """Return the codes of all diagnostics."""
    return {str(found.code) for layer in layers for found in layer.diagnostics}


def mean(layer: hl.Layer) -> float:
    """Return the mean yield of a harvest of one field."""
    return float(hl.field_means(layer).to_pandas()["mean"].iloc[0])


@pytest.mark.parametrize("seconds", [0.5, 2.0, 5.0])
def test_interval_that_the_clock_contradicts_is_not_used_and_said(seconds: float) -> None:
    log = harvest()
    layer = hl.harmonize(changed(log, {"Interval": "s"}, Interval=seconds), kind="yield")
    assert "interval-contradicts" in codes(layer)
    assert mean(layer) == pytest.approx(log.truth.mean, rel=0.01)


def test_interval_that_agrees_with_the_clock_is_used_and_nothing_is_said() -> None:
    log = harvest()
    layer = hl.harmonize(changed(log, {"Interval": "ms"}, Interval=1_000.0), kind="yield")
    assert (layer.to_pandas()["interval"] == 1.0).all()
    assert "interval-contradicts" not in codes(layer)


def test_interval_is_tested_by_speed_where_no_time_is_logged() -> None:
    log = harvest()
    speed = log.frame["Distance"].to_numpy()
    units = {"Interval": "s", "Speed": "m/s"}
    layer = hl.harmonize(changed(log, units, Interval=2.0, Speed=speed, Time=None), kind="yield")
    assert "interval-contradicts" in codes(layer)
    assert layer.to_pandas()["wet_mass"].sum() == pytest.approx(log.frame["Flow"].sum(), rel=0.01)


@pytest.mark.parametrize("system", ["EPSG:31287", "EPSG:31467", "EPSG:5514"])
def test_national_plane_without_a_way_to_wgs84_gives_masses_and_ground(system: str) -> None:
    log = harvest()
    frame = log.frame.to_crs(system)
    frame.attrs = log.frame.attrs
    layer = hl.harmonize(frame, kind="yield")
    assert not codes(layer) & {"rows-missing", "rows-not-in-order"}
    assert mean(layer) == pytest.approx(log.truth.mean, rel=0.01)
    without = frame.drop(columns="Time").assign(Interval=1.0)
    without.attrs = {"units": {**log.frame.attrs["units"], "Interval": "s"}}
    assert mean(hl.harmonize(without, kind="yield")) == pytest.approx(log.truth.mean, rel=0.01)


def test_degrees_of_an_old_datum_give_masses() -> None:
    log = harvest()
    frame = log.frame.set_crs(4267, allow_override=True)
    frame.attrs = log.frame.attrs
    layer = hl.harmonize(frame, kind="yield")
    assert layer.to_pandas()["wet_mass"].sum() == pytest.approx(log.frame["Flow"].sum(), rel=0.01)


@pytest.mark.parametrize(("codes_of_work", "period"), [((252, 255), 6), ((252, 255), 30), ((6, 7), 8), ((2, 3), 25)])
def test_masks_of_sections_whose_lowest_bit_is_0_are_work(codes_of_work: tuple[int, int], period: int) -> None:
    log = sprayer()
    even = np.arange(len(log.frame)) % 50 < period
    masks = np.where(log.frame["Header"] > 0, np.where(even, *codes_of_work), 0)
    layer = hl.harmonize(changed(log, Header=masks), kind="as_applied")
    assert "working-contradicts" in codes(layer)
    assert layer.to_pandas()["amount"].sum() == pytest.approx(log.truth.total, rel=0.01)
    assert layer.covered_area() == pytest.approx(log.truth.ground, rel=0.01)


def test_code_of_unloading_while_cutting_is_work() -> None:
    log = harvest()
    unloading = np.arange(len(log.frame)) % 400 < 48
    layer = hl.harmonize(changed(log, Header=np.where(log.frame["Header"] > 0, 1 + unloading, 0)), kind="yield")
    assert "working-contradicts" in codes(layer)
    assert mean(layer) == pytest.approx(log.truth.mean, rel=0.01)


def test_codes_of_a_header_that_is_up_are_no_work() -> None:
    log = harvest()
    layer = hl.harmonize(changed(log, Header=log.frame["Header"] + 32), kind="yield")
    assert "working-contradicts" not in codes(layer)
    assert layer.covered_area() == pytest.approx(log.truth.ground, rel=0.01)


@pytest.mark.parametrize("seconds", [0.1, 0.4, 0.5])
def test_copy_of_a_log_between_its_rows_is_counted_once(seconds: float) -> None:
    log = harvest()
    copy = log.frame.assign(Time=log.frame["Time"] + pd.Timedelta(seconds=seconds))
    both = pd.concat([log.frame, copy]).sort_values("Time", kind="stable").reset_index(drop=True)
    both.attrs = log.frame.attrs
    layer = hl.harmonize(both, kind="yield")
    cells = hl.grid(hl.clean(layer)).to_pandas()
    assert mean(layer) == pytest.approx(log.truth.mean, rel=0.01)
    assert cells["kg_dry"].sum() / cells["m2"].sum() * 1e4 == pytest.approx(log.truth.mean, rel=0.015)


def test_wider_header_from_the_middle_on_is_said() -> None:
    legs: list[Leg] = []
    y = 0.0
    for number in range(20):
        width = 7.5 if number < 10 else 12.0
        ends = (0.0, 320.0) if number % 2 == 0 else (320.0, 0.0)
        leg = Leg(ends[0], y + width / 2, ends[1], y + width / 2, is_working=True)
        legs += [*(turn(legs[-1], leg) if legs else []), leg]
        y += width
    rows = rows_of(drive(legs, 1.8), 7.5, 12.0, (48.3, 15.6), "2025-07-29T09:12:00Z")
    columns = {
        "Time": rows["time"],
        "Distance": rows["distance"],
        "Swath": 7.5,
        "Flow": 5.0 * rows["is_working"],
        "Moisture": 14.0,
        "Header": rows["is_working"].astype("int32"),
        "Crop": "Wheat",
    }
    frame = framed(columns, rows, {"Distance": "m", "Swath": "m", "Moisture": "%", "Flow": "kg/s"})
    layer = hl.harmonize(frame, kind="yield")
    assert "width-contradicts" in codes(hl.clean(layer).layer)
    with pytest.warns(hl.HeadlandWarning, match="neighbouring tracks are 12.00 m apart"):
        layer.covered_area()


def test_product_of_turns_without_a_state_is_said() -> None:
    log = sprayer()
    held = log.frame["Applied Rate"].replace(0, np.nan).ffill().bfill()
    cleaned = hl.clean(hl.harmonize(changed(log, Header=None, **{"Applied Rate": held}), kind="as_applied"))
    assert "applied-twice" in codes(cleaned.layer)
    assert "applied-twice" not in codes(hl.clean(hl.harmonize(log.frame, kind="as_applied")).layer)


@pytest.mark.parametrize("moisture", [5.0, 30.0])
def test_moisture_that_is_stuck_is_said(moisture: float) -> None:
    log = harvest()
    late = np.arange(len(log.frame)) > len(log.frame) // 2
    frame = changed(log, Moisture=np.where(late, moisture, log.frame["Moisture"]))
    assert "moisture-unusual" in codes(hl.harmonize(frame, kind="yield"))
    assumed = hl.harmonize(changed(log, Moisture=14.6), kind="yield")
    assert "moisture-unusual" in codes(hl.field_means(assumed))


def test_planted_rate_in_thousands_is_said() -> None:
    log = planter()
    frame = changed(log, **{"Applied Rate": log.frame["Applied Rate"] / 1e3})
    assert "units-contradict" in codes(hl.harmonize(frame, kind="planting"))
    frame.attrs["units"]["Applied Rate"] = "ksds/ac"
    layer = hl.harmonize(frame, kind="planting")
    assert "units-contradict" not in codes(layer)
    assert layer.to_pandas()["amount"].sum() == pytest.approx(log.truth.total, rel=0.01)


def test_distances_of_one_value_are_the_steps_of_the_positions() -> None:
    log = planter()
    layer = hl.harmonize(changed(log, Distance=9.0), kind="planting")
    cells = hl.grid(hl.clean(layer)).to_pandas()
    assert "units-contradict" in codes(layer)
    assert cells["covered"].sum() == pytest.approx(log.truth.ground, rel=0.02)


def test_covered_area_says_what_the_cleaning_says_of_the_ground() -> None:
    log = harvest()
    layer = hl.harmonize(changed(log, Swath=4.5), kind="yield")
    with pytest.warns(hl.HeadlandWarning, match="neighbouring tracks"):
        layer.covered_area()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert hl.harmonize(log.frame, kind="yield").covered_area() == pytest.approx(log.truth.ground, rel=0.01)


def test_sections_that_all_log_one_flow_are_said() -> None:
    log = harvest()
    plane = log.frame.to_crs(log.frame.estimate_utm_crs())
    angle = np.radians(log.frame["Heading"].to_numpy())
    sections = []
    for section, side in ((1, -1.875), (2, 1.875)):
        x, y = plane.geometry.x + side * np.cos(angle), plane.geometry.y - side * np.sin(angle)
        points = gpd.GeoSeries(gpd.points_from_xy(x, y), crs=plane.crs).to_crs(4326)
        sections.append(log.frame.assign(Section=section, Swath=3.75).set_geometry(points.to_numpy(), crs=4326))
    both = pd.concat(sections).sort_values(["Time", "Section"], kind="stable").reset_index(drop=True)
    both.attrs = log.frame.attrs
    assert "mass-assumed" in codes(hl.harmonize(both, kind="yield"))


def test_rows_whose_file_order_skips_rows_are_taken_in_the_order_of_a_counter() -> None:
    log = harvest()
    number = np.arange(len(log.frame))
    # Every third row, then those between them: in the order of the file, the steps go on along the track but are long.
    mixed = log.frame.assign(gid=number).iloc[np.argsort(number % 3, kind="stable")].drop(columns="Time")
    mixed = mixed.assign(Interval=1.0)
    mixed.attrs = {"units": {**log.frame.attrs["units"], "Interval": "s"}}
    layer = hl.harmonize(mixed, kind="yield")
    assert "rows-missing" not in codes(layer)
    assert layer.covered_area() == pytest.approx(log.truth.ground, rel=0.02)


@pytest.mark.parametrize("name", ["As Applied Rate", "Tasa Aplicada(l/ha)", "TASA_APLICADA"])
def test_names_of_the_applied_rate_are_read(name: str) -> None:
    log = sprayer()
    frame = log.frame.rename(columns={"Applied Rate": name})
    frame.attrs = {
        "units": {name if key == "Applied Rate" else key: unit for key, unit in log.frame.attrs["units"].items()}
    }
    layer = hl.harmonize(frame, kind="as_applied")
    assert layer.to_pandas()["amount"].sum() == pytest.approx(log.truth.total, rel=0.01)


@pytest.mark.parametrize("name", ["yield_dry", "yield_wet", "Flow_original", "flow"])
def test_change_of_a_harmonised_column_is_said(name: str) -> None:
    edited = hl.harmonize(harvest().frame, kind="yield").to_geopandas()
    edited[name] *= 1.1
    assert "columns-contradict" in codes(hl.field_means(edited))


def test_change_of_the_rows_that_a_cleaning_uses_is_said() -> None:
    cleaned = hl.clean(hl.harmonize(harvest().frame, kind="yield"))
    assert "columns-contradict" not in codes(hl.clean(cleaned.layer).layer)
    frame = cleaned.layer.to_geopandas()
    frame.loc[frame.index[frame["used"]][:500], "used"] = False
    assert "columns-contradict" in codes(hl.clean(frame).layer)
