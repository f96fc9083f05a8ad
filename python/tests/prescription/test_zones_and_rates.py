"""Tests of zones and rates that a prescription must not change silently: ground, holes, steps and mappings."""

from __future__ import annotations

import io
import zipfile
from decimal import Decimal
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import shapefile
import shapely
from prescription_members import WGS84

import headland as hl

SIDE = 0.001


def box(column: float, row: float = 0, width: float = 1, height: float = 1) -> shapely.Polygon:
    """Return a cell in degrees."""
    west, south = -111 + column * SIDE, 45.5 + row * SIDE
    return shapely.box(west, south, west + width * SIDE, south + height * SIDE)


def frame(shapes: list[Any], crs: int | None = 4326, **columns: Any) -> gpd.GeoDataFrame:
    """Return zones with the rates 100, 101, ... unless others are given."""
    return gpd.GeoDataFrame({"rate": [100.0 + n for n in range(len(shapes))]} | columns, geometry=shapes, crs=crs)


def codes(found: list[hl.Diagnostic]) -> list[str]:
    """Return the codes of diagnostics."""
    return [each.code for each in found]


PARTS = {
    "overlapping": ([box(0, 0, 2), box(1, 0, 2)], box(0, 0, 3)),
    "twice": ([box(0), box(0)], box(0)),
    "in another": ([box(0, 0, 3, 3), box(1, 1)], box(0, 0, 3, 3)),
    "beside a part": ([box(0), box(5, 0, 2), box(6, 0, 2)], shapely.MultiPolygon([box(0), box(5, 0, 3)])),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_a_zone_that_overlap_count_once_and_are_an_error(name: str) -> None:
    parts, union = PARTS[name]
    zones = frame([box(20), shapely.MultiPolygon(parts)])
    once = hl.Prescription(frame([union]), "rate", unit="kg/ha").totals.area
    rx = hl.Prescription(zones, "rate", unit="kg/ha")
    (found,) = rx.diagnostics
    assert (found.code, found.record, found.severity) == ("rx-parts-overlap", 1, "error")
    twice = hl.Prescription(frame(parts), "rate", unit="kg/ha").totals.area - once
    assert f"row 1: polygons of one zone overlap, on {twice:.2f} ha" in found.message
    first, second = rx.totals.rates
    assert second.area == pytest.approx(once, rel=1e-6)
    assert rx.totals.amount == pytest.approx(100 * first.area + 101 * once, rel=1e-6)
    assert codes(hl.check_prescription(zones)) == ["rx-parts-overlap"]
    assert codes(hl.check_prescription(bytes(rx))) == ["rx-parts-overlap"]


def test_ground_of_many_parts_and_their_holes_counts_once() -> None:
    ring = shapely.Polygon(box(0, 0, 4, 4).exterior, [box(1, 1, 2, 2).exterior])
    zone = shapely.MultiPolygon([ring, ring, box(1.5, 1.5), box(1, 1, 2, 2), ring])
    rx = hl.Prescription(frame([zone, box(0, 0, 4, 4)]), "rate", unit="kg/ha")
    assert codes(rx.diagnostics) == ["rx-parts-overlap", "rx-zones-overlap"]
    first, second = rx.totals.rates
    assert first.area == pytest.approx(second.area, rel=1e-6)


def test_rings_that_pyshp_writes_twice_count_once() -> None:
    shp, shx, dbf = io.BytesIO(), io.BytesIO(), io.BytesIO()
    ring = [list(point) for point in box(0).exterior.coords]
    with shapefile.Writer(shp=shp, shx=shx, dbf=dbf, shapeType=shapefile.POLYGON) as writer:
        writer.field("RATE", "N", 10, 2)
        writer.poly([ring, ring])
        writer.record(80)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as target:
        for extension, member in (("shp", shp), ("shx", shx), ("dbf", dbf)):
            target.writestr(f"rx.{extension}", member.getvalue())
        target.writestr("rx.prj", WGS84)
    assert codes(hl.check_prescription(content.getvalue())) == ["rx-parts-overlap"]
    rx = hl.Prescription(hl.read(content.getvalue()), "RATE", unit="kg/ha")
    assert rx.totals.area == pytest.approx(hl.Prescription(frame([box(0)]), 80, unit="kg/ha").totals.area)


def test_parts_of_the_boundary_that_overlap_are_no_gap() -> None:
    field = gpd.GeoDataFrame(geometry=[shapely.MultiPolygon([box(0, 0, 2), box(1, 0, 2)]), box(0)], crs=4326)
    assert hl.check_prescription(frame([box(0), box(1), box(2)]), boundary=field) == []


OUTER = box(0).exterior
HOLES = {
    "outside": shapely.Polygon(OUTER, [box(3).exterior]),
    "outside and smaller": shapely.Polygon(OUTER, [box(3, 0, 0.5, 0.5).exterior]),
    "in another hole": shapely.Polygon(OUTER, [box(0.2, 0.2, 0.6, 0.6).exterior, box(0.4, 0.4, 0.2, 0.2).exterior]),
    "twice": shapely.Polygon(OUTER, [box(0.2, 0.2, 0.6, 0.6).exterior] * 2),
    "of all ground": shapely.Polygon(OUTER, [OUTER]),
    "across the ring": shapely.Polygon(OUTER, [box(0.7, 0.2, 0.6, 0.6).exterior]),
}


@pytest.mark.parametrize("name", HOLES)
def test_hole_that_is_not_in_its_ring_is_an_invalid_ring(name: str) -> None:
    zones = frame([box(8), HOLES[name]])
    for found in (hl.check_prescription(zones), hl.Prescription(zones, "rate", unit="kg/ha").diagnostics):
        assert [(each.code, each.record) for each in found] == [("rx-invalid-ring", 1)], found


def test_hole_outside_of_its_ring_takes_no_ground() -> None:
    zones = frame([HOLES["outside"]])
    totals = hl.Prescription(zones, "rate", unit="kg/ha").totals
    assert totals.area == pytest.approx(hl.Prescription(frame([box(0)]), "rate", unit="kg/ha").totals.area, rel=1e-6)


STEPS = [
    (0.1, {0.05: 0.1, 0.15: 0.2, 0.25: 0.3, 0.35: 0.4, 1.05: 1.1, 1.15: 1.2, 0.149: 0.1, 8.35: 8.4}),
    (0.05, {0.025: 0.05, 0.075: 0.1, 0.125: 0.15, 0.175: 0.2, 1.025: 1.05, 0.1249: 0.1}),
    (0.25, {0.125: 0.25, 0.375: 0.5, 0.625: 0.75, 1.1: 1.0}),
    (0.2, {0.1: 0.2, 0.3: 0.4, 0.7: 0.8, 0.1 + 0.2: 0.4}),
    (5, {2.5: 5, 7.5: 10, 12.4: 10}),
]


@pytest.mark.parametrize(("step", "expected"), STEPS, ids=[str(step) for step, _ in STEPS])
def test_halves_of_a_step_are_rounded_up(step: float, expected: dict[float, float]) -> None:
    zones = frame([box(2 * n) for n in range(len(expected))], rate=list(expected))
    assert hl.Prescription(zones, "rate", unit="kg/ha", step=step).layer.values("RATE") == list(expected.values())


def test_rate_that_the_step_rounds_to_zero_is_a_warning_that_names_the_row() -> None:
    zones = frame([box(0), box(2), box(4), box(6)], rate=[0.0, 10.0, 2.0, 1.5])
    (found,) = hl.Prescription(zones, "rate", unit="kg/ha", step=5).diagnostics
    assert (found.code, found.record, found.severity) == ("rate-to-zero", 2, "warning")
    assert "2 of 4 rates" in found.message
    assert "2 of row 2" in found.message
    assert hl.Prescription(zones.iloc[:2], "rate", unit="kg/ha", step=5).diagnostics == []


def test_errors_are_before_warnings_also_of_rounding() -> None:
    zones = frame([box(0), box(2), box(4)], rate=[-20.0, 10.0, 2.0])
    assert codes(hl.Prescription(zones, "rate", unit="kg/ha", step=5).diagnostics) == ["rate-negative", "rate-to-zero"]


def test_zones_without_a_coordinate_system_are_said() -> None:
    (found,) = hl.check_prescription(frame([box(0), box(1)], None))
    assert (found.code, found.severity) == ("no-prj", "warning")
    assert "set_crs" in found.message


BOUNDARIES = {
    "line": (gpd.GeoDataFrame(geometry=[box(0).exterior], crs=4326), "row 0 is not a polygon"),
    "line behind a polygon": (gpd.GeoDataFrame(geometry=[box(0), box(0).exterior], crs=4326), "row 1 is not a polygon"),
    "point": (gpd.GeoDataFrame(geometry=[shapely.Point(-111, 45.5)], crs=4326), "row 0 is not a polygon"),
    "null": (gpd.GeoDataFrame(geometry=[None], crs=4326), "no polygon with an area"),
    "flat": (
        gpd.GeoDataFrame(geometry=[shapely.Polygon([(0, 0), (1, 1), (2, 2)])], crs=4326),
        "no polygon with an area",
    ),
    "no system": (gpd.GeoDataFrame(geometry=[box(0)]), "has no coordinate system"),
}


@pytest.mark.parametrize("name", BOUNDARIES)
def test_boundary_without_polygons_is_an_error_that_names_the_argument(name: str) -> None:
    field, message = BOUNDARIES[name]
    zones = frame([box(0), box(1)])
    with pytest.raises(ValueError, match=rf"`boundary`.*{message}"):
        hl.check_prescription(zones, boundary=field)
    with pytest.raises(ValueError, match=rf"`boundary`.*{message}"):
        hl.Prescription(zones, "rate", unit="kg/ha", boundary=field)


MAPPINGS: dict[str, tuple[Any, dict[Any, Any]]] = {
    "floats by integers": ([1.0, 2.0], {1: 80, 2: 90}),
    "floats of numpy": (np.array([1, 2], np.float32), {1: 80, 2: 90}),
    "integers by floats": ([1, 2], {1.0: 80, 2.0: 90}),
    "integers by texts": ([1, 2], {"1": 80, "2": 90}),
    "integers by numpy": ([1, 2], {np.int64(1): 80, np.float64(2): 90}),
    "nullable integers": (pd.array([1, 2], "Int64"), {1: 80, 2: np.float32(90)}),
    "decimals": ([Decimal("1.0"), Decimal("2.5")], {1: 80, 2.5: 90}),
    "texts": (["A", "B"], {"A": Decimal(80), "B": 90}),
}


@pytest.mark.parametrize("name", MAPPINGS)
def test_zone_of_any_type_finds_its_rate(name: str) -> None:
    zones, rates = MAPPINGS[name]
    rx = hl.Prescription(frame([box(0), box(2)], zone=zones), rates, unit="kg/ha")
    assert rx.layer.values("RATE") == [80, 90]
    assert rx.diagnostics == []


def test_mapping_that_does_not_fit_the_zones_is_said() -> None:
    zones = frame([box(0), box(2)], zone=[1.0, 2.0])
    rx = hl.Prescription(zones, {1: 80, 2: 90, 3: 100, "north": 5}, unit="kg/ha")
    (found,) = rx.diagnostics
    assert (found.code, found.severity) == ("rate-without-zone", "warning")
    assert "3, 'north'" in found.message
    assert codes(hl.check_prescription(rx)) == ["rate-without-zone"]
    with pytest.raises(ValueError, match=r"zone 1\.5 of row 0"):
        hl.Prescription(frame([box(0)], zone=[1.5]), {1: 80}, unit="kg/ha")
    with pytest.raises(ValueError, match="zone '1' is twice"):
        hl.Prescription(zones, {1: 80, 2: 90, "1": 100}, unit="kg/ha")
    with pytest.raises(TypeError, match=r"rate\[2\]"):
        hl.Prescription(zones, {1: 80, 2: "90"}, unit="kg/ha")  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="one column `zone`, and the zones have 2"):
        hl.Prescription(frame([box(0)], zone=[1], ZONE=[1]), {1: 80}, unit="kg/ha")


