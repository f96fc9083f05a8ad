"""Packs shapefiles byte by byte, so that they can contain what no writer writes."""

from __future__ import annotations

import io
import struct
import zipfile
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

POINT, LINE, RINGS, POINTS = 1, 3, 5, 8
Z, M = 10, 20

NO_M = -1.7976931348623157e308
"""The M that writers store for a vertex without M."""


WGS84 = (
    b'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],'
    b'PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'
)
"""A .prj of WGS 84."""


class Field(NamedTuple):
    """One field of a .dbf."""

    name: bytes
    kind: str
    width: int
    decimals: int = 0


class Shape(NamedTuple):
    """The parts of a shape, each a list of vertices (X, Y, Z, M)."""

    parts: list[list[tuple[float, float, float, float]]]

    @property
    def vertices(self) -> list[tuple[float, float, float, float]]:
        """All vertices in their order."""
        return [vertex for part in self.parts for vertex in part]


def dbf(
    fields: Sequence[Field], rows: Iterable[Sequence[bytes]], deleted: Iterable[int] = (), driver: int = 0
) -> bytes:
    """Pack a table; every cell must fill its field."""
    records, gone = [], set(deleted)
    for number, row in enumerate(rows):
        for field, cell in zip(fields, row, strict=True):
            assert len(cell) == field.width, (field, cell)
        records.append((b"*" if number in gone else b" ") + b"".join(row))
    size = 1 + sum(field.width for field in fields)
    head = struct.pack("<BBBBIHH17xB2x", 3, 126, 1, 1, len(records), 33 + 32 * len(fields), size, driver)
    table = b"".join(
        struct.pack("<11sc4xBB14x", field.name, field.kind.encode(), field.width, field.decimals) for field in fields
    )
    return head + table + b"\r" + b"".join(records) + b"\x1a"


def shp(kind: int, shapes: Sequence[Shape | None]) -> tuple[bytes, bytes]:
    """Pack shapes of one kind and their index."""
    body, index = b"", b""
    for number, shape in enumerate(shapes, start=1):
        record = struct.pack("<i", 0) if shape is None else contents(kind, shape)
        index += struct.pack(">ii", 50 + len(body) // 2, len(record) // 2)
        body += struct.pack(">ii", number, len(record) // 2) + record
    return _headed(kind, body, shapes), _headed(kind, index, shapes)


def _headed(kind: int, body: bytes, shapes: Sequence[Shape | None]) -> bytes:
    vertices = [vertex for shape in shapes if shape for vertex in shape.vertices]
    head = struct.pack(">i20xi", 9994, 50 + len(body) // 2) + struct.pack("<ii", 1000, kind)
    return (
        head
        + struct.pack("<4d", *_box(vertices))
        + struct.pack("<4d", *_range(vertices, 2), *_range(vertices, 3))
        + body
    )


def _box(vertices: Sequence[tuple[float, float, float, float]]) -> list[float]:
    lows, highs = zip(_range(vertices, 0), _range(vertices, 1), strict=True)
    return [*lows, *highs]


def _range(vertices: Sequence[tuple[float, float, float, float]], place: int) -> tuple[float, float]:
    values = [vertex[place] for vertex in vertices] or [0.0]
    return min(values), max(values)


def contents(kind: int, shape: Shape) -> bytes:
    """Pack the contents of one record."""
    vertices, flat = shape.vertices, kind % 10
    has_z, has_m = kind // 10 == 1, kind >= Z
    if flat == POINT:
        x, y, z, m = vertices[0]
        return (
            struct.pack("<i2d", kind, x, y)
            + (struct.pack("<d", z) if has_z else b"")
            + (struct.pack("<d", m) if has_m else b"")
        )
    record = struct.pack("<i4d", kind, *_box(vertices))
    if flat != POINTS:
        starts = [sum(len(part) for part in shape.parts[:at]) for at in range(len(shape.parts))]
        record += struct.pack(f"<ii{len(starts)}i", len(starts), len(vertices), *starts)
    else:
        record += struct.pack("<i", len(vertices))
    record += b"".join(struct.pack("<2d", *vertex[:2]) for vertex in vertices)
    for place in (2,) * has_z + (3,) * has_m:
        values = [vertex[place] for vertex in vertices]
        record += struct.pack(f"<2d{len(values)}d", *_range(vertices, place), *values)
    return record


def zipped(members: dict[str, bytes]) -> bytes:
    """Pack members into a zip."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target.getvalue()
