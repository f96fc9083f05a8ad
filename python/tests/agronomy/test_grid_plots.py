"""Maps on plots against an area-weighted overlay of shapely, and maps of jobs that apply something."""

from __future__ import annotations

from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from driven_rows import UNITS, field, frame, harmonized, job, metric, plain, plane, straight, values

import headland as hl

HOLES = shapely.Polygon(
    [(-40, -40), (40, -40), (40, 30), (0, 55), (-40, 30)],
    [[(-20, -20), (-5, -20), (-5, 5), (-20, 5)], [(10, 0), (20, 0), (15, 20)]],
)

PLOTS = {
    "box": shapely.box(-30.5, -60.25, -2.25, 13.75),
    "holes": HOLES,
    "triangle": shapely.Polygon([(-35, 40), (36.5, 22.3), (11.1, 58.9)]),
    "two parts": shapely.MultiPolygon([shapely.box(-29, 20, -22, 33), shapely.box(13, -51, 31, -41)]),
    "star": shapely.Polygon([(0, 50), (6, 8), (45, 0), (6, -8), (0, -50), (-6, -8), (-45, 0), (-6, 8)]),
    "far away": shapely.box(5000, 5000, 5100, 5100),
    "circle": shapely.Point(8, -12).buffer(21.0, quad_segs=24),
}
"""Plots in metres of the plane. Some overlap each other, and one is empty."""


def plots(**columns: Any) -> gpd.GeoDataFrame:
    """Return the plots in degrees, with vertices so close that edges are straight in both systems."""
    shapes = shapely.segmentize(list(PLOTS.values()), 2.0)
    made = gpd.GeoDataFrame({"plot": [*PLOTS], **columns}, geometry=list(shapes), crs=plane())
    return made.to_crs(4326)


@pytest.fixture(scope="module")
def cleaned() -> hl.Cleaned:
    """Return a field of uneven yields that a pass crosses, and whose last pass overlaps the one before it."""
    rows = field(passes=10, length=120.0, delay=0.0)
    rows = rows[rows["working"]].drop(columns="working")
    more = straight((-45, -3), (45, 9), seconds=9000.0, flow=2.0, moisture=19.0)
    half = straight((29, 60), (29, -60), seconds=9900.0, flow=6.0, moisture=18.0)
    return plain(job(rows, more, half), spike=[0.0, 1e9], local=[1e9, 1e9], moisture_jump=50.0)


def fresh_ground(cleaned: hl.Cleaned) -> gpd.GeoDataFrame:
    """Return the new ground of each row by shapely: its swath without all earlier ones."""
    swaths = metric(cleaned.swaths())
    rows = values(cleaned.layer)
    order = np.argsort(rows["time"].to_numpy()[swaths["row"]], kind="stable")
    before = shapely.Polygon()
    found = {}
    for position in order:
        shape = swaths.geometry.iloc[position]
        found[int(swaths["row"].iloc[position])] = shapely.difference(shape, before)
        before = shapely.union(before, shape)
    return gpd.GeoDataFrame({"row": [*found]}, geometry=[*found.values()], crs=swaths.crs)


def test_mass_and_ground_of_plots_equal_those_of_shapely(cleaned: hl.Cleaned) -> None:
    ground = fresh_ground(cleaned)
    rows = values(cleaned.layer).iloc[ground["row"]]
    area = shapely.area(ground.geometry.to_numpy())
    np.testing.assert_allclose(rows["m2"], area, atol=1e-4)
    is_rated = rows["yield_wet"].notna().to_numpy() & rows["used"].to_numpy()
    assert 0 < (~is_rated).sum() < 100
    made = values(hl.grid(cleaned, plots=plots())).set_index("plot")
    assert made.index.tolist() == [*PLOTS]
    for name, shape in PLOTS.items():
        part = shapely.area(shapely.intersection(ground.geometry.to_numpy(), shape))
        share = np.divide(part, area, out=np.zeros_like(part), where=area > 1e-9)
        kg = rows["kg"].to_numpy()
        dry = kg * (rows["yield_dry"] / rows["yield_wet"]).to_numpy()
        line = made.loc[name]
        assert line["covered"] == pytest.approx(part.sum(), abs=1e-3), name
        assert line["m2"] == pytest.approx(part[is_rated].sum(), abs=1e-3), name
        assert line["kg_wet"] == pytest.approx((kg * share)[is_rated].sum(), abs=1e-3), name
        assert line["kg_dry"] == pytest.approx((dry * share)[is_rated].sum(), abs=1e-3), name
        assert line["share"] == pytest.approx(part.sum() / shape.area, abs=1e-5), name


