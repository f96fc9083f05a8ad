"""Duplicate column names: where one column is needed, an ambiguous name is an error."""

from __future__ import annotations

import json

import pytest
from shapefiles import POINT, Field, Shape, dbf, shp, zipped

import headland as hl

NOWHERE = shp(POINT, [Shape([[(0.0, 0.0, 0.0, 0.0)]]), Shape([[(1.0, 1.0, 0.0, 0.0)]])])
"""Two points in an unknown system, and their index."""


def test_duplicate_column_name_is_never_resolved_silently() -> None:
    fields = [Field(b"DAY", "C", 8), Field(b"YIELD", "N", 4), Field(b"DAY", "D", 8), Field(b"YIELD", "N", 4)]
    rows = [[b"20260901", b"   1", b"20260902", b"   3"], [b"20260901", b"   1", b"20260902", b"   4"]]
    units = json.dumps({"DataAttributes": [{"Name": "Yield", "Unit": "bu/ac"}]}).encode()
    source = zipped(
        {"t.dbf": dbf(fields, rows), "t-Deere-Metadata.json": units}
        | dict(zip(("t.shp", "t.shx"), NOWHERE, strict=True))
    )
    for layer in (hl.read(source), next(hl.open(source))):
        message = r"^2 columns have the name `YIELD`, at the positions \[1, 3\]: select one with `to_arrow\(\).column"
        with pytest.raises(ValueError, match=message):
            layer.values("YIELD")
        assert layer.to_arrow().column(3).to_pylist() == [3, 4]
        with pytest.raises(ValueError, match="2 columns have the name `YIELD`"):
            layer.picture("YIELD", crs="as-is")
        with pytest.raises(ValueError, match="2 columns have the name `DAY`"):
            layer.with_time("when", date="DAY", zone="UTC")
        assert layer.units == {"YIELD": "bu/ac"}
        # Without a selected column, the map shows the first whose numbers differ: the second of that name.
        assert ">4<" in layer.picture(crs="as-is")
    assert hl.read(source, columns=["YIELD"]).columns == ["YIELD", "YIELD", "geometry"]
