"""The reader compared with GDAL on generated tables: equal cell by cell, or a documented and reported deviation."""

from __future__ import annotations

import datetime as dt
import struct
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import expected_cells
import pyarrow as pa
import pyogrio
from expected_cells import Cell
from hypothesis import given, note
from hypothesis import strategies as st
from shapefiles import Field, dbf, zipped

import headland as hl

if TYPE_CHECKING:
    from collections.abc import Callable

COLUMN_CODES = frozenset(
    (
        "bad-number",
        "integer-with-decimals",
        "integer-with-exponent",
        "digits-lost",
        "bad-date",
        "blank-logical",
        "logical-digit",
        "bad-logical",
        "after-nul",
        "leading-blanks",
        "text-recoded",
        "text-lost",
        "text-undeclared",
    )
)


class Encoding(NamedTuple):
    """The declared encoding of a table, and its name in Python."""

    cpg: bytes | None
    driver: int
    codec: str | None


ENCODINGS = [
    Encoding(None, 0, None),
    Encoding(b"UTF-8", 0, "utf-8"),
    Encoding(b"UTF-8", 0x57, "utf-8"),
    Encoding(b"ISO-8859-1", 0, "latin-1"),
    Encoding(b"1252", 0, "cp1252"),
    Encoding(b"1251", 0, "cp1251"),
    Encoding(b"CP1250", 0, "cp1250"),
    Encoding(None, 0x03, "cp1252"),
    Encoding(None, 0xC9, "cp1251"),
    Encoding(None, 0x64, "cp852"),
    Encoding(None, 0x02, "cp850"),
]

WORDS = "abcXYZ 0123456789.,;äöüßéñДжñŁőąж€\\\"'"

NUMBERS = [
    b"0",
    b"-0",
    b"1",
    b"-1",
    b"007",
    b"+5",
    b".5",
    b"5.",
    b"-.25",
    b"1.0",
    b"1e3",
    b"1E-3",
    b"12345678",
    b"999999999",
]
NULLS = [b"", b"*", b"****", b"**1", b"\0\0", b" \0 1"]
RUBBISH = [
    b"abc",
    b"12ab",
    b"-",
    b".",
    b"1.2.3",
    b"nan",
    b"inf",
    b"1,5",
    b"12**",
    b"0x10",
    b"1e999",
    b"1 2",
    b"1D5",
    b"+",
    b"--1",
    b"1e",
    b"1e+",
    b"1\0 2",
    b"1_0",
    b"9" * 24,
]


def padded(cell: bytes, width: int, draw: st.DrawFn) -> bytes:
    """Fill a field: numbers are usually right-aligned, texts left-aligned."""
    return cell[:width].rjust(width) if draw(st.integers(0, 3)) else cell[:width].ljust(width)


@st.composite
def number_cells(draw: st.DrawFn, width: int, decimals: int) -> bytes:
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return padded(draw(st.sampled_from(NULLS)), width, draw)
    if kind == 1:
        return padded(draw(st.sampled_from(RUBBISH + NUMBERS)), width, draw)
    # As writers do: at most as many digits as the field holds.
    whole = max(width - decimals - (1 if decimals else 0) - 1, 1)
    sign = draw(st.sampled_from(["", "", "-"]))
    text = f"{sign}{draw(st.integers(0, 10**whole - 1))}"
    if decimals:
        text += f".{draw(st.integers(0, 10**decimals - 1)):0{decimals}}"
    return padded(text.encode(), width, draw)


@st.composite
def text_cells(draw: st.DrawFn, width: int, codec: str | None) -> bytes:
    text = draw(st.one_of(st.text(WORDS, max_size=width), st.sampled_from(["", " ", "  x", "x  ", "x\0y"])))
    cell = text.encode(codec or "utf-8", "ignore")[:width].ljust(width)
    if codec in {None, "utf-8"} and draw(st.integers(0, 5)) == 0:
        # Bytes of Windows-1252, and truncated letters of UTF-8.
        cell = draw(st.binary(max_size=width)).replace(b"\0", b" ")[:width].ljust(width)
    return cell


