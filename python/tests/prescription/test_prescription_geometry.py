"""Tests of zones whose geometry is wrong or unusual: each is repaired, an error that names the row, or a diagnostic."""

from __future__ import annotations

import math
import random
from typing import Any

import geopandas as gpd
import numpy as np
import pyproj
import pytest
import shapely
from prescription_members import archive, members, ring, zone
from shapely import affinity
from shapely.geometry import MultiPolygon, Polygon

import headland as hl
from headland.layer.table_input import as_layer

WEST, SOUTH, SIDE = 10.0, 50.0, 0.001


def cells(*points: tuple[float, float]) -> list[tuple[float, float]]:
    """Return vertices in degrees."""
    return [(WEST + x * SIDE, SOUTH + y * SIDE) for x, y in points]


def box(column: float, row: float = 0, width: float = 1, height: float = 1) -> Polygon:
    """Return a cell in degrees."""
    (west, south), (east, north) = cells((column, row), (column + width, row + height))
    return shapely.box(west, south, east, north)


def frame(shapes: list[Any], **columns: Any) -> gpd.GeoDataFrame:
    """Return zones with the rates 100, 101, ... unless others are given."""
    return gpd.GeoDataFrame({"rate": [100.0 + n for n in range(len(shapes))]} | columns, geometry=shapes, crs=4326)


def make(zones: gpd.GeoDataFrame, **options: Any) -> hl.Prescription:
    """Make a prescription in kg/ha."""
    return hl.Prescription(zones, "rate", unit="kg/ha", **options)


def codes(found: list[hl.Diagnostic]) -> list[tuple[str, int | None]]:
    """Return codes and rows."""
    return [(each.code, each.record) for each in found]


def written(rx: hl.Prescription) -> gpd.GeoSeries:
    """Return the shapes that are read back."""
    return hl.read(bytes(rx)).to_geopandas().geometry


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("lost", [math.nan, math.inf, -math.inf, 1e39])
@pytest.mark.parametrize("axis", [0, 1])
def test_vertex_that_is_not_finite_is_an_error_that_names_the_row(lost: float, axis: int) -> None:
    coordinates = np.array(box(2).exterior.coords)
    coordinates[2, axis] = lost
    zones = frame([box(0), Polygon(coordinates), box(4)])
    with pytest.raises(ValueError, match="`zones`: row 1 has a coordinate that is not finite") as caught:
        make(zones)
    assert "record 1" in str(caught.value)
    (found,) = hl.check_prescription(zones)
    assert (found.code, found.record, found.severity) == ("rx-outside-degrees", 1, "error")
    assert "row 1: a coordinate is not finite" in found.message
    with pytest.raises(ValueError, match="`boundary`: row 1 has a coordinate that is not finite"):
        make(frame([box(0)]), boundary=zones)
    # A coordinate that is no degree is on no ground of the boundary.
    with pytest.raises(ValueError, match=r"`zones`: row 1 has a coordinate that is not finite|no zone is inside of it"):
        make(zones, default=5, boundary=frame([box(0, 0, 9)]))


@pytest.mark.filterwarnings("ignore:invalid value")
def test_layer_with_a_vertex_that_is_not_finite_says_so() -> None:
    coordinates = np.array(box(2).exterior.coords)
    coordinates[1, 0] = math.nan
    layer = as_layer("zones", frame([box(0), Polygon(coordinates)]))
    assert ("no-data-coordinate", 1) in codes(layer.diagnostics)
    whole = as_layer("zones", frame([box(0)])).area()
    assert whole is not None
    assert layer.area() == pytest.approx(1.5 * whole, rel=1e-3)


