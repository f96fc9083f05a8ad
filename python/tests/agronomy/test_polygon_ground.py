"""Ground of logged polygons of any shape against shapely: each piece once, on rows, cells and plots."""

from __future__ import annotations

import geopandas as gpd
import numpy as np
import pyproj
import pytest
import shapely
from driven_rows import LATITUDE, LONGITUDE, values

import headland as hl

PLANE = pyproj.CRS(f"+proj=laea +lat_0={LATITUDE!r} +lon_0={LONGITUDE!r} +ellps=WGS84 +units=m")
RATE = 100.0


def degrees(shapes: list[shapely.Geometry]) -> gpd.GeoSeries:
    """Return shapes of the plane in degrees."""
    return gpd.GeoSeries(shapes, crs=PLANE).to_crs(4326)


def applied(shapes: list[shapely.Geometry]) -> hl.Layer:
    """Return a job that applies the same rate on each of some shapes."""
    frame = gpd.GeoDataFrame({"rate": np.full(len(shapes), RATE)}, geometry=degrees(shapes).to_numpy(), crs=4326)
    return hl.harmonize(frame, kind="as_applied", columns={"applied_rate": "rate"}, units={"rate": "kg/ha"})


def fresh(shapes: list[shapely.Geometry]) -> np.ndarray:
    """Return the ground of each shape that no earlier one covers, in m2."""
    found, before = [], shapely.Polygon()
    for shape in degrees(shapes).to_crs(PLANE):
        found.append(shapely.difference(shape, before).area)
        before = shapely.union(before, shape)
    return np.array(found)


def star(random: np.random.Generator, corners: int, radius: float, middle: np.ndarray) -> shapely.Geometry:
    """Return a polygon whose corners are at random distances from its middle."""
    angle = np.linspace(0, 2 * np.pi, corners, endpoint=False)
    along = radius * random.uniform(0.2, 1.0, corners)
    return shapely.Polygon(np.c_[middle[0] + along * np.cos(angle), middle[1] + along * np.sin(angle)])


def any_shape(random: np.random.Generator) -> shapely.Geometry:
    """Return a concave polygon, one with a hole, or several."""
    middle = random.uniform(-60, 60, 2)
    shape = star(random, int(random.integers(3, 60)), random.uniform(2, 40), middle)
    kind = random.integers(4)
    if kind == 0:
        shape = shapely.difference(shape, star(random, 12, 15.0, middle))
    elif kind == 1:
        shape = shapely.union(shape, star(random, 9, 10.0, random.uniform(-60, 60, 2)))
    elif kind == 2:
        low, size = np.round(random.uniform(-60, 40, 2)), np.round(random.uniform(1, 30, 2))
        shape = shapely.box(*low, *(low + size))
    return shapely.MultiPolygon([part for part in shapely.get_parts(shape) if part.geom_type == "Polygon"])


@pytest.mark.parametrize("seed", range(12))
def test_ground_of_random_polygons_equals_that_of_shapely(seed: int) -> None:
    random = np.random.default_rng(seed)
    shapes = [any_shape(random) for _ in range(int(random.integers(12, 60)))]
    layer = applied(shapes)
    expected = fresh(shapes)
    assert layer.covered_area() == pytest.approx(expected.sum(), rel=1e-6)
    cleaned = hl.clean(layer)
    rows = values(cleaned.layer)
    np.testing.assert_allclose(rows["m2"].fillna(0), expected, rtol=1e-6, atol=1e-4)
    assert "ground-incomplete" not in [one.code for one in cleaned.layer.diagnostics]
    for cells in (7.0, 1000.0):
        grid = values(hl.grid(cleaned, cells))
        assert grid["covered"].sum() == pytest.approx(expected.sum(), rel=1e-6)
        whole = sum(shape.area for shape in degrees(shapes).to_crs(PLANE))
        assert grid["amount"].sum() == pytest.approx(RATE * whole / 10_000, rel=1e-6)
    plot = star(random, 9, 50.0, np.zeros(2))
    plots = gpd.GeoDataFrame(geometry=degrees([plot]).to_numpy(), crs=4326)
    ground = shapely.union_all(degrees(shapes).to_crs(PLANE).to_numpy())
    inside = shapely.intersection(ground, plots.to_crs(PLANE).geometry.iloc[0])
    assert values(hl.grid(cleaned, plots=plots))["covered"].sum() == pytest.approx(inside.area, rel=1e-6)