@pytest.mark.parametrize("kind", [pa.decimal128(10, 2), pa.decimal256(50, 2)], ids=str)
def test_rates_of_decimals_are_numbers(kind: pa.DataType) -> None:
    rates = pa.array([Decimal("80.25"), Decimal("90.50")], kind)
    wkb = pa.array(shapely.to_wkb([box(0), box(2)]), pa.binary())
    field = pa.field("geometry", wkb.type, metadata={"ARROW:extension:name": "geoarrow.wkb"})
    field = field.with_metadata({**field.metadata, b"ARROW:extension:metadata": b'{"crs": "EPSG:4326"}'})
    table = pa.table([rates, wkb], schema=pa.schema([pa.field("rate", kind), field]))
    assert hl.Prescription(table, "rate", unit="kg/ha").layer.values("RATE") == [80.25, 90.5]
    assert hl.check_prescription(table) == []


@pytest.mark.parametrize("column", ["UNIT", "unit of the column"])
def test_unit_that_the_zones_contradict_is_an_error(column: str) -> None:
    zones = frame([box(0), box(2)])
    if column == "UNIT":
        stated: Any = zones.assign(UNIT=["L/ha", "L/ha"])
    else:
        stated = hl.Prescription(zones, "rate", unit="L/ha").layer
    rate = "rate" if column == "UNIT" else "RATE"
    assert hl.Prescription(stated, rate, unit="L/ha").totals.amount > 0
    for other in ("gal/ac", "kg/ha"):
        with pytest.raises(ValueError, match=rf"`unit`: the rates of column `{rate}` are in L/ha, not in {other}"):
            hl.Prescription(stated, rate, unit=other)
    assert hl.Prescription(zones.assign(UNIT=["as the dealer says", None]), "rate", unit="kg/ha").diagnostics == []