def test_empty_shapes_name_their_row() -> None:
    for empty in (Polygon(), MultiPolygon(), MultiPolygon([Polygon()])):
        (found,) = hl.check_prescription(frame([box(0), empty, box(2), empty]))
        assert (found.code, found.record) == ("rx-null-shape", 1)
        assert found.message.startswith("2 rows (first: row 1): the shape is empty")
        with pytest.raises(ValueError, match="row 1 has no polygon"):
            make(frame([box(0), empty]))
    assert codes(hl.check_prescription(frame([Polygon(), Polygon()]))) == [("rx-null-shape", 0)]
    assert hl.check_prescription(frame([box(0), MultiPolygon([Polygon(), box(2)])])) == []


ACROSS = Polygon([(179.999, 10), (-179.999, 10), (-179.999, 10.001), (179.999, 10.001)])


def test_zone_across_the_antimeridian_is_cut_there() -> None:
    hole = Polygon([(179.9995, 10.0004), (-179.9995, 10.0004), (-179.9995, 10.0006), (179.9995, 10.0006)])
    zones = frame([shapely.box(179.99, 10, 179.999, 10.001), Polygon(ACROSS.exterior, [hole.exterior])])
    (found,) = hl.check_prescription(zones)
    assert (found.code, found.record) == ("rx-invalid-ring", 1)
    assert "wider than 180 degrees" in found.message
    rx = make(zones)
    assert rx.diagnostics == []
    assert hl.check_prescription(bytes(rx)) == []
    shapes = written(rx)
    assert shapes.is_valid.all()
    assert all(part.bounds[2] - part.bounds[0] < 0.01 for part in shapes.explode().geometry)
    assert shapely.area(shapes.to_numpy()).sum() == pytest.approx(0.009e-3 + 0.002e-3 - 0.0002e-3)
    plain = make(
        frame(
            [
                affinity.translate(
                    shapely.box(0, 10, 0.002, 10.001).difference(shapely.box(0.0005, 10.0004, 0.0015, 10.0006)), 20
                )
            ]
        )
    ).totals.area
    assert rx.totals.rates[1].area == pytest.approx(plain, rel=1e-8)


def test_field_across_the_antimeridian_is_compared_and_has_no_rest() -> None:
    field = frame([ACROSS])
    halves = [shapely.box(179.999, 10, 180, 10.001), shapely.box(-180, 10, -179.999, 10.001)]
    assert hl.check_prescription(frame(halves), boundary=field) == []
    assert codes(hl.check_prescription(frame(halves[:1]), boundary=field)) == [("boundary-gap", None)]
    with pytest.raises(ValueError, match="`default`: the rest of a field across the antimeridian"):
        make(frame(halves[:1]), boundary=field, default=5)


def test_ring_around_the_globe_is_an_error() -> None:
    zones = frame([box(0), Polygon([(-100, 10), (0, 10), (100, 10), (0, 11)])])
    assert ("rx-invalid-ring", 1) in codes(hl.check_prescription(zones))
    with pytest.raises(ValueError, match="row 1 is wider than 180 degrees"):
        make(zones)


HOLE = box(1, 1)
REPAIRED = {
    "parts that share a side": MultiPolygon([box(0), box(1)]),
    "parts that share a part of a side": MultiPolygon([box(0, 0, 1, 3), box(1, 1)]),
    "a spike out of a corner": Polygon(cells((0, 0), (1, 0), (2, 0), (1, 0), (1, 1), (0, 1))),
    "a spike into the ground": Polygon(cells((0, 0), (1, 0), (1, 1), (0.5, 1), (0.5, 0.5), (0.5, 1), (0, 1))),
    "a spike along a side": Polygon(cells((0, 0), (3, 0), (1, 0), (1, 1), (0, 1))),
    "a ring that touches itself": Polygon(cells((0, 0), (2, 0), (1, 1), (2, 2), (0, 2), (1, 1))),
    "a ring around its hole": Polygon(cells((0, 0), (4, 0), (4, 4), (2, 4), (3, 2), (2, 1), (1, 2), (2, 4), (0, 4))),
    "a hole at a side": Polygon(cells((0, 0), (4, 0), (4, 4), (0, 4)), [box(1, 0).exterior]),
    "holes that share a side": Polygon(cells((0, 0), (4, 0), (4, 4), (0, 4)), [HOLE.exterior, box(2, 1).exterior]),
    "a hole that divides the ground": Polygon(
        cells((0, 0), (4, 0), (4, 4), (0, 4)), [cells((0, 2), (2, 1), (4, 2), (2, 3))]
    ),
    "a part without ground": MultiPolygon([box(0), Polygon(cells((5, 5), (6, 5), (7, 5)))]),
}


