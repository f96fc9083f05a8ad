"""Damaged shapefiles compared with GDAL: each reads as before or as GDAL reads it, is reported, or is an error."""

from __future__ import annotations

import collections
import os
import random
import struct
import warnings
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyogrio
import pytest
import shapefile  # pyshp

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROUNDS = 120 * int(os.environ.get("HEADLAND_SERIES", "1"))
SQUARE = [(0.0, 0.0), (0.0, 9.0), (9.0, 9.0), (9.0, 0.0), (0.0, 0.0)]
HOLE = [(1.0, 1.0), (4.0, 1.0), (4.0, 4.0), (1.0, 4.0), (1.0, 1.0)]
PRJ = (
    'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],'
    'UNIT["Degree",0.0174532925199433]]'
)


def shifted(ring: list[tuple[float, float]], by: float) -> list[tuple[float, float]]:
    """Shift a ring to the right."""
    return [(x + by, y) for x, y in ring]


def point(writer: shapefile.Writer, row: int) -> None:
    """Draw a point."""
    writer.point(-93.0 + row / 100, 41.5)


def polygon(writer: shapefile.Writer, row: int) -> None:
    """Draw a square with a hole, and every other time a second square."""
    rings = [shifted(SQUARE, 30.0 * row), shifted(HOLE, 30.0 * row)]
    writer.poly(rings + ([shifted(SQUARE, 30.0 * row + 12)] if row % 2 else []))


def height(writer: shapefile.Writer, row: int) -> None:
    """Draw a point with Z and M."""
    writer.pointz(-93.0 + row / 100, 41.5, 250.0 + row, float(row))


def line(writer: shapefile.Writer, row: int) -> None:
    """Draw two lines."""
    writer.line([shifted(SQUARE, 30.0 * row), [(30.0 * row, 20.0), (30.0 * row + 5, 25.0)]])


DRAWN = {
    "points": (shapefile.POINT, point),
    "polygons": (shapefile.POLYGON, polygon),
    "heights": (shapefile.POINTZ, height),
    "lines": (shapefile.POLYLINE, line),
}


def files(folder: Path, kind: int, draw: Callable[[shapefile.Writer, int], None]) -> dict[str, bytes]:
    """Write a valid set of seven rows, one of them deleted, and return its files."""
    with shapefile.Writer(folder / "good", shapeType=kind, encoding="utf-8") as writer:
        writer.field("YIELD", "N", 8, 2)
        writer.field("PASS", "N", 5, 0)
        writer.field("CROP", "C", 10)
        writer.field("DAY", "D")
        writer.field("DONE", "L")
        for row in range(7):
            draw(writer, row)
            writer.record(180.25 + row, row, ["Corn", "Blé", "Soja"][row % 3], f"202609{row + 10}", row % 2 == 0)
    found = {ending: (folder / f"good.{ending}").read_bytes() for ending in ("shp", "shx", "dbf")}
    table = bytearray(found["dbf"])
    header, record = struct.unpack("<HH", table[8:12])
    table[header + 4 * record] = ord("*")
    return found | {"dbf": bytes(table), "prj": PRJ.encode(), "cpg": b"UTF-8"}


