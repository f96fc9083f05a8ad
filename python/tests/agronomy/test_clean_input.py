"""Poor rows: a result that says what is missing, or an error that names it."""

from __future__ import annotations

import re
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from driven_rows import UNITS, field, frame, harmonized, job, plane, straight, values
from hypothesis import given, settings
from hypothesis import strategies as st
from logged_jobs import SERIES

import headland as hl

ROWS = straight((0, -50), (0, 50), flow=5.0, moisture=20.0)
"""One pass of 50 rows, 600 m2 and 250 kg."""


ALL_ROWS = {"ends": [0.0, 0.0]}
"""A recipe that keeps the ends of passes."""


def rows(**columns: Any) -> gpd.GeoDataFrame:
    """Return the pass with other columns."""
    return frame(ROWS).assign(**columns)


def placed(shapes: list[Any], crs: object = 4326) -> gpd.GeoDataFrame:
    """Return the pass with other geometries."""
    return gpd.GeoDataFrame(rows().drop(columns="geometry"), geometry=shapes, crs=crs)


def sums(cleaned: hl.Cleaned) -> tuple[float, float]:
    """Return the mass and the ground of a map."""
    grid = values(hl.grid(cleaned, 10.0))
    return float(grid["kg_wet"].sum()), float(grid["covered"].sum())


def codes(cleaned: hl.Cleaned) -> set[str]:
    """Return the codes of the diagnostics of a cleaning."""
    return {str(diagnostic.code) for diagnostic in cleaned.layer.diagnostics}


def test_rows_without_a_time_have_mass_and_ground_but_no_delay() -> None:
    for table in (rows().drop(columns="time"), rows(time=pd.NaT)):
        cleaned = hl.clean(harmonized(table), ALL_ROWS)
        assert cleaned.delay.reason == cleaned.moisture_delay.reason == "no time was logged"
        assert sums(cleaned) == pytest.approx((250.0, 600.0), rel=1e-6)


def test_rows_without_a_distance_take_the_step_and_say_so() -> None:
    for table in (rows().drop(columns="distance"), rows(distance=np.nan)):
        cleaned = hl.clean(harmonized(table), ALL_ROWS)
        assert sums(cleaned) == pytest.approx((250.0, 600.0), rel=1e-3)
        assert "steps-computed" in codes(cleaned)
    assert "steps-computed" not in codes(hl.clean(harmonized(rows()), ALL_ROWS))


def test_rows_without_a_heading_take_that_of_the_motion() -> None:
    for table in (rows().drop(columns="heading"), rows(heading=np.nan)):
        assert sums(hl.clean(harmonized(table), ALL_ROWS)) == pytest.approx((250.0, 600.0), rel=1e-4)


def test_rows_without_an_interval_take_the_step_of_the_clock() -> None:
    for table in (rows().drop(columns="interval"), rows(interval=np.nan)):
        assert sums(hl.clean(harmonized(table), ALL_ROWS)) == pytest.approx((250.0, 600.0), rel=1e-6)


def test_rows_without_an_interval_and_a_time_are_an_error_that_names_the_column() -> None:
    with pytest.raises(ValueError, match=r"nothing gives the interval of rows; pass `columns=\{\"interval\""):
        hl.clean(harmonized(rows().drop(columns=["interval", "time"])))


@pytest.mark.parametrize("width", [None, 0.0, -6.0, np.nan])
def test_rows_without_a_width_are_an_error_that_names_the_column(width: float | None) -> None:
    table = rows().drop(columns="swath_width") if width is None else rows(swath_width=width)
    with pytest.raises(ValueError, match=r"no row has a swath width above 0; pass `columns=\{\"swath_width\""):
        hl.clean(harmonized(table))
    with pytest.raises(ValueError, match="swath width above 0"):
        harmonized(table).covered_area()