SHAPES = {
    "concave": shapely.Polygon([(0, 0), (300, 0), (300, 100), (200, 100), (200, 20), (100, 20), (100, 100), (0, 100)]),
    "hole": shapely.Polygon(shapely.box(0, 0, 120, 100).exterior, [shapely.box(20, 20, 100, 80).exterior]),
    "long": shapely.box(0, 0, 2400, 24),
    "parts": shapely.MultiPolygon([shapely.box(0, 0, 50, 50), shapely.box(80, 0, 130, 100)]),
    "turn": shapely.Polygon([(0, 0), (2, 9), (2, 0), (0, 9)]),
}


@pytest.mark.parametrize("name", SHAPES)
def test_polygon_of_any_shape_is_its_own_ground(name: str) -> None:
    shape = SHAPES[name]
    shapes = [shape, *(shapely.box(5000 + 20 * number, 0, 5010 + 20 * number, 10) for number in range(12))]
    areas = shapely.area(shapely.make_valid(degrees(shapes).to_crs(PLANE).to_numpy()))
    cleaned = hl.clean(applied(shapes))
    np.testing.assert_allclose(values(cleaned.layer)["m2"], areas, rtol=1e-6)
    assert cleaned.layer.covered_area() == pytest.approx(areas.sum(), rel=1e-6)
    grid = values(hl.grid(cleaned, 50.0))
    assert grid["covered"].sum() == pytest.approx(areas.sum(), rel=1e-6)
    assert grid["amount"].sum() == pytest.approx(RATE * areas.sum() / 10_000, rel=1e-6)
    report = cleaned.report.to_pandas().iloc[0]
    assert report["ha"] * 10_000 == pytest.approx(areas.sum(), rel=1e-6)
    swaths = cleaned.swaths().to_geopandas().geometry.iloc[0]
    assert shapely.equals_exact(shapely.normalize(swaths), shapely.normalize(degrees([shape])[0]), tolerance=1e-9)


def test_polygons_of_one_time_or_one_middle_are_no_duplicates() -> None:
    around = shapely.difference(shapely.box(0, 0, 90, 90), shapely.box(30, 30, 60, 60))
    shapes = [around, shapely.box(30, 30, 60, 60), *(shapely.box(100 + 20 * n, 0, 120 + 20 * n, 50) for n in range(12))]
    frame = gpd.GeoDataFrame(
        {"rate": RATE, "time": "2024-05-02 10:00:00"},
        index=range(len(shapes)),
        geometry=degrees(shapes).to_numpy(),
        crs=4326,
    )
    names = {"applied_rate": "rate", "time": "time"}
    layer = hl.harmonize(frame, kind="as_applied", columns=names, units={"rate": "kg/ha"})
    assert layer.covered_area() == pytest.approx(fresh(shapes).sum(), rel=1e-6)


def test_polygon_of_many_vertices_takes_no_quadratic_time() -> None:
    angle = np.linspace(0, 2 * np.pi, 100_000, endpoint=False)
    along = 400 + 30 * np.sin(400 * angle)
    shape = shapely.Polygon(np.c_[along * np.cos(angle), along * np.sin(angle)])
    rows = [shape, *(shapely.box(-500, y, 500, y + 9) for y in range(-500, 500, 8))]
    assert applied(rows).covered_area() == pytest.approx(fresh(rows).sum(), rel=1e-6)


