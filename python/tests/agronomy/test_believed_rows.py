"""Rows that are not believed where the rest of the log contradicts them: everyday faults with their right values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from generated_logs import Log, harvest, sprayer

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable


class Result(NamedTuple):
    """What a log gives: kg/ha by rows and on the map, the ground of rows and map in m2, the delay, and all codes."""

    layer: hl.Layer
    cleaned: hl.Cleaned
    grid: hl.Layer

    @property
    def of_rows(self) -> float:
        """Return all dry mass on the ground counted once."""
        return float(self.layer.to_pandas()["dry_mass"].sum() / self.layer.covered_area() * 1e4)

    @property
    def of_map(self) -> float:
        """Return the mean of the map."""
        cells = self.grid.to_pandas()
        return float(cells["kg_dry"].sum() / cells["m2"].sum() * 1e4)

    @property
    def ground(self) -> float:
        """Return the worked ground on the map."""
        return float(self.grid.to_pandas()["covered"].sum())

    @property
    def codes(self) -> set[str]:
        """Return the codes of all steps."""
        return {str(found.code) for part in (self.layer, self.cleaned.layer, self.grid) for found in part.diagnostics}


def result(frame: gpd.GeoDataFrame, kind: str = "yield", **options: Any) -> Result:
    """Harmonise, clean and map rows."""
    frame.attrs.setdefault("units", {})
    layer = hl.harmonize(frame, kind=kind, **options)
    cleaned = hl.clean(layer)
    return Result(layer, cleaned, hl.grid(cleaned, 10.0))


def rows(log: Log | None = None, /, **columns: object) -> gpd.GeoDataFrame:
    """Return the rows of a harvest with other values in columns; None drops one."""
    frame = (log or harvest()).frame
    units = frame.attrs["units"]
    gone = [name for name, values in columns.items() if values is None]
    frame = frame.assign(**{name: values for name, values in columns.items() if values is not None}).drop(columns=gone)
    frame.attrs = {"units": {name: unit for name, unit in units.items() if name in frame}}
    return frame


def parts(positions: Any) -> gpd.GeoDataFrame:
    """Return rows of the harvest by their positions."""
    frame = harvest().frame
    taken = frame.iloc[positions].copy()
    taken.attrs = dict(frame.attrs)
    return taken


TRUTH = harvest().truth


def is_right(found: Result, part: float = 0.015) -> bool:
    """Return whether means and ground are the true ones within a part."""
    values = (found.of_rows / TRUTH.mean, found.of_map / TRUTH.mean, found.ground / TRUTH.ground)
    return bool(np.abs(np.array(values) - 1).max() < part)


RANDOM = np.random.default_rng(11)
COUNT = len(harvest().frame)


@pytest.mark.parametrize(
    "order",
    [
        np.arange(COUNT)[::-1],
        RANDOM.permutation(COUNT),
        np.argsort(harvest().frame["Moisture"].to_numpy(), kind="stable"),
        np.argsort(harvest().frame.geometry.hilbert_distance().to_numpy(), kind="stable"),
    ],
    ids=["newest first", "shuffled", "by moisture", "along a curve"],
)
def test_rows_in_another_order_give_the_truth(order: np.ndarray) -> None:
    found = result(parts(order))
    assert is_right(found)
    assert "rows-missing" not in found.codes


@pytest.mark.parametrize(("step", "part"), [(2, 0.015), (3, 0.02)])
def test_thinned_rows_give_the_mean_and_are_said(step: int, part: float) -> None:
    found = result(parts(np.arange(0, COUNT, step)))
    assert found.of_rows == pytest.approx(TRUTH.mean, rel=part)
    assert "rows-missing" in found.codes


def test_random_half_of_the_rows_gives_the_mean_and_is_said() -> None:
    found = result(parts(np.sort(RANDOM.permutation(COUNT)[: COUNT // 2])))
    assert found.of_map == pytest.approx(TRUTH.mean, rel=0.03)
    assert {"rows-missing", "much-left-out"} <= found.codes


def test_shuffled_rows_without_time_have_no_mass_and_are_said() -> None:
    frame = parts(RANDOM.permutation(COUNT)).drop(columns="Time")
    frame.attrs = harvest().frame.attrs
    layer = hl.harmonize(frame, kind="yield")
    assert "rows-not-in-order" in {str(found.code) for found in layer.diagnostics}
    assert "dry_mass" not in layer.columns


HEADINGS: dict[str, Callable[[np.ndarray], object]] = {
    "constant": lambda angle: np.zeros(len(angle)),
    "mathematical": lambda angle: (90 - angle) % 360,
    "radians": np.radians,
    "gons": lambda angle: angle / 0.9,
    "reversed": lambda angle: (angle + 180) % 360,
    "off by 90": lambda angle: (angle + 90) % 360,
}


@pytest.mark.parametrize("how", HEADINGS)
def test_heading_that_motion_contradicts_is_not_used_and_said(how: str) -> None:
    found = result(rows(Heading=HEADINGS[how](harvest().frame["Heading"].to_numpy())))
    assert "heading-contradicts" in found.codes
    assert is_right(found)


def test_heading_with_a_declination_is_used() -> None:
    found = result(rows(Heading=(harvest().frame["Heading"] + 10) % 360))
    assert "heading-contradicts" not in found.codes
    assert is_right(found)


@pytest.mark.parametrize(("x", "y"), [(0.0, 0.0), (180.0, 90.0), (22.6, 48.3), (-179.9, -48.3)])
def test_row_without_a_fix_changes_nothing(x: float, y: float) -> None:
    shapes = harvest().frame.geometry.to_numpy().copy()
    shapes[1234] = shapely.Point(x, y)
    frame = rows().set_geometry(gpd.GeoSeries(shapes, crs=4326))
    frame.attrs = harvest().frame.attrs
    found = result(frame)
    assert is_right(found)
    assert found.grid.crs == "EPSG:32633"


STATES: dict[str, Callable[[pd.Series], object]] = {
    "decimals": lambda state: state.astype(float),
    "text": lambda state: state.astype(str),
    "letters": lambda state: np.where(state > 0, "Y", "N"),
    "bits": lambda state: state + 32,
}


@pytest.mark.parametrize("how", STATES)
def test_state_of_the_header_in_other_forms_is_read(how: str) -> None:
    found = result(rows(Header=STATES[how](harvest().frame["Header"])))
    assert is_right(found)
    assert found.layer.to_pandas()["working"].astype(bool).tolist() == (harvest().frame["Header"] > 0).tolist()


@pytest.mark.parametrize("how", ["inverted", "always up"])
def test_state_that_grain_contradicts_is_not_used_and_said(how: str) -> None:
    state = harvest().frame["Header"]
    found = result(rows(Header=1 - state if how == "inverted" else state * 0))
    assert "working-contradicts" in found.codes
    assert found.of_map == pytest.approx(TRUTH.mean, rel=0.03)


def test_worked_area_of_rows_with_the_header_up_is_zero() -> None:
    layer = hl.harmonize(rows(), kind="yield").to_pandas()
    down = harvest().frame["Header"].to_numpy() > 0
    assert (layer.loc[~down, "worked_area"] == 0).all()
    assert layer["worked_area"].sum() == pytest.approx(TRUTH.ground, rel=0.01)


@pytest.mark.parametrize("share", [0.02, 0.05, 0.10])
def test_dropouts_of_the_flow_do_not_move_the_delay(share: float) -> None:
    flow = harvest().frame["Flow"].to_numpy().copy()
    whole = hl.clean(hl.harmonize(rows(), kind="yield")).delay.seconds
    flow[np.random.default_rng(2).random(COUNT) < share] = 0.0
    found = result(rows(Flow=flow)).cleaned.delay.seconds
    assert whole is not None
    assert whole == pytest.approx(7.3, abs=1.0)
    assert found == pytest.approx(whole, abs=0.5)


@pytest.mark.parametrize(("value", "share"), [(65_535.0, 0.002), (-999.0, 0.01), (9_999.0, 0.01), (1e30, 0.005)])
def test_sentinels_of_the_flow_are_no_values_and_counted(value: float, share: float) -> None:
    flow = harvest().frame["Flow"].to_numpy().copy()
    flow[np.random.default_rng(3).random(COUNT) < share] = value
    found = result(rows(Flow=flow))
    assert "no-values" in found.codes
    assert is_right(found, 0.02)


def together(machine: bool, offset: float) -> gpd.GeoDataFrame:
    """Return the harvest as two combines that work at the same time, each on its half."""
    time = harvest().frame["Time"].copy()
    half = COUNT // 2
    time.iloc[half:] = time.iloc[half:] - (time.iloc[half] - time.iloc[0]) + pd.Timedelta(seconds=offset)
    named = {"Machine": np.where(np.arange(COUNT) < half, 1, 2).astype("int32")} if machine else {}
    frame = rows(Time=time, **named).sort_values("Time", kind="stable")
    frame.attrs = harvest().frame.attrs
    return frame


def test_two_combines_give_the_truth_with_a_column_of_machines() -> None:
    assert is_right(result(together(machine=True, offset=0.0)))


@pytest.mark.parametrize("offset", [0.0, 0.5, 60.0])
def test_two_combines_without_a_column_of_machines_are_said(offset: float) -> None:
    assert "machines-unknown" in result(together(machine=False, offset=offset)).codes


def test_serial_of_zero_with_the_header_up_is_no_second_machine() -> None:
    serial = np.where(harvest().frame["Header"] > 0, 7, 0)
    found = result(rows(Serial=serial))
    whole = result(rows())
    assert is_right(found)
    assert found.cleaned.delay.seconds == pytest.approx(whole.cleaned.delay.seconds or 0.0, abs=0.2)


@pytest.mark.parametrize("name", ["Distance", "Swath"])
@pytest.mark.parametrize("value", [np.nan, -1.0])
def test_rows_without_a_distance_or_width_keep_their_ground(name: str, value: float) -> None:
    values = harvest().frame[name].to_numpy(float).copy()
    values[::17] = value
    assert is_right(result(rows(None, **{name: values})))


@pytest.mark.parametrize("factor", [0.6, 1.6, 1 / 0.3048])
def test_width_that_passes_contradict_is_said(factor: float) -> None:
    assert "width-contradicts" in result(rows(Swath=7.5 * factor)).codes


@pytest.mark.parametrize("moisture", [0.0, 65.0, 4.8, 39.0])
def test_unusual_moisture_leaves_the_map(moisture: float) -> None:
    found = result(rows(Moisture=moisture))
    cells = found.grid.to_pandas()
    assert cells["covered"].sum() == pytest.approx(TRUTH.ground, rel=0.02)
    assert cells["m2"].sum() > 0.8 * TRUTH.ground
    assert cells["yield_wet"].notna().mean() > 0.9


def test_limits_in_other_units_are_said() -> None:
    cleaned = hl.clean(hl.harmonize(rows(), kind="yield"), {"limits": [50, 300]})
    codes = {str(found.code) for found in cleaned.layer.diagnostics}
    assert "much-left-out" in codes


@pytest.mark.parametrize("clock", ["excel", "epoch"])
def test_seconds_and_days_of_other_clocks_are_read(clock: str) -> None:
    time = harvest().frame["Time"]
    values = {
        "excel": (time - pd.Timestamp("1899-12-30", tz="UTC")) / pd.Timedelta(days=1),
        "epoch": (time - pd.Timestamp("1970-01-01", tz="UTC")) // pd.Timedelta(seconds=1),
    }
    found = result(rows(Time=values[clock]))
    start = found.layer.to_pandas()["time"].min()
    assert abs(pd.Timestamp(start).tz_localize(None) - time.min().tz_localize(None)) < pd.Timedelta(seconds=1)
    assert is_right(found)


def test_harvest_with_longitude_and_latitude_has_points() -> None:
    frame = rows()
    table = pd.DataFrame(frame.drop(columns="geometry"))
    table["Longitude"], table["Latitude"] = frame.geometry.x.to_numpy(), frame.geometry.y.to_numpy()
    table.attrs = frame.attrs
    assert is_right(result(table))


def test_boundary_of_another_place_is_said() -> None:
    boundary = gpd.GeoDataFrame(geometry=[shapely.box(0, 0, 1, 1)], crs=4326)
    layer = hl.harmonize(rows(), kind="yield")
    cleaned = hl.clean(layer, boundary=boundary)
    assert any("boundary" in found.message for found in cleaned.layer.diagnostics)


def test_rates_that_are_null_are_no_rates_of_zero() -> None:
    log = sprayer()
    rate = log.frame["Applied Rate"].to_numpy().copy()
    rate[::5] = np.nan
    found = result(rows(log, **{"Applied Rate": rate}), "as_applied")
    cells = found.grid.to_pandas()
    assert cells["amount"].sum() / cells["m2"].sum() * 1e4 == pytest.approx(log.truth.mean, rel=0.02)
    assert cells["covered"].sum() == pytest.approx(log.truth.ground, rel=0.02)


def test_tank_mix_has_all_of_each_product() -> None:
    log = sprayer()
    frames = [rows(log, Product=name, **{"Applied Rate": log.frame["Applied Rate"] * part}) for name, part in PRODUCTS]
    both = gpd.GeoDataFrame(pd.concat(frames).sort_values("Time", kind="stable"), geometry="geometry", crs=4326)
    both.attrs = log.frame.attrs
    found = result(both, "as_applied")
    sums = hl.grid(found.cleaned, 10.0, by="product").to_pandas().groupby("product")["amount"].sum()
    for name, part in PRODUCTS:
        assert sums[name] == pytest.approx(log.truth.total * part, rel=0.02), name
    assert found.ground == pytest.approx(log.truth.ground, rel=0.02)


PRODUCTS = (("Water", 1.0), ("Fungicide", 0.02), ("Oil", 0.005))


def test_single_headings_that_the_motion_contradicts_are_not_used_and_said() -> None:
    for wrong in (0.0, 65_535.0):
        heading = harvest().frame["Heading"].copy()
        heading.iloc[::3] = wrong
        found = result(rows(Heading=heading))
        assert is_right(found), wrong
        assert "heading-contradicts" in found.codes


def test_distances_of_0_are_the_steps_of_the_positions() -> None:
    distance = harvest().frame["Distance"].copy()
    distance.iloc[::3] = 0.0
    assert is_right(result(rows(Distance=distance)))


def test_copy_of_a_job_with_another_clock_is_counted_once_and_said() -> None:
    log = sprayer()
    whole = hl.grid(hl.clean(hl.harmonize(log.frame, kind="as_applied"))).to_pandas()
    copy = log.frame.assign(Time=log.frame["Time"] + pd.Timedelta(hours=6))
    both = pd.concat([log.frame, copy], ignore_index=True)
    both.attrs = log.frame.attrs
    cleaned = hl.clean(hl.harmonize(both, kind="as_applied"))
    cells = hl.grid(cleaned).to_pandas()
    assert cells["amount"].sum() == pytest.approx(whole["amount"].sum(), rel=1e-3)
    assert "job-twice" in {str(found.code) for found in cleaned.layer.diagnostics}


def test_clock_that_stands_still_is_none_and_said() -> None:
    log = sprayer()
    still = log.frame.assign(Time=log.frame["Time"].iloc[0])
    still.attrs = log.frame.attrs
    layer = hl.harmonize(still, kind="as_applied")
    assert "times-missing" in {str(found.code) for found in layer.diagnostics}
    assert layer.covered_area() == pytest.approx(log.truth.ground, rel=0.02)


def test_rows_that_work_with_a_width_of_0_are_said() -> None:
    log = sprayer()
    width = log.frame["Swath"].where(np.arange(len(log.frame)) % 3 > 0, 0.0)
    spoiled = log.frame.assign(Swath=width)
    spoiled.attrs = log.frame.attrs
    cleaned = hl.clean(hl.harmonize(spoiled, kind="as_applied"))
    assert any("swath width is 0" in found.message for found in cleaned.layer.diagnostics)


def test_long_gaps_of_the_way_are_said() -> None:
    log = sprayer()
    kept = np.arange(len(log.frame)) % 60 < 30
    half = log.frame[kept]
    half.attrs = log.frame.attrs
    layer = hl.harmonize(half, kind="as_applied")
    assert "rows-missing" in {str(found.code) for found in layer.diagnostics}
