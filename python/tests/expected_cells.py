"""What the reader documents of every cell: its value, and the code of the deviation where GDAL's may differ.

Written from the rules alone, so that it can judge both: where a cell has no code, the reader must agree with GDAL;
where it has one, the reader must give this value and tell of it.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
import re
from typing import Any, NamedTuple

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
"""What is a number, with blanks at its ends taken off."""

INTEGER = re.compile(rb"[+-]?\d+\.?0*")
"""What every reader takes for an integer."""

UNDEFINED = frozenset((0x81, 0x8D, 0x8F, 0x90, 0x9D))
"""Bytes that stand for nothing in Windows-1252."""


class Cell(NamedTuple):
    """A value and the deviations that it comes with."""

    value: Any
    codes: tuple[str, ...] = ()


def hidden(cell: bytes) -> tuple[str, ...]:
    """Give the code of a cell that holds something behind a NUL, where every reader stops."""
    return ("after-nul",) if cell.partition(b"\0")[2].strip(b"\0 ") else ()


def text(cell: bytes, codec: str | None) -> Cell:
    """Text ends at a NUL and loses trailing blanks; what is no UTF-8 is Windows-1252 (d), leading blanks stay (k)."""
    kept = cell.split(b"\0", 1)[0].rstrip(b" ")
    codes = hidden(cell)
    if not kept:
        return Cell(None, codes)
    if kept.startswith(b" "):
        codes = (*codes, "leading-blanks")
    if kept.isascii():
        return Cell(kept.decode("ascii"), codes)
    if codec not in {None, "utf-8"}:
        return Cell(kept.decode(str(codec)), codes)
    try:
        decoded = kept.decode("utf-8")
    except UnicodeDecodeError:
        # Bytes that stand for nothing become the control characters of their number, as browsers have it.
        letters = (chr(byte) if byte in UNDEFINED else bytes([byte]).decode("cp1252") for byte in kept)
        return Cell("".join(letters), (*codes, "text-recoded"))
    return Cell(decoded, codes if codec else (*codes, "text-undeclared"))


def _stripped(cell: bytes) -> bytes:
    return cell.split(b"\0", 1)[0].strip(b" \t\n\r\f")


def _is_blank(stripped: bytes) -> bool:
    """Nothing, or stars where the writer had no room: null everywhere."""
    return not stripped or stripped.startswith(b"*")


def floating(cell: bytes) -> Cell:
    """Give a float; what is no number is null (b)."""
    stripped, codes = _stripped(cell), hidden(cell)
    if _is_blank(stripped):
        return Cell(None, codes)
    if NUMBER.fullmatch(stripped) and math.isfinite(value := float(stripped)):
        return Cell(value, codes)
    return Cell(None, ("bad-number", *codes))


def whole(cell: bytes) -> int | None:
    """Give the whole number that a cell says, whatever its size and its exponent."""
    if floating(cell).value is None:
        return None
    number, parts = decimal.Decimal(_stripped(cell).decode()).as_integer_ratio()
    return number if parts == 1 else None


def integer(cell: bytes) -> Cell:
    """Give an integer, also of one with an exponent; what is no number is null (b)."""
    stripped, codes = _stripped(cell), hidden(cell)
    if _is_blank(stripped):
        return Cell(None, codes)
    value = whole(cell)
    if value is None:
        return Cell(None, ("bad-number", *codes))
    return Cell(value, ("integer-with-exponent", *codes) if b"e" in stripped.lower() else codes)


def is_fraction(cell: bytes, width: int) -> bool:
    """Whether a column of integers with this cell becomes one of floats (b)."""
    value, bits = whole(cell), 31 if width < 10 else 63
    return floating(cell).value is not None and (value is None or not -(2**bits) <= value < 2**bits)


def is_unlike_integers(cell: bytes) -> bool:
    """Whether it is a number that other readers cannot take for an integer."""
    return floating(cell).value is not None and not INTEGER.fullmatch(_stripped(cell))


def loses_digits(cell: bytes) -> bool:
    """Whether a float cannot give back the digits of a whole number."""
    value = whole(cell)
    if value is None:
        return False
    digits = str(abs(value)).rstrip("0")
    if len(digits) <= 15:
        return False
    if b"e" in _stripped(cell).lower():
        # Who writes an exponent says nothing of the digits behind those that are written.
        return f"{abs(float(value)):.{len(digits) - 1}e}".split("e")[0].replace(".", "") != digits
    return int(float(value)) != value


def date(cell: bytes) -> Cell:
    """Give a date; what is none is null (a)."""
    stripped = _stripped(cell)
    if stripped in {b"", b"0"} or (len(stripped) >= 8 and not stripped.strip(b"0")):
        return Cell(None)
    for pattern, shape in (("%Y%m%d", rb"\d{8}"), ("%m/%d/%Y", rb"\d\d/\d\d/\d{4}")):
        if re.fullmatch(shape, stripped):
            try:
                return Cell(dt.datetime.strptime(stripped.decode(), pattern).replace(tzinfo=dt.UTC).date())
            except ValueError:
                break
    return Cell(None, ("bad-date",))


def logical(cell: bytes) -> Cell:
    """Give a truth value; blank is null (c), digits count (l)."""
    first = _stripped(cell)[:1]
    known = {b"T": True, b"Y": True, b"F": False, b"N": False}
    if first.upper() in known:
        return Cell(known[first.upper()])
    if first == b"?":
        return Cell(None)
    if first in {b"0", b"1"}:
        return Cell(first == b"1", ("logical-digit",))
    return Cell(None, ("bad-logical",) if first else ("blank-logical",))
