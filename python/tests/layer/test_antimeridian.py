"""Fields across the antimeridian: cut GeoJSON (RFC 7946, section 3.1.9), maps around the field, areas."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyproj
import pytest
import shapely
import shapely.geometry
from shapefiles import LINE, POINT, RINGS, Shape, Z, shp, zipped

import headland as hl

WGS_84 = pyproj.CRS.from_epsg(4326).to_wkt("WKT1_ESRI")
FIJI = pyproj.CRS.from_epsg(32760).to_wkt("WKT1_ESRI")
Vertex = tuple[float, float, float, float]
EARTH = 510_065_621_724_088.0
"""The area of the ellipsoid in square metres."""


def layer_of(kind: int, shapes: list[list[list[Vertex]]], prj: str = WGS_84) -> hl.Layer:
    """Return a layer of shapes, each a list of parts."""
    content, index = shp(kind, [Shape(parts) for parts in shapes])
    return hl.read(zipped({"t.shp": content, "t.shx": index, "t.prj": prj.encode()}))


def vertices(*places: tuple[float, float]) -> list[Vertex]:
    return [(x, y, 0.0, 0.0) for x, y in places]


def ring(west: float, south: float, east: float, north: float) -> list[Vertex]:
    return vertices((west, south), (west, north), (east, north), (east, south), (west, south))


def geometry(layer: hl.Layer) -> Any:
    return shapely.geometry.shape(layer.__geo_interface__["features"][0]["geometry"])


def assert_is_cut(shape: Any) -> None:
    assert shape.is_valid
    for part in shape.geoms:
        west, _, east, _ = part.bounds
        assert east - west < 1
    assert (shape.bounds[0], shape.bounds[2]) == (-180, 180)


def geodesic(west: float, south: float, east: float, north: float) -> float:
    """Return the area of a box in square metres."""
    x, y = zip(*((place[0], place[1]) for place in ring(west, south, east, north)), strict=True)
    return abs(float(pyproj.Geod(ellps="WGS84").polygon_area_perimeter(x, y)[0]))


def test_polygon_is_cut_with_its_area_and_hole() -> None:
    layer = layer_of(RINGS, [[ring(179.9, -17.0, -179.9, -16.9), ring(179.95, -16.98, -179.95, -16.92)[::-1]]])
    cut = geometry(layer)
    assert_is_cut(cut)
    assert cut.area == pytest.approx(0.2 * 0.1 - 0.1 * 0.06)
    assert not cut.contains(shapely.Point(179.99, -16.95))
    assert cut.contains(shapely.Point(-179.93, -16.95))
    assert all(part.exterior.is_ccw for part in cut.geoms)
    whole, hole = geodesic(179.9, -17.0, -179.9, -16.9), geodesic(179.95, -16.98, -179.95, -16.92)
    assert layer.area() == pytest.approx(whole - hole, rel=1e-6)


def test_field_that_crosses_several_times_is_cut_into_valid_parts() -> None:
    comb = [(179.9, 0.0), (179.9, 0.3), (-179.9, 0.3), (-179.9, 0.2), (179.95, 0.2), (179.95, 0.1), (-179.9, 0.1)]
    cut = geometry(layer_of(RINGS, [[vertices(*comb, (-179.9, 0.0), comb[0])]]))
    assert_is_cut(cut)
    assert len(cut.geoms) == 3
    assert cut.area == pytest.approx(0.2 * 0.3 - 0.15 * 0.1)


def test_projected_field_and_lines_with_heights_are_cut() -> None:
    forward = pyproj.Transformer.from_crs(4326, 32760, always_xy=True).transform
    corners = [forward(longitude, latitude) for longitude, latitude, _, _ in ring(179.99, -17.0, -179.99, -16.99)]
    layer = layer_of(RINGS, [[vertices(*corners)]], FIJI)
    assert_is_cut(geometry(layer))
    assert geometry(layer).area == pytest.approx(0.02 * 0.01, rel=1e-3)
    line = layer_of(LINE + Z, [[[(179.0, 0.0, 10.0, 0.0), (-179.0, 2.0, 20.0, 0.0)]]])
    parts = geometry(line).geoms
    assert [list(part.coords) for part in parts] == [
        [(179.0, 0.0, 10.0), (180.0, 1.0, 15.0)],
        [(-180.0, 1.0, 15.0), (-179.0, 2.0, 20.0)],
    ]


def test_other_geometries_are_not_cut() -> None:
    for west, east in ((170.0, 180.0), (-180.0, -170.0), (-90.0, 89.0)):
        assert geometry(layer_of(RINGS, [[ring(west, 0.0, east, 1.0)]])).geom_type == "Polygon"
    world = layer_of(RINGS, [[ring(-180.0, -90.0, 180.0, 90.0)]])
    assert geometry(world).bounds == (-180, -90, 180, 90)


@pytest.mark.parametrize(
    ("box", "share"),
    [((-180.0, -90.0, 180.0, 90.0), 1.0), ((-180.0, 0.0, 180.0, 90.0), 0.5), ((-180.0, -90.0, 0.0, 90.0), 0.5)],
)
def test_area_of_maps_of_the_world(box: tuple[float, float, float, float], share: float) -> None:
    assert layer_of(RINGS, [[ring(*box)]]).area() == pytest.approx(share * EARTH, rel=1e-6)
    assert layer_of(RINGS, [[ring(*box)[::-1]]]).area() == pytest.approx(share * EARTH, rel=1e-6)


def points_around(longitude: float) -> hl.Layer:
    """Return a field of 20 by 20 points, 200 m wide, around a meridian."""
    places = [
        ((longitude + 180 + column * 1e-4 - 1e-3) % 360 - 180, -17 + row * 1e-4)
        for row in range(20)
        for column in range(20)
    ]
    return layer_of(POINT, [[vertices(place)] for place in places])


def scale_of(layer: hl.Layer) -> str:
    """Return the length of the scale bar."""
    found = re.search(r">([\d,]+ k?m)</text>", layer.plot().svg)
    assert found
    return found[1]


def test_map_is_framed_around_the_field() -> None:
    assert scale_of(points_around(180.0)) == scale_of(points_around(150.0))
    east, west = ring(179.998, -17.0, -179.999, -16.998), ring(-179.999, -17.0, -179.998, -16.998)
    there = layer_of(RINGS, [[east], [west]])
    here = layer_of(RINGS, [[ring(9.998, -17.0, 10.001, -16.998)], [ring(10.001, -17.0, 10.002, -16.998)]])
    assert there.plot().svg == here.plot().svg
    # A map of the world stays one.
    world = layer_of(POINT, [[vertices((float(longitude), 0.0))] for longitude in range(-180, 181, 10)])
    assert scale_of(world).endswith("km")


def test_interactive_map_is_framed_around_the_field(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("folium")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "lonboard" else name)
    for layer in (points_around(180.0), layer_of(RINGS, [[ring(179.999, -17.0, -179.999, -16.999)]])):
        (south, west), (north, east) = layer.explore().get_bounds()
        assert 179 < west < 180 < east < 181
        assert north - south < 0.01


def test_map_of_lonboard_has_continuous_longitudes(monkeypatch: pytest.MonkeyPatch) -> None:
    lonboard = pytest.importorskip("lonboard")
    seen: list[Any] = []

    def kept(frame: Any, **_: Any) -> str:
        seen.append(frame)
        return "layer"

    monkeypatch.setattr(lonboard.ScatterplotLayer, "from_geopandas", kept)
    monkeypatch.setattr(lonboard, "Map", lambda layers: layers)
    points_around(180.0).explore()
    longitudes = shapely.get_coordinates(seen[0].geometry)[:, 0]
    assert np.ptp(longitudes) < 0.01
