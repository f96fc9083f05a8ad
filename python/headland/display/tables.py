"""Tables for display: aligned text for consoles, HTML for notebooks."""

from __future__ import annotations

import html
import shutil
import textwrap
from typing import TYPE_CHECKING, TypeVar

from headland.display.escaping import printable, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

Item = TypeVar("Item")

SHOWN = 20
"""Rows of a table that is shown in part."""

CONSOLE = (100, 24)
"""Size of a console that does not state its own."""

INDENT = 2
"""Characters before each line of a table below its title."""

MIN_LAST = 24
"""Minimum width of a last column, whose text is wrapped."""

MILLION, MAX_WHOLE = 1e6, 1e15
"""Numbers from the first on have no fraction in a table, below the second no exponent."""

LONG_WORD = 40
"""Characters of a word that may be broken in HTML, so that the other columns stay visible."""

MAX_BLOCKS = 3
"""Blocks of columns, one below the other, of a table that is wider than the console."""

MAX_CELL = 40
"""Characters of a text in a table, except in its last column."""


def aligned(rows: Sequence[Sequence[str]], is_right: Callable[[int, str], bool] = lambda *_: False) -> list[str]:
    """Return the rows as lines of one width per column; `is_right` tells by column and cell what is right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def padded(index: int, cell: str) -> str:
        return cell.rjust(widths[index]) if is_right(index, cell) else cell.ljust(widths[index])

    return ["  ".join(padded(index, cell) for index, cell in enumerate(row)).rstrip() for row in rows]


def text_table(
    head: Iterable[str],
    rows: Iterable[Iterable[object]],
    *,
    right: Collection[int] = (),
    width: int | None = None,
    most: int = MAX_BLOCKS,
) -> list[str]:
    """Return a table as lines: numbers and the columns `right` are right-aligned, a last text wraps at spaces.

    Columns that do not fit the width, by default that of the console, follow below, in `most` blocks altogether.
    """
    titles, cells = list(head), [list(row) for row in rows]
    numbers = {*right, *_number_columns(cells)}
    last = len(titles) - 1
    texts = [[printable(title) for title in titles]]
    texts += [[_text(cell, None if index == last else MAX_CELL) for index, cell in enumerate(row)] for row in cells]
    room = shutil.get_terminal_size(CONSOLE).columns - INDENT if width is None else width
    lines: list[str] = []
    for number, block in enumerate(_blocks(texts, room, can_wrap=last not in numbers)):
        if number == most:
            left_out = len(titles) - block[0]
            return [*lines, "", f"and {left_out} more column{'s' if left_out > 1 else ''}"]
        shown = [[row[index] for index in block] for row in texts]
        places = {place for place, index in enumerate(block) if index in numbers}
        lines += [""] if lines else []
        lines += _wrapped(shown, places, room) if block[-1] == last not in numbers else _lines(shown, places)
    return lines


def _blocks(texts: Sequence[Sequence[str]], width: int, *, can_wrap: bool) -> list[list[int]]:
    """Return the columns of each block, so that a block fits the width."""
    blocks: list[list[int]] = []
    taken = 0
    for index, column in enumerate(zip(*texts, strict=True)):
        needed = max(map(len, column))
        if can_wrap and index == len(texts[0]) - 1:
            needed = min(needed, MIN_LAST)
        if blocks and taken + needed + 2 <= width:
            blocks[-1].append(index)
            taken += needed + 2
        else:
            blocks.append([index])
            taken = needed
    return blocks


def _lines(rows: Sequence[Sequence[str]], numbers: Collection[int]) -> list[str]:
    return aligned(rows, lambda index, _: index in numbers)


def _wrapped(rows: Sequence[Sequence[str]], numbers: Collection[int], width: int) -> list[str]:
    """Align the rows; the text of the last column continues on lines below."""
    has_front = len(rows[0]) > 1
    fronts = _lines([row[:-1] for row in rows], numbers) if has_front else [""] * len(rows)
    indent = max(map(len, fronts)) + 2 if has_front else 0
    room = max(width - indent, MIN_LAST)
    lines = []
    for front, row in zip(fronts, rows, strict=True):
        parts = textwrap.wrap(row[-1], room, break_long_words=False, break_on_hyphens=False) or [""]
        lines.append(f"{front.ljust(indent)}{parts[0]}".rstrip())
        lines += [f"{'':{indent}}{part}" for part in parts[1:]]
    return lines


def table_html(
    head: Iterable[str],
    rows: Iterable[Iterable[object]],
    *,
    caption: str = "",
    can_wrap: bool = True,
    right: Collection[int] = (),
) -> str:
    """Return an HTML table with escaped texts: ``None`` is an empty cell, numbers have six digits.

    Texts are on the left, numbers and the columns `right` on the right, also in notebooks whose own style differs. A
    table that is wider than the page scrolls.
    """
    titles, cells = list(head), [list(row) for row in rows]
    numbers = {*right, *_number_columns(cells)}
    sides = ["right" if index in numbers else "left" for index in range(max(len(titles), *map(len, cells), 0))]

    def line(tag: str, row: Iterable[str]) -> str:
        made = (
            f"<{tag} style='text-align:{side}{_breaking(cell)}'>{_escaped(cell)}</{tag}>"
            for side, cell in zip(sides, row, strict=False)
        )
        return f"<tr>{''.join(made)}</tr>"

    top = f"<caption>{_escaped(caption)}</caption>" if caption else ""
    top += f"<thead>{line('th', titles)}</thead>" if titles else ""
    body = "".join(line("td", (_text(cell, None) for cell in row)) for row in cells)
    space = "normal" if can_wrap else "nowrap"
    return f"<table style='display:block;overflow-x:auto;white-space:{space}'>{top}<tbody>{body}</tbody></table>"


class Listing(list[Item]):
    """A list that consoles and notebooks show as a table."""

    __slots__ = ()

    def _title(self) -> str:
        """Return what the list contains."""
        raise NotImplementedError

    def _columns(self) -> dict[str, Callable[[Item], object]]:
        """Return the titles of the columns, and what makes the cell of an item."""
        raise NotImplementedError

    def _cells(self) -> list[list[object]]:
        return [[cell(item) for cell in self._columns().values()] for item in self[:SHOWN]]

    def _heading(self) -> str:
        return f"{self._title()}, first {SHOWN}" if len(self) > SHOWN else self._title()

    def __repr__(self) -> str:
        """Return the items as a table of text."""
        if not self:
            return self._heading()
        return "\n".join([self._heading(), *(f"  {line}" for line in text_table(self._columns(), self._cells()))])

    def _repr_html_(self) -> str:
        """Return the items as an HTML table; all texts are escaped."""
        table = table_html(self._columns(), self._cells()) if self else ""
        return f"<div><p>{_escaped(self._heading())}</p>{table}</div>"


def _number_columns(rows: Iterable[Sequence[object]]) -> set[int]:
    """Return the columns that have numbers and nothing else."""
    kinds: dict[int, set[bool]] = {}
    for row in rows:
        for index, cell in enumerate(row):
            if cell is not None and cell != "":
                is_number = isinstance(cell, int | float) and not isinstance(cell, bool)
                kinds.setdefault(index, set()).add(is_number)
    return {index for index, found in kinds.items() if found == {True}}


def _text(cell: object, most: int | None) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    text = _six_digits(cell) if isinstance(cell, float) else str(cell)
    return printable(text) if most is None else shortened(text, most)


def _six_digits(value: float) -> str:
    """Return a number with six digits, or with all before the point: 1.77274e+06 kg are hard to read."""
    return f"{value:.0f}" if MILLION <= abs(value) < MAX_WHOLE else f"{value:.6g}"


def _breaking(text: str) -> str:
    """Return the style of a cell that may break its words; empty for texts of usual words."""
    is_long = len(text) > LONG_WORD and any(len(word) > LONG_WORD for word in text.split())
    return ";overflow-wrap:anywhere;min-width:12em" if is_long else ""


def _escaped(text: str) -> str:
    return html.escape(printable(text))