def test_rows_whose_width_no_machine_has_are_said() -> None:
    frame = gpd.GeoDataFrame(
        {"rate": 100.0, "width": 9000.0, "distance": 2.0},
        index=range(40),
        geometry=degrees([shapely.Point(2 * number, 0) for number in range(40)]).to_numpy(),
        crs=4326,
    )
    layer = hl.harmonize(
        frame,
        kind="as_applied",
        columns={"applied_rate": "rate", "swath_width": "width", "distance": "distance"},
        units={"rate": "kg/ha", "width": "m", "distance": "m"},
    )
    said = [one.message for one in hl.clean(layer).layer.diagnostics if one.code == "ground-incomplete"]
    assert len(said) == 1
    assert said[0].startswith("40 rows have no ground")
    assert "9000 m" in said[0]
    assert "units=" in said[0]


def test_cells_have_the_coordinates_of_their_centre() -> None:
    grid = hl.grid(hl.clean(applied([shapely.box(0, 20 * n, 100, 20 * n + 20) for n in range(12)])), 25.0)
    frame = grid.to_geopandas()
    assert grid.units["x"] == "m"
    np.testing.assert_allclose(frame["x"], frame.geometry.centroid.x, atol=1e-6)
    np.testing.assert_allclose(frame["y"], frame.geometry.centroid.y, atol=1e-6)


def plot_frame(*shapes: shapely.Geometry) -> gpd.GeoDataFrame:
    """Return plots in degrees."""
    return gpd.GeoDataFrame({"plot": range(len(shapes))}, geometry=degrees(list(shapes)).to_numpy(), crs=4326)


@pytest.fixture(scope="module")
def strips() -> hl.Cleaned:
    """Return a job of twelve strips."""
    return hl.clean(applied([shapely.box(0, 20 * n, 100, 20 * n + 20) for n in range(12)]))


INVALID = {
    "bow tie": shapely.Polygon([(0, 0), (80, 80), (80, 0), (0, 79)]),
    "hole outside": shapely.Polygon(shapely.box(0, 0, 10, 10).exterior, [shapely.box(20, 20, 30, 30).exterior]),
    "parts overlap": shapely.MultiPolygon([shapely.box(0, 0, 50, 50), shapely.box(20, 20, 70, 70)]),
}


@pytest.mark.parametrize("name", INVALID)
def test_invalid_plot_is_an_error(strips: hl.Cleaned, name: str) -> None:
    with pytest.raises(ValueError, match="`plots`: the polygon of row 1 is not valid"):
        hl.grid(strips, plots=plot_frame(shapely.box(0, 0, 10, 10), INVALID[name]))


def test_plots_that_overlap_are_said(strips: hl.Cleaned) -> None:
    one, other = shapely.box(0, 0, 50, 50), shapely.box(40, 0, 90, 50)
    grid = hl.grid(strips, plots=plot_frame(one, other))
    assert values(grid)["covered"].tolist() == pytest.approx([2500, 2500], rel=1e-4)
    said = [one.message for one in grid.diagnostics if one.code == "plots-overlap"]
    assert said == ["1 plot overlaps earlier ones by 500 m2 in all; ground there counts in each"]
    beside = hl.grid(strips, plots=plot_frame(one, shapely.box(50, 0, 90, 50)))
    assert "plots-overlap" not in [one.code for one in beside.diagnostics]


def test_plots_and_boundary_without_rows_are_said(strips: hl.Cleaned) -> None:
    far = plot_frame(shapely.box(5000, 5000, 5100, 5100))
    grid = hl.grid(strips, plots=far)
    assert ["no row" in one.message for one in grid.diagnostics if one.code == "much-left-out"] == [True]
    codes = [one.code for one in hl.clean(strips.layer, boundary=far).layer.diagnostics]
    assert "outside-boundary" in codes
    near = plot_frame(shapely.box(-10, -10, 200, 300))
    assert "outside-boundary" not in [one.code for one in hl.clean(strips.layer, boundary=near).layer.diagnostics]
