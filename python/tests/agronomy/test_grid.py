"""Maps on square cells: sums, ground that is counted once, groups, totals, and jobs whose answers are on paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from driven_rows import LONGITUDE, circle, field, job, metric, plain, straight, values
from logged_jobs import SERIES, cleaned_of, read

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable

CELLS = (1.0, 3.3, 10.0, 200.0)

NAMES = ("Stone Hill 2024 Harvest", "Cattle Gate 2025 Harvest")

UTM = 32600 + int((LONGITUDE + 180) // 6) + 1
"""The UTM zone of the small jobs."""


@pytest.fixture(scope="module", params=NAMES)
def logged(request: pytest.FixtureRequest, logged_service: Callable[[int], hl.Sandbox]) -> hl.Cleaned:
    """Return a cleaned logged harvest of one machine, and one of two."""
    return cleaned_of(read(logged_service(0), [request.param])[0])


def crossing() -> hl.Cleaned:
    """Return two passes of 100 m that cross at a right angle; the first one is from west to east.

    No rate is an outlier: rows on half their ground log as much as others.
    """
    layer = job(straight((-50, 0), (50, 0)), straight((0, -50), (0, 50), seconds=200.0))
    return plain(layer, spike=[0.0, 1e9], local=[1e9, 1e9])


@pytest.mark.parametrize("cells", CELLS)
def test_sums_do_not_depend_on_the_size_of_cells(logged: hl.Cleaned, cells: float) -> None:
    rows = values(logged.layer)
    rated = rows["used"] & rows["yield_wet"].notna() & rows["kg"].notna()
    grid = values(hl.grid(logged, cells))
    dry_share = rows["yield_dry"] / rows["yield_wet"]
    assert rows["kg"][rated].sum() > 30_000
    assert grid["kg_wet"].sum() == pytest.approx(rows["kg"][rated].sum(), rel=1e-9)
    assert grid["kg_dry"].sum() == pytest.approx((rows["kg"] * dry_share)[rated].sum(), rel=1e-9)
    assert grid["covered"].sum() == pytest.approx(rows["m2"].sum(), rel=1e-9)
    assert grid["m2"].sum() == pytest.approx(rows["m2"][rated].sum(), rel=1e-9)


@pytest.mark.parametrize("cells", CELLS[1:])
def test_cells_are_squares_with_the_rates_of_their_masses(logged: hl.Cleaned, cells: float) -> None:
    layer = hl.grid(logged, cells)
    grid = layer.to_geopandas()
    sides = grid.geometry.bounds
    assert ((sides["maxx"] - sides["minx"]).round(6) == cells).all()
    assert ((sides["maxy"] - sides["miny"]).round(6) == cells).all()
    for name in ("minx", "miny"):
        np.testing.assert_allclose(np.round(sides[name] / cells) * cells, sides[name], atol=1e-6)
    # Areas are those on the ground; the UTM zone changes them by less than a thousandth.
    np.testing.assert_allclose(grid["covered"] / grid["share"], cells**2, rtol=1e-3)
    assert (grid["m2"] <= grid["covered"] * (1 + 1e-9)).all()
    assert (grid[["kg_wet", "kg_dry", "m2", "covered", "share"]] >= 0).all(axis=None)
    assert not grid.geometry.duplicated().any()
    rated = grid[grid["m2"] > 0]
    np.testing.assert_allclose(rated["yield_wet"], rated["kg_wet"] / rated["m2"] * 10_000, rtol=1e-9)
    np.testing.assert_allclose(rated["yield_dry"], rated["kg_dry"] / rated["m2"] * 10_000, rtol=1e-9)
    assert grid.loc[grid["m2"] == 0, "yield_wet"].isna().all()
    assert (grid["yield_wet"].notna() == (grid["rows"] > 0)).all()


def test_ground_of_rows_is_the_union_of_their_swaths(logged: hl.Cleaned) -> None:
    rows = values(logged.layer)
    swaths = logged.swaths().to_geopandas()
    centre = swaths.geometry.get_coordinates().median()
    plane = f"+proj=laea +lat_0={centre['y']} +lon_0={centre['x']} +datum=WGS84 +units=m"
    # Duplicates and jumped positions cover no ground.
    covering = swaths[rows["reasons"].to_numpy()[swaths["row"]] & (8 | 16) == 0].to_crs(plane)
    union = shapely.union_all(covering.geometry.to_numpy()).area
    # Rows within 3 s of each other do not cover each other: their overlap by jitter is a few square metres of 10^5.
    assert rows["m2"].sum() == pytest.approx(union, rel=1e-5)
    assert rows["m2"].sum() > union * (1 - 1e-7)
    assert covering.area.sum() > 1.01 * union


def test_crossing_passes_have_cells_on_paper() -> None:
    grid = metric(hl.grid(crossing(), 200.0))
    assert grid["covered"].sum() == pytest.approx(1200 - 36, rel=1e-7)
    # Three rows of the second pass lie in the square; two of them wholly, so that they have no rate.
    rows = values(crossing().layer)
    fresh = rows["m2"].iloc[50:]
    assert sorted(fresh.round(4))[:4] == pytest.approx([0.0, 0.0, 6.0, 6.0], abs=1e-3)
    rated = rows["yield_wet"].notna()
    assert rated.sum() == 98
    assert grid["kg_wet"].sum() == pytest.approx(98 * 5.0, rel=1e-9)
    assert grid["m2"].sum() == pytest.approx(1200 - 36, rel=1e-7)
    assert grid["rows"].sum() >= 98


def test_driven_twice_counts_once_and_has_the_yield_of_the_first_time() -> None:
    cleaned = plain(job(straight((0, -50), (0, 50)), straight((0, 50), (0, -50), seconds=200.0, flow=0.4)))
    for cells in (10.0, 300.0):
        grid = values(hl.grid(cleaned, cells))
        assert grid["covered"].sum() == pytest.approx(600.0, rel=1e-7)
        assert grid["kg_wet"].sum() == pytest.approx(250.0, rel=1e-9)
        np.testing.assert_allclose(grid["yield_wet"], 5 / 12 * 10_000, rtol=1e-6)


def test_known_overlap_is_counted_once() -> None:
    # Passes of 6 m every 5 m: 1 m of overlap between neighbours.
    passes = [straight((5.0 * n, -50), (5.0 * n, 50), seconds=200.0 * n) for n in range(4)]
    grid = values(hl.grid(plain(job(*passes)), 25.0))
    assert grid["covered"].sum() == pytest.approx((4 * 6 - 3) * 100, rel=1e-6)
    assert grid["kg_wet"].sum() == pytest.approx(4 * 250.0, rel=1e-9)


def test_circle_has_the_mass_and_the_ground_of_its_ring() -> None:
    grid = values(hl.grid(plain(job(circle(60.0, 180)), turn=60.0), 10.0))
    assert grid["covered"].sum() == pytest.approx(np.pi * (63.0**2 - 57.0**2), rel=0.002)
    assert grid["kg_wet"].sum() == pytest.approx(180 * 5.0, rel=1e-9)


def test_cell_has_the_share_of_each_row() -> None:
    # Flow rises along the pass: each cell of 10 m has the mean of the rows in it, weighted by their ground.
    flow = np.linspace(4.0, 6.0, 100)
    rows = straight((0, -100), (0, 100), flow=flow)
    cleaned = plain(job(rows))
    grid = hl.grid(cleaned, 10.0).to_geopandas()
    swaths = cleaned.swaths().to_geopandas().to_crs(grid.crs)
    pieces = gpd.overlay(swaths[["row", "geometry"]], grid[["geometry"]].reset_index(names="cell"), keep_geom_type=True)
    part = pieces.area / swaths.area.to_numpy()[pieces["row"]]
    kg = (flow[pieces["row"]] * part).groupby(pieces["cell"]).sum()
    np.testing.assert_allclose(grid["kg_wet"], kg.reindex(grid.index, fill_value=0.0), atol=1e-5)
    weight = pieces.area
    mean = (flow[pieces["row"]] * weight).groupby(pieces["cell"]).sum() / weight.groupby(pieces["cell"]).sum()
    square = (flow[pieces["row"]] ** 2 * weight).groupby(pieces["cell"]).sum() / weight.groupby(pieces["cell"]).sum()
    sd = np.sqrt(square - mean**2) * values(cleaned.layer)["yield_dry"].iloc[0] / flow[0]
    counts = pieces.groupby("cell").size()
    several = counts[counts > 2].index
    np.testing.assert_allclose(grid.loc[several, "sd"], sd[several], rtol=1e-3)
    assert (grid.loc[counts.index, "rows"] == counts).mean() > 0.9


def test_group_has_rows_of_its_own() -> None:
    layer = job(
        straight((0, -50), (0, 50), variety="A"), straight((6, 50), (6, -50), seconds=200.0, variety="B", flow=4.0)
    )
    cleaned = plain(layer)
    grid = values(hl.grid(cleaned, 400.0, by="variety"))
    sums = grid.groupby("variety")[["kg_wet", "covered", "rows"]].sum()
    assert sums["kg_wet"].to_dict() == pytest.approx({"A": 250.0, "B": 200.0}, rel=1e-9)
    assert sums["covered"].to_dict() == pytest.approx({"A": 300.0 * 2, "B": 300.0 * 2}, rel=1e-6)
    np.testing.assert_allclose(grid["yield_wet"] * 12 / 10_000, grid["variety"].map({"A": 5.0, "B": 4.0}), rtol=1e-6)
    several = values(hl.grid(cleaned, 400.0, by=["variety", "pass_number"]))
    assert set(zip(several["variety"], several["pass_number"], strict=True)) == {("A", 1), ("B", 2)}
    fine = values(hl.grid(cleaned, 5.0, by="variety"))
    assert fine.groupby("variety")["kg_wet"].sum().to_dict() == pytest.approx({"A": 250.0, "B": 200.0}, rel=1e-9)


def test_group_of_missing_values_keeps_their_mass() -> None:
    passes = [straight((0, -50), (0, 50), variety="A"), straight((6, 50), (6, -50), seconds=200.0, variety=None)]
    grid = values(hl.grid(plain(job(*passes)), 400.0, by="variety"))
    assert grid["kg_wet"].sum() == pytest.approx(500.0, rel=1e-9)
    assert grid.loc[grid["variety"].isna(), "kg_wet"].sum() == pytest.approx(250.0, rel=1e-9)


def test_cells_are_in_the_given_system() -> None:
    cleaned = crossing()
    base = hl.grid(cleaned, 10.0)
    assert base.to_geopandas().crs.to_epsg() == UTM
    for crs in ("EPSG:32615", 32615, "EPSG:5070"):
        layer = hl.grid(cleaned, 10.0, crs=crs)
        grid = layer.to_geopandas()
        assert grid.crs.to_epsg() == int(str(crs).split(":")[-1])
        assert values(layer)["kg_wet"].sum() == pytest.approx(values(base)["kg_wet"].sum(), rel=1e-9)
        assert values(layer)["covered"].sum() == pytest.approx(1164.0, rel=1e-6)
        assert grid.to_crs(base.to_geopandas().crs).union_all().intersects(base.to_geopandas().union_all())
    same = hl.grid(cleaned, 10.0, crs=UTM)
    pd.testing.assert_frame_equal(values(same), values(base))


def test_cells_are_shared_by_years_of_a_field() -> None:
    one = hl.grid(plain(job(straight((0, -50), (0, 50)))), 10.0).to_geopandas()
    other = hl.grid(plain(job(straight((2, 50), (2, -40)))), 10.0).to_geopandas()
    both = gpd.overlay(one[["geometry"]], other[["geometry"]], how="intersection", keep_geom_type=True)
    # Cells coincide or touch, and none overlaps another one in part.
    assert np.isclose(both.area, 100.0).all()
    assert len(both) >= 9


def test_total_scales_all_masses() -> None:
    cleaned = crossing()
    base = hl.grid(cleaned, 10.0)
    layer = hl.grid(cleaned, 10.0, total=970.0)
    # 98 rows of 5 kg are on all ground that was worked, so the factor is 970 / 490.
    assert values(layer)["kg_wet"].sum() == pytest.approx(970.0, rel=1e-9)
    factor = 970.0 / 490.0
    for name in ("kg_wet", "kg_dry", "yield_wet", "yield_dry"):
        np.testing.assert_allclose(values(layer)[name], factor * values(base)[name], rtol=1e-9)
    messages = [str(diagnostic) for diagnostic in layer.diagnostics]
    assert any(f"{factor:.4f}" in message for message in messages), messages
    assert len(layer.diagnostics) == len(base.diagnostics) + 1


def test_total_counts_the_ground_of_rows_that_mislead() -> None:
    passes = [straight((6.0 * n, -100), (6.0 * n, 100), seconds=300.0 * n) for n in range(5)]
    passes[2]["flow"] = np.where(passes[2].index == 30, 50.0, 5.0)
    cleaned = plain(job(*[one.assign(flow=one.get("flow", 5.0)) for one in passes]))
    assert not values(cleaned.layer)["used"].all()
    grid = values(hl.grid(cleaned, 10.0, total=3000.0))
    assert grid["kg_wet"].sum() / grid["m2"].sum() * grid["covered"].sum() == pytest.approx(3000.0, rel=1e-9)
    assert grid["kg_wet"].sum() < 3000.0


def test_total_by_machine_scales_each_machine() -> None:
    passes = [straight((0, -50), (0, 50), machine=3), straight((40, 50), (40, -50), seconds=200.0, machine=8)]
    cleaned = plain(job(*passes))
    grid = values(hl.grid(cleaned, 10.0, by="machine", total={3: 500.0, 8: 125.0}))
    sums = grid.groupby("machine")["kg_wet"].sum().to_dict()
    assert sums == pytest.approx({3: 500.0, 8: 125.0}, rel=1e-9)
    one = values(hl.grid(cleaned, 10.0, by="machine", total={8: 125.0})).groupby("machine")["kg_wet"].sum().to_dict()
    assert one == pytest.approx({3: 250.0, 8: 125.0}, rel=1e-9)


def test_group_column_with_the_name_of_a_result_is_renamed() -> None:
    cleaned = plain(job(straight((0, -50), (0, 50)), straight((40, 50), (40, -50), seconds=200.0)))
    grid = hl.grid(cleaned, 50.0, by=["pass_number", "share", "pass_number"])
    assert grid.columns[:2] == ["pass_number", "share_original"]
    assert len(set(grid.columns)) == len(grid.columns)


def test_mean_of_the_map_is_that_of_the_report() -> None:
    cleaned = hl.clean(job(field(delay=8.0)))
    report = cleaned.report.to_pandas().set_index("reason")
    grid = values(hl.grid(cleaned, 7.0))
    mean = grid["kg_dry"].sum() / grid["m2"].sum() * 10_000
    assert mean == pytest.approx(report.loc["used", "yield_with"], rel=1e-9)


def test_cell_without_used_rows_has_ground_but_no_yield() -> None:
    passes = [straight((6.0 * n, -100), (6.0 * n, 100), seconds=300.0 * n, flow=5.0, moisture=20.0) for n in range(5)]
    for one in passes:
        one.loc[40:60, "flow"] = np.nan
    grid = values(hl.grid(plain(job(*passes)), 5.0))
    empty = grid[grid["m2"] == 0]
    assert len(empty) >= 5
    assert (empty["covered"] > 0).all()
    assert empty["yield_wet"].isna().all()
    assert (empty["rows"] == 0).all()


def test_full_cells_of_straight_passes_have_the_share_one() -> None:
    passes = [straight((6.0 * n, -60), (6.0 * n, 60), seconds=300.0 * n) for n in range(12)]
    passes += [straight((-10, 3.0 * n), (80, 3.0 * n), seconds=9000 + 300.0 * n) for n in range(5)]
    grid = values(hl.grid(plain(job(*passes)), 5.0))
    assert grid["share"].max() == pytest.approx(1.0, abs=1e-5)
    assert (grid["share"] > 0.99999).sum() > 100


def test_map_has_units_and_basis() -> None:
    layer = hl.grid(crossing(), 10.0)
    assert layer.units["yield_dry"] == "kg/ha"
    assert layer.units["kg_wet"] == "kg"
    assert layer.units["covered"] == "m2"
    us = layer.to_units({"yield_dry": "bu/ac"}, crop="corn")
    ratio = values(us)["yield_dry"] / values(layer)["yield_dry"]
    np.testing.assert_allclose(ratio.dropna(), 1 / 62.767665, rtol=1e-6)


@pytest.mark.parametrize("seed", range(3 * SERIES))
def test_random_passes_count_the_union_once(seed: int) -> None:
    random = np.random.default_rng(seed)
    passes = []
    for number in range(12):
        start = random.uniform(-60, 60, 2)
        angle = random.uniform(0, 2 * np.pi)
        end = start + 80.0 * np.array([np.cos(angle), np.sin(angle)])
        width = 6.0
        passes.append(straight(tuple(start), tuple(end), seconds=300.0 * number, swath_width=width))
    cleaned = plain(job(*passes))
    rows = values(cleaned.layer)
    union = shapely.union_all(metric(cleaned.swaths()).geometry.to_numpy()).area
    assert rows["m2"].sum() == pytest.approx(union, rel=1e-6)
    grid = values(hl.grid(cleaned, float(random.uniform(1.0, 30.0))))
    assert grid["covered"].sum() == pytest.approx(union, rel=1e-6)
    rated = rows["used"] & rows["yield_wet"].notna()
    assert rated.sum() < len(rows)
    assert grid["kg_wet"].sum() == pytest.approx(5.0 * rated.sum(), rel=1e-9)
