"""What changes no cleaning: the order of rows, the place and direction of the field, units, and the kind of table."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from driven_rows import field, frame, harmonized, plane, values
from hypothesis import given, settings
from hypothesis import strategies as st
from logged_jobs import SERIES, read

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable

    from logged_jobs import Job

NAMES = ("Stone Hill 2024 Harvest", "Cattle Gate 2025 Harvest")
"""A field with one machine and one with two, both with a row every 2 s."""

KEYS = ["reasons", "used", "pass_number", "kg", "m2", "yield_wet", "yield_dry", "flow_shifted", "moisture_shifted"]

NOTES = 32 | 64 | 128
"""Bits of `swath`, `overlap` and `moisture`, which leave a row used."""


@pytest.fixture(scope="module")
def jobs(logged_service: Callable[[int], hl.Sandbox]) -> list[Job]:
    """Return logged harvests as they were read."""
    return read(logged_service(0), NAMES)


@pytest.fixture(scope="module", params=range(len(NAMES)))
def rows(request: pytest.FixtureRequest, jobs: list[Job]) -> gpd.GeoDataFrame:
    """Return the rows of a harvest in degrees, with their units in ``attrs``."""
    original = jobs[request.param].layer.to_geopandas()
    degrees = original.to_crs(4326)
    degrees.attrs = original.attrs
    return degrees


@pytest.fixture(scope="module")
def base(rows: gpd.GeoDataFrame) -> hl.Cleaned:
    """Return the cleaned rows."""
    return cleaned(rows)


def cleaned(rows: gpd.GeoDataFrame, recipe: str | None = None) -> hl.Cleaned:
    """Harmonise and clean."""
    return hl.clean(hl.harmonize(rows, kind="yield"), recipe, antenna=3.0)


def moved(rows: gpd.GeoDataFrame, x: np.ndarray, y: np.ndarray, turn: float, crs: object = 4326) -> gpd.GeoDataFrame:
    """Return rows at other locations, with headings that are turned anticlockwise by some degrees."""
    points = gpd.GeoSeries(gpd.points_from_xy(x, y), crs=crs).to_crs(4326)
    other = gpd.GeoDataFrame(rows.drop(columns="geometry"), geometry=points.to_numpy(), crs=4326)
    other["HEADING"] = (rows["HEADING"] - turn) % 360
    other.attrs = rows.attrs
    return other


def columns(rows: hl.Cleaned) -> pd.DataFrame:
    """Return the columns of a cleaning."""
    return values(rows.layer)[KEYS]


def centre(rows: gpd.GeoDataFrame) -> tuple[float, float]:
    """Return the median latitude and longitude, which the local plane is around."""
    return float(rows.geometry.y.median()), float(rows.geometry.x.median())


def test_rows_keep_their_number_order_and_originals(rows: gpd.GeoDataFrame, base: hl.Cleaned) -> None:
    layer = hl.harmonize(rows, kind="yield")
    after = base.layer.to_geopandas()
    logged = ("pass_number", "yield_wet", "yield_dry")
    # Columns that a cleaning replaces keep their logged values under another name.
    before = layer.to_geopandas().rename(columns={name: f"{name}_logged" for name in logged})
    assert len(after) == len(rows)
    pd.testing.assert_frame_equal(pd.DataFrame(after[before.columns]), pd.DataFrame(before))
    assert set(after.columns) - set(before.columns) == {*KEYS, "share"}


def test_order_of_rows_does_not_matter(rows: gpd.GeoDataFrame, base: hl.Cleaned) -> None:
    # Rows of one machine with one time keep their order: the second one is the duplicate.
    keys = [name for name in ("DATE", "TIME", "MACHINE") if name in rows]
    times = rows.groupby(keys, dropna=False).ngroup().to_numpy()
    for seed in range(2 * SERIES):
        rank = np.random.default_rng(seed).permutation(times.max() + 1)
        order = np.argsort(rank[times], kind="stable")
        shuffled = rows.iloc[order]
        shuffled.attrs = rows.attrs
        found = columns(cleaned(shuffled)).iloc[np.argsort(order)].reset_index(drop=True)
        # Numbers of passes and all other values: nothing depends on the order of the file.
        pd.testing.assert_frame_equal(found, columns(base), check_exact=True)


def test_field_further_east_has_the_same_values(rows: gpd.GeoDataFrame, base: hl.Cleaned) -> None:
    for east in (1.0, 37.5):
        found = columns(cleaned(moved(rows, rows.geometry.x + east, rows.geometry.y, 0.0)))
        pd.testing.assert_frame_equal(found, columns(base), rtol=1e-9, atol=1e-9)


def test_field_across_the_antimeridian_has_the_same_values(rows: gpd.GeoDataFrame, base: hl.Cleaned) -> None:
    _, longitude = centre(rows)
    east = (rows.geometry.x - longitude + 360.0) % 360.0 - 180.0
    found = columns(cleaned(moved(rows, east.to_numpy(), rows.geometry.y.to_numpy(), 0.0)))
    assert (east > 179.99).any()
    assert (east < -179.99).any()
    assert (found["reasons"] == columns(base)["reasons"]).all()
    np.testing.assert_allclose(found["m2"], columns(base)["m2"], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("turn", [33.0, 90.0, 180.0, 271.5])
def test_turned_field_has_the_same_values(rows: gpd.GeoDataFrame, base: hl.Cleaned, turn: float) -> None:
    crs = plane(*centre(rows))
    metres = rows.to_crs(crs).geometry.get_coordinates().to_numpy()
    angle = np.radians(turn)
    x, y = (metres @ np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])).T
    other = cleaned(moved(rows, x, y, turn, crs))
    found, true = columns(other), columns(base)
    # The median position, which the local plane is around, moves by some metres with the turn.
    assert (found["reasons"] == true["reasons"]).all()
    np.testing.assert_allclose(found["m2"], true["m2"], rtol=1e-4, atol=1e-4)
    assert found["m2"].sum() == pytest.approx(true["m2"].sum(), rel=1e-7)
    np.testing.assert_allclose(found["kg"], true["kg"], rtol=1e-6)
    for machine, delay in base.delay.machines.items():
        assert other.delay.machines[machine]["seconds"] == pytest.approx(delay["seconds"], abs=1e-3)


def test_mirrored_field_has_the_same_values(rows: gpd.GeoDataFrame, base: hl.Cleaned) -> None:
    south = moved(rows, rows.geometry.x, -rows.geometry.y, 0.0)
    south["HEADING"] = (180.0 - rows["HEADING"]) % 360
    found, true = columns(cleaned(south, base.recipe)), columns(base)
    assert (found["reasons"] == true["reasons"]).all()
    np.testing.assert_allclose(found["m2"], true["m2"], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found["kg"], true["kg"], rtol=1e-9)


def test_twice_the_flow_is_twice_the_mass_and_the_same_reasons(rows: gpd.GeoDataFrame, base: hl.Cleaned) -> None:
    double = rows.assign(FLOW=rows["FLOW"] * 2)
    double.attrs = rows.attrs
    other = cleaned(double)
    found, true = columns(other), columns(base)
    assert (found["reasons"] == true["reasons"]).all()
    assert true["kg"].sum() > 1000
    for name in ("kg", "yield_wet", "yield_dry", "flow_shifted"):
        np.testing.assert_allclose(found[name], 2 * true[name], rtol=1e-12)
    assert values(hl.grid(other))["kg_dry"].sum() == pytest.approx(2 * values(hl.grid(base))["kg_dry"].sum(), rel=1e-12)


def test_units_of_the_display_do_not_matter(rows: gpd.GeoDataFrame, base: hl.Cleaned) -> None:
    units = dict(rows.attrs["units"])
    others = {
        "ft": ("m", 0.3048),
        "m": ("ft", 1 / 0.3048),
        "lb/s": ("kg/s", 0.45359237),
        "kg/s": ("lb/s", 1 / 0.45359237),
    }
    names = ("DISTANCE", "SWATHWIDTH", "FLOW")
    other = rows.assign(**{name: rows[name] * others[units[name]][1] for name in names})
    other.attrs = {"units": {**units, **{name: others[units[name]][0] for name in names}}}
    found, true = columns(cleaned(other)), columns(base)
    assert (found["reasons"] == true["reasons"]).all()
    np.testing.assert_allclose(found["kg"], true["kg"], rtol=1e-9)
    np.testing.assert_allclose(found["m2"], true["m2"], rtol=1e-6, atol=1e-6)


def test_cleaning_a_cleaned_layer_changes_nothing(base: hl.Cleaned) -> None:
    again = hl.clean(base.layer, antenna=3.0)
    pd.testing.assert_frame_equal(again.layer.to_pandas(), base.layer.to_pandas(), check_exact=True)
    assert again.recipe == base.recipe


def test_replayed_recipe_gives_the_same_values(rows: gpd.GeoDataFrame, base: hl.Cleaned) -> None:
    again = hl.clean(hl.harmonize(rows, kind="yield"), recipe=base.recipe)
    pd.testing.assert_frame_equal(columns(again), columns(base), rtol=1e-9, atol=1e-9)
    assert again.recipe == base.recipe
    assert hl.clean(base.layer, json.loads(base.recipe)).recipe == base.recipe


def test_replayed_recipe_on_another_job_keeps_its_parameters(jobs: list[Job]) -> None:
    one = next(job for job in jobs if job.name == NAMES[0])
    other = next(job for job in jobs if job.name == NAMES[1])
    first = hl.clean(one.harmonized, antenna=one.truth.antenna)
    replayed = hl.clean(other.harmonized, first.recipe)
    assert [delay["seconds"] for delay in replayed.delay.machines.values()] == [first.delay.seconds] * 2
    parameters, expected = json.loads(replayed.recipe), json.loads(first.recipe)
    # The market moisture is that of the crop of each job.
    assert parameters.pop("market_moisture")["value"] == other.truth.moisture_basis
    assert expected.pop("market_moisture")["value"] == one.truth.moisture_basis
    assert parameters == expected
    twice = hl.clean(other.harmonized, first.recipe)
    pd.testing.assert_frame_equal(columns(twice), columns(replayed), check_exact=True)


def test_pickled_cleaning_is_the_same(base: hl.Cleaned) -> None:
    again = pickle.loads(pickle.dumps(base))
    pd.testing.assert_frame_equal(again.layer.to_pandas(), base.layer.to_pandas(), check_exact=True)
    pd.testing.assert_frame_equal(again.report.to_pandas(), base.report.to_pandas())
    pd.testing.assert_frame_equal(values(hl.grid(again)), values(hl.grid(base)))
    assert again.recipe == base.recipe
    assert again.delay.seconds == base.delay.seconds


def test_pickled_cleaning_keeps_its_boundary(base: hl.Cleaned, rows: gpd.GeoDataFrame) -> None:
    around = gpd.GeoDataFrame(
        geometry=[rows.to_crs(rows.estimate_utm_crs()).union_all().convex_hull], crs=rows.estimate_utm_crs()
    )
    edged = hl.clean(base.layer, boundary=around)
    again = pickle.loads(pickle.dumps(edged))
    is_edge = values(edged.layer)["reasons"] & 2048 > 0
    assert 0 < is_edge.sum() < len(rows) / 2
    assert (values(again.layer)["reasons"] == values(edged.layer)["reasons"]).all()


@pytest.mark.parametrize("kind", ["layer", "pyarrow", "stream"])
def test_kind_of_table_does_not_matter(base: hl.Cleaned, rows: gpd.GeoDataFrame, kind: str) -> None:
    layer = hl.harmonize(rows, kind="yield")
    tables: dict[str, Callable[[hl.Layer], Any]] = {
        "layer": lambda table: table,
        "pyarrow": pa.table,
        "stream": pa.RecordBatchReader.from_stream,
    }
    check_same(hl.clean(tables[kind](layer), antenna=3.0), base)


def test_geodataframe_gives_what_its_layer_gives(rows: gpd.GeoDataFrame, base: hl.Cleaned) -> None:
    check_same(hl.clean(rows, antenna=3.0), base)
    check_same(hl.clean(hl.harmonize(rows, kind="yield").to_geopandas(), antenna=3.0), base)


def test_polars_frame_with_units_gives_what_its_layer_gives(jobs: list[Job]) -> None:
    for job in jobs:
        layer = job.layer
        polars = pl.DataFrame(layer)
        with pytest.raises(ValueError, match="`SWATHWIDTH` is `swath_width`, but its unit is unknown; pass `units="):
            hl.clean(hl.harmonize(polars, kind="yield"))
        units = {name: unit for name, unit in layer.units.items() if unit != "unknown"}
        found = hl.clean(hl.harmonize(polars, kind="yield", units=units))
        check_same(found, hl.clean(hl.harmonize(layer, kind="yield")))


def check_same(found: hl.Cleaned, base: hl.Cleaned) -> None:
    """Check that two cleanings and their maps agree."""
    pd.testing.assert_frame_equal(columns(found), columns(base), check_exact=True)
    pd.testing.assert_frame_equal(values(hl.grid(found)), values(hl.grid(base)), check_exact=True)
    pd.testing.assert_frame_equal(found.report.to_pandas(), base.report.to_pandas(), check_exact=True)


def settled_distances(base: hl.Cleaned) -> pd.Series:
    """Return the distances, with the step between positions where that and the usual speed are off by 45 %."""
    frame = base.layer.to_geopandas().to_crs(4326)
    points = frame.to_crs(plane(*centre(frame))).geometry
    table = frame[["distance", "interval", "time"]].assign(x=points.x, y=points.y)
    table["machine"] = frame.get("machine", 0)
    settled = table["distance"].copy()
    for _, track in table.sort_values("time", kind="stable").groupby("machine"):
        step = np.hypot(track["x"].diff(), track["y"].diff())
        is_near = (track["time"].diff().dt.total_seconds() <= 3.5 * track["interval"]) & (step < 30)
        usual = (track["distance"] / track["interval"]).rolling(15, center=True, min_periods=1).median()
        off = [(track["distance"] / other - 1).abs() > 0.45 for other in (usual * track["interval"], step)]
        replaced = off[0] & off[1] & is_near
        settled[track.index[replaced]] = step[replaced]
    return settled


def test_report_adds_up_to_the_rows(base: hl.Cleaned) -> None:
    rows = values(base.layer)
    basis = json.loads(base.recipe)["market_moisture"]["value"]
    dry = rows["kg"] * (100 - rows["moisture_shifted"]) / (100 - basis)
    names = ["not_working", "ends", "speed", "position", "duplicate", "swath", "overlap", "moisture", "spike", "local"]
    report = base.report.to_pandas().set_index("reason")
    working = rows["working"].to_numpy(bool)
    worked = settled_distances(base) * rows["swath_width"] * working
    # What is left out counts once, under its first reason: where it was cut, and on new ground, if it has some.
    placed = rows["flow_shifted"] * rows["interval"] * (100 - rows["moisture_shifted"]) / (100 - basis)
    reasons = rows["reasons"] & ~NOTES
    has_ground = (rows["pass_number"] > 0) & (reasons & (1 << 3 | 1 << 4) == 0)
    for bit, name in enumerate(names):
        marked = rows["reasons"] & (1 << bit) > 0
        # A reason without rows has no line.
        assert (name in report.index) == marked.any(), name
        if not marked.any():
            continue
        line = report.loc[name]
        assert line["rows"] == marked.sum(), name
        once = marked if NOTES & 1 << bit else marked & (reasons & -reasons == 1 << bit)
        assert line["kg"] == pytest.approx(dry.fillna(placed)[once].sum(), rel=1e-6), name
        assert line["ha"] == pytest.approx(rows["m2"].where(has_ground, worked)[once].sum() / 10_000, rel=1e-6), name
        # Notes of other kinds leave a row used.
        assert line["only"] == (rows["reasons"] & ~(NOTES & ~(1 << bit)) == 1 << bit).sum(), name
        rated = rows["yield_dry"].notna() & dry.notna()
        without = rated & rows["used"] & ~marked
        with_it = rated & (rows["pass_number"] > 0) & (rows["reasons"] & ~(NOTES | 1 << bit) == 0)
        for column, kept in (("yield_without", without), ("yield_with", with_it)):
            mean = dry[kept].sum() / rows["m2"][kept].sum() * 10_000
            assert line[column] == pytest.approx(mean, rel=1e-9), (name, column)
    used = report.loc["used"]
    assert used["rows"] == rows["used"].sum()
    assert used["kg"] == pytest.approx(dry[rows["used"]].sum(), rel=1e-9)
    assert report.loc["logged", "rows"] == len(rows)
    # All ground that was worked, with grain or without. The step replaces a distance that it and the speed contradict.
    assert report.loc["logged", "ha"] == pytest.approx(worked.sum() / 10_000, rel=1e-6)
    summed = report.drop(["logged", "little_new_ground", "swath", "overlap", "moisture"], errors="ignore")
    for column in ("kg", "ha"):
        assert report.loc["logged", column] == pytest.approx(summed[column].sum(), rel=1e-9)
    # The delay moves little beyond the log; the rest of the ground is that of swaths that overlap.
    assert abs(report.loc["rest", "kg"]) < 0.01 * report.loc["logged", "kg"]
    left_out = rows["used"] & (rows["share"] > 0.75)
    assert report.loc["little_new_ground", "rows"] == left_out.sum()


def test_used_rows_are_those_without_reasons_but_notes(base: hl.Cleaned) -> None:
    rows = values(base.layer)
    expected = (rows["pass_number"] > 0) & (rows["reasons"] & ~NOTES == 0)
    assert (rows["used"] & (rows["reasons"] & 32 > 0)).any()
    assert (rows["used"] & (rows["reasons"] & 128 > 0)).any()
    assert (rows["used"] == expected).all()
    assert ((rows["reasons"] & 1 > 0) == (rows["pass_number"] == 0)).all()
    kept = values(hl.clean(base.layer, antenna=3.0, keep=["spike", "local"]).layer)
    assert (kept["reasons"] == rows["reasons"]).all()
    assert (kept["used"] == ((rows["pass_number"] > 0) & (rows["reasons"] & ~(NOTES | 256 | 512) == 0))).all()
    assert kept["used"].sum() > rows["used"].sum()


@given(seed=st.integers(0, 1000), gone=st.floats(0.0, 0.9))
@settings(max_examples=15 * SERIES)
def test_missing_rows_and_values_lose_no_row_and_no_mass(seed: int, gone: float) -> None:
    random = np.random.default_rng(seed)
    rows = frame(field(passes=4, length=120.0, seed=seed))
    rows = rows[random.random(len(rows)) >= gone].reset_index(drop=True)
    for name in ("flow", "moisture", "heading", "distance", "swath_width"):
        rows.loc[random.random(len(rows)) < 0.1 * random.random(), name] = np.nan
    if rows["swath_width"].notna().sum() == 0 or rows["flow"].notna().sum() == 0:
        return
    found = hl.clean(harmonized(rows), delay=None, moisture_delay=None)
    after = values(found.layer)
    assert len(after) == len(rows)
    assert (after["m2"] >= 0).all()
    assert after["share"].dropna().between(-1e-9, 1 + 1e-9).all()
    grid = values(hl.grid(found))
    rated = after["used"] & after["yield_wet"].notna()
    assert grid["kg_wet"].sum() == pytest.approx(after["kg"][rated].sum(), rel=1e-9, abs=1e-9)
    assert grid["covered"].sum() == pytest.approx(after["m2"].sum(), rel=1e-9, abs=1e-9)
