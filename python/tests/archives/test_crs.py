"""Coordinate systems of real .prj files against pyproj: EPSG codes never wrong, WGS 84 to the centimetre."""

from __future__ import annotations

import re
import zipfile
from typing import TYPE_CHECKING, Any

import pyproj
import pytest
import shapefile
import shapely
from checkout import CORPUS
from pyproj.enums import TransformDirection

import headland as hl

if TYPE_CHECKING:
    from pathlib import Path

needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"there is no corpus at {CORPUS}")

CENTIMETRE = 0.01


def prj_texts(folder: Path) -> dict[bytes, str]:
    """Return every different .prj below a folder and inside its zips, with its first path."""
    found: dict[bytes, str] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if path.suffix.lower() == ".prj":
            found.setdefault(path.read_bytes(), str(path))
        elif path.suffix.lower() == ".zip":
            try:
                with zipfile.ZipFile(path) as archive:
                    for name in archive.namelist():
                        if name.lower().endswith(".prj") and "__MACOSX" not in name:
                            found.setdefault(archive.read(name), f"{path}:{name}")
            except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, ValueError):
                continue
    return found


def layer_with(prj: bytes, folder: Path, x: float = 1, y: float = 1, to_crs: str | None = None) -> hl.Layer:
    """Return a layer of one point with this .prj."""
    with shapefile.Writer(str(folder / "t"), shapeType=shapefile.POINT) as writer:
        writer.field("A", "N", 4)
        writer.point(x, y)
        writer.record(1)
    (folder / "t.prj").write_bytes(prj)
    return hl.read(folder / "t.shp", to_crs=to_crs)


def oracle(prj: bytes) -> Any:
    """Return pyproj's system for a .prj; None if it rejects it."""
    text = prj.decode("utf-8-sig", "replace").strip("\0 \r\n")
    try:
        return pyproj.CRS.from_user_input(text)
    except pyproj.exceptions.CRSError:
        return None


def is_same_place(one: Any, other: Any) -> bool:
    """Whether two systems are equal, judged by the coordinates of a location within both."""
    area = other.area_of_use
    longitude, latitude = (area.west + area.east) / 2, (area.south + area.north) / 2
    forward = pyproj.Transformer.from_crs(other, 4326, always_xy=True)
    x, y = forward.transform(longitude, latitude, direction=TransformDirection.INVERSE)
    back = pyproj.Transformer.from_crs(one, 4326, always_xy=True).transform(x, y)
    away: float = pyproj.Geod(ellps="WGS84").inv(longitude, latitude, *back)[2]
    return away < CENTIMETRE


