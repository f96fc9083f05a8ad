"""EPSG codes of .prj texts as ESRI and GDAL write them, for systems of the table: that of PROJ or none (design, 5)."""

from __future__ import annotations

import json
import os
import re
import struct
from typing import TYPE_CHECKING

import geopandas as gpd
import pyarrow as pa
import pyarrow.parquet as pq
import pyogrio
import pyproj
import pytest
import shapely
from checkout import ROOT
from epsg_datums import own_datums
from epsg_table import LAST_OF_EPSG, plain
from shapefiles import POINT, RINGS, M, Shape, shp, zipped

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TABLE = ROOT / "src" / "reader" / "layer" / "crs" / "systems.txt"
CODES = sorted({int(code) for code in re.findall(r" \d+[a-zA-Z](\d+)", TABLE.read_text()) if int(code) <= LAST_OF_EPSG})
LINES = [line.split("|") for line in TABLE.with_name("datums.txt").read_text().splitlines()[1:]]
GEOGRAPHIC = sorted({int(line[0]) for line in LINES if not line[4]} | own_datums())

EVERY = 1 if os.environ.get("HEADLAND_SERIES") else 50
"""Number of systems for each query of PROJ's database; a long series queries each."""

FARMED = {
    2193: "New Zealand",
    3035: "LAEA Europe",
    2154: "Lambert-93",
    27700: "British National Grid",
    28992: "Amersfoort / RD New",
    3006: "SWEREF99 TM",
    2180: "Poland CS92",
    31467: "Gauss-Krüger zone 3",
    25832: "ETRS89 / UTM 32N",
    28355: "MGA zone 55",
    7855: "MGA2020 zone 55",
    31982: "SIRGAS 2000 / UTM 22S",
    22175: "POSGAR 98 zone 5",
    5347: "POSGAR 2007 zone 4",
    2225: "California zone 1, feet",
    26915: "NAD83 / UTM 15N",
    6344: "NAD83(2011) / UTM 15N",
    2957: "NAD83(CSRS) / UTM 13N",
    32633: "WGS 84 / UTM 33N",
    3857: "web maps",
    5070: "Conus Albers",
    4258: "ETRS89",
    4674: "SIRGAS 2000",
    4283: "GDA94",
    4167: "NZGD2000",
    4617: "NAD83(CSRS)",
}


def archive(prj: str) -> bytes:
    content, index = shp(POINT, [Shape([[(1.0, 1.0, 0.0, 0.0)]])])
    return zipped({"t.shp": content, "t.shx": index, "t.prj": prj.encode()})


def texts(system: pyproj.CRS) -> Iterator[str]:
    """Return the text of ESRI, and that of GDAL without the codes."""
    yield system.to_wkt("WKT1_ESRI")
    yield re.sub(r',AUTHORITY\["EPSG","\d+"\]', "", system.to_wkt("WKT1_GDAL"))


def code_of(prj: str) -> int | None:
    crs = hl.read(archive(prj)).crs or ""
    return int(crs.removeprefix("EPSG:")) if crs.startswith("EPSG:") else None


def test_every_system_of_the_table_has_its_code_from_either_dialect_and_never_another() -> None:
    assert len(CODES) > 4900
    missing = []
    for number, code in enumerate([*CODES[:: min(EVERY, 9)], *GEOGRAPHIC[:: min(EVERY, 3)]]):
        for prj in texts(pyproj.CRS.from_epsg(code)):
            found = code_of(prj)
            assert found in (None, code), (code, found, prj)
            # PROJ searches its whole database, which takes time.
            if number % EVERY == 0:
                theirs = pyproj.CRS.from_wkt(prj).to_epsg(25)
                assert found in (None, theirs) or (theirs and is_same_with_other_axes(code, theirs)), (code, prj)
            missing += [(code, prj)] * (found is None)
    # ESRI writes the angles of oblique projections and the parallel of Mercator differently.
    differs = re.compile('Hotine|Skew_Orthomorphic|"Mercator"')
    assert not [(code, prj) for code, prj in missing if not differs.search(prj)], missing
    assert len(missing) < 10


def is_same_with_other_axes(code: int, other: int) -> bool:
    """Whether another code is the same system with the longitude first."""
    return pyproj.CRS.from_epsg(other).name == f"{pyproj.CRS.from_epsg(code).name} (lon-lat)"


@pytest.mark.parametrize("code", sorted(FARMED))
def test_frames_have_the_code_that_those_of_gdal_have(code: int, tmp_path: Path) -> None:
    for number, prj in enumerate(texts(pyproj.CRS.from_epsg(code))):
        path = tmp_path / f"{number}.zip"
        path.write_bytes(archive(prj))
        layer = hl.read(path)
        gdal = pyogrio.read_info(f"/vsizip/{path}/t.shp")["crs"]
        crs = layer.to_geopandas().crs
        assert crs.to_epsg() == code, (prj, crs.to_json())
        assert pyproj.CRS.from_user_input(gdal).to_epsg() in (code, None), gdal
        # The system of the code, with its own order of axes, so that other packages recognise it.
        assert crs.equals(pyproj.CRS.from_epsg(code), ignore_axis_order=False) or crs.to_epsg(100) == code


