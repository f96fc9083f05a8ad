"""Codes of coordinate systems that their texts contradict, in every writer, and texts in lower case or curly quotes."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import geopandas as gpd
import pyarrow as pa
import pyproj
import pytest
import shapely
from shapefiles import POINT, Shape, shp, zipped

import headland as hl

if TYPE_CHECKING:
    from pathlib import Path

FEET = 'UNIT["Foot_US",0.304800609601219]'
GRADS = 'UNIT["grad",0.0157079632679489]'


def text_of(code: int, authority: str = "EPSG") -> str:
    """Return the text of ESRI, which states no code."""
    return pyproj.CRS.from_authority(authority, code).to_wkt("WKT1_ESRI")


def in_feet(text: str) -> str:
    return re.sub(r'UNIT\["Meter",1\.0\]', FEET, text)


def moved(text: str) -> str:
    """Return a text with a central meridian 3 degrees to the east."""
    return re.sub(r'(PARAMETER\["Central_Meridian",)([-\d.]+)', lambda found: f"{found[1]}{float(found[2]) + 3}", text)


def in_grads(text: str) -> str:
    return re.sub(r'UNIT\["Degree",[\d.]+\]', GRADS, text)


def in_degrees(text: str) -> str:
    return re.sub(r'UNIT\["Grad",[\d.]+\]', 'UNIT["Degree",0.0174532925199433]', text)


def stating(text: str, code: int, authority: str = "EPSG") -> str:
    return f'{text[:-1]},AUTHORITY["{authority}","{code}"]]'


def archive(prj: str | bytes, place: tuple[float, float]) -> bytes:
    content, index = shp(POINT, [Shape([[(*place, 0.0, 0.0)]])])
    return zipped({"t.shp": content, "t.shx": index, "t.prj": prj if isinstance(prj, bytes) else prj.encode()})


CONTRADICTED = {
    "state plane in feet": (in_feet(text_of(26930)), 26930, (600_000.0, 400_000.0)),
    "other zone": (moved(text_of(32612)), 32612, (500_000.0, 5e6)),
    "other projection": (text_of(32612), 32633, (500_000.0, 5e6)),
    "grads": (in_grads(text_of(4326)), 4326, (-120.0, 50.0)),
    "grads of a datum": (in_grads(text_of(4490)), 4490, (110.0, 40.0)),
    "degrees from Paris": (in_degrees(text_of(4807)), 4807, (1.0, 47.0)),
    "Mercator in feet": (in_feet(text_of(3395)), 3395, (1e6, 6e6)),
    "South Africa in feet": (in_feet(text_of(2049)), 2049, (50_000.0, 9_000_000.0)),
    "code of ESRI in feet": (in_feet(text_of(102004, "ESRI")), 102004, (1e5, 1e5)),
    "unknown code": (moved(text_of(32612)), 29901, (500_000.0, 5e6)),
    "code of another kind": (text_of(32612), 4326, (500_000.0, 5e6)),
}


@pytest.mark.parametrize(("text", "code", "place"), CONTRADICTED.values(), ids=CONTRADICTED.keys())
def test_text_decides_in_every_writer(text: str, code: int, place: tuple[float, float], tmp_path: Path) -> None:
    data = archive(stating(text, code), place)
    layer = hl.read(data)
    expected = pyproj.Transformer.from_crs(pyproj.CRS.from_wkt(text), 4326, always_xy=True).transform(*place)
    found: dict[str, Any] = {"to_geopandas": layer.to_geopandas()}
    layer.write_parquet(tmp_path / "t.parquet")
    found["write_parquet"] = gpd.read_parquet(tmp_path / "t.parquet")
    extension = json.loads(pa.schema(layer).field("geometry").metadata[b"ARROW:extension:metadata"])
    found["Arrow"] = gpd.GeoDataFrame(geometry=[shapely.Point(place)], crs=pyproj.CRS.from_user_input(extension["crs"]))
    assert layer.crs is not None
    found["crs"] = gpd.GeoDataFrame(geometry=[shapely.Point(place)], crs=layer.crs)
    found = {door: frame.to_crs(4326) for door, frame in found.items()}
    if "own-plane" not in [each.code for each in layer.diagnostics]:
        layer.write_geojson(tmp_path / "t.geojson")
        found["write_geojson"] = gpd.read_file(tmp_path / "t.geojson")
        found["to_crs"] = hl.read(data, to_crs="EPSG:4326").to_geopandas()
    for door, frame in found.items():
        point = frame.geometry.iloc[0]
        away = pyproj.Geod(ellps="WGS84").inv(point.x, point.y, *expected)[2]
        assert away < 5, (door, point, expected)
    assert {"crs-code-contradicts", "crs-code-unverified"} & {each.code for each in layer.diagnostics} or (
        layer.crs == "EPSG:32612"
    )


AGREED = {
    "EPSG:26930": text_of(26930),
    "EPSG:2049": text_of(2049),
    "EPSG:3395": text_of(3395),
    "EPSG:3832": text_of(3832),
    "EPSG:4490": text_of(4490),
    "EPSG:4807": text_of(4807),
    "ESRI:102004": text_of(102004, "ESRI"),
    "ESRI:102033": text_of(102033, "ESRI"),
}


@pytest.mark.parametrize(("code", "text"), AGREED.items(), ids=AGREED.keys())
def test_code_that_agrees_is_believed(code: str, text: str) -> None:
    authority, number = code.split(":")
    layer = hl.read(archive(stating(text, int(number), authority), (1.0, 1.0)))
    assert layer.crs == code
    assert layer.to_geopandas().crs == pyproj.CRS.from_user_input(code)
    assert not [each for each in layer.diagnostics if each.code.startswith("crs-code")]


def test_code_of_an_unknown_projection_is_not_compared() -> None:
    text = stating(text_of(5514), 5514)
    layer = hl.read(archive(text, (-600_000.0, -1_100_000.0)))
    assert layer.crs == text
    assert "crs-code-unverified" in [each.code for each in layer.diagnostics]


def test_letter_case_and_quotes_of_a_text_do_not_matter() -> None:
    for code in (4326, 32612, 26930, 5070, 27700, 31370):
        text = text_of(code)
        expected = hl.read(archive(text, (1.0, 1.0))).crs
        curly = re.sub('"([^"]*)"', "\u201c\\1\u201d", text)
        german = re.sub('"([^"]*)"', "\u201e\\1\u201c", text)
        right = text.replace('"', "\u201d")
        for variant in (text.lower(), text.upper(), curly, german, right, curly.encode("cp1252"), curly.lower()):
            assert hl.read(archive(variant, (1.0, 1.0))).crs == expected, variant
        if expected != text:
            assert expected == f"EPSG:{code}"
