"""Makes an archive of three points with columns of each type."""

from __future__ import annotations

import datetime as dt
import io
import zipfile

import pyproj
import shapefile  # pyshp

UTM_14 = pyproj.CRS.from_epsg(32614).to_wkt("WKT1_ESRI")


def archive(*, prj: str | None = UTM_14, name: str = "YIELD") -> bytes:
    """Make a zip of three points: an integer, a decimal, a text, a date and a truth value, and nulls of each."""
    members = {ending: io.BytesIO() for ending in ("shp", "shx", "dbf")}
    with shapefile.Writer(**members, shapeType=shapefile.POINT) as writer:
        writer.field("PASS", "N", 9, 0)
        writer.field("MOISTURE", "N", 12, 3)
        writer.field("VARIETY", "C", 20)
        writer.field("DAY", "D")
        writer.field("CUT", "L")
        writer.point(500_000.0, 5_000_000.0)
        writer.record(1, 14.125, "early", dt.date(2026, 9, 1), True)
        writer.point(500_010.0, 5_000_000.0)
        writer.record(None, None, "", None, None)
        writer.null()
        writer.record(3, -0.5, "späte", dt.date(2026, 9, 2), False)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as target:
        for ending, member in members.items():
            target.writestr(f"{name}.{ending}", member.getvalue())
        if prj is not None:
            target.writestr(f"{name}.prj", prj)
        target.writestr(f"{name}.cpg", "UTF-8")
    return content.getvalue()