def test_the_system_in_the_schema_is_the_one_of_its_code() -> None:
    for code in CODES[::19]:
        schema = pa.table(hl.read(archive(pyproj.CRS.from_epsg(code).to_wkt("WKT1_ESRI")))).schema
        extension = json.loads(schema.field("geometry").metadata[b"ARROW:extension:metadata"])
        assert pyproj.CRS.from_json_dict(extension["crs"]).to_epsg() == code, extension


def test_a_system_that_differs_in_one_number_or_name_has_no_code() -> None:
    for code in (2193, 3035, 2225, 31467, 27700, 26915):
        text = pyproj.CRS.from_epsg(code).to_wkt("WKT1_ESRI")
        for parameter in re.findall(r'PARAMETER\["[^"]+",(-?[0-9.]+)\]', text):
            moved = text.replace(f",{parameter}]", f",{float(parameter) + 0.01}]")
            assert code_of(moved) is None, moved
        assert code_of(re.sub(r'DATUM\["[^"]+"', 'DATUM["D_Somewhere"', text)) is None
        assert code_of(text.replace('UNIT["Meter",1.0]', 'UNIT["Foot",0.3048]')) is None or code == 2225
    # Two codes have equal definitions except for the order of axes: only a name distinguishes them.
    zone = pyproj.CRS.from_epsg(31467).to_wkt("WKT1_ESRI")
    assert code_of(zone) == 31467
    assert code_of(zone.replace("DHDN_3_Degree_Gauss_Zone_3", "Field_Map")) is None
    assert plain("DHDN_3_Degree_Gauss_Zone_3") == "dhdn3degreegausszone3"


def square(prj: str, x: float, y: float) -> hl.Layer:
    ring = [(x, y), (x, y + 100), (x + 100, y + 100), (x + 100, y), (x, y)]
    content, index = shp(RINGS, [Shape([[(x, y, 0.0, 0.0) for x, y in ring]])])
    return hl.read(zipped({"t.shp": content, "t.shx": index, "t.prj": prj.encode()}))


def test_text_decides_about_a_code_that_contradicts_it(tmp_path: Path) -> None:
    metres = pyproj.CRS.from_epsg(26930).to_wkt("WKT1_GDAL")
    feet = metres.replace('UNIT["metre",1,AUTHORITY["EPSG","9001"]]', 'UNIT["US survey foot",0.304800609601219]')
    feet = feet.replace('"false_easting",600000', '"false_easting",1968500')
    assert feet != metres
    x, y = 2_186_000.0, 1_172_000.0
    layer = square(feet, x, y)
    assert [note.code for note in layer.diagnostics if note.code.startswith("crs")] == ["crs-code-contradicts"]
    assert "EPSG:26930" in next(note.message for note in layer.diagnostics if note.code == "crs-code-contradicts")
    assert layer.crs != "EPSG:26930"
    truth = pyproj.Transformer.from_crs(re.sub(r',AUTHORITY\["EPSG","26930"\]', "", feet), 4326, always_xy=True)
    expected = truth.transform(x, y)
    layer.write_parquet(tmp_path / "t.parquet")
    for frame in (layer.to_geopandas(), gpd.read_parquet(tmp_path / "t.parquet")):
        west, south, _, _ = frame.to_crs(4326).total_bounds
        assert (west, south) == pytest.approx(expected, abs=1e-5)
        assert frame.crs.to_epsg() != 26930
    assert not [note for note in square(metres, 6e5, 1e5).diagnostics if note.code == "crs-code-contradicts"]


def test_numbers_of_esri_are_codes_of_esri() -> None:
    text = pyproj.CRS.from_authority("ESRI", 102004).to_wkt("WKT1_ESRI")
    for stated in ("EPSG", "ESRI"):
        layer = square(f'{text[:-1]},AUTHORITY["{stated}","102004"]]', 1e5, 1e5)
        assert layer.crs == "ESRI:102004"
        assert layer.to_geopandas().crs.to_string() == "ESRI:102004"
    assert square(text, 1e5, 1e5).crs == text


def test_web_mercator_of_geotools_is_web_mercator() -> None:
    text = (
        'PROJCS["WGS 84 / Pseudo-Mercator", GEOGCS["WGS 84", DATUM["World Geodetic System 1984", SPHEROID["WGS 84",'
        ' 6378137.0, 298.257223563]], PRIMEM["Greenwich", 0.0], UNIT["degree", 0.017453292519943295], AXIS["Geodetic'
        ' longitude", EAST], AXIS["Geodetic latitude", NORTH]], PROJECTION["Popular Visualisation Pseudo Mercator"],'
        ' PARAMETER["semi_minor", 6378137.0], PARAMETER["latitude_of_origin", 0.0], PARAMETER["central_meridian", 0.0],'
        ' PARAMETER["scale_factor", 1.0], PARAMETER["false_easting", 0.0], PARAMETER["false_northing", 0.0], UNIT["m",'
        ' 1.0], AXIS["Easting", EAST], AXIS["Northing", NORTH], AUTHORITY["EPSG","3857"]]'
    )
    layer = square(text, 1e6, 6e6)
    assert layer.crs == "EPSG:3857"
    # A metre of the map is 0.68 m there.
    assert layer.area() == pytest.approx(4610.0, rel=0.01)
    wrong = square(text.replace('"semi_minor", 6378137.0', '"semi_minor", 6300000.0'), 1e6, 6e6)
    assert "crs-without-projjson" in [note.code for note in wrong.diagnostics]


