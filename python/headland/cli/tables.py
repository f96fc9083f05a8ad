"""Prints records as a table: aligned to the width of a terminal, or separated by tabs for programs."""

from __future__ import annotations

import datetime as dt
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

TIMES = ("%Y-%m-%d %H:%MZ", "%Y-%m-%d")
"""Forms of times in a terminal, of which the first one that fits is used; programs get all digits."""

NAMES = {"name"}
"""Columns that are cut after all others, because they tell the records apart."""

WIDE = "WF"
"""Classes of characters that take two columns of a terminal."""

Records = Iterable[Mapping[str, object]]
"""Records of a list, or other mappings with the same keys."""


def print_table(
    records: Records,
    columns: Iterable[str],
    *,
    whole: Iterable[str] = (),
    right: Iterable[str] = (),
    measured: Records | None = None,
) -> None:
    """Print records as they are received, one per line.

    Args:
        records: The records.
        columns: Names of the fields to show.
        whole: Columns that are never cut, in addition to `id`.
        right: Columns of numbers, which are right-aligned.
        measured: The records that determine the widths, if the first records take long; default: the first ones.
    """
    names = list(columns)
    count = 0

    def counted() -> Iterator[list[object]]:
        nonlocal count
        for row in _rows(records, names):
            count += 1
            yield row

    rows = counted()
    if sys.stdout is not None and sys.stdout.isatty():
        table = _Columns(names, {"id", *whole}, {*right}, shutil.get_terminal_size().columns)
        _print_aligned(rows, None if measured is None else _rows(measured, names), table)
    else:
        _print_tabs(([cell(value) for value in row] for row in rows), names)
    if count == 0:
        print_text("headland: no records", sys.stderr)


def _rows(records: Records, names: Sequence[str]) -> Iterator[list[object]]:
    return ([record.get(name) for name in names] for record in records)


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


class _Columns:
    """The columns of an aligned table: their widths and the form of their times, so that a row fits the terminal."""

    def __init__(self, names: Sequence[str], whole: set[str], right: set[str], terminal: int) -> None:
        self.names, self._whole, self._right, self._terminal = names, whole, right, terminal
        self._widths = [_width(name) for name in names]
        self._forms = iter(TIMES)
        self._form = next(self._forms)

    def measure(self, rows: Sequence[Sequence[object]]) -> None:
        """Choose the longest form of times with which all rows fit, and the widths."""
        wide = [max(map(_width, column)) for column in zip(self.names, *map(self._texts, rows), strict=True)]
        form = next(self._forms, None) if self._sum(wide) > self._terminal else None
        if form is not None:
            self._form = form
            return self.measure(rows)
        self._widths = wide
        return None

    def line(self, row: Sequence[object]) -> str:
        """Return a row; a later cell may be wider than those that were measured."""
        texts = self._texts(row)
        needed = [max(width, _width(text)) for width, text in zip(self._widths, texts, strict=True)]
        fitting = self._cut(needed)
        cells = zip(self.names, texts, fitting, strict=True)
        return GAP.join(_fit(text, width, is_right=name in self._right) for name, text, width in cells).rstrip()

    def _texts(self, row: Sequence[object]) -> list[str]:
        return [
            f"{value.astimezone(dt.UTC):{self._form}}" if isinstance(value, dt.datetime) else cell(value)
            for value in row
        ]

    def _sum(self, widths: Sequence[int]) -> int:
        return sum(widths) + len(GAP) * (len(self.names) - 1)

    def _cut(self, widths: list[int]) -> list[int]:
        """Return widths that fit; the widest column is cut first, names after all others, `whole` ones never."""
        widths = list(widths)
        for kept in (self._whole | NAMES, self._whole):
            least = [
                width if name in kept else max(MIN_WIDTH, len(name))
                for name, width in zip(self.names, widths, strict=True)
            ]
            for _ in range(self._sum(widths) - self._terminal):
                possible = [index for index, width in enumerate(widths) if width > least[index]]
                if not possible:
                    break
                widths[max(possible, key=widths.__getitem__)] -= 1
        return widths


def _print_aligned(rows: Iterator[list[object]], measured: Iterator[list[object]] | None, table: _Columns) -> None:
    first = list(islice(rows, MEASURED if measured is None else 1))
    if not first:
        return
    table.measure(first if measured is None else list(islice(measured, MEASURED)))
    head = table.line(table.names)
    print_text(head, mark=(BOLD, head))
    for row in first:
        print_text(table.line(row))
    for row in rows:
        print_text(table.line(row))


def _fit(text: str, width: int, *, is_right: bool = False) -> str:
    """Return the text filled or cut to a width."""
    taken = _width(text)
    if taken > width:
        end = _ellipsis()
        while text and _width(text) + len(end) > width:
            text = text[:-1]
        text += end
        taken = _width(text)
    space = " " * (width - taken)
    return f"{space}{text}" if is_right else f"{text}{space}"


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