def test_empty_plot_has_no_yield(cleaned: hl.Cleaned) -> None:
    line = values(hl.grid(cleaned, plots=plots())).set_index("plot").loc["far away"]
    assert line[["kg_wet", "m2", "covered", "share", "rows"]].tolist() == [0.0, 0.0, 0.0, 0.0, 0]
    assert np.isnan(line["yield_wet"])
    assert np.isnan(line["yield_dry"])


def test_plots_that_tile_the_field_hold_all_mass(cleaned: hl.Cleaned) -> None:
    tiles = [
        shapely.box(x, y, x + 37.0, y + 41.0)
        for x in np.arange(-111.0, 111.0, 37.0)
        for y in np.arange(-123.0, 123.0, 41.0)
    ]
    layer = hl.grid(cleaned, plots=gpd.GeoDataFrame(geometry=tiles, crs=plane()).to_crs(4326))
    grid = values(hl.grid(cleaned, 10.0))
    # Edges of tiles are straight in degrees, and tiles share them: nothing is lost or counted twice.
    assert values(layer)["kg_wet"].sum() == pytest.approx(grid["kg_wet"].sum(), rel=1e-9)
    assert values(layer)["covered"].sum() == pytest.approx(grid["covered"].sum(), rel=1e-9)
    assert not [d for d in layer.diagnostics if "in no plot" in str(d)]


def test_ground_in_no_plot_is_a_diagnostic(cleaned: hl.Cleaned) -> None:
    layer = hl.grid(cleaned, plots=plots().iloc[[0]])
    rest = values(cleaned.layer)["m2"].sum() - values(layer)["covered"].sum()
    messages = [str(diagnostic) for diagnostic in layer.diagnostics if "in no plot" in str(diagnostic)]
    assert len(messages) == 1
    assert f"{rest:.0f} of " in messages[0]


def test_columns_of_plots_are_kept_and_renamed_on_collision(cleaned: hl.Cleaned) -> None:
    rates = [float(n) for n in range(len(PLOTS))]
    given = plots(rate_n=rates, m2=rates, Rows=["a"] * len(PLOTS), sd=[None] * len(PLOTS))
    layer = hl.grid(cleaned, plots=given)
    made = layer.to_geopandas()
    assert made.columns.tolist()[:5] == ["plot", "rate_n", "m2_original", "Rows_original", "sd_original"]
    assert made["rate_n"].tolist() == rates
    assert made["m2_original"].tolist() == rates
    assert set(made["Rows_original"]) == {"a"}
    assert made["m2"].iloc[0] > 100
    for found, shape in zip(made.geometry, given.geometry, strict=True):
        assert shapely.equals_exact(found, shape, tolerance=1e-12)


def test_plots_without_a_shape_have_no_ground(cleaned: hl.Cleaned) -> None:
    parts = shapely.make_valid(shapely.Polygon([(-20, -20), (20, 20), (20, -20), (-20, 20)]))
    shapes = [None, parts, shapely.Polygon()]
    made = values(
        hl.grid(cleaned, plots=gpd.GeoDataFrame({"plot": range(3)}, geometry=shapes, crs=plane()).to_crs(4326))
    )
    assert made["plot"].tolist() == [0, 1, 2]
    assert made["covered"].iloc[[0, 2]].tolist() == [0.0, 0.0]
    assert made["covered"].iloc[1] == pytest.approx(parts.area, rel=1e-4)


