"""Passes, ends, sections and machines of small jobs, and files of what cleaning returns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
from driven_rows import circle, field, job, plain, straight, values
from generated_logs import harvest

import headland as hl

if TYPE_CHECKING:
    from pathlib import Path


def turning(**columns: object) -> pd.DataFrame:
    """Return a pass to the north, a half turn of 12 m, and a pass back to the south, without a pause."""
    north = straight((0, -60), (0, 60))
    angle = np.pi * np.arange(1, 10) / 9
    turn = north.iloc[:9].assign(
        x=12 - 12 * np.cos(angle),
        y=60 + 12 * np.sin(angle),
        heading=np.degrees(angle),
        seconds=60.0 + np.arange(1, 10),
        distance=12 * np.pi / 9,
    )
    south = straight((24, 60), (24, -60), seconds=69.0)
    rows = pd.concat([north, turn, south], ignore_index=True)
    return rows.assign(flow=5.0, moisture=20.0, **columns)


def test_turn_is_not_working_and_divides_passes() -> None:
    rows = values(plain(job(turning())).layer)
    assert (rows["reasons"].iloc[61:68] & 1 > 0).all()
    assert rows["m2"].iloc[61:68].sum() == 0.0
    assert rows["kg"].iloc[61:68].isna().all()
    # A window of 3 s at the turn belongs to it.
    assert rows["pass_number"].iloc[:57].eq(1).all()
    assert rows["pass_number"].iloc[72:].eq(2).all()
    assert set(rows["pass_number"]) == {0, 1, 2}


def test_logged_state_of_the_header_bounds_the_pass() -> None:
    up = np.ones(129, dtype=bool)
    up[60:69] = False
    rows = values(plain(job(turning(working=up))).layer)
    assert ((rows["pass_number"] == 0) == ~up).all()
    assert rows["m2"].sum() == pytest.approx(120 * 12, rel=1e-6)


def test_header_that_is_up_within_a_pass_divides_it() -> None:
    state = np.ones(100, dtype=bool)
    state[40:50] = False
    rows = values(plain(job(straight((0, -100), (0, 100), working=state))).layer)
    assert rows["pass_number"].tolist() == [1] * 40 + [0] * 10 + [2] * 50
    assert (rows["reasons"].iloc[40:50] == 1).all()
    assert rows["m2"].sum() == pytest.approx(90 * 12, rel=1e-6)


def test_gap_in_time_divides_a_pass() -> None:
    rows = straight((0, -100), (0, 100))
    rows["seconds"] += np.where(np.arange(100) >= 50, 3.0, 0.0)
    found = values(plain(job(rows)).layer)
    assert found["pass_number"].tolist() == [1] * 50 + [2] * 50
    short = straight((0, -100), (0, 100))
    short["seconds"] += np.where(np.arange(100) >= 50, 2.0, 0.0)
    assert set(values(plain(job(short)).layer)["pass_number"]) == {1}


def test_largest_turn_of_the_recipe_decides_about_curves() -> None:
    # A radius of 60 m at 2 m/s turns by 11 degrees in 6 s, one of 20 m by 34.
    assert (values(plain(job(circle(60.0, 188))).layer)["pass_number"] > 0).all()
    tight = job(circle(20.0, 63))
    assert (values(plain(tight).layer)["pass_number"] == 0).sum() > 50
    assert (values(plain(tight, turn=40.0).layer)["pass_number"] > 0).all()


@pytest.mark.parametrize(("speed", "is_wrong"), [(0.25, True), (0.5, False), (3.8, False), (4.3, True)])
def test_speed_far_from_the_usual_one_is_a_reason(speed: float, is_wrong: bool) -> None:
    # The median is 2 m/s; distances fit the positions.
    before = straight((0, -100), (0, 0))
    odd = straight((0, 0), (0, 20 * speed), seconds=50.0, speed=speed)
    after = straight((0, 20 * speed), (0, 120 + 20 * speed), seconds=70.0)
    rows = pd.concat([before, odd, after], ignore_index=True).assign(moisture=20.0)
    rows["flow"] = 2.5 * rows["distance"]
    found = values(plain(job(rows)).layer)
    assert ((found["reasons"] & 4 > 0) == (np.isin(np.arange(len(found)) // 10, [5, 6]) & is_wrong)).all()
    assert found["m2"].sum() == pytest.approx(6 * (220 + 20 * speed), rel=1e-6)


@pytest.mark.parametrize(
    ("moisture", "is_wrong"),
    [(0.5, True), (4.5, False), (38.5, False), (60.0, False), (-1.0, True), (101.0, True), (np.nan, True)],
)
def test_moisture_of_a_whole_pass_that_is_no_percentage_is_a_reason(moisture: float, is_wrong: bool) -> None:
    # Half an hour between passes: no other value is near in time.
    passes = [straight((6.0 * n, -100), (6.0 * n, 100), seconds=2000.0 * n) for n in range(4)]
    passes[2] = passes[2].assign(moisture=moisture)
    found = values(plain(job(*passes), moisture_jump=100.0).layer)
    assert ((found["reasons"] & 128 > 0) == ((found["pass_number"] == 3) & is_wrong)).all()
    assert found["used"].all()
    # Rows without a moisture have that of the field.
    expected = 20.0 if is_wrong else moisture
    np.testing.assert_allclose(found.loc[found["pass_number"] == 3, "moisture_shifted"], expected)


def test_short_dropout_of_the_moisture_is_interpolated_and_marked() -> None:
    moisture = np.linspace(18.0, 22.0, 100)
    gone = moisture.copy()
    gone[40:60] = np.nan
    found = values(plain(job(straight((0, -100), (0, 100), moisture=gone))).layer)
    np.testing.assert_allclose(found["moisture_shifted"], moisture, rtol=1e-9)
    assert (found["reasons"] & 128 > 0).iloc[40:60].all()
    assert (found["reasons"] == 0).iloc[[*range(38), *range(62, 100)]].all()


def test_long_dropout_of_the_moisture_has_that_of_the_field() -> None:
    gone = np.where(np.arange(100) >= 50, np.nan, 18.0)
    passes = [straight((0, -100), (0, 100), moisture=gone), straight((6, 100), (6, -100), seconds=900.0)]
    found = values(plain(job(*passes)).layer)
    np.testing.assert_allclose(found["moisture_shifted"].iloc[50:100], 20.0)
    assert (found["reasons"] & 128 > 0).iloc[50:100].all()


def test_defaults_of_the_recipe_are_those_of_the_guide() -> None:
    recipe = json.loads(hl.clean(job(straight((0, 0), (0, 100))), delay=None).recipe)
    defaults = {
        "antenna": 0.0,
        "moisture_delay": "flow",
        "ends": [3.0, 2.0],
        "turn": 25.0,
        "speeds": [0.32, 2.0],
        "position_jump": [4.0, 4.5],
        "full_width": 0.97,
        "overlap": 0.33,
        "moisture_jump": 4.0,
        "spike": [0.4, 1.9],
        "local": [0.2, 4.0],
        "limits": [None, None],
        "edge": None,
        "expand": True,
        "keep": [],
    }
    for name, value in defaults.items():
        assert recipe[name] == {"value": value, "from": "default"}, name
    assert set(recipe) == {*defaults, "headland_recipe", "version", "delay", "market_moisture"}
    # Dry grain gains by default.
    dry = values(plain(job(straight((0, 0), (0, 100), moisture=10.0))).layer)
    assert (dry["yield_dry"] > dry["yield_wet"]).all()


def test_ends_are_seconds_of_each_pass() -> None:
    passes = [straight((6.0 * n, -60), (6.0 * n, 60), seconds=300.0 * n) for n in range(2)]
    for other in ([0.0, 0.0], [5.0, 1.0]):
        reasons = values(plain(job(*passes), ends=other).layer)["reasons"].tolist()
        first, last = (int(seconds) for seconds in other)
        assert reasons == ([2] * first + [0] * (60 - first - last) + [2] * last) * 2
    cleaned = hl.clean(job(*passes), delay=None)
    rows = values(cleaned.layer)
    expected = ([2] * 3 + [0] * 55 + [2] * 2) * 2
    assert rows["reasons"].tolist() == expected
    # Ends cover their ground, and have no part in the yield.
    assert rows["m2"].sum() == pytest.approx(2 * 720, rel=1e-6)
    grid = values(hl.grid(cleaned))
    assert grid["covered"].sum() == pytest.approx(2 * 720, rel=1e-6)
    assert grid["m2"].sum() == pytest.approx(2 * 660, rel=1e-6)
    assert grid["kg_wet"].sum() == pytest.approx(110 * 5.0, rel=1e-9)


def test_sections_cover_their_own_ground_and_are_no_duplicates() -> None:
    whole = straight((0, -60), (0, 60))
    sections = [
        whole.assign(x=offset, swath_width=2.0, section=number, flow=flow)
        for number, offset, flow in ((1, -2.0, 1.0), (2, 0.0, 2.0), (3, 2.0, 3.0))
    ]
    rows = pd.concat(sections).sort_values(["seconds", "section"]).assign(moisture=20.0)
    cleaned = plain(job(rows), local=[1e9, 1e9], spike=[0.0, 1e9])
    found = values(cleaned.layer)
    assert (found["reasons"] == 0).all()
    np.testing.assert_allclose(found["m2"], 4.0, rtol=1e-6)
    assert found["m2"].sum() == pytest.approx(720.0, rel=1e-6)
    assert set(found["pass_number"]) == {1}
    means = found.groupby("section")["yield_wet"].mean()
    np.testing.assert_allclose(means, np.array([1.0, 2.0, 3.0]) / 4 * 10_000, rtol=1e-6)


def test_faults_do_not_depend_on_how_often_or_by_how_many_sections_a_display_logs() -> None:
    seconds = field(interval=1.0)
    middle = seconds.index[seconds["working"] & (seconds["y"].abs() < 100)]
    seconds.loc[middle[70::150], "flow"] *= 3.0
    seconds.loc[middle[5::150], "flow"] *= 0.6
    fifths = pd.concat(
        [
            seconds.assign(
                y=seconds["y"] - np.cos(np.radians(seconds["heading"])) * 0.4 * early,
                seconds=seconds["seconds"] - 0.2 * early,
                distance=0.4,
                interval=0.2,
            )
            for early in range(5)
        ]
    ).sort_index(kind="stable")
    sections = pd.concat(
        [
            fifths.assign(x=fifths["x"] + 2.0 * (n - 2), section=n, swath_width=2.0, flow=fifths["flow"] / 3)
            for n in (1, 2, 3)
        ]
    ).sort_index(kind="stable")
    found = []
    for rows in (seconds, fifths, sections):
        reasons = values(plain(job(rows)).layer)["reasons"].to_numpy()
        by_second = reasons.reshape(len(seconds), -1)
        assert (by_second == by_second[:, :1]).all()
        found.append(by_second[:, 0])
    assert (found[0] & 256 > 0).sum() > 5
    assert (found[0] & 512 > 0).sum() > 5
    assert (found[0] == found[1]).all()
    assert (found[1] == found[2]).all()


def in_sections(rows: pd.DataFrame, count: int) -> pd.DataFrame:
    """Return the rows of a header of 6 m as sections that share its flow."""
    width = 6.0 / count
    parts = [
        rows.assign(
            x=rows["x"] + width * (n - (count - 1) / 2), section=n, swath_width=width, flow=rows["flow"] / count
        )
        for n in range(count)
    ]
    return pd.concat(parts).sort_index(kind="stable")


@pytest.mark.parametrize("count", [2, 3, 4])
def test_delay_does_not_depend_on_the_number_of_sections(count: int) -> None:
    cleaned = hl.clean(job(in_sections(field(delay=8.0, moisture_delay=5.0), count)))
    assert cleaned.delay.seconds == pytest.approx(8.0, abs=0.5)
    assert cleaned.moisture_delay.seconds == cleaned.delay.seconds


@pytest.mark.parametrize("interval", [0.2, 0.5])
def test_sections_with_a_coarse_clock_keep_their_rows_and_ground(interval: float) -> None:
    rows = in_sections(field(delay=8.0, interval=interval, passes=6), 3)
    rows["seconds"] = np.floor(rows["seconds"] + 1e-9)
    found = values(hl.clean(job(rows), moisture_delay=None).layer)
    assert (found["reasons"] & 16 == 0).all()
    assert found["m2"].sum() == pytest.approx(6 * 6 * 300, rel=1e-3)


def test_neighbours_of_repeated_rows_are_not_flagged() -> None:
    rows = field(delay=8.0, moisture_delay=5.0)
    again = rows.iloc[60::97]
    cleaned = hl.clean(job(pd.concat([rows, again]).sort_index(kind="stable")))
    reasons = values(cleaned.layer)["reasons"]
    assert (reasons & 16 > 0).sum() == len(again)
    assert (reasons & (256 | 512) > 0).sum() < 3


def test_flow_that_one_section_logs_for_all_is_flagged() -> None:
    rows = in_sections(field(interval=1.0), 3)
    is_wrong = rows["working"] & (rows["seconds"] % 60 == 30)
    rows["flow"] = rows["flow"].where(~is_wrong, rows["flow"] * 3).where(~is_wrong | (rows["section"] == 0))
    found = values(plain(job(rows)).layer)
    used = found[found["used"]]
    assert (found["reasons"] & 256 > 0).sum() > 20
    assert used["yield_wet"].max() < 2 * used["yield_wet"].median()


def test_pass_that_is_driven_half_again_is_no_wandering() -> None:
    lanes = [straight((6.0 * n, -100), (6.0 * n, 100), seconds=200.0 * n) for n in range(8)]
    again = straight((20.4, 100), (20.4, -100), seconds=2000.0)
    for rows in (lanes, [*lanes, again]):
        assert "positions-wander" not in {each.code for each in plain(job(*rows)).layer.diagnostics}


def test_machines_are_merged_by_time() -> None:
    early = straight((0, -60), (0, 60), machine=2)
    late = straight((3, 60), (3, -60), seconds=300.0, machine=1)
    for order in ((early, late), (late, early)):
        found = values(plain(job(*order)).layer)
        ground = found.groupby("machine")["m2"].sum().to_dict()
        # The half that both cover belongs to the first one, regardless of the number and the order in the file.
        assert ground == pytest.approx({2: 720.0, 1: 360.0}, rel=1e-6)


def test_machines_at_one_time_are_no_duplicates() -> None:
    one = straight((0, -60), (0, 60), machine=1)
    other = straight((40, -60), (40, 60), machine=2)
    rows = pd.concat([one, other]).sort_values("seconds").assign(flow=5.0, moisture=20.0)
    found = values(plain(job(rows)).layer)
    assert (found["reasons"] == 0).all()
    assert found["m2"].sum() == pytest.approx(1440.0, rel=1e-6)


def test_machines_without_a_column_are_told_apart_and_reported() -> None:
    one = straight((0, -100), (0, 100))
    other = straight((80, -100), (80, 100))
    rows = pd.concat([one, other]).sort_values("seconds", kind="stable").assign(flow=5.0, moisture=20.0)
    layer = plain(job(rows)).layer
    message = next(each.message for each in layer.diagnostics if each.code == "machines-unknown")
    assert "2 machines" in message
    assert "add a column `machine`" in message
    found = values(layer)
    assert (found["reasons"] == 0).all()
    np.testing.assert_allclose(found["m2"], 12.0, rtol=1e-6)
    assert found.groupby(np.tile([1, 2], len(one)))["pass_number"].nunique().tolist() == [1, 1]
    assert found["pass_number"].nunique() == 2
    for known in (rows.assign(machine=np.tile([1, 2], len(one))), in_sections(one.assign(flow=5.0), 6)):
        assert "machines-unknown" not in {each.code for each in plain(job(known)).layer.diagnostics}


def test_rows_that_only_drive_leave_their_pass_without_a_header_state() -> None:
    rows = field(delay=8.0, moisture_delay=8.0, beyond=20).drop(columns="working")
    cleaned = hl.clean(job(rows))
    found = values(cleaned.layer)
    assert cleaned.delay.seconds == pytest.approx(8.0, abs=0.5)
    # 28 rows behind each pass log the grain of the pass, then nothing. Those whose own ground gave no grain only drive;
    # the flow of the last 8 s of each log is unknown.
    beyond = found.groupby(found["heading"].ne(found["heading"].shift()).cumsum()).cumcount() >= 151
    assert (found["pass_number"][beyond] == 0).groupby(found["heading"]).sum().min() > 6 * 15
    assert (found["pass_number"][~beyond] > 0).mean() > 0.99


def test_rows_of_a_coarse_clock_are_spread_over_its_seconds() -> None:
    # Five rows a second, and a clock that logs whole seconds: they are no duplicates.
    rows = straight((0, -100), (0, 100), interval=0.2)
    rows["seconds"] = np.floor(rows["seconds"] + 1e-9)
    found = values(plain(job(rows)).layer)
    assert (found["reasons"] == 0).all()
    assert found["m2"].sum() == pytest.approx(1200.0, rel=1e-6)
    assert found["kg"].sum() == pytest.approx(500.0, rel=1e-9)


@pytest.mark.parametrize(("interval", "clock"), [(0.2, 1.0), (1.0, 2.0)])
def test_delay_is_recovered_with_a_coarse_clock(interval: float, clock: float) -> None:
    rows = field(delay=8.0, moisture_delay=5.0, interval=interval)
    rows["seconds"] = np.floor(rows["seconds"] / clock + 1e-9) * clock
    cleaned = hl.clean(job(rows))
    assert cleaned.delay.seconds == pytest.approx(8.0, abs=0.5)
    assert cleaned.moisture_delay.seconds == cleaned.delay.seconds
    assert values(cleaned.layer)["m2"].sum() == pytest.approx(12 * 6 * 300, rel=1e-6)


def test_written_layers_are_read_again(tmp_path: Path) -> None:
    cleaned = hl.clean(job(field(delay=8.0)))
    for name, layer in (("rows", cleaned.layer), ("grid", hl.grid(cleaned)), ("swaths", cleaned.swaths())):
        path = tmp_path / f"{name}.parquet"
        layer.write_parquet(path)
        again = gpd.read_parquet(path)
        expected = layer.to_geopandas()
        assert again.crs == expected.crs
        pd.testing.assert_frame_equal(
            pd.DataFrame(again.drop(columns="geometry")),
            pd.DataFrame(expected.drop(columns="geometry")),
            check_dtype=False,
        )
        assert again.geometry.geom_equals_exact(expected.geometry, 1e-9).all()


def test_machines_that_disagree_on_neighbouring_ground_are_said() -> None:
    log = harvest().frame
    number = (log["Header"].diff() == 1).cumsum().to_numpy() % 2 + 1
    for factor, codes in ((1.0, 0), (1.22, 1)):
        rows = log.assign(Machine=number, Flow=log["Flow"] * np.where(number == 2, factor, 1.0))
        rows.attrs = log.attrs
        found = [
            d.message
            for d in hl.clean(hl.harmonize(rows, kind="yield")).layer.diagnostics
            if d.code == "machines-differ"
        ]
        assert len(found) == codes, found
        assert all("machine 1 measures 0.8" in message and "machine 2" in message for message in found), found