def test_rows_without_a_width_have_no_ground() -> None:
    cleaned = hl.clean(harmonized(rows(swath_width=np.where(np.arange(50) < 10, 0.0, 6.0))), ALL_ROWS)
    report = cleaned.report.to_pandas().set_index("reason")
    assert report.loc["not_working", "rows"] == 10
    assert sums(cleaned) == pytest.approx((200.0, 480.0), rel=1e-6)


@pytest.mark.parametrize("width", [np.nan, -6.0])
def test_rows_whose_width_is_null_or_negative_have_the_usual_width(width: float) -> None:
    cleaned = hl.clean(harmonized(rows(swath_width=np.where(np.arange(50) < 10, width, 6.0))), ALL_ROWS)
    assert sums(cleaned) == pytest.approx((250.0, 600.0), rel=1e-6)
    assert ("no-values" in codes(cleaned)) == (width < 0)


@pytest.mark.parametrize("flow", [None, np.nan, np.inf])
def test_rows_without_a_flow_have_ground_and_no_yield(flow: float | None) -> None:
    table = rows().drop(columns="flow") if flow is None else rows(flow=flow)
    cleaned = hl.clean(harmonized(table))
    assert cleaned.delay.reason == "no column gives a flow or a yield"
    assert cleaned.delay.seconds is None
    assert "kg" not in cleaned.layer.columns
    grid = values(hl.grid(cleaned))
    assert grid["covered"].sum() == pytest.approx(600.0, rel=1e-6)
    assert grid["yield_wet"].isna().all()
    assert "yield_dry" not in grid
    with pytest.raises(ValueError, match="`total`: the layer has no mass to scale"):
        hl.grid(cleaned, total=100.0)


def test_rows_without_a_time_leave_the_others_alone() -> None:
    table = field(delay=8.0, moisture_delay=8.0)
    times = table["seconds"].to_numpy(copy=True)
    times[[5, 700, 1500]] = np.nan
    cleaned = hl.clean(job(table.assign(seconds=times)))
    assert cleaned.delay.seconds == pytest.approx(8.0, abs=0.3)
    found = cleaned.layer.to_pandas()
    assert found["reasons"].iloc[[5, 700, 1500]].tolist() == [1, 1, 1]
    assert (found["reasons"] & 16 == 0).all()
    assert found["m2"].sum() == pytest.approx(21_600.0 - 3 * 12.0, rel=1e-3)