def test_boundary_that_is_invalid_or_of_another_field_has_no_rest() -> None:
    zones = frame([box(0)])
    bow = shapely.Polygon([(-111, 45), (-110.9, 45.1), (-110.9, 45), (-111, 45.1)])
    for shape, why in ((bow, "row 0 is invalid"), (shapely.box(10, 50, 10.1, 50.1), "no zone is inside of it")):
        boundary = gpd.GeoDataFrame(geometry=[shape], crs=4326)
        with pytest.raises(ValueError, match=f"`boundary`: {why}"):
            hl.Prescription(zones, "rate", unit="kg/ha", boundary=boundary, default=5)


def test_rates_of_32_bits_are_the_decimals_that_they_were() -> None:
    zones = frame([box(0), box(2), box(4)])
    narrow = zones.assign(rate=np.array([80.1, 80.2, 0.125], dtype=np.float32))
    rx = hl.Prescription(narrow, "rate", unit="kg/ha")
    assert ([each.rate for each in rx.totals.rates], rx.diagnostics) == ([0.125, 80.1, 80.2], [])
    exact = 0.1 + 2**-30
    assert (
        hl.Prescription(zones.assign(rate=exact), "rate", unit="kg/ha", step=None).diagnostics[0].code == "rate-rounded"
    )
    with pytest.raises(ValueError, match="`rate`: column `rate` is 1e\\+300 in row 1, which no machine applies"):
        hl.Prescription(zones.assign(rate=[1.0, 1e300, 2.0]), "rate", unit="kg/ha")
