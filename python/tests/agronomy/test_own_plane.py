"""Layers in projected systems without a known way to WGS 84: metres need no datum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import geopandas as gpd
import pyproj
import pytest
import shapely
from driven_rows import UNITS, frame, plain, straight, values
from shapefiles import RINGS, Shape, shp, zipped

import headland as hl

if TYPE_CHECKING:
    import pandas as pd

UTM, NAD27 = 32614, 26714
"""One zone on WGS 84, and on a datum that needs a grid."""

FEET = 0.3048006096012192


def rows(system: int = NAD27, unit: float = 1.0) -> gpd.GeoDataFrame:
    """Return two neighbouring passes in metres of the zone, stated as another system."""
    there = straight((0, 0), (0, 200), flow=5.0, moisture=15.5)
    back = straight((6, 200), (6, 0), seconds=300.0, flow=5.0, moisture=15.5)
    both = gpd.pd.concat([frame(there), frame(back)], ignore_index=True).to_crs(UTM)
    shapes = shapely.transform(both.geometry.to_numpy(), lambda found: found / unit)
    return both.set_geometry(gpd.GeoSeries(shapes, crs=system))


def cleaned(made: gpd.GeoDataFrame) -> hl.Cleaned:
    units = {name: unit for name, unit in UNITS.items() if name in made}
    return plain(hl.harmonize(made, kind="yield", units=units, crop="corn"))


def own_plane(layer: hl.Layer) -> list[str]:
    return [note.message for note in layer.diagnostics if note.code == "own-plane"]


def square(x: float, y: float, side: float, system: str) -> hl.Layer:
    ring = [(x, y), (x, y + side), (x + side, y + side), (x + side, y), (x, y)]
    content, index = shp(RINGS, [Shape([[(x, y, 0.0, 0.0) for x, y in ring]])])
    return hl.read(zipped({"t.shp": content, "t.shx": index, "t.prj": system.encode()}))


@pytest.mark.parametrize(
    ("code", "area"), [(26714, 640_000.0), (26739, 640_000.0 * FEET**2), (5514, 640_000.0), (3035, None)]
)
def test_area_is_in_metres_of_the_own_plane(code: int, area: float | None) -> None:
    system = pyproj.CRS.from_epsg(code)
    assert system.area_of_use is not None
    middle = ((system.area_of_use.west + system.area_of_use.east) / 2, system.area_of_use.north * 0.9)
    x, y = pyproj.Transformer.from_crs(system.geodetic_crs, system, always_xy=True).transform(*middle)
    layer = square(x, y, 800.0, system.to_wkt("WKT1_GDAL"))
    assert len(own_plane(layer)) == (area is not None)
    assert layer.area() == pytest.approx(area or 640_000.0, rel=1e-9 if area else 0.01)


def test_clean_and_grid_work_in_the_own_plane_and_say_so() -> None:
    found, expected = cleaned(rows()), cleaned(rows(UTM))
    assert len(own_plane(found.layer)) == 1
    assert "North American Datum 1927" in own_plane(found.layer)[0]
    assert found.layer.covered_area() == pytest.approx(2400.0, rel=2e-3)
    assert found.layer.covered_area() == pytest.approx(expected.layer.covered_area(), rel=2e-3)
    cells = hl.grid(found, 10.0)
    assert (cells.crs, len(own_plane(cells))) == (f"EPSG:{NAD27}", 1)
    made, wanted = cells.to_geopandas(), hl.grid(expected, 10.0).to_geopandas()
    assert made.crs.to_epsg() == NAD27
    assert list(made.geometry.bounds.minx) == list(wanted.geometry.bounds.minx)
    assert made["kg_wet"].sum() == pytest.approx(values(found.layer)["kg"].sum(), rel=1e-9)
    assert made["kg_wet"].to_numpy() == pytest.approx(wanted["kg_wet"].to_numpy(), abs=1.0)
    swaths = found.swaths().to_geopandas()
    assert swaths.crs.to_epsg() == NAD27
    assert swaths.area.sum() == pytest.approx(2400.0, rel=2e-3)
    assert len(hl.grid(found, 10.0, crs=NAD27)) == len(cells)


def test_cells_of_a_system_in_feet_have_sides_in_metres() -> None:
    found = cleaned(rows(26739, FEET))
    cells = hl.grid(found, 10.0).to_geopandas()
    assert cells.area.to_numpy() * FEET**2 == pytest.approx(100.0)
    assert cells["covered"].sum() == pytest.approx(2400.0, rel=2e-3)
    assert cells["kg_wet"].sum() == pytest.approx(values(found.layer)["kg"].sum(), rel=1e-9)


def test_plots_are_in_the_system_of_the_rows_or_an_error() -> None:
    found = cleaned(rows())
    west, south, east, north = rows().total_bounds
    half = gpd.GeoDataFrame(
        {"plot": [1]}, geometry=[shapely.box(west - 9, south, east + 9, (south + north) / 2)], crs=NAD27
    )
    made = hl.grid(found, plots=half).to_geopandas()
    assert made["covered"].sum() == pytest.approx(1200.0, rel=0.02)
    assert made.crs.to_epsg() == NAD27
    with pytest.raises(ValueError, match=r"`plots` is in `.+`, but the rows are in .+ no known way"):
        hl.grid(found, plots=half.set_crs(UTM, allow_override=True))
    with pytest.raises(ValueError, match=r"no known way from .+ to `.+`; leave `crs` out"):
        hl.grid(found, 10.0, crs=UTM)
    inside = hl.clean(found.layer, boundary=half)
    assert len(inside.layer) == len(found.layer)


def test_a_plane_that_stretches_lengths_is_an_error() -> None:
    mercator = (
        'PROJCS["m",GEOGCS["g",DATUM["D_Somewhere",SPHEROID["Bessel",6377397.155,299.1528128]],PRIMEM["Greenwich",0],'
        'UNIT["Degree",0.0174532925199433]],PROJECTION["Mercator"],PARAMETER["central_meridian",0],UNIT["Meter",1]]'
    )
    assert square(1e6, 1e4, 100.0, mercator).area() == pytest.approx(10_000.0)
    with pytest.raises(ValueError, match=r"differ from those on the ground by \d+ %"):
        square(1e6, 6e6, 100.0, mercator).area()


@pytest.mark.parametrize(("code", "zone"), [(3857, "EPSG:32614"), (3395, "EPSG:32614"), (4326, "EPSG:32614")])
def test_systems_whose_metres_are_not_those_of_the_ground_are_refused_with_the_zone(code: int, zone: str) -> None:
    found = cleaned(rows(UTM))
    with pytest.raises(ValueError, match=rf"`crs`.*pass `crs=\"{zone}\"`"):
        hl.grid(found, 10.0, crs=code)


@pytest.mark.parametrize("place", [(0.0, 0.0), (180.0, 90.0)])
@pytest.mark.parametrize("row", [0, 10, 57])
def test_a_row_without_a_fix_moves_no_map(place: tuple[float, float], row: int) -> None:
    made = rows(UTM).to_crs(4326)
    expected = hl.grid(cleaned(made), 10.0)
    shapes = made.geometry.copy()
    shapes.iloc[row] = shapely.Point(*place)
    found = cleaned(made.set_geometry(shapes))
    cells = hl.grid(found, 10.0)
    assert cells.crs == expected.crs == "EPSG:32614"
    assert len(hl.grid(found, 10.0, crs=32614)) == len(cells)
    frame: pd.DataFrame = cells.to_geopandas()
    assert frame["covered"].sum() == pytest.approx(expected.to_geopandas()["covered"].sum(), rel=0.02)
    west, south, east, north = found.swaths().to_geopandas().total_bounds
    assert east - west < 0.01
    assert north - south < 0.01
