"""Packs FMIS tables with a column of times."""

from __future__ import annotations

import io
import zipfile

import headland as hl


def fmis(times: list[str]) -> hl.Layer:
    """Return the layer of an FMIS table with these times."""
    layout = "<A><SegmentFormat><Column Name='ID'/><Column Name='TIMESTAMP'/></SegmentFormat></A>"
    table = "".join(f"{row}\t{time}\n" for row, time in enumerate(times))
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("advanced.xml", layout)
        archive.writestr("Product_1.tab", table)
    return hl.read(zipped.getvalue())