@pytest.mark.parametrize("name", REPAIRED)
def test_invalid_rings_whose_ground_is_certain_are_found_and_repaired(name: str) -> None:
    shape = REPAIRED[name]
    zones = frame([box(20), shape])
    assert not shapely.is_valid(shape)
    assert codes(hl.check_prescription(zones)) == [("rx-invalid-ring", 1)]
    rx = make(zones)
    assert codes(rx.diagnostics) == ([("zone-lost", 1)] if "without ground" in name else [])
    shapes = written(rx)
    assert shapes.is_valid.all()
    ground = shapely.make_valid(shape, method="structure", keep_collapsed=False)
    assert shapes.iloc[1].symmetric_difference(ground).area < 1e-12
    assert hl.check_prescription(bytes(rx)) == []


INVALID = {
    "a bow tie": Polygon(cells((0, 0), (1, 1), (1, 0), (0, 1))),
    "an uneven bow tie": Polygon(cells((0, 0), (2, 1), (2, 0), (0, 1), (0, 0.5))),
    "a hole outside": Polygon(box(0).exterior, [box(3).exterior]),
    "a hole across": Polygon(box(0).exterior, [box(0.5, 0.2, 1, 0.5).exterior]),
    "a small part in a part": MultiPolygon([box(0, 0, 50, 50), box(1, 1)]),
}


@pytest.mark.parametrize("name", INVALID)
def test_invalid_rings_whose_ground_is_uncertain_are_errors(name: str) -> None:
    zones = frame([box(200), INVALID[name]])
    assert codes(hl.check_prescription(zones)) == [("rx-invalid-ring", 1)]
    assert codes(make(zones).diagnostics) == [("rx-invalid-ring", 1)]


def some_shape(draw: random.Random) -> Polygon | MultiPolygon:
    """Return a shape of a few vertices on a small grid, so that most rings touch, cross or have spikes."""

    def loop(size: int) -> list[tuple[float, float]]:
        points = [(draw.randrange(7), draw.randrange(7)) for _ in range(size)]
        if draw.random() < 0.5:
            middle = (3.1, 2.9)
            points.sort(key=lambda point: math.atan2(point[1] - middle[1], point[0] - middle[0]))
        return cells(*points)

    def polygon() -> Polygon:
        return Polygon(loop(draw.randint(3, 7)), [loop(3) for _ in range(draw.choice([0, 0, 0, 1, 2]))])

    return polygon() if draw.random() < 0.7 else MultiPolygon([polygon() for _ in range(2)])


def narrowest(shape: Polygon | MultiPolygon) -> float:
    """Return the least area of a ring in square degrees."""
    polygons = shape.geoms if isinstance(shape, MultiPolygon) else [shape]
    return min(float(Polygon(each).area) for polygon in polygons for each in (polygon.exterior, *polygon.interiors))


def test_check_finds_what_geos_finds() -> None:
    draw = random.Random(7)
    valid = 0
    for number in range(400):
        shape = some_shape(draw)
        # The ground of rings narrower than a micrometre is a rounding error.
        if 0 < narrowest(shape) < 1e-12:
            continue
        errors = [each for each in hl.check_prescription(frame([shape])) if each.severity == "error"]
        assert bool(errors) == (not shape.is_valid), (number, shapely.is_valid_reason(shape), shape.wkt, errors)
        assert all(each.code in {"rx-invalid-ring", "rx-parts-overlap"} for each in errors), errors
        valid += shape.is_valid
    assert 40 < valid < 360