def damaged(ending: str, content: bytes, rng: random.Random) -> bytes:
    """Flip, truncate, insert, remove or overwrite bytes, or change a length."""
    data = bytearray(content)
    at = rng.randrange(len(data)) if rng.random() < 0.5 else rng.randrange(min(len(data), 240))
    length = rng.randint(1, 24)
    match rng.randrange(9):
        case 0 | 1:
            data[at] ^= 1 << rng.randrange(8)
        case 2:
            data[at] = rng.randrange(256)
        case 3:
            del data[at:]
        case 4:
            del data[at : at + length]
        case 5:
            data[at:at] = rng.randbytes(length)
        case 6:
            data[at : at + length] = bytes([rng.choice([0, 32, 255])]) * len(data[at : at + length])
        case _:
            places = {
                "shp": [24, 32, 100, 104, 108, 144, 148, 152],
                "shx": [24, 100, 104, 108, 116],
                "dbf": [4, 8, 10, 43, 48],
            }
            at = rng.choice(places.get(ending, [0]))
            order = ">I" if ending != "dbf" and at != 32 and at not in (108, 144, 148, 152) else "<I"
            if at + 4 <= len(data):
                (old,) = struct.unpack_from(order, data, at)
                new = rng.choice([0, old + 1, old - 1, old * 2, old // 2, 0xFFFFFFFF, old + rng.randint(1, 64)])
                struct.pack_into(order, data, at, new & 0xFFFFFFFF)
    return bytes(data)


def plain(array: pa.ChunkedArray) -> list[Any]:
    """Return the values of a column: text as bytes without surrounding blanks, which GDAL trims."""
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        return [None if cell is None else cell.strip() or None for cell in array.cast(pa.large_binary()).to_pylist()]
    return [repr(cell) for cell in array.to_pylist()]


def seen(table: pa.Table, geometry: str | None) -> tuple[Any, ...]:
    """Return the compared content: names, types and values of the columns, and the geometries."""
    columns = [
        (name, str(table.schema.field(name).type).removeprefix("large_"), plain(table.column(name)))
        for name in table.column_names
        if name != geometry
    ]
    shapes = table.column(geometry).to_pylist() if geometry else None
    # A layer whose geometries are all null counts as one without geometry.
    return table.num_rows, columns, shapes if shapes and any(shape is not None for shape in shapes) else None


def by_gdal(path: Path) -> tuple[Any, ...] | None:
    """Return GDAL's reading, or None if it fails."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            meta, table = pyogrio.read_arrow(path)
    except Exception:  # noqa: BLE001  (after any error of GDAL there is no reading)
        return None
    name = meta["geometry_name"] or "wkb_geometry"
    return seen(table, name if name in table.column_names else None)


def lost(found: tuple[Any, ...], good: tuple[Any, ...]) -> bool:
    """Whether rows, columns or geometries of the original are missing."""
    fewer = found[0] < good[0] or len(found[1]) < len(good[1])
    nulls = [shape is None for shape in found[2] or [None] * found[0]]
    return fewer or sum(nulls) > sum(shape is None for shape in good[2] or [])


@pytest.mark.parametrize("name", DRAWN)
def test_every_damaged_set_is_right_reported_or_an_error(name: str, tmp_path: Path) -> None:
    """Check design section 5: never silently wrong, and GDAL is the reference."""
    original = files(tmp_path, *DRAWN[name])
    outcomes: collections.Counter[str] = collections.Counter()
    faults = []
    good: tuple[Any, ...] = ()
    good_codes: set[str] = set()
    for seed in range(-1, ROUNDS):
        rng = random.Random(seed)
        members = dict(original)
        ending = rng.choice(["shp", "shx", "dbf", "dbf", "shp", "prj", "cpg"])
        if seed >= 0:
            members[ending] = damaged(ending, members[ending], rng)
        for other, content in members.items():
            (tmp_path / f"t.{other}").write_bytes(content)
        path = tmp_path / "t.shp"
        try:
            layer = hl.read(path)
        except hl.ArchiveError:
            outcomes["error"] += 1
            continue
        table = pa.table(layer)
        found = seen(table, "geometry" if "geometry" in table.column_names else None)
        codes = {f"{note.code} {note.message}" for note in layer.diagnostics}
        if seed < 0:
            good, good_codes = found, codes
            assert good == by_gdal(path), "the set itself is read as GDAL reads it"
        elif found == good:
            outcomes["equal"] += 1
        elif codes - good_codes:
            outcomes["diagnostic"] += 1
        elif lost(found, good):
            faults.append(f"seed {seed}, .{ending}: lost in silence")
        elif found == by_gdal(path):
            outcomes["as GDAL: a changed digit, letter or type in a loose file"] += 1
        else:
            faults.append(f"seed {seed}, .{ending}: neither the original nor GDAL's: {found} {by_gdal(path)}")
    print(f"{name}: {ROUNDS} mutants, {dict(outcomes)}")  # noqa: T201  (the counts are useful in the log)
    assert not faults, "\n".join(faults)