def test_no_plots_are_a_map_without_rows(cleaned: hl.Cleaned) -> None:
    made = hl.grid(cleaned, plots=plots().iloc[:0])
    assert len(made) == 0
    assert {"plot", "kg_wet", "covered"} <= set(made.columns)


def test_plots_with_groups_have_a_row_for_each_value(cleaned: hl.Cleaned) -> None:
    whole = values(hl.grid(cleaned, plots=plots())).set_index("plot")
    parts = values(hl.grid(cleaned, plots=plots(), by="pass_number"))
    sums = parts.groupby("plot")[["kg_wet", "covered", "m2"]].sum()
    near = [name for name in PLOTS if name != "far away"]
    pd.testing.assert_frame_equal(
        sums.loc[near], whole.loc[near, ["kg_wet", "covered", "m2"]], rtol=1e-9, check_names=False
    )
    assert parts["pass_number"].nunique() == 12
    assert not parts.duplicated(["plot", "pass_number"]).any()


@pytest.mark.parametrize("crs", [4326, 32614, 3857])
def test_system_of_plots_does_not_matter(cleaned: hl.Cleaned, crs: int) -> None:
    base = values(hl.grid(cleaned, plots=plots()))
    layer = hl.grid(cleaned, plots=plots().to_crs(crs))
    assert layer.to_geopandas().crs.to_epsg() == crs
    pd.testing.assert_frame_equal(values(layer), base, rtol=1e-6, atol=1e-3)


def test_plots_may_be_a_layer_or_an_arrow_table(cleaned: hl.Cleaned) -> None:
    base = values(hl.grid(cleaned, plots=plots()))
    layer = hl.harmonize(plots().assign(YIELD=1.0), kind="yield")
    made = values(hl.grid(cleaned, plots=layer))
    pd.testing.assert_frame_equal(made[[*base.columns[1:]]], base[[*base.columns[1:]]])
    table = values(hl.grid(cleaned, plots=plots().to_arrow()))
    pd.testing.assert_frame_equal(table, base)


def applied(*passes: pd.DataFrame, kind: str = "as_applied") -> hl.Cleaned:
    """Clean a job that applies 150 L/ha."""
    return hl.clean(job(*[rows.assign(applied_rate=150.0) for rows in passes], kind=kind))


def test_product_adds_up_where_a_sprayer_drove_twice() -> None:
    once = straight((0, -50), (0, 50))
    again = straight((0, 50), (0, -50), seconds=200.0)
    litres = 150.0 * 600 / 10_000
    one, two = (values(hl.grid(applied(*passes), 300.0)) for passes in ((once,), (once, again)))
    assert one["amount"].sum() == pytest.approx(litres, rel=1e-6)
    assert two["amount"].sum() == pytest.approx(2 * litres, rel=1e-6)
    for grid, times in ((one, 1.0), (two, 2.0)):
        assert grid["covered"].sum() == pytest.approx(600.0, rel=1e-6)
        np.testing.assert_allclose(grid["times"], times, rtol=1e-6)
        np.testing.assert_allclose(grid["rate"], 150.0 * times, rtol=1e-6)
    assert "kg_wet" not in two
    fine = values(hl.grid(applied(once, again), 5.0))
    assert fine["amount"].sum() == pytest.approx(2 * litres, rel=1e-6)
    np.testing.assert_allclose(fine["times"], 2.0, rtol=1e-4)


def test_partial_overlap_of_a_sprayer_has_a_mean_of_times() -> None:
    grid = values(hl.grid(applied(straight((0, -50), (0, 50)), straight((4, 50), (4, -50), seconds=200.0)), 300.0))
    assert grid["covered"].sum() == pytest.approx(1000.0, rel=1e-6)
    assert grid["amount"].sum() == pytest.approx(150.0 * 1200 / 10_000, rel=1e-6)
    assert grid["times"].iloc[0] == pytest.approx(1.2, rel=1e-6)