@st.composite
def date_cells(draw: st.DrawFn, width: int) -> bytes:
    odd = [
        b"",
        b"0",
        b"00000000",
        b"20230229",
        b"20231301",
        b"20230100",
        b"2024-1-5",
        b"notadate",
        b"04/25/1989",
        b"13/01/1989",
        b"0000",
        b" 0",
        b"20240229x",
        b" 19991231",
        b"99999999",
        b"00000101",
    ]
    days = st.dates(min_value=dt.date(1, 1, 1)).map(lambda day: f"{day.year:04}{day:%m%d}".encode())
    cell = draw(st.one_of(days, days, days, st.sampled_from(odd)))
    return cell[:width].ljust(width)


LOGICALS = [b"T", b"t", b"Y", b"y", b"F", b"f", b"N", b"n", b"?", b" ", b"1", b"0", b"X"]


class Table(NamedTuple):
    """A generated table."""

    fields: list[Field]
    rows: list[list[bytes]]
    deleted: set[int]
    encoding: Encoding

    def write(self, folder: Path) -> dict[str, bytes]:
        """Write its members into a folder and return them."""
        members = {"t.dbf": dbf(self.fields, self.rows, self.deleted, self.encoding.driver)}
        if self.encoding.cpg is not None:
            members["t.cpg"] = self.encoding.cpg
        for name, content in members.items():
            (folder / name).write_bytes(content)
        return members


@st.composite
def field_kinds(draw: st.DrawFn) -> tuple[str, int, int]:
    kind = draw(st.sampled_from("NNNFCCDL"))
    if kind in "NF":
        width = draw(st.integers(1, 24))
        return kind, width, draw(st.integers(0, max(min(15, width - 2), 0)))
    if kind == "C":
        return kind, draw(st.one_of(st.integers(1, 20), st.just(254))), 0
    return (
        (kind, draw(st.sampled_from([8, 8, 8, 10, 23])), 0)
        if kind == "D"
        else (kind, draw(st.sampled_from([1, 1, 2])), 0)
    )


