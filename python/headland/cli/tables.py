"""Prints records as a table: aligned to the width of a terminal, or separated by tabs for programs."""

from __future__ import annotations

import shutil
import sys
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from headland.cli.output import BOLD, cell, print_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MEASURED = 200
"""Number of rows that determine the widths of the columns; they are part of the first page of a list."""

GAP = "  "
"""Text between two columns."""

MIN_WIDTH = 8
"""Width to which a column is cut at most."""

WIDE = "WF"
"""Classes of characters that take two columns of a terminal."""

Records = Iterable[Mapping[str, object]]
"""Records of a list, or other mappings with the same keys."""


def print_table(
    records: Records, columns: Iterable[str], *, whole: Iterable[str] = (), measured: Records | None = None
) -> None:
    """Print records as they are received, one per line.

    Args:
        records: The records.
        columns: Names of the fields to show.
        whole: Columns that are never cut, in addition to `id`.
        measured: The records that determine the widths, if the first records take long; default: the first ones.
    """
    names = list(columns)
    count = 0

    def counted() -> Iterator[list[str]]:
        nonlocal count
        for row in _rows(records, names):
            count += 1
            yield row

    rows = counted()
    if sys.stdout is not None and sys.stdout.isatty():
        _print_aligned(rows, None if measured is None else _rows(measured, names), names, {"id", *whole})
    else:
        _print_tabs(rows, names)
    if count == 0:
        print_text("headland: no records", sys.stderr)


def _rows(records: Records, names: Sequence[str]) -> Iterator[list[str]]:
    return ([cell(record.get(name)) for name in names] for record in records)


def _print_tabs(rows: Iterable[Sequence[str]], names: Sequence[str]) -> None:
    head: str | None = "\t".join(names)
    # The head is printed with the first record: a list that cannot be read prints nothing.
    for row in rows:
        if head is not None:
            print_text(head)
            head = None
        print_text("\t".join(row))
    if head is not None:
        print_text(head)


def _print_aligned(
    rows: Iterator[list[str]], measured: Iterator[list[str]] | None, names: Sequence[str], whole: set[str]
) -> None:
    terminal = shutil.get_terminal_size().columns
    first = list(islice(rows, MEASURED)) if measured is None else []
    columns = zip(names, *(first if measured is None else islice(measured, MEASURED)), strict=True)
    widths = _cut([max(map(_width, column)) for column in columns], names, whole, terminal)
    head = _line(names, widths)
    print_text(head, mark=(BOLD, head))
    for row in first:
        print_text(_line(row, widths))
    for row in rows:
        # A later cell may be wider than those that were measured.
        needed = [max(width, _width(text)) for width, text in zip(widths, row, strict=True)]
        print_text(_line(row, widths if needed == widths else _cut(needed, names, whole, terminal)))


def _cut(widths: list[int], names: Sequence[str], whole: set[str], terminal: int) -> list[int]:
    """Return widths of columns that fit the terminal; the widest column is cut first, `whole` ones never."""
    widths = list(widths)
    least = [width if name in whole else max(MIN_WIDTH, len(name)) for name, width in zip(names, widths, strict=True)]
    for _ in range(sum(widths) + len(GAP) * (len(names) - 1) - terminal):
        possible = [index for index, width in enumerate(widths) if width > least[index]]
        if not possible:
            break
        widths[max(possible, key=widths.__getitem__)] -= 1
    return widths


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return GAP.join(_fit(text, width) for text, width in zip(row, widths, strict=True)).rstrip()


def _fit(text: str, width: int) -> str:
    """Return the text filled or cut to a width."""
    taken = _width(text)
    if taken > width:
        end = _ellipsis()
        while text and _width(text) + len(end) > width:
            text = text[:-1]
        text += end
        taken = _width(text)
    return text + " " * (width - taken)


def _ellipsis() -> str:
    try:
        "…".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return "..."
    return "…"


def _width(text: str) -> int:
    """Return the columns of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(letter) else 1 + (unicodedata.east_asian_width(letter) in WIDE) for letter in text
    )
