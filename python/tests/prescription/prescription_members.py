"""Packs the files of prescriptions byte by byte."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

from shapefiles import NO_M, RINGS, Field, Shape, dbf, shp

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

WGS84 = (
    'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137,298.257223563]],PRIMEM["Greenwich",0],'
    'UNIT["Degree",0.017453292519943295]]'
)
UTM = (
    f'PROJCS["WGS_1984_UTM_Zone_12N",{WGS84},PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000],'
    'PARAMETER["False_Northing",0],PARAMETER["Central_Meridian",-111],PARAMETER["Scale_Factor",0.9996],'
    'PARAMETER["Latitude_Of_Origin",0],UNIT["Meter",1]]'
)
NAD83 = (
    'GEOGCS["GCS_North_American_1983",DATUM["D_North_American_1983",SPHEROID["GRS_1980",6378137,298.257222101]],'
    'PRIMEM["Greenwich",0],UNIT["Degree",0.017453292519943295]]'
)
WEST, SOUTH, SIDE = -111.0, 45.5, 0.001

Ring = list[tuple[float, float]]


def ring(column: float, row: float = 0, width: float = 1, height: float = 1) -> Ring:
    """Return a closed ring of cells, clockwise as shapefiles have it."""
    west, south = WEST + column * SIDE, SOUTH + row * SIDE
    east, north = west + width * SIDE, south + height * SIDE
    return [(west, south), (west, north), (east, north), (east, south), (west, south)]


def zone(*rings: Ring, z: float = 0.0, m: float = NO_M) -> Shape:
    """Return a shape of rings."""
    return Shape([[(x, y, z, m) for x, y in each] for each in rings])


def cells(count: int) -> list[Shape | None]:
    """Return neighbouring squares, ten in a row."""
    return [zone(ring(number % 10, number // 10)) for number in range(count)]


RATE = Field(b"RATE", "N", 12, 3)


def members(
    shapes: Sequence[Shape | None] | None = None,
    rows: Sequence[Sequence[bytes | float | str | None]] | None = None,
    *,
    kind: int = RINGS,
    fields: Sequence[Field] = (RATE,),
    stem: str = "rx",
    prj: str | None = WGS84,
) -> dict[str, bytes]:
    """Pack the files of a shapefile: three zones with the rates 100, 120 and 140, unless others are given."""
    shapes = cells(3) if shapes is None else shapes
    rows = [[100 + 20 * number] for number in range(len(shapes))] if rows is None else rows
    packed = [[_cell(field, value) for field, value in zip(fields, row, strict=True)] for row in rows]
    geometry, index = shp(kind, shapes)
    files = {f"{stem}.shp": geometry, f"{stem}.shx": index, f"{stem}.dbf": dbf(fields, packed)}
    return files if prj is None else files | {f"{stem}.prj": prj.encode()}


def _cell(field: Field, value: bytes | float | str | None) -> bytes:
    if isinstance(value, bytes):
        return value.ljust(field.width)[: field.width]
    if value is None:
        return b" " * field.width
    if isinstance(value, str):
        return value.encode().ljust(field.width)
    return f"{value:.{field.decimals}f}".rjust(field.width).encode()


def archive(files: dict[str, bytes]) -> bytes:
    """Pack a zip."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as target:
        for name, member in files.items():
            target.writestr(name, member)
    return content.getvalue()


def padded(content: bytes, size: int) -> bytes:
    """Return a zip with a sidecar of a size, which is not compressed."""
    packed = io.BytesIO(content)
    with zipfile.ZipFile(packed, "a") as target:
        target.writestr("rx.sbn", bytes(size), zipfile.ZIP_STORED)
    return packed.getvalue()


def renamed(files: dict[str, bytes], rename: Callable[[str], str]) -> dict[str, bytes]:
    """Return files with other names."""
    return {rename(name): content for name, content in files.items()}
