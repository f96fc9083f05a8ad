"""The reader compared with GDAL on generated shapes: equal well-known binary, or a documented, reported deviation."""

from __future__ import annotations

import math
import struct
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyogrio
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from shapefiles import LINE, NO_M, POINT, POINTS, RINGS, Field, M, Shape, Z, dbf, shp, zipped

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Sequence

    Vertex = tuple[float, ...]
    Tree = tuple[int, list[Vertex] | list["Tree"] | list[list[Vertex]]]

SHAPE_CODES = frozenset(("open-ring", "part-start", "missing-m", "no-data-m", "mixed-shapes", "broken-shape"))

numbers = st.one_of(st.integers(-800, 800).map(lambda number: number / 8), st.floats(-1e6, 1e6))


class Layer(NamedTuple):
    """Generated shapes of one kind, with their rows."""

    kind: int
    shapes: list[Shape | None]
    deleted: set[int]
    has_dbf: bool

    def write(self, folder: Path) -> dict[str, bytes]:
        """Write its members into a folder and return them."""
        content, index = shp(self.kind, self.shapes)
        members = {"t.shp": content, "t.shx": index}
        if self.has_dbf:
            rows = [[str(number).rjust(4).encode()] for number in range(len(self.shapes))]
            members["t.dbf"] = dbf([Field(b"N", "N", 4)], rows, self.deleted)
        for name, bytes_ in members.items():
            (folder / name).write_bytes(bytes_)
        return members


def square(x: float, y: float, size: float, *, clockwise: bool) -> list[tuple[float, float]]:
    ring = [(x, y), (x, y + size), (x + size, y + size), (x + size, y), (x, y)]
    return ring if clockwise else ring[::-1]