@needs_corpus
def test_a_code_of_a_real_prj_is_that_of_pyproj_or_none(tmp_path: Path) -> None:
    texts = prj_texts(CORPUS)
    assert len(texts) >= 20
    codes = 0
    for number, (prj, place) in enumerate(texts.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        layer = layer_with(prj, folder)
        system = oracle(prj)
        if system is None:
            assert layer.crs is None or not layer.crs.startswith("EPSG:"), place
            continue
        assert layer.crs is not None, place
        if layer.crs.startswith("EPSG:"):
            codes += 1
            meant = pyproj.CRS.from_user_input(layer.crs)
            # A text with an EPSG code may add parameters, such as a shift of zero: pyproj then returns no code.
            stated = layer.crs.removeprefix("EPSG:") in prj.decode("latin-1")
            assert system.to_epsg(25) == meant.to_epsg() or (stated and is_same_place(system, meant)), place
        else:
            assert pyproj.CRS.from_wkt(layer.crs).equals(system), place
    assert codes >= 10


@needs_corpus
def test_wgs_84_is_that_of_pyproj_within_a_centimetre_for_projected_field_data() -> None:
    geod = pyproj.Geod(ellps="WGS84")
    seen = 0
    for path in sorted(path for path in CORPUS.joinpath("ag").rglob("*") if path.suffix in (".zip", ".shp")):
        for name in hl.layers(path):
            plain = hl.read(path, layer=name, columns=[])
            system = pyproj.CRS.from_user_input(plain.crs) if plain.crs else None
            if system is None or not system.is_projected:
                continue
            seen += 1
            here = shapely.get_coordinates(plain.to_geopandas().geometry)
            there = hl.read(path, layer=name, columns=[], to_crs="EPSG:4326")
            assert there.crs == "EPSG:4326"
            found = shapely.get_coordinates(there.to_geopandas().geometry)
            expected = pyproj.Transformer.from_crs(system, 4326, always_xy=True).transform(here[:, 0], here[:, 1])
            away = geod.inv(found[:, 0], found[:, 1], *expected)[2]
            assert max(away) < CENTIMETRE, (path, name, max(away))
    assert seen >= 2


DATUMS = [
    # The code of a system, a location in it, and the largest offset of its locations on WGS 84 (None: no offset).
    (4326, 10.0, 50.0, None),
    (4269, -97.0, 41.0, "4 m"),
    (26914, -97.0, 41.0, "4 m"),
    (4617, -106.0, 52.0, "1 m"),
    (2957, -106.0, 52.0, "1 m"),
    (4152, -97.0, 41.0, "1 m"),
    (3747, -85.0, 41.0, "1 m"),
    (4759, -97.0, 41.0, "2 m"),
    (6344, -93.0, 41.0, "2 m"),
    (4258, 10.0, 50.0, "1 m"),
    (25832, 10.0, 50.0, "1 m"),
    (3006, 15.0, 59.0, "1 m"),
    (2154, 3.0, 47.0, "1 m"),
    (2180, 19.0, 52.0, "1 m"),
    (28355, 147.0, -35.0, "3 m"),
    (7855, 147.0, -35.0, "3 m"),
    (2193, 174.0, -40.0, "1 m"),
    (31982, -51.0, -23.0, "1 m"),
    (5347, -60.0, -35.0, "0.5 m"),
    (22175, -60.0, -35.0, "1 m"),
    (2451, 140.0, 36.0, "1 m"),
    (4490, 110.0, 35.0, "1 m"),
    (27700, -1.5, 52.5, "2 m"),
    (28992, 5.5, 52.0, "1 m"),
    (2056, 8.0, 47.0, "1 m"),
]


def away(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return the metres between two locations on WGS 84."""
    metres: float = pyproj.Geod(ellps="WGS84").inv(one[0], one[1], other[0], other[1])[2]
    return metres


@pytest.mark.parametrize(("code", "longitude", "latitude", "off"), DATUMS)
def test_wgs_84_equals_pyproj_without_grids_and_the_offset_is_reported(
    code: int, longitude: float, latitude: float, off: str | None, tmp_path: Path
) -> None:
    system = pyproj.CRS.from_epsg(code)
    x, y = pyproj.Transformer.from_crs(system.geodetic_crs, system, always_xy=True).transform(longitude, latitude)
    expected = pyproj.Transformer.from_crs(system, 4326, always_xy=True).transform(x, y)
    prj = system.to_wkt("WKT1_ESRI").encode()
    layer = layer_with(prj, tmp_path, x, y, to_crs="EPSG:4326")
    found = shapely.get_coordinates(layer.to_geopandas().geometry)[0]
    assert away((found[0], found[1]), expected) < CENTIMETRE
    reported = [note.message for note in layer.diagnostics if note.code == "datum-offset"]
    assert len(reported) == (off is not None)
    assert all(f"may be off by up to {off}" in message for message in reported), reported
    # GeoJSON is transformed in the same way, and the untransformed layer reports it before.
    plain = layer_with(prj, tmp_path, x, y)
    assert [note.message for note in plain.diagnostics if note.code == "datum-offset"] == reported
    position = plain.__geo_interface__["features"][0]["geometry"]["coordinates"]
    assert away((position[0], position[1]), expected) < CENTIMETRE


@pytest.mark.parametrize(
    ("code", "longitude", "latitude"),
    [
        (4152, -93.0, 42.0),
        (4152, -170.7, -14.3),
        (4152, -155.5, 19.6),
        (4152, -149.9, 61.2),
        (4152, 144.8, 13.4),
        (4269, -155.5, 19.6),
        (4269, -176.6, 51.9),
    ],
)
def test_offset_from_another_transformation_of_pyproj_is_within_the_reported_one(
    code: int, longitude: float, latitude: float, tmp_path: Path
) -> None:
    system = pyproj.CRS.from_epsg(code)
    to_wgs_84 = pyproj.Transformer.from_crs(system, 4326, always_xy=True)
    expected = to_wgs_84.transform(longitude, latitude)
    layer = layer_with(system.to_wkt("WKT1_ESRI").encode(), tmp_path, longitude, latitude, to_crs="EPSG:4326")
    found = shapely.get_coordinates(layer.to_geopandas().geometry)[0]
    (reported,) = [note.message for note in layer.diagnostics if note.code == "datum-offset"]
    figures = [float(metres) for metres in re.findall(r"up to ([\d.]+) m", reported)]
    assert len(figures) == 2, reported
    assert max(figures) >= max(away((found[0], found[1]), expected), to_wgs_84.get_last_used_operation().accuracy)


@pytest.mark.parametrize("code", [4267, 4230, 31467, 4618])
def test_datums_with_another_shift_in_each_region_are_an_error_that_names_them(code: int, tmp_path: Path) -> None:
    layer = layer_with(pyproj.CRS.from_epsg(code).to_wkt("WKT1_ESRI").encode(), tmp_path)
    with pytest.raises(hl.ArchiveError, match=r"its datum `.+` needs a shift or a shift grid"):
        layer.__geo_interface__  # noqa: B018
    assert not [note for note in layer.diagnostics if note.code == "datum-offset"]
