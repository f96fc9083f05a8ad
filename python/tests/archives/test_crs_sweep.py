"""Every current system of the EPSG registry against PROJ: WGS 84 to the centimetre, or metres in its own plane."""

from __future__ import annotations

import collections
import functools
import os
import re
from typing import NamedTuple

import pyproj
import pytest
from pyproj.database import query_crs_info
from pyproj.enums import PJType, TransformDirection
from shapefiles import RINGS, Shape, shp, zipped

import headland as hl

EVERY = 1 if os.environ.get("HEADLAND_SERIES") else 50
"""A long series tests each system, otherwise one of many."""

CENTIMETRE = 0.01
SIDE = 100.0

GEOD = pyproj.Geod(ellps="WGS84")


class System(NamedTuple):
    """A system with a place in its area of use, in its coordinates and in those of PROJ on WGS 84."""

    code: int
    crs: pyproj.CRS
    place: tuple[float, float]
    truth: tuple[float, float]


@functools.cache
def systems() -> list[System]:
    """Return the projected and geographic systems of the sweep."""
    found = []
    for kind in (PJType.PROJECTED_CRS, PJType.GEOGRAPHIC_2D_CRS):
        infos = [info for info in query_crs_info(auth_name="EPSG", pj_types=kind) if not info.deprecated]
        for info in infos[::EVERY]:
            crs = pyproj.CRS.from_epsg(int(info.code))
            area = crs.area_of_use
            if area is None:
                continue
            east = area.east + 360.0 * (area.east < area.west)
            # Not the exact middle, where many projections have their origin.
            middle = (area.west * 0.47 + east * 0.53, area.south * 0.48 + area.north * 0.52)
            try:
                to_wgs_84 = pyproj.Transformer.from_crs(crs, 4326, always_xy=True)
            except pyproj.exceptions.ProjError:
                # PROJ does not have every projection of the registry.
                continue
            place = to_wgs_84.transform(*middle, direction=TransformDirection.INVERSE)
            if max(map(abs, place)) < 1e9:
                found.append(System(int(info.code), crs, place, to_wgs_84.transform(*place)))
    return found


def texts(crs: pyproj.CRS) -> list[str]:
    """Return the texts of ESRI and GDAL that PROJ can write."""
    found = []
    for dialect in ("WKT1_ESRI", "WKT1_GDAL"):
        try:
            found.append(crs.to_wkt(dialect))
        except pyproj.exceptions.CRSError:
            continue
    return found


def archive(prj: str, place: tuple[float, float], side: float) -> bytes:
    """Return a shapefile of a square."""
    x, y = place
    ring = [(x, y), (x, y + side), (x + side, y + side), (x + side, y), (x, y)]
    content, index = shp(RINGS, [Shape([[(x, y, 0.0, 0.0) for x, y in ring]])])
    return zipped({"t.shp": content, "t.shx": index, "t.prj": prj.encode()})


def away(system: System, west: float, south: float) -> float:
    """Return the metres between a corner on WGS 84 and that of PROJ."""
    metres: float = GEOD.inv(west, south, *system.truth)[2]
    return metres


def regional_offset(layer: hl.Layer) -> float:
    """Return the metres by which PROJ may differ in a region that the diagnostic names, else a centimetre."""
    said = " ".join(note.message for note in layer.diagnostics if note.code == "datum-offset")
    figures = [float(metres) for metres in re.findall(r"up to ([\d.]+) m", said)]
    return max(figures) if len(figures) > 1 else CENTIMETRE


def test_systems_agree_with_proj_or_have_a_plane_of_their_own() -> None:
    counts: collections.Counter[str] = collections.Counter()
    wrong, refused = [], []
    for system in systems():
        unit = system.crs.axis_info[0].unit_conversion_factor
        side = SIDE / unit if system.crs.is_projected else 1e-3
        for prj in texts(system.crs)[:1]:
            data = archive(prj, system.place, side)
            layer = hl.read(data)
            codes = {note.code for note in layer.diagnostics}
            assert "crs-code-contradicts" not in codes, (system.code, prj)
            assert layer.crs is not None, (system.code, prj)
            if layer.crs.startswith("EPSG:"):
                assert layer.crs == f"EPSG:{system.code}" or system.crs.is_geographic, (system.code, layer.crs, prj)
            if "own-plane" in codes:
                counts["plane"] += 1
                assert layer.area() == pytest.approx(SIDE**2, rel=1e-6), system.code
                continue
            try:
                moved = hl.read(data, to_crs="EPSG:4326")
            except hl.ArchiveError as error:
                counts["refused"] += 1
                refused.append((system.code, system.crs.name, str(error)[:200]))
                continue
            counts["transformed"] += 1
            positions = moved.__geo_interface__["features"][0]["geometry"]["coordinates"][0]
            nearest = min(away(system, *position[:2]) for position in positions)
            if nearest > regional_offset(layer):
                wrong.append((system.code, system.crs.name, nearest))
    assert not wrong, wrong
    # Degrees on a datum without a shift have no metres, and neither have maps of the world.
    projected = [line for line in refused if pyproj.CRS.from_epsg(line[0]).is_projected]
    assert not [line for line in projected if not re.search(r"Equal Earth|EASE|World Equidistant", line[1])], projected
    assert counts["transformed"] > 0.6 * len(systems()), counts
