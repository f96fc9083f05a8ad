"""Packs tables with columns of dates and times: shapefiles and FMIS tables."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import shapefile  # pyshp

import headland as hl


def layer_of(days: list[Any], times: list[str] | None = None, *, as_text: bool = False) -> hl.Layer:
    """Return a layer with a column of dates (or texts) and one of times of day."""
    shp, shx, dbf = io.BytesIO(), io.BytesIO(), io.BytesIO()
    writer = shapefile.Writer(shp=shp, shx=shx, dbf=dbf, shapeType=shapefile.POINT)
    writer.field("DAY", "C" if as_text else "D", 40 if as_text else 8)
    writer.field("TIME", "C", 20)
    for row, day in enumerate(days):
        writer.point(row, 50)
        writer.record(day, "" if times is None else times[row])
    writer.close()
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        for name, part in (("shp", shp), ("shx", shx), ("dbf", dbf)):
            archive.writestr(f"t.{name}", part.getvalue())
    return hl.read(zipped.getvalue())


def fmis(times: list[str]) -> hl.Layer:
    """Return the layer of an FMIS table with these times."""
    layout = "<A><SegmentFormat><Column Name='ID'/><Column Name='TIMESTAMP'/></SegmentFormat></A>"
    table = "".join(f"{row}\t{time}\n" for row, time in enumerate(times))
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("advanced.xml", layout)
        archive.writestr("Product_1.tab", table)
    return hl.read(zipped.getvalue())
