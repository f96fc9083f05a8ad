"""Text, names and limits of types compared with GDAL and Python's codecs: every driver byte, every form of a .cpg."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyogrio
import pytest
from shapefiles import Field, dbf

import headland as hl

if TYPE_CHECKING:
    from pathlib import Path

DRIVERS = {
    "cp437": (0x01, 0x09, 0x0B, 0x0D, 0x0F, 0x11, 0x15, 0x18, 0x19, 0x1B),
    "cp850": (0x02, 0x0A, 0x0E, 0x10, 0x12, 0x14, 0x16, 0x1A, 0x1D, 0x25, 0x37),
    "cp1252": (0x03, 0x57, 0x58, 0x59),
    "mac_roman": (0x04,),
    "cp865": (0x08, 0x17, 0x66),
    "cp932": (0x13, 0x7B),
    "cp863": (0x1C, 0x6C),
    "cp852": (0x1F, 0x22, 0x23, 0x40, 0x64, 0x87),
    "cp860": (0x24,),
    "cp866": (0x26, 0x65),
    "gbk": (0x4D, 0x7A),
    "cp949": (0x4E, 0x79),
    "cp950": (0x4F, 0x78),
    "cp874": (0x50, 0x7C),
    "cp861": (0x67,),
    "cp737": (0x6A, 0x86),
    "cp857": (0x6B, 0x88),
    "cp1250": (0xC8,),
    "cp1251": (0xC9,),
    "cp1254": (0xCA,),
    "cp1253": (0xCB,),
    "cp1257": (0xCC,),
    "cp1255": (0x7D,),
    "cp1256": (0x7E,),
    "mac_cyrillic": (0x96,),
    "mac_latin2": (0x97,),
    "mac_greek": (0x98,),
}
"""The code page of each driver byte, from the tables of dBASE and FoxPro."""

LONG = {"cp932": "日本語テキスト", "gbk": "中文文本", "cp949": "한국어 텍스트", "cp950": "中文文字"}
"""A text for code pages with several bytes a letter."""

OLD_CYRILLIC = str.maketrans({"Ґ": "¢", "€": "¤"})
"""Letters that the Macintosh changed with its system 9; GDAL has the earlier ones."""

WITHOUT_CODEC = {
    0x68: ("Příliš žluťoučký kůň", b"P\xa9\xa1li\xa8 \x91lu\x9fou\x87k\x98 k\x96\xa4"),
    0x69: ("Zażółć gęślą jaźń", b"Za\xa7\xa2\x92\x8d g\x91\x9el\x86 ja\xa6\xa4"),
}
"""A text and its bytes for the code pages 895 and 620, which neither Python nor GDAL supports."""

UNKNOWN_TO_GDAL = {0x04, 0x09, 0x7D, 0x7E, 0x97, 0x98}
"""Driver bytes whose text GDAL returns as bytes."""


def letters(codec: str) -> tuple[str, bytes]:
    """Return every letter beyond ASCII of a code page, and its bytes."""
    if codec in LONG:
        return LONG[codec], LONG[codec].encode(codec)
    pairs = ((bytes([byte]).decode(codec, "ignore"), bytes([byte])) for byte in range(0x80, 0x100))
    known = [(letter, byte) for letter, byte in pairs if letter and not 0x7F <= ord(letter) < 0xA0]
    return "".join(letter for letter, _ in known), b"".join(byte for _, byte in known)


def both(folder: Path, cell: bytes, cpg: bytes | None, driver: int) -> tuple[hl.Layer, bytes]:
    """Read one cell of text with headland and with GDAL."""
    (folder / "t.dbf").write_bytes(dbf([Field(b"A", "C", len(cell))], [[cell]], (), driver))
    (folder / "t.cpg").unlink(missing_ok=True)
    if cpg is not None:
        (folder / "t.cpg").write_bytes(cpg)
    with warnings.catch_warnings():
        # GDAL warns of unknown encodings.
        warnings.simplefilter("ignore")
        theirs = pyogrio.read_arrow(folder / "t.dbf")[1]["A"][0].as_buffer().to_pybytes()
    return hl.read(folder / "t.dbf"), theirs


def codes(layer: hl.Layer) -> set[hl.DiagnosticCode]:
    # A table without shapes is reported as such.
    return {diagnostic.code for diagnostic in layer.diagnostics} - {"no-shp"}


def test_every_driver_byte_has_the_code_page_of_gdal(tmp_path: Path) -> None:
    of_driver = {driver: codec for codec, drivers in DRIVERS.items() for driver in drivers}
    for driver in range(256):
        codec = of_driver.get(driver)
        if driver in WITHOUT_CODEC:
            text, cell = WITHOUT_CODEC[driver]
            layer, theirs = both(tmp_path, cell, None, driver)
            assert (layer.values("A"), codes(layer), theirs) == ([text], set(), cell), hex(driver)
            continue
        if codec is None:
            layer, theirs = both(tmp_path, b"gr\xfcn", None, driver)
            assert layer.values("A") == ["grün"], hex(driver)
            assert "text-recoded" in codes(layer), hex(driver)
            assert theirs == b"gr\xfcn", hex(driver)
            continue
        text, cell = letters(codec)
        layer, theirs = both(tmp_path, cell, None, driver)
        assert layer.values("A") == [text], (hex(driver), codec)
        assert not codes(layer), (hex(driver), codec)
        if driver in UNKNOWN_TO_GDAL:
            assert theirs == cell, hex(driver)
        elif driver == 0x57:
            # GDAL uses Latin-1, which has control characters where Windows has letters (deviation d).
            assert theirs.decode() == cell.decode("latin-1")
        elif codec == "mac_cyrillic":
            assert theirs.decode() == text.translate(OLD_CYRILLIC)
        else:
            assert theirs.decode() == text, (hex(driver), codec)


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        *((name, "utf-8") for name in ("UTF-8", "utf8", "UTF8", "utf-8\n", "65001")),
        *((name, "cp1252") for name in ("1252", "CP1252", "cp1252\r\n", "windows-1252", "WINDOWS-1252", "ANSI 1252")),
        *((name, "latin-1") for name in ("ISO-8859-1", "ISO8859-1", "iso-8859-1", "8859-1", "ISO 8859-1", "88591")),
        *((name, "iso8859-2") for name in ("ISO-8859-2", "88592", "8859-2")),
        *((name, "iso8859-15") for name in ("ISO-8859-15", "885915")),
        *((f"{number}", f"cp{number}") for number in (1250, 1251, 1253, 1254, 1255, 1256, 1257)),
        *(
            (f"CP{number}", f"cp{number}")
            for number in (437, 737, 775, 850, 852, 855, 860, 861, 862, 863, 865, 866, 869)
        ),
        *(("932", "cp932"), ("936", "gbk"), ("949", "cp949"), ("950", "cp950"), ("Big5", "cp950"), ("GBK", "gbk")),
        *(
            ("KOI8-R", "koi8-r"),
            ("GB18030", "gbk"),
            ("LDID/87", "cp1252"),
            ("OEM 850", "cp850"),
            ("ANSI 1250", "cp1250"),
        ),
    ],
)
def test_every_form_of_an_encoding_name_is_known(name: str, codec: str, tmp_path: Path) -> None:
    text, cell = ("Grün, Größe", "Grün, Größe".encode()) if codec == "utf-8" else letters(codec)
    layer, theirs = both(tmp_path, cell, name.encode(), 0)
    assert layer.values("A") == [text]
    assert not codes(layer) - {"cpg-habit"}
    # GDAL returns the bytes if it does not know the name.
    assert theirs in {text.encode(), cell}


def test_cpg_precedes_the_driver_byte_and_an_unknown_one_is_ignored(tmp_path: Path) -> None:
    layer, theirs = both(tmp_path, "Größe".encode(), b"UTF-8", 0xC9)
    assert layer.values("A") == ["Größe"] == [theirs.decode()]
    layer, theirs = both(tmp_path, "Поле".encode("cp1251"), b"<html>", 0xC9)
    assert layer.values("A") == ["Поле"]
    assert "cpg-ignored" in codes(layer)


def table(folder: Path, fields: list[Field], rows: list[list[bytes]]) -> tuple[hl.Layer, pa.Table]:
    (folder / "t.dbf").write_bytes(dbf(fields, rows))
    return hl.read(folder / "t.dbf"), pyogrio.read_arrow(folder / "t.dbf")[1]


@pytest.mark.parametrize(
    "names",
    [
        ["ABCDEFGHIJK", "ABCDEFGHIJL"],
        ["A", "A", "A"],
        ["A", "a"],
        ["A", "A", "A_1", "A2"],
        ["geometry", "Geometry"],
        [" c", "c"],
    ],
)
def test_names_keep_eleven_bytes_order_and_duplicates(names: list[str], tmp_path: Path) -> None:
    row = [f"{place:3}".encode() for place in range(len(names))]
    layer, theirs = table(tmp_path, [Field(name.encode(), "N", 3) for name in names], [row])
    ours = pa.table(layer)
    assert ours.column_names == theirs.column_names == names
    assert [column.to_pylist() for column in ours.columns] == [[place] for place in range(len(names))]
    expected = {"duplicate-column"} if len(set(names)) < len(names) else set()
    assert codes(layer) - {"cpg-habit"} == expected


@pytest.mark.parametrize(
    ("name", "cpg", "driver"),
    [
        ("Feldgrößeß", b"UTF-8", 0),
        ("Feldgrößé", None, 0),
        ("AB日本語テキスト", b"UTF-8", 0),
        ("AB日本語テキスト", b"932", 0),
        ("A日本語テキスト", None, 0x13),
        ("日本語テキスト", b"936", 0),
    ],
)
@pytest.mark.parametrize("length", [10, 11])
def test_name_truncated_inside_a_letter_loses_that_letter(
    name: str, cpg: bytes | None, driver: int, length: int, tmp_path: Path
) -> None:
    codec = {b"932": "cp932", b"936": "gbk"}.get(cpg or b"", "cp932" if driver else "utf-8")
    cut = name.encode(codec, "ignore")[:length]
    (tmp_path / "t.dbf").write_bytes(dbf([Field(cut, "C", 1)], [[b"x"]], (), driver))
    if cpg is not None:
        (tmp_path / "t.cpg").write_bytes(cpg)
    layer = hl.read(tmp_path / "t.dbf")
    expected = cut.decode(codec, "ignore")
    assert layer.columns == [expected]
    is_cut = expected.encode(codec) != cut
    assert codes(layer) == ({"name-cut"} if is_cut else set())
    if codec == "utf-8" and is_cut:
        # GDAL returns a name that is no text.
        with pytest.raises(UnicodeDecodeError):
            list(pyogrio.read_arrow(tmp_path / "t.dbf")[1].column_names)
    else:
        assert pyogrio.read_arrow(tmp_path / "t.dbf")[1].column_names == [expected]


@pytest.mark.parametrize(
    ("width", "decimals", "cells", "kind"),
    [
        (9, 0, ["999999999", "-99999999"], pa.int32()),
        (10, 0, ["9999999999", "-999999999", "2147483648"], pa.int64()),
        (18, 0, ["999999999999999999", "-99999999999999999"], pa.int64()),
        (19, 0, ["9999999999999999999", "-999999999999999999", "9007199254740993"], pa.float64()),
        (24, 15, ["0.100000000000000", "12345678.123456789012345", "-0.000000000000001"], pa.float64()),
        (24, 0, ["1.7976931348623157e308", "2.2250738585072014e-308", "5e-324"], pa.float64()),
    ],
)
def test_numbers_at_the_edges_of_their_types(
    width: int, decimals: int, cells: list[str], kind: pa.DataType, tmp_path: Path
) -> None:
    rows: list[list[bytes]] = [[cell.rjust(width).encode()] for cell in cells]
    layer, theirs = table(tmp_path, [Field(b"A", "N", width, decimals)], rows)
    ours = pa.table(layer)
    number: Any = float if kind == pa.float64() else int
    assert ours.schema.field("A").type == theirs.schema.field("A").type == kind
    assert ours["A"].to_pylist() == theirs["A"].to_pylist() == [number(cell) for cell in cells]
