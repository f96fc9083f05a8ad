"""Ground of distances, widths, polygons and products that contradict each other: right, or said with its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from generated_logs import harvest, planter, sprayer
from spoiled_logs import changed, count, frame_of, numbers, taken
from spoiled_values import buffered, labelled, narrowed, resampled

import headland as hl

if TYPE_CHECKING:
    from generated_logs import Log


def said(frame: Any, kind: str) -> dict[str, str]:
    """Return the messages of the harmonised, cleaned and mapped log by code."""
    layer = hl.harmonize(frame, kind=kind)
    cleaned = hl.clean(layer)
    parts = (layer, cleaned.layer, hl.grid(cleaned, 10.0))
    return {str(found.code): found.message for part in parts for found in part.diagnostics}


def amount(frame: Any, kind: str = "as_applied") -> float:
    """Return the amount of all rows."""
    return float(hl.harmonize(frame, kind=kind).to_pandas()["amount"].sum())


@pytest.mark.parametrize("factor", [0.7, 0.8, 0.9144, 1.0936, 1.1, 1.2, 0.3048])
@pytest.mark.parametrize("log", [sprayer(), planter()], ids=["sprayer", "planter"])
def test_amounts_follow_the_positions_where_distances_have_another_calibration(log: Log, factor: float) -> None:
    frame = changed(log, "distance", factor * numbers(log, "distance"))
    assert amount(frame, log.kind) == pytest.approx(amount(log.frame, log.kind), rel=0.01)
    found = said(frame, log.kind)
    assert "columns-contradict" not in found
    message = found.get("units-contradict", "") + found.get("rows-missing", "")
    assert "distances" in message or "stated in" in message


def test_yields_of_a_display_follow_the_positions_where_distances_have_another_calibration() -> None:
    log = harvest()
    wet = (log.frame["Flow"] / (log.frame["Distance"] * 7.5) * 1e4).where(log.frame["Header"] == 1, 0.0)
    frame = log.frame.drop(columns="Flow").assign(**{"Yld Mass(Wet)": wet})
    units = {**log.frame.attrs["units"], "Yld Mass(Wet)": "kg/ha"}
    del units["Flow"]
    means = []
    for factor in (1.0, 0.7, 1.0936):
        made = frame.assign(Distance=frame["Distance"] * factor)
        made.attrs = {"units": units}
        means.append(hl.field_means(hl.harmonize(made, kind="yield"))["mean"][0])
    assert means[1:] == pytest.approx([means[0]] * 2, rel=0.01)


def test_ratio_of_distances_and_positions_names_the_system() -> None:
    for system, label in ((3035, 3857), (3857, 2154)):
        found = said(labelled(harvest(), system, label), "yield")
        message = found.get("units-contradict", "") + found.get("rows-missing", "")
        assert "times the steps between positions" in message
        assert "`crs=`" in message
        assert "columns-contradict" not in found


@pytest.mark.parametrize("factor", [1 / 3, 1 / 5, 1 / 10, 1 / 24])
@pytest.mark.parametrize("log", [harvest(), sprayer(), planter()], ids=["harvest", "sprayer", "planter"])
def test_width_that_is_far_too_small_is_said_with_the_distance_of_tracks(log: Log, factor: float) -> None:
    found = said(changed(log, "swath", factor * numbers(log, "swath")), log.kind)
    width = {"yield": 7.5, "as_applied": 24.0, "planting": 9.14}[log.kind]
    apart = float(found["width-contradicts"].split("tracks are ")[1].split(" m apart")[0])
    assert apart == pytest.approx(width, rel=0.06)


@pytest.mark.parametrize("step", [2, 3, 4, 5, 10])
@pytest.mark.parametrize("log", [harvest(), sprayer(), planter()], ids=["harvest", "sprayer", "planter"])
def test_even_part_of_the_rows_has_the_ground_of_all_and_no_other_unit(log: Log, step: int) -> None:
    frame = taken(log, np.arange(0, count(log), step))
    found = said(frame, log.kind)
    assert f"one of {step} rows of a log is kept" in found["rows-missing"]
    assert not {"units-contradict", "columns-contradict", "mean-unknown"} & set(found)
    if log.kind == "yield":
        [row] = hl.field_means(hl.harmonize(frame, kind="yield"))
        assert row["mean"] == pytest.approx(log.truth.mean, rel=0.02 if step < 10 else 0.06)
        assert row["dry_mass"] == pytest.approx(log.truth.total, rel=0.03)
    else:
        assert amount(frame, log.kind) == pytest.approx(amount(log.frame, log.kind), rel=0.03)


@pytest.mark.parametrize("log", [harvest(), sprayer()], ids=["harvest", "sprayer"])
def test_buffers_of_points_are_no_ground(log: Log) -> None:
    for metres, is_round in ((1.0, False), (2.0, False), (3.75, True)):
        frame = buffered(log, metres, is_round=is_round)
        layer, whole = (hl.harmonize(each, kind=log.kind) for each in (frame, log.frame))
        assert "as of points with a buffer" in said(frame, log.kind)["ground-incomplete"]
        sums = [hl.grid(hl.clean(each), 10.0).to_pandas().sum(numeric_only=True) for each in (layer, whole)]
        for name in ("covered", "kg_dry" if log.kind == "yield" else "amount"):
            assert sums[0][name] == pytest.approx(sums[1][name], rel=0.005)
    lines = log.frame.to_crs(log.frame.estimate_utm_crs()).buffer(1 + np.arange(count(log)) % 7 / 7)
    frame = frame_of(log, log.frame.set_geometry(lines.to_crs(log.frame.crs)))
    assert "times the area of `distance` x `swath_width`" in said(frame, log.kind)["width-contradicts"]


@pytest.mark.parametrize(("width", "share"), [(2 / 3, 0.33), (0.5, 0.33), (2 / 3, 0.2)])
def test_rows_that_count_with_more_than_their_width_are_said_and_can_keep_it(width: float, share: float) -> None:
    log = harvest()
    frame = narrowed(log, width, share)
    layer = hl.harmonize(frame, kind="yield")
    means = hl.field_means(layer)
    assert "`full_width`" in " ".join(found.message for found in means.diagnostics)
    kept = hl.clean(layer, recipe='{"headland_recipe": 2, "full_width": 0}')
    assert "`full_width`" not in " ".join(found.message for found in kept.layer.diagnostics)
    cells = hl.grid(kept, 10.0).to_pandas()
    assert cells["kg_dry"].sum() / cells["m2"].sum() * 1e4 == pytest.approx(log.truth.mean, rel=0.02)


@pytest.mark.parametrize("rows", [10, 15])
def test_rows_that_are_far_apart_say_how_well_the_ground_is_known(rows: int) -> None:
    found = said(resampled(harvest(), rows, "last"), "yield")
    assert f"rows are {rows} s" in found["ground-incomplete"]
    assert "a delay of the flow to some seconds" in found["ground-incomplete"]


def products(log: Log, move: float, days: int) -> gpd.GeoDataFrame:
    """Return two products of a job, the second with a tenth of the rate, some metres aside and some days later."""
    plane = log.frame.to_crs(log.frame.estimate_utm_crs())
    second = log.frame.assign(
        Product="B",
        Time=log.frame["Time"] + pd.Timedelta(days=days),
        **{"Applied Rate": log.frame["Applied Rate"] / 10},
    )
    second = second.set_geometry(plane.translate(move).to_crs(log.frame.crs))
    return frame_of(log, gpd.GeoDataFrame(pd.concat([log.frame.assign(Product="A"), second], ignore_index=True)))


@pytest.mark.parametrize(("move", "days"), [(0.0, 0), (3.0, 7), (0.0, 7)])
@pytest.mark.parametrize("by", ["product", ["product", "field"]])
def test_each_product_covers_all_ground_that_it_is_applied_on(move: float, days: int, by: Any) -> None:
    log = sprayer()
    frame = products(log, move, days).assign(Field="North")
    frame.attrs = log.frame.attrs
    cleaned = hl.clean(hl.harmonize(frame, kind="as_applied"))
    west, south, east, north = log.frame.total_bounds
    field = gpd.GeoDataFrame({"plot": [1]}, geometry=[shapely.box(west - 1, south - 1, east + 1, north + 1)], crs=4326)
    for cells in (hl.grid(cleaned, 20, by=by).to_pandas(), hl.grid(cleaned, plots=field, by=by).to_pandas()):
        sums = cells.groupby("product")[["amount", "covered", "m2"]].sum()
        for name, part in (("A", 1.0), ("B", 0.1)):
            assert sums["covered"][name] == pytest.approx(log.truth.ground, rel=0.01)
            assert sums["amount"][name] == pytest.approx(log.truth.total * part, rel=0.02)
            rates = cells[cells["product"] == name]["rate"]
            assert rates.max() < 3 * 240 * part
            assert rates.median() == pytest.approx(200 * part, rel=0.05)


def test_varieties_of_a_planter_share_one_ground_and_have_no_rates_of_slivers() -> None:
    log = planter()
    frame = frame_of(log, log.frame.drop(columns="Variety").assign(Section=0))
    halves = []
    plane = frame.to_crs(frame.estimate_utm_crs())
    angle = np.radians(frame["Heading"].to_numpy())
    for section, side, variety in ((1, -1, "A"), (2, 1, "B")):
        aside = side * log.frame["Swath"].iloc[0] * 0.3048 / 4
        moved = gpd.points_from_xy(plane.geometry.x + aside * np.cos(angle), plane.geometry.y - aside * np.sin(angle))
        half = frame.assign(Section=section, Variety=variety, Swath=frame["Swath"] / 2)
        halves.append(half.set_geometry(gpd.GeoSeries(moved, crs=plane.crs).to_crs(4326).to_numpy()))
    both = frame_of(log, gpd.GeoDataFrame(pd.concat(halves, ignore_index=True), geometry="geometry", crs=4326))
    cleaned = hl.clean(hl.harmonize(both, kind="planting"))
    cells = hl.grid(cleaned, 20, by="variety").to_pandas()
    assert cells["covered"].sum() == pytest.approx(hl.grid(cleaned, 20).to_pandas()["covered"].sum(), rel=1e-6)
    usual = log.truth.mean
    assert cells["rate"].max() < 2 * usual
    for _, own in cells.groupby("variety"):
        assert own["rate"].mean() == pytest.approx(usual, rel=0.04)


def test_infinite_rates_are_no_values_and_change_no_state() -> None:
    log = sprayer()
    rate = np.where(np.arange(count(log)) % 100 == 0, np.inf, numbers(log, "rate"))
    frame = changed(log, "rate", rate)
    assert "working-contradicts" not in said(frame, "as_applied")
    messages = " ".join(found.message for found in hl.harmonize(frame, kind="as_applied").diagnostics)
    assert f"{np.isinf(rate).sum()} values of column `Applied Rate` are none that a sensor measures" in messages


def test_crop_that_the_caller_states_is_no_edit() -> None:
    layer = hl.harmonize(harvest().frame, kind="yield", crop="canola")
    codes = {str(found.code) for found in (*layer.diagnostics, *hl.field_means(layer).diagnostics)}
    assert "crop-contradicts" in codes
    assert "columns-contradict" not in codes


def edges(shapes: list[Any], crs: Any) -> int:
    """Return the number of rows at the edge of a boundary."""
    cleaned = hl.clean(hl.harmonize(harvest().frame, kind="yield"), boundary=gpd.GeoDataFrame(geometry=shapes, crs=crs))
    report = cleaned.report.to_pandas()
    return int(report.loc[report["reason"] == "edge", "rows"].sum())


def test_common_line_of_two_polygons_is_no_edge() -> None:
    plane = harvest().frame.to_crs(harvest().frame.estimate_utm_crs())
    whole = plane.union_all().convex_hull.buffer(6)
    west, south, east, north = whole.bounds
    middle = (west + east) / 2
    one = edges([whole], plane.crs)
    for gap, lap in ((0.0, 0.0), (0.5, 0.0), (0.0, 5.0)):
        parts = [shapely.box(west, south, middle + lap, north), shapely.box(middle + gap, south, east, north)]
        halves = [whole.intersection(part) for part in parts]
        assert edges(halves, plane.crs) == pytest.approx(one, rel=0.02)
        assert edges([shapely.MultiPolygon(halves)] if not lap else halves, plane.crs) == pytest.approx(one, rel=0.02)
    # A road between two fields is an edge of both.
    parts = [shapely.box(west, south, middle - 5, north), shapely.box(middle + 5, south, east, north)]
    assert edges([whole.intersection(part) for part in parts], plane.crs) > 1.3 * one
