"""Columns of one name: where one column is wanted, none of several is taken in silence."""

from __future__ import annotations

import json

import pytest
from shapefiles import POINT, Field, Shape, dbf, shp, zipped

import headland as hl

NOWHERE = shp(POINT, [Shape([[(0.0, 0.0, 0.0, 0.0)]]), Shape([[(1.0, 1.0, 0.0, 0.0)]])])
"""Two points in a system that nobody tells, and their index."""


def test_one_of_several_columns_of_one_name_is_never_taken_for_all_of_them() -> None:
    fields = [Field(b"DAY", "C", 8), Field(b"YIELD", "N", 4), Field(b"DAY", "D", 8), Field(b"YIELD", "N", 4)]
    rows = [[b"20260901", b"   1", b"20260902", b"   3"], [b"20260901", b"   1", b"20260902", b"   4"]]
    units = json.dumps({"DataAttributes": [{"Name": "Yield", "Unit": "bu/ac"}]}).encode()
    source = zipped(
        {"t.dbf": dbf(fields, rows), "t-Deere-Metadata.json": units}
        | dict(zip(("t.shp", "t.shx"), NOWHERE, strict=True))
    )
    for layer in (hl.read(source), next(hl.open(source))):
        told = r"^2 columns are called `YIELD`, those at the places \[1, 3\]: `to_arrow\(\).column\(1\)` and "
        with pytest.raises(ValueError, match=told):
            layer.values("YIELD")
        assert layer.to_arrow().column(3).to_pylist() == [3, 4]
        with pytest.raises(ValueError, match="2 columns are called `YIELD`"):
            layer.picture("YIELD", crs="as-is")
        with pytest.raises(ValueError, match="2 columns are called `DAY`"):
            layer.with_time("when", date="DAY", zone="UTC")
        assert layer.units == {"YIELD": "bu/ac"}
        # The map that nobody chose a column for is of the first whose numbers differ, which is the second of that name.
        assert ">4<" in layer.picture(crs="as-is")
    assert hl.read(source, columns=["YIELD"]).columns == ["YIELD", "YIELD", "geometry"]