def test_switched_sections_of_a_sprayer_keep_their_width() -> None:
    rows = straight((0, -50), (0, 50))
    rows.loc[10:19, "swath_width"] = 3.0
    cleaned = applied(rows)
    found = values(cleaned.layer)
    np.testing.assert_allclose(found["m2"].iloc[10:20], 6.0, rtol=1e-6)
    assert (found["reasons"] & 32 == 0).all()
    assert values(hl.grid(cleaned, 300.0))["covered"].sum() == pytest.approx(540.0, rel=1e-6)


def test_plots_of_a_sprayer_hold_product_of_all_swaths() -> None:
    cleaned = applied(straight((0, -50), (0, 50)), straight((0, 50), (0, -50), seconds=200.0))
    half = gpd.GeoDataFrame({"name": ["north"]}, geometry=[shapely.box(-10, 0, 10, 100)], crs=plane()).to_crs(4326)
    made = values(hl.grid(cleaned, plots=half))
    assert made["amount"].iloc[0] == pytest.approx(150.0 * 600 / 10_000, rel=1e-4)
    assert made["covered"].iloc[0] == pytest.approx(300.0, rel=1e-4)
    assert made["times"].iloc[0] == pytest.approx(2.0, rel=1e-6)


def test_seeds_of_a_planter_add_up() -> None:
    rows = frame(straight((0, -50), (0, 50), applied_rate=80_000.0))
    layer = hl.harmonize(
        rows, kind="planting", units={**{n: UNITS[n] for n in UNITS if n in rows}, "applied_rate": "seeds/ha"}
    )
    made = hl.grid(hl.clean(layer), 300.0)
    assert made.units["amount"] == "seeds"
    assert made.units["rate"] == "seeds/ha"
    assert values(made)["amount"].sum() == pytest.approx(80_000 * 600 / 10_000, rel=1e-6)
    np.testing.assert_allclose(values(made)["rate"], 80_000.0, rtol=1e-6)


def test_report_of_a_sprayer_is_in_its_unit() -> None:
    cleaned = applied(straight((0, -50), (0, 50)))
    report = cleaned.report.to_pandas().set_index("reason")
    assert report.loc["used", "amount"] == pytest.approx(9.0, rel=1e-6)
    assert report.loc["used", "rate_with"] == pytest.approx(150.0, rel=1e-6)
    assert cleaned.report.units["amount"] == "L"
    assert "kg" not in report


def test_job_without_a_rate_is_a_map_of_ground() -> None:
    rows = frame(straight((0, -50), (0, 50)))
    grid = values(hl.grid(hl.clean(harmonized(rows, kind="as_applied", crop=None)), 300.0))
    assert grid["covered"].sum() == pytest.approx(600.0, rel=1e-6)


def test_swaths_with_a_column_of_the_job_are_plots_by_it(cleaned: hl.Cleaned) -> None:
    rows = straight((-40, -10), (40, -10)), straight((-40, -4), (40, -4), seconds=600.0)
    planted = plain(job(rows[0].assign(variety="A"), rows[1].assign(variety="B"), kind="planting"))
    swaths = planted.swaths(["variety", "heading"])
    expected = values(planted.layer).iloc[swaths["row"]]
    assert swaths["variety"] == expected["variety"].tolist()
    assert swaths["heading"] == expected["heading"].tolist()
    assert planted.swaths("m2").columns == planted.swaths().columns, "a column of the swaths is there once"
    parts = swaths.to_geopandas().dissolve("variety").reset_index()[["variety", "geometry"]]
    made = values(hl.grid(cleaned, plots=parts)).set_index("variety")
    shapes = {"A": shapely.box(-40, -13, 40, -7), "B": shapely.box(-40, -7, 40, -1)}
    ground = fresh_ground(cleaned).geometry
    for variety, shape in shapes.items():
        assert made.loc[variety, "covered"] == pytest.approx(ground.intersection(shape).area.sum(), rel=1e-4)
    with pytest.raises(ValueError, match="`columns`: the layer has no column `cultivar`"):
        planted.swaths("cultivar")
