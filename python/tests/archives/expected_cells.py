"""Expected value of every cell by the documentation, with the code of the deviation if GDAL's value may differ.

Written only from the rules, so that it can check both readers. For a cell without a code, the reader must agree with
GDAL. For a cell with a code, the reader must return this value and report the code.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
import re
from typing import Any, NamedTuple

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
"""A number without blanks at its ends."""

INTEGER = re.compile(rb"[+-]?\d+\.?0*")
"""A text that every reader accepts as an integer."""

UNDEFINED = frozenset((0x81, 0x8D, 0x8F, 0x90, 0x9D))
"""Undefined bytes of Windows-1252."""


class Cell(NamedTuple):
    """A value and its deviations."""

    value: Any
    codes: tuple[str, ...] = ()


def hidden(cell: bytes) -> tuple[str, ...]:
    """Return the code of a cell with content after a NUL, where every reader stops."""
    return ("after-nul",) if cell.partition(b"\0")[2].strip(b"\0 ") else ()


def text(cell: bytes, codec: str | None) -> Cell:
    """Return text up to a NUL without trailing blanks; invalid UTF-8 is Windows-1252 (d), leading blanks stay (k)."""
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
        # Undefined bytes become the control characters of their number, as in browsers.
        letters = (chr(byte) if byte in UNDEFINED else bytes([byte]).decode("cp1252") for byte in kept)
        return Cell("".join(letters), (*codes, "text-recoded"))
    return Cell(decoded, codes if codec else (*codes, "text-undeclared"))


def _stripped(cell: bytes) -> bytes:
    return cell.split(b"\0", 1)[0].strip(b" \t\n\r\f")


def _is_blank(stripped: bytes) -> bool:
    """Whether a cell is empty, or stars where the number did not fit: null for every reader."""
    return not stripped or stripped.startswith(b"*")


def floating(cell: bytes) -> Cell:
    """Return a float; other text is null (b)."""
    stripped, codes = _stripped(cell), hidden(cell)
    if _is_blank(stripped):
        return Cell(None, codes)
    if NUMBER.fullmatch(stripped) and math.isfinite(value := float(stripped)):
        return Cell(value, codes)
    return Cell(None, ("bad-number", *codes))


def integer_value(cell: bytes) -> int | None:
    """Return the integer that a cell states, of any size and with any exponent."""
    if floating(cell).value is None:
        return None
    number, parts = decimal.Decimal(_stripped(cell).decode()).as_integer_ratio()
    return number if parts == 1 else None


def integer(cell: bytes) -> Cell:
    """Return an integer, also of a cell with an exponent; other text is null (b)."""
    stripped, codes = _stripped(cell), hidden(cell)
    if _is_blank(stripped):
        return Cell(None, codes)
    value = integer_value(cell)
    if value is None:
        return Cell(None, ("bad-number", *codes))
    return Cell(value, ("integer-with-exponent", *codes) if b"e" in stripped.lower() else codes)


def is_fraction(cell: bytes, width: int) -> bool:
    """Whether a column of integers with this cell becomes one of floats (b)."""
    value, bits = integer_value(cell), 31 if width < 10 else 63
    return floating(cell).value is not None and (value is None or not -(2**bits) <= value < 2**bits)


def is_unlike_integers(cell: bytes) -> bool:
    """Whether it is a number that other readers cannot read as an integer."""
    return floating(cell).value is not None and not INTEGER.fullmatch(_stripped(cell))


def loses_digits(cell: bytes) -> bool:
    """Whether a float cannot represent the digits of an integer."""
    value = integer_value(cell)
    if value is None:
        return False
    digits = str(abs(value)).rstrip("0")
    if len(digits) <= 15:
        return False
    if b"e" in _stripped(cell).lower():
        # With an exponent, the writer states nothing about the digits after the written ones.
        return f"{abs(float(value)):.{len(digits) - 1}e}".split("e")[0].replace(".", "") != digits
    return int(float(value)) != value


def date(cell: bytes) -> Cell:
    """Return a date; an invalid one is null (a)."""
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
    """Return a boolean; blank is null (c), digits count (l)."""
    first = _stripped(cell)[:1]
    known = {b"T": True, b"Y": True, b"F": False, b"N": False}
    if first.upper() in known:
        return Cell(known[first.upper()])
    if first == b"?":
        return Cell(None)
    if first in {b"0", b"1"}:
        return Cell(first == b"1", ("logical-digit",))
    return Cell(None, ("bad-logical",) if first else ("blank-logical",))