def test_two_parallels_take_a_scale() -> None:
    zone = (
        'PROJCS["IaRCS_04",GEOGCS["GCS_NAD_1983_2011",DATUM["D_NAD_1983_2011",SPHEROID["GRS_1980",6378137.0,'
        '298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION['
        '"Lambert_Conformal_Conic"],PARAMETER["False_Easting",14500000.0],PARAMETER["False_Northing",8600000.0],'
        'PARAMETER["Central_Meridian",-94.83333333333333],PARAMETER["Standard_Parallel_1",42.53333333333333],'
        'PARAMETER["Standard_Parallel_2",42.53333333333333],PARAMETER["Scale_Factor",1.000045],PARAMETER['
        '"Latitude_Of_Origin",42.53333333333333],UNIT["Foot_US",0.3048006096012192]]'
    )
    layer = square(zone, 14_600_000.0, 8_650_000.0)
    expected = pyproj.Transformer.from_crs(zone, 4326, always_xy=True).transform(14_600_000.0, 8_650_000.0)
    theirs = shapely.get_coordinates(layer.to_geopandas().to_crs(4326).geometry)
    for positions in (theirs, layer.__geo_interface__["features"][0]["geometry"]["coordinates"][0]):
        assert min(abs(x - expected[0]) + abs(y - expected[1]) for x, y in positions) < 1e-8
    assert pyproj.CRS.from_epsg(6201).to_epsg() == code_of(pyproj.CRS.from_epsg(6201).to_wkt("WKT1_ESRI"))


@pytest.mark.parametrize("scale", ["-1.0", "1.0"])
def test_axes_that_point_west_and_south(scale: str) -> None:
    name = "Transverse_Mercator" if scale == "-1.0" else "Transverse_Mercator_South_Orientated"
    text = re.sub(r'PROJECTION\["\w+"\]', f'PROJECTION["{name}"]', pyproj.CRS.from_epsg(2053).to_wkt("WKT1_ESRI"))
    layer = square(re.sub(r'"scale_factor",1.0', f'"scale_factor",{scale}', text), 50_000.0, 3_000_000.0)
    expected = pyproj.Transformer.from_crs(2053, 4326, always_xy=True).transform(50_000.0, 3_000_000.0)
    positions = layer.__geo_interface__["features"][0]["geometry"]["coordinates"][0]
    assert min(abs(x - expected[0]) + abs(y - expected[1]) for x, y in positions) < 1e-8
    west, south, _, _ = layer.to_geopandas().to_crs(4326).total_bounds
    assert (west, south) == pytest.approx((min(x for x, _ in positions), min(y for _, y in positions)), abs=1e-8)


def test_geoparquet_has_neither_m_nor_triangles(tmp_path: Path) -> None:
    content, index = shp(POINT + M, [Shape([[(10.0, 50.0, 0.0, 7.0)]])])
    layer = hl.read(zipped({"t.shp": content, "t.shx": index}))
    with pytest.warns(hl.HeadlandWarning, match="the M values of layer `t` are not in"):
        layer.write_parquet(tmp_path / "t.parquet")
    frame = gpd.read_parquet(tmp_path / "t.parquet")
    assert frame.geometry[0].wkt == "POINT (10 50)"
    assert json.loads(pq.read_schema(tmp_path / "t.parquet").metadata[b"geo"])["columns"]["geometry"][
        "geometry_types"
    ] == ["Point"]
    # A surface of triangles is a polygon of each.
    ring = [(0, 0), (0, 1), (1, 1), (0, 0)]
    body = struct.pack("<i4dii", 31, 0, 0, 1, 1, 1, 4) + struct.pack("<ii", 0, 0)
    body += b"".join(struct.pack("<dd", *vertex) for vertex in ring) + struct.pack("<6d", 0, 1, 0, 1, 0, 0)
    head = struct.pack("<ii8d", 1000, 31, *[0.0] * 8)
    size = struct.pack(">7i", 9994, 0, 0, 0, 0, 0, (108 + len(body)) // 2)
    whole = size + head + struct.pack(">ii", 1, len(body) // 2) + body
    short = struct.pack(">7i", 9994, 0, 0, 0, 0, 0, 54) + head + struct.pack(">ii", 50, len(body) // 2)
    layer = hl.read(zipped({"t.shp": whole, "t.shx": short}))
    layer.write_parquet(tmp_path / "s.parquet")
    frame = gpd.read_parquet(tmp_path / "s.parquet")
    assert frame.geometry[0].geom_type == "MultiPolygon"
    assert frame.geometry[0].has_z
    assert frame.geometry[0].area == pytest.approx(1.0)