@st.composite
def tables(draw: st.DrawFn) -> Table:
    kinds = draw(st.lists(field_kinds(), min_size=1, max_size=8))
    # A wide table repeats the same columns.
    kinds *= draw(st.sampled_from([1, 1, 1, 1, 25]))
    fields = [
        Field(f"F{at}_{kind}".encode(), kind, width, decimals) for at, (kind, width, decimals) in enumerate(kinds)
    ]
    encoding = draw(st.sampled_from(ENCODINGS))
    cells: dict[str, Callable[[Field], st.SearchStrategy[bytes]]] = {
        "N": lambda field: number_cells(field.width, field.decimals),
        "F": lambda field: number_cells(field.width, field.decimals),
        "C": lambda field: text_cells(field.width, encoding.codec),
        "D": lambda field: date_cells(field.width),
        "L": lambda field: st.sampled_from(LOGICALS).map(lambda cell: cell.ljust(field.width)),
    }
    row = st.tuples(*(cells[field.kind](field) for field in fields)).map(list)
    rows = draw(st.lists(row, max_size=12 if len(fields) < 20 else 3))
    deleted = draw(st.sets(st.integers(0, max(len(rows) - 1, 0)), max_size=len(rows) // 2))
    return Table(fields, rows, deleted, encoding)


def from_gdal(folder: Path) -> pa.Table:
    with warnings.catch_warnings():
        # GDAL warns of numbers and letters that it cannot keep; only its values are compared here.
        warnings.simplefilter("ignore")
        return pyogrio.read_arrow(folder / "t.dbf")[1]


def cells_of(column: pa.ChunkedArray) -> list[Any]:
    """Return the cells; text that is invalid UTF-8 is bytes."""
    if pa.types.is_string(column.type):
        raw = [None if not cell.is_valid else cell.as_buffer().to_pybytes() for cell in column]
        return [None if cell is None else _decoded(cell) for cell in raw]
    # Python has no dates before year 1, which GDAL derives from some invalid cells.
    return list((column.cast(pa.int32()) if pa.types.is_date32(column.type) else column).to_pylist())


def _decoded(cell: bytes) -> str | bytes:
    try:
        return cell.decode()
    except UnicodeDecodeError:
        return cell


def bits(value: object) -> object:
    """Return a value that is equal only if every bit is."""
    if isinstance(value, dt.date):
        value = (value - dt.date(1970, 1, 1)).days
    return struct.pack("<d", value) if isinstance(value, float) else (type(value), value)


def documented_cells(
    field: Field, cells: list[bytes], codec: str | None
) -> tuple[pa.DataType, list[Cell], Cell | None]:
    """Return the type of a column, its cells, and where it stopped being one of integers."""
    if field.kind == "C":
        return pa.large_string(), [expected_cells.text(cell, codec) for cell in cells], None
    if field.kind == "D":
        return pa.date32(), [expected_cells.date(cell) for cell in cells], None
    if field.kind == "L":
        return pa.bool_(), [expected_cells.logical(cell) for cell in cells], None
    if field.kind == "F" or field.decimals or field.width > 18:
        return pa.float64(), [expected_cells.floating(cell) for cell in cells], None
    fractions = [row for row, cell in enumerate(cells) if expected_cells.is_fraction(cell, field.width)]
    if fractions:
        found = [expected_cells.floating(cell) for cell in cells]
        return pa.float64(), found, Cell(fractions[0], ("integer-with-decimals",))
    return pa.int32() if field.width < 10 else pa.int64(), [expected_cells.integer(cell) for cell in cells], None


def agrees(table: Table, mine: hl.Layer, theirs: pa.Table) -> None:
    """Compare every cell with the rules, with GDAL unless a rule allows a deviation, and with the diagnostics."""
    ours = pa.table(mine)
    kept = [number for number in range(len(table.rows)) if number not in table.deleted]
    assert ours.num_rows == theirs.num_rows == len(kept)
    names = [field.name.decode() for field in table.fields]
    assert ours.column_names == theirs.column_names == names
    reported = {
        (diagnostic.code, diagnostic.message.split("`")[1]): diagnostic
        for diagnostic in mine.diagnostics
        if diagnostic.code in COLUMN_CODES
    }
    expected: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], int] = {}
    for at, field in enumerate(table.fields):
        name, raw = names[at], [table.rows[number][at] for number in kept]
        kind, cells, fraction = documented_cells(field, raw, table.encoding.codec)
        assert ours.schema.field(at).type == kind, field
        gdal_kind = theirs.schema.field(at).type
        # GDAL reads F without decimals as integers; the rule is float64 for F with any number of digits.
        is_float = fraction is not None or (field.kind == "F" and pa.types.is_integer(gdal_kind))
        assert is_float or {pa.string(): pa.large_string()}.get(gdal_kind, gdal_kind) == kind, (field, gdal_kind)
        if kind == pa.float64() and field.width > 15:
            lost = [number for number, cell in zip(kept, raw, strict=True) if expected_cells.loses_digits(cell)]
            if lost:
                expected["digits-lost", name], first["digits-lost", name] = len(lost), lost[0]
        if fraction:
            key = (fraction.codes[0], name)
            expected[key], first[key] = 1, kept[fraction.value]
        for row, (cell, my_value, value) in enumerate(
            zip(cells, cells_of(ours[at]), cells_of(theirs[at]), strict=True)
        ):
            place = f"{field} record {kept[row]} {raw[row]!r}: ours {my_value!r}, GDAL {value!r}, documented {cell}"
            assert bits(my_value) == bits(cell.value), place
            if not set(cell.codes) - {"text-undeclared", "after-nul"} and not (
                is_float and expected_cells.is_unlike_integers(raw[row])
            ):
                # An integer has no negative zero.
                same = (value == my_value) if is_float else (bits(value) == bits(my_value))
                assert same, place
            for code in cell.codes:
                expected[code, name] += 1
                first.setdefault((code, name), kept[row])
    note(f"{table.encoding} {sorted(reported)}")
    assert {key: (f"({count} times, first at record {first[key]})", first[key]) for key, count in expected.items()} == {
        key: (diagnostic.message[diagnostic.message.rindex("(") :], diagnostic.record)
        for key, diagnostic in reported.items()
    }


@given(table=tables())
def test_tables_are_read_as_gdal_reads_them(table: Table) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        members = table.write(folder)
        theirs = from_gdal(folder)
        mine = hl.read(zipped(members))
        agrees(table, mine, theirs)
        assert pa.table(hl.read(folder / "t.dbf")).equals(pa.table(mine))
