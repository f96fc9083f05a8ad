"""Cleaning of small jobs whose answers are known on paper: yields, reasons, ground, recipes and maps."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import shapely
from driven_rows import (
    NOTHING_ESTIMATED,
    circle,
    field,
    frame,
    harmonized,
    job,
    metric,
    plain,
    plane,
    polygons,
    straight,
    values,
)

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable

REASONS = {
    "not_working": 1,
    "ends": 2,
    "speed": 4,
    "position": 8,
    "duplicate": 16,
    "swath": 32,
    "overlap": 64,
    "moisture": 128,
    "spike": 256,
    "local": 512,
    "limits": 1024,
    "edge": 2048,
}

NOTES = {"swath", "overlap", "moisture"}
"""Reasons of rows that stay used."""

ROW = 30
"""A row in the middle of a pass."""


def long_passes(count: int = 5) -> list[pd.DataFrame]:
    """Return passes of 200 m next to each other, in turns to the north and to the south."""
    ends = [((6.0 * n, -100.0), (6.0 * n, 100.0)) for n in range(count)]
    return [
        straight(*(pair if n % 2 == 0 else pair[::-1]), seconds=200.0 * n, flow=5.0, moisture=20.0)
        for n, pair in enumerate(ends)
    ]


def changed(name: str, value: Any, rows: slice = slice(ROW, ROW + 1)) -> hl.Layer:
    """Return a job of five passes; in the third one, some rows have another value in a column."""
    passes = long_passes()
    passes[2].iloc[rows, passes[2].columns.get_loc(name)] = value
    return job(*passes)


def marked(cleaned: hl.Cleaned, reason: str) -> list[int]:
    """Return the positions of rows with a reason, from the start of the third pass on."""
    bits = values(cleaned.layer)["reasons"].to_numpy()
    return [int(row) - 200 for row in np.flatnonzero(bits & REASONS[reason])]


def test_yields_are_those_on_paper() -> None:
    # 5 kg/s for 1 s from 2 m x 6 m at 20 % of water.
    wet = Fraction(5, 12) * 10_000
    dry = wet * Fraction(100 - 20) / (100 - Fraction("15.5"))
    cleaned = plain(job(straight((0, -50), (0, 50))))
    rows = values(cleaned.layer)
    np.testing.assert_allclose(rows["kg"], 5.0, rtol=1e-12)
    np.testing.assert_allclose(rows["m2"], 12.0, rtol=1e-8)
    np.testing.assert_allclose(rows["yield_wet"], float(wet), rtol=1e-8)
    np.testing.assert_allclose(rows["yield_dry"], float(dry), rtol=1e-8)
    assert cleaned.layer.units["yield_wet"] == "kg/ha"
    assert cleaned.layer.units["m2"] == "m2"
    grid = values(hl.grid(cleaned, 1000.0))
    assert grid["kg_wet"].sum() == pytest.approx(250.0, rel=1e-9)
    assert grid["kg_dry"].sum() == pytest.approx(float(250 * Fraction(80) / Fraction("84.5")), rel=1e-9)
    assert grid["yield_dry"].iloc[0] == pytest.approx(float(dry), rel=1e-8)


def test_bushels_of_cleaned_rows_are_those_on_paper() -> None:
    layer = plain(job(straight((0, -50), (0, 50)))).layer
    us = layer.to_units({"yield_dry": "bu/ac"}, crop="corn")
    dry = Fraction(5, 12) * Fraction(80) / Fraction("84.5")
    bushels = dry / (56 * Fraction("0.45359237")) * Fraction("4046.8564224")
    np.testing.assert_allclose(values(us)["yield_dry"], float(bushels), rtol=1e-8)


@pytest.mark.parametrize(
    ("moisture", "expand", "gains"), [(10.0, True, True), (10.0, False, False), (20.0, False, False)]
)
def test_grain_below_the_market_moisture_gains_unless_expand_is_false(
    moisture: float, expand: bool, gains: bool
) -> None:
    rows = values(plain(job(straight((0, -50), (0, 50), moisture=moisture)), expand=expand).layer)
    factor = Fraction(100 - int(moisture)) / Fraction("84.5")
    expected = factor if expand else min(factor, Fraction(1))
    np.testing.assert_allclose(rows["yield_dry"] / rows["yield_wet"], float(expected), rtol=1e-12)
    assert (expected > 1) == gains


def test_market_moisture_of_the_recipe_is_used() -> None:
    cleaned = plain(job(straight((0, -50), (0, 50))), market_moisture=14.0)
    rows = values(cleaned.layer)
    np.testing.assert_allclose(rows["yield_dry"] / rows["yield_wet"], 80 / 86, rtol=1e-12)
    basis = pa.schema(cleaned.layer).field("yield_dry").metadata[b"headland:moisture_basis"]
    assert float(basis) == 14.0
    assert json.loads(plain(job(straight((0, 0), (0, 50)))).recipe)["market_moisture"] == {"value": 15.5, "from": "job"}


def test_unknown_crop_has_no_dry_yield() -> None:
    cleaned = plain(job(straight((0, -50), (0, 50)), crop=None))
    assert "yield_dry" not in cleaned.layer.columns
    assert "yield_wet" in cleaned.layer.columns
    assert "kg_dry" not in hl.grid(cleaned).columns


def test_clean_job_has_no_reasons() -> None:
    rows = values(plain(job(*long_passes())).layer)
    assert (rows["reasons"] == 0).all()
    assert rows["used"].all()
    assert rows["pass_number"].nunique() == 5
    assert rows["reasons"].dtype == np.int32
    assert rows["m2"].sum() == pytest.approx(5 * 200 * 6, rel=1e-6)


@pytest.mark.parametrize(
    ("reason", "column", "value", "rows"),
    [
        ("position", "x", 60.0, [30]),
        ("swath", "swath_width", 3.0, [30]),
        ("moisture", "moisture", 40.0, [29, 30, 31]),
        ("moisture", "moisture", 3.0, [29, 30, 31]),
        ("moisture", "moisture", 26.0, [29, 30, 31]),
        ("moisture", "moisture", np.nan, [29, 30, 31]),
        ("spike", "flow", 15.0, [29, 30, 31]),
        ("spike", "flow", 1.0, [29, 30, 31]),
        ("local", "flow", 7.0, [29, 30, 31]),
        ("local", "flow", 3.0, [29, 30, 31]),
    ],
)
def test_row_with_one_fault_has_its_reason(reason: str, column: str, value: float, rows: list[int]) -> None:
    cleaned = plain(changed(column, value))
    assert marked(cleaned, reason) == rows
    used = values(cleaned.layer)["used"].to_numpy()
    assert np.flatnonzero(~used).tolist() == ([] if reason in NOTES else [200 + row for row in rows])
    report = cleaned.report.to_pandas().set_index("reason")
    assert report.loc[reason, "rows"] == len(rows)
    assert values(plain(changed(column, value), keep=[reason]).layer)["used"].all()


@pytest.mark.parametrize("distance", [6.0, 0.1, 0.0, np.nan])
def test_wrong_or_missing_distance_is_the_step_of_the_positions(distance: float) -> None:
    rows = values(plain(changed("distance", distance)).layer)
    assert (rows["reasons"] == 0).all()
    assert rows["used"].all()
    np.testing.assert_allclose(rows["m2"], 12.0, rtol=1e-6)
    np.testing.assert_allclose(rows["kg"], 5.0, rtol=1e-12)


@pytest.mark.parametrize("flow", [0.0, np.nan, -3.0, 5000.0])
def test_dropout_of_the_flow_is_interpolated(flow: float) -> None:
    rows = values(plain(changed("flow", flow)).layer)
    assert (rows["reasons"] == 0).all()
    np.testing.assert_allclose(rows["flow_shifted"], 5.0, rtol=1e-12)
    np.testing.assert_allclose(rows["kg"], 5.0, rtol=1e-12)


@pytest.mark.parametrize(
    ("column", "value"), [("moisture", 23.0), ("flow", 5.8), ("distance", 2.3), ("swath_width", 5.9)]
)
def test_row_that_differs_a_little_has_no_reason(column: str, value: float) -> None:
    assert (values(plain(changed(column, value)).layer)["reasons"] == 0).all()


def test_narrow_row_on_new_ground_has_the_usual_width() -> None:
    rows = values(plain(changed("swath_width", 3.0)).layer)
    assert rows["m2"].iloc[200 + ROW] == pytest.approx(12.0, rel=1e-6)


def test_same_row_twice_is_a_duplicate_that_covers_nothing() -> None:
    passes = long_passes()
    again = passes[2].iloc[[ROW]]
    passes[2] = pd.concat([passes[2].iloc[: ROW + 1], again, passes[2].iloc[ROW + 1 :]], ignore_index=True)
    cleaned = plain(job(*passes))
    rows = values(cleaned.layer)
    assert marked(cleaned, "duplicate") == [ROW + 1]
    assert rows["m2"].sum() == pytest.approx(5 * 200 * 6, rel=1e-6)
    assert rows["kg"].sum() == pytest.approx(500 * 5.0, rel=1e-12)
    assert rows["m2"].iloc[200 + ROW + 1] == 0.0


def test_limits_of_the_recipe_mark_yields_outside() -> None:
    # 4167 kg/ha wet, 3945 dry; 5.5 kg/s gives 4339 dry.
    layer = changed("flow", 5.5, slice(30, 40))
    assert marked(plain(layer, limits=[None, 4200.0]), "limits") == [*range(30, 40)]
    assert len(marked(plain(layer, limits=[4200.0, None]), "limits")) == 490
    assert marked(plain(layer, limits=[3900.0, 4400.0]), "limits") == []


def test_rows_near_the_boundary_are_an_edge() -> None:
    inside = shapely.box(-3.0, -100.0, 27.0, 100.0)
    around = gpd.GeoDataFrame(geometry=[inside], crs=plane()).to_crs(4326)
    layer = job(*long_passes())
    centres = pd.concat(long_passes(), ignore_index=True)
    north = np.where(centres["heading"] == 0, 1.0, -1.0)
    points = shapely.points(centres["x"], centres["y"] - north)
    for metres, recipe in ((10.0, {}), (4.0, {"edge": 4.0}), (0.0, {"edge": 0.0})):
        cleaned = hl.clean(layer, {**NOTHING_ESTIMATED, **recipe}, boundary=around)
        expected = shapely.distance(points, inside.boundary) < metres
        bits = values(cleaned.layer)["reasons"].to_numpy() & REASONS["edge"]
        assert ((bits > 0) == expected).mean() > 0.99, metres
        assert (bits > 0).any() == (metres > 0)
    assert (values(plain(layer).layer)["reasons"] == 0).all()


def test_pass_driven_twice_counts_its_ground_once() -> None:
    one = straight((0, -50), (0, 50))
    rows = values(plain(job(one, straight((0, 50), (0, -50), seconds=200.0, flow=0.5))).layer)
    first, second = rows.iloc[:50], rows.iloc[50:]
    np.testing.assert_allclose(first["m2"], 12.0, rtol=1e-6)
    np.testing.assert_allclose(second["m2"], 0.0, atol=1e-6)
    np.testing.assert_allclose(second["share"], 1.0, rtol=1e-6)
    assert (second["reasons"] & REASONS["overlap"] > 0).all()
    assert second["yield_wet"].isna().all()
    assert (first["reasons"] == 0).all()


def test_half_overlap_counts_half_and_has_twice_the_rate() -> None:
    rows = values(plain(job(straight((0, -50), (0, 50)), straight((3, 50), (3, -50), seconds=200.0, flow=2.5))).layer)
    second = rows.iloc[50:]
    np.testing.assert_allclose(second["m2"], 6.0, rtol=1e-6)
    np.testing.assert_allclose(second["share"], 0.5, rtol=1e-6)
    np.testing.assert_allclose(second["yield_wet"], 2.5 / 6 * 10_000, rtol=1e-6)
    # Overlap is a note: the rows stay used.
    assert second["used"].all()
    assert (second["reasons"] == REASONS["overlap"]).all()


def test_small_overlap_is_not_a_reason() -> None:
    rows = values(plain(job(straight((0, -50), (0, 50)), straight((4.5, 50), (4.5, -50), seconds=200.0))).layer)
    np.testing.assert_allclose(rows["share"].iloc[50:], 0.25, rtol=1e-6)
    assert (rows["reasons"] == 0).all()


def test_crossing_passes_count_the_square_once() -> None:
    cleaned = plain(job(straight((-50, 0), (50, 0)), straight((0, -50), (0, 50), seconds=200.0)))
    rows = values(cleaned.layer)
    assert rows["m2"].sum() == pytest.approx(2 * 600 - 36, rel=1e-8)
    assert rows["m2"].iloc[50:].sum() == pytest.approx(600 - 36, rel=1e-8)


def test_earlier_row_owns_the_ground_whatever_the_order_of_the_file() -> None:
    east = straight((-50, 0), (50, 0), seconds=500.0)
    north = straight((0, -50), (0, 50))
    rows = values(plain(job(east, north)).layer)
    assert rows["m2"].iloc[:50].sum() == pytest.approx(600 - 36, rel=1e-8)
    assert rows["m2"].iloc[50:].sum() == pytest.approx(600, rel=1e-8)


def test_circle_covers_its_ring_and_the_second_round_covers_nothing() -> None:
    once = circle(60.0, 180)
    twice = circle(60.0, 180).assign(seconds=lambda rows: rows["seconds"] + 600.0)
    rows = values(plain(job(once, twice), turn=60.0).layer)
    # Swaths that share corners on the bisectors are a ring of 180 sides: chords are shorter than arcs.
    ring = 180 * np.tan(np.pi / 180) * 60.0 * 6.0 * 2
    assert rows["m2"].iloc[:180].sum() == pytest.approx(ring, rel=0.002)
    assert rows["m2"].iloc[:180].sum() == pytest.approx(np.pi * (63.0**2 - 57.0**2), rel=0.002)
    assert rows["m2"].iloc[180:].sum() < 0.002 * ring


def test_swaths_are_rectangles_behind_the_cutter_bar() -> None:
    rows = straight((0, -50), (0, 50))
    swaths = metric(plain(job(rows)).swaths())
    expected = polygons(rows)
    assert swaths["row"].tolist() == list(range(50))
    for found, shape in zip(swaths.geometry, expected, strict=True):
        assert shapely.symmetric_difference(found, shape).area < 1e-4
    ahead = metric(plain(job(rows), antenna=3.0).swaths())
    assert shapely.symmetric_difference(ahead.geometry[0], shapely.box(-3, -47, 3, -45)).area < 1e-4


def test_ground_equals_the_union_of_the_swaths() -> None:
    rows = field(passes=8, length=120.0)
    cleaned = plain(
        job(rows, straight((-40, 0), (40, 10), seconds=9000.0), straight((-40, 20), (40, -20), seconds=9900.0))
    )
    swaths = metric(cleaned.swaths())
    found = values(cleaned.layer)
    # Rows within 3 s of each other do not cover each other; on straight passes they only touch.
    assert found["m2"].sum() == pytest.approx(shapely.union_all(swaths.geometry.to_numpy()).area, rel=1e-7)
    assert found["m2"].sum() < 0.95 * swaths.area.sum()


def test_recipe_is_sorted_json_with_origins() -> None:
    recipe = hl.clean(job(field(delay=8.0)), {"turn": 30, "edge": 5.0}, antenna=2.5, keep=["local"]).recipe
    parameters = json.loads(recipe)
    assert list(parameters) == sorted(parameters)
    assert parameters["headland_recipe"] == 2
    assert parameters["antenna"] == {"value": 2.5, "from": "user"}
    assert parameters["turn"] == {"value": 30.0, "from": "user"}
    assert parameters["keep"] == {"value": ["local"], "from": "user"}
    assert parameters["delay"]["from"] == "estimated"
    assert parameters["ends"] == {"value": [3.0, 2.0], "from": "default"}
    assert parameters["moisture_delay"] == {"value": "flow", "from": "default"}
    assert parameters["spike"] == {"value": [0.4, 1.9], "from": "default"}
    assert {entry["from"] for key, entry in parameters.items() if isinstance(entry, dict)} <= {
        "default",
        "estimated",
        "user",
        "job",
    }


def test_arguments_override_the_recipe() -> None:
    layer = job(field(delay=8.0))
    first = hl.clean(layer, antenna=2.5)
    other = hl.clean(layer, first.recipe, antenna=1.0, delay=7.0)
    parameters = json.loads(other.recipe)
    assert parameters["antenna"] == {"value": 1.0, "from": "user"}
    assert parameters["delay"] == {"value": 7.0, "from": "user"}
    assert parameters["moisture_delay"] == json.loads(first.recipe)["moisture_delay"]


@pytest.mark.parametrize(
    "draw",
    [
        lambda cleaned: cleaned.map(),
        lambda cleaned: cleaned.map("reasons"),
        lambda cleaned: cleaned.map("logged"),
        lambda cleaned: cleaned.map("yield_dry"),
    ],
)
def test_maps_are_svg(draw: Callable[[hl.Cleaned], Any]) -> None:
    drawn = ET.fromstring(draw(plain(changed("flow", 15.0))).svg)
    assert drawn.tag.endswith("svg")
    shapes = [node for node in drawn.iter() if node.tag.endswith(("path", "circle", "rect", "polygon"))]
    assert len(shapes) > 3
    assert len(draw(plain(job(*long_passes()))).svg) > 1000


def test_maps_before_and_after_have_one_scale_of_colours() -> None:
    rows = field(delay=8.0, moisture_delay=5.0)
    rows.loc[::50, "flow"] *= 5.0
    cleaned = hl.clean(job(rows))
    before, after = (re.findall(r">([\d,.]+)</text>", cleaned.map(name).svg) for name in ("logged", None))
    assert len(after) > 3
    assert before == after


def test_map_of_an_unknown_column_is_an_error() -> None:
    with pytest.raises(ValueError, match="yields"):
        plain(job(straight((0, 0), (0, 50)))).map("yields")


def test_display_shows_the_report_and_two_maps() -> None:
    text = hl.clean(changed("flow", 15.0))._repr_html_()
    assert text.count("<figure") == text.count("<figcaption") == 2
    assert text.count("<svg") >= 2
    assert "delay of the flow" in text


def test_covered_area_of_a_layer_is_its_ground() -> None:
    layer = job(straight((-50, 0), (50, 0)), straight((0, -50), (0, 50), seconds=200.0))
    assert layer.covered_area() == pytest.approx(2 * 600 - 36, rel=1e-8)


def test_layer_that_is_not_harmonised_is_harmonised() -> None:
    rows = frame(pd.concat(long_passes(), ignore_index=True))
    rows.attrs["units"] = {
        "distance": "m",
        "swath_width": "m",
        "heading": "deg",
        "flow": "kg/s",
        "moisture": "%",
        "interval": "s",
    }
    found = values(hl.clean(rows, NOTHING_ESTIMATED).layer)
    assert found["m2"].sum() == pytest.approx(6000.0, rel=1e-6)
    assert "yield_wet" in found
    assert values(plain(harmonized(rows)).layer)["m2"].equals(found["m2"])
