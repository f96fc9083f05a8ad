"""Delays of the sensors: estimated, given, refused, and drawn."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from driven_rows import field, frame, harmonized, job, straight, values
from logged_jobs import SERIES

import headland as hl

SECONDS = (0.0, 2.5, 6.0, 11.0, 17.3)

SHIFTS = np.arange(-5.0, 25.01, 0.5)
"""Shifts that are tried."""


def shifted(rows: pd.DataFrame, steps: int, *names: str) -> pd.DataFrame:
    """Return rows whose sensors log some rows later."""
    return rows.assign(**{name: rows[name].shift(steps, fill_value=0.0) for name in names})


@pytest.mark.parametrize("seconds", SECONDS)
def test_delay_of_the_flow_is_recovered_and_that_of_the_moisture(seconds: float) -> None:
    for seed in range(1, 2 + 4 * (SERIES > 1)):
        # The moisture takes the delay of the flow, regardless of its own.
        cleaned = hl.clean(job(field(delay=seconds, moisture_delay=19.0 - seconds, seed=seed)))
        assert cleaned.delay.seconds == pytest.approx(seconds, abs=0.3)
        assert cleaned.moisture_delay.seconds == cleaned.delay.seconds
        # The flow at the ground is that of the field without a delay.
        still = hl.clean(job(field(seed=seed)), delay=0.0, moisture_delay=0.0)
        one, other = (values(made.layer) for made in (cleaned, still))
        one, other = (rows[rows["working"] & (rows["reasons"] == 0)].groupby("pass_number") for rows in (one, other))
        np.testing.assert_allclose(one["flow_shifted"].mean(), other["flow_shifted"].mean(), rtol=0.01)


@pytest.mark.parametrize("steps", [-3, 2, 5])
def test_flow_that_is_logged_some_rows_later_has_so_much_more_delay(steps: int) -> None:
    for interval in (1.0, 2.0):
        rows = field(delay=8.0, moisture_delay=8.0, interval=interval)
        base = hl.clean(harmonized(frame(rows)))
        other = hl.clean(harmonized(frame(shifted(rows, steps, "flow"))))
        assert base.delay.seconds is not None
        assert other.delay.seconds == pytest.approx(base.delay.seconds + steps * interval, abs=0.3)
        assert other.moisture_delay.seconds == other.delay.seconds
        wet = hl.clean(harmonized(frame(shifted(rows, steps, "moisture"))))
        assert wet.moisture_delay.seconds == wet.delay.seconds == pytest.approx(base.delay.seconds, abs=1e-6)


def test_display_that_shifted_too_far_has_a_negative_delay() -> None:
    cleaned = hl.clean(job(field(delay=-3.0, moisture_delay=0.0)))
    assert cleaned.delay.seconds == pytest.approx(-3.0, abs=0.3)


def test_antenna_that_is_ignored_looks_like_delay() -> None:
    layer = job(field(delay=8.0))
    base = hl.clean(layer).delay.seconds
    # 4 m at 2 m/s: the grain was cut 2 s later than at the antenna.
    other = hl.clean(layer, antenna=4.0).delay.seconds
    assert base is not None
    assert other == pytest.approx(base + 2.0, abs=0.1)


def test_shuffled_flow_has_no_delay_and_a_reason() -> None:
    rows = field(delay=8.0)
    random = np.random.default_rng(4)
    passes = (rows["seconds"].diff() > 10).cumsum()
    assert passes.nunique() == 12
    parts = [part.assign(flow=random.permutation(part["flow"])) for _, part in rows.groupby(passes)]
    cleaned = hl.clean(harmonized(frame(pd.concat(parts).sort_index())), moisture_delay=None)
    assert cleaned.delay.seconds is None
    assert "contrast" in str(cleaned.delay.reason)
    assert cleaned.delay.pairs > 200
    assert len(cleaned.delay.curve) == len(SHIFTS)
    rows_after = values(cleaned.layer)
    # Only the dropouts, which the shuffle puts between rows with grain, are interpolated.
    has_grain = rows_after["flow"] > 0
    pd.testing.assert_series_equal(
        rows_after["flow_shifted"][has_grain], rows_after["flow"][has_grain], check_names=False
    )
    assert json.loads(cleaned.recipe)["delay"] == {"value": None, "from": "estimated"}


def test_delay_beyond_the_range_is_refused() -> None:
    cleaned = hl.clean(job(field(delay=27.0)), moisture_delay=None)
    assert cleaned.delay.seconds is None
    assert cleaned.delay.reason


def test_single_pass_has_no_delay_and_a_reason() -> None:
    cleaned = hl.clean(job(straight((0, 0), (0, 400))))
    for delay in (cleaned.delay, cleaned.moisture_delay):
        assert delay.seconds is None
        assert delay.pairs == 0
        assert delay.curve == []
        assert "0 pairs of rows in neighbouring passes of opposite directions; 200 are needed" in str(delay.reason)
    assert "200 are needed" in repr(cleaned)


def test_passes_in_one_direction_have_no_delay() -> None:
    passes = [straight((6.0 * n, 0), (6.0 * n, 300), seconds=400.0 * n, flow=5.0 + n % 2) for n in range(8)]
    cleaned = hl.clean(job(*passes))
    assert cleaned.delay.seconds is None
    assert "opposite directions" in str(cleaned.delay.reason)


def test_uniform_flow_has_no_delay() -> None:
    cleaned = hl.clean(job(field(wiggle=0.0)), moisture_delay=None)
    # Only the ends of passes have another flow, and they are left out.
    assert cleaned.delay.seconds is None
    assert cleaned.delay.reason


def test_given_delay_is_used_as_it_is() -> None:
    cleaned = hl.clean(job(field(delay=8.0)), delay=3.0, moisture_delay=2)
    rows = values(cleaned.layer)
    assert cleaned.delay.seconds == 3.0
    assert cleaned.moisture_delay.seconds == 2.0
    assert cleaned.delay.curve == []
    assert cleaned.delay.reason is None
    inside = (rows["pass_number"] > 0) & (rows["pass_number"].shift(-3) == rows["pass_number"])
    np.testing.assert_allclose(rows["flow_shifted"][inside], rows["flow"].shift(-3)[inside], rtol=1e-9)
    inside = (rows["pass_number"] > 0) & (rows["pass_number"].shift(-2) == rows["pass_number"])
    np.testing.assert_allclose(rows["moisture_shifted"][inside], rows["moisture"].shift(-2)[inside], rtol=1e-9)
    assert json.loads(cleaned.recipe)["delay"] == {"value": 3.0, "from": "user"}


def test_part_of_a_row_is_interpolated() -> None:
    rows = values(hl.clean(job(field(delay=8.0)), delay=2.25, moisture_delay=None).layer)
    flow = rows["flow"]
    expected = 0.75 * flow.shift(-2) + 0.25 * flow.shift(-3)
    inside = (rows["pass_number"] > 0) & (rows["pass_number"].shift(-3) == rows["pass_number"])
    np.testing.assert_allclose(rows["flow_shifted"][inside], expected[inside], rtol=1e-9)


def test_delay_none_moves_nothing() -> None:
    cleaned = hl.clean(job(field(delay=8.0)), delay=None, moisture_delay=None)
    rows = values(cleaned.layer)
    pd.testing.assert_series_equal(rows["flow_shifted"], rows["flow"], check_names=False)
    pd.testing.assert_series_equal(rows["moisture_shifted"], rows["moisture"], check_names=False)
    assert cleaned.delay.seconds is None
    assert json.loads(cleaned.recipe)["delay"] == {"value": None, "from": "user"}


def two_machines() -> hl.Layer:
    """Return a field whose west is cut by machine 1 and whose east by machine 7, 3 s apart."""
    one, other = (field(delay=seconds, moisture_delay=4.0, seed=seed) for seconds, seed in ((7.0, 2), (10.0, 3)))
    parts = [one.assign(machine=1, x=one["x"] - 60), other.assign(machine=7, x=other["x"] + 60)]
    return harmonized(frame(pd.concat(parts, ignore_index=True)))


def test_each_machine_has_its_delay() -> None:
    cleaned = hl.clean(two_machines())
    machines = cleaned.delay.machines
    assert list(machines) == [1, 7]
    assert machines[1]["seconds"] == pytest.approx(7.0, abs=0.3)
    assert machines[7]["seconds"] == pytest.approx(10.0, abs=0.3)
    assert json.loads(cleaned.recipe)["delay"]["value"] == {"1": machines[1]["seconds"], "7": machines[7]["seconds"]}
    assert "machine 1: " in str(cleaned.delay)
    assert "machine 7: " in str(cleaned.delay)


def test_mapping_gives_the_delay_by_machine() -> None:
    cleaned = hl.clean(two_machines(), delay={1: 5.0, 7: None}, moisture_delay=None)
    rows = values(cleaned.layer)
    assert cleaned.delay.machines[1]["seconds"] == 5.0
    assert cleaned.delay.machines[7]["seconds"] is None
    other = rows[rows["machine"] == 7]
    pd.testing.assert_series_equal(other["flow_shifted"], other["flow"], check_names=False)
    first = rows[rows["machine"] == 1].reset_index(drop=True)
    inside = (first["pass_number"] > 0) & (first["pass_number"].shift(-5) == first["pass_number"])
    np.testing.assert_allclose(first["flow_shifted"][inside], first["flow"].shift(-5)[inside], rtol=1e-9)


@pytest.mark.parametrize("name", ["delay", "moisture_delay"])
def test_mapping_without_a_machine_of_the_job_is_an_error(name: str) -> None:
    with pytest.raises(ValueError, match=rf"`{name}`: machine 7 of this layer is not among the machines 1"):
        hl.clean(two_machines(), **{name: {1: 5.0}})  # type: ignore[arg-type]


def test_recipe_of_two_machines_names_the_machine_that_another_job_lacks() -> None:
    recipe = hl.clean(two_machines()).recipe
    with pytest.raises(ValueError, match="`delay`: machine 0 of this layer is not among the machines 1, 7"):
        hl.clean(job(field()), recipe)
    other = hl.clean(job(field(delay=8.0)), recipe, delay=8.0, moisture_delay=None)
    assert json.loads(other.recipe)["delay"] == {"value": 8.0, "from": "user"}


def test_curve_is_least_at_the_delay() -> None:
    delay = hl.clean(job(field(delay=9.0, moisture_delay=5.0))).delay
    shifts, scores = (np.array(column) for column in zip(*delay.curve, strict=True))
    np.testing.assert_allclose(shifts, SHIFTS)
    assert delay.seconds is not None
    assert shifts[scores.argmin()] == pytest.approx(delay.seconds, abs=0.5)
    assert delay.contrast == pytest.approx((np.median(scores) - scores.min()) / np.median(scores), rel=1e-9)
    assert delay.pairs > 200
    assert delay.halves is not None
    assert delay.halves == pytest.approx((9.0, 9.0), abs=0.5)
    assert delay.reason is None
    assert f"{delay.seconds:.1f} s" in str(delay)


def test_plots_of_delays_are_svg_with_a_curve_for_each_machine() -> None:
    cleaned = hl.clean(two_machines())
    for delay in (cleaned.delay, cleaned.moisture_delay):
        drawn = ET.fromstring(delay.plot().svg)
        assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
        texts = " ".join(text.strip() for text in drawn.itertext() if text.strip())
        assert "1" in texts
        assert "7" in texts
        lines = [node for node in drawn.iter() if node.tag.endswith(("path", "polyline"))]
        assert len(lines) >= 2
        assert ET.fromstring(delay._repr_svg_()).tag == drawn.tag


def test_plot_of_a_refused_delay_is_svg() -> None:
    for layer in (job(straight((0, 0), (0, 400))), job(straight((0, 0), (0, 30)), kind="as_applied")):
        assert ET.fromstring(hl.clean(layer).delay.plot().svg).tag.endswith("svg")


def test_job_without_sensors_has_no_delay() -> None:
    sprayed = hl.clean(job(straight((0, 0), (0, 400), applied_rate=150.0), kind="as_applied"))
    for delay in (sprayed.delay, sprayed.moisture_delay):
        assert delay.seconds is None
        assert delay.machines == {}
        assert delay.reason == "the job has no such sensor"
    assert "flow_shifted" not in sprayed.layer.columns
    dry = frame(field(delay=8.0)).drop(columns="moisture")
    cleaned = hl.clean(harmonized(dry))
    assert cleaned.delay.seconds == pytest.approx(8.0, abs=0.3)
    assert cleaned.moisture_delay.reason == "the job has no such sensor"
    assert "yield_dry" not in cleaned.layer.columns
    assert "yield_wet" in cleaned.layer.columns


def test_rows_without_a_time_have_no_delay_and_a_reason() -> None:
    rows = frame(field(delay=8.0)).drop(columns="time")
    cleaned = hl.clean(harmonized(rows))
    assert cleaned.delay.seconds is None
    assert cleaned.delay.reason == "no time was logged"
    assert values(cleaned.layer)["m2"].sum() == pytest.approx(12 * 6 * 300, rel=0.02)


def test_refused_delay_is_a_diagnostic_of_the_rows_and_of_the_map() -> None:
    layer = job(field(passes=1))
    refused, given, off = hl.clean(layer), hl.clean(layer, delay=8.0), hl.clean(layer, delay=None)
    for made in (refused.layer, hl.grid(refused)):
        assert "pass `delay=`" in next(found.message for found in made.diagnostics if found.code == "not-shifted")
    for cleaned in (given, off):
        assert "not-shifted" not in {found.code for found in cleaned.layer.diagnostics}
