"""EPSG codes of .prj texts as ESRI and GDAL write them, for systems of the table: that of PROJ or none (design, 5)."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyogrio
import pyproj
import pytest
from epsg_table import DATUMS, plain
from shapefiles import POINT, Shape, shp, zipped

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = Path(__file__).resolve().parents[2] / "src" / "layer" / "crs" / "systems.txt"
CODES = sorted({int(code) for code in re.findall(r" [A-Z][a-zA-Z](\d+)", TABLE.read_text())})

EVERY = 1 if os.environ.get("HEADLAND_SERIES") else 25
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
    assert len(CODES) > 1500
    missing = []
    for number, code in enumerate([*CODES[:: min(EVERY, 3)], *DATUMS]):
        for prj in texts(pyproj.CRS.from_epsg(code)):
            found = code_of(prj)
            assert found in (None, code), (code, found, prj)
            # PROJ searches its whole database, which takes time.
            if number % EVERY == 0:
                assert found in (None, pyproj.CRS.from_wkt(prj).to_epsg(25)), (code, prj)
            missing += [(code, prj)] * (found is None)
    # ESRI writes the angles of oblique projections differently.
    assert not [(code, prj) for code, prj in missing if "Hotine" not in prj], missing
    assert len(missing) < 10


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
    for code in CODES[::7]:
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