def test_prescription_is_valid_or_says_so() -> None:
    draw = random.Random(8)
    repaired = 0
    for number in range(400):
        shape = some_shape(draw)
        if narrowest(shape) < 1e-12:
            continue
        rx = make(frame([shape]))
        errors = [each for each in rx.diagnostics if each.severity == "error"]
        shapes = written(rx)
        assert errors or shapes.is_valid.all(), (number, shape.wkt, rx.diagnostics)
        if shape.is_valid:
            assert not errors, (number, shape.wkt, errors)
            assert shapes.iloc[0].symmetric_difference(shape).area < 1e-12
        repaired += not errors and not shape.is_valid
    assert repaired > 4


def test_hole_outside_of_its_ring_is_said_in_a_shapefile() -> None:
    content = archive(members([zone(ring(0)), zone(ring(2), ring(4)[::-1])]))
    assert codes(hl.check_prescription(content)) == [("rx-invalid-ring", 1)]
    assert ("ring-direction", 1) in codes(hl.read(content).diagnostics)
    all_reversed = archive(members([zone(ring(0)), zone(ring(2)[::-1], ring(4)[::-1])]))
    assert hl.check_prescription(all_reversed) == []
    assert hl.read(all_reversed).diagnostics == []


@pytest.mark.parametrize("seed", range(4))
def test_totals_are_the_areas_between_geodesics(seed: int) -> None:
    draw = random.Random(seed)
    geod = pyproj.Geod(ellps="WGS84")
    for radius in (0.02, 0.1, 0.25):
        x, y = draw.uniform(-170, 170), draw.uniform(-60, 65)
        angles = sorted(draw.uniform(0, 2 * math.pi) for _ in range(6))
        spokes = [(angle, radius * draw.uniform(0.5, 1)) for angle in angles]
        shape = Polygon([(x + size * math.cos(angle), y + size * math.sin(angle)) for angle, size in spokes])
        if not shape.is_valid or shape.area < 0.1 * radius * radius:
            continue
        rx = make(frame([shape]))
        expected = abs(geod.geometry_area_perimeter(written(rx).iloc[0])[0])
        assert rx.totals.area * 10_000 == pytest.approx(expected, rel=1e-9)


def test_rates_that_are_written_alike_are_one() -> None:
    for one, other in ((0.1 + 0.2, 0.3), (1 / 3, 0.3333333), (100, 100 + 1e-9)):
        rx = make(frame([box(0), box(1)], rate=[one, other]))
        assert len(rx.layer) == 1
        assert len(rx.totals.rates) == 1
        assert [each.code for each in rx.diagnostics] in ([], ["rate-rounded"])


def test_rates_that_decimals_change_are_counted() -> None:
    rates = [1 / 3, 2e-7, 5.0, 2 / 3, -1e-9, 0.0]
    rx = make(frame([box(2 * n) for n in range(6)], rate=rates))
    rounded, zero = sorted((each for each in rx.diagnostics if each.code != "rate-outlier"), key=lambda each: each.code)
    assert (rounded.code, rounded.record, zero.code, zero.record) == ("rate-rounded", 0, "rate-to-zero", 1)
    assert rounded.message.startswith("2 of 6 rates are rounded to 6 decimals (first: 0.3333333333333333 of row 0)")
    assert zero.message.startswith(
        "2 of 6 rates become 0 by the 6 decimals that are written (first: 0.0000002 of row 1)"
    )


def test_overlap_says_whether_the_rates_differ() -> None:
    for rates, text in (
        ([5.0, 5.0], "with one rate; a display applies it there once or twice"),
        ([5.0, 6.0], "with different rates"),
    ):
        zones = frame([box(0), box(0.5)], rate=rates)
        for found in (hl.check_prescription(zones), make(zones).diagnostics):
            assert [each.code for each in found] == ["rx-zones-overlap"]
            assert text in found[0].message