@st.composite
def rings(draw: st.DrawFn) -> list[list[tuple[float, float]]]:
    """Polygons next to each other, with holes and islands in them, valid and in any order of rings."""
    parts = []
    for place in draw(st.sets(st.integers(0, 8), min_size=1, max_size=3)):
        x, y = 100.0 * (place % 3), 100.0 * (place // 3)
        parts.append(square(x, y, 90, clockwise=True))
        for hole in draw(st.sets(st.integers(0, 3), max_size=2)):
            hx, hy = x + 5 + 40 * (hole % 2), y + 5 + 40 * (hole // 2)
            parts.append(square(hx, hy, 30, clockwise=False))
            if draw(st.booleans()):
                parts.append(square(hx + 5, hy + 5, 10, clockwise=True))
    return draw(st.permutations(parts)) if draw(st.booleans()) else parts


@st.composite
def layers(draw: st.DrawFn) -> Layer:
    flat = draw(st.sampled_from([POINT, LINE, RINGS, POINTS]))
    kind = flat + draw(st.sampled_from([0, Z, M]))
    measures = draw(st.sampled_from(["all", "none", "some"]))
    runs = st.lists(st.tuples(numbers, numbers), min_size=2, max_size=5, unique=True)
    flat_parts = {
        POINT: st.tuples(numbers, numbers).map(lambda point: [[point]]),
        LINE: st.lists(runs, min_size=1, max_size=3),
        POINTS: runs.map(lambda run: [run]),
        RINGS: rings(),
    }[flat]
    heights = st.integers(-1000, 1000).map(lambda number: number / 16)
    measure = {"all": heights, "none": st.just(NO_M), "some": st.one_of(heights, st.just(NO_M), st.just(-1e39))}[
        measures
    ]

    @st.composite
    def shapes(draw: st.DrawFn) -> Shape:
        parts = []
        for part in draw(flat_parts):
            vertices = [(x, y, draw(heights), draw(measure)) for x, y in part]
            if flat == RINGS:
                # A ring ends at its first vertex, in height and measure, too.
                vertices[-1] = vertices[0]
            parts.append(vertices)
        return Shape(parts)

    found = draw(st.lists(st.one_of(shapes(), shapes(), shapes(), st.none()), max_size=6))
    has_dbf = draw(st.integers(0, 5)) > 0
    deleted = draw(st.sets(st.integers(0, max(len(found) - 1, 0)), max_size=2)) if has_dbf and found else set()
    return Layer(kind, found, deleted, has_dbf)


def unpacked(wkb: bytes, at: int = 0) -> tuple[Tree, int]:
    """Split well-known binary: the code, and its content."""
    assert wkb[at] == 1
    (code,) = struct.unpack_from("<I", wkb, at + 1)
    at, size = at + 5, 2 + (code // 1000 in {1, 3}) + (code // 1000 in {2, 3})

    def run(at: int, count: int) -> tuple[list[Vertex], int]:
        values = struct.unpack_from(f"<{count * size}d", wkb, at)
        return [tuple(values[size * place : size * (place + 1)]) for place in range(count)], at + 8 * size * count

    if code % 1000 == 1:
        vertices, at = run(at, 1)
        return (code, vertices), at
    (count,) = struct.unpack_from("<I", wkb, at)
    at += 4
    if code % 1000 == 2:
        vertices, at = run(at, count)
        return (code, vertices), at
    inner: list[list[Vertex]] = []
    members: list[Tree] = []
    for _ in range(count):
        if code % 1000 == 3:
            (length,) = struct.unpack_from("<I", wkb, at)
            vertices, at = run(at + 4, length)
            inner.append(vertices)
        else:
            member, at = unpacked(wkb, at)
            members.append(member)
    return (code, inner or members), at


def without_m(tree: object) -> object:
    """Remove M from a tree, bit by bit."""
    if isinstance(tree, tuple) and len(tree) == 2 and isinstance(tree[1], list):
        code, content = tree
        dropped = code - 2000 if code >= 2000 else code
        return dropped, [_flat(part, code) for part in content]
    raise TypeError(tree)


def _flat(part: object, code: int) -> object:
    if isinstance(part, list):
        return [_flat(vertex, code) for vertex in part]
    if isinstance(part, tuple) and isinstance(part[-1], list):
        return without_m(part)
    assert isinstance(part, tuple)
    kept = part[:-1] if code >= 2000 else part
    return struct.pack(f"<{len(kept)}d", *kept)


def vertices_of(tree: Tree) -> list[Vertex]:
    _, content = tree
    found: list[Vertex] = []
    for part in content:
        if isinstance(part, list):
            found.extend(part)
        elif isinstance(part[-1], list):
            found.extend(vertices_of(part))
        else:
            found.append(part)
    return found


def is_measured(shape: Shape) -> bool:
    return any(vertex[3] > -1e38 for vertex in shape.vertices)


def expected_codes(layer: Layer, but: set[int]) -> dict[str, tuple[int, int]]:
    """Count the records of each deviation except some, and return the first: M is missing or means no data."""
    met: dict[str, list[int]] = {}
    shapes = [(number, shape) for number, shape in enumerate(layer.shapes) if shape]
    if layer.kind >= Z and any(is_measured(shape) for _, shape in shapes):
        for number, shape in shapes:
            if number in but:
                continue
            if not is_measured(shape):
                met.setdefault("missing-m", []).append(number)
            elif any(vertex[3] < -1e38 for vertex in shape.vertices):
                met.setdefault("no-data-m", []).append(number)
    return {code: (len(records), records[0]) for code, records in met.items()}


def agrees(
    layer: Layer, mine: Sequence[bytes | None], theirs: Sequence[bytes | None], codes: dict[str, tuple[int, int]]
) -> None:
    kept = [number for number in range(len(layer.shapes)) if number not in layer.deleted]
    assert len(mine) == len(theirs) == len(kept)
    # GDAL checks only the first record for M, and drops every M if that has no shape.
    has_m = layer.kind >= Z and any(is_measured(shape) for shape in layer.shapes if shape)
    begins_with_null = has_m and layer.shapes[0] is None
    for number, ours, gdal in zip(kept, mine, theirs, strict=True):
        shape = layer.shapes[number]
        assert (ours is None) == (gdal is None) == (shape is None), number
        if ours is None or gdal is None or shape is None:
            continue
        if not codes and not begins_with_null:
            assert ours == gdal, (number, ours.hex(), gdal.hex())
            continue
        my_tree, their_tree = unpacked(ours)[0], unpacked(gdal)[0]
        assert my_tree[0] >= 2000, "M is kept where any shape has one"
        assert without_m(my_tree) == without_m(their_tree), number
        for vertex in vertices_of(my_tree):
            # Parts may share a vertex, with another M in each.
            wanted = [m for x, y, _, m in shape.vertices if (x, y) == vertex[:2]]
            assert any(vertex[-1] == m if m > -1e38 else math.isnan(vertex[-1]) for m in wanted), (number, vertex)


def geometries(table: pa.Table, name: str) -> list[bytes | None]:
    return list(table[name].to_pylist()) if name in table.column_names else [None] * len(table)


def from_gdal(folder: Path) -> list[bytes | None]:
    with warnings.catch_warnings():
        # pyogrio warns that geopandas has no M; the well-known binary has it.
        warnings.simplefilter("ignore")
        about, table = pyogrio.read_arrow(folder / "t.shp")
    return geometries(table, about["geometry_name"] or "wkb_geometry")


@given(layer=layers())
def test_shapes_are_read_as_gdal_reads_them(layer: Layer) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        members = layer.write(folder)
        mine = hl.read(zipped(members))
        codes = expected_codes(layer, set())
        reported = {
            diagnostic.code: (int(diagnostic.message.rsplit("(", 1)[1].split()[0]), diagnostic.record)
            for diagnostic in mine.diagnostics
            if diagnostic.code in SHAPE_CODES
        }
        assert reported == expected_codes(layer, layer.deleted), "diagnostics cover the returned rows"
        agrees(layer, geometries(pa.table(mine), "geometry"), from_gdal(folder), codes)
        if layer.has_dbf:
            assert mine.values("N") == [number for number in range(len(layer.shapes)) if number not in layer.deleted]


@given(ring=st.lists(st.tuples(numbers, numbers), min_size=3, max_size=6, unique=True), has_m=st.booleans())
def test_open_rings_are_closed_and_gdal_leaves_them_open(ring: list[tuple[float, float]], *, has_m: bool) -> None:
    shape = Shape([[(x, y, 0.0, 1.0) for x, y in ring]])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        members = Layer(RINGS + M if has_m else RINGS, [None, shape, shape], set(), has_dbf=False).write(folder)
        mine = hl.read(zipped(members))
        theirs = from_gdal(folder)
    ours, _ = unpacked(mine.values("geometry")[1])
    open_ring, _ = unpacked(theirs[1] or b"")
    assert ours[0] == (2003 if has_m else 3)
    assert [vertex[:2] for vertex in vertices_of(ours)] == [*ring, ring[0]]
    assert [vertex[:2] for vertex in vertices_of(open_ring)] == ring
    (reported,) = (diagnostic for diagnostic in mine.diagnostics if diagnostic.code == "open-ring")
    assert reported.record == 1
    assert "(2 times" in reported.message


@pytest.mark.parametrize("places", [(4,), (0, 4), (0,)])
def test_ring_that_ends_in_nan_is_null_and_other_rows_keep_their_geometry(places: tuple[int, ...]) -> None:
    good = [(x, y, 0.0, 0.0) for x, y in square(0, 0, 10, clockwise=True)]
    bad = [(math.nan, y, z, m) if place in places else (x, y, z, m) for place, (x, y, z, m) in enumerate(good)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        members = Layer(RINGS, [Shape([good]), Shape([bad]), Shape([good])], set(), has_dbf=True).write(folder)
        theirs = from_gdal(folder)
    with pytest.raises(shapely.errors.GEOSException):
        shapely.from_wkb(theirs)
    layer = hl.read(zipped(members))
    frame = layer.to_geopandas()
    assert [shape and shape.area for shape in frame.geometry] == [100.0, None, 100.0]
    assert frame["N"].tolist() == [0, 1, 2]
    (reported,) = (diagnostic for diagnostic in layer.diagnostics if diagnostic.code == "no-data-ring")
    assert (reported.member, reported.record) == ("t.shp", 1)
    assert "read as null geometries (1 times, first at record 1)" in reported.message
    assert layer.area("as-is") == 200.0


boxes = st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 6), st.integers(1, 6), st.booleans())


@given(records=st.lists(st.lists(boxes, min_size=2, max_size=6), min_size=1, max_size=20))
def test_rings_that_touch_cross_or_repeat_are_grouped_as_by_gdal(records: list[list[tuple[int, ...]]]) -> None:
    """Of equal outer rings around a hole, the first gets it; rings that do not touch are unambiguous."""
    shapes = []
    for rectangles in records:
        parts = []
        for x, y, width, height, clockwise in rectangles:
            ring = [(x, y), (x, y + height), (x + width, y + height), (x + width, y), (x, y)]
            parts.append([(float(x), float(y), 0.0, 0.0) for x, y in (ring if clockwise else ring[::-1])])
        shapes.append(Shape(parts))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        members = Layer(RINGS, list(shapes), set(), has_dbf=False).write(folder)
        assert hl.read(zipped(members)).values("geometry") == from_gdal(folder)