@pytest.mark.parametrize("without", [1, 2])
@pytest.mark.parametrize("has_state", [True, False])
def test_machine_without_times_leaves_the_other_alone_and_is_said(without: int, has_state: bool) -> None:
    table = field(delay=8.0, moisture_delay=8.0)
    if not has_state:
        table = table.drop(columns="working")
    machine = np.where(np.arange(len(table)) < len(table) // 2, 1, 2)
    times = np.where(machine == without, np.nan, table["seconds"])
    cleaned = hl.clean(job(table.assign(seconds=times, machine=machine)))
    assert cleaned.delay.seconds == pytest.approx(8.0, abs=0.5)
    assert (cleaned.layer.to_pandas()["reasons"].to_numpy()[machine == without] & 1 == 1).all()
    assert {"times-missing", "much-left-out"} <= codes(cleaned)


def test_negative_flow_is_no_value_and_not_on_the_map() -> None:
    cleaned = hl.clean(harmonized(rows(flow=np.where(np.arange(50) < 20, -1.0, 5.0))), ALL_ROWS)
    found = cleaned.layer.to_pandas()
    assert found["flow"].isna().tolist() == [True] * 20 + [False] * 30
    assert found["kg"].isna().tolist() == [True] * 20 + [False] * 30
    # 5 kg/s at 12 m2/s.
    assert values(hl.grid(cleaned))["yield_wet"].dropna().to_numpy() == pytest.approx(50_000.0 / 12.0, rel=1e-6)
    assert sums(cleaned) == pytest.approx((150.0, 600.0), rel=1e-6)
    messages = {found.code: found.message for found in cleaned.layer.diagnostics}
    assert "20 values of column `flow`" in messages["no-values"]
    assert "0.04 of 0.06 ha of the covered ground" in messages["much-left-out"]
    assert "mean-contradicts" in messages
    nothing = hl.clean(harmonized(rows(flow=-1.0)), ALL_ROWS)
    assert "kg" not in nothing.layer.columns
    assert sums(nothing) == pytest.approx((0.0, 600.0), rel=1e-6)
    assert "no-values" in codes(nothing)


def test_flow_of_zero_is_a_yield_of_zero() -> None:
    cleaned = hl.clean(harmonized(rows(flow=0.0)))
    grid = values(hl.grid(cleaned))
    assert grid["covered"].sum() == pytest.approx(600.0, rel=1e-6)
    assert (grid["yield_wet"].dropna() == 0).all()
    assert cleaned.delay.seconds is None
    with pytest.raises(ValueError, match="`total`: no row has a mass to scale"):
        hl.grid(cleaned, total=100.0)


def test_unknown_moisture_has_no_dry_yield() -> None:
    for moisture in (np.nan, 150.0, -3.0):
        cleaned = hl.clean(harmonized(rows(moisture=moisture)), ALL_ROWS)
        assert "yield_dry" not in cleaned.layer.columns
        assert sums(cleaned) == pytest.approx((250.0, 600.0), rel=1e-6)
    # 100 % is within the range: all of it is water, and a median that is unusual is said and kept.
    water = hl.clean(harmonized(rows(moisture=100.0)), ALL_ROWS)
    assert values(water.layer)["reasons"].eq(0).all()
    assert values(water.layer)["moisture_shifted"].eq(100.0).all()
    assert values(hl.grid(water))["yield_dry"].eq(0.0).all()
    assert "moisture-unusual" in codes(water)


def test_rows_in_any_order_are_cleaned_in_order_of_time() -> None:
    table = frame(field(passes=4, length=120.0))
    base = values(hl.clean(harmonized(table), delay=4.0).layer)
    order = np.random.default_rng(1).permutation(len(table))
    found = values(hl.clean(harmonized(table.iloc[order].reset_index(drop=True)), delay=4.0).layer)
    back = found.iloc[np.argsort(order)].reset_index(drop=True)
    names = ["reasons", "used", "pass_number", "kg", "m2", "yield_wet", "yield_dry", "flow_shifted", "moisture_shifted"]
    pd.testing.assert_frame_equal(back[names], base[names], check_exact=True)


def test_header_that_is_always_up_without_grain_has_no_pass() -> None:
    cleaned = hl.clean(harmonized(rows(working=False, flow=0.0)))
    found = values(cleaned.layer)
    assert (found["reasons"] == 1).all()
    assert not found["used"].any()
    assert found["m2"].sum() == 0.0
    assert len(hl.grid(cleaned)) == 0
    assert cleaned.report.to_pandas().set_index("reason").loc["not_working", "rows"] == 50
    assert "`not_working`" in next(each.message for each in cleaned.layer.diagnostics if each.code == "much-left-out")


def test_state_of_the_header_that_the_grain_contradicts_is_not_used() -> None:
    cleaned = hl.clean(harmonized(rows(working=False)), ALL_ROWS)
    assert sums(cleaned) == pytest.approx((250.0, 600.0), rel=1e-6)
    assert values(cleaned.layer)["used"].all()
    found = next(each for each in cleaned.layer.diagnostics if each.code == "working-contradicts")
    assert found.severity == "warning"
    assert "100 % of the grain" in found.message


@pytest.mark.parametrize("count", [1, 2, 9])
def test_few_rows_are_no_pass(count: int) -> None:
    cleaned = hl.clean(harmonized(rows().iloc[:count]))
    assert len(cleaned.layer) == count
    assert values(cleaned.layer)["reasons"].eq(1).all()
    assert len(hl.grid(cleaned)) == 0
    assert {"kg_wet", "covered", "yield_dry"} <= set(hl.grid(cleaned).columns)
    assert cleaned.delay.seconds is None
    assert cleaned.map("reasons").svg.startswith("<svg")


def test_ten_rows_are_a_pass() -> None:
    cleaned = hl.clean(harmonized(rows().iloc[:10]), ALL_ROWS)
    assert sums(cleaned) == pytest.approx((50.0, 120.0), rel=1e-6)


def test_layer_without_rows_is_an_error() -> None:
    with pytest.raises(ValueError, match="has no row with a position"):
        hl.clean(harmonized(rows().iloc[:0]))


def test_machine_that_stands_covers_one_swath() -> None:
    place = frame(ROWS).geometry.iloc[0]
    cleaned = hl.clean(harmonized(placed([place] * 50)))
    found = values(cleaned.layer)
    assert (found["reasons"] & 16 > 0).sum() == 49
    assert found["m2"].sum() == pytest.approx(12.0, rel=1e-6)


def test_missing_coordinate_system_is_an_error_that_says_how_to_set_it() -> None:
    with pytest.raises(
        ValueError, match=r"has no coordinate system, so metres are unknown; set one, such as `frame.set_crs"
    ):
        hl.clean(harmonized(rows().set_crs(None, allow_override=True)))


def test_table_without_a_geometry_is_an_error() -> None:
    table = pd.DataFrame(rows().drop(columns="geometry"))
    layer = hl.harmonize(table, kind="yield", units={name: UNITS[name] for name in UNITS if name in table})
    with pytest.raises(ValueError, match="has no geometry, so positions are unknown"):
        hl.clean(layer)


@pytest.mark.parametrize("shape", [None, shapely.Point(), shapely.Point(200.0, 145.0)])
def test_rows_without_a_location_are_an_error(shape: Any) -> None:
    with pytest.raises(ValueError, match="has no row with a position"):
        hl.clean(harmonized(placed([shape] * 50)))


def test_row_without_a_location_has_the_reason_position() -> None:
    shapes = [*frame(ROWS).geometry]
    shapes[20], shapes[21] = None, shapely.Point()
    found = values(hl.clean(harmonized(placed(shapes))).layer)
    assert np.flatnonzero(found["reasons"] & 8).tolist() == [20, 21]
    assert (found["m2"].iloc[20:22] == 0).all()


def test_lines_are_where_their_middle_is() -> None:
    points = frame(ROWS).to_crs(plane()).geometry
    lines = [shapely.LineString([(p.x, p.y - 1), (p.x, p.y + 1)]) for p in points]
    shapes = gpd.GeoSeries(lines, crs=plane()).to_crs(4326)
    cleaned = hl.clean(harmonized(placed(list(shapes))), ALL_ROWS)
    assert sums(cleaned) == pytest.approx((250.0, 600.0), rel=1e-5)


def test_rows_on_two_continents_are_no_map() -> None:
    shapes = [shapely.Point(100.0 * (n % 2), 45 + 1e-5 * n) for n in range(50)]
    cleaned = hl.clean(harmonized(placed(shapes)))
    with pytest.raises(ValueError, match=r"invalid `crs`: 10 m in `EPSG:\d+` are .* m on the ground here"):
        hl.grid(cleaned)


def test_swath_of_a_thousand_kilometres_covers_nothing() -> None:
    cleaned = hl.clean(harmonized(rows(swath_width=1e6)), ALL_ROWS)
    assert values(cleaned.layer)["m2"].sum() == 0.0
    assert cleaned.report.to_pandas().set_index("reason").loc["little_new_ground", "rows"] == 50
    assert len(hl.grid(cleaned)) == 0


def test_unknown_unit_is_an_error_that_names_units() -> None:
    with pytest.raises(ValueError, match=r"its unit is unknown; pass `units=\{\"distance\""):
        hl.clean(hl.harmonize(rows(), kind="yield", units={"flow": "kg/s"}))


def test_unknown_kind_is_an_error_that_names_kind() -> None:
    with pytest.raises(ValueError, match="pass `kind=`"):
        hl.clean(rows()[["swath_width", "distance", "geometry"]])


@pytest.mark.parametrize("kind", ["as_applied", "planting"])
def test_other_jobs_have_no_reasons_of_a_yield_sensor(kind: str) -> None:
    passes = [straight((6.0 * n, -60), (6.0 * n, 60), seconds=300.0 * n, applied_rate=150.0) for n in range(6)]
    passes[3].loc[20, "applied_rate"] = 900.0
    cleaned = hl.clean(job(*passes, kind=kind))
    found = values(cleaned.layer)
    assert (found["reasons"] == 0).all()
    assert {"kg", "yield_wet", "flow_shifted"}.isdisjoint(found.columns)
    assert found["m2"].sum() == pytest.approx(6 * 6 * 120, rel=1e-6)
    assert values(hl.grid(cleaned))["amount"].sum() == pytest.approx((150 * 4320 + 750 * 12) / 10_000, rel=1e-6)


def test_products_of_a_mix_share_the_ground_of_their_report() -> None:
    first = straight((0, -60), (0, 60), applied_rate=100.0).assign(product="A")
    mix = pd.concat([first, first.assign(product="B", applied_rate=40.0), first.assign(product="C", applied_rate=10.0)])
    cleaned = hl.clean(job(mix, kind="as_applied"))
    logged, *_, used = cleaned.report.to_pandas().to_dict("records")
    assert (logged["ha"], used["ha"]) == pytest.approx((0.072, 0.072), rel=1e-6)
    assert (logged["rate_with"], used["rate_without"]) == pytest.approx((150, 150), rel=1e-6)
    assert "on 0.07 ha" in str(cleaned)
    assert "applied-twice" not in {each.code for each in cleaned.layer.diagnostics}
    assert "a mean of 150" in str(cleaned)


VALUES = st.sampled_from([0.0, -1.0, 1e-300, 1e300, np.nan, np.inf, -np.inf, 5.0, 20.0, 359.0])


@given(
    data=st.lists(st.tuples(VALUES, VALUES, VALUES, VALUES, VALUES, VALUES), min_size=1, max_size=40),
    step=st.sampled_from([0.0, 1e-5, 1e-3]),
    drop=st.sets(st.sampled_from(["interval", "distance", "heading", "flow", "moisture", "time"])),
)
@settings(max_examples=60 * SERIES)
def test_any_values_are_cleaned_or_refused(data: list[tuple[float, ...]], step: float, drop: set[str]) -> None:
    names = ["interval", "distance", "swath_width", "heading", "flow", "moisture"]
    table = pd.DataFrame(data, columns=names)
    shapes = [shapely.Point(-97.5, 41.0 + step * n) for n in range(len(data))]
    times = pd.Timestamp("2024-09-20", tz="UTC") + pd.to_timedelta(np.arange(len(data)), unit="s")
    made = gpd.GeoDataFrame(table.assign(time=times.as_unit("us")), geometry=shapes, crs=4326).drop(columns=list(drop))
    try:
        cleaned = hl.clean(harmonized(made))
    except ValueError as error:
        refused = str(error)
    else:
        found, grid = values(cleaned.layer), values(hl.grid(cleaned, 5.0))
        assert len(found) == len(made)
        assert (found["m2"] >= 0).all()
        assert np.isfinite(grid["covered"]).all()
        assert grid["covered"].sum() == pytest.approx(found["m2"].sum(), rel=1e-9, abs=1e-9)
        return
    assert re.search(r"pass `columns=|pass `units=|no row with a position", refused), refused
